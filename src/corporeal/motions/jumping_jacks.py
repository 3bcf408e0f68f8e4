"""Jumping jacks: the arms clap overhead while the feet jump apart, and back."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.motions.feet import FootTrack
from corporeal.motions.jumps import Hop, JumpPlan
from corporeal.motions.sketch import Arms, Sketch, Track
from corporeal.motions.standing import Feet
from corporeal.motions.timing import smooth_step


def jumping_jacks(sketch: Sketch) -> Track:
    """Joint rotations (axis-angle, radians) and root translation (m); an even number of jumps."""
    draw = sketch.generator.uniform
    flight, contact = sketch.pace * draw(0.19, 0.25), sketch.pace * draw(0.22, 0.28)
    plan = JumpPlan.steady(flight, contact, start=0.7, end=sketch.end - 0.2, even=True)
    time = sketch.time
    apart = _openness(plan, time, lead=0.0)
    clap = _openness(plan, time, lead=0.45 * contact)
    wave = sketch.envelope(rise=0.5)
    highest, elbow = draw(1.30, 1.45), draw(0.15, 0.45)

    def arm() -> Arms:
        loose = sketch.drift(draw(0.01, 0.03))
        arms = Arms(
            raised=-1.28 + (highest + 1.28) * clap + loose,
            forward=0.12 + loose,
            elbow=elbow * (0.6 + 0.4 * np.cos(np.pi * clap) ** 2),
        )
        return sketch.eased(arms, wave)

    sketch.arms(arm(), arm())
    sketch.look_about()
    sketch.bend(forward=wave * (0.06 + sketch.drift(0.015)), twist=wave * sketch.drift(0.01))
    width = draw(0.36, 0.46) * sketch.body.leg_length
    feet = _feet(sketch, plan, apart, width)
    return sketch.body.solve(sketch.rotations, feet, lambda h: plan.centre_height(time, h))


def _openness(plan: JumpPlan, time: Float[NumpyArray, "N"], lead: float) -> Float[NumpyArray, "N"]:
    """0 together to 1 apart; a change starts `lead` seconds before takeoff, ends as late after."""
    value = np.zeros_like(time)
    for index, (off, on) in enumerate(zip(plan.takeoffs, plan.landings, strict=True)):
        rise = smooth_step((time - off + lead) / (on - off + 2 * lead))
        value += rise if index % 2 == 0 else -rise
    return value


def _feet(sketch: Sketch, plan: JumpPlan, apart: Float[NumpyArray, "N"], width: float) -> Feet:
    time, narrow = sketch.time, sketch.stance(1.05)
    legs = Hop.of(plan, time, sketch.body.leg_length)

    def foot(sign: float) -> FootTrack:
        still = FootTrack.planted(np.zeros(2), len(apart))
        ball = still.ball.copy()
        ball[:, 0] = sign * (narrow + (width - narrow) * apart)
        return replace(
            legs.on(still),
            ball=ball,
            toe_out=0.12 + 0.15 * apart,
            knee_out=0.07 + 0.09 * apart,
        )

    return foot(1.0), foot(-1.0)
