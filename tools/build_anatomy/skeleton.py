"""The whole skeleton into a body in the T-pose: trunk first, then outwards along the limbs.

Left bones are placed and mirrored: body and source are symmetric. Vertebrae between the pelvis and
the ribs, and between the ribs and the skull, go over from one placement to the other.
"""

from dataclasses import dataclass

import numpy as np
from placement import IDENTITY, Anchor, Freedom, aligned, between, place
from scipy.spatial.transform import Rotation
from source import Bones

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.building.affine import Affine
from corporeal.geometry.surface_tree import SurfaceTree

RIBCAGE = "torso_geom_13_ribcage_s"
LUMBAR = tuple(f"lumbar{k}_geom_1_lumbar{k}" for k in (5, 4, 3, 2, 1))
FINGERS = {"2": "index", "3": "middle", "4": "ring", "5": "pinky"}
METACARPALS = {"2": "secondmc", "3": "thirdmc", "4": "fourthmc", "5": "fifthmc"}
SLENDER = 0.75
"""Scale of finger bones across themselves."""
CARPALS = ("lunate_l", "scaphoid_l", "pisiform_l", "triquetrum_l", "capitate_l", "trapezium_l")
CARPALS += ("trapezoid_l", "hamate_l")


@dataclass(frozen=True)
class Body:
    """Where the skeleton goes."""

    skin: SurfaceTree
    joints: dict[str, Float64[NumpyArray, "3"]]
    """The rig's joint centres by name, metres; hips, knees and elbows are anatomical ones."""
    trunk: float
    """Expected scale of pelvis and ribs against the source."""
    head: float
    """Expected scale of the skull."""


def place_skeleton(bones: Bones, body: Body) -> dict[str, Affine]:
    """A placement for every bone, by name."""
    placed = _trunk(bones, body)
    left = _leg(bones, body) | _arm(bones, body, placed[RIBCAGE])
    for name, affine in left.items():
        placed[name] = affine
        placed[_other_side(name)] = affine.mirrored()
    return {name: placed[name] for name in bones.names}


def _other_side(name: str) -> str:
    return "r_" + name[2:] if name.startswith("l_") else name[:-2] + "_r"


def _trunk(bones: Bones, body: Body) -> dict[str, Affine]:
    hip, target = bones.joints["femur_l"], body.joints["left_hip"]
    mirror = np.array([-1.0, 1.0, 1.0])
    s = body.trunk
    pelvis = place(
        bones.points("l_pelvis", "r_pelvis", "sacrum_geom_1_sacrum"),
        [Anchor(hip, target, 0.004), Anchor(hip * mirror, target * mirror, 0.004)],
        body.skin,
        Freedom((target[0] / hip[0], s, s), turn=(0.2, 1, 1), margin=0.006, midline=True),
    )
    thoracic = tuple(name for name in bones.names if name.startswith("torso_"))
    notch, collar = bones.joints["clavicle_l"] * [0, 1, 1], body.joints["left_collar"] * [0, 1, 1]
    ribs = place(
        bones.points(*thoracic),
        [Anchor(notch, collar + np.array([0, 0, 0.02]), 0.01)],
        body.skin,
        Freedom((s, s, s), turn=(0.25, 1, 1), margin=0.009, midline=True),
    )
    skull = _skull(bones, body)
    placed = dict.fromkeys(("l_pelvis", "r_pelvis", "sacrum_geom_1_sacrum"), pelvis)
    placed |= {name: _settled(bones.points(name), body, ribs) for name in thoracic}
    placed |= {RIBCAGE: ribs, "hat_skull": skull, "hat_jaw": skull}
    placed["hat_cervical"] = _settled(bones.points("hat_cervical"), body, _neck(bones, ribs, skull))
    low, high = bones.joints["lumbar5"][1], bones.points("torso_geom_1_thoracic12_s")[:, 1].mean()
    for name in LUMBAR:
        share = (bones.points(name)[:, 1].mean() - low) / (high - low)
        placed[name] = _settled(bones.points(name), body, between(pelvis, ribs, float(share)))
    return placed


def _settled(points: Float64[NumpyArray, "n 3"], body: Body, first: Affine) -> Affine:
    """`first`, and then as far inside the skin as vertebrae lie."""
    near = Anchor(first(points).mean(axis=0), first(points).mean(axis=0), 0.02)
    inside = Freedom(scale_spread=0.02, turn=(0.05, 1, 1), margin=0.008, midline=True)
    return place(first(points), [near], body.skin, inside).after(first)


