"""The table of measurements: what each is, how it is read, and its name in ANSUR II.

All are read in one standing posture (`standing`): feet as in the zero pose, arms down and slightly
away from the trunk. ANSUR II is the 2012 survey of 6068 US soldiers; its public file has 4082 men
and 1986 women. Where our reading differs from the survey's, `differs` says how.
"""

from dataclasses import dataclass
from typing import Final, Literal

from corporeal.anthropometry import landmarks as at
from corporeal.anthropometry.kinds import (
    Bulge,
    Distance,
    Extent,
    Fullest,
    Girth,
    Height,
    Kind,
    Mass,
    Span,
    Stature,
)
from corporeal.errors import InputError


@dataclass(frozen=True)
class Dimension:
    """One measurement of the body."""

    name: str
    """Full name, such as `waist_circumference`."""
    ansur: str
    """Column of the ANSUR II file."""
    kind: Kind
    """How it is read off a body."""
    meaning: str
    """What is measured, in words."""
    differs: str = ""
    """How our reading differs from the survey's; empty where it is the same."""
    unit: Literal["m", "kg", "m³"] = "m"
    """Metres, kilograms for the mass, cubic metres for the breast's volume."""


_ARM = (at.joint("right_shoulder"), at.joint("right_elbow"))
_FOREARM = (at.joint("right_elbow"), at.joint("right_wrist"))
_HAND = (at.joint("right_wrist"), at.joint("right_middle1"))
_NECK = (at.joint("neck"), at.joint("head"))

_WHOLE: Final = (
    Dimension("stature", "stature", Stature(), "top of the head above the ground"),
    Dimension("mass", "weightkg", Mass(), "volume × 1010 kg/m³", unit="kg"),
)

_GIRTHS: Final = (
    Dimension(
        "neck_circumference",
        "neckcircumference",
        Girth("head", at.INFRATHYROID, _NECK),
        "around the neck below the Adam's apple, square to the neck",
    ),
    Dimension(
        "shoulder_circumference",
        "shouldercircumference",
        Girth("whole", at.UPPER_DELTOID),
        "around shoulders and arms at the deltoids",
        differs="arms are slightly away from the trunk; the survey's hang",
    ),
    Dimension(
        "chest_circumference",
        "chestcircumference",
        Girth("trunk", at.THELION),
        "around the trunk at the nipples, without the arms",
    ),
    Dimension(
        "waist_circumference",
        "waistcircumference",
        Girth("trunk", at.OMPHALION),
        "around the trunk at the navel",
    ),
    Dimension(
        "buttock_circumference",
        "buttockcircumference",
        Girth("trunk", at.BUTTOCK_POINT),
        "around the hips at the buttocks' fullest point",
    ),
    Dimension(
        "thigh_circumference",
        "thighcircumference",
        Girth("right_leg", at.GLUTEAL_FURROW),
        "around the thigh at the buttock's crease",
    ),
    Dimension(
        "lower_thigh_circumference",
        "lowerthighcircumference",
        Girth("right_leg", at.SUPRAPATELLA),
        "around the thigh just above the kneecap",
    ),
    Dimension(
        "calf_circumference",
        "calfcircumference",
        Girth("right_leg", at.CALF),
        "around the calf",
        differs="at a fixed share of the shank; the survey seeks the maximum",
    ),
    Dimension(
        "ankle_circumference",
        "anklecircumference",
        Girth("right_leg", at.ANKLE),
        "around the ankle",
        differs="at a fixed share of the shank; the survey seeks the minimum",
    ),
    Dimension(
        "biceps_circumference",
        "bicepscircumferenceflexed",
        Girth("right_arm", at.BICEPS, _ARM),
        "around the upper arm, square to it",
        differs="arm hangs relaxed; the survey's is bent and flexed",
    ),
    Dimension(
        "forearm_circumference",
        "forearmcircumferenceflexed",
        Girth("right_arm", at.FOREARM, _FOREARM),
        "around the thickest part of the forearm",
        differs="arm hangs relaxed; the survey's is bent and the fist clenched",
    ),
    Dimension(
        "wrist_circumference",
        "wristcircumference",
        Girth("right_arm", at.WRIST, _FOREARM),
        "around the wrist, square to the forearm",
    ),
    Dimension(
        "hand_circumference",
        "handcircumference",
        Girth("right_palm", at.PALM, _HAND),
        "around the palm at the knuckles, no thumb",
    ),
    Dimension(
        "head_circumference",
        "headcircumference",
        Girth("head", at.GLABELLA),
        "around the head above the brows",
    ),
)

_BREADTHS: Final = (
    Dimension(
        "biacromial_breadth",
        "biacromialbreadth",
        Distance(at.ACROMION, at.ACROMION_LEFT),
        "between the acromia",
    ),
    Dimension(
        "bideltoid_breadth",
        "bideltoidbreadth",
        Extent("whole", at.DELTOID, "x"),
        "across the shoulder muscles",
        differs="arms are slightly away from the trunk; the survey's hang",
    ),
    Dimension(
        "waist_breadth",
        "waistbreadth",
        Extent("trunk", at.OMPHALION, "x"),
        "across the waist at the navel",
    ),
    Dimension(
        "hip_breadth",
        "hipbreadth",
        Extent("trunk", at.HIPS, "x"),
        "across the hips, 2 cm above the buttock point",
        differs="at a fixed level; the survey presses a caliper on the broadest one",
    ),
    Dimension(
        "foot_breadth",
        "footbreadthhorizontal",
        Distance(at.FOOT_INNER, at.FOOT_OUTER, "x"),
        "across the ball of the foot, square to its length",
    ),
)

