"""Where fat goes: one smooth displacement field for every region of the body, in the T-pose.

Trunk and neck take the direction that the sculptors gave to stoutness (their slack, stout body less
their average one), smoothed so that it carries no creases of its own. Limbs grow away from their
bones, by a thickness that falls steadily from hip to ankle and from shoulder to wrist: the sculpted
direction heaps up above the knee.
"""

from dataclasses import dataclass

import numpy as np
from adiposity_face import CAVITIES, face_fullness
from surface_smoothing import plate_smoother

from corporeal.assets.default_body import DefaultBody
from corporeal.models.phenotype.equations import PHENOTYPE_RULE, macro_coefficients, macro_table

REGIONS = ("belly", "torso", "hips", "thighs", "calves", "arms", "neck")
DETAIL = 0.04
"""Features of the sculpted direction below this length are smoothed away, metres."""
SEAM = 0.025
"""Length over which neighbouring regions are blended, metres."""
LEG_THICKNESS = ((-0.3, 0.075), (0.15, 0.085), (0.5, 0.068), (0.85, 0.039), (1.0, 0.032),
                 (1.2, 0.031), (1.4, 0.029), (1.7, 0.018), (1.9, 0.009), (2.05, 0.0))  # fmt: skip
"""Added radius, metres, along the leg: 0 hip, 1 knee, 2 ankle."""
ARM_THICKNESS = ((-0.2, 0.034), (0.1, 0.048), (0.5, 0.050), (0.9, 0.035), (1.1, 0.031),
                 (1.3, 0.029), (1.7, 0.016), (1.95, 0.005), (2.1, 0.0))  # fmt: skip
"""Added radius, metres, along the arm: 0 shoulder, 1 elbow, 2 wrist."""
BELLY_DROP = 0.6
"""Share of the sculpted downward movement that the belly keeps: the navel stays in front."""
HIP_WIDENING = 0.028
"""Added radius of the hips about the trunk's axis, beyond the sculpted direction, metres."""
CHEST_SHARE = 0.35
"""How much more the front of the chest grows than the sculpted direction."""
GROIN_FROM_HIP = np.array([-0.062, -0.074, 0.048])
"""Middle of the crease beside the pubis, from the left hip joint, metres."""
GROIN_RADIUS, GROIN_DETAIL = 0.045, 0.1
"""Around it the fields are smoothed over the second length, metres."""
CROTCH_RELIEF = (0.06, 0.20)
"""Below the hips by these distances the thighs begin to grow inwards, and do so in full, metres."""
CROTCH_OPENING = 1.15
"""Above 1 the creases beside the pubis open as the thighs grow, and so never fold."""
EXTRA_SPLAY = np.radians(4.4)
"""The legs of a heavy body stand further apart; turn of the leg about the hip at coefficient 1."""


@dataclass(frozen=True)
class Fields:
    """Displacements at coefficient 1, metres: skin (R, V, 3) and joints (R, J, 3)."""

    vertices: np.ndarray
    joints: np.ndarray


def ramp(x: np.ndarray, start: float, end: float) -> np.ndarray:
    """Smooth step from 0 at `start` to 1 at `end`."""
    t = np.clip((x - start) / (end - start), 0, 1)
    return t * t * (3 - 2 * t)


def profile(along: np.ndarray, stations: tuple[tuple[float, float], ...]) -> np.ndarray:
    """Monotone cubic through (position, thickness) stations."""
    from scipy.interpolate import PchipInterpolator

    x, y = np.array(stations).T
    return PchipInterpolator(x, y)(np.clip(along, x[0], x[-1]))


def phenotype_shape(body: DefaultBody, **phenotype: float) -> tuple[np.ndarray, np.ndarray]:
    """Skin and joints of a phenotype, metres, before any local target."""
    table = macro_table(body.macro.names, PHENOTYPE_RULE)
    sliders = {name: np.float64(value) for name, value in phenotype.items()}
    coefficients = macro_coefficients(table, sliders)
    used = np.flatnonzero(coefficients)
    skin = np.tensordot(coefficients[used], body.macro.vertex_offsets[used], 1)
    centres = np.tensordot(coefficients[used], body.macro.joint_offsets[used], 1)
    return body.base_vertices + skin, body.base_joints + centres


