"""Fields of the proportion targets: what people vary in and the sculptors' targets do not steer.

Every field is a smooth displacement of the average adult's skin in the T-pose, metres at
coefficient 1, symmetric and usable with either sign. Where a limb moves, its joints move with it.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from adiposity_fields import Anatomy, Fields, profile, ramp, symmetric
from leanness_fields import belly_apron, gauntness
from surface_smoothing import plate_smoother

from corporeal.anthropometry import landmarks as at
from corporeal.anthropometry.kinds import Landmark, vertex
from corporeal.assets.default_body import DefaultBody

SEAM: Final = 0.02
"""Fields are smoothed over this length, metres."""
ARM: Final = ("shoulder", "elbow", "wrist", "index", "middle", "ring", "pinky", "thumb")
FINGERS: Final = ("index", "middle", "ring", "pinky")
CARRIED: Final = {"shoulder-height": ARM, "palm-breadth": FINGERS, "ball-breadth": ("foot",)}
"""Joints that go along with a field; all other fields change flesh alone."""
HEAD_SHARE: Final = 0.08
"""Widening of the head, front to back and sideways."""
SHOULDER_RISE: Final = 0.03
"""How far shoulders and arms go up, metres."""
SHOULDER_CENTRE: Final = (0.0, 0.02, 0.0)
"""Displacement of the shoulder joint alone, metres."""
DELTOID_THICKNESS: Final = ((-0.35, 0.0), (0.0, 0.015), (0.25, 0.030), (0.5, 0.015), (0.9, 0.0))
"""Added radius, metres, along the upper arm: 0 shoulder, 1 elbow."""
THORAX_SHARE: Final = 0.12
"""Deepening of the thorax above the breast."""
PALM_SHARE: Final = 0.14
"""Widening of the palm."""
BALL_STEP: Final = 0.008
"""How far either side of the ball of the foot comes out, metres."""
BALL_MIDDLE: Final = (0.018, 0.045)
"""From its axis the ball moves from the first distance on, and in full at the second, metres: the
clefts between the toes keep their shape."""
CORNER: Final = 0.025
"""How far the corners of waist and hips between front and side come out, metres."""
SLIDE: Final = 0.03
"""How far skin slides upwards with its landmark, metres."""
THIGH: Final = ((-0.25, 0.0), (0.05, 0.012), (0.3, 0.016), (0.55, 0.008), (0.9, 0.0))
"""Broadening of the thigh's outer side, metres, along the thigh: 0 hip, 1 knee."""
MID_THIGH: Final = ((0.2, 0.0), (0.36, 0.013), (0.52, 0.025), (0.7, 0.014), (0.86, 0.0))
"""Added radius of the thigh, metres, likewise."""

CLEFTS: Final = tuple(vertex(index) for index in (5784, 5794, 6120, 6130))
"""Between the first and second and the fourth and fifth toe, where feet fold first."""
CLEFT_RADIUS, CLEFT_STEP = 0.008, 0.002
"""How far around them skin moves back, and by how much, metres."""
GROIN: Final = tuple(vertex(index) for index in (4374, 4375, 6431))
"""Between the legs, where heavy and narrow men fold first."""
GROIN_RADIUS, GROIN_STEP = 0.02, 0.003
"""How far around them skin moves outwards, and by how much, metres."""

Field = Callable[[Anatomy], np.ndarray]


def proportion_fields(body: DefaultBody) -> tuple[tuple[str, ...], Fields]:
    """Names and displacements of all targets."""
    anatomy = Anatomy(body)
    smooth = plate_smoother(anatomy.vertices, anatomy.triangles, SEAM)
    skin = np.stack([field(anatomy) for field in FIELDS.values()])
    skin = np.stack(
        [f if name in SMALL else smooth(f) for name, f in zip(FIELDS, skin, strict=True)]
    )
    skin = symmetric(np.where(np.abs(skin) < 1e-5, 0.0, skin), anatomy.mirror)
    for name in STILL_FACE:
        skin[tuple(FIELDS).index(name)][anatomy.is_cavity] = 0.0
    # x_j = Σ_v R_jv x_v, of the joints that a field carries along
    joints = np.einsum("jv,svi->sji", body.joint_regressor.astype(float), skin)
    for k, name in enumerate(FIELDS):
        carried = CARRIED.get(name, ())
        still = [n.partition("_")[2].rstrip("123") not in carried for n in anatomy.names]
        joints[k, still] = 0.0
    for side in ("left", "right"):
        joints[tuple(FIELDS).index("shoulder-centre"), anatomy.names.index(f"{side}_shoulder")] = (
            SHOULDER_CENTRE
        )
    return tuple(FIELDS), Fields(skin, joints)