def _skull(bones: Bones, body: Body) -> Affine:
    """Skull and jaw as one: crown beneath the crown, teeth behind the mouth, braincase inside."""
    points = bones.points("hat_skull")
    cranium = points[points[:, 1] > np.median(points[:, 1])]  # above the cavities of the skin
    head = body.skin.vertices[body.skin.vertices[:, 1] > body.joints["head"][1]]
    high = np.array([0.0, head[:, 1].max() - 0.008, 0.0])
    front = np.array([0.0, body.joints["head"][1], head[:, 2].max() - 0.035])
    crown = points[points[:, 1].argmax()] * [0, 1, 0]
    teeth = bones.points("hat_jaw")
    teeth = teeth[teeth[:, 2].argmax()] * [0, 1, 1]
    high[2] = front[2] - teeth[2]
    return place(
        cranium,
        [Anchor(teeth, front, 0.012), Anchor(crown, high, 0.012)],
        body.skin,
        Freedom((body.head,) * 3, turn=(0.1, 1, 1), margin=0.005, midline=True),
    )


def _neck(bones: Bones, ribs: Affine, skull: Affine) -> Affine:
    """The cervical spine between its two neighbours, carried by its ends."""
    column = bones.points("hat_cervical")
    ends = []
    for height in (column[:, 1].min(), column[:, 1].max()):
        near = column[np.abs(column[:, 1] - height) < 0.02].mean(axis=0)
        ends.append(np.array([0.0, height, near[2]]))
    return aligned((ends[0], ends[1]), (ribs(ends[0]), skull(ends[1])), 0.9)


def _leg(bones: Bones, body: Body) -> dict[str, Affine]:
    source, target = bones.joints, body.joints
    hip, knee, ankle, ball = (source[n] for n in ("femur_l", "tibia_l", "talus_l", "toes_l"))
    thigh = _limb(
        bones.points("l_femur"),
        (hip, knee),
        (target["left_hip"], target["left_knee"]),
        body,
        Freedom(turn=(0.1, 0.1, 0.1), margin=0.007),
    )
    shin = _limb(
        bones.points("l_tibia", "l_fibula"),
        (knee, ankle),
        (target["left_knee"], target["left_ankle"]),
        body,
        Freedom(turn=(0.1, 0.1, 0.1), margin=0.004),
    )
    foot = place(
        bones.points("l_talus", "l_foot"),
        [
            Anchor(ankle, target["left_ankle"], 0.005),
            Anchor(ball, target["left_foot"], 0.01),
        ],
        body.skin,
        Freedom(turn=(0.3, 0.3, 0.3), scale=(0.95, 0.95, 0.95), margin=0.004),
    )
    toes = place(
        bones.points("l_bofoot"),
        [Anchor(ball, foot(ball), 0.002)],
        body.skin,
        Freedom(scale=(0.9, 0.9, 0.9), margin=0.002),
    )
    return {
        "l_femur": thigh,
        "l_patella": _patella(bones, body, thigh),
        "l_tibia": shin,
        "l_fibula": shin,
        "l_talus": foot,
        "l_foot": foot,
        "l_bofoot": toes,
    }


def _patella(bones: Bones, body: Body, thigh: Affine) -> Affine:
    cap = bones.points("l_patella")
    first = Affine(thigh.matrix, thigh.shift)
    middle = cap.mean(axis=0)
    small = place(
        first(cap), [Anchor(first(middle), first(middle), 0.01)], body.skin, Freedom(margin=0.005)
    )
    return small.after(first)


def _limb(
    points: Float64[NumpyArray, "n 3"],
    source: tuple[NumpyArray, NumpyArray],
    target: tuple[NumpyArray, NumpyArray],
    body: Body,
    freedom: Freedom,
    first: Affine = IDENTITY,
) -> Affine:
    """Turn a long bone onto its two joints, stretch it along itself alone, then keep it inside."""
    start, end = first(source[0]), first(source[1])
    ratio = np.linalg.norm(target[1] - target[0]) / np.linalg.norm(end - start)
    width = np.clip(0.5 * (ratio - 1) + 1, 0.85, 1.05)  # thickness follows length, damped
    first = aligned((start, end), target, float(width)).after(first)
    anchors = [Anchor(first(s), t, 0.005) for s, t in zip(source, target, strict=True)]
    return place(first(points), anchors, body.skin, freedom).after(first)