class Anatomy:
    """The average adult's surface with the coordinates that the regions are told by."""

    def __init__(self, body: DefaultBody):
        template = body.template
        self.vertices = template.mesh.vertices.astype(float)
        self.triangles = template.mesh.triangles
        self.mirror = template.mesh.mirror
        self.names = template.skeleton.names
        self.joints = template.skeleton.joints.astype(float)
        self.weights = template.weights.dense()
        hollow = [template.part_names.index(part) for part in CAVITIES]
        self.is_cavity = np.isin(template.part_labels, hollow)
        self.leg_position, self.leg_radial = self._along("hip", "knee", "ankle")
        self.arm_position, self.arm_radial = self._along("shoulder", "elbow", "wrist")
        level = self.vertices * [1, 0, 1]
        self.trunk_radial = level / np.maximum(np.linalg.norm(level, axis=1, keepdims=True), 0.03)

    def joint(self, name: str) -> np.ndarray:
        return self.joints[self.names.index(name)]

    def on_left(self) -> np.ndarray:
        """The vertices with the right half mirrored onto the left."""
        return np.abs(self.vertices * [1, 0, 0]) + self.vertices * [0, 1, 1]

    def weight_of(self, *parts: str) -> np.ndarray:
        """Summed skin weight of all joints whose names hold one of `parts`."""
        columns = [i for i, name in enumerate(self.names) if any(part in name for part in parts)]
        return self.weights[:, columns].sum(axis=1)

    def _along(self, *chain: str) -> tuple[np.ndarray, np.ndarray]:
        """Position along a limb (0, 1, 2 at its joints) and unit vectors away from its axis."""
        folded = self.on_left()
        a, b, c = (self.joint(f"left_{name}") for name in chain)
        line = (c - a) / np.linalg.norm(c - a)
        reach = (folded - a) @ line
        knee, end = (b - a) @ line, (c - a) @ line
        position = np.where(reach < knee, reach / knee, 1 + (reach - knee) / (end - knee))
        bend = np.interp(reach, [0, knee, end], [0, 1, 0])[:, None] * (b - a - line * knee)
        away = folded - a - line * reach[:, None] - bend
        away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
        away[self.vertices[:, 0] < 0, 0] *= -1
        return position, away


def region_weights(anatomy: Anatomy) -> dict[str, np.ndarray]:
    """How much of every vertex belongs to each region; head, hands and feet belong to none."""
    x, y, z = anatomy.vertices.T
    hip, chest = anatomy.joint("left_hip")[1], anatomy.joint("spine3")[1]
    neck = anatomy.joint("neck")[1]
    leg = anatomy.weight_of("hip", "knee", "ankle", "foot") * (1 - ramp(y, hip - 0.03, hip + 0.06))
    arm = anatomy.weight_of(
        "shoulder", "elbow", "wrist", "index", "middle", "ring", "pinky", "thumb"
    )
    above = ramp(y, neck - 0.05, neck + 0.02) * (1 - arm) * (1 - ramp(np.abs(x), 0.07, 0.12))
    trunk = np.clip(1 - leg - arm - above, 0, 1)
    calf = ramp(anatomy.leg_position, 0.8, 1.2)
    front = ramp(z - np.interp(y, [hip, chest], [0.0, -0.02]), -0.03, 0.09)
    belly = front * ramp(y, hip - 0.08, hip + 0.10) * (1 - ramp(y, chest - 0.10, chest + 0.08))
    low = 1 - ramp(y, hip + 0.06, hip + 0.22)
    jaw = 1 - ramp(y, neck + 0.02, neck + 0.10)
    return {
        "belly": trunk * belly,
        "torso": trunk * (1 - belly) * (1 - low),
        "hips": trunk * (1 - belly) * low,
        "thighs": leg * (1 - calf),
        "calves": leg * calf,
        "arms": arm,
        "neck": above * jaw,
    }


def sculpted_fat(body: DefaultBody, gender: float) -> np.ndarray:
    """The sculptors' slack, stout adult less their average one, metres."""
    average, _ = phenotype_shape(body, gender=gender, age=25.0)
    stout, _ = phenotype_shape(body, gender=gender, age=25.0, muscle=0.0, weight=1.0)
    return stout - average


