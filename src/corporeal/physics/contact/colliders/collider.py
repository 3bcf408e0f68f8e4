"""A shape in the world: where it is, how it moves, and the contacts that skin makes with it.

A contact row is one-sided, so a vertex may be listed while it is still off the surface: rows are
made for all that are, or will be within the step, closer than `Touch.reach`, and nothing flickers
when a resting vertex leaves the surface by a hair.

Friction is Coulomb's, implicit and lagged: a vertex that pressed with λ when the step began, and
slipped by u in a step, is drawn back along the surface by a spring of stiffness μλ/max(|u|, ε h),
ε = `CREEP`. While it slips the force is μλ against the slip; at rest it creeps by at most ε.
"""

import math
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    matrix_from_axis_angle,
    matrix_from_quaternion,
    quaternion_from_matrix,
    slerp,
)
from corporeal.geometry.transforms import invert_rigid, transform_from_parts, transform_points
from corporeal.physics.contact.colliders.shape import ColliderShape
from corporeal.physics.contact.contacts import Contacts, joined
from corporeal.runtime.pytree_dataclass import pytree_dataclass

CREEP = 2e-3
"""ε, m/s: slower than this, friction grows with the speed of slipping."""


@dataclass(frozen=True)
class Touch:
    """How contacts with colliders are made."""

    reach: float = 5e-3
    """Metres: vertices closer than this have a row."""
    stiffness: float = 1e5
    """N/m, of one vertex against being pressed in."""

    def __post_init__(self) -> None:
        for name in ("reach", "stiffness"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"touch has {name} {value}; expected a finite number above 0.")


@pytree_dataclass()
class MovingSkin:
    """The vertices that may touch, at the beginning of a step."""

    vertices: Int[NumpyArray, "m"]
    """Which of the simulation's they are."""
    positions: Float64[NumpyArray, "m 3"]
    """Metres."""
    velocities: Float64[NumpyArray, "m 3"]
    """m/s."""
    bones: Float64[NumpyArray, "m 3"] | None = None
    """Where the bone under each is when the step ends: a vertex is never pressed beyond it."""