def _arm(bones: Bones, body: Body, ribs: Affine) -> dict[str, Affine]:
    source, target = bones.joints, body.joints
    shoulder = source["humerus_l"]
    lift = _turned(shoulder, 90.0)
    elbow = (source["ulna_l"] + source["radius_l"]) / 2
    wrist = source["lunate_l"]
    slim = Freedom(turn=(0.1, 0.1, 0.1), margin=0.004)
    upper = _limb(
        bones.points("humerus_l"),
        (shoulder, elbow),
        (target["left_shoulder"], target["left_elbow"]),
        body,
        slim,
        lift,
    )
    lower = _limb(
        bones.points("ulna_l", "radius_l"),
        (elbow, wrist),
        (target["left_elbow"], target["left_wrist"]),
        body,
        slim,
        lift,
    )
    girdle = _girdle(bones, body, ribs)
    arm = {"humerus_l": upper, "ulna_l": lower, "radius_l": lower}
    return girdle | arm | _hand(bones, body, lift)


def _turned(centre: Float64[NumpyArray, "3"], degrees: float) -> Affine:
    """A turn about a line through `centre` to the front: positive lifts the left arm."""
    turn = Rotation.from_rotvec([0.0, 0.0, np.radians(degrees)]).as_matrix()
    return Affine(turn, centre - turn @ centre)


def _girdle(bones: Bones, body: Body, ribs: Affine) -> dict[str, Affine]:
    """Collarbone from breastbone to shoulder; shoulder blade turned up with the arm."""
    source, shoulder = bones.joints, body.joints["left_shoulder"]
    inner, outer = source["clavicle_l"], source["scapula_l"]
    socket = source["humerus_l"]
    blade = _turned(socket, 35.0)
    reach = blade(outer) - socket
    scapula = place(
        blade(bones.points("scapula_l")),
        [Anchor(socket, shoulder, 0.006)],
        body.skin,
        Freedom((body.trunk,) * 3, turn=(0.25, 0.25, 0.25), margin=0.006),
    )
    top = scapula(socket + reach)
    collar = _limb(
        bones.points("clavicle_l"), (inner, outer), (ribs(inner), top), body, Freedom(margin=0.006)
    )
    return {"clavicle_l": collar, "scapula_l": scapula.after(blade)}


def _hand(bones: Bones, body: Body, lift: Affine) -> dict[str, Affine]:
    """Carpals with the palm, every finger bone onto its own two joints."""
    source, target = bones.joints, body.joints
    wrist = 0.8 * target["left_wrist"] + 0.2 * target["left_middle1"]  # the lunate bone
    palm = aligned(
        (lift(source["lunate_l"]), lift(source["3proxph_l"])), (wrist, target["left_middle1"]), 0.85
    ).after(lift)
    hand = dict.fromkeys(CARPALS, palm)
    for number, finger in FINGERS.items():
        knots = [target[f"left_{finger}{k}"] for k in (1, 2, 3)]
        knots.append(knots[2] + 0.8 * (knots[2] - knots[1]))
        ends = [source[f"{number}{part}ph_l"] for part in ("prox", "mid", "dist")]
        ends.append(ends[2] + 0.8 * (ends[2] - ends[1]))
        base = source["lunate_l"]
        hand[f"{number}mc_l"] = _bone(lift, (base, ends[0]), (wrist, knots[0]))
        for k, part in enumerate(("prox", "mid", "dist")):
            hand[f"{number}{part}ph_l"] = _bone(
                lift, (ends[k], ends[k + 1]), (knots[k], knots[k + 1])
            )
    thumb = [target[f"left_thumb{k}"] for k in (1, 2, 3)]
    thumb.append(thumb[2] + 0.8 * (thumb[2] - thumb[1]))
    ends = [source[n] for n in ("firstmc_l", "proximal_thumb_l", "distal_thumb_l")]
    ends.append(ends[2] + 0.8 * (ends[2] - ends[1]))
    for k, name in enumerate(("1mc_l", "thumbprox_l", "thumbdist_l")):
        hand[name] = _bone(lift, (ends[k], ends[k + 1]), (thumb[k], thumb[k + 1]))
    return hand


def _bone(
    lift: Affine, source: tuple[NumpyArray, NumpyArray], target: tuple[NumpyArray, NumpyArray]
) -> Affine:
    return aligned((lift(source[0]), lift(source[1])), target, SLENDER).after(lift)
