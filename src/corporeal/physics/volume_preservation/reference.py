"""Volume kept by smooth pressures: displacements on the fine mesh, pressures on a coarse basis.

Tissue is mostly water. Strain alone (Poisson's ratio 0) lets a bent or twisted limb lose volume;
keeping the volume of every element would lock the flesh. So the volumes v_k of K overlapping
regions are kept, each by one pressure p_k, solved for as a Lagrange multiplier instead of by a
stiff spring:

======== ===================================================== =================
V_f      volume of the prism below skin triangle f              `prism_volumes`
D        ∂V/∂z, prisms × coordinates                            `prism_slopes`
Ω        share of prism f in region k, mean over its corners    `prism_shares`
v        Ωᵀ V, volumes of the regions                           `volumes`
Gᵀp      Dᵀ Ω p, force of the pressures on the vertices         `forces`
C        compliance, v⁰/B with the bulk modulus B               `compliances`
S        G A⁻¹ Gᵀ at rest: how regions grow under pressure      `gain`
======== ===================================================== =================

p ← p + (S + C)⁻¹ (v⁰ − v(z) − C p) is Newton's step with the matrix of the rest shape; parts that
turn leave it as it is. The matrix A of the global step is untouched. Pressures are corrected in
every second iteration, never in the first: predicted positions are no shape yet.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.solver.constraints.strain import StrainConstraint, rest_edges

STEEPEST = 3.0
"""A prism's slope counts as at most so many times that at rest: torn flesh is not blown up."""
MOST_LACK = 0.1
"""Share of its volume that a region of moving flesh counts as lacking, or as having too much, at
most: torn flesh is mended over some steps. In lively motion 0.04 are lacking at most before a
correction. A static step is of any size: from one pose to the next 0.3 and more may be lacking in
sound flesh."""
TORN = 0.3
"""Share of its volume that a region of moving flesh lacks, or has too much, when it is torn: its
pressure is released, so that strain can mend it."""
TURNED = 0.5
"""… when it may be inside out: all pressures are released. Without this or the release of single
regions some of forty stress characters do not come back to their rest shape."""
SOFT = 4.0
"""Flesh whose stiffness is below the mean of its region by more than so many times counts, and is
pressed, in proportion to its stiffness."""
_MOST_PRESSURE = 5.0
"""Largest pressure, over the stiffness of the flesh around; full flexion takes 2."""
LARGEST_CHANGE = 0.3
"""Of a pressure in one correction, over the stiffness."""


