"""Poses whose limbs pass neither through each other nor through the trunk.

Limbs are told from each other by capsules around their bones, from the trunk by its posed skin
(`trunk`): much cheaper than all of the skin. A pose is drawn, its overlaps are found, and the limbs
concerned are turned back towards a stand until they are clear. What flesh still touches is left to
the physics of contact.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.capture.trunk import ALONG, TrunkSkin, trunk_of
from corporeal.skinning.kinematics import forward_kinematics

_RADIUS: Final = 50.0
"""Percentile of the distance of a bone's skin that is taken for its radius."""
_SOFT: Final = 0.02
_FIRM: Final = 0.005
"""Metres that flesh gives way, and where one of both is a hand or a foot, which do not."""
_BACK: Final = 0.85
_MOST_TURNS: Final = 16
_BETTER: Final = 5e-3
"""Metres by which limbs must be less deep for more of their turns to be given up."""
_BEGINNING: Final = 2.0
"""Radii from a hip or shoulder within which a limb may be in the trunk."""
_FIRST: Final = ("hip", "shoulder")
_LAST: Final = ("wrist", "ankle", "foot")
ARMS: Final = (1, 2)
LEGS: Final = (3, 4)
"""Numbers of limbs; the trunk is 0."""
_LIMBS: Final = ("collar", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "foot")


@dataclass(frozen=True, eq=False)
class Capsules:
    """Bones of one person as thick lines, each from a joint to a child, and the trunk's skin."""

    joints: Float64[NumpyArray, "J 3"]
    """At rest, metres."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""
    bones: Int[NumpyArray, "b 2"]
    """Joints at both ends; bones of the limbs."""
    radii: Float64[NumpyArray, "b"]
    """Metres."""
    pairs: Int[NumpyArray, "p 2"]
    """Bones that could meet: those that are no neighbours."""
    limbs: Int[NumpyArray, "J"]
    """Limb of every joint: 0 trunk, 1 left arm, 2 right arm, 3 left leg, 4 right leg."""
    begins: Bool[NumpyArray, "b"]
    """Bones that begin in the trunk: hips and shoulders."""
    firm: Bool[NumpyArray, "b"]
    """Bones of hands and feet."""
    trunk: TrunkSkin
    """The trunk's skin, against which limbs are tested."""

    @property
    def places(self) -> int:
        """Along every bone that are held against the trunk."""
        return len(ALONG)

    def overlaps(self, rotations: Float64[NumpyArray, "J 3"]) -> Float64[NumpyArray, "o"]:
        """How deep pairs are in each other, then places along bones in the trunk, metres.

        Negative where they are apart.
        """
        frames = forward_kinematics(rotations, self.joints, self.parents, np.zeros(3))
        ends = frames[self.bones, :3, 3]
        first, second = self.pairs.T
        apart = segment_distances(ends[first], ends[second])
        in_trunk = self.trunk.overlaps(frames, ends, self.radii)
        return np.concatenate([self.radii[first] + self.radii[second] - apart, in_trunk.ravel()])

    def allowed(self, stand: Float64[NumpyArray, "J 3"]) -> Float64[NumpyArray, "o"]:
        """Overlaps that are no fault, metres: those of a stand, and what flesh gives way.

        Where limbs begin they may be anywhere in the trunk.
        """
        soft = np.where(self.firm, _FIRM, _SOFT)
        between = soft[self.pairs].min(axis=1)
        limits = np.maximum(self.overlaps(stand), 0.0)
        limits += np.concatenate([between, np.repeat(soft, self.places)])
        limits[len(self.pairs) :][self._beginnings().ravel()] = np.inf
        return limits

    def _beginnings(self) -> Bool[NumpyArray, "b s"]:
        """Places on bones that begin in the trunk, within so many radii of that."""
        start, end = self.joints[self.bones].transpose(1, 0, 2)
        reach = np.linalg.norm(end - start, axis=1)[:, None] * ALONG
        return self.begins[:, None] & (reach < _BEGINNING * self.radii[:, None])

    def cleared(
        self, rotations: Float64[NumpyArray, "J 3"], stand: Float64[NumpyArray, "J 3"]
    ) -> tuple[Float64[NumpyArray, "J 3"], float]:
        """The pose with its limbs turned back towards `stand` until they are clear.

        Also gives the least share of a drawn turn that was left.
        """
        shares = self.shares(rotations, stand, self.allowed(stand), ARMS + LEGS)
        return self.turned(rotations, stand, shares), float(shares.min())

    def shares(
        self,
        rotations: Float64[NumpyArray, "J 3"],
        stand: Float64[NumpyArray, "J 3"],
        allowed: Float64[NumpyArray, "o"],
        movable: tuple[int, ...],
    ) -> Float64[NumpyArray, "5"]:
        """Which share of its turn from `stand` each limb keeps; only `movable` limbs give way.

        Where nothing makes them clear, the shares that leave them the least deep.
        """
        shares, best, least = np.ones(5), np.ones(5), np.inf
        for _ in range(_MOST_TURNS):
            excess = self.overlaps(self.turned(rotations, stand, shares)) - allowed
            found = np.intersect1d(self._limbs_of(excess > 0.0), movable)
            if not found.size:
                return shares
            worst = self._worst_of(excess, movable)
            if worst < least - _BETTER:
                best, least = shares.copy(), worst
            shares[found] *= _BACK
        return best

    def _worst_of(self, excess: Float64[NumpyArray, "o"], movable: tuple[int, ...]) -> float:
        """The largest overlap of `movable` limbs beyond what is allowed, metres."""
        owners = self.limbs[self.bones[:, 0]]
        concerned = np.concatenate(
            [
                np.isin(owners[self.pairs], movable).any(axis=1),
                np.repeat(np.isin(owners, movable), self.places),
            ]
        )
        return float(excess[concerned].max())

    def turned(
        self,
        rotations: Float64[NumpyArray, "*batch J 3"],
        stand: Float64[NumpyArray, "J 3"],
        shares: Float64[NumpyArray, "*batch 5"],
    ) -> Float64[NumpyArray, "*batch J 3"]:
        """Poses whose limbs keep these shares of their turns from `stand`."""
        return rotations + (1.0 - shares[..., self.limbs, None]) * (stand - rotations)

    def _limbs_of(self, deep: Bool[NumpyArray, "o"]) -> Int[NumpyArray, "n"]:
        """Limbs that overlap with another one or with the trunk."""
        owners = self.limbs[self.bones[:, 0]]
        count = len(self.pairs)
        in_trunk = deep[count:].reshape(len(self.bones), -1).any(axis=1)
        return np.union1d(owners[self.pairs[deep[:count]]], owners[in_trunk])


