"""What a deformer gives back: a moving surface, with its causes kept apart."""

from collections.abc import Mapping
from dataclasses import field

from corporeal._typing import Array, Float
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("deformer", "offset_skinning", "notes"))
class Animation:
    """A body in motion. Offsets are in the rest pose, so that they can be baked for an engine; a
    deformer gives those that it knows, `pipelines.offsets.offsets_by_cause` finds the others."""

    deformer: str
    """Name of the deformer that made it."""
    template: Template
    """Topology and rig."""
    identity: Identity
    """Whose body it is."""
    motion: Motion
    """What it was driven by."""
    vertices: Float[Array, "N V 3"]
    """Posed skin, metres."""
    world_from_joint: Float[Array, "N J 4 4"]
    """Rigid frame of every joint."""
    pose_offsets: Float[Array, "N V 3"] | None = None
    """Rest-pose displacements caused by the pose (correctives), metres."""
    dynamic_offsets: Float[Array, "N V 3"] | None = None
    """Rest-pose displacements caused by the movement (soft tissue), metres."""
    offset_skinning: str = ""
    """Skinning that the offsets are added before: `lbs` or `dqs`; empty where nobody said."""
    measurements: Mapping[str, float] = field(default_factory=dict)
    """What the body measures at rest, by name, SI units; empty where nobody has measured it."""
    notes: tuple[str, ...] = ()
    """How body and motion came and where the motion is cut, in words worth telling; not kept in
    files."""

    @property
    def joints(self) -> Float[Array, "N J 3"]:
        """Posed joint centres, metres."""
        return self.world_from_joint[..., :3, 3]
