"""The authored motions, by name."""

from collections.abc import Callable
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.motions.jumping_jacks import jumping_jacks
from corporeal.motions.sketch import Sketch

Author = Callable[[Sketch], tuple[Float[NumpyArray, "N J 3"], Float[NumpyArray, "N 3"]]]
"""Fills an empty sketch; gives back joint rotations and root translation."""

MOTIONS: Final[dict[str, Author]] = {
    "jumping-jacks": jumping_jacks,
}


def make_motion(
    name: str,
    identity: Identity,
    template: Template,
    *,
    seed: int = 0,
    fps: float = 60.0,
    duration: float = 4.0,
    a_pose: bool = False,
) -> Motion:
    """Author a motion for one body: its limb lengths decide where the feet and the pelvis are.

    `seed` draws tempo, size and style; `a_pose` starts it in an A-pose.
    """
    if name not in MOTIONS:
        raise InputError(f"no motion is called {name!r}; there are {', '.join(sorted(MOTIONS))}.")
    if not 1.0 <= fps <= 1000.0:
        raise InputError(f"motion asked at {fps} frames a second; expected 1 to 1000.")
    if not 2.0 <= duration <= 600.0:
        raise InputError(f"motion asked to last {duration} s; expected 2 to 600.")
    rest = template.skeleton
    skeleton = Skeleton(rest.names, rest.parents, np.asarray(identity.joints))
    sketch = Sketch.empty(skeleton, fps, duration, np.random.default_rng(seed), a_pose)
    rotations, translation = MOTIONS[name](sketch)
    return Motion(name, fps, rotations, translation, skeleton)
