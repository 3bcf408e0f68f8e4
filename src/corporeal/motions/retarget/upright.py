"""Which way is up in a foreign motion: nothing in a capture file says it, the body does.

Two things tell, over the whole clip:

- a body that stands has shanks, thighs and trunk above each other along one axis;
- a body on the floor has a floor: along the upward axis its lowest joint stays at one height, and
  that joint is a foot, a knee or a hand. Along other axes it travels, or it is a back or a head.

If the first is not clear (crawling, lying, rolling), the second decides, together with the axis
along which the rig itself stands at rest. What stays in doubt is refused.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.motions.derivatives import world_frames
from corporeal.motions.retarget.name_maps import SIDES, NameMap

AXES: Final = ("+x", "+y", "+z", "-x", "-y", "-z")
_FRAMES: Final = 400
"""As many frames, spread over the clip, tell the axis."""
_ALONG: Final = 0.5
"""Mean cosine from which on a limb counts as along an axis."""
_CLEAR: Final = 0.15
"""By how much the best axis must beat the next."""
_STEADY: Final = 0.2
"""Share of the leg by which the lowest joint's height may vary over a floor."""
_SUPPORTED: Final = 0.7
"""Share of the frames in which the lowest joint must be one that bodies stand or crawl on."""


@dataclass(frozen=True)
class Upright:
    """The axis that is up, and how it was told."""

    axis: str
    """Such as `+y`."""
    because: str
    """In words."""


def find_up(motion: Motion, names: NameMap) -> Upright:
    """The upward axis of a motion of a human skeleton; raises `InputError` if it stays in doubt."""
    step = max(motion.frame_count // _FRAMES, 1)
    places = world_frames(motion)[::step, :, :3, 3]
    along = _standing(places, motion.skeleton, names)
    best, next_best = np.argsort(along)[::-1][:2]
    if along[best] > _ALONG and along[best] > along[next_best] + _CLEAR:
        return Upright(AXES[best], "legs and trunk stand along it")
    floors = [axis for axis in range(6) if _is_floor(places, motion.skeleton, names, axis)]
    rest = np.asarray(motion.skeleton.joints, np.float64)[None]
    resting = _standing(rest, motion.skeleton, names)
    rig = int(np.argmax(resting)) if resting.max() > _ALONG else None
    if rig is not None and rig in floors:
        return Upright(
            AXES[rig], "the body stays on a floor across it, and the rig stands along it"
        )
    usual = [axis for axis in floors if AXES[axis] in ("+y", "+z")]
    if len(usual) == 1:
        return Upright(AXES[usual[0]], "the body stays on a floor across it")
    seen = f"floors across {', '.join(AXES[axis] for axis in floors)}" if floors else "no floor"
    raise InputError(
        f"which way is up in {motion.name!r} is in doubt: it never stands, and has {seen}; "
        f"expected one. Say it, such as --up +y or --up +z."
    )


def height_along(axis: str) -> Float[NumpyArray, "3"]:
    """Unit vector of an axis of `AXES`."""
    index = AXES.index(axis)
    return (1.0 if index < 3 else -1.0) * np.eye(3)[index % 3]


def top_of(names: NameMap) -> str:
    """The highest joint that a map names: head, else the end of neck or spine, else the pelvis."""
    if "head" in names.joints:
        return names.joints["head"]
    return (*names.spine[-1:], *names.neck[-1:])[-1] if names.spine else names.joints["pelvis"]


def _standing(
    places: Float[NumpyArray, "N J 3"], skeleton: Skeleton, names: NameMap
) -> Float[NumpyArray, "6"]:
    """Mean cosine of shanks, thighs and trunk with every axis, the least of the three."""

    def joint(body_joint: str) -> Float[NumpyArray, "N 3"]:
        return places[:, skeleton.index(names.joints[body_joint])]

    hips = np.mean([joint(f"{side}_hip") for side in SIDES], axis=0)
    parts = [places[:, skeleton.index(top_of(names))] - hips]
    for upper, lower in (("hip", "knee"), ("knee", "ankle")):
        bones = [_unit(joint(f"{s}_{upper}") - joint(f"{s}_{lower}")) for s in SIDES]
        parts.append(np.mean(bones, axis=0))
    means = np.stack([_unit(part).mean(axis=0) for part in parts])
    if names.joints["pelvis"] == top_of(names):
        means = means[1:]
    return np.concatenate([means, -means], axis=1).min(axis=0)


def _is_floor(
    places: Float[NumpyArray, "N J 3"], skeleton: Skeleton, names: NameMap, axis: int
) -> bool:
    """Whether the body stays on one plane across an axis, with feet, knees or hands."""
    heights = places @ height_along(AXES[axis])
    lowest = heights.min(axis=1)
    low, high = np.quantile(lowest, [0.05, 0.75])
    legs = [skeleton.index(names.joints[f"{s}_{j}"]) for s in SIDES for j in ("hip", "knee")]
    rest = np.asarray(skeleton.joints, np.float64)[legs]
    leg = float(np.linalg.norm(rest[1] - rest[0]) + np.linalg.norm(rest[3] - rest[2]))
    if high - low > _STEADY * leg:
        return False
    trunk = {names.joints["pelvis"], *names.spine, *names.neck, names.joints.get("head", "")}
    trunk |= {
        names.joints.get(f"{s}_{j}", "") for s in SIDES for j in ("hip", "collar", "shoulder")
    }
    extremes = {j for j, name in enumerate(skeleton.names) if name not in trunk}
    supported = [int(j) in extremes for j in heights.argmin(axis=1)]
    return float(np.mean(supported)) >= _SUPPORTED


def _unit(vectors: Float[NumpyArray, "N 3"]) -> Float[NumpyArray, "N 3"]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