@pytree_dataclass(static=("friction",))
class Collider:
    """A shape at k moments; between them it moves evenly, before and after them it rests."""

    shape: ColliderShape
    """In its own coordinates: ground, box, sphere, capsule or closed mesh."""
    times: Float64[NumpyArray, "k"]
    """Seconds since the simulation began, rising."""
    world_from_shape: Float64[NumpyArray, "k 4 4"]
    """Rigid placements."""
    friction: float = 0.5
    """Coulomb's coefficient μ; 0 slips freely."""

    def check(self) -> None:
        """Raise `InputError` unless times rise, placements are rigid and friction is 0 or more."""
        require_finite("collider times", self.times)
        require_finite("collider placements", self.world_from_shape)
        if len(self.times) == 0:
            raise InputError("collider has no placement; expected at least one.")
        if (np.diff(self.times) <= 0).any():
            raise InputError("collider times do not rise; expected each later than the one before.")
        turn = self.world_from_shape[:, :3, :3]
        off = np.abs(turn @ turn.transpose(0, 2, 1) - np.eye(3)).max()
        if off > 1e-6 or (np.linalg.det(turn) < 0).any():
            raise InputError(
                f"a collider placement is not rigid (off by {off:.2g}); expected rotation and "
                f"translation alone. Give the shape its size instead."
            )
        if not (math.isfinite(self.friction) and self.friction >= 0.0):
            raise InputError(f"collider has friction {self.friction}; expected a number from 0.")

    def at(self, time: float) -> Float64[NumpyArray, "4 4"]:
        """Where the shape is at `time` seconds."""
        after = int(np.searchsorted(self.times, time, side="right"))
        if after in (0, len(self.times)):
            return self.world_from_shape[min(after, len(self.times) - 1)]
        start, end = self.world_from_shape[after - 1], self.world_from_shape[after]
        span = self.times[after] - self.times[after - 1]
        share = np.array([(time - self.times[after - 1]) / span])
        ends = quaternion_from_matrix(np.stack([start[:3, :3], end[:3, :3]]))
        turn = matrix_from_quaternion(slerp(ends[:1], ends[1:], share))[0]
        return transform_from_parts(turn, (1.0 - share) * start[:3, 3] + share * end[:3, 3])

    def contacts(
        self,
        skin: MovingSkin,
        time: float,
        step: float,
        touch: Touch | None = None,
        rubbing: bool = True,
    ) -> Contacts:
        """Rows for a step of `step` seconds that begins at `time`; friction's only if `rubbing`."""
        touch = touch or Touch()
        before, after = self.at(time), self.at(time + step)
        carried = transform_points(after @ invert_rigid(before), skin.positions)
        distance, normals = _seen_from(after, self.shape, carried)
        slip = step * skin.velocities - (carried - skin.positions)
        near = distance + np.minimum(np.sum(slip * normals, axis=1), 0.0) < touch.reach
        near = np.flatnonzero(near)
        n, points = normals[near], carried[near]
        offsets = np.sum(n * points, axis=1) - distance[near]
        if skin.bones is not None:
            offsets = np.minimum(offsets, np.sum(n * skin.bones[near], axis=1))
        weight = np.full(len(near), touch.stiffness)
        pressing = _rows(skin.vertices[near], n, offsets, weight, two_sided=False)
        if self.friction == 0.0 or not rubbing:
            return pressing
        pressed = weight * np.maximum(offsets - np.sum(n * points, axis=1), 0.0)
        return joined([pressing, self._dragging(skin, near, n, points, slip, pressed, step)])

    def _dragging(
        self,
        skin: MovingSkin,
        near: Int[NumpyArray, "c"],
        normals: Float64[NumpyArray, "c 3"],
        points: Float64[NumpyArray, "c 3"],
        slip: Float64[NumpyArray, "m 3"],
        pressed: Float64[NumpyArray, "c"],
        step: float,
    ) -> Contacts:
        """Friction: two rows along the surface for every vertex that presses (`pressed` N)."""
        held = np.flatnonzero(pressed > 0.0)
        n, u = normals[held], slip[near[held]]
        u = u - np.sum(u * n, axis=1, keepdims=True) * n
        weight = self.friction * pressed[held]
        weight = weight / np.maximum(np.linalg.norm(u, axis=1), CREEP * step)
        helper = np.eye(3)[np.argmin(np.abs(n), axis=1)]
        first = np.cross(n, helper)
        first = first / np.linalg.norm(first, axis=1, keepdims=True)
        vertices, where = skin.vertices[near[held]], points[held]
        return joined(
            [
                _rows(vertices, along, np.sum(along * where, axis=1), weight, two_sided=True)
                for along in (first, np.cross(n, first))
            ]
        )


def placed(
    shape: ColliderShape,
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0),
    friction: float = 0.5,
) -> Collider:
    """A shape that rests at `position` (metres), turned by an axis-angle vector (radians)."""
    turn = matrix_from_axis_angle(np.asarray(rotation, np.float64))
    where = transform_from_parts(turn, np.asarray(position, np.float64))
    return Collider(shape, np.zeros(1), where[None], friction)


def _seen_from(
    world_from_shape: Float64[NumpyArray, "4 4"],
    shape: ColliderShape,
    points: Float64[NumpyArray, "m 3"],
) -> tuple[Float64[NumpyArray, "m"], Float64[NumpyArray, "m 3"]]:
    """Signed distances (metres) and normals of a placed shape."""
    distance, normals = shape.distances(transform_points(invert_rigid(world_from_shape), points))
    return distance, normals @ world_from_shape[:3, :3].T


def _rows(
    vertices: Int[NumpyArray, "c"],
    normals: Float64[NumpyArray, "c 3"],
    offsets: Float64[NumpyArray, "c"],
    weights: Float64[NumpyArray, "c"],
    two_sided: bool,
) -> Contacts:
    """Contacts of single vertices."""
    count = len(vertices)
    coefficients = np.zeros((count, 4))
    coefficients[:, 0] = 1.0
    return Contacts(
        np.repeat(vertices[:, None], 4, axis=1),
        coefficients,
        normals,
        offsets,
        weights,
        np.full(count, two_sided),
    )
