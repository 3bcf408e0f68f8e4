"""From vertices inside the body to rows for the solver, on a device; see `pairs_cpu`.

A vertex has one pair at a time: the triangle it must stay in front of. A pair of before stays while
the vertex is near it or behind it; otherwise the triangle that detection reports is taken. From
either the way goes downhill to the nearest triangle around.
"""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.collisions.gpu_detection import DeviceSkin, Room, vertices_inside
from corporeal.physics.collisions.gpu_lists import chosen
from corporeal.physics.collisions.rules import CLEARANCE, FOLD
from corporeal.physics.upsampling_gpu import DeviceSurface, surface_normals

WALK = 3
"""Steps downhill: in motion a pair moves on by one or two triangles a frame."""
_TINY = 1e-20


class Touching(NamedTuple):
    """Rows n · (Σ_k c_k x_k) ≥ d; those of no contact have c = 0."""

    vertices: Int[Array, "C 4"]
    """Skin vertices: the one that touches, then the triangle's."""
    coefficients: Float[Array, "C 4"]
    normals: Float[Array, "3 C"]
    offsets: Float[Array, "C"]
    """d, metres."""


def skin_contacts(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    base_points: Float[Array, "3 V"],
    pairs: Int[Array, "V"],
    room: Room,
) -> tuple[Touching, Int[Array, "V"], Bool[Array, ""]]:
    """Rows, every vertex's pair (a triangle, F for none), and whether something did not fit.

    `pairs` are those of before.
    """
    surface, none = skin.surface, len(skin.prisms)
    hits, full = vertices_inside(skin, positions, base_points, room)
    starts = jnp.where(pairs < none, pairs, hits)
    count = positions.shape[1]
    vertex, candidates = chosen(starts < none, room.contacts)
    full = full | (candidates > room.contacts)
    at = jnp.minimum(vertex, count - 1)
    normals = surface_normals(surface, positions)
    triangle = _walked(skin, surface, positions, normals, at, jnp.minimum(starts[at], none - 1))
    squared, second, third = _foot(positions, surface, at, triangle)
    normal, sound = _normal_at(positions, surface, normals, triangle, second, third)
    corners = surface.triangles[triangle]
    shares = jnp.stack([1.0 - second - third, second, third])
    missed = positions[:, at] - jnp.sum(shares * positions[:, corners.T], axis=1)
    gap = jnp.sum(normal * missed, axis=0)
    apart = skin.rest[at] - jnp.sum(shares.T[..., None] * skin.rest[corners], axis=1)
    fold = (gap < 0.0) & (gap * gap > FOLD * FOLD * jnp.sum(apart * apart, axis=1))
    gone = (squared > skin.push**2) & ((hits[at] == none) | (gap >= 0.0))
    stiff = skin.fixed[at] & jnp.all(skin.fixed[corners], axis=1)
    valid = (vertex < count) & sound & ~fold & ~gone & ~stiff
    kept = (
        jnp.full(count, none, jnp.int32)
        .at[vertex]
        .set(jnp.where(valid, triangle, none), mode="drop")
    )
    rows = Touching(
        jnp.concatenate([at[:, None], corners], axis=1),
        jnp.where(valid, jnp.concatenate([jnp.ones((1, len(at))), -shares]), 0.0).T,
        normal,
        jnp.where(valid, jnp.minimum(gap + skin.push, CLEARANCE * skin.push), 0.0),
    )
    return rows, kept, full


def _walked(
    skin: DeviceSkin,
    surface: DeviceSurface,
    positions: Float[Array, "3 V"],
    normals: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    triangle: Int[Array, "C"],
) -> Int[Array, "C"]:
    """From triangles downhill to ones that are nearest among those around."""
    none = len(surface.triangles)
    near = skin.near[vertex]
    best, _, _ = _foot(positions, surface, vertex, triangle)
    for _ in range(WALK):
        around = surface.vertex_triangles[surface.triangles[triangle]]
        around = around.reshape(len(vertex), -1)
        others = jnp.minimum(around, none - 1)
        squared, _, _ = _foot(positions, surface, vertex[:, None], others)
        corners = surface.triangles[others]
        facing = jnp.sum(normals[:, vertex, None] * jnp.sum(normals[:, corners], axis=-1), axis=0)
        listed = jnp.any(corners[..., None] == near[:, None, None, :], axis=(-1, -2))
        own = jnp.any(corners == vertex[:, None, None], axis=-1) | ((facing > 0.0) & listed)
        squared = jnp.where(own | (around == none), jnp.inf, squared)
        place = jnp.argmin(squared, axis=1)[:, None]
        least = jnp.take_along_axis(squared, place, axis=1)[:, 0]
        found = jnp.take_along_axis(others, place, axis=1)[:, 0]
        triangle = jnp.where(least < best, found, triangle)
        best = jnp.minimum(least, best)
    return triangle


def _foot(
    positions: Float[Array, "3 V"], surface: DeviceSurface, vertex: Array, triangle: Array
) -> tuple[Array, Array, Array]:
    """Squared distance of vertices to triangles, and the shares of second and third corner there.

    The nearest point is the foot on the plane if it is inside, else the nearest of three edges'.
    """
    corners = surface.triangles[triangle]
    a = positions[:, corners[..., 0]]
    u, v = positions[:, corners[..., 1]] - a, positions[:, corners[..., 2]] - a
    w = positions[:, vertex] - a
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
