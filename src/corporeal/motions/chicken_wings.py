"""Chicken wings: fists before the shoulders, the elbows flap, and the head goes with them."""

from corporeal.motions.shaking import stand
from corporeal.motions.sketch import Arms, Sketch, Track


def chicken_wings(sketch: Sketch) -> Track:
    """Joint rotations (axis-angle, radians) and root translation (m) of flapping elbows."""
    draw, env = sketch.generator.uniform, sketch.envelope()
    rate, size = draw(1.3, 2.0), draw(0.45, 0.60)
    flap = env * sketch.wave(rate, -0.25) * (1 + sketch.drift(0.06))

    def arm() -> Arms:
        return sketch.eased(
            Arms(
                raised=-0.50 + size * flap + sketch.drift(0.02),
                forward=0.05,
                # Not turned in, a folded forearm lies before its own upper arm at every height.
                turned_in=-0.05 - 0.10 * flap,
                elbow=2.45 + 0.08 * flap,
            ),
            env,
        )

    sketch.arms(arm(), arm())
    sketch.fists(env)
    sketch.look_about()
    sketch.bend(forward=env * (0.10 - 0.10 * flap))
    sketch.turn("neck", "x", 0.12 * flap)
    return stand(sketch, give=env * (0.05 - 0.035 * flap))
