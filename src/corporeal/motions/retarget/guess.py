"""A name map for a skeleton nobody has described: names say the limb, the tree says the order.

Rigs spell joints in a hundred ways (`mixamorig:LeftUpLeg`, `Bip01 L Thigh`, `thigh_l`,
`LeftHip`), and the same word means different joints (`LeftLeg` is a shank in one rig and a thigh in
another; `LeftShoulder` a collar bone or an upper arm). So words only sort the joints into limbs and
sides; within a limb the joints are counted from the trunk outwards.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.motions.retarget.name_maps import CMU, REQUIRED, SIDES, NameMap, body_map

_LEG: Final = ("thigh", "upleg", "upperleg", "leg", "hip", "knee", "shin", "calf", "crus", "ankle")
_FOOT: Final = ("foot", "toe", "ball")
_ARM: Final = (
    *("collar", "clavicle", "clav", "shoulder", "shldr", "upperarm", "forearm", "arm"),
    *("elbow", "wrist", "hand"),
)
_FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky", "little", "finger", "carpal")
_TRUNK: Final = ("spine", "chest", "back", "torso", "waist", "abdomen", "thorax", "belly")
_HIPS: Final = ("pelvis", "hips", "hip")
_IGNORED: Final = ("twist", "roll", "ik", "nub", "end", "site", "pole", "helper", "prop", "eye")
_JOINTS: Final = {"leg": ("hip", "knee", "ankle", "foot"), "arm": ("shoulder", "elbow", "wrist")}


def name_map_for(skeleton: Skeleton) -> NameMap:
    """The body's own names, the Carnegie Mellon names, or else a guess from the joint names."""
    if set(REQUIRED) <= set(skeleton.names):
        return body_map(skeleton)
    if set(CMU.joints.values()) | set(CMU.spine) | set(CMU.neck) <= set(skeleton.names):
        return CMU
    return guess_name_map(skeleton)


def guess_name_map(skeleton: Skeleton) -> NameMap:
    """Guess from names and tree; raises `InputError` where a leg cannot be found."""
    words = [_words(name) for name in skeleton.names]
    joints = {"pelvis": _pelvis(skeleton, words)}
    for side in SIDES:
        legs = _limb(skeleton, words, side, (*_LEG, *_FOOT))
        joints |= _named(side, _JOINTS["leg"], legs)
        arms = _limb(skeleton, words, side, _ARM)
        if len(arms) > len(_JOINTS["arm"]):
            joints[f"{side}_collar"], *arms = arms
        joints |= _named(side, _JOINTS["arm"], arms)
        joints |= _fingers(skeleton, words, side)
    if absent := [joint for joint in REQUIRED if joint not in joints]:
        raise InputError(
            f"cannot guess {', '.join(absent)} among the joints {', '.join(skeleton.names)}. Write "
            f"a name map (JSON) for this skeleton."
        )
    joints |= _head(skeleton, words)
    spine, neck = _trunk(skeleton, words, joints)
    return NameMap("guessed", joints, spine, neck)


def _words(name: str) -> tuple[str, ...]:
    """Lower-case words of a joint name, without a name space before it."""
    last = re.split(r"[:|]", name)[-1]
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", last)
    return tuple(re.findall(r"[a-z]+|\d+", spaced.lower()))


def _side(words: Sequence[str]) -> str | None:
    for side in SIDES:
        if any(word in (side, side[0]) for word in words) or words[0].startswith(side):
            return side
    # Such as `lThigh`, `rshoulder`: one letter before a known word.
    for word in words:
        for side in SIDES:
            if word[0] == side[0] and word[1:] in (*_LEG, *_FOOT, *_ARM):
                return side
    return None


def _has(words: Sequence[str], vocabulary: Sequence[str]) -> bool:
    return any(term in word for word in words for term in vocabulary)


def _is_ignored(words: Sequence[str]) -> bool:
    return not words or any(word in _IGNORED for word in words)


