"""Where several bodies stand, so that none hides another and one camera sees all of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.errors import InputError
from corporeal.scene.camera import Camera, frame
from corporeal.scene.casting import Performance
from corporeal.scene.labels import LABEL_ROOM
from corporeal.scene.legend import legend_room

_ENOUGH = 2500
"""So many vertices tell the extent of a body closely enough."""


_STAYS = 0.9
"""Metres over the ground that a camera does not follow."""
_SMOOTH_S = 0.4
"""Width of the smoothing of a followed way, seconds."""


@dataclass(frozen=True, eq=False)
class Lineup:
    """Places side by side, from the camera's left to its right."""

    shifts: Float[NumpyArray, "n 3"]
    """What is added to every body's vertices, metres."""
    points: Float[NumpyArray, "m 3"]
    """Points that the whole movement reaches, after the shift."""
    feet: Float[NumpyArray, "n 3"]
    """Below the middle of every body, on the ground, where its label goes."""
    ground_height: float
    """Lowest point of all movement, metres."""


def line_up(
    performances: Sequence[Performance],
    azimuth: float = 0.0,
    gap: float = 0.12,
    ways: Sequence[Float[NumpyArray, "N 3"]] | None = None,
) -> Lineup:
    """Put bodies side by side across the view from `azimuth`, `gap` metres apart; `ways` are those
    that the picture goes along with each of them."""
    if not performances:
        raise InputError("no animation to show; expected at least one.")
    right = np.array([math.cos(azimuth), 0.0, -math.sin(azimuth)])
    followed = [None] * len(performances) if ways is None else ways
    clouds = [
        reached(p.animation.vertices, way) for p, way in zip(performances, followed, strict=True)
    ]
    left_ends = np.array([(cloud @ right).min() for cloud in clouds])
    widths = np.array([(cloud @ right).max() for cloud in clouds]) - left_ends
    starts = np.concatenate([[0.0], np.cumsum(widths + gap)])
    centre = (starts[-1] - gap) / 2
    shifts = (starts[:-1] - centre - left_ends)[:, None] * right
    if len(performances) == 1:
        shifts = np.zeros((1, 3))
    ground = min(float(cloud[:, 1].min()) for cloud in clouds)
    moved = [cloud + shift for cloud, shift in zip(clouds, shifts, strict=True)]
    boxes = [(cloud.min(axis=0), cloud.max(axis=0)) for cloud in moved]
    feet = np.array([(low + high) / 2 for low, high in boxes])
    feet[:, 1] = ground
    return Lineup(shifts, np.concatenate(moved), feet, ground)


def reached(
    vertices: Float[Array, "N V 3"], way: Float[NumpyArray, "N 3"] | None = None
) -> Float[NumpyArray, "n 3"]:
    """Places that a movement reaches, by some of its vertices, metres; seen from a camera that goes
    along a `way`, if there is one."""
    every = max(1, vertices.shape[1] // _ENOUGH)
    places = np.asarray(vertices[:, ::every], np.float64)
    if way is not None:
        places = places - way[:, None]
    return places.reshape(-1, 3)


def travel(performance: Performance) -> Float[NumpyArray, "N 3"]:
    """How far a camera goes along with the body over the ground, metres, in every frame: a body
    that walks through the room would else be small in a picture of its whole way. Zero where the
    root stays within `_STAYS`; smooth, so that a step and a stumble are still seen."""
    from scipy.ndimage import gaussian_filter1d

    root = np.array(performance.animation.world_from_joint[:, 0, :3, 3], np.float64)
    root[:, 1] = 0.0
    if np.ptp(root, axis=0).max() < _STAYS:
        return np.zeros_like(root)
    wide = _SMOOTH_S * performance.animation.motion.fps
    return np.asarray(gaussian_filter1d(root, wide, axis=0, mode="nearest"))


def frame_lineup(
    lineup: Lineup,
    width: int,
    height: int,
    *,
    azimuth: float = 0.0,
    elevation: float = math.radians(7),
    labelled: bool = True,
    legend: bool = False,
) -> Camera:
    """A fixed camera that sees the whole movement of all bodies, and leaves room for words."""
    return frame(
        lineup.points,
        width / height,
        azimuth=azimuth,
        elevation=elevation,
        bottom=LABEL_ROOM if labelled else 0.0,
        right=legend_room(width, height) if legend else 0.0,
    )
