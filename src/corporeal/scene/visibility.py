"""Soft shadows and ambient occlusion: what a body leaves of each light, on itself and the ground.

Every softbox is a disc of directions and the surround a ball of them; for each direction the body
is drawn once as a depth map (see `visibility_cpu`). So shadows are soft as the lights are, and one
method gives self-shadow, contact shadow and ambient occlusion alike.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, Int, NumpyArray
from corporeal.scene.studio import Light, StudioLights

Mapper = Callable[..., Iterable]
"""`map`, or an executor's: runs a function over items, giving results in order."""


@dataclass(frozen=True)
class ShadowQuality:
    """How finely shadows are sampled. The defaults suit films; see `FINE`."""

    sky_directions: int = 12
    """Each stands for itself and its opposite."""
    key_directions: int = 9
    """Directions over the disc of the key light."""
    rim_directions: int = 3
    """Directions over the disc of the rim light."""
    map_size: int = 144
    """Texels along an edge of the depth maps."""
    ground_size: int = 128
    """Cells along an edge of the ground."""
    chunks: int = 6
    """Pieces that the directions are dealt into for the threads; fixed, so sums are repeatable."""


FINE = ShadowQuality(
    sky_directions=40, key_directions=40, rim_directions=8, map_size=320, ground_size=256
)
"""For stills."""


@dataclass(frozen=True, eq=False)
class GroundShadow:
    """Light left on a square of the ground, 1 for all of it."""

    left: Float32[NumpyArray, "g g"]
    """Row along z, column along x."""
    grid: Float[NumpyArray, "4"]
    """x and z of the first cell, cell size, height of the ground; metres."""


def disc_directions(light: Light, count: int) -> Float[NumpyArray, "n 3"]:
    """Unit vectors evenly over the disc that a softbox fills, in sunflower order."""
    right, up, forward = light_frames(light.unit[None])[0]
    index = np.arange(count)
    radius = math.sin(light.angular_radius) * np.sqrt((index + 0.5) / count)
    angle = index * math.pi * (3 - math.sqrt(5))
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    z = np.sqrt(1 - x * x - y * y)
    return x[:, None] * right + y[:, None] * up + z[:, None] * forward


def sky_directions(count: int) -> Float[NumpyArray, "n 3"]:
    """Unit vectors evenly over the upper half of the sphere (a Fibonacci spiral)."""
    index = np.arange(count)
    y = (index + 0.5) / count
    angle = index * math.pi * (3 - math.sqrt(5))
    level = np.sqrt(1 - y * y)
    return np.stack([level * np.cos(angle), y, level * np.sin(angle)], axis=1)