def _limb(
    skeleton: Skeleton, words: list[tuple[str, ...]], side: str, vocabulary: Sequence[str]
) -> list[str]:
    """Joints of one limb from the trunk outwards, helpers and joints without a bone left out."""
    found = [
        index
        for index, parts in enumerate(words)
        if index
        and not _is_ignored(parts)
        and _side(parts) == side
        and _has(parts, vocabulary)
        and not _has(parts, _FINGERS)
    ]
    chains = [[j for j in _ancestry(skeleton, tip) if j in found] for tip in found]
    if not chains:
        return []
    chain = max(chains, key=len)
    joints = np.asarray(skeleton.joints)
    kept = [
        joint
        for joint, following in zip(chain, [*chain[1:], None], strict=True)
        # A joint at the same place as the next is a helper, as are `LHipJoint` and its kind.
        if following is None or np.linalg.norm(joints[following] - joints[joint]) > 1e-6
    ]
    if set(vocabulary) & set(_FOOT):
        kept = _from_the_thigh(skeleton, kept)
    return [skeleton.names[joint] for joint in kept]


def _from_the_thigh(skeleton: Skeleton, chain: list[int]) -> list[int]:
    """A leg whose first bone is a short pelvis link starts one joint later."""
    joints = np.asarray(skeleton.joints)
    lengths = [float(np.linalg.norm(joints[b] - joints[a])) for a, b in pairwise(chain)]
    return chain[1:] if len(chain) > 3 and 2.0 * lengths[0] < lengths[1] else chain


def _ancestry(skeleton: Skeleton, joint: int) -> list[int]:
    """From the root down to `joint`."""
    line = [joint]
    while skeleton.parents[line[-1]] >= 0:
        line.append(skeleton.parents[line[-1]])
    return line[::-1]


def _named(side: str, body_joints: Sequence[str], chain: list[str]) -> dict[str, str]:
    return {f"{side}_{joint}": name for joint, name in zip(body_joints, chain, strict=False)}


def _fingers(skeleton: Skeleton, words: list[tuple[str, ...]], side: str) -> dict[str, str]:
    """Up to three joints a finger."""
    fingers: dict[str, str] = {}
    for finger in ("thumb", "index", "middle", "ring", "pinky"):
        terms = (finger, "little") if finger == "pinky" else (finger,)
        chain = [
            name
            for name, parts in zip(skeleton.names, words, strict=True)
            if _side(parts) == side
            and _has(parts, terms)
            and not _is_ignored(parts)
            and not _has(parts, ("carpal",))
            and "in" not in parts  # `LeftInHandIndex`: a bone within the palm
        ]
        for knuckle, name in enumerate(chain[:3], start=1):
            fingers[f"{side}_{finger}{knuckle}"] = name
    return fingers


def _pelvis(skeleton: Skeleton, words: list[tuple[str, ...]]) -> str:
    """The joint where both legs part: the last common ancestor of everything leg-like.

    Or a joint above it that is called the pelvis: a biped of 3ds Max has its thighs on the spine.
    """
    legs = [j for j, parts in enumerate(words) if parts and _side(parts) and _has(parts, _FOOT)]
    if not legs:
        return skeleton.names[0]
    common = _ancestry(skeleton, legs[0])
    for joint in legs[1:]:
        line = _ancestry(skeleton, joint)
        common = [j for j in common if j in line]
    named = [j for j in common if any(word in _HIPS for word in words[j])]
    return skeleton.names[named[-1] if named else common[-1]]


def _head(skeleton: Skeleton, words: list[tuple[str, ...]]) -> dict[str, str]:
    for name, parts in zip(skeleton.names, words, strict=True):
        if "head" in parts and not _is_ignored(parts):
            return {"head": name}
    return {}


def _trunk(
    skeleton: Skeleton, words: list[tuple[str, ...]], joints: dict[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Spine and neck: what lies between the pelvis and the head, split where the arms leave."""
    top = joints.get("head")
    arm = joints.get("left_collar", joints.get("left_shoulder"))
    pelvis = skeleton.index(joints["pelvis"])
    if top is None and arm is None:
        spine = [n for n, p in zip(skeleton.names, words, strict=True) if _has(p, _TRUNK)]
        return tuple(spine), ()
    tip = skeleton.index(top if top is not None else arm or "")
    line = _ancestry(skeleton, tip)[:-1]
    line = line[line.index(pelvis) + 1 :] if pelvis in line else line
    if arm is None:
        neck = [j for j in line if _has(words[j], ("neck",))]
    else:
        neck = [j for j in line if j not in _ancestry(skeleton, skeleton.index(arm))]
    # Arms may leave at the neck, as in bipeds of 3ds Max: it is none of the spine for that.
    neck = [j for j in line if j in neck or _has(words[j], ("neck",))]
    spine = [j for j in line if j not in neck]
    return tuple(skeleton.names[j] for j in spine), tuple(skeleton.names[j] for j in neck)
