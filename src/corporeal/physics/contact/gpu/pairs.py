"""From vertices inside the body to the triangles they must leave through, on a device; see
`contact.cpu.pairs`.

A vertex has up to two pairs at a time: triangles it must stay in front of. A pair of before stays
while the vertex is near it or behind it; the triangle that detection reports is a second one,
unless the vertex is still behind the first: the way it came in is the way out. From either the way
goes downhill to the nearest triangle around.
"""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.detection import DeviceSkin
from corporeal.physics.contact.gpu.feet import Foot, foot_at, nearest_shares
from corporeal.physics.contact.gpu.lists import chosen
from corporeal.physics.contact.rules import FACING, FOLD, SIDEWAYS, STAY
from corporeal.physics.upsampling.gpu import surface_normals

WALK = 3
"""Steps downhill: in motion a pair moves on by one or two triangles a frame."""


class Attached(NamedTuple):
    """Pairs of before and of now, as many as fit, and what rows made anew would be."""

    slot: Int[Array, "C"]
    """Of the two of every vertex that a pair is in (`DeviceTouching`); behind the last, 2 V."""
    vertex: Int[Array, "C"]
    """That touches."""
    triangle: Int[Array, "C"]
    """That it must stay in front of."""
    foot: Foot
    """Where it is over it."""
    apart: Float[Array, "C"]
    """Distance of vertex and foot at rest, metres."""
    inside: Bool[Array, "C"]
    """Whether the vertex is inside the body."""
    old: Bool[Array, "C"]
    """Whether it is a pair of before."""
    valid: Bool[Array, "C"]
    """Whether the pair holds."""


def attach(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    pairs: Int[Array, "2 V"],
    hits: Int[Array, "V"],
    capacity: int,
) -> tuple[Attached, Bool[Array, ""]]:
    """Pairs of a vertex and the triangle it must stay in front of, and whether some did not fit.

    `pairs` are the triangles of before, `hits` those that detection reports now; F for none.
    """
    none, count = len(skin.prisms), positions.shape[1]
    normals = surface_normals(skin.surface, positions)
    starts = _starts(skin, positions, normals, pairs, hits)
    slot, candidates = chosen((starts < none).ravel(), capacity)
    there = jnp.minimum(slot, 2 * count - 1)
    vertex, first = there % count, jnp.minimum(starts.ravel()[there], none - 1)
    old, inside = pairs.ravel()[there] < none, hits[vertex] < none
    triangle = _walked(skin, positions, normals, vertex, first, old)
    foot = foot_at(skin.surface, positions, normals, vertex, triangle)
    corners = skin.surface.triangles[triangle]
    apart = skin.rest[vertex] - jnp.sum(foot.shares.T[..., None] * skin.rest[corners], axis=1)
    apart = jnp.sqrt(jnp.sum(apart * apart, axis=1))
    facing = jnp.sum(foot.normal * normals[:, vertex], axis=0) <= FACING
    valid = (slot < 2 * count) & _kept(skin, foot, vertex, corners, apart, inside)
    valid &= old | facing
    found = jnp.full(2 * count, none, jnp.int32)
    found = found.at[slot].set(jnp.where(valid, triangle, none), mode="drop").reshape(2, count)
    # What was found is no second pair if it leads to the triangle of the first.
    valid &= ~((slot >= count) & (found[1] == found[0])[vertex])
    made = Attached(slot, vertex, triangle, foot, apart, inside, old, valid)
    return made, candidates > capacity


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
    foot = foot_at(skin.surface, positions, normals, everyone, jnp.minimum(pairs[0], none - 1))
    behind = (pairs[0] < none) & (foot.gap < 0.0)
    return jnp.stack([pairs[0], jnp.where((pairs[1] < none) | behind, pairs[1], hits)])


def _kept(
    skin: DeviceSkin,
    foot: Foot,
    vertex: Int[Array, "C"],
    corners: Int[Array, "C 3"],
    apart: Float[Array, "C"],
    inside: Bool[Array, "C"],
) -> Bool[Array, "C"]:
    """Whether pairs hold: near or behind, no fold of one patch, not of bone alone."""
    fold = foot.gap < -FOLD * apart
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
    best, second, third = nearest_shares(
        positions[:, vertex], positions, surface.triangles[triangle]
    )
    stays = old & (second > 0.0) & (third > 0.0) & (second + third < 1.0)
    limit = jnp.where(stays, 0.0, jnp.where(old, STAY * best, best))
    for _ in range(WALK):
        around = surface.vertex_triangles[surface.triangles[triangle]]
        around = around.reshape(len(vertex), -1)
        others = jnp.minimum(around, none - 1)
        corners = surface.triangles[others]
        squared, _, _ = nearest_shares(positions[:, vertex[:, None]], positions, corners)
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