def adiposity_fields(body: DefaultBody) -> Fields:
    """The raw field of every region, before contacts are looked at."""
    anatomy = Anatomy(body)
    smooth = plate_smoother(anatomy.vertices, anatomy.triangles, DETAIL)
    blend = plate_smoother(anatomy.vertices, anatomy.triangles, SEAM)
    man, woman = (smooth(sculpted_fat(body, gender)) for gender in (1.0, 0.0))
    leg = anatomy.leg_radial * profile(anatomy.leg_position, LEG_THICKNESS)[:, None]
    leg[:, 0] -= crotch_relief(anatomy, leg[:, 0])
    arm = anatomy.arm_radial * profile(anatomy.arm_position, ARM_THICKNESS)[:, None]
    behind = 1 - ramp(anatomy.vertices[:, 2], 0.0, 0.08)
    direction = {
        "belly": (1.3 * man + 0.6 * woman) * [1.0, BELLY_DROP, 1.0],
        "torso": 0.95 * (man + woman) * (1 + CHEST_SHARE * chest_front(anatomy)[:, None]),
        "hips": 1.4 * woman + HIP_WIDENING * anatomy.trunk_radial * behind[:, None],
        "thighs": leg,
        "calves": leg,
        "arms": arm,
        "neck": 1.3 * (man + woman),
    }
    shares = region_weights(anatomy)
    skin = np.stack([blend(shares[name][:, None] * direction[name]) for name in REGIONS])
    joints = np.zeros((len(REGIONS), *anatomy.joints.shape))
    thighs = REGIONS.index("thighs")
    spread, joints[thighs] = splay(anatomy)
    skin = skin * below_chin(anatomy)[:, None]
    skin[thighs] += spread
    skin[REGIONS.index("neck")] += face_fullness(body.template)
    return Fields(symmetric(rounded_groin(skin, anatomy), anatomy.mirror), joints)


def chest_front(anatomy: Anatomy) -> np.ndarray:
    """1 on the front of the chest, 0 on back and belly."""
    _, y, z = anatomy.vertices.T
    chest = anatomy.joint("spine3")[1]
    return ramp(y, chest - 0.12, chest) * ramp(z, 0.0, 0.08)


def crotch_relief(anatomy: Anatomy, sideways: np.ndarray) -> np.ndarray:
    """The part of a sideways displacement that would press the thighs together at the crotch."""
    inwards = np.minimum(sideways * np.sign(anatomy.vertices[:, 0]), 0)
    top = anatomy.joint("left_hip")[1]
    share = ramp(anatomy.vertices[:, 1], top - CROTCH_RELIEF[1], top - CROTCH_RELIEF[0])
    return CROTCH_OPENING * share * inwards * np.sign(anatomy.vertices[:, 0])


def rounded_groin(skin: np.ndarray, anatomy: Anatomy) -> np.ndarray:
    """The fields, smoother around the creases beside the pubis, which then open instead of fold."""
    centre = anatomy.joint("left_hip") + GROIN_FROM_HIP
    away = anatomy.on_left() - centre
    near = np.exp(-0.5 * (away**2).sum(axis=1) / GROIN_RADIUS**2)[:, None]
    smooth = plate_smoother(anatomy.vertices, anatomy.triangles, GROIN_DETAIL)
    return np.stack([field + near * (smooth(field) - field) for field in skin])


def below_chin(anatomy: Anatomy) -> np.ndarray:
    """1 on the body, 0 exactly on the face: lips and eyelids touch, and must not move at all."""
    neck = anatomy.joint("neck")[1]
    head = anatomy.weight_of("head")
    face = ramp(anatomy.vertices[:, 1], neck + 0.01, neck + 0.065) * ramp(head, 0.0, 0.3)
    return np.where(anatomy.is_cavity, 0, 1 - face)


def splay(anatomy: Anatomy) -> tuple[np.ndarray, np.ndarray]:
    """Skin and joint displacements that turn the legs outwards about the hips, feet kept level."""
    top = anatomy.joint("left_hip")[1]
    drop = top - anatomy.joint("left_ankle")[1]
    legs = anatomy.weight_of("hip", "knee", "ankle", "foot")

    def outwards(points: np.ndarray) -> np.ndarray:
        side = np.sign(points[:, 0])
        below = np.clip(top - points[:, 1], 0, drop)
        return side * np.tan(EXTRA_SPLAY) * below

    skin, joints = np.zeros_like(anatomy.vertices), np.zeros_like(anatomy.joints)
    skin[:, 0] = legs * outwards(anatomy.vertices)
    moved = [
        i
        for i, name in enumerate(anatomy.names)
        if name.split("_")[-1] in ("knee", "ankle", "foot")
    ]
    joints[moved, 0] = outwards(anatomy.joints[moved])
    return skin, joints


def symmetric(skin: np.ndarray, mirror: np.ndarray) -> np.ndarray:
    """The mean of a field and its mirror image."""
    return (skin + skin[:, mirror] * [-1, 1, 1]) / 2
