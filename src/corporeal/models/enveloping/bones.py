"""Bone parameters b: what of a skeleton belongs to the person and not to the pose (Allen 2006,
section 2.1).

In the dress pose, which is the T-pose, bones along limbs and neck may only differ in length along
the layout's direction; pelvis, spine and shoulder girdle may lie anywhere. Left and right are
mirror images, but for the carrying angles of elbows and knees, which turn forearm and shank about
the axis that is perpendicular to flexion and twist. Where joints are known and not found from a few
scans, a free layout lets every bone point anywhere instead.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.geometry.rotations import cross_matrix, matrix_from_axis_angle

FREE = ("hip", "knee", "spine1", "spine2", "spine3", "neck", "collar", "shoulder")
"""Ends of bones that may point anywhere; the others have a length alone."""
CARRYING = {"elbow": "wrist", "knee": "ankle"}
"""Joints with a carrying angle, and the end of the bone that it turns."""
_AXIS = np.array([0.0, 0.0, 1.0])
"""In the T-pose elbows flex about y and twist about x, knees flex about x and twist about y."""
_FIT_ROUNDS = 8


def _opposite(name: str) -> str:
    if name.startswith("left"):
        return "right" + name[4:]
    return "left" + name[5:] if name.startswith("right") else name


def _kind(name: str) -> str:
    return name.removeprefix("left_").removeprefix("right_")


@dataclass(frozen=True)
class BoneLayout:
    """Which number of b does what to which bone."""

    names: tuple[str, ...]
    """Of the joints."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""
    joints: Float[NumpyArray, "J 3"]
    """Joints of the layout, metres: they give the directions."""
    free: bool = False
    """Whether every bone may point anywhere, left and right in a mirror; no carrying angles."""

    @staticmethod
    def of_size(
        names: tuple[str, ...],
        parents: tuple[int, ...],
        joints: Float[NumpyArray, "J 3"],
        size: int,
    ) -> "BoneLayout":
        """The layout with so many numbers in b."""
        found = [BoneLayout(names, parents, joints, free) for free in (False, True)]
        for layout in found:
            if layout.size == size:
                return layout
        raise InputError(
            f"the model has {size} bone parameters; expected {found[0].size}, or "
            f"{found[1].size} where every bone is free. The file is damaged; make it again."
        )

    @cached_property
    def directions(self) -> Float64[NumpyArray, "n J 3"]:
        """What one unit of each length adds to every bone before carrying angles turn it."""
        rows, flip = [], np.array([-1.0, 1.0, 1.0])
        bones = self._layout_bones
        for joint, name in enumerate(self.names):
            other = _opposite(name)
            paired = other != name and other in self.names
            if self.parents[joint] < 0 or (paired and name.startswith("right")):
                continue
            free = self.free or _kind(name) in FREE
            length = max(float(np.linalg.norm(bones[joint])), 1e-9)
            axes = np.eye(3) if free else bones[joint][None] / length
            for axis in axes[0 if paired or not free else 1 :]:
                row = np.zeros((len(self.names), 3))
                row[joint] = axis if paired else axis * [0.0, 1.0, 1.0]
                if paired:
                    row[self.names.index(other)] = flip * axis
                rows.append(row)
        return np.array(rows)

    @cached_property
    def carried(self) -> tuple[int, ...]:
        """The joint at the end of every bone that a carrying angle turns."""
        if self.free:
            return ()
        ends = [f"{side}_{end}" for end in CARRYING.values() for side in ("left", "right")]
        return tuple(self.names.index(end) for end in ends if end in self.names)

    @property
    def size(self) -> int:
        """Numbers in b."""
        return len(self.directions) + len(self.carried)

    @cached_property
    def _layout_bones(self) -> Float64[NumpyArray, "J 3"]:
        return self._bones_of(np.asarray(self.joints, np.float64))

    def _bones_of(self, joints: Float64[NumpyArray, "J 3"]) -> Float64[NumpyArray, "J 3"]:
        above = np.array([max(p, 0) for p in self.parents])
        return joints - np.where(np.array(self.parents)[:, None] < 0, 0.0, 1.0) * joints[above]

    @cached_property
    def _summed(self) -> Float64[NumpyArray, "J J"]:
        """Joint k is the root plus the bones on its way."""
        matrix = np.eye(len(self.parents))
        for k, parent in enumerate(self.parents):
            if parent >= 0:
                matrix[k] += matrix[parent]
        return matrix

    def joints_of(self, b: Float[NumpyArray, "b"]) -> Float64[NumpyArray, "J 3"]:
        """Joints in the dress pose, the root where the layout's is, metres."""
        return self._placed(np.asarray(b, np.float64))[0]

    def slopes(self, b: Float[NumpyArray, "b"]) -> Float64[NumpyArray, "J 3 b"]:
        """∂ of the joints by b."""
        return self._placed(np.asarray(b, np.float64))[1]

    def _placed(self, b: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
        count = len(self.directions)
        bones = np.tensordot(b[:count], self.directions, axes=1)
        root = self.parents.index(-1)
        bones[root] = self._layout_bones[root]
        slopes = np.concatenate(
            [np.moveaxis(self.directions, 0, -1), np.zeros((*bones.shape, len(self.carried)))], -1
        )
        for place, (end, angle) in enumerate(zip(self.carried, b[count:], strict=True)):
            turn = matrix_from_axis_angle(angle * _AXIS)
            bones[end] = turn @ bones[end]
            slopes[end] = turn @ slopes[end]
            slopes[end, :, count + place] += cross_matrix(_AXIS) @ bones[end]
        return self._summed @ bones, np.tensordot(self._summed, slopes, axes=1)

    def fit(self, joints: Float[NumpyArray, "J 3"]) -> Float64[NumpyArray, "b"]:
        """The b whose bones, one by one, come closest to those of these joints (Gauss–Newton).

        What a bone's direction misses is left to the pose.
        """
        wanted = self._bones_of(np.asarray(joints, np.float64))
        wanted[self.parents.index(-1)] = self._layout_bones[self.parents.index(-1)]
        b = np.zeros(self.size)
        flat = self.directions.reshape(len(self.directions), -1).T
        b[: len(self.directions)] = np.linalg.lstsq(flat, self._layout_bones.ravel(), rcond=None)[0]
        back = np.linalg.inv(self._summed)
        for _ in range(_FIT_ROUNDS):
            here, slopes = self._placed(b)
            rows = np.tensordot(back, slopes, axes=1).reshape(-1, self.size)
            b = b + np.linalg.lstsq(rows, (wanted - back @ here).ravel(), rcond=None)[0]
        return b
