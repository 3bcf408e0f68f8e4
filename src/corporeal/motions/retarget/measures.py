"""How good a retargeted motion is: sliding, ground penetration, flips."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.motions.derivatives import turning_speed, world_frames
from corporeal.motions.retarget.contacts import is_planted, runs, source_feet
from corporeal.motions.retarget.name_maps import SIDES
from corporeal.motions.retarget.planting import FootPath
from corporeal.motions.retarget.retarget import Retargeted


@dataclass(frozen=True)
class Slide:
    """A stretch over which the foreign foot is planted, and how far the body's foot moves in it."""

    joint: str
    """Name of the body's joint."""
    first: int
    """First frame."""
    last: int
    """Frames, both included."""
    distance: float
    """Between the two farthest places of the joint on the ground, metres."""


@dataclass(frozen=True)
class Spike:
    """A joint that turns much faster than anything in the limb it follows."""

    joint: str
    """Name of the body's joint."""
    frame: int
    """Number of the frame."""
    speed: float
    """rad/s."""
    source_speed: float
    """Fastest turn of any joint of the same foreign limb within three frames, rad/s."""


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
    """Joints that turn faster than `above` rad/s and twice as fast as any of the foreign limb."""
    ours, theirs = turning_speed(result.motion), turning_speed(source)
    reach = 3
    found = []
    for name in result.names.joints:
        if name not in result.motion.skeleton.names:
            continue
        speed = ours[:, result.motion.skeleton.index(name)]
        limb = [source.skeleton.index(joint) for joint in _limb(result, name)]
        base = np.pad(theirs[:, limb].max(axis=1), reach, mode="edge")
        allowed = np.lib.stride_tricks.sliding_window_view(base, 2 * reach + 1).max(axis=1)
        for first, last in runs((speed > above) & (speed > 2 * allowed)):
            frame = first + int(speed[first:last].argmax())
            found.append(Spike(name, frame, float(speed[frame]), float(allowed[frame])))
    return found


def _limb(result: Retargeted, joint: str) -> list[str]:
    """Foreign joints of the leg, arm or trunk to which a joint of the body belongs."""
    legs, arms = ("hip", "knee", "ankle", "foot"), ("collar", "shoulder", "elbow", "wrist")
    side, _, part = joint.partition("_")
    group = legs if part in legs else arms
    names = [f"{side}_{name}" for name in group] if part else [joint]
    return [result.names.joints[name] for name in {*names, joint} if name in result.names.joints]


def _diameter(points: Float[NumpyArray, "n 2"]) -> float:
    """Greatest distance between two points."""
    widest = 0.0
    for point in points:
        widest = max(widest, float(np.linalg.norm(points - point, axis=-1).max()))
    return widest
