"""Cuts of a motion: where from one frame to the next a body moves faster than any body does.

A camera cut, a teleport, a game's respawn or two takes joined end to end put the skeleton somewhere
else at once. Nothing flung it there, so flesh must not be flung either: it goes with the skeleton.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.geometry.rotations import geodesic_angle

FASTEST_TRAVEL: Final = 14.0
"""Of the root, m/s, if its velocity also changes by more than this from or to the frames beside: a
sprinter reaches 12.4 (Graubner and Nixdorf 2011), while trains and falls go faster steadily."""
FASTEST_SPIN: Final = 45.0
"""Of the root, rad/s; a figure skater's record is 36 (342 turns a minute, Guinness 2015)."""
FASTEST_LIMB: Final = 40.0
"""Of a joint as seen from the root, m/s for a person: a karate fist reaches 14 (Feld et al.
1979), and a ball that a pitcher lets go, faster than the hand, 40."""
FASTEST_TURN: Final = 175.0
"""Of a joint in its parent, rad/s; a pitcher's humerus turns at 126 ± 19 (Fleisig et al. 1999)."""
SAME_POSE: Final = 10.0
"""Of a joint as seen from the root, m/s for a person: where the root jumps and nothing else is
faster, the pose has gone on."""
SAME_TILT: Final = 0.2
"""Radians by which gravity may turn, seen from a root that jumps, while flesh hangs alike."""
_ARM: Final = 1.0
"""Metres from a person's root to the farthest joint; larger creatures are as much faster."""


@dataclass(frozen=True)
class Cut:
    """A jump from one frame to the next."""

    frame: int
    """The first frame after it."""
    speed: float
    """How fast it would have been, in `unit`."""
    unit: Literal["m/s", "rad/s"]
    """Of the speed: of a way, or of a turn."""
    joint: int
    """What jumped the farthest beyond its limit; 0 is the root."""
    pose_goes_on: bool
    """Whether the root alone jumped: seen from it, joints and gravity are where they were."""

    def words(self, names: Sequence[str]) -> str:
        """What happened and what became of flesh, for a note; `names` of the joints."""
        what = "the root" if self.joint == 0 else names[self.joint]
        flesh = "goes with it" if self.pose_goes_on else "starts anew in balance"
        speed = f"{self.speed:.0f}" if self.speed >= 100.0 else f"{self.speed:.3g}"
        return f"cut at frame {self.frame}: {what} jumps at {speed} {self.unit}; flesh {flesh}"


def find_cuts(
    world_from_joint: Float64[NumpyArray, "N J 4 4"],
    fps: float,
    parents: Sequence[int],
    reach: float,
    root_velocity: Float64[NumpyArray, "3"] | None = None,
) -> tuple[Cut, ...]:
    """The cuts among frames at `fps` a second, in order.

    `reach` is the distance from the root to the farthest joint at rest, metres; `root_velocity`
    (m/s) how the root came to the first frame, where that is known.
    """
    if len(world_from_joint) < 2:
        return ()
    size = max(1.0, reach / _ARM)
    travel, abrupt = _travel(world_from_joint[:, 0, :3, 3], fps, root_velocity)
    limb, turn = _limb_speeds(world_from_joint, fps), _turn_speeds(world_from_joint, fps, parents)
    spin, tilt = turn[:, 0], _tilts(world_from_joint[:, 0, :3, :3])
    # How many times its limit everything is: N − 1 intervals × what can jump.
    excess = np.concatenate(
        [
            (np.where(abrupt, travel, 0.0) / FASTEST_TRAVEL)[:, None],
            (spin / FASTEST_SPIN)[:, None],
            limb / (size * FASTEST_LIMB),
            turn[:, 1:] / FASTEST_TURN,
        ],
        axis=1,
    )
    speeds = np.concatenate([travel[:, None], spin[:, None], limb, turn[:, 1:]], axis=1)
    count = limb.shape[1]
    joints = np.concatenate([[0, 0], np.arange(count), np.arange(1, count)])
    is_way = np.concatenate([[True, False], np.ones(count, bool), np.zeros(count - 1, bool)])
    goes_on = (
        (limb.max(axis=1) <= size * SAME_POSE)
        & (turn[:, 1:].max(axis=1, initial=0.0) <= FASTEST_TURN)
        & (tilt <= SAME_TILT)
    )
    cuts = []
    for interval in np.flatnonzero(excess.max(axis=1) > 1.0):
        most = int(excess[interval].argmax())
        unit = "m/s" if is_way[most] else "rad/s"
        speed, joint = float(speeds[interval, most]), int(joints[most])
        cuts.append(Cut(int(interval) + 1, speed, unit, joint, bool(goes_on[interval])))
    return tuple(cuts)


def _travel(
    root: Float64[NumpyArray, "N 3"], fps: float, before: Float64[NumpyArray, "3"] | None
) -> tuple[NumpyArray, NumpyArray]:
    """Speed of the root in every interval, m/s, and whether its velocity changes abruptly there."""
    velocity = fps * np.diff(root, axis=0)
    speed = np.linalg.norm(velocity, axis=1)
    if before is None and len(velocity) == 1:
        return speed, np.ones(1, bool)
    earlier = velocity[:1] if before is None else before[None]
    beside = np.concatenate([earlier, velocity, velocity[-1:]])
    change = np.linalg.norm(np.diff(beside, axis=0), axis=1)
    return speed, np.maximum(change[:-1], change[1:]) > FASTEST_TRAVEL


def _limb_speeds(world: Float64[NumpyArray, "N J 4 4"], fps: float) -> Float64[NumpyArray, "n J"]:
    """Of the joints as seen from the root, m/s."""
    offset = world[..., :3, 3] - world[:, :1, :3, 3]
    # Σ_a R_ac (x_j − x_0)_a
    seen = np.einsum("nac,nja->njc", world[:, 0, :3, :3], offset)
    return fps * np.linalg.norm(np.diff(seen, axis=0), axis=-1)


def _turn_speeds(
    world: Float64[NumpyArray, "N J 4 4"], fps: float, parents: Sequence[int]
) -> Float64[NumpyArray, "n J"]:
    """Of the joints in their parents, and of the root in the world, rad/s."""
    rotations = world[..., :3, :3]
    above = rotations[:, np.maximum(np.asarray(parents, np.int64), 0)].copy()
    above[:, 0] = np.eye(3)
    local = np.swapaxes(above, -1, -2) @ rotations
    return fps * np.asarray(geodesic_angle(local[:-1], local[1:]), np.float64)


def _tilts(root: Float64[NumpyArray, "N 3 3"]) -> Float64[NumpyArray, "n"]:
    """Angle between the directions of gravity before and after, seen from the root, radians."""
    down = root[:, 1, :]
    return np.arccos(np.clip(np.sum(down[:-1] * down[1:], axis=1), -1.0, 1.0))
