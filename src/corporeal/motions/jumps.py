"""Leaving the ground and coming back: when, and how the centre of mass moves."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.motions.feet import SPRINGY, UPRIGHT, FootTrack
from corporeal.motions.timing import ballistic, quintic, smooth_step, takeoff_speed
from corporeal.units import GRAVITY

_SWING: Final = 0.5
"""Seconds of bending the knees before the first jump, and of settling after the last."""

_Event = tuple[float, tuple[float, float, float]]
"""Time (s), and the height (m), speed (m/s) and acceleration (m/s²) of the centre of mass then."""


@dataclass(frozen=True)
class JumpPlan:
    """When the feet leave and meet the ground, seconds."""

    takeoffs: Float[NumpyArray, "n"]
    """When both feet leave the ground, rising."""
    landings: Float[NumpyArray, "n"]
    """When they meet it again, one a take-off."""
    end: float
    """End of the motion, well after the last landing."""

    @staticmethod
    def steady(flight: float, contact: float, start: float, end: float, even: bool) -> "JumpPlan":
        """Equal jumps that fill the time from `start` to `end`; an `even` number on request.

        The time on the ground gives way, so that no second is spent waiting for the end.
        """
        span = end - start - _SWING
        pairs = 2 if even else 1
        count = max(2, pairs * round((span + contact) / (flight + contact) / pairs))
        contact = max(0.7 * contact, (span - count * flight) / (count - 1))
        takeoffs = start + (flight + contact) * np.arange(count)
        return JumpPlan(takeoffs, takeoffs + flight, end)

    def air_phase(self, time: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
        """Phase of the flight, 0 to 1; 0 on the ground."""
        phase = np.zeros_like(time)
        for off, on in zip(self.takeoffs, self.landings, strict=True):
            inside = (time > off) & (time < on)
            phase[inside] = (time[inside] - off) / (on - off)
        return phase

    def ground_phase(self, time: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
        """Phase of the contact between two jumps, 0 to 1; 0 elsewhere."""
        phase = np.zeros_like(time)
        for on, off in zip(self.landings[:-1], self.takeoffs[1:], strict=True):
            inside = (time >= on) & (time <= off)
            phase[inside] = (time[inside] - on) / (off - on)
        return phase

    def centre_height(
        self, time: Float[NumpyArray, "N"], stretched: Float[NumpyArray, "N"]
    ) -> Float[NumpyArray, "N"]:
        """Height of the centre of mass: free fall in the air, smooth pushes on the ground.

        `stretched` is the height it would have at every frame with the legs almost straight; that
        is how the body leaves the ground, meets it, and stands before and after.
        """
        height = stretched.copy()
        off_heights = np.interp(self.takeoffs, time, stretched)
        on_heights = np.interp(self.landings, time, stretched)
        first = float(self.takeoffs[0]) - _SWING
        last: _Event = (first, (float(np.interp(first, time, stretched)), 0.0, 0.0))
        jumps = zip(self.takeoffs, self.landings, off_heights, on_heights, strict=True)
        for off, on, off_height, on_height in jumps:
            flight = float(on - off)
            speed = takeoff_speed(flight, float(off_height), float(on_height))
            push: _Event = (float(off), (float(off_height), speed, -GRAVITY))
            _fill(height, time, last, push)
            inside = (time >= off) & (time <= on)
            phase = (time[inside] - off) / flight
            height[inside] = ballistic(phase, flight, float(off_height), float(on_height))
            last = (float(on), (float(on_height), speed - GRAVITY * flight, -GRAVITY))
        settled = min(last[0] + _SWING, self.end)
        still = float(np.interp(settled, time, stretched))
        _fill(height, time, last, (settled, (still, 0.0, 0.0)))
        return height


@dataclass(frozen=True)
class Hop:
    """What jumping does to a foot: springy knees on the ground, heels up, legs that hang."""

    stretch: Float[NumpyArray, "N"]
    """Leg extension on the ground, hip–ankle distance over leg length."""
    hanging: Bool[NumpyArray, "N"]
    """Frames in which the foot is in the air."""
    extension: Float[NumpyArray, "N"]
    """Leg extension in the air, hip–ankle distance over leg length."""
    heel_pitch: Float[NumpyArray, "N"]
    """How far the heel is lifted about the ball of the foot, radians."""

    @staticmethod
    def of(
        plan: JumpPlan,
        time: Float[NumpyArray, "N"],
        leg_length: float,
        *,
        heel: float = 0.55,
        sink: float = 0.65,
        springy: float = SPRINGY,
    ) -> "Hop":
        """Legs for `plan`: heels up by `heel` radians in the air, sinking by a share between.

        In the air the legs go on stretching as they did at takeoff, at half the body's speed, and
        bend again towards the landing, so that the knees do not start or stop moving at once.
        """
        ready = smooth_step((time - plan.takeoffs[0] + _SWING) / _SWING)
        ready *= 1 - smooth_step((time - plan.landings[-1]) / _SWING)
        rise = smooth_step((time - plan.takeoffs[0] + 0.25) / 0.25)
        fall = smooth_step((time - plan.landings[-1]) / 0.30)
        sunk = sink * np.sin(np.pi * plan.ground_phase(time)) ** 2
        air = plan.air_phase(time)
        flight = float(np.mean(plan.landings - plan.takeoffs))
        speed = 0.5 * GRAVITY * flight
        reaching = np.minimum(0.5 * speed * flight / leg_length, 4 * (UPRIGHT - springy))
        return Hop(
            stretch=UPRIGHT + (springy - UPRIGHT) * ready,
            hanging=air > 0,
            extension=springy + reaching * air * (1 - air),
            heel_pitch=heel * (rise * (1 - fall) - sunk),
        )

    def on(self, foot: FootTrack) -> FootTrack:
        """The same foot, hopping."""
        return replace(
            foot,
            stretch=self.stretch,
            hanging=self.hanging,
            extension=self.extension,
            heel_pitch=self.heel_pitch,
        )


def _fill(
    height: Float[NumpyArray, "N"], time: Float[NumpyArray, "N"], start: _Event, end: _Event
) -> None:
    """Write the quintic between two events into `height`."""
    inside = (time >= start[0]) & (time <= end[0])
    phase = (time[inside] - start[0]) / (end[0] - start[0])
    height[inside] = quintic(phase, end[0] - start[0], start[1], end[1])
