"""Movements in which gravity pulls another way: lying and upside down, held by nothing.

The whole movement is turned about where its root begins. Bones carry the body, so that nothing
else holds it up: what changes is where flesh hangs.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle

_QUARTER: Final = np.pi / 2
TURNS: Final[dict[str, tuple[float, float, float]]] = {
    "supine": (-_QUARTER, 0.0, 0.0),
    "prone": (_QUARTER, 0.0, 0.0),
    "left-side": (0.0, 0.0, _QUARTER),
    "right-side": (0.0, 0.0, -_QUARTER),
    "inverted": (0.0, 0.0, np.pi),
}
"""How the body lies → axis-angle of the turn from standing, radians; y is up, it faces +z."""


def drawn_turn(seed: int, share: float) -> str | None:
    """One of the turns, or None for standing; `share` of all seeds are turned."""
    random = np.random.default_rng([seed, 0x7475726E])
    chosen = random.uniform() < share
    return tuple(TURNS)[random.integers(len(TURNS))] if chosen else None


def turned(motion: Motion, how: str) -> Motion:
    """The same movement of a body that lies, or is upside down."""
    if how not in TURNS:
        raise InputError(f"no turn is called {how!r}; expected one of {', '.join(TURNS)}.")
    turn = np.asarray(matrix_from_axis_angle(np.array(TURNS[how])))
    rotations = np.array(motion.joint_rotations, np.float64)
    roots = np.asarray(matrix_from_axis_angle(rotations[:, 0]))
    rotations[:, 0] = _unbroken(np.asarray(axis_angle_from_matrix(turn @ roots)))
    way = np.asarray(motion.root_translation, np.float64)
    return replace(
        motion, joint_rotations=rotations, root_translation=way[0] + (way - way[0]) @ turn.T
    )


def _unbroken(turns: Float64[NumpyArray, "N 3"]) -> Float64[NumpyArray, "N 3"]:
    """The same turns, each told by whichever of its two vectors is nearer to the one before: at
    half a turn an axis-angle vector changes its sign."""
    found = turns.copy()
    for frame in range(1, len(found)):
        angle = np.linalg.norm(found[frame])
        if angle > 0:
            other = found[frame] * (1.0 - 2.0 * np.pi / angle)
            gaps = [np.linalg.norm(v - found[frame - 1]) for v in (found[frame], other)]
            if gaps[1] < gaps[0]:
                found[frame] = other
    return found
