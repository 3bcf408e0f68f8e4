"""A learned corrective enveloping: what its files hold (Allen 2006).

Every person is a character vector c = W x + c̄: dress shape, bone parameters and offsets at key
angles, all linear in the latent coordinates x. Key angles, influence regions and enveloping
weights are common to all people.
"""

from typing import Literal, get_args

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.body.weights import SkinWeights
from corporeal.errors import FormatError, InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

DriverKind = Literal["rotation", "swing", "twist"]
"""What of a joint's rotation drives offsets: all of it, its swing alone, or its twist alone."""


@pytree_dataclass(static=("joint", "kind"))
class KeyedOffsets:
    """The key angles of one joint, and what they do to the skin around it."""

    joint: int
    """Joint that drives."""
    kind: DriverKind
    """Which part of its rotation."""
    keys: Float[NumpyArray, "K 3 3"]
    """Key angles r_k as rotations; the first is no rotation, and has no offsets."""
    region: Int[NumpyArray, "v"]
    """Vertices of the influence region."""
    offsets: Float[NumpyArray, "n k v 3"]
    """Offsets of every key but the first, metres: those of the mean character, then what one unit
    of each of the first n − 1 latent coordinates adds."""


@pytree_dataclass(static=("joint_names", "parents"))
class EnvelopingModel:
    """People as character vectors, all that is common to them, and those it was learned from."""

    triangles: Int[NumpyArray, "F 3"]
    """Corner indices, counter-clockwise seen from outside."""
    joint_names: tuple[str, ...]
    """Unique names, parents before children."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""
    layout_joints: Float[NumpyArray, "J 3"]
    """Joints whose bones' directions the bone parameters refer to, metres."""
    helper_joints: Int[NumpyArray, "H"]
    """Joints whose twist is split: one entry a helper joint."""
    helper_shares: Float[NumpyArray, "H"]
    """Share of the twist that each helper takes, from 0 to below 1."""
    weights: SkinWeights
    """Enveloping weights of J joints and then H helpers."""
    dress: Float[NumpyArray, "m V 3"]
    """Dress shape of the mean character, then of one unit of each latent coordinate, metres."""
    bones: Float[NumpyArray, "m b"]
    """Bone parameters likewise: metres, and radians of carrying angles."""
    corrections: tuple[KeyedOffsets, ...]
    """Pose-dependent offsets, one entry a driver."""
    softness: float
    """ε of the radial basis √(d² + ε²), radians."""
    latents: Float[NumpyArray, "B s"]
    """x of the people it was learned from."""
    statures: Float[NumpyArray, "B"]
    """Their statures, metres; NaN where not known."""
    masses: Float[NumpyArray, "B"]
    """Their masses, kg; NaN where not known."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree, indices are in range and numbers finite."""
        vertices, joints = self.vertex_count, len(self.parents)
        for name in ("dress", "bones", "layout_joints", "latents"):
            require_finite(f"enveloping {name}", getattr(self, name))
        require_indices("enveloping triangles", self.triangles, vertices)
        if not len(self.joint_names) == joints == len(self.layout_joints):
            raise InputError(
                f"enveloping has {len(self.joint_names)} joint names, {joints} parents and "
                f"{len(self.layout_joints)} joints; expected as many of each."
            )
        if self.weights.joint_count != joints + len(self.helper_joints):
            raise InputError(
                f"enveloping weights name {self.weights.joint_count} joints; expected {joints} and "
                f"{len(self.helper_joints)} helpers."
            )
        if len(self.weights.values) != vertices or len(self.bones) != len(self.dress):
            raise InputError(
                f"enveloping has weights of {len(self.weights.values)} vertices and "
                f"{len(self.bones)} rows of bones; expected {vertices} and {len(self.dress)}."
            )
        if self.latents.shape[1] != self.latent_count:
            raise InputError(
                f"enveloping has {self.latent_count} latent coordinates and people with "
                f"{self.latents.shape[1]}; expected as many."
            )
        for driver in self.corrections:
            self._check_driver(driver, vertices, joints)

    def _check_driver(self, driver: KeyedOffsets, vertices: int, joints: int) -> None:
        require_finite("enveloping offsets", driver.offsets)
        require_finite("enveloping key angles", driver.keys)
        require_indices("enveloping influence region", driver.region, vertices)
        if driver.kind not in get_args(DriverKind) or not 0 < driver.joint < joints:
            raise InputError(
                f"enveloping has a driver {driver.kind!r} of joint {driver.joint}; expected "
                f"{', '.join(get_args(DriverKind))} of a joint between 1 and {joints - 1}."
            )
        expected = (len(driver.keys) - 1, len(driver.region), 3)
        if driver.offsets.shape[1:] != expected or len(driver.offsets) > self.latent_count + 1:
            raise InputError(
                f"enveloping offsets of joint {driver.joint} have the shape "
                f"{driver.offsets.shape}; expected at most {self.latent_count + 1} times "
                f"{expected}: keys but the first, vertices of the region, 3."
            )

    @property
    def vertex_count(self) -> int:
        """Number V of vertices."""
        return self.dress.shape[1]

    @property
    def latent_count(self) -> int:
        """Number of latent coordinates."""
        return len(self.dress) - 1

    @property
    def key_count(self) -> int:
        """Number of key angles that have offsets, of all drivers."""
        return sum(len(driver.keys) - 1 for driver in self.corrections)


def coordinates(x: Float[NumpyArray, "*batch s"]) -> Float[NumpyArray, "*batch n"]:
    """y = (1, x): a character vector is y times the rows of (c̄, W)."""
    x = np.asarray(x, np.float64)
    return np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)


def corrections_in(
    joints: NumpyArray, kinds: NumpyArray, counts: NumpyArray, sizes: NumpyArray, rows: int,
    keys: NumpyArray, regions: NumpyArray, offsets: NumpyArray,
) -> tuple[KeyedOffsets, ...]:  # fmt: skip
    """Drivers from arrays that lie one after another; `FormatError` where they do not agree."""
    numbers = rows * int(np.sum((counts - 1).astype(np.int64) * sizes * 3))
    if (
        not len(joints) == len(kinds) == len(counts) == len(sizes)
        or counts.min(initial=1) < 1 or sizes.min(initial=0) < 0
        or int(counts.sum()) != len(keys) or int(sizes.sum()) != len(regions)
        or numbers != len(offsets) or rows < 1
    ):  # fmt: skip
        raise FormatError(
            f"the file has {len(offsets)} offsets, {len(keys)} key angles and {len(regions)} "
            f"vertices of regions, and says {numbers}, {counts.sum()} and {sizes.sum()}. It is "
            f"damaged; make it again."
        )
    names, found, key, vertex, place = get_args(DriverKind), [], 0, 0, 0
    for joint, kind, count, size in zip(joints, kinds, counts, sizes, strict=True):
        if not 0 <= kind < len(names):
            raise FormatError(f"the file has a driver of kind {kind}; expected 0 to 2.")
        length = rows * (int(count) - 1) * int(size) * 3
        found.append(
            KeyedOffsets(
                int(joint),
                names[kind],
                keys[key : key + count],
                regions[vertex : vertex + size],
                offsets[place : place + length].reshape(rows, int(count) - 1, int(size), 3),
            )
        )
        key, vertex, place = key + int(count), vertex + int(size), place + length
    return tuple(found)
