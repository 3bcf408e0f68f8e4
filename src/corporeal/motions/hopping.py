"""Small jumps on the spot: loose, stiff, and on one leg."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.motions.feet import FootTrack
from corporeal.motions.jumps import Hop, JumpPlan
from corporeal.motions.one_leg import free_foot, standing_foot
from corporeal.motions.sketch import Arms, Sketch, Track


def light_hopping_loose(sketch: Sketch) -> Track:
    """Hops on both feet with soft knees; arms and head are thrown about by them."""
    draw, time, pace = sketch.generator.uniform, sketch.time, sketch.pace
    plan = JumpPlan.steady(
        pace * draw(0.14, 0.20), pace * draw(0.24, 0.32), 0.7, sketch.end - 0.2, even=False
    )
    env, beat = sketch.envelope(), _beat(plan, time)
    flop = draw(0.10, 0.18)

    def arm() -> Arms:
        loose = sketch.drift(0.04)
        raised = -1.10 + flop * np.roll(beat, 3) + loose
        return sketch.eased(Arms(raised, 0.05 + loose, 0.2, 0.45 + flop * beat), env)

    sketch.arms(arm(), arm())
    sketch.look_about()
    sketch.bend(forward=env * (0.10 - 0.08 * beat), twist=env * sketch.drift(0.03))
    sketch.turn("head", "x", -0.08 * env * beat)
    return _hop_on_both(sketch, plan, sink=0.8, springy=0.945)


def light_hopping_stiff(sketch: Sketch) -> Track:
    """Hops from the ankles, knees and arms held stiff."""
    draw, pace = sketch.generator.uniform, sketch.pace
    plan = JumpPlan.steady(
        pace * draw(0.11, 0.15), pace * draw(0.20, 0.25), 0.7, sketch.end - 0.2, even=False
    )
    env = sketch.envelope()
    held = Arms(raised=-1.22, forward=0.02, turned_in=0.0, elbow=0.08)
    sketch.arms(sketch.eased(held, env))
    sketch.look_about()
    sketch.bend(forward=env * (0.02 + sketch.drift(0.006)))
    return _hop_on_both(sketch, plan, sink=0.45, springy=0.965)


def one_leg_jump(sketch: Sketch) -> Track:
    """Higher jumps on one leg, the other held bent behind; the random seed picks the leg."""
    draw, time, pace = sketch.generator.uniform, sketch.time, sketch.pace
    plan = JumpPlan.steady(
        pace * draw(0.22, 0.28), pace * draw(0.30, 0.38), 1.3, sketch.end - 0.5, even=False
    )
    env, beat = sketch.envelope(rise=0.9, fall=0.9), _beat(plan, time)
    left_stands = bool(sketch.generator.integers(2))
    out = draw(0.25, 0.45)

    def arm() -> Arms:
        raised = -0.95 + out * (0.4 + 0.6 * np.maximum(beat, 0.0)) + sketch.drift(0.04)
        return sketch.eased(Arms(raised, 0.2, 0.2, 0.6 - 0.2 * beat), env)

    sketch.arms(arm(), arm())
    lean = env * (0.03 if left_stands else -0.03)
    sketch.look_about()
    sketch.bend(forward=env * (0.12 - 0.06 * beat), sideways=lean)
    legs = Hop.of(plan, time, sketch.body.leg_length, sink=0.7, springy=0.94)
    stand = legs.on(standing_foot(sketch, left_stands))
    back = np.array([0.0, draw(0.24, 0.34), -draw(0.24, 0.32)]) * sketch.body.leg_length
    free = free_foot(sketch, not left_stands, np.tile(back, (len(time), 1)), pitch=0.9)
    feet = (stand, free) if left_stands else (free, stand)
    return sketch.body.solve(sketch.rotations, feet, lambda h: plan.centre_height(time, h))


def _hop_on_both(sketch: Sketch, plan: JumpPlan, *, sink: float, springy: float) -> Track:
    legs = Hop.of(plan, sketch.time, sketch.body.leg_length, sink=sink, springy=springy)
    half = sketch.stance(1.05)

    def foot(sign: float) -> FootTrack:
        still = FootTrack.planted(np.array([sign * half, 0.0]), len(sketch.time))
        return replace(legs.on(still), knee_out=np.full(len(sketch.time), 0.1))

    return sketch.body.solve(
        sketch.rotations, (foot(1.0), foot(-1.0)), lambda h: plan.centre_height(sketch.time, h)
    )


def _beat(plan: JumpPlan, time: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
    """The rhythm of the jumps: +1 in the middle of a flight, −1 in the middle of a contact."""
    air, ground = plan.air_phase(time), plan.ground_phase(time)
    return np.sin(np.pi * air) ** 2 - np.sin(np.pi * ground) ** 2
