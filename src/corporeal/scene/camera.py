"""A pinhole camera, and where to put it so that everything is in the picture."""

import math
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError

_Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Camera:
    """A pinhole camera with square pixels; up is +y."""

    eye: _Vector
    """Where it stands, metres."""
    target: _Vector
    """The point in the middle of the picture, metres."""
    field_of_view: float = math.radians(22)
    """Vertical angle of the picture, radians."""
    near: float = 0.01
    """Nothing closer than this is seen, metres."""

    def __post_init__(self) -> None:
        require_finite("camera eye and target", np.array([self.eye, self.target]))
        if not 0 < self.field_of_view < math.pi:
            raise InputError(
                f"camera has a field of view of {self.field_of_view} rad; expected 0 to π."
            )
        if not (math.isfinite(self.near) and self.near > 0):
            raise InputError(f"camera has a near plane at {self.near} m; expected more than 0.")
        looking = np.subtract(self.target, self.eye)
        if np.hypot(looking[0], looking[2]) <= 1e-9 * max(1.0, float(np.linalg.norm(looking))):
            raise InputError(
                f"camera at {self.eye} looks at {self.target}, straight along y; "
                f"expected another direction, since up is +y. Move it a little aside."
            )

    def axes(self) -> Float[NumpyArray, "3 3"]:
        """Rows: right, up, forward; unit vectors in the world."""
        return view_axes(np.subtract(self.target, self.eye))

    def pixel_from_world(self, width: int, height: int) -> Float[NumpyArray, "3 4"]:
        """Homogeneous matrix: (x, y, z, 1) → (column·w, row·w, w), w the depth in metres.

        Columns grow to the right and rows downwards; the picture's upper left corner is (0, 0) and
        the centre of its first pixel (0.5, 0.5).
        """
        focal = focal_length(self.field_of_view, height)
        right, up, forward = self.axes()
        rows = np.stack(
            [width / 2 * forward + focal * right, height / 2 * forward - focal * up, forward]
        )
        return np.concatenate([rows, -(rows @ np.asarray(self.eye))[:, None]], axis=1)


def focal_length(field_of_view: float, height: int) -> float:
    """Focal length in pixels of a picture `height` pixels high."""
    return height / 2 / math.tan(field_of_view / 2)


def view_axes(looking: Float[NumpyArray, "3"]) -> Float[NumpyArray, "3 3"]:
    """Right, up and forward (rows) of a camera that looks along `looking`, upright."""
    forward = looking / np.linalg.norm(looking)
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, forward), forward])


def direction_from(azimuth: float, elevation: float) -> _Vector:
    """Unit vector from the subject to the camera.

    Azimuth 0 is the front (+z), π/2 the subject's left (+x); elevation is above the ground.
    """
    level = math.cos(elevation)
    return (level * math.sin(azimuth), math.sin(elevation), level * math.cos(azimuth))


def frame(
    points: Float[NumpyArray, "n 3"],
    aspect: float,
    *,
    azimuth: float = 0.0,
    elevation: float = math.radians(6),
    field_of_view: float = math.radians(22),
    margin: float = 0.06,
    bottom: float = 0.0,
) -> Camera:
    """The closest camera of the given direction that sees all `points`.

    `aspect` is width over height; `margin` the part of the picture kept free on each side, and
    `bottom` what is kept free below besides (for labels). With camera axes (a right, b up,
    c forward), a point is inside when ±(a − a₀) ≤ tₓ (c − c₀) and likewise for b: linear in the
    camera's place (a₀, b₀, c₀), so the largest c₀ follows from the extremes of a ± tₓ c, b ± t c.
    """
    if len(points) == 0:
        raise InputError("no points to frame; expected at least one.")
    require_finite("points to frame", points)
    towards = np.asarray(direction_from(azimuth, elevation))
    axes = view_axes(-towards)
    a, b, c = (np.asarray(points, np.float64) @ axes.T).T
    slope = math.tan(field_of_view / 2)
    across = slope * aspect * (1 - 2 * margin)
    above, below = slope * (1 - 2 * margin), slope * (1 - 2 * margin - 2 * bottom)
    if min(across, below) <= 0:
        raise InputError(f"margin {margin} and bottom {bottom} leave no room in the picture.")
    right, left = np.max(a - across * c), np.max(-a - across * c)
    upper, lower = np.max(b - above * c), np.max(-b - below * c)
    c0 = min(-(right + left) / (2 * across), -(upper + lower) / (above + below))
    a0 = (right - left) / 2
    b0 = ((upper + above * c0) + (-lower - below * c0)) / 2
    eye = np.array([a0, b0, min(c0, float(c.min()) - 0.05)]) @ axes
    target = eye + axes[2]
    return Camera(tuple(map(float, eye)), tuple(map(float, target)), field_of_view)
