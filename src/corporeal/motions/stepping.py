"""From one foot to the other: high knees, running on the spot; and one leg shaken loose."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.motions.feet import FootTrack
from corporeal.motions.jumps import Hop, JumpPlan
from corporeal.motions.one_leg import free_foot, standing_foot
from corporeal.motions.sketch import Arms, Sketch, Track
from corporeal.motions.timing import bump, smooth_step


def knees(sketch: Sketch) -> Track:
    """Lifts one knee after the other to the height of the hip."""
    draw, time = sketch.generator.uniform, sketch.time
    period, start = sketch.pace * draw(0.75, 1.0), 0.6
    count = max(2, int((sketch.end - start - 0.5) / period))
    begins = start + period * np.arange(count)
    height, ahead = draw(0.40, 0.50), draw(0.16, 0.22)
    lifts = [np.zeros_like(time), np.zeros_like(time)]
    sway = np.zeros_like(time)
    for index, begin in enumerate(begins):
        lifts[index % 2] += bump((time - begin) / period)
        # The weight is on the other foot before this one leaves the ground, and a little after.
        on_other = smooth_step((time - begin + 0.25 * period) / (0.3 * period))
        on_other *= 1 - smooth_step((time - begin - 0.95 * period) / (0.3 * period))
        sway += on_other * (1 if index % 2 else -1)
    env = sketch.envelope()
    swing = lifts[1] - lifts[0]
    left = Arms(-1.15, 0.1 + 0.45 * swing, 0.2, 0.5 + 0.5 * np.maximum(swing, 0))
    right = Arms(-1.15, 0.1 - 0.45 * swing, 0.2, 0.5 + 0.5 * np.maximum(-swing, 0))
    sketch.arms(sketch.eased(left, env), sketch.eased(right, env))
    sketch.look_about()
    sketch.bend(forward=0.04 * env, twist=0.16 * env * swing)
    sketch.turn("pelvis", "y", -0.06 * env * swing)

    def foot(sign: float, lift: Float[NumpyArray, "N"]) -> FootTrack:
        place = np.array([sign * sketch.stance(0.9), 0.0])
        still = FootTrack.planted(place, len(time))
        path = lift[:, None] * [0.0, height, ahead] * sketch.body.leg_length
        load = np.clip(0.5 + 0.5 * sign * sway, 0.05, 0.95)
        return replace(still, ball=still.ball + path, load=load, heel_pitch=0.45 * lift)

    feet = (foot(1.0, lifts[0]), foot(-1.0, lifts[1]))
    return sketch.body.solve(sketch.rotations, feet, lambda h: h)


def running_on_spot(sketch: Sketch) -> Track:
    """Runs without getting anywhere, knees up: a flight between any two steps, arms opposite to the
    legs."""
    draw, time, pace = sketch.generator.uniform, sketch.time, sketch.pace
    flight, contact = pace * draw(0.10, 0.12), pace * draw(0.23, 0.27)
    plan = JumpPlan.steady(flight, contact, 0.9, sketch.end - 0.4, even=True)
    step = flight + contact
    running = smooth_step((time - plan.takeoffs[0] + 0.3) / 0.5)
    running *= 1 - smooth_step((time - plan.landings[-1]) / 0.4)
    phase = np.clip((time - plan.takeoffs[0]) / step, -0.5, len(plan.takeoffs) - 0.5)
    swing = -np.cos(np.pi * phase) * running
    env, reach = sketch.envelope(), draw(0.45, 0.65)
    left = Arms(-1.10, 0.05 + reach * swing, 0.25, 1.45 + 0.2 * swing)
    right = Arms(-1.10, 0.05 - reach * swing, 0.25, 1.45 - 0.2 * swing)
    sketch.arms(sketch.eased(left, env), sketch.eased(right, env))
    sketch.fists(0.5 * env)
    sketch.look_about()
    sketch.bend(forward=0.10 * env, twist=0.20 * swing)
    sketch.turn("pelvis", "y", -0.08 * swing)
    feet = _running_feet(sketch, plan, lift=draw(0.25, 0.31), ahead=draw(0.07, 0.12))
    return sketch.body.solve(sketch.rotations, feet, lambda h: plan.centre_height(time, h))


def _running_feet(
    sketch: Sketch, plan: JumpPlan, lift: float, ahead: float
) -> tuple[FootTrack, FootTrack]:
    """Left lands after odd jumps, right after even ones; each comes up in front meanwhile."""
    time, leg = sketch.time, sketch.body.leg_length
    count = len(plan.takeoffs)
    legs = Hop.of(plan, time, leg, heel=0.35, sink=0.0)

    def foot(sign: float, lands_after: int) -> FootTrack:
        up, bears = np.zeros_like(time), np.ones_like(time)
        for jump in range(count):
            if jump % 2 == lands_after:
                continue
            # This foot leaves the ground with jump `jump` and is back after the next one.
            off = plan.takeoffs[jump]
            on = plan.landings[jump + 1] if jump + 1 < count else plan.landings[-1] + 0.3
            up += bump((time - off) / (on - off))
            bears *= 1 - smooth_step((time - off + 0.08) / 0.16) * (
                1 - smooth_step((time - on + 0.08) / 0.16)
            )
        place = np.array([sign * sketch.stance(0.55), 0.0])
        still = FootTrack.planted(place, len(time))
        path = up[:, None] * [0.0, lift * leg, ahead * leg]
        return replace(
            legs.on(still),
            ball=still.ball + path,
            hanging=legs.hanging | (up > 1e-9),
            load=0.15 + 0.35 * bears,
            heel_pitch=legs.heel_pitch + 0.75 * up,
        )

    return foot(1.0, 1), foot(-1.0, 0)


def one_leg_loose(sketch: Sketch) -> Track:
    """Stands on one leg and swings the other one loose to and fro; the random seed picks which."""
    draw = sketch.generator.uniform
    left_stands = bool(sketch.generator.integers(2))
    rate, env = draw(1.7, 2.3), sketch.envelope(rise=1.2, fall=1.2)
    leg, outward = sketch.body.leg_length, -1.0 if left_stands else 1.0
    shake = env * (1 + sketch.drift(0.15))
    held = np.stack(
        [
            outward * leg * (0.10 + 0.03 * shake * sketch.wave(0.5 * rate, 0.2)),
            0.20 * leg + 0.060 * leg * shake * sketch.wave(rate),
            0.10 * leg + 0.220 * leg * shake * sketch.wave(rate, 0.1),
        ],
        axis=1,
    )
    out = draw(0.25, 0.5)
    sway = 0.10 * shake * sketch.wave(rate, 0.6)
    left, right = (
        Arms(-1.05 + out + sketch.drift(0.10), 0.15 + side * sway, 0.1, 0.3) for side in (1, -1)
    )
    sketch.arms(sketch.eased(left, env), sketch.eased(right, env))
    sketch.look_about(down=0.20)
    sketch.bend(
        forward=env * 0.05 + 0.05 * shake * sketch.wave(rate, 0.1),
        sideways=env * (0.06 if left_stands else -0.06),
        twist=0.10 * shake * sketch.wave(rate, 0.35),
    )
    stand = standing_foot(sketch, left_stands)
    free = free_foot(sketch, not left_stands, held, pitch=0.5)
    free = replace(free, heel_pitch=free.heel_pitch + 0.25 * shake * sketch.wave(rate, 0.5))
    feet = (stand, free) if left_stands else (free, stand)
    return sketch.body.solve(sketch.rotations, feet, lambda h: h)
