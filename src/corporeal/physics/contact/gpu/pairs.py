"""From vertices inside the body to rows for the solver, on a device; see `contact.cpu.pairs`.

A vertex has up to two pairs at a time: triangles it must stay in front of. A pair of before stays
while the vertex is near it or behind it; the triangle that detection reports is a second one,
unless the vertex is still behind the first: the way it came in is the way out. From either the way
goes downhill to the nearest triangle around.
"""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.detection import Capacity, DeviceSkin, vertices_inside
from corporeal.physics.contact.gpu.lists import chosen
from corporeal.physics.contact.rules import (
    CLEARANCE,
    FOLD,
    FRICTION,
    SIDEWAYS,
    STAY,
    WEIGHT,
)
from corporeal.physics.upsampling.gpu import DeviceSurface, surface_normals

WALK = 3
"""Steps downhill: in motion a pair moves on by one or two triangles a frame."""
_TINY = 1e-20


class Touching(NamedTuple):
    """Rows n · (Σ_k c_k x_k) ≥ d; those of no contact have c = 0."""

    vertices: Int[Array, "C 4"]
    """The vertex that touches, then those of the triangle."""
    coefficients: Float[Array, "C 4"]
    """c: 1 for the vertex, −b for the corners, barycentric."""
    normals: Float[Array, "3 C"]
    """n, unit vectors out of the skin that is touched."""
    offsets: Float[Array, "C"]
    """d, metres."""
    softness: Float[Array, "C"]
    """The inverse of a row's weight, m/N."""
    friction: Float[Array, "C"]
    """Coulomb's coefficient."""


def skin_contacts(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    base_points: Float[Array, "3 V"],
    pairs: Int[Array, "2 V"],
    capacity: Capacity,
) -> tuple[Touching, Int[Array, "2 V"], Bool[Array, ""]]:
    """Rows, every vertex's pairs (triangles, F for none), and whether something did not fit.

    `pairs` are those of before.
    """
    none, count = len(skin.prisms), positions.shape[1]
    hits, full = vertices_inside(skin, positions, base_points, capacity)
    normals = surface_normals(skin.surface, positions)
    starts = _starts(skin, positions, normals, pairs, hits)
    slot, candidates = chosen((starts < none).ravel(), capacity.contacts)
    full = full | (candidates > capacity.contacts)
    there = jnp.minimum(slot, 2 * count - 1)
    vertex, first = there % count, jnp.minimum(starts.ravel()[there], none - 1)
    old = pairs.ravel()[there] < none
    triangle = _walked(skin, positions, normals, vertex, first, old)
    foot = _foot_at(skin.surface, positions, normals, vertex, triangle)
    valid = (slot < 2 * count) & _kept(skin, foot, vertex, triangle, hits[vertex] < none)
    found = jnp.full(2 * count, none, jnp.int32)
    found = found.at[slot].set(jnp.where(valid, triangle, none), mode="drop").reshape(2, count)
    # What was found is no second pair if it leads to the triangle of the first.
    twice = found[1] == found[0]
    valid &= ~((slot >= count) & twice[vertex])
    second = jnp.where(twice, none, found[1])
    only = found[0] == none
    after = jnp.stack([jnp.where(only, second, found[0]), jnp.where(only, none, second)])
    rows = Touching(
        jnp.concatenate([vertex[:, None], skin.surface.triangles[triangle]], axis=1),
        jnp.where(valid, jnp.concatenate([jnp.ones((1, len(slot))), -foot.shares]), 0.0).T,
        foot.normal,
        jnp.where(valid, jnp.minimum(foot.gap + skin.push, CLEARANCE * skin.push), 0.0),
        jnp.full(len(slot), 1.0 / WEIGHT),
        jnp.full(len(slot), FRICTION),
    )
    return rows, after, full


class _Foot(NamedTuple):
    """Where vertices are over their triangles."""

    squared: Float[Array, "C"]
    """Distance, squared, m²."""
    shares: Float[Array, "3 C"]
    normal: Float[Array, "3 C"]
    gap: Float[Array, "C"]
    """Along the normal, metres."""
    sound: Bool[Array, "C"]
    """Whether there is a normal."""


def _foot_at(
    surface: DeviceSurface,
    positions: Float[Array, "3 V"],
    normals: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    triangle: Int[Array, "C"],
) -> _Foot:
    squared, second, third = _foot(positions, surface, vertex, triangle)
    normal, sound = _normal_at(positions, surface, normals, triangle, second, third)
    shares = jnp.stack([1.0 - second - third, second, third])
    corners = surface.triangles[triangle]
    missed = positions[:, vertex] - jnp.sum(shares * positions[:, corners.T], axis=1)
    return _Foot(squared, shares, normal, jnp.sum(normal * missed, axis=0), sound)


def _starts(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    normals: Float[Array, "3 V"],
    pairs: Int[Array, "2 V"],
    hits: Int[Array, "V"],
) -> Int[Array, "2 V"]:
    """Triangles to begin at: pairs of before, and in a second place that is free what was found,
    unless the vertex is behind the first."""
    none, everyone = len(skin.prisms), jnp.arange(positions.shape[1])
    foot = _foot_at(skin.surface, positions, normals, everyone, jnp.minimum(pairs[0], none - 1))
    behind = (pairs[0] < none) & (foot.gap < 0.0)
    return jnp.stack([pairs[0], jnp.where((pairs[1] < none) | behind, pairs[1], hits)])


def _kept(
    skin: DeviceSkin,
    foot: _Foot,
    vertex: Int[Array, "C"],
    triangle: Int[Array, "C"],
    inside: Bool[Array, "C"],
) -> Bool[Array, "C"]:
    """Whether pairs hold: near or behind, no fold of one patch, not of bone alone."""
    corners = skin.surface.triangles[triangle]
    apart = skin.rest[vertex] - jnp.sum(foot.shares.T[..., None] * skin.rest[corners], axis=1)
    fold = (foot.gap < 0.0) & (foot.gap**2 > FOLD * FOLD * jnp.sum(apart * apart, axis=1))
    beside = foot.gap > -SIDEWAYS * jnp.sqrt(foot.squared)
    gone = (foot.squared > skin.push**2) & (~inside | beside)
    stiff = skin.fixed[vertex] & jnp.all(skin.fixed[corners], axis=1)
    return foot.sound & ~fold & ~gone & ~stiff


def _walked(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    normals: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    triangle: Int[Array, "C"],
    old: Bool[Array, "C"],
) -> Int[Array, "C"]:
    """From triangles downhill to ones that are nearest among those around.

    An old pair whose vertex is right above or below its triangle stays: in a corner, where another
    is nearer, both are needed.
    """
    surface, none = skin.surface, len(skin.prisms)
    near = skin.near[vertex]
    best, second, third = _foot(positions, surface, vertex, triangle)
    stays = old & (second > 0.0) & (third > 0.0) & (second + third < 1.0)
    limit = jnp.where(stays, 0.0, jnp.where(old, STAY * best, best))
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
        triangle = jnp.where(least < limit, found, triangle)
        limit = jnp.minimum(least, limit)
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
