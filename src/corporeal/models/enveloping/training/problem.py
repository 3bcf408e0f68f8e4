"""What is given, what stays, and what is looked for: scans, problem and estimate."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float, Float64, Int, NumpyArray
from corporeal.body.enveloping import DriverKind, coordinates
from corporeal.body.pose import RotationPose
from corporeal.models.enveloping.equations import Variances, umbrella
from corporeal.models.enveloping.keys import RadialBasis, driver_rotations
from corporeal.models.enveloping.rig import EnvelopingRig

FLIP = np.array([-1.0, 1.0, 1.0])
"""Mirrors a place at the sagittal plane."""
_AT_ONCE = 32
"""Scans at a time, where skins of all vertices are computed."""


@dataclass(frozen=True, eq=False)
class Scans:
    """Matched scans: one topology, holes without confidence."""

    vertices: Float[NumpyArray, "N V 3"]
    """e, metres; anything where the confidence is 0."""
    confidence: Float[NumpyArray, "N V"]
    """From 0, not seen, to 1."""
    people: Int[NumpyArray, "N"]
    """Whose scan each is, from 0 on."""
    standing: Int[NumpyArray, "B"]
    """Everybody's scan in the standing pose, from which joints are told."""

    @property
    def person_count(self) -> int:
        """Number B of people."""
        return len(self.standing)

    def of_person(self, person: int) -> Int[NumpyArray, "n"]:
        """The scans of one person."""
        return np.flatnonzero(self.people == person)


@dataclass(frozen=True, eq=False)
class Driver:
    """Key angles of one joint, where they act, and their mirror images."""

    joint: int
    """Joint that drives."""
    kind: DriverKind
    """What of its rotation drives."""
    basis: RadialBasis
    """Of the key angles."""
    region: Int[NumpyArray, "v"]
    """Vertices that may be moved."""
    image: int
    """The driver of the other side; its own number on the sagittal plane."""
    image_keys: Int[NumpyArray, "k"]
    """Of every key but the first, its mirror image among the image's."""
    image_vertices: Int[NumpyArray, "v"]
    """Of every vertex of the region, its mirror image among the image's region."""

    @property
    def key_count(self) -> int:
        """Keys that have offsets."""
        return len(self.basis.keys) - 1


@dataclass(frozen=True, eq=False)
class Problem:
    """What training does not change."""

    rig: EnvelopingRig
    """Joints, helpers and bone parameters."""
    drivers: tuple[Driver, ...]
    """Key angles."""
    edges: csr_array
    """Differences along the edges of the surface."""
    mirror: Int[NumpyArray, "V"] | None
    """Vertex on the other side; None where nobody knows."""
    mirror_influences: Int[NumpyArray, "L"]
    """Influence on the other side."""
    allowed: Bool[NumpyArray, "V L"]
    """Which influence may move which vertex."""
    regressor: Float64[NumpyArray, "J V"]
    """Joint centres from the surface of a standing person."""
    some: Int[NumpyArray, "w"]
    """Vertices that poses and latents are found from."""

    @cached_property
    def laplacian(self) -> csr_array:
        """EᵀE: ‖E k‖² is what eq. 11 sums."""
        return (self.edges.T @ self.edges).tocsr()

    @cached_property
    def umbrella(self) -> csr_array:
        """U of eq. 10."""
        return umbrella(self.edges)

    @cached_property
    def driver_laplacians(self) -> tuple[csr_array, ...]:
        """Of every region, with the edges that leave it: offsets outside are 0."""
        return tuple(
            csr_array(self.laplacian[d.region][:, d.region]) for d in self.drivers
        )  # fmt: skip

    def key_weights(self, rotations: Float[NumpyArray, "N J 3 3"]) -> list[NumpyArray]:
        """ω of every driver, N × k, without the key of no rotation."""
        axes = self.rig.axes
        return [
            d.basis.weights(driver_rotations(d.kind, rotations[:, d.joint], axes[d.joint]))[:, 1:]
            for d in self.drivers
        ]


