"""The one shape that every deformer has from outside: traits, controls, `animate`."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar, runtime_checkable

from corporeal.body import controls as body_controls
from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.stepper import Stepper
from corporeal.body.template import Template
from corporeal.errors import InputError

C = TypeVar("C", bound=body_controls.Controls)


class Traits:
    """What a deformer is and can do, as class attributes: a deformer inherits these defaults and
    says what differs. Command line, studio, exports and the contract battery go by them."""

    name: str
    """What it is called on the command line and in files: lower case, dashes."""
    title: str = ""
    """A few words for lists, such as `Linear blending`; the name unless given."""
    summary: str = ""
    """One clause for help: how the skin follows the joints."""
    references: tuple[str, ...] = ()
    """Keys of the papers behind it, for `corporeal cite`."""
    Controls: type[body_controls.Controls] = body_controls.Controls
    """What it can be told."""

    stateful: bool = False
    """Whether frames depend on the frames before. Then it offers `stepper(controls)`, and its
    `Controls` have the switch `dynamics`: off, every frame depends on its pose alone."""
    devices: tuple[str, ...] = ("cpu",)
    """Where it runs; with `gpu` among them its constructor takes `device=`."""
    accepts_maps: bool = False
    """Whether its constructor takes `maps=`: painted factors of stiffness and density."""
    accepts_environment: bool = False
    """Whether its constructor takes `environment=`: colliders, wind and grabs."""
    needs_layers: bool = False
    """Whether its constructor takes `layers=`: skin, muscle and bone surfaces of the person."""
    accepts_trained: bool = False
    """Whether its constructor takes `trained=`: a model of its own kind; the one that ships, if
    none is given."""
    accepts_local_weights: bool = False
    """Whether its constructor takes `local_weights=`: painted factors of its dynamics, one a
    vertex."""
    accepts_custom_mesh: bool = True
    """Whether it moves meshes of any topology; else the default body's surface alone."""
    changes_topology: bool = False
    """Whether the skin that comes out has other vertices than the template."""
    is_linear_blend: bool = False
    """Whether it is exactly what engines compute: linear blend skinning without offsets."""
    tolerance: float = 0.0
    """Metres that its solver may stop short of balance; 0 for closed forms."""


@runtime_checkable
class Deformer(Protocol):
    """Animates a body: (identity, motion, controls) → Animation. See `Traits` for the attributes.

    Made from a template: `DeformerClass(template)`, and by keyword what its traits say it takes.
    """

    name: str
    """By which commands, files and manifests call it."""
    title: str
    """What people are shown; see `Traits`."""
    summary: str
    """One sentence on what it does."""
    Controls: type[body_controls.Controls]
    """Dataclass of its controls."""
    stateful: bool
    """Whether a frame depends on the frames before."""
    devices: tuple[str, ...]
    """Where it can run: `cpu`, `gpu`."""
    accepts_maps: bool
    """Whether it takes painted maps of stiffness and mass."""
    accepts_environment: bool
    """Whether it takes colliders, wind and grabs."""
    needs_layers: bool
    """Whether it needs a body's bone and muscle surfaces."""
    accepts_trained: bool
    """Whether it takes a trained model of its own kind."""
    accepts_local_weights: bool
    """Whether it takes painted factors of its dynamics."""
    accepts_custom_mesh: bool
    """Whether it moves meshes other than the default body's."""
    changes_topology: bool
    """Whether its vertices differ from the template's."""
    is_linear_blend: bool
    """Whether it is exactly what engines compute: linear blend skinning without offsets."""
    tolerance: float
    """Metres that its solver may stop short of balance; 0 for closed forms."""
    template: Template
    """The rigged surface that it moves."""

    def animate(
        self,
        identity: Identity,
        motion: Motion,
        controls: GivenControls = None,
    ) -> Animation:
        """The identity moved through the motion; `controls` go through `controls_for`."""
        ...


@runtime_checkable
class StatefulDeformer(Deformer, Protocol):
    """A deformer whose frames depend on the frames before."""

    def stepper(self, controls: GivenControls = None) -> Stepper[Any]:
        """What moves a body live under these controls."""
        ...


def controls_for(deformer: str, kind: type[C], given: GivenControls) -> C:
    """Controls of `kind`, whatever form they came in: None is all defaults, plain values go by
    name, and controls of another deformer are refused."""
    if given is None:
        return kind()
    if isinstance(given, Mapping):
        return kind.from_mapping(given, deformer)
    if type(given) is not kind:
        raise InputError(
            f"deformer {deformer!r} was given {type(given).__name__}; expected {kind.__name__}, "
            f"plain values by name, or None."
        )
    return given
