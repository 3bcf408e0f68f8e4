"""Numbers as colours, in steps that look equal.

The ramps run through a few anchor colours in OKLab (Ottosson 2020), a space where equal distances
look about equally far apart, and are walked at a steady pace. Lightness rises steadily along the
sequential ramp, so it can be read in grey and by colour-blind eyes.
"""

import functools
import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.errors import InputError

_STEPS = 256

_ANCHORS: Final[dict[str, tuple[tuple[float, float, float], ...]]] = {
    "dusk": (
        (0.25, 0.045, -0.105),
        (0.38, 0.015, -0.125),
        (0.52, -0.055, -0.070),
        (0.66, -0.105, 0.015),
        (0.79, -0.110, 0.105),
        (0.92, -0.035, 0.165),
    ),
    "tide": (
        (0.42, -0.020, -0.130),
        (0.66, -0.045, -0.080),
        (0.94, 0.000, 0.005),
        (0.66, 0.085, 0.060),
        (0.42, 0.130, 0.055),
    ),
}
"""OKLab lightness, a (green–red), b (blue–yellow). `dusk` is sequential, `tide` diverging."""

_LMS_FROM_OKLAB = np.array(
    [[1.0, 0.3963377774, 0.2158037573], [1.0, -0.1055613458, -0.0638541728],
     [1.0, -0.0894841775, -1.2914855480]]
)  # fmt: skip
_RGB_FROM_LMS = np.array(
    [[4.0767416621, -3.3077115913, 0.2309699292], [-1.2684380046, 2.6097574011, -0.3413193965],
     [-0.0041960863, -0.7034186147, 1.7076147010]]
)  # fmt: skip


def rgb_from_oklab(lab: Float[NumpyArray, "*batch 3"]) -> Float[NumpyArray, "*batch 3"]:
    """Linear RGB of OKLab colours."""
    return (lab @ _LMS_FROM_OKLAB.T) ** 3 @ _RGB_FROM_LMS.T


def monotone_curve(anchors: Float[NumpyArray, "k n"], count: int) -> Float[NumpyArray, "count n"]:
    """`count` places along the cubic Hermite curve through evenly spaced anchors whose slopes make
    no new extrema (Fritsch and Butland 1984). SciPy has it as PCHIP; importing that takes longer
    than all else that a colour needs."""
    slopes = np.diff(anchors, axis=0)
    before, after = slopes[:-1], slopes[1:]
    same = before * after > 0
    # d = 2 / (1/m₀ + 1/m₁) where both rise or fall, else 0
    inner = np.where(same, 2 * before * after / np.where(same, before + after, 1.0), 0.0)
    ends = [_end_slope(slopes[0], slopes[1]), _end_slope(slopes[-1], slopes[-2])]
    tangents = np.concatenate([ends[:1], inner, ends[1:]])
    places = np.linspace(0, len(slopes), count)
    k = np.minimum(places.astype(int), len(slopes) - 1)
    t = (places - k)[:, None]
    return (
        (1 + 2 * t) * (1 - t) ** 2 * anchors[k]
        + t * (1 - t) ** 2 * tangents[k]
        + t**2 * (3 - 2 * t) * anchors[k + 1]
        + t**2 * (t - 1) * tangents[k + 1]
    )


def _end_slope(first: Float[NumpyArray, "n"], second: Float[NumpyArray, "n"]) -> NumpyArray:
    """Slope at an end, from the two secants next to it: the parabola's, within what keeps shape."""
    slope = (3 * first - second) / 2
    slope = np.where(slope * first <= 0, 0.0, slope)
    steep = (first * second <= 0) & (np.abs(slope) > 3 * np.abs(first))
    return np.where(steep, 3 * first, slope)


@functools.cache
def ramp(name: str) -> Float[NumpyArray, "n 3"]:
    """256 colours, linear RGB, at equal distances along a named ramp."""
    if name not in _ANCHORS:
        raise InputError(f"unknown colour map {name!r}; choose one of {', '.join(_ANCHORS)}.")
    anchors = np.array(_ANCHORS[name])
    fine = monotone_curve(anchors, 4096)
    walked = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
    even = np.linspace(0, walked[-1], _STEPS)
    lab = np.stack([np.interp(even, walked, fine[:, c]) for c in range(3)], axis=1)
    return np.clip(rgb_from_oklab(lab), 0, 1)


@dataclass(frozen=True)
class ColourScale:
    """Which colour a number has; what the legend says about it."""

    low: float
    """Number at the ramp's beginning; smaller ones have its colour."""
    high: float
    """Number at the ramp's end; larger ones have its colour."""
    title: str = ""
    """What the numbers are."""
    unit: str = ""
    """Unit of the numbers, as printed."""
    ramp: str = "dusk"
    """Name of the ramp."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InputError(
                f"colour scale runs from {self.low} to {self.high}; expected finite numbers, "
                f"the first one smaller."
            )
        ramp(self.ramp)

    @staticmethod
    def spanning(
        values: Float[NumpyArray, "..."], title: str = "", unit: str = ""
    ) -> "ColourScale":
        """From the smallest to the largest of `values`; a little beyond if all are equal."""
        if values.size == 0 or not np.isfinite(values).all():
            raise InputError("values for a colour scale are empty or not finite; repair them.")
        low, high = float(values.min()), float(values.max())
        return ColourScale(low, high if high > low else low + max(abs(low), 1.0), title, unit)

    def colours(self, values: Float[NumpyArray, "*batch"]) -> Float[NumpyArray, "*batch 3"]:
        """Linear RGB; beyond the ends of the scale, the colours of its ends."""
        position = (np.asarray(values, np.float64) - self.low) / (self.high - self.low)
        steps = np.clip(position, 0, 1) * (_STEPS - 1)
        table = ramp(self.ramp)
        return np.stack([np.interp(steps, np.arange(_STEPS), c) for c in table.T], axis=-1)

    def ticks(self, most: int = 6) -> Float[NumpyArray, "n"]:
        """Round numbers, 1, 2 or 5 times a power of ten apart, at most `most` of them."""
        span = self.high - self.low
        power = 10.0 ** math.floor(math.log10(span / most))
        steps = (power * f for f in (1, 2, 5, 10, 20))
        step = next(s for s in steps if math.floor(span / s + 1e-9) + 1 <= most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return np.arange(first, last + 1) * step
