"""Where the camera stands, by name: around the body, or close to its face or hands."""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.errors import InputError
from corporeal.scene.camera import Camera, direction_from

ViewName = Literal["auto", "front", "side", "back", "face", "profile", "upper"]


@dataclass(frozen=True)
class View:
    """A camera that stands still around the body, or goes with its head."""

    azimuth: float = math.radians(20)
    """0 in front, π/2 on the body's left, radians."""
    elevation: float = math.radians(7)
    """Above the ground, radians."""
    close_up: float | None = None
    """Height of what is seen around the head, metres; None for the whole body."""
    drop: float = 0.0
    """How far below the head's middle a close-up looks, metres."""


VIEWS: Final[dict[str, View]] = {
    "auto": View(),
    "front": View(azimuth=0.0),
    "side": View(azimuth=math.radians(90)),
    "back": View(azimuth=math.radians(180)),
    "face": View(math.radians(14), math.radians(3), close_up=0.38),
    "profile": View(math.radians(78), math.radians(3), close_up=0.38),
    "upper": View(math.radians(20), math.radians(4), close_up=0.85, drop=0.22),
}
"""Views by name."""

_LENS = math.radians(22)


def view_named(name: str) -> View:
    """A view of `VIEWS`."""
    if name not in VIEWS:
        raise InputError(f"there is no view {name!r}; expected one of {', '.join(VIEWS)}.")
    return VIEWS[name]


def head_camera(
    animation: Animation, frame: int, view: View, aspect: float, turn: float = 0.0
) -> Camera:
    """A camera close to the head in one frame, `turn` radians further around the body."""
    assert view.close_up is not None
    names = animation.template.skeleton.names
    joint = names.index("head") if "head" in names else len(names) - 1
    world = np.asarray(animation.world_from_joint[frame, joint], np.float64)
    middle = world[:3, 3] + world[:3, :3] @ np.array([0.0, 0.056, 0.02])
    middle[1] -= view.drop
    size = view.close_up * max(1.0, 0.8 / aspect)
    far = size / 2 / math.tan(_LENS / 2)
    eye = middle + far * np.asarray(direction_from(view.azimuth + turn, view.elevation))
    return Camera(_triple(eye), _triple(middle), _LENS)


def _triple(vector: Float[NumpyArray, "3"]) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])


def fitting_size(points: Float[NumpyArray, "n 3"], azimuth: float, pixels: int) -> tuple[int, int]:
    """Width and height, even, of about `pixels` in all, that what is seen fills."""
    right = points @ np.array([math.cos(azimuth), 0.0, -math.sin(azimuth)])
    # labels and perspective take a little height
    shape = float(np.ptp(right) / max(1.1 * np.ptp(points[:, 1]), 1e-6))
    shape = min(max(shape, 0.62), 3.0)
    width = math.sqrt(pixels * shape)
    return 16 * max(round(width / 16), 8), 16 * max(round(width / shape / 16), 8)
