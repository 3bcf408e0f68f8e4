"""A layered clip on a device: bones are posed and skin upsampled here, the steps are taken there.

The flesh finds its balance on the CPU, once; then pieces of the clip are one program each.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.projective.clip import Clip, frames_of
from corporeal.physics.projective_dynamics.integration import StepRule
from corporeal.runtime.devices import jax_device

PIECE = 30
"""Frames that are simulated together."""


def device_skins(clip: Clip, name: str) -> Float64[NumpyArray, "N W 3"]:
    """The full skin at every frame (metres), simulated on the device called `name`."""
    import jax

    from corporeal.physics.projective_dynamics.gpu import GpuSolver

    _require_offered(clip)
    body, steps = clip.body, clip.steps
    path = frames_of(body, clip.poses)
    flesh = clip.beginning(path)
    skins = [np.asarray(body.skin(flesh.positions), np.float64)[None]]
    rule = StepRule(clip.step, body.settings.iterations, body.settings.damping)
    with jax.default_device(jax_device(name)):
        solver = GpuSolver(body.system, rule, body.rest, accelerated=True)
        count = steps * min(PIECE, clip.frame_count - 1)
        for start in range(0, len(path) - 1, count):
            way = path[start : start + count + 1]
            left = len(way) - 1
            filled = np.concatenate([way, np.repeat(way[-1:], count - left, axis=0)])
            carriers = body.carriers(filled)
            anchors, speeds = carriers[1:, body.system.anchored], np.diff(carriers, axis=0)
            flesh, places = solver.steps(flesh, anchors, body.weight, speeds / clip.step)
            skins.append(np.asarray(body.skin(places[steps - 1 : left : steps]), np.float64))
    return np.concatenate(skins)


def _require_offered(clip: Clip) -> None:
    """Refuse what only the CPU simulates."""
    settings, world = clip.body.settings, clip.outside
    asked = {
        "dynamics=0": not settings.dynamics,
        "loop=1": settings.loop,
        "colliders": bool(world.colliders),
        "wind": world.wind is not None,
        "grabs": bool(world.grabs),
        f"{settings.collisions} collisions": settings.collisions != "off",
        "a single frame": clip.frame_count < 2,
    }
    refused = [what for what, there in asked.items() if there]
    if refused:
        raise InputError(
            f"the GPU simulates moving layers of clips of two frames or more that touch nothing; "
            f"it does not offer {', '.join(refused)}. Use --device cpu."
        )
