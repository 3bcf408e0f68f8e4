"""The authored motions, by name."""

from collections.abc import Callable
from typing import Final

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.motions.chicken_wings import chicken_wings
from corporeal.motions.hopping import light_hopping_loose, light_hopping_stiff, one_leg_jump
from corporeal.motions.jumping_jacks import jumping_jacks
from corporeal.motions.punching import punching
from corporeal.motions.retarget.flanks import arm_clearance
from corporeal.motions.shaking import (
    hips,
    jiggle_on_toes,
    shake_arms,
    shake_hips,
    shake_shoulders,
)
from corporeal.motions.sketch import Sketch, Track
from corporeal.motions.stepping import knees, one_leg_loose, running_on_spot
from corporeal.motions.thighs import least_stance
from corporeal.runtime.names import meant

Author = Callable[[Sketch], Track]
"""Fills an empty sketch; gives back joint rotations and root translation."""

MOTIONS: Final[dict[str, Author]] = {
    "chicken-wings": chicken_wings,
    "hips": hips,
    "jiggle-on-toes": jiggle_on_toes,
    "jumping-jacks": jumping_jacks,
    "knees": knees,
    "light-hopping-loose": light_hopping_loose,
    "light-hopping-stiff": light_hopping_stiff,
    "one-leg-jump": one_leg_jump,
    "one-leg-loose": one_leg_loose,
    "punching": punching,
    "running-on-spot": running_on_spot,
    "shake-arms": shake_arms,
    "shake-hips": shake_hips,
    "shake-shoulders": shake_shoulders,
}
"""The fourteen motions of the Dyna protocol (Pons-Moll et al. 2015, section 3.2)."""

SHORTEST_S = 2.0
"""Seconds that an authored motion lasts at least."""


def make_motion(
    name: str,
    identity: Identity,
    template: Template,
    *,
    seed: int = 0,
    fps: float = 60.0,
    duration: float = 4.0,
    a_pose: bool = False,
    girdle: bool = True,
    stoop: float = 0.0,
) -> Motion:
    """Author a motion for one body: its limb lengths decide where the feet and the pelvis are.

    `seed` draws tempo, size and style; `a_pose` starts it in an A-pose; `girdle` lets the collars
    go with the arms by the scapulohumeral rhythm, instead of a smaller rise of their own; `stoop`
    rounds the back by so many radians (`motions.posture.stoop_at`).
    """
    if name not in MOTIONS:
        raise InputError(
            f"no motion is called {name!r}; there are {', '.join(sorted(MOTIONS))}."
            f"{meant(name, MOTIONS)}"
        )
    require_timing(fps, duration)
    if seed < 0:
        raise InputError(f"motion asked with the seed {seed}; expected 0 or more.")
    rest = template.skeleton
    skeleton = Skeleton(rest.names, rest.parents, np.asarray(identity.joints))
    sketch = Sketch.empty(
        skeleton,
        fps,
        duration,
        np.random.default_rng(seed),
        a_pose,
        clearance=arm_clearance(template, identity),
        girdle=girdle,
        least_stance=least_stance(template, identity),
        stoop=stoop,
    )
    rotations, translation = MOTIONS[name](sketch)
    return Motion(name, fps, rotations, translation, skeleton)


def require_timing(fps: float, duration: float) -> None:
    """Raise `InputError` for frames a second or seconds that no motion is authored at."""
    if not 1.0 <= fps <= 1000.0:
        raise InputError(f"motion asked at {fps} frames a second; expected 1 to 1000.")
    if not SHORTEST_S <= duration <= 600.0:
        raise InputError(f"motion asked to last {duration} s; expected {SHORTEST_S:g} to 600.")
