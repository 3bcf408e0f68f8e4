"""Poses whose limbs do not pass through each other, told by capsules around the bones.

Much cheaper than the skin itself: a pose is drawn, its worst overlaps are found, and the limbs
concerned are turned back towards a stand until they are clear. What flesh still touches is left to
the physics of contact.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.template import Template
from corporeal.skinning.kinematics import forward_kinematics

_RADIUS: Final = 50.0
"""Percentile of the distance of a bone's skin that is taken for its radius."""
_SOFT: Final = 0.02
"""Metres that flesh gives way."""
_BACK: Final = 0.85
_MOST_TURNS: Final = 16
_LIMBS: Final = ("collar", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "foot")


@dataclass(frozen=True, eq=False)
class Capsules:
    """Bones of one person as thick lines, each from a joint to a child."""

    joints: Float64[NumpyArray, "J 3"]
    """At rest, metres."""
    parents: tuple[int, ...]
    bones: Int[NumpyArray, "b 2"]
    """Joints at both ends."""
    radii: Float64[NumpyArray, "b"]
    """Metres."""
    pairs: Int[NumpyArray, "p 2"]
    """Bones that could meet: those that are no neighbours."""
    limbs: Int[NumpyArray, "J"]
    """Limb of every joint: 0 trunk, 1 left arm, 2 right arm, 3 left leg, 4 right leg."""

    def overlaps(self, rotations: Float64[NumpyArray, "J 3"]) -> Float64[NumpyArray, "p"]:
        """How deep every pair is in each other, metres; negative where they are apart."""
        frames = forward_kinematics(rotations, self.joints, self.parents, np.zeros(3))
        ends = frames[self.bones, :3, 3]
        first, second = self.pairs.T
        apart = segment_distances(ends[first], ends[second])
        return self.radii[first] + self.radii[second] - apart

    def cleared(
        self, rotations: Float64[NumpyArray, "J 3"], stand: Float64[NumpyArray, "J 3"]
    ) -> tuple[Float64[NumpyArray, "J 3"], float]:
        """The pose with its limbs turned back towards `stand` until they are clear.

        Also gives the least share of a drawn turn that was left.
        """
        allowed = np.maximum(self.overlaps(stand), 0.0) + _SOFT
        shares = np.ones(5)
        for _ in range(_MOST_TURNS):
            turned = stand + shares[self.limbs][:, None] * (rotations - stand)
            deep = self.overlaps(turned) > allowed
            if not deep.any():
                return turned, float(shares.min())
            shares[self._movable(deep)] *= _BACK
        return stand + shares[self.limbs][:, None] * (rotations - stand), float(shares.min())

    def _movable(self, deep: Bool[NumpyArray, "p"]) -> Int[NumpyArray, "n"]:
        """Limbs of the pairs that overlap; the trunk only where nothing else can give way."""
        owners = self.limbs[self.bones[:, 0]][self.pairs[deep]]
        found = np.unique(owners)
        return found[found > 0] if (found > 0).any() else found


def capsules_of(template: Template, identity: Identity) -> Capsules:
    """Thick bones of one person: arms, legs, trunk and head; fingers belong to the hand."""
    skeleton = template.skeleton
    joints = np.asarray(identity.joints, np.float64)
    vertices = np.asarray(identity.rest_vertices, np.float64)
    weights = template.weights
    strongest = np.take_along_axis(
        weights.joint_indices, weights.values.argmax(axis=1)[:, None], axis=1
    )[:, 0]
    bones, radii = [], []
    for child, parent in enumerate(skeleton.parents):
        own = strongest == parent
        if parent < 0 or not own.any() or _is_finger(skeleton.names[parent]):
            continue
        if skeleton.names[parent].endswith("wrist") and "middle" not in skeleton.names[child]:
            continue
        ends = np.broadcast_to(joints[[parent, child]], (int(own.sum()), 2, 3))
        points = np.repeat(vertices[own][:, None], 2, axis=1)
        bones.append((parent, child))
        radii.append(float(np.percentile(segment_distances(ends, points), _RADIUS)))
    limbs = np.array([_limb(name) for name in skeleton.names])
    found = np.array(bones)
    return Capsules(joints, skeleton.parents, found, np.array(radii), _pairs(found), limbs)


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


def _is_finger(name: str) -> bool:
    return any(word in name for word in ("thumb", "index", "middle", "ring", "pinky"))
