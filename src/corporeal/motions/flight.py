"""Free flight tells the true frame rate: nothing but gravity bends the path of a jumping body.

Some captures run at 60 Hz and say 120: everything then happens at double speed, and a jump falls
with four times gravity. In a flight the hips follow y(t) = y₀ + v t + ½ a t² closely (the limbs
move against them a little), so a parabola fitted to each flight gives a, and the true rate is the
labelled one times √(g / |a|).
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.motions.derivatives import world_frames
from corporeal.motions.retarget.contacts import runs, source_feet
from corporeal.motions.retarget.guess import name_map_for
from corporeal.motions.retarget.name_maps import SIDES, NameMap
from corporeal.units import GRAVITY

CLEARANCE: Final = 0.05
"""Both feet are at least so far above where they stand, metres."""
_SHORTEST_FRAMES: Final = 10
_STRAY: Final = 0.012
"""A flight whose hips leave the parabola by more (root mean square, metres) is no clean one."""


@dataclass(frozen=True)
class Flight:
    """One stretch with both feet off the ground."""

    first: int
    """First frame."""
    last: int
    """Frames, both included."""
    acceleration: float
    """Of the hips, upwards, m/s², by the labelled frame rate; −9.81 if that is right."""


@dataclass(frozen=True)
class RateCheck:
    """What the flights say about a motion's frame rate."""

    verdict: Literal["fits", "differs", "unknown"]
    """`fits`, `differs`, or `unknown` where there is no clean flight."""
    fps: float
    """The rate that fits best: the labelled one, or it halved or doubled."""
    flights: tuple[Flight, ...]
    """The clean flights that were found."""
    words: str
    """The finding as a sentence."""


def check_frame_rate(motion: Motion, names: NameMap | None = None) -> RateCheck:
    """Compare the flights of a motion in metres with gravity; `unknown` if it never flies."""
    flights = find_flights(motion, names)
    if not flights:
        return RateCheck(
            "unknown", motion.fps, (), "no clean flight phase: the frame rate cannot be checked"
        )
    fall = float(np.median([-flight.acceleration for flight in flights])) / GRAVITY
    # a ∝ fps²: a quarter, once, four times gravity are a doubled, right and halved true rate.
    factors = {1.0: 1.0, 4.0: 0.5, 0.25: 2.0}
    nearest = min(factors, key=lambda times: abs(np.log(fall / times)))
    fps = motion.fps * factors[nearest]
    if abs(np.log(fall / nearest)) > np.log(1.6):
        words = (
            f"flights fall with {fall:.2f} g (median of {len(flights)}), which fits no usual rate"
        )
        return RateCheck("unknown", motion.fps, flights, words)
    words = f"flights fall with {fall:.2f} g (median of {len(flights)}) at {motion.fps:g} Hz"
    if nearest != 1.0:
        words += f": the file is really {fps:g} Hz"
    return RateCheck("fits" if nearest == 1.0 else "differs", fps, flights, words)


def find_flights(motion: Motion, names: NameMap | None = None) -> tuple[Flight, ...]:
    """Stretches with both feet in the air in which the hips fall along a parabola."""
    names = name_map_for(motion.skeleton) if names is None else names
    feet = source_feet(motion, names)
    ground = feet.ground
    lowest = np.min(
        [
            np.minimum(ankle[:, 1] - rise, ball[:, 1]) - ground
            for ankle, ball, rise in zip(feet.ankles, feet.balls, feet.ankle_rise, strict=True)
        ],
        axis=0,
    )
    hips = [motion.skeleton.index(names.joints[f"{side}_hip"]) for side in SIDES]
    height = world_frames(motion)[:, hips, 1, 3].mean(axis=1)
    flights = []
    for first, last in runs(lowest > CLEARANCE):
        if last - first < _SHORTEST_FRAMES or first == 0 or last == len(height):
            continue
        acceleration, stray = _parabola(height[first:last], motion.fps)
        if acceleration < 0 and stray < _STRAY:
            flights.append(Flight(first, last - 1, acceleration))
    return tuple(flights)


def _parabola(height: Float[NumpyArray, "n"], fps: float) -> tuple[float, float]:
    """Acceleration (m/s²) of the best parabola, and how far the heights leave it (metres)."""
    time = np.arange(len(height)) / fps
    curve = np.polynomial.Polynomial.fit(time, height, 2)
    stray = float(np.sqrt(np.mean((curve(time) - height) ** 2)))
    return 2.0 * float(curve.convert().coef[2]), stray