def place(anatomy: Anatomy, landmark: Landmark) -> np.ndarray:
    """Where a landmark of vertices is on the average adult, on the left, metres."""
    points = anatomy.on_left()[[int(member) for member in landmark.members]]
    return np.array(landmark.shares) @ points


def around(anatomy: Anatomy, landmark: Landmark, radius: float) -> np.ndarray:
    """A bell of this radius about a landmark and its mirror image."""
    away = anatomy.on_left() - place(anatomy, landmark)
    return np.exp(-0.5 * (away**2).sum(axis=1) / radius**2)


def band(y: np.ndarray, middle: float, width: float) -> np.ndarray:
    """A bell over height."""
    return np.exp(-0.5 * ((y - middle) / width) ** 2)


def head(anatomy: Anatomy) -> np.ndarray:
    """The head scaled horizontally about its axis; the neck keeps its place."""
    x, y, z = anatomy.vertices.T
    mask = anatomy.weight_of("head") * ramp(y, anatomy.joint("neck")[1] + 0.05, y.max() - 0.13)
    skull = y > y.max() - 0.12
    middle = 0.5 * (z[skull].min() + z[skull].max())
    return HEAD_SHARE * mask[:, None] * np.stack([x, 0 * y, z - middle], axis=-1)


def shoulder_height(anatomy: Anatomy) -> np.ndarray:
    """Arms and shoulders up; the collar bones follow from their inner ends outwards."""
    outwards = ramp(np.abs(anatomy.vertices[:, 0]), 0.03, 0.16)
    mask = np.clip(anatomy.weight_of(*ARM) + anatomy.weight_of("collar") * outwards, 0, 1)
    return SHOULDER_RISE * mask[:, None] * [0.0, 1.0, 0.0]


def no_skin(anatomy: Anatomy) -> np.ndarray:
    """A target of joints alone."""
    return np.zeros_like(anatomy.vertices)


def deltoid(anatomy: Anatomy) -> np.ndarray:
    """Shoulder muscles thicker above, before and behind the joint, not in the armpit."""
    thickness = profile(anatomy.arm_position, DELTOID_THICKNESS)
    outer = ramp(anatomy.arm_radial[:, 1], -0.6, 0.4)
    arm = anatomy.weight_of(*ARM)
    return (thickness * outer * arm)[:, None] * anatomy.arm_radial


def thorax_depth(anatomy: Anatomy) -> np.ndarray:
    """The thorax deeper between breast and collar bones."""
    _, y, z = anatomy.vertices.T
    level = 0.5 * (place(anatomy, at.THELION)[1] + anatomy.joint("neck")[1]) + 0.01
    mask = band(y, level, 0.05) * (1 - anatomy.weight_of(*ARM)) * (1 - anatomy.weight_of("head"))
    depth = THORAX_SHARE * mask * (z - anatomy.joint("spine3")[2])
    return depth[:, None] * [0.0, 0.0, 1.0]


def palm(anatomy: Anatomy) -> np.ndarray:
    """The palm wider; every finger moves sideways with its knuckle and keeps its thickness."""
    z = anatomy.vertices[:, 2]
    middle = anatomy.joint("left_middle1")[2]
    across = PALM_SHARE * anatomy.weight_of("wrist") * (z - middle)
    past = anatomy.arm_position - 2.0
    across *= ramp(past, 0.0, 0.25)
    for finger in FINGERS:
        knuckle = anatomy.joint(f"left_{finger}1")[2]
        across += PALM_SHARE * anatomy.weight_of(finger) * (knuckle - middle)
    return across[:, None] * [0.0, 0.0, 1.0]


def foot(anatomy: Anatomy) -> np.ndarray:
    """The fore foot wider at both sides, from the instep on."""
    folded = anatomy.on_left()
    inner, outer = (place(anatomy, ball) for ball in (at.FOOT_INNER, at.FOOT_OUTER))
    middle, ball = 0.5 * (inner + outer), 0.5 * (inner[2] + outer[2])
    mask = anatomy.weight_of("ankle", "foot") * ramp(folded[:, 2], ball - 0.11, ball - 0.02)
    mask *= 1 - ramp(folded[:, 1], 0.06, 0.11)
    from_axis = folded[:, 0] - middle[0]
    sideways = BALL_STEP * mask * np.sign(from_axis) * ramp(np.abs(from_axis), *BALL_MIDDLE)
    return (sideways * np.sign(anatomy.vertices[:, 0]))[:, None] * [1.0, 0.0, 0.0]


