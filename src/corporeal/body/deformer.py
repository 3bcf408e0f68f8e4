"""The one shape that every deformer has from outside."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from corporeal._typing import Array
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.parameter import Parameter
from corporeal.body.template import Template


@runtime_checkable
class Deformer(Protocol):
    """Animates a body: (identity, motion, controls) → Animation.

    Viewer, exports, evaluation, command line and the contract battery know deformers by this alone.
    """

    name: str
    template: Template
    controls: tuple[Parameter, ...]
    """What `animate` accepts in its `controls`."""

    def animate(
        self, identity: Identity, motion: Motion, controls: Mapping[str, Array] | None = None
    ) -> Animation: ...