_DEPTHS: Final = (
    Dimension(
        "chest_depth",
        "chestdepth",
        Extent("trunk", at.THELION, "z"),
        "front to back at the nipples",
    ),
    Dimension(
        "waist_depth",
        "waistdepth",
        Extent("trunk", at.OMPHALION, "z"),
        "front to back at the navel",
    ),
    Dimension(
        "buttock_depth",
        "buttockdepth",
        Extent("trunk", at.BUTTOCK_POINT, "z"),
        "front to back at the buttock point",
    ),
)

_HEIGHTS: Final = (
    Dimension(
        "cervicale_height",
        "cervicaleheight",
        Height(at.CERVICALE),
        "seventh neck vertebra above the ground",
    ),
    Dimension(
        "acromial_height", "acromialheight", Height(at.ACROMION), "acromion above the ground"
    ),
    Dimension("axilla_height", "axillaheight", Height(at.AXILLA), "armpit above the ground"),
    Dimension("chest_height", "chestheight", Height(at.THELION), "nipple above the ground"),
    Dimension(
        "waist_height", "waistheightomphalion", Height(at.OMPHALION), "navel above the ground"
    ),
    Dimension(
        "buttock_height",
        "buttockheight",
        Height(at.BUTTOCK_POINT),
        "buttock point above the ground",
    ),
    Dimension("crotch_height", "crotchheight", Height(at.CROTCH), "crotch above the ground"),
    Dimension(
        "knee_height",
        "kneeheightmidpatella",
        Height(at.MIDPATELLA),
        "middle of the kneecap above the ground",
    ),
)

_LENGTHS: Final = (
    Dimension(
        "upper_arm_length",
        "acromionradialelength",
        Distance(at.ACROMION, at.RADIALE),
        "acromion to the outer elbow",
    ),
    Dimension(
        "forearm_length",
        "radialestylionlength",
        Distance(at.RADIALE, at.STYLION),
        "outer elbow to the wrist, thumb side",
    ),
    Dimension(
        "hand_length",
        "handlength",
        Distance(at.STYLION, at.DACTYLION),
        "wrist to the tip of the middle finger",
    ),
    Dimension(
        "foot_length",
        "footlength",
        Distance(at.HEEL, at.TOE, "z"),
        "heel to the tip of the big toe, along the foot",
    ),
    Dimension("span", "span", Span(), "fingertip to fingertip, arms stretched sideways"),
)

DIMENSIONS: Final = (*_WHOLE, *_GIRTHS, *_BREADTHS, *_DEPTHS, *_HEIGHTS, *_LENGTHS)
"""Every measurement, in a fixed order."""

NAMES: Final = tuple(dimension.name for dimension in DIMENSIONS)

COMPANIONS: Final = (
    Dimension(
        "hip_circumference",
        "buttockcircumference",
        Fullest("trunk", at.HIP_LEVELS),
        "around the hips where a tape reads most, from above the buttock point to the crotch",
        differs="the survey tapes at the buttock point, wherever the hips are fullest",
    ),
    Dimension(
        "mid_thigh_circumference",
        "",
        Girth("right_leg", at.MID_THIGH),
        "around the thigh midway between the hip joint and the knee joint",
        differs="the survey has none; people's follow from the girth at the buttock's crease",
    ),
    Dimension(
        "breast_volume",
        "",
        Bulge("right_breast", 1),
        "of one breast before a plane through its border, as 3D scans are read",
        differs="the survey has none; women's follow from their body mass index",
        unit="m³",
    ),
)
"""Read off every body beside `DIMENSIONS`; what is expected of them says `companions`."""
READINGS: Final = (*NAMES, *(companion.name for companion in COMPANIONS))
"""Names of all that is read off a body, in this order."""

SHORT_NAMES: Final = {
    "height": "stature",
    "weight": "mass",
    "neck": "neck_circumference",
    "chest": "chest_circumference",
    "bust": "chest_circumference",
    "waist": "waist_circumference",
    "hips": "buttock_circumference",
    "thigh": "thigh_circumference",
    "calf": "calf_circumference",
    "ankle": "ankle_circumference",
    "biceps": "biceps_circumference",
    "forearm": "forearm_circumference",
    "wrist": "wrist_circumference",
    "head": "head_circumference",
    "shoulders": "biacromial_breadth",
    "inseam": "crotch_height",
}
"""What people say."""


def full_name(name: str) -> str:
    """The name in `DIMENSIONS` of a measurement that people may call by a shorter one."""
    if name in NAMES:
        return name
    if name in SHORT_NAMES:
        return SHORT_NAMES[name]
    raise InputError(
        f"there is no measurement {name!r}; there are {', '.join(NAMES)} "
        f"(and for short {', '.join(SHORT_NAMES)})."
    )


def dimension(name: str) -> Dimension:
    """The definition of a measurement by its full or short name."""
    return DIMENSIONS[NAMES.index(full_name(name))]
