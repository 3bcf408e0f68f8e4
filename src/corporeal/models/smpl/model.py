"""A trained SMPL: shape coefficients to a person, a person and a pose to a skin.

The equations are those of `equations`, in batches: what changes once (`prepare`) is kept apart from
what changes every frame (`vertices`). Results have the pose's kind of array (NumPy, JAX, PyTorch).
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Array, Float
from corporeal.body.identity import Identity
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.mesh import Mesh
from corporeal.body.parameter import Parameter
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.reduction import exact_correctives
from corporeal.runtime.arrays import as_kind_of, full_precision, namespace_of

SHAPE = "shape"
"""Name of the shape coefficients among an identity's parameters."""


@dataclass(frozen=True)
class SmplOutput:
    """What `SmplModel.__call__` gives back, by the names that `smplx` uses."""

    vertices: Float[Array, "*batch V 3"]
    """Posed skin, metres."""
    joints: Float[Array, "*batch J 3"]
    """Posed joint centres, metres."""
    full_pose: Float[Array, "*batch 3*J"]
    """Axis-angles of all joints, the root first, radians."""
    v_shaped: Float[Array, "*batch V 3"]
    """The person in the zero pose, metres."""


class SmplModel(CorrectedSkinning):
    """A body model: people from shape coefficients, and the deformer that moves them."""

    def __init__(self, data: LinearBodyModel, template: Template | None = None) -> None:
        """`template` gives the surface its quads, texture and parts, where it is a known one."""
        super().__init__(_template(data, template), exact_correctives(data), data.blending)
        self.data = data
        self.parameters: tuple[Parameter, ...] = (
            Parameter(
                SHAPE, -5.0, 5.0, 0.0, "principal components of shape", size=data.shape_count
            ),
        )

    def prepare(self, betas: Float[Array, "*batch s"] | None = None) -> Identity:
        """The person with these shape coefficients; those not given are 0."""
        data = self.data
        if betas is None:
            betas = np.zeros(data.shape_count)
        count = betas.shape[-1]
        if count > data.shape_count:
            raise InputError(
                f"{count} shape coefficients came; the model has {data.shape_count}. Leave out "
                f"the last ones."
            )
        xp = namespace_of(betas)
        mean = as_kind_of(betas, data.mean_vertices)
        offsets = as_kind_of(betas, data.shape_offsets[:count])
        with full_precision(xp):
            rest = mean + xp.tensordot(betas, offsets, axes=1)
            # J(β) = 𝒥 (T̄ + B_S(β))
            joints = xp.matmul(as_kind_of(betas, data.joint_regressor), rest)
        return Identity(rest, joints, {SHAPE: betas})

    def __call__(
        self,
        betas: Float[Array, "*batch s"] | None = None,
        body_pose: Float[Array, "*batch n"] | None = None,
        global_orient: Float[Array, "*batch 3"] | None = None,
        transl: Float[Array, "*batch 3"] | None = None,
        left_hand_pose: Float[Array, "*batch m"] | None = None,
        right_hand_pose: Float[Array, "*batch m"] | None = None,
    ) -> SmplOutput:
        """Call as `smplx` is called: flat axis-angles, the root apart; what is left out is zero.

        Models with fingers (52 joints) take the body's 63 numbers and 45 a hand.
        """
        hands = 45 if self.data.joint_count == 52 else 0
        sizes = {
            "global_orient": 3,
            "body_pose": 3 * (self.data.joint_count - 1) - 2 * hands,
            "left_hand_pose": hands,
            "right_hand_pose": hands,
            "transl": 3,
        }
        parts: dict[str, Array | None] = {
            "global_orient": global_orient,
            "body_pose": body_pose,
            "left_hand_pose": left_hand_pose,
            "right_hand_pose": right_hand_pose,
            "transl": transl,
        }
        given = [a for a in (betas, *parts.values()) if a is not None]
        like = given[0] if given else np.zeros(1)
        xp = namespace_of(*given) if given else namespace_of(like)
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in given)) if given else ()
        for name, part in parts.items():
            if part is not None and part.shape[-1] != sizes[name]:
                raise InputError(
                    f"{name} has {part.shape[-1]} numbers; expected {sizes[name]} for "
                    f"{self.data.joint_count} joints."
                )
            if part is None:
                parts[name] = as_kind_of(like, np.zeros((*batch, sizes[name])))
            else:
                parts[name] = xp.broadcast_to(part, (*batch, sizes[name]))
        identity = self.prepare(as_kind_of(like, np.zeros(1)) if betas is None else betas)
        full_pose = xp.concat([parts[name] for name in list(sizes)[:-1]], axis=-1)
        rotations = xp.reshape(full_pose, (*batch, self.data.joint_count, 3))
        pose = Pose(rotations, parts["transl"])
        frames = self.skinning.world_from_joint(identity, pose)
        return SmplOutput(
            self.vertices(identity, pose), frames[..., :3, 3], full_pose, identity.rest_vertices
        )


def _template(data: LinearBodyModel, known: Template | None) -> Template:
    """A rigged surface of the model's mean; quads, texture and parts from a known one."""
    skeleton = Skeleton(data.joint_names, data.parents, data.joint_regressor @ data.mean_vertices)
    if known is None:
        mesh = Mesh(data.mean_vertices, data.triangles)
        labels = np.zeros(data.vertex_count, np.int64)
        return Template(mesh, skeleton, data.weights, ("body",), labels)
    old = known.mesh
    if not np.array_equal(old.triangles, data.triangles):
        raise InputError(
            f"model and template have different triangles ({len(data.triangles)} and "
            f"{len(old.triangles)}); expected one topology."
        )
    mesh = Mesh(data.mean_vertices, data.triangles, old.quads, old.uv, old.uv_triangles, old.mirror)
    repose = known.repose if skeleton.names == known.skeleton.names else None
    return Template(mesh, skeleton, data.weights, known.part_names, known.part_labels, repose)
