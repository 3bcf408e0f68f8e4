"""Shaking on planted feet: arms, shoulders, hips, circles of the hips, and jiggling on the toes."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.motions.feet import FootTrack
from corporeal.motions.sketch import Arms, Sketch, Track
from corporeal.motions.standing import Feet
from corporeal.units import GRAVITY


def shake_arms(sketch: Sketch) -> Track:
    """Holds both arms out to the sides and shakes them, hands flapping."""
    draw, env = sketch.generator.uniform, sketch.envelope()
    rate, size = draw(2.8, 3.6), draw(0.8, 1.1)

    def arm(phase: float) -> Arms:
        shake = size * (1 + sketch.drift(0.15))
        return sketch.eased(
            Arms(
                raised=-0.25 + 0.20 * shake * sketch.wave(rate, phase) + sketch.drift(0.08),
                forward=0.35 + 0.10 * shake * sketch.wave(rate, phase + 0.2),
                turned_in=0.1 + 0.30 * shake * sketch.wave(rate, phase + 0.1),
                elbow=0.55 + 0.35 * shake * sketch.wave(rate, phase + 0.3),
            ),
            env,
        )

    lag = draw(0.3, 0.6)
    sketch.arms(arm(0.0), arm(lag))
    sketch.mirrored("wrist", "z", 0.50 * size * env * sketch.wave(rate, 0.55))
    sketch.look_about()
    sketch.bend(twist=0.06 * env * sketch.wave(rate, 0.1), forward=0.06 * env)
    return stand(sketch, give=0.012 * env * (1 + sketch.wave(rate, 0.4)))


def shake_shoulders(sketch: Sketch) -> Track:
    """Shimmies: one shoulder forward, the other back, quickly; forearms held before the body."""
    draw, env = sketch.generator.uniform, sketch.envelope()
    rate, size = draw(2.4, 3.4), draw(0.8, 1.2)
    shake = size * env * (1 + sketch.drift(0.1)) * sketch.wave(rate)
    out = draw(0.15, 0.30)
    arms = Arms(raised=-1.12 + out, forward=0.15, turned_in=-0.05, elbow=1.45)
    sketch.arms(sketch.eased(arms, env))
    sketch.look_about()
    sketch.bend(twist=0.34 * shake, forward=env * (0.10 + sketch.drift(0.08)))
    sketch.turn("left_collar", "y", 0.20 * shake)
    sketch.turn("right_collar", "y", 0.20 * shake)
    sketch.turn("pelvis", "y", -0.08 * shake)
    return stand(sketch, give=0.05 * env, width=1.5)


def shake_hips(sketch: Sketch) -> Track:
    """Shakes the hips from side to side; the chest stays where it is."""
    draw, env = sketch.generator.uniform, sketch.envelope()
    rate, size = draw(1.7, 2.4), draw(0.8, 1.15)
    shake = size * env * (1 + sketch.drift(0.08))
    roll, yaw = 0.13 * shake * sketch.wave(rate), 0.14 * shake * sketch.wave(rate, 0.2)
    sketch.turn("pelvis", "z", roll)
    sketch.turn("pelvis", "y", yaw)
    sketch.look_about()
    sketch.bend(sideways=-1.35 * roll, twist=-1.1 * yaw, forward=0.04 * env)
    arms = Arms(-0.95 + sketch.drift(0.04), 0.2, 0.3, 0.8 + 0.1 * sketch.wave(rate, 0.3))
    sketch.arms(sketch.eased(arms, env))
    return stand(sketch, give=env * (0.05 + 0.01 * sketch.wave(2 * rate)), width=1.6)


def hips(sketch: Sketch) -> Track:
    """Circles the hips with the hands on them; halfway the other way round."""
    draw, env, time = sketch.generator.uniform, sketch.envelope(rise=0.8, fall=0.8), sketch.time
    rate, size = draw(0.6, 0.9), draw(0.11, 0.16)
    middle = 0.5 * sketch.end
    # The angle runs up, slows down to a stop in the middle, and runs back.
    width = 0.35
    angle = -2 * np.pi * rate * np.sqrt((time - middle) ** 2 + width**2)
    roll, pitch = size * env * np.cos(angle), size * env * np.sin(angle)
    sketch.turn("pelvis", "z", roll)
    sketch.turn("pelvis", "x", pitch)
    sketch.bend(sideways=-0.75 * roll, forward=-0.65 * pitch)
    sketch.look_about()
    akimbo = Arms(raised=-0.78, forward=-0.35, turned_in=1.15, elbow=1.62)
    sketch.arms(sketch.eased(akimbo, env))
    return stand(sketch, give=0.03 * env, width=1.7)


def jiggle_on_toes(sketch: Sketch) -> Track:
    """Stands high on the toes, arms out in front, and lets the heels bounce, just without leaving
    the ground."""
    draw = sketch.generator.uniform
    env, rate = sketch.envelope(rise=0.8, fall=0.8), draw(3.2, 4.2)
    # The whole body rides on the ankles: at this height its acceleration stays under 0.7 g.
    height = 0.7 * GRAVITY / (2 * np.pi * rate) ** 2
    jiggle = env**2 * (0.8 + sketch.drift(0.12)) * sketch.wave(rate)
    lever = float(np.hypot(*sketch.body.legs[0].foot[1:]))
    pitch = env * draw(0.60, 0.75) + jiggle * height / lever
    ahead = Arms(
        raised=-0.45 + 0.06 * jiggle + sketch.drift(0.04),
        forward=draw(0.85, 1.05),
        turned_in=0.1,
        elbow=0.55 + 0.12 * jiggle,
    )
    sketch.arms(sketch.eased(ahead, env))
    sketch.mirrored("wrist", "z", -0.25 * env + 0.15 * jiggle)
    sketch.look_about()
    sketch.bend(forward=0.03 * env - 0.03 * jiggle)
    feet = _feet(sketch, 1.05)
    raised = (replace(feet[0], heel_pitch=pitch), replace(feet[1], heel_pitch=pitch))
    return sketch.body.solve(sketch.rotations, raised, lambda h: h)


def stand(sketch: Sketch, give: Float[NumpyArray, "N"], width: float = 1.2) -> Track:
    """Solve with both feet planted; `give` lowers the body by a share of the leg's length.

    While things move, the height is measured from the lowest that straight legs would allow, which
    is smooth where that limit itself has kinks (it changes legs when the pelvis tips over).
    """
    lower, env = sketch.body.leg_length * give, sketch.envelope()

    def height(stretched: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
        return stretched[0] + env * (stretched.min() - stretched[0]) - lower

    return sketch.body.solve(sketch.rotations, _feet(sketch, width), height)


def _feet(sketch: Sketch, width: float) -> Feet:
    """Both feet on the ground, `width` hip breadths apart."""
    half, count = sketch.stance(width), len(sketch.time)
    left = FootTrack.planted(np.array([half, 0.0]), count)
    return left, FootTrack.planted(np.array([-half, 0.0]), count)
