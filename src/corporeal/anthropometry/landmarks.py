"""Anatomical landmarks on the default body, right side, as fixed skin vertices and joints.

A vertex keeps its anatomical place in every shape, since all shapes share one topology; so a
landmark moves with the flesh, never jumps, and has an exact derivative.
"""

from typing import Final

from corporeal.anthropometry.kinds import Landmark, between, vertex

CERVICALE: Final = between(858, 857, 0.75)
"""Spine of the seventh neck vertebra."""
INFRATHYROID: Final = between(797, 803, 0.5)
"""Below the Adam's apple."""
GLABELLA: Final = vertex(227)
"""Between and above the brows."""
ACROMION: Final = between(1603, 1557, 0.55)
"""Outer edge of the shoulder blade's roof."""
ACROMION_LEFT: Final = between(8275, 8235, 0.55)
DELTOID: Final = vertex(1638)
"""Most lateral point of the shoulder muscle."""
UPPER_DELTOID: Final = between(1603, 1638, 0.6)
"""Where a tape around both shoulders lies."""
AXILLA: Final = between(1632, 1624, 0.2)
"""Top of the armpit."""
THELION: Final = vertex(1782)
"""Nipple."""
OMPHALION: Final = vertex(4121)
"""Navel."""
BUTTOCK_POINT: Final = between(4218, 4227, 0.35)
"""Most protruding point of the buttock."""
HIPS: Final = between(4218, 4212, 0.3)
"""Upper buttock."""
CROTCH: Final = vertex(6431)
HIP_LEVELS: Final = tuple(
    Landmark((4218, 4227, 6431), (0.65 * (1 - share), 0.35 * (1 - share), share))
    for share in (-0.4, 0.0, 0.25, 0.5, 0.75, 1.0)
)
"""Heights from above the buttock point (−0.4) over it (0) down to the crotch (1)."""
GLUTEAL_FURROW: Final = vertex(4262)
"""Crease below the buttock."""
SUPRAPATELLA: Final = between("right_knee", "right_hip", 0.12)
"""Above the kneecap."""
MID_THIGH: Final = between("right_hip", "right_knee", 0.5)
MIDPATELLA: Final = between(4624, 4643, 0.5)
CALF: Final = between("right_knee", "right_ankle", 0.32)
"""Where the average adult's calf is thickest."""
ANKLE: Final = between("right_knee", "right_ankle", 0.88)
"""Where the average adult's ankle is thinnest."""
HEEL: Final = vertex(5867)
TOE: Final = vertex(4933)
FOOT_INNER: Final = vertex(5793)
"""Ball of the foot, inner side."""
FOOT_OUTER: Final = vertex(6196)
"""Ball of the foot, outer side."""
BICEPS: Final = between("right_shoulder", "right_elbow", 0.60)
FOREARM: Final = between("right_elbow", "right_wrist", 0.18)
RADIALE: Final = vertex(3406)
"""Top of the radius, outer side of the elbow."""
STYLION: Final = vertex(3772)
"""End of the radius, thumb side of the wrist."""
WRIST: Final = between("right_elbow", "right_wrist", 0.97)
PALM: Final = between("right_wrist", "right_middle1", 0.9)
DACTYLION: Final = vertex(2119)
"""Tip of the middle finger."""
FINGERTIPS: Final = (2119, 8787)
"""Vertices at the tips of the right and left middle finger."""


def joint(name: str) -> Landmark:
    """A joint centre."""
    return Landmark((name,), (1.0,))
