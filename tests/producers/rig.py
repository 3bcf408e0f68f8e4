"""One producer's skeleton: names, tree, offsets, channel order, axes in the T-pose.

The axes of a joint in the T-pose are three letters: where its x, y and z point (L left, R right,
U up, D down, F front, B back). `LUF` everywhere is a rig that rests in its T-pose with y up.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

LETTERS = {"L": (1, 0, 0), "R": (-1, 0, 0), "U": (0, 1, 0), "D": (0, -1, 0), "F": (0, 0, 1),
           "B": (0, 0, -1)}  # fmt: skip
Y_UP = np.eye(3)
Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""From our axes into those of a file with z up whose body faces -y."""


@dataclass(frozen=True)
class Rig:
    """One producer's skeleton."""

    source: str
    """The public file from which it was taken."""
    tree: str
    """A joint a line: dots for its depth, its name, its OFFSET."""
    roles: dict[str, str]
    """Its joint for every joint of the body that it has."""
    order: str = "ZXY"
    """Euler order of the channels."""
    metres: float = 0.01
    """Of a file unit."""
    spine: tuple[str, ...] = ()
    """Joints between hips and neck."""
    axes: dict[str, str] = field(default_factory=dict)
    """Axes in the T-pose by joint; joints not named have their parent's, the root `LUF`."""
    pitch_deg: dict[str, float] = field(default_factory=dict)
    """How far a joint is turned beyond those axes in the T-pose, about the body's left."""
    world: np.ndarray = field(default_factory=lambda: Y_UP)
    """From our axes into the file's."""
    positions: str = "root"
    """Which joints have position channels: `root`, or `all`."""
    carrier: bool = False
    """Whether the joint below the root carries the body and the root only half of its way."""

    @property
    def joints(self) -> list[tuple[str, int, np.ndarray]]:
        """Name, parent and offset (file units) of every joint."""
        found: list[tuple[str, int, np.ndarray]] = []
        line: list[int] = []
        for row in self.tree.strip().splitlines():
            dots, name, *offset = row.split()
            depth = len(dots) - 1
            line = line[:depth]
            found.append((name, line[-1] if line else -1, np.array(offset, float)))
            line.append(len(found) - 1)
        return found

    def index(self, name: str) -> int:
        return [joint[0] for joint in self.joints].index(name)

    def t_pose(self) -> np.ndarray:
        """World rotation of every joint in the T-pose, our axes."""
        turns: list[np.ndarray] = []
        plain: list[np.ndarray] = []
        for name, parent, _ in self.joints:
            axes = plain[parent] if parent >= 0 else np.eye(3)
            if name in self.axes:
                axes = np.array([LETTERS[letter] for letter in self.axes[name]], float).T
            plain.append(axes)
            pitch = np.deg2rad(self.pitch_deg.get(name, 0.0))
            turns.append(Rotation.from_rotvec([pitch, 0, 0]).as_matrix() @ axes)
        return np.array(turns)


def sided(pattern: dict[str, str], **fills: tuple[str, str]) -> dict[str, str]:
    """Roles of both sides; `fills` are what stands for left and right in the names."""
    return {
        f"{side}_{role}": name.format(**{key: pair[place] for key, pair in fills.items()})
        for place, side in enumerate(("left", "right"))
        for role, name in pattern.items()
    }


MOTIONBUILDER = {"hip": "{S}UpLeg", "knee": "{S}Leg", "ankle": "{S}Foot", "foot": "{S}ToeBase",
       "collar": "{S}Shoulder", "shoulder": "{S}Arm", "elbow": "{S}ForeArm",
       "wrist": "{S}Hand"}  # fmt: skip
"""Names of MotionBuilder and of many that follow it."""
SIDES = ("Left", "Right")
HEAD = {"neck": "Neck", "head": "Head"}
XSENS_ROLES = {"hip": "{S}Hip", "knee": "{S}Knee", "ankle": "{S}Ankle", "foot": "{S}Toe",
                "collar": "{S}Collar", "shoulder": "{S}Shoulder", "elbow": "{S}Elbow",
                "wrist": "{S}Wrist"}  # fmt: skip