@dataclass(frozen=True)
class VolumePreservation:
    """Regions of flesh whose volume is kept."""

    prisms: Int[NumpyArray, "F 6"]
    """Skin corners, counter-clockwise seen from outside, then the inner ones below them."""
    shares: csr_array
    """Share of every vertex in every region, n × K, in proportion to the stiffness around it."""
    rest: Float64[NumpyArray, "n 3"]
    """Positions at rest, metres."""
    stiffness: Float64[NumpyArray, "K"]
    """Young's modulus of the flesh in a region, Pa."""
    ratio: float
    """Bulk modulus over `stiffness`."""

    def __post_init__(self) -> None:
        if not self.ratio > 0:
            raise InputError(f"a bulk modulus is {self.ratio} of the stiffness; expected above 0.")

    @property
    def region_count(self) -> int:
        """Number K of regions."""
        return len(self.stiffness)

    @cached_property
    def prism_shares(self) -> csr_array:
        """Ω, prisms × regions."""
        a, b, c = self.prisms[:, :3].T
        return csr_array((self.shares[a] + self.shares[b] + self.shares[c]) / 3.0)

    @cached_property
    def rest_volumes(self) -> Float64[NumpyArray, "K"]:
        """v⁰, m³."""
        return self.volumes(self.rest)

    @cached_property
    def rest_slopes(self) -> Float64[NumpyArray, "F"]:
        """‖∂V_f/∂(skin corners)‖ at rest, m²."""
        return np.linalg.norm(prism_slopes(self.rest[self.prisms])[:, :3], axis=(1, 2))

    @cached_property
    def sizes(self) -> Float64[NumpyArray, "K"]:
        """Volumes at rest with all prisms taken as positive, and none much below the mean, m³."""
        size = self.prism_shares.T @ np.abs(prism_volumes(self.rest[self.prisms]))
        return np.maximum(size, 0.01 * size.mean())

    @cached_property
    def compliances(self) -> Float64[NumpyArray, "K"]:
        """The diagonal of C, m³/Pa."""
        return self.sizes / (self.ratio * self.stiffness)

    @property
    def limits(self) -> Float64[NumpyArray, "K"]:
        """Largest pressures, Pa."""
        return _MOST_PRESSURE * self.stiffness

    def volumes(self, positions: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "K"]:
        """v, m³."""
        return self.prism_shares.T @ prism_volumes(positions[self.prisms])

    def forces(
        self, positions: Float64[NumpyArray, "n 3"], pressures: Float64[NumpyArray, "K"]
    ) -> Float64[NumpyArray, "n 3"]:
        """Gᵀ p, newtons."""
        slopes = prism_slopes(positions[self.prisms])
        steepness = np.linalg.norm(slopes[:, :3], axis=(1, 2))
        least = np.where(self.rest_slopes > 0, STEEPEST * self.rest_slopes, np.inf)
        pressed = (self.prism_shares @ pressures) / np.maximum(steepness / least, 1.0)
        return (self._rows(slopes).T @ pressed).reshape(positions.shape)

    def corrected(
        self,
        pressures: Float64[NumpyArray, "K"],
        volumes: Float64[NumpyArray, "K"],
        gain: Float64[NumpyArray, "K K"],
        moving: bool,
    ) -> Float64[NumpyArray, "K"]:
        """p + (S + C)⁻¹ (v⁰ − v − C p), Pa; of flesh that is `moving` no region counts as lacking
        more than `MOST_LACK` of its volume, and torn ones are released."""
        lack = self.rest_volumes - volumes - self.compliances * pressures
        share = np.abs(lack) / self.sizes if moving else np.zeros(self.region_count)
        released = (share > TORN) | (share > TURNED).any()
        if moving:
            lack = np.clip(lack, -MOST_LACK * self.sizes, MOST_LACK * self.sizes)
        most = LARGEST_CHANGE * self.stiffness
        corrected = pressures + np.clip(gain @ lack, -most, most)
        return np.where(released, 0.0, np.clip(corrected, -self.limits, self.limits))

    def begun(self, pressures: Float64[NumpyArray, "k"] | None) -> Float64[NumpyArray, "K"]:
        """The pressures that a step begins with, Pa; none are zeros."""
        if pressures is None:
            return np.zeros(self.region_count)
        if len(pressures) != self.region_count:
            raise InputError(
                f"the state has {len(pressures)} pressures and this body {self.region_count} "
                f"regions; expected as many. Go on with the body and settings it was made with."
            )
        return pressures

    def gain(
        self, free: Int[NumpyArray, "f"], solve: Callable[[NumpyArray], NumpyArray]
    ) -> Float64[NumpyArray, "K K"]:
        """(S + C)⁻¹, Pa/m³, with S = G A⁻¹ Gᵀ; `solve` gives A⁻¹ of forces, f × 3."""
        rows = self._rows(prism_slopes(self.rest[self.prisms]))
        slopes = (self.prism_shares.T @ rows).toarray().reshape(self.region_count, -1, 3)[:, free]
        moved = np.stack([solve(np.ascontiguousarray(slope)) for slope in slopes])
        response = np.einsum("kfi,lfi->kl", slopes, moved, optimize=True)
        return np.linalg.inv(0.5 * (response + response.T) + np.diag(self.compliances))

    def _rows(self, slopes: Float64[NumpyArray, "F 6 3"]) -> csr_array:
        """D, prisms × coordinates."""
        columns = (3 * self.prisms[:, :, None] + np.arange(3)).reshape(-1)
        starts = 18 * np.arange(len(slopes) + 1)
        shape = (len(slopes), 3 * len(self.rest))
        return csr_array((slopes.reshape(-1), columns, starts), shape=shape)


class PressureStep:
    """The pressures of one step: corrected in odd iterations; their forces hold for the next."""

    def __init__(
        self,
        preservation: VolumePreservation,
        gain: Float64[NumpyArray, "K K"],
        pressures: Float64[NumpyArray, "k"] | None,
        moving: bool,
    ) -> None:
        """`pressures` are those of the step before; a step is `moving` or static."""
        self.pressures = preservation.begun(pressures)
        self._preservation, self._gain, self._moving = preservation, gain, moving
        self._forces: NumpyArray | None = None

    def forces(
        self, positions: Float64[NumpyArray, "n 3"], iteration: int
    ) -> Float64[NumpyArray, "n 3"]:
        """What pushes the vertices in an iteration, newtons."""
        if iteration % 2 == 1:
            volumes, before = self._preservation.volumes(positions), self.pressures
            self.pressures = self._preservation.corrected(before, volumes, self._gain, self._moving)
        if self._forces is None or iteration % 2 == 1:
            self._forces = self._preservation.forces(positions, self.pressures)
        return self._forces


