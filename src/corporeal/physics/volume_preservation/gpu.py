"""Volume kept by smooth pressures, on a device: the equations and letters of `pressure`.

Shares of prisms in regions are a dense table: volumes of regions and pressures of prisms are one
product each. Forces are gathered by vertices from the slopes of the prisms around them. P people,
each with K regions of their own, are taken at once, and B characters that share them.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.physics.volume_preservation.reference import (
    LARGEST_CHANGE,
    MOST_LACK,
    STEEPEST,
    TORN,
    TURNED,
    VolumePreservation,
    prism_slopes,
)
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class DeviceVolume:
    """Q prisms and K regions of each of P people, over n vertices of which the first f are free."""

    prisms: Int[Array, "P Q 6"]
    """Skin corners, then inner ones."""
    shares: Float[Array, "P Q K"]
    """Ω."""
    around: Int[Array, "f e"]
    """Corners of prisms at every free vertex (6 prism + corner); 6 P Q for none."""
    slopes: Float[Array, "P Q 6 3"]
    """∂V/∂ every corner at rest, m²."""
    steepest: Float[Array, "P Q"]
    """‖∂V/∂(skin corners)‖ above which a slope does not count, m²."""
    volumes: Float[Array, "P K"]
    """v⁰, m³."""
    compliances: Float[Array, "P K"]
    """C, m³/Pa."""
    limits: Float[Array, "P K"]
    """Largest pressures, Pa; zero where a region is none."""
    changes: Float[Array, "P K"]
    """Largest changes of a pressure in one correction, Pa."""
    most: Float[Array, "P K"]
    """What a region of moving flesh counts as lacking, or as having too much, at most, m³."""


class DevicePreservation(NamedTuple):
    """What a step needs to keep volume."""

    volume: DeviceVolume
    """Prisms and their shares in regions."""
    gain: Float[Array, "P K K"]
    """(S + C)⁻¹, Pa/m³."""
    by_region: Float[Array, "P K Q"]
    """Ωᵀ, so that both products with Ω read along rows."""


def device_volume(
    preservation: VolumePreservation, place: Int[NumpyArray, "n"], free_count: int
) -> DeviceVolume:
    """The regions of one body whose vertices are at `place` on the device."""
    prisms = place[preservation.prisms]
    slopes = prism_slopes(preservation.rest[preservation.prisms])
    steepest = np.where(preservation.rest_slopes > 0, STEEPEST * preservation.rest_slopes, np.inf)
    return DeviceVolume(
        prisms[None].astype(np.int32),
        preservation.prism_shares.toarray()[None].astype(np.float32),
        _around(prisms, free_count),
        slopes[None].astype(np.float32),
        steepest[None].astype(np.float32),
        preservation.rest_volumes[None].astype(np.float32),
        preservation.compliances[None].astype(np.float32),
        preservation.limits[None].astype(np.float32),
        (LARGEST_CHANGE * preservation.stiffness)[None].astype(np.float32),
        (MOST_LACK * preservation.sizes)[None].astype(np.float32),
    )


def _around(prisms: Int[NumpyArray, "Q 6"], free: int) -> Int[NumpyArray, "f e"]:
    """Corners of prisms by vertex, filled up with the number of all."""
    vertex = prisms.ravel()
    entries = np.flatnonzero(vertex < free)
    entries = entries[np.argsort(vertex[entries], kind="stable")]
    owner = vertex[entries]
    counts = np.bincount(owner, minlength=free)
    slot = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((free, max(1, int(counts.max(initial=0)))), prisms.size, np.int32)
    table[owner, slot] = entries
    return table


def preservation_with(volume: DeviceVolume, matrix: csc_array) -> DevicePreservation:
    """The regions of one body with their gain for the matrix A of its global step: K solves, in
    float64, since regions overlap and S is nearly singular."""
    free = len(matrix.indptr) - 1
    prisms, shares = np.asarray(volume.prisms[0]), np.asarray(volume.shares[0], np.float64)
    inside = prisms < free
    rows = np.broadcast_to(np.arange(len(prisms))[:, None], prisms.shape)[inside]
    solve = splu(csc_array(matrix)).solve
    response = np.diag(np.asarray(volume.compliances[0], np.float64))
    for axis in range(3):
        slopes = np.asarray(volume.slopes[0, :, :, axis], np.float64)[inside]
        grown = csr_array((slopes, (rows, prisms[inside])), shape=(len(prisms), free))
        # G_kj = Σ_f Ω_fk ∂V_f/∂x_j
        pushes = np.asarray(grown.T @ shares)
        response = response + pushes.T @ solve(pushes)
    gain = np.linalg.inv(0.5 * (response + response.T)).astype(np.float32)[None]
    return DevicePreservation(volume, gain, np.ascontiguousarray(np.swapaxes(volume.shares, 1, 2)))


def corrected(
    preservation: DevicePreservation,
    pressures: Float[Array, "P K B"],
    positions: Float[Array, "3 n B"],
    moving: bool,
) -> Float[Array, "P K B"]:
    """p + (S + C)⁻¹ (v⁰ − v − C p), Pa; of `moving` flesh no region counts as lacking more than
    `DeviceVolume.most`, and torn ones are released."""
    volume = preservation.volume
    mean, outer, inner = _frame(positions[:, volume.prisms])
    volumes = jnp.sum(mean * _area(outer, inner), axis=0) / 6.0
    regions = _product(preservation.by_region, volumes)
    lack = volume.volumes[..., None] - regions - volume.compliances[..., None] * pressures
    amount, sizes = jnp.abs(lack), volume.most[..., None] / MOST_LACK
    turned = jnp.any(amount > TURNED * sizes, axis=1, keepdims=True)
    released = (amount > TORN * sizes) | turned
    if moving:
        lack = jnp.clip(lack, -volume.most[..., None], volume.most[..., None])
    change = _product(preservation.gain, lack)
    largest, limits = volume.changes[..., None], volume.limits[..., None]
    found = jnp.clip(pressures + jnp.clip(change, -largest, largest), -limits, limits)
    return jnp.where(released, 0.0, found) if moving else found


def pressure_forces(
    volume: DeviceVolume, pressures: Float[Array, "P K B"], positions: Float[Array, "3 n B"]
) -> Float[Array, "3 f B"]:
    """Gᵀ p on the free vertices, newtons."""
    slopes = _slopes(positions[:, volume.prisms])
    steepness = jnp.sqrt(jnp.sum(slopes[:, :, :, :3] ** 2, axis=(0, 3)))
    pressed = _product(volume.shares, pressures)
    pressed = pressed / jnp.maximum(steepness / volume.steepest[..., None], 1.0)
    return _gathered(volume, pressed[:, :, None] * slopes)


def _product(table: Float[Array, "P i j"], values: Float[Array, "P j B"]) -> Float[Array, "P i B"]:
    """Σ_j table_pij values_pjb; of one character as a sum, which is one pass over the table."""
    if values.shape[2] == 1:
        return jnp.sum(table * values[:, None, :, 0], axis=2)[..., None]
    return jnp.einsum("pij,pjb->pib", table, values, precision=lax.Precision.HIGHEST)


def _gathered(volume: DeviceVolume, corners: Float[Array, "3 P Q 6 B"]) -> Float[Array, "3 f B"]:
    """Sums over the corners of prisms at every free vertex."""
    flat = corners.reshape(3, -1, corners.shape[-1])
    flat = jnp.pad(flat, ((0, 0), (0, 1), (0, 0)))
    return jnp.sum(flat[:, volume.around], axis=2)


_Edges = tuple[Array, Array]


def _frame(corners: Float[Array, "3 P Q 6 B"]) -> tuple[Array, _Edges, _Edges]:
    """d̄, (E₁, E₂) and (e₁, e₂)."""
    a, b, c, inner_a, inner_b, inner_c = (corners[..., k, :] for k in range(6))
    mean = ((a - inner_a) + (b - inner_b) + (c - inner_c)) / 3.0
    return mean, (b - a, c - a), (inner_b - inner_a, inner_c - inner_a)


def _area(outer: _Edges, inner: _Edges) -> Array:
    """M, m²."""
    return _cross(outer[0], outer[1] + 0.5 * inner[1]) + _cross(inner[0], inner[1] + 0.5 * outer[1])


def _slopes(corners: Float[Array, "3 P Q 6 B"]) -> Float[Array, "3 P Q 6 B"]:
    """∂V/∂ every corner, m²."""
    mean, (first, second), (inner_first, inner_second) = _frame(corners)
    third = _area((first, second), (inner_first, inner_second)) / 18.0
    b = _cross(second + 0.5 * inner_second, mean) / 6.0
    c = _cross(mean, first + 0.5 * inner_first) / 6.0
    inner_b = _cross(inner_second + 0.5 * second, mean) / 6.0
    inner_c = _cross(mean, inner_first + 0.5 * first) / 6.0
    skin = (third - b - c, third + b, third + c)
    below = (-third - inner_b - inner_c, inner_b - third, inner_c - third)
    return jnp.stack([*skin, *below], axis=3)


def _cross(u: Array, v: Array) -> Array:
    return jnp.stack(
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    )
