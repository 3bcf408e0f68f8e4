"""A pinhole camera, and where to put it so that everything is in the picture."""

import math
from collections.abc import Callable
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
    lens: float = math.radians(22),
    margin: float = 0.06,
    bottom: float = 0.0,
    right: float = 0.0,
) -> Camera:
    """The closest camera of the given direction that sees all `points`.

    `aspect` is width over height, `lens` the angle of the longer side, radians; `margin` the part
    of the picture kept free on each side, `bottom` and `right` what is kept free there besides (for
    labels and legend). With camera axes (a right, b up, c forward), a point is inside when
    a − a₀ ≤ t (c − c₀), t the slope of the right-hand bound, and likewise on the other sides:
    linear in the camera's place (a₀, b₀, c₀), so the largest c₀ follows from the extremes of
    a ± t c and b ± t c.
    """
    if len(points) == 0:
        raise InputError("no points to frame; expected at least one.")
    require_finite("points to frame", points)
    if not 0 <= min(margin, bottom, right) <= 2 * margin + max(bottom, right) < 1:
        raise InputError(
            f"margin {margin}, bottom {bottom} and right {right} leave no room in the picture; "
            f"expected parts of it that leave some."
        )
    axes = view_axes(-np.asarray(direction_from(azimuth, elevation)))
    a, b, c = (np.asarray(points, np.float64) @ axes.T).T
    slope = math.tan(lens / 2) / max(aspect, 1.0)
    free = 1 - 2 * margin
    east, west = slope * aspect * (free - 2 * right), slope * aspect * free
    north, south = slope * free, slope * (free - 2 * bottom)
    a0, a_depth = _between(a, c, east, west)
    b0, b_depth = _between(b, c, north, south)
    depth = min(a_depth, b_depth, float(c.min()) - 0.05)
    eye = np.array([a0(depth), b0(depth), depth]) @ axes
    return Camera(_triple(eye), _triple(eye + axes[2]), 2 * math.atan(slope))


def _triple(vector: Float[NumpyArray, "3"]) -> _Vector:
    return float(vector[0]), float(vector[1]), float(vector[2])


def _between(
    across: Float[NumpyArray, "n"], depth: Float[NumpyArray, "n"], plus: float, minus: float
) -> tuple[Callable[[float], float], float]:
    """Largest depth of an eye that sees all between two bounds, and its middle place for a depth.

    A bound on the plus side has the slope `plus`: across − place ≤ plus (depth − eye's depth).
    """
    most, least = np.max(across - plus * depth), np.max(-across - minus * depth)

    def place(eye: float) -> float:
        return float((most + plus * eye) + (-least - minus * eye)) / 2

    return place, float(-(most + least) / (plus + minus))
