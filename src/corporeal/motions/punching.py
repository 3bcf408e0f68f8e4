"""Punching: from a guard, one fist after the other shoots forward with the trunk behind it."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.motions.feet import FootTrack
from corporeal.motions.sketch import Arms, Sketch, Track
from corporeal.motions.timing import smooth_step


def punching(sketch: Sketch) -> Track:
    """Joint rotations (axis-angle, radians) and root translation (m) of a set of punches."""
    draw, env = sketch.generator.uniform, sketch.envelope()
    rate = draw(1.5, 2.1)
    left, right = _fists(sketch, rate, reach=draw(0.9, 1.0))

    def arm(punch: Float[NumpyArray, "N"]) -> Arms:
        return sketch.eased(
            Arms(
                raised=-1.05 + 0.92 * punch + sketch.drift(0.02),
                forward=0.30 + 0.42 * punch,
                turned_in=0.25 + 0.35 * punch,
                elbow=2.05 - 1.85 * punch,
            ),
            env,
        )

    sketch.arms(arm(left), arm(right))
    sketch.fists(env)
    sketch.look_about()
    twist = env * (right - left)
    sketch.bend(twist=0.42 * twist, forward=0.10 * env)
    sketch.turn("pelvis", "y", 0.16 * twist)
    feet = _boxers_feet(sketch)
    lower = sketch.body.leg_length * env * (0.045 + 0.008 * np.abs(twist))
    return sketch.body.solve(sketch.rotations, feet, lambda h: h - lower)


def _fists(
    sketch: Sketch, rate: float, reach: float
) -> tuple[Float[NumpyArray, "N"], Float[NumpyArray, "N"]]:
    """0 in the guard, 1 at full reach, for the left and the right fist; out quicker than back."""
    time, period = sketch.time, 1.0 / rate
    fists = [np.zeros_like(time), np.zeros_like(time)]
    for index, begin in enumerate(np.arange(0.7, sketch.end - 0.7 - period, period)):
        out = smooth_step((time - begin) / (0.38 * period))
        back = smooth_step((time - begin - 0.42 * period) / (0.58 * period))
        size = reach * sketch.generator.uniform(0.9, 1.0)
        fists[index % 2] += size * out * (1 - back)
    return fists[0], fists[1]


def _boxers_feet(sketch: Sketch) -> tuple[FootTrack, FootTrack]:
    half, depth = sketch.stance(1.3), 0.12 * sketch.body.leg_length
    count = len(sketch.time)
    left = FootTrack.planted(np.array([half, depth]), count, toe_out=-0.05)
    right = FootTrack.planted(np.array([-half, -depth]), count, toe_out=0.45)
    return left, replace(right, heel_pitch=np.full(count, 0.12))