def open_creases(anatomy: Anatomy) -> np.ndarray:
    """Clefts between toes deeper, inner thighs apart at the crotch: creases that fold first."""
    cleft = np.max([around(anatomy, spot, CLEFT_RADIUS) for spot in CLEFTS], axis=0)
    groin = np.max([around(anatomy, spot, GROIN_RADIUS) for spot in GROIN], axis=0)
    field = cleft[:, None] * [0.0, 0.0, -CLEFT_STEP]
    field[:, 0] = GROIN_STEP * groin * np.sign(anatomy.vertices[:, 0])
    field[np.abs(anatomy.vertices[:, 0]) < 1e-4, 0] = 0.0
    return field


def corners(anatomy: Anatomy, level: float, width: float) -> np.ndarray:
    """The trunk's section squarer: out between front, side and back, nothing at these four."""
    x, y, z = anatomy.vertices.T
    near = (np.abs(y - level) < 0.02) & (anatomy.weight_of(*ARM) < 0.01)
    half = np.abs(x[near]).max()
    front, back = z[near].max(), z[near].min()
    angle = np.arctan2((z - 0.5 * (front + back)) / (0.5 * (front - back)), np.abs(x) / half)
    mask = band(y, level, width) * (1 - anatomy.weight_of(*ARM)) * np.sin(2 * angle) ** 2
    return CORNER * mask[:, None] * anatomy.trunk_radial


def waist_corners(anatomy: Anatomy) -> np.ndarray:
    """The section at the navel squarer."""
    return corners(anatomy, place(anatomy, at.OMPHALION)[1], 0.085)


def hip_corners(anatomy: Anatomy) -> np.ndarray:
    """The section at the buttocks squarer."""
    return corners(anatomy, place(anatomy, at.BUTTOCK_POINT)[1] + 0.01, 0.05)


def slide(landmark: Landmark, radius: float) -> Field:
    """Skin about a landmark moved upwards."""

    def field(anatomy: Anatomy) -> np.ndarray:
        mask = around(anatomy, landmark, radius) * (1 - anatomy.weight_of(*ARM))
        return SLIDE * mask[:, None] * [0.0, 1.0, 0.0]

    return field


def axilla_height(anatomy: Anatomy) -> np.ndarray:
    """Skin of the armpit moved upwards; the shoulder keeps its place."""
    return SLIDE * around(anatomy, at.AXILLA, 0.05)[:, None] * [0.0, 1.0, 0.0]


def thigh_breadth(anatomy: Anatomy) -> np.ndarray:
    """The upper thigh broader at its outer side, and as much less deep."""
    leg = anatomy.weight_of("hip", "knee") + anatomy.weight_of("pelvis") * 0.7
    amount = profile(anatomy.leg_position, THIGH) * np.clip(leg, 0, 1)
    lateral = anatomy.leg_radial[:, 0] * np.sign(anatomy.vertices[:, 0])
    outer = np.clip(lateral, 0, 1) ** 2
    deep = anatomy.leg_radial[:, 2] ** 2
    field = amount[:, None] * anatomy.leg_radial * outer[:, None]
    field[:, 2] -= 0.6 * amount * deep * anatomy.leg_radial[:, 2]
    return field


def mid_thigh(anatomy: Anatomy) -> np.ndarray:
    """The thigh's middle thicker all round, its ends as they are."""
    leg = np.clip(anatomy.weight_of("hip", "knee"), 0, 1)
    amount = profile(anatomy.leg_position, MID_THIGH) * leg
    return amount[:, None] * anatomy.leg_radial


FIELDS: Final[Mapping[str, Field]] = {
    "head-breadth": head,
    "shoulder-height": shoulder_height,
    "shoulder-centre": no_skin,
    "deltoid-breadth": deltoid,
    "thorax-depth": thorax_depth,
    "palm-breadth": palm,
    "ball-breadth": foot,
    "open-creases": open_creases,
    "waist-corners": waist_corners,
    "hip-corners": hip_corners,
    "chest-height": slide(at.THELION, 0.06),
    "buttock-height": slide(at.BUTTOCK_POINT, 0.06),
    "nape-height": slide(at.CERVICALE, 0.05),
    "thigh-breadth": thigh_breadth,
    "axilla-height": axilla_height,
    "mid-thigh": mid_thigh,
    "gauntness": gauntness,
    "belly-apron": belly_apron,
}
"""By name."""
SMALL: Final = ("open-creases", "gauntness", "belly-apron")
"""Targets that are smooth already, or too small to be smoothed."""
STILL_FACE: Final = tuple(name for name in FIELDS if name != "head-breadth")
"""Targets that leave mouth and eye sockets alone."""
