"""How good a retargeted motion is: sliding, ground penetration, flips."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.geometry.rotations import geodesic_angle, matrix_from_axis_angle
from corporeal.motions.derivatives import world_frames
from corporeal.motions.retarget.contacts import is_planted, runs, source_feet
from corporeal.motions.retarget.name_maps import SIDES
from corporeal.motions.retarget.planting import FootPath
from corporeal.motions.retarget.retarget import Retargeted


@dataclass(frozen=True)
class Slide:
    """A stretch over which the foreign foot is planted, and how far the body's foot moves in it."""

    joint: str
    first: int
    last: int
    """Frames, both included."""
    distance: float
    """Between the two farthest places of the joint on the ground, metres."""


@dataclass(frozen=True)
class Spike:
    """A joint that turns much faster than the joint it follows."""

    joint: str
    frame: int
    speed: float
    """rad/s."""
    source_speed: float
    """Fastest turn of the foreign joint within three frames, rad/s."""


def planted_slides(source: Motion, result: Retargeted) -> list[Slide]:
    """Every stretch in which a foreign ankle or ball is under 0.1 m/s and 5 cm."""
    feet = source_feet(source, result.names)
    places = world_frames(result.motion)[..., :3, 3]
    slides = []
    for side, ankle, ball, rise, foot in zip(
        SIDES, feet.ankles, feet.balls, feet.ankle_rise, result.feet, strict=True
    ):
        for name, point, level, joint in (
            (f"{side}_ankle", ankle, feet.ground + rise, foot.ankle),
            (f"{side}_foot", ball, feet.ground, foot.ball),
        ):
            for first, last in runs(is_planted(point, level, source.fps)):
                track = places[first:last, joint][:, [0, 2]]
                slides.append(Slide(name, first, last - 1, _diameter(track)))
    return slides


def ground_penetration(result: Retargeted) -> float:
    """How deep the feet are in the ground at worst, metres; 0 if nowhere."""
    frames = world_frames(result.motion)
    depth = 0.0
    for foot in result.feet:
        path = FootPath(
            frames[:, foot.ankle, :3, 3],
            frames[:, foot.ankle, :3, :3],
            frames[:, foot.ball, :3, :3],
        )
        depth = max(depth, -float(path.lowest(foot).min()))
    return depth


def spikes(source: Motion, result: Retargeted, *, above: float = 15.0) -> list[Spike]:
    """Joints that turn faster than `above` rad/s and twice as fast as the foreign joint does."""
    ours, theirs = turning_speed(result.motion), turning_speed(source)
    reach = 3
    found = []
    for name, foreign in result.names.joints.items():
        if name not in result.motion.skeleton.names:
            continue
        speed = ours[:, result.motion.skeleton.index(name)]
        base = np.pad(theirs[:, source.skeleton.index(foreign)], reach, mode="edge")
        allowed = np.lib.stride_tricks.sliding_window_view(base, 2 * reach + 1).max(axis=1)
        for first, last in runs((speed > above) & (speed > 2 * allowed)):
            frame = first + int(speed[first:last].argmax())
            found.append(Spike(name, frame, float(speed[frame]), float(allowed[frame])))
    return found


def turning_speed(motion: Motion) -> Float[NumpyArray, "M J"]:
    """How fast every joint turns in its parent from each frame to the next, rad/s."""
    rotations = matrix_from_axis_angle(np.asarray(motion.joint_rotations, np.float64))
    return geodesic_angle(rotations[:-1], rotations[1:]) * motion.fps


def _diameter(points: Float[NumpyArray, "n 2"]) -> float:
    """Greatest distance between two points."""
    widest = 0.0
    for point in points:
        widest = max(widest, float(np.linalg.norm(points - point, axis=-1).max()))
    return widest