def capsules_of(template: Template, identity: Identity) -> Capsules:
    """Thick bones of one person's arms and legs; a hand is one bone, to its longest finger."""
    skeleton = template.skeleton
    joints = np.asarray(identity.joints, np.float64)
    vertices = np.asarray(identity.rest_vertices, np.float64)
    weights = template.weights
    strongest = np.take_along_axis(
        weights.joint_indices, weights.values.argmax(axis=1)[:, None], axis=1
    )[:, 0]
    limbs = np.array([_limb(name) for name in skeleton.names])
    bones, radii = [], []
    for parent, child in _limb_bones(skeleton):
        own = strongest == parent
        ends = np.broadcast_to(joints[[parent, child]], (int(own.sum()), 2, 3))
        points = np.repeat(vertices[own][:, None], 2, axis=1)
        bones.append((parent, child))
        radii.append(float(np.percentile(segment_distances(ends, points), _RADIUS)))
    found = np.array(bones)
    return Capsules(
        joints=joints,
        parents=skeleton.parents,
        bones=found,
        radii=np.array(radii),
        pairs=_pairs(found),
        limbs=limbs,
        begins=np.array([skeleton.names[n].endswith(_FIRST) for n in found[:, 0]]),
        firm=np.array([skeleton.names[n].endswith(_LAST) for n in found[:, 0]]),
        trunk=trunk_of(template, identity, strongest, limbs == 0),
    )


def segment_distances(
    first: Float64[NumpyArray, "n 2 3"], second: Float64[NumpyArray, "n 2 3"]
) -> Float64[NumpyArray, "n"]:
    """Least distance between two segments each, metres (Ericson 2005, section 5.1.9)."""
    d, e = first[:, 1] - first[:, 0], second[:, 1] - second[:, 0]
    r = first[:, 0] - second[:, 0]
    a, b, c = (np.einsum("ni,ni->n", x, y) for x, y in ((d, d), (e, e), (d, e)))
    p, q = np.einsum("ni,ni->n", d, r), np.einsum("ni,ni->n", e, r)
    tiny = 1e-18
    s = np.clip(
        np.divide(c * q - p * b, a * b - c * c, where=a * b - c * c > tiny, out=np.zeros_like(a)),
        0,
        1,
    )
    t = np.divide(c * s + q, b, where=b > tiny, out=np.zeros_like(a))
    outside = (t < 0) | (t > 1)
    t = np.clip(t, 0, 1)
    again = np.clip(np.divide(c * t - p, a, where=a > tiny, out=np.zeros_like(a)), 0, 1)
    s = np.where(outside | (b <= tiny), again, s)
    gap = first[:, 0] + s[:, None] * d - second[:, 0] - t[:, None] * e
    return np.linalg.norm(gap, axis=1)


def _pairs(bones: Int[NumpyArray, "b 2"]) -> Int[NumpyArray, "p 2"]:
    """All pairs of bones that share no joint."""
    first, second = np.triu_indices(len(bones), 1)
    touch = (bones[first][:, :, None] == bones[second][:, None, :]).any(axis=(1, 2))
    return np.stack([first, second], axis=1)[~touch]


def _limb(name: str) -> int:
    side, _, stem = name.partition("_")
    if side not in ("left", "right"):
        return 0
    arm = stem in _LIMBS[:4] or _is_finger(name)
    return (1 if arm else 3) + (side == "right")


def _limb_bones(skeleton: Skeleton) -> list[tuple[int, int]]:
    """Joints at both ends of the bones of arms and legs; collars belong to the trunk."""
    bones = []
    for child, parent in enumerate(skeleton.parents):
        name = skeleton.names[parent]
        if parent < 0 or _limb(name) == 0 or _is_finger(name) or name.endswith("collar"):
            continue
        if not name.endswith("wrist"):
            bones.append((parent, child))
        elif "middle" in skeleton.names[child]:
            bones.append((parent, skeleton.index(f"{name.partition('_')[0]}_middle3")))
    return bones


def _is_finger(name: str) -> bool:
    return any(word in name for word in ("thumb", "index", "middle", "ring", "pinky"))
