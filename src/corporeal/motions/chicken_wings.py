"""Chicken wings: fists at the shoulders, the elbows flap."""

from corporeal.motions.shaking import stand
from corporeal.motions.sketch import Arms, Sketch, Track


def chicken_wings(sketch: Sketch) -> Track:
    """Joint rotations (axis-angle, radians) and root translation (m) of flapping elbows."""
    draw, env = sketch.generator.uniform, sketch.envelope()
    rate, size = draw(1.3, 2.0), draw(0.40, 0.55)
    flap = env * sketch.wave(rate, -0.25) * (1 + sketch.drift(0.06))

    def arm() -> Arms:
        return sketch.eased(
            Arms(
                raised=-0.60 + size * flap + sketch.drift(0.02),
                forward=0.15,
                turned_in=0.35 - 0.25 * flap,
                elbow=2.25 + 0.08 * flap,
            ),
            env,
        )

    sketch.arms(arm(), arm())
    sketch.bend(forward=env * (0.05 - 0.03 * flap))
    return stand(sketch, give=env * (0.02 - 0.012 * flap))
