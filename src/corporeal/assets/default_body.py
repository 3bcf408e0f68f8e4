"""The embedded body: an openly licensed surface with its rig and shape targets."""

from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.assets.adiposity import read_adiposity
from corporeal.assets.archive import read_archive
from corporeal.assets.proportions import read_proportions
from corporeal.assets.smpl_view import smpl_template
from corporeal.assets.targets import Targets
from corporeal.body.mesh import Mesh, triangles_from_quads
from corporeal.body.repose import Repose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.runtime.arrays import namespace_of
from corporeal.runtime.pytree_dataclass import pytree_dataclass

METRES_PER_DELTA = np.float32(1e-4)
"""Target deltas are stored as whole tenths of a millimetre."""
WEIGHT_STEPS = 65_535
"""Weights are stored as whole numbers; a row adds up to exactly this."""


@pytree_dataclass(static=("macro_count",))
class DefaultBody:
    """Everything that ships: base shape, targets, template. All in the T-pose, metres.

    A shape is `base_vertices + coefficients @ targets.vertex_offsets`, and its joints likewise;
    `grounded` then sets it down exactly.
    """

    template: Template
    """The average adult."""
    base_vertices: Float[NumpyArray, "V 3"]
    """Skin at zero coefficients: the sculptors' base, which is nobody in particular."""
    base_joints: Float[NumpyArray, "J 3"]
    """Joint centres at zero coefficients, metres."""
    targets: Targets
    """Macro targets first, then local ones, then any added by `with_targets`."""
    macro_count: int
    """How many of `targets` are blended by the phenotype rule."""
    default_coefficients: Float[NumpyArray, "S"]
    """Coefficients of the average adult."""
    joint_regressor: Float[NumpyArray, "J V"]
    """Joint centres from skin vertices alone, for files that have no room for joint offsets. Rows
    sum to 1; signed, so that the error stays below that of a convex regressor."""

    def check(self) -> None:
        """Raise `InputError` unless every target has a default coefficient."""
        if len(self.default_coefficients) != self.targets.count:
            raise InputError(
                f"default body has {self.targets.count} targets and "
                f"{len(self.default_coefficients)} default coefficients; expected as many."
            )

    @property
    def macro(self) -> Targets:
        """Targets blended by the phenotype rule."""
        return self.targets.slice(0, self.macro_count)

    @property
    def local(self) -> Targets:
        """Targets that change one region, and any added."""
        return self.targets.slice(self.macro_count, self.targets.count)

    def smpl_view(self) -> Template:
        """The average adult with SMPL's 24 joints."""
        return smpl_template(self.template)

    def with_targets(self, extra: Targets) -> "DefaultBody":
        """The same body with more local targets, at zero in the average adult."""
        return DefaultBody(
            self.template,
            self.base_vertices,
            self.base_joints,
            self.targets.joined(extra),
            self.macro_count,
            np.concatenate([self.default_coefficients, np.zeros(extra.count, np.float32)]),
            self.joint_regressor,
        )


@cache
def load_default_body() -> DefaultBody:
    """The default body with its adiposity and proportion targets, read once.

    Raises `AssetError` if a file is missing or damaged.
    """
    return read_default_body().with_targets(read_adiposity()).with_targets(read_proportions())


def read_default_body(folder: Traversable | None = None) -> DefaultBody:
    """Read and unpack the asset from `folder` (the package's own, if None)."""
    return body_from_arrays(read_archive("default_body", folder))


def body_from_arrays(stored: Mapping[str, NumpyArray]) -> DefaultBody:
    """Unpack the arrays that `tools/build_body.py` wrote."""
    repose = _repose(stored)
    base_vertices, base_joints, targets = _tposed_shapes(stored, repose)
    coefficients = stored["default_coefficients"].astype(np.float32)
    vertices = base_vertices + np.tensordot(coefficients, targets.vertex_offsets, 1)
    joints = base_joints + np.tensordot(coefficients, targets.joint_offsets, 1)
    regressor = np.zeros((len(joints), len(vertices)), np.float32)
    regressor[stored["regressor_joints"], stored["regressor_vertices"]] = stored["regressor_shares"]
    return DefaultBody(
        _template(stored, repose, *grounded(vertices, joints)),
        base_vertices,
        base_joints,
        targets,
        int(stored["macro_count"]),
        coefficients,
        regressor,
    )


def _repose(stored: Mapping[str, NumpyArray]) -> Repose:
    return Repose(
        rotations=stored["repose_rotations"],
        parents=stored["repose_parents"].astype(np.int64),
        pivots=stored["repose_pivots"].astype(np.int64),
        bone_indices=stored["repose_indices"].astype(np.int64),
        bone_weights=stored["repose_weights"] / WEIGHT_STEPS,
        joint_bones=stored["repose_joint_bones"].astype(np.int64),
    )


def _tposed_shapes(
    stored: Mapping[str, NumpyArray],
    repose: Repose,
) -> tuple[Float[NumpyArray, "V 3"], Float[NumpyArray, "J 3"], Targets]:
    """Base and targets sent through the repose, and set on the ground.

    The ground is the mean height of a few sole vertices, which is linear in the shape; the lowest
    vertex of a shape then lies within 3 mm of it (`grounded` takes out the rest).
    """
    vertices = repose.vertices(stored["vertices"], stored["joints"])
    joints = repose.joints(stored["joints"])
    joint_deltas = stored["target_joint_deltas"] * METRES_PER_DELTA
    deltas = stored["target_deltas"].transpose(0, 2, 1) * METRES_PER_DELTA
    offsets, joint_offsets = repose.vertices(deltas, joint_deltas), repose.joints(joint_deltas)
    for skin, centres in ((vertices, joints), (offsets, joint_offsets)):
        ground = skin[..., stored["sole"], 1].mean(axis=-1)[..., None]
        skin[..., 1] -= ground
        centres[..., 1] -= ground
    names = tuple(str(name) for name in stored["target_names"])
    targets = Targets(names, offsets, joint_offsets.astype(np.float32))
    return vertices.astype(np.float32), joints.astype(np.float32), targets


def grounded(
    vertices: Float[Array, "*batch V 3"], joints: Float[Array, "*batch J 3"]
) -> tuple[Float[Array, "*batch V 3"], Float[Array, "*batch J 3"]]:
    """The same body with its lowest vertex at height 0 exactly."""
    xp = namespace_of(vertices)
    lowest = xp.min(vertices[..., 1], axis=-1)
    zero = xp.zeros_like(lowest)
    shift = xp.stack([zero, lowest, zero], axis=-1)[..., None, :]
    return vertices - shift, joints - shift


def _template(
    stored: Mapping[str, NumpyArray],
    repose: Repose,
    vertices: Float[NumpyArray, "V 3"],
    joints: Float[NumpyArray, "J 3"],
) -> Template:
    quads = stored["quads"].astype(np.int32)
    mesh = Mesh(
        vertices,
        triangles_from_quads(quads),
        quads,
        stored["uv"],
        triangles_from_quads(stored["quads_uv"].astype(np.int32)),
        stored["mirror"].astype(np.int32),
    )
    weights = SkinWeights(
        stored["skin_indices"].astype(np.int32),
        (stored["skin_weights"] / WEIGHT_STEPS).astype(np.float32),
        len(joints),
    )
    names = tuple(str(name) for name in stored["joint_names"])
    parents = tuple(int(parent) for parent in stored["joint_parents"])
    part_names = tuple(str(name) for name in stored["part_names"])
    labels = stored["part_labels"].astype(np.int32)
    return Template(mesh, Skeleton(names, parents, joints), weights, part_names, labels, repose)
