"""The skin's tension on a device: triangles seen from their free corners (`solver.gpu.elements`).

For an incidence with x₀ the vertex, x₁ x₂ the other corners and g_k the gradients of their shape
functions in the triangle's plane,

    F = Σ_k (x_k − x₀) g_kᵀ,    force on the vertex = w F M g₀,    g₀ = −(g₁ + g₂),

where F M = p − F is what the projection of `constraints.skin_tension` takes from the stretches;
M as in `solver.cpu.skin_kernels`.
"""

import jax.numpy as jnp
import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.physics.solver.constraints.skin_tension import GIVE
from corporeal.runtime.pytree_dataclass import pytree_dataclass

_SAME = 1e-5
"""Of the larger of two squared stretches: nearer ones are one."""


@pytree_dataclass()
class SkinElements:
    """Triangles over n vertices, of which the first f are free."""

    triangles: Int[Array, "F 3"]
    """Corner indices."""
    inverse_edges: Float[Array, "F 2 2"]
    """G, 1/m."""
    weights: Float[Array, "F"]
    """w: tension times area, J."""


@pytree_dataclass()
class DeviceSkinTension:
    """f free vertices with up to m incidences each; missing ones weigh nothing."""

    corners: Int[Array, "2 f m"]
    """The other two corners, among all vertices, free ones first."""
    gradients: Float[Array, "4 f m"]
    """g₁, g₂, 1/m."""
    weights: Float[Array, "f m"]
    """w: tension times area, J."""


def tension_of(skin: SkinElements, free: int) -> DeviceSkinTension:
    """The triangles seen from their free corners."""
    triangles, inverse = np.asarray(skin.triangles), np.asarray(skin.inverse_edges)
    vertex = triangles.ravel()
    entries = np.flatnonzero(vertex < free)
    entries = entries[np.argsort(vertex[entries], kind="stable")]
    owner = vertex[entries]
    counts = np.bincount(owner, minlength=free)
    slot = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = max(1, int(counts.max(initial=0)))
    corners = np.tile(np.arange(free, dtype=np.int32)[:, None], (2, 1, width))
    gradients = np.zeros((4, free, width), np.float32)
    weights = np.zeros((free, width), np.float32)
    owned, side = entries // 3, entries % 3
    others = np.array([[1, 2], [0, 2], [0, 1]])[side]
    # Column c of (−Σ G | G) is the gradient of corner c.
    shapes = np.concatenate([-inverse.sum(axis=2, keepdims=True), inverse], axis=2)
    slopes = np.take_along_axis(shapes.transpose(0, 2, 1)[owned], others[..., None], axis=1)
    corners[:, owner, slot] = np.take_along_axis(triangles[owned], others, axis=1).T
    gradients[:, owner, slot] = slopes.reshape(-1, 4).T
    weights[owner, slot] = np.asarray(skin.weights)[owned]
    return DeviceSkinTension(corners, gradients, weights)


def skin_forces(skin: DeviceSkinTension, positions: Float[Array, "3 n B"]) -> Float[Array, "3 f B"]:
    """Q_fᵀ W (p − Q z): what stretched skin pulls the free vertices with, newtons."""
    free = skin.weights.shape[0]
    own = positions[:, :free, None]
    # (x_k − x₀)_i of all incidences
    one, two = (positions[:, skin.corners[k]] - own for k in range(2))
    a, b, c, d = (skin.gradients[j][..., None] for j in range(4))
    first, second = one * a + two * c, one * b + two * d  # columns of F
    ff, fh, hh = (jnp.sum(x * y, axis=0) for x, y in _pairs(first, second))
    alpha, slope = _share_taken(ff, fh, hh)
    weight = skin.weights[..., None]
    away, across = -weight * (a + c), -weight * (b + d)  # w g₀
    # F M g₀ with M = α + β C
    along = (alpha + slope * ff) * away + slope * fh * across
    aside = slope * fh * away + (alpha + slope * hh) * across
    return jnp.sum(first * along + second * aside, axis=2)


def _pairs(f: Array, h: Array) -> tuple[tuple[Array, Array], ...]:
    return (f, f), (f, h), (h, h)


def _share_taken(ff: Array, fh: Array, hh: Array) -> tuple[Array, Array]:
    """α and β of M = α + β C, with C's entries given."""
    half = 0.5 * (ff - hh)
    spread = jnp.sqrt(half * half + fh * fh)
    large, small = 0.5 * (ff + hh) + spread, 0.5 * (ff + hh) - spread
    taken = _taken(large)
    apart = 2.0 * spread > _SAME * large
    slope = jnp.where(apart, (taken - _taken(small)) / jnp.where(apart, 2.0 * spread, 1.0), 0.0)
    return taken - slope * large, slope


def _taken(square: Array) -> Array:
    """η of a squared stretch: what tension takes from it, over the stretch."""
    stretch = jnp.sqrt(jnp.maximum(square, 1.0))
    return -jnp.minimum(stretch - 1.0, GIVE) / stretch


def skin_rows(skin: SkinElements) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    """Inverse edges, triangles and weights (one a row of Q) in float64, for the matrix."""
    weights = np.repeat(np.asarray(skin.weights, np.float64), 2)
    return np.asarray(skin.inverse_edges, np.float64), np.asarray(skin.triangles), weights
