"""The nearest points of triangles to vertices, on a device."""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.upsampling.gpu import DeviceSurface

_TINY = 1e-20


class Foot(NamedTuple):
    """Where vertices are over their triangles."""

    squared: Float[Array, "C"]
    """Distance, squared, m²."""
    shares: Float[Array, "3 C"]
    """Barycentric coordinates of the nearest points."""
    normal: Float[Array, "3 C"]
    """Unit vectors out of the skin there."""
    gap: Float[Array, "C"]
    """Along the normal, metres."""
    sound: Bool[Array, "C"]
    """Whether there is a normal."""


def foot_at(
    surface: DeviceSurface,
    positions: Float[Array, "3 V"],
    normals: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    triangle: Int[Array, "C"],
) -> Foot:
    """The nearest points of triangles, and normals there, which are between those of vertices."""
    squared, second, third = nearest_shares(
        positions[:, vertex], positions, surface.triangles[triangle]
    )
    normal, sound = _normal_at(positions, surface, normals, triangle, second, third)
    shares = jnp.stack([1.0 - second - third, second, third])
    corners = surface.triangles[triangle]
    missed = positions[:, vertex] - jnp.sum(shares * positions[:, corners.T], axis=1)
    return Foot(squared, shares, normal, jnp.sum(normal * missed, axis=0), sound)


def nearest_shares(
    points: Array, positions: Float[Array, "3 V"], corners: Int[Array, "*batch 3"]
) -> tuple[Array, Array, Array]:
    """Squared distance of points to triangles, and the shares of second and third corner there.

    The nearest point is the foot on the plane if it is inside, else the nearest of three edges'.
    """
    a = positions[:, corners[..., 0]]
    u, v = positions[:, corners[..., 1]] - a, positions[:, corners[..., 2]] - a
    w = points - a
    uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
    wu, wv = _dot(w, u), _dot(w, v)
    scale = 1.0 / jnp.maximum(uu * vv - uv * uv, _TINY)
    s, r = (vv * wu - uv * wv) * scale, (uu * wv - uv * wu) * scale
    inside = (s >= 0.0) & (r >= 0.0) & (s + r <= 1.0)
    along_u = jnp.clip(wu / jnp.maximum(uu, _TINY), 0.0, 1.0)
    along_v = jnp.clip(wv / jnp.maximum(vv, _TINY), 0.0, 1.0)
    side = uu - 2.0 * uv + vv
    along_w = jnp.clip((wv - wu + uu - uv) / jnp.maximum(side, _TINY), 0.0, 1.0)
    nothing = jnp.zeros_like(s)
    choices = ((along_u, nothing), (nothing, along_v), (1.0 - along_w, along_w))
    best, second, third = jnp.full_like(s, jnp.inf), s, r
    for t, q in ((s, r), *choices):
        missed = w - t * u - q * v
        squared = _dot(missed, missed)
        better = (inside if t is s else ~inside) & (squared < best)
        best = jnp.where(better, squared, best)
        second, third = jnp.where(better, t, second), jnp.where(better, q, third)
    return best, second, third


def _normal_at(
    positions: Float[Array, "3 V"],
    surface: DeviceSurface,
    normals: Float[Array, "3 V"],
    triangle: Int[Array, "C"],
    second: Float[Array, "C"],
    third: Float[Array, "C"],
) -> tuple[Float[Array, "3 C"], Bool[Array, "C"]]:
    """Interpolated normal of a triangle's point, that of the triangle where they disagree; and
    whether there is one."""
    a, b, c = (surface.triangles[triangle, k] for k in range(3))
    face = jnp.cross(positions[:, b] - positions[:, a], positions[:, c] - positions[:, a], axis=0)
    area = jnp.sqrt(_dot(face, face))
    mixed = (1.0 - second - third) * normals[:, a] + second * normals[:, b] + third * normals[:, c]
    length = jnp.sqrt(_dot(mixed, mixed))
    agree = (length > 0.0) & (_dot(mixed, face) > 0.3 * length * area)
    flat = face / jnp.maximum(area, _TINY)
    return jnp.where(agree, mixed / jnp.maximum(length, _TINY), flat), agree | (area > 0.0)


def _dot(u: Array, v: Array) -> Array:
    return jnp.sum(u * v, axis=0)
