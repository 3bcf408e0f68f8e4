"""What all bodies of one kind share: topology, joint tree, skin weights, part labels."""

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.body.mesh import Mesh
from corporeal.body.repose import Repose
from corporeal.body.skeleton import Skeleton
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("part_names",))
class Template:
    """A rigged surface in its zero pose."""

    mesh: Mesh
    """Surface in the zero pose."""
    skeleton: Skeleton
    """Kinematic tree with rest joints."""
    weights: SkinWeights
    """Skin weights of every vertex."""
    part_names: tuple[str, ...]
    """Names of the body parts, such as `head`, `belly`, `left_thigh`."""
    part_labels: Int[NumpyArray, "V"]
    """Index into `part_names` of every vertex."""
    repose: Repose | None = None
    """How the zero pose was made of the one that the surface was sculpted in; None where it came in
    the zero pose, or where that is not known."""

    def check(self) -> None:
        """Raise `InputError` unless mesh, skeleton, weights, labels and repose agree in counts."""
        count = self.mesh.vertex_count
        if len(self.weights.values) != count:
            raise InputError(
                f"template has {count} vertices and weights for {len(self.weights.values)}; "
                f"expected one row a vertex."
            )
        if self.weights.joint_count != self.skeleton.joint_count:
            raise InputError(
                f"template weights name {self.weights.joint_count} joints and the skeleton has "
                f"{self.skeleton.joint_count}; expected as many."
            )
        require_indices("template part labels", self.part_labels, len(self.part_names))
        if len(self.part_labels) != count:
            raise InputError(
                f"template has {count} vertices and {len(self.part_labels)} part labels; "
                f"expected one a vertex."
            )
        self._check_repose(count)

    def _check_repose(self, count: int) -> None:
        if self.repose is None:
            return
        found = (len(self.repose.bone_weights), len(self.repose.joint_bones))
        if found != (count, self.skeleton.joint_count):
            raise InputError(
                f"template has {count} vertices and {self.skeleton.joint_count} joints, and a "
                f"repose for {found[0]} and {found[1]}; expected as many, or no repose."
            )

    def part(self, name: str) -> Int[NumpyArray, "n"]:
        """Indices of the vertices of one part."""
        if name not in self.part_names:
            raise InputError(f"template has no part {name!r}; parts: {', '.join(self.part_names)}.")
        return np.flatnonzero(self.part_labels == self.part_names.index(name))