@dataclass(frozen=True, eq=False)
class OwnBodies:
    """Everybody's own dress shape and joints, where they came with the scans."""

    dress: Float[NumpyArray, "B V 3"]
    """Skin in the dress pose, metres."""
    joints: Float64[NumpyArray, "B J 3"]
    """Joints in the dress pose, metres."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Everything that training looks for."""

    rotations: Float64[NumpyArray, "N J 3 3"]
    """q: parent-relative rotations of every scan."""
    translations: Float64[NumpyArray, "N 3"]
    """q: shift of the root, metres."""
    x: Float64[NumpyArray, "B s"]
    """Latent coordinates of every person."""
    dress: Float[NumpyArray, "m V 3"]
    """v̄: mean, then one row a latent coordinate, metres."""
    bones: Float64[NumpyArray, "m b"]
    """b likewise."""
    weights: Float64[NumpyArray, "V L"]
    """s."""
    offsets: tuple[Float[NumpyArray, "..."], ...]
    """k of every driver, n × keys × vertices × 3, metres: mean, then latent coordinates."""
    variances: Variances = field(default_factory=Variances)
    """σ²."""
    own: OwnBodies | None = None
    """Bodies that are known take the place of W x + c̄ for dress shapes and joints."""

    @property
    def offset_count(self) -> int:
        """Rows of the offsets: one, and the latent coordinates that they depend on."""
        return len(self.offsets[0]) if self.offsets else 1

    def pose(self, which: NumpyArray) -> RotationPose:
        """Of some scans."""
        return RotationPose(self.rotations[which], self.translations[which])

    def joints(self, problem: Problem) -> Float64[NumpyArray, "B J 3"]:
        """Everybody's joints in the dress pose, metres."""
        if self.own is not None:
            return self.own.joints
        parameters = coordinates(self.x) @ self.bones
        return np.stack([problem.rig.layout.joints_of(b) for b in parameters])


@dataclass(frozen=True, eq=False)
class Skins:
    """Skins of some scans, and what made them."""

    blended: Float[NumpyArray, "n V 3 3"]
    """B: blended rotation of every vertex."""
    shifts: Float[NumpyArray, "n V 3"]
    """t: what joints add, metres."""
    rest: Float[NumpyArray, "n V 3"]
    """Corrected dress shape, metres."""

    @property
    def vertices(self) -> Float[NumpyArray, "n V 3"]:
        """f(c, s, q) = B v̄ + t, metres."""
        return np.matmul(self.blended, self.rest[..., None])[..., 0] + self.shifts


def blended_motions(
    problem: Problem,
    estimate: Estimate,
    scans: Scans,
    which: Int[NumpyArray, "n"],
    vertices: NumpyArray | slice = slice(None),
) -> tuple[Float[NumpyArray, "n v 3 3"], Float[NumpyArray, "n v 3"]]:
    """B and t of some vertices in some scans, float32."""
    joints = estimate.joints(problem)[scans.people[which]]
    state = problem.rig.state(estimate.pose(which), joints)
    motions = np.concatenate([state.world_rotations, state.translations[..., None]], axis=-1)
    flat = motions.reshape(len(which), -1, 12).astype(np.float32)
    mixed = np.matmul(estimate.weights[vertices].astype(np.float32), flat)
    mixed = mixed.reshape(len(which), -1, 3, 4)
    return np.ascontiguousarray(mixed[..., :3]), np.ascontiguousarray(mixed[..., 3])


def corrected_rest(
    problem: Problem, estimate: Estimate, scans: Scans, which: Int[NumpyArray, "n"]
) -> Float[NumpyArray, "n V 3"]:
    """v̄ of every scan, with its offsets, float32."""
    y = coordinates(estimate.x)[scans.people[which]].astype(np.float32)
    if estimate.own is None:
        rest = np.tensordot(y, np.asarray(estimate.dress, np.float32), axes=1)
    else:
        rest = np.array(estimate.own.dress[scans.people[which]], np.float32)
    for driver, omega, offsets in zip(
        problem.drivers, problem.key_weights(estimate.rotations[which]), estimate.offsets,
        strict=True,
    ):  # fmt: skip
        features = driver_features(omega, y[:, : len(offsets)])
        flat = np.asarray(offsets, np.float32).reshape(features.shape[1], -1)
        rest[:, driver.region] += (features @ flat).reshape(len(which), -1, 3)
    return rest


def driver_features(
    omega: Float[NumpyArray, "n k"], y: Float[NumpyArray, "n m"]
) -> Float[NumpyArray, "n f"]:
    """y_c ω_k: what multiplies each row of a driver's offsets; f = m k."""
    product = y[:, :, None] * omega[:, None, :]
    return product.reshape(len(product), -1).astype(np.float32)


def skins(problem: Problem, estimate: Estimate, scans: Scans, which: Int[NumpyArray, "n"]) -> Skins:
    """What the model makes of some scans."""
    blended, shifts = blended_motions(problem, estimate, scans, which)
    return Skins(blended, shifts, corrected_rest(problem, estimate, scans, which))


def squared_errors(
    problem: Problem, estimate: Estimate, scans: Scans
) -> tuple[Float64[NumpyArray, "N"], Float64[NumpyArray, "N"]]:
    """Σ_i c_i ‖e_i − v_i‖² and Σ_i c_i of every scan."""
    squares = np.empty(len(scans.people))
    for first in range(0, len(squares), _AT_ONCE):
        which = np.arange(first, min(first + _AT_ONCE, len(squares)))
        off = skins(problem, estimate, scans, which).vertices - scans.vertices[which]
        squares[which] = np.einsum("nva,nva,nv->n", off, off, scans.confidence[which])
    return squares, scans.confidence.sum(axis=1, dtype=np.float64)