def light_frames(directions: Float[NumpyArray, "n 3"]) -> Float[NumpyArray, "n 3 3"]:
    """Right-handed axes (rows) for every direction, the direction itself last."""
    helper = np.where(np.abs(directions[:, 1:2]) < 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    right = np.cross(helper, directions)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    return np.stack([right, np.cross(directions, right), directions], axis=1)


def visibility(
    points: Float32[NumpyArray, "V 3"],
    normals: Float32[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    studio: StudioLights,
    ground_height: float | None,
    quality: ShadowQuality,
    run: Mapper = map,
) -> tuple[Float32[NumpyArray, "V 3"], GroundShadow | None]:
    """Parts, 0 to 1, of sky, key and rim light that reach each vertex; and the ground's shadow."""
    frames, groups = _directions(studio, quality)
    grid = _ground_grid(points, studio, ground_height, quality)
    size = 0 if ground_height is None else quality.ground_size

    def chunk(first: int) -> tuple[Float32[NumpyArray, "V 4"], Float32[NumpyArray, "g g 4"]]:
        own = slice(first, None, quality.chunks)
        body = (points, normals, triangles)
        return _accumulate(body, frames[own], groups[own], grid, quality.map_size, size)

    parts = list(run(chunk, range(quality.chunks)))
    seen = sum((part[0] for part in parts), np.zeros((len(points), 4), np.float32))
    seen[:, 0] /= np.maximum(seen[:, 1], 1e-6)
    if ground_height is None:
        return seen[:, [0, 2, 3]], None
    ground = sum((part[1] for part in parts), np.zeros((size, size, 4), np.float32))
    return seen[:, [0, 2, 3]], GroundShadow(_light_left(ground, studio), grid)


def _accumulate(
    body: tuple[NumpyArray, NumpyArray, NumpyArray],
    frames: Float32[NumpyArray, "n 3 3"],
    groups: Float32[NumpyArray, "n 2"],
    grid: Float[NumpyArray, "4"],
    map_size: int,
    ground_size: int,
) -> tuple[Float32[NumpyArray, "V 4"], Float32[NumpyArray, "g g 4"]]:
    """What vertices (of points, normals, triangles) and ground see of some directions, summed."""
    from corporeal.scene import visibility_cpu as cpu

    points, normals, triangles = body
    seen = np.zeros((len(points), 4), np.float32)
    ground = np.zeros((ground_size, ground_size, 4), np.float32)
    place = np.empty_like(points)
    highest = np.empty((map_size, map_size), np.float32)
    lowest = np.empty_like(highest)
    square = grid.astype(np.float32)
    for axes, (group, weight) in zip(frames, groups, strict=True):
        kind = int(group)
        frame = cpu.lay_out(points, axes, map_size, place)
        cpu.draw_depths(place, triangles, highest, lowest)
        cpu.light_points(place, normals, axes, frame[2], kind, weight, highest, lowest, seen)
        if ground_size:
            cpu.light_ground(square, axes, frame, kind, weight, highest, ground)
    return seen, ground


def _directions(
    studio: StudioLights, quality: ShadowQuality
) -> tuple[Float32[NumpyArray, "n 3 3"], Float32[NumpyArray, "n 2"]]:
    """Axes of every direction; its group (0 sky, 1 key, 2 rim) and weight in that group."""
    sets = [
        sky_directions(quality.sky_directions),
        disc_directions(studio.key, quality.key_directions),
        disc_directions(studio.rim, quality.rim_directions),
    ]
    groups = [np.full(len(one), k) for k, one in enumerate(sets)]
    weights = [np.full(len(one), 1 / len(one)) for one in sets]
    frames = light_frames(np.concatenate(sets)).astype(np.float32)
    both = np.stack([np.concatenate(groups), np.concatenate(weights)], axis=1)
    return frames, both.astype(np.float32)


def _ground_grid(
    points: Float32[NumpyArray, "V 3"],
    studio: StudioLights,
    ground_height: float | None,
    quality: ShadowQuality,
) -> Float[NumpyArray, "4"]:
    """A square of ground that holds the body's shadow from the key light, and some room."""
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    level = low[1] if ground_height is None else ground_height
    tall = max(high[1] - level, 0.0)
    corners = [low[[0, 2]] - 0.35 * tall, high[[0, 2]] + 0.35 * tall]
    x, y, z = studio.key.unit
    if y > 0.2:
        shift = -tall / y * np.array([x, z])
        corners += [low[[0, 2]] + shift, high[[0, 2]] + shift]
    start, end = np.min(corners, axis=0), np.max(corners, axis=0)
    edge = max(float((end - start).max()), 1e-3) * 1.1
    origin = (start + end) / 2 - edge / 2
    return np.array([origin[0], origin[1], edge / (quality.ground_size - 1), level])


def _light_left(
    ground: Float32[NumpyArray, "g g 4"], studio: StudioLights
) -> Float32[NumpyArray, "g g"]:
    """Part of the light on open ground that is left, faded to 1 towards the grid's rim.

    The rim light throws no shadow on the ground: it would fall towards the camera. The sky's part
    is blurred, since few directions stand for all of the sky.
    """
    from scipy.ndimage import gaussian_filter

    cell = len(ground) / 128
    sky = ground[..., 0] / np.maximum(ground[..., 1], 1e-6)
    sky = gaussian_filter(sky, 4.0 * cell, mode="nearest")
    key = gaussian_filter(ground[..., 2], 1.4 * cell, mode="nearest")
    sky_light = float(np.mean(studio.sky))
    key_light = float(np.mean(studio.key.colour)) * max(float(studio.key.unit[1]), 0.0)
    left = (sky_light * sky + key_light * key) / (sky_light + key_light)
    ramp = np.clip(
        np.minimum(np.arange(len(left)), np.arange(len(left))[::-1]) / (0.09 * len(left)), 0, 1
    )
    fade = studio.ground_shadow * np.outer(ramp, ramp)
    return (1 - fade * (1 - left)).astype(np.float32)