def volume_preservation(
    strain: StrainConstraint,
    rest: Float64[NumpyArray, "n 3"],
    prisms: Int[NumpyArray, "F 6"],
    shares: csr_array,
    ratio: float,
) -> VolumePreservation:
    """Regions whose bulk modulus is `ratio` times the mean stiffness of the `strain` in them.

    `shares` of the vertices, n × K, count as much as the flesh around a vertex is stiff, over the
    mean of the region: so a region's pressure is to soft flesh what it is to stiff flesh beside it.
    The same pressure on both would turn a breast of 0.5 kPa beside a chest of 80 inside out.
    """
    size = np.abs(np.linalg.det(rest_edges(rest, strain.tetrahedra))) / 6

    def around(values: Float64[NumpyArray, "T"]) -> Float64[NumpyArray, "n"]:
        corners = strain.tetrahedra.ravel()
        return np.bincount(corners, np.repeat(values, 4), minlength=len(rest))

    flesh, softness = around(size), around(size**2 / strain.weights[::3])
    each = shares.T @ flesh
    if not (each > 0).all():
        raise InputError(
            f"{int((each <= 0).sum())} of {len(each)} regions hold no flesh; expected some in "
            f"all. Give shares to vertices that tetrahedra meet."
        )
    young = np.divide(flesh, softness, out=np.zeros_like(flesh), where=softness > 0)
    mean = shares.T @ (young * flesh) / each
    relative = csr_array(shares.multiply(young[:, None]).multiply(SOFT / mean).minimum(shares))
    stiffness = (relative.T @ flesh) / (relative.T @ softness)
    return VolumePreservation(prisms, relative, rest, stiffness, ratio)


def prism_volumes(corners: Float64[NumpyArray, "F 6 3"]) -> Float64[NumpyArray, "F"]:
    """V = d̄ · M/6, m³; exact where straight lines rule the sides.

    With edges E of the skin, e of the inner triangle and the mean way d̄ from inner to skin,
    M = E₁ × (E₂ + e₂/2) + e₁ × (e₂ + E₂/2), from ∫ d̄ · (E₁(s) × E₂(s))/2 ds.
    """
    mean, outer, inner = _frame(corners)
    return np.sum(mean * _area(outer, inner), axis=-1) / 6.0


def prism_slopes(corners: Float64[NumpyArray, "F 6 3"]) -> Float64[NumpyArray, "F 6 3"]:
    """∂V/∂ every corner, m²."""
    mean, (first, second), (inner_first, inner_second) = _frame(corners)
    third = _area((first, second), (inner_first, inner_second)) / 18.0
    b = np.cross(second + 0.5 * inner_second, mean) / 6.0
    c = np.cross(mean, first + 0.5 * inner_first) / 6.0
    inner_b = np.cross(inner_second + 0.5 * second, mean) / 6.0
    inner_c = np.cross(mean, inner_first + 0.5 * first) / 6.0
    skin = (third - b - c, third + b, third + c)
    below = (-third - inner_b - inner_c, inner_b - third, inner_c - third)
    return np.stack([*skin, *below], axis=1)


_Edges = tuple[NumpyArray, NumpyArray]


def _frame(corners: NumpyArray) -> tuple[NumpyArray, _Edges, _Edges]:
    """d̄, (E₁, E₂) and (e₁, e₂)."""
    skin, inner = corners[:, :3], corners[:, 3:]
    outer_edges = (skin[:, 1] - skin[:, 0], skin[:, 2] - skin[:, 0])
    inner_edges = (inner[:, 1] - inner[:, 0], inner[:, 2] - inner[:, 0])
    return (skin - inner).mean(axis=1), outer_edges, inner_edges


def _area(outer: _Edges, inner: _Edges) -> NumpyArray:
    """M, m²."""
    return np.cross(outer[0], outer[1] + 0.5 * inner[1]) + np.cross(
        inner[0], inner[1] + 0.5 * outer[1]
    )
