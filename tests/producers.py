"""How motion-capture files of well-known producers are built, and such files with known positions.

Names, tree, offsets, channel order and rest axes of every rig are those of a public file, which is
named; numbers are rounded, fingers left out. The motions in them are made here: this module has its
own forward kinematics and its own Euler angles (SciPy's), so that nothing in it can share a mistake
with the reader.

The axes of a joint in the T-pose are three letters: where its x, y and z point (L left, R right,
U up, D down, F front, B back). `LUF` everywhere is a rig that rests in its T-pose with y up.
"""

from dataclasses import dataclass, field
from pathlib import Path

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


@dataclass(frozen=True)
class Take:
    """A motion of a rig, as it was made; our axes, metres."""

    rig: Rig
    turns: np.ndarray
    """World rotations of the joints, N J 3 3."""
    places: np.ndarray
    """World positions of the joints, N J 3."""
    fps: float = 30.0

    def place(self, role: str) -> np.ndarray:
        return self.places[:, self.rig.index(self.rig.roles[role])]


def forward(rig: Rig, turns: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Positions of all joints, metres: p_c = p_p + G_p o_c."""
    places = np.zeros((len(turns), len(rig.joints), 3))
    for joint, (_, parent, offset) in enumerate(rig.joints):
        if parent < 0:
            places[:, joint] = root
        else:
            places[:, joint] = places[:, parent] + turns[:, parent] @ (rig.metres * offset)
    return places


def about(axis: str, degrees: np.ndarray) -> np.ndarray:
    angles = np.atleast_1d(np.asarray(degrees, float))[:, None]
    return Rotation.from_euler(axis, angles, degrees=True).as_matrix()


def moved(rig: Rig, turns_by_role: dict[str, np.ndarray], count: int) -> np.ndarray:
    """World rotations G = D T: D of the joint's role, or else of the joint above it."""
    pose = rig.t_pose()
    role_of = {name: role for role, name in rig.roles.items()}
    chain = dict(zip(rig.spine, np.linspace(0, 1, len(rig.spine) + 1)[1:], strict=True))
    since: list[np.ndarray] = []
    for name, parent, _ in rig.joints:
        if role_of.get(name) in turns_by_role:
            since.append(turns_by_role[role_of[name]])
        elif name in chain:
            share = Rotation.from_matrix(turns_by_role["pelvis"].transpose(0, 2, 1)
                                         @ turns_by_role["chest"]).as_rotvec()  # fmt: skip
            part = Rotation.from_rotvec(chain[name] * share).as_matrix()
            since.append(turns_by_role["pelvis"] @ part)
        else:
            since.append(since[parent] if parent >= 0 else np.tile(np.eye(3), (count, 1, 1)))
    return np.stack(since, axis=1) @ pose


def hanging(rig: Rig, side: str, out_deg: float = 12.0) -> np.ndarray:
    """The turn that lets an arm hang, from where the rig's T-pose has it."""
    pose = rig.t_pose()
    shoulder = rig.index(rig.roles[f"{side}_shoulder"])
    bone = pose[shoulder] @ rig.joints[rig.index(rig.roles[f"{side}_elbow"])][2]
    sign = 1.0 if side == "left" else -1.0
    now = np.arctan2(bone[1], bone[0])
    wanted = np.arctan2(-np.cos(np.deg2rad(out_deg)), sign * np.sin(np.deg2rad(out_deg)))
    return Rotation.from_euler("z", wanted - now).as_matrix()


def aligned(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Right-handed frames whose first axis is `first`, the second as near as may be to `second`."""
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    third = np.cross(first, second)
    third = third / np.linalg.norm(third, axis=-1, keepdims=True)
    return np.stack([first, np.cross(third, first), third], axis=-1)


def legs_to(rig: Rig, turns: np.ndarray, root: np.ndarray, ankles: dict[str, np.ndarray],
            left: np.ndarray) -> dict[str, np.ndarray]:  # fmt: skip
    """Turns of thighs and shanks since the T-pose that put the ankles there, knees ahead.

    The cosine rule, in the plane across `left`.
    """
    pose, places = rig.t_pose(), forward(rig, turns, root)
    roles = {}
    for side, target in ankles.items():
        hip, knee, ankle = (rig.index(rig.roles[f"{side}_{j}"]) for j in ("hip", "knee", "ankle"))
        thigh, shank = (rig.metres * rig.joints[j][2] for j in (knee, ankle))
        way = target - places[:, hip]
        distance = np.linalg.norm(way, axis=1)
        a, b = np.linalg.norm(thigh), np.linalg.norm(shank)
        assert (distance < a + b).all(), "the leg is too short"
        open_angle = np.arccos((a * a + distance**2 - b * b) / (2 * a * distance))
        across = aligned(way, left)[..., 1]
        ahead = Rotation.from_rotvec(-open_angle[:, None] * across).as_matrix()
        upper = (ahead @ (way / distance[:, None])[..., None])[..., 0]
        lower = way - a * upper
        side_axis = np.array([1.0, 0.0, 0.0])
        for role, direction, bone, joint in (("hip", upper, thigh, hip),
                                             ("knee", lower, shank, knee)):  # fmt: skip
            rest = aligned(pose[joint] @ bone, side_axis)
            roles[f"{side}_{role}"] = aligned(direction, across) @ rest.T
    return roles


def leg_length(rig: Rig) -> float:
    """Thigh and shank, metres."""
    names = [rig.roles[f"left_{j}"] for j in ("knee", "ankle")]
    return rig.metres * sum(np.linalg.norm(rig.joints[rig.index(name)][2]) for name in names)


def steps(time: np.ndarray, period: float, stride: float, late: float) -> np.ndarray:
    """Way ahead and height of a foot that stands for 0.62 of every period and then swings."""
    cycle, part = np.divmod(time / period + late, 1.0)
    swing = np.clip((part - 0.62) / 0.38, 0.0, 1.0)
    moved_by = swing**3 * (10 - 15 * swing + 6 * swing**2)
    ahead = stride * (cycle + moved_by - late + 0.31)
    return np.stack([ahead, 0.09 * np.sin(np.pi * swing) ** 2], axis=1)


def walk(rig: Rig, seconds: float = 2.4, fps: float = 30.0, heading_deg: float = 25.0) -> Take:
    """Steps with planted feet, bent elbows, a trunk that leans and twists, at a steady pace."""
    time = np.arange(round(seconds * fps)) / fps
    count, phase, leg = len(time), 2 * np.pi * time / 1.2, leg_length(rig)
    ahead = about("y", heading_deg)
    roles = {
        "pelvis": ahead @ about("y", 5 * np.sin(phase)) @ about("x", np.full(count, 3.0)),
        "chest": ahead @ about("y", -8 * np.sin(phase)) @ about("x", np.full(count, 9.0)),
        "neck": ahead @ about("x", np.full(count, 4.0)),
        "head": ahead @ about("y", 15 * np.sin(0.5 * phase)),
    }
    for side, sign in (("left", 1.0), ("right", -1.0)):
        roles |= {f"{side}_{j}": np.repeat(ahead, count, 0) for j in ("ankle", "foot")}
        arm, bend = 25 * sign * np.sin(phase), 40 + 15 * np.cos(phase)
        down = hanging(rig, side)
        roles[f"{side}_shoulder"] = ahead @ about("x", arm) @ down
        roles[f"{side}_elbow"] = ahead @ about("x", arm - bend) @ down
        roles[f"{side}_wrist"] = roles[f"{side}_elbow"]
        roles[f"{side}_collar"] = roles["chest"]
    stride = 0.9 * leg
    front, left = ahead[0] @ [0.0, 0, 1], ahead[0] @ [1.0, 0, 0]
    turns = moved(rig, roles, count)
    places = forward(rig, turns, np.zeros((count, 3)))
    hips = [rig.index(rig.roles[f"{side}_hip"]) for side in ("left", "right")]
    centre = np.array([0.3, 0.1 + 0.93 * leg, -0.4]) + stride * time[:, None] / 1.2 * front
    centre[:, 1] += 0.01 * np.cos(2 * phase)
    root = centre - places[:, hips].mean(axis=1)
    width = 0.5 * np.linalg.norm(places[0, hips[0]] - places[0, hips[1]])
    ankles = {}
    for side, sign, late in (("left", 1.0, 0.0), ("right", -1.0, 0.5)):
        way = steps(time, 1.2, stride, late)
        ankles[side] = (np.array([0.3, 0.1, -0.4]) + sign * width * left
                        + way[:, :1] * front
                        + way[:, 1:] * [0.0, 1, 0])  # fmt: skip
    sideways = np.broadcast_to(left, (count, 3))
    for _ in range(3):  # where hips hang on the spine, legs are not the only ones that move
        roles |= legs_to(rig, turns, root, ankles, sideways)
        turns = moved(rig, roles, count)
    return Take(rig, turns, forward(rig, turns, root), fps)


def crawl(rig: Rig, seconds: float = 2.4, fps: float = 30.0) -> Take:
    """On hands and knees: thighs and arms swing about the vertical, shanks lie behind.

    The trunk is pitched so that lower knee and lower hand are equally high.
    """
    time = np.arange(round(seconds * fps)) / fps
    low, high = np.full(len(time), 50.0), np.full(len(time), 120.0)
    for _ in range(20):
        pitch = 0.5 * (low + high)
        take = _crawl(rig, time, fps, pitch)
        knees, hands = (
            np.minimum(take.place(f"left_{part}")[:, 1], take.place(f"right_{part}")[:, 1])
            for part in ("knee", "wrist")
        )
        low, high = np.where(hands > knees, pitch, low), np.where(hands > knees, high, pitch)
    return take


def _crawl(rig: Rig, time: np.ndarray, fps: float, pitch_deg: np.ndarray) -> Take:
    count, phase = len(time), 2 * np.pi * time / 1.2
    ahead = about("y", 10.0)
    flat = ahead @ about("x", pitch_deg)
    roles = {"pelvis": flat, "chest": flat, "neck": ahead @ about("x", np.full(count, 60.0)),
             "head": ahead @ about("x", np.full(count, 45.0))}  # fmt: skip
    for side, sign in (("left", 1.0), ("right", -1.0)):
        swing = 14 * sign * np.sin(phase)
        roles[f"{side}_hip"] = ahead @ about("x", swing)
        roles[f"{side}_knee"] = ahead @ about("x", 88 + 0.3 * swing)
        roles[f"{side}_ankle"] = roles[f"{side}_foot"] = ahead @ about("x", 140 + 0.3 * swing)
        down = hanging(rig, side, 4.0)
        roles[f"{side}_shoulder"] = ahead @ about("x", -swing) @ down
        roles[f"{side}_elbow"] = ahead @ about("x", -swing - 8) @ down
        roles[f"{side}_wrist"] = ahead @ about("x", np.full(count, -80.0)) @ down
        roles[f"{side}_collar"] = flat
    return _on_the_floor(rig, roles, time, fps, ("knee", "wrist"))


def cartwheel(rig: Rig, fps: float = 60.0) -> Take:
    """Standing, over the hands to the side, and standing again; arms up, legs apart."""
    time = np.arange(round(2.4 * fps)) / fps
    count = len(time)
    share = np.clip((time - 0.4) / 1.6, 0.0, 1.0)
    roll = about("z", -360 * share**3 * (10 - 15 * share + 6 * share**2))
    roles = dict.fromkeys(("pelvis", "chest", "neck", "head"), roll)
    apart = 40 * np.sin(np.pi * share)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        leg = roll @ about("z", sign * apart)
        roles |= {f"{side}_{joint}": leg for joint in ("hip", "knee", "ankle", "foot")}
        up = np.repeat(about("z", sign * 150) @ hanging(rig, side, 0.0), count, 0)
        roles |= {f"{side}_{joint}": roll @ up for joint in ("shoulder", "elbow", "wrist")}
        roles[f"{side}_collar"] = roll
    return _on_the_floor(rig, roles, time, fps, ("knee", "wrist", "ankle", "foot"))


def _on_the_floor(
    rig: Rig, roles: dict[str, np.ndarray], time: np.ndarray, fps: float, parts: tuple[str, ...]
) -> Take:
    """The lowest of some parts at a steady 6 cm."""
    turns = moved(rig, roles, len(time))
    places = forward(rig, turns, np.zeros((len(time), 3)))
    names = [f"{side}_{part}" for side in ("left", "right") for part in parts]
    ends = places[:, [rig.index(rig.roles[name]) for name in names if name in rig.roles]]
    root = np.stack([0 * time, 0.06 - ends[..., 1].min(axis=1), 0.25 * time], axis=1)
    return Take(rig, turns, forward(rig, turns, root), fps)


def write(take: Take, path: Path) -> Path:
    """The take as a file of its producer."""
    rig, joints = take.rig, take.rig.joints
    world = rig.world
    rows: list[str] = []
    columns: list[np.ndarray] = []
    unit = 1.0 / rig.metres
    children = [[k for k, j in enumerate(joints) if j[1] == i] for i in range(len(joints))]
    root = unit * take.places[:, 0] @ world.T
    carried = np.zeros_like(root)
    if rig.carrier:  # the root goes half of the way over the ground, the joint below the rest
        carried = 0.5 * (root - root[0])
        root = root - carried

    def emit(joint: int, depth: int) -> None:
        name, parent, offset = joints[joint]
        tab = "\t" * depth
        rows.append(f"{tab}{'ROOT' if parent < 0 else 'JOINT'} {name}")
        rows.append(tab + "{")
        rows.append(f"{tab}\tOFFSET " + " ".join(f"{v:.6f}" for v in offset))
        placed = parent < 0 or rig.positions == "all"
        channels = ["Xposition", "Yposition", "Zposition"] if placed else []
        channels += [f"{axis}rotation" for axis in rig.order]
        rows.append(f"{tab}\tCHANNELS {len(channels)} " + " ".join(channels))
        above = take.turns[:, parent] if parent >= 0 else np.broadcast_to(world.T, (1, 3, 3))
        local = above.transpose(0, 2, 1) @ take.turns[:, joint]
        if parent < 0:
            columns.append(root)
        elif placed:
            extra = 0.0
            if rig.carrier and joint == 1:
                extra = (carried @ world) @ np.eye(3)
                extra = (take.turns[:, 0].transpose(0, 2, 1) @ extra[..., None])[..., 0]
            columns.append(np.broadcast_to(offset, root.shape) + extra)
        columns.append(Rotation.from_matrix(local).as_euler(rig.order.upper(), degrees=True))
        for child in children[joint]:
            emit(child, depth + 1)
        if not children[joint]:
            rows.extend([f"{tab}\tEnd Site", tab + "\t{",
                         f"{tab}\t\tOFFSET " + " ".join(f"{0.3 * v:.6f}" for v in offset),
                         tab + "\t}"])  # fmt: skip
        rows.append(tab + "}")

    emit(0, 0)
    values = np.concatenate(columns, axis=1)
    rows += ["MOTION", f"Frames: {len(values)}", f"Frame Time: {1 / take.fps:.7f}"]
    rows += [" ".join(f"{v:.6f}" for v in row) for row in values]
    path.write_text("HIERARCHY\n" + "\n".join(rows) + "\n")
    return path


def sided(pattern: dict[str, str], **fills: tuple[str, str]) -> dict[str, str]:
    """Roles of both sides; `fills` are what stands for left and right in the names."""
    return {
        f"{side}_{role}": name.format(**{key: pair[place] for key, pair in fills.items()})
        for place, side in enumerate(("left", "right"))
        for role, name in pattern.items()
    }


_MB = {"hip": "{S}UpLeg", "knee": "{S}Leg", "ankle": "{S}Foot", "foot": "{S}ToeBase",
       "collar": "{S}Shoulder", "shoulder": "{S}Arm", "elbow": "{S}ForeArm",
       "wrist": "{S}Hand"}  # fmt: skip
_LR = ("Left", "Right")

_CMU_TREE = """
. Hips 0 0 0
.. LHipJoint 0 0 0
... LeftUpLeg 1.778 -1.890 0.483
.... LeftLeg 2.534 -6.963 0
..... LeftFoot 2.711 -7.448 0
...... LeftToeBase 0.180 -0.494 2.225
.. RHipJoint 0 0 0
... RightUpLeg -1.585 -1.890 0.483
.... RightLeg -2.604 -7.154 0
..... RightFoot -2.733 -7.510 0
...... RightToeBase -0.256 -0.704 2.218
.. LowerBack 0 0 0
... Spine 0.034 2.016 -0.222
.... Spine1 0.035 2.030 0.009
..... Neck 0 0 0
...... Neck1 -0.002 1.705 0.209
....... Head 0.025 1.723 -0.222
..... LeftShoulder 0 0 0
...... LeftArm 3.364 1.005 -0.377
....... LeftForeArm 5.065 0 0
........ LeftHand 3.602 0 0
..... RightShoulder 0 0 0
...... RightArm -3.502 0.804 -0.715
....... RightForeArm -5.364 0 0
........ RightHand -3.580 0 0
"""

_ROKOKO_TREE = """
. Hips 0 94 0
.. Spine 0 12.9947 0
... Spine1 12.7099 0 0
.... Spine2 12.7829 0 0
..... LeftShoulder 10.4351 -7.0401 1.9147
...... LeftArm 13.4599 0 0
....... LeftForeArm 26.1001 0 0
........ LeftHand 28.9001 0 0
..... Neck 18.2093 0 0
...... Head 11.0335 0 0
..... RightShoulder 10.4351 7.0401 1.9147
...... RightArm 13.4599 0 0
....... RightForeArm 26.1001 0 0
........ RightHand 28.9001 0 0
.. LeftUpLeg 8.1 0 0
... LeftLeg 43.2 0 0
.... LeftFoot 43.3 0 0
..... LeftToeBase 14.5727 0 0
.. RightUpLeg -8.1 0 0
... RightLeg 43.2 0 0
.... RightFoot 43.3 -0.0626 0
..... RightToeBase 14.5727 0 0
"""

_BANDAI_TREE = """
. joint_Root 0 0 0
.. Hips 0.0408 93.9915 0.0640
... Spine 15.7357 0 0
.... Chest 8.9846 -0.4062 0
..... Neck 16.3773 0 0
...... Head 6.4567 0 0
..... Shoulder_L 12.9942 -0.2427 4.9804
...... UpperArm_L 5.3481 0 0
....... LowerArm_L 24.3286 0 0
........ Hand_L 22.2916 0 0
..... Shoulder_R 12.9945 -0.2427 -4.9804
...... UpperArm_R -5.3481 0 0
....... LowerArm_R -24.3289 0.0003 0
........ Hand_R -22.2915 -0.0001 0
... UpperLeg_L -2.1925 -6.4694 0
.... LowerLeg_L 39.0811 0 0
..... Foot_L 40.9854 0 0
...... Toes_L 11.7543 0 0
... UpperLeg_R -2.1925 6.4694 0
.... LowerLeg_R -39.0811 0 0
..... Foot_R -40.9854 0 0
...... Toes_R -11.7543 0 0
"""

_LAFAN_TREE = """
. Hips -224.6895 91.8821 -431.6255
.. LeftUpLeg 0.1035 1.8578 10.5485
... LeftLeg 43.5 0 0
.... LeftFoot 42.3722 0 0
..... LeftToe 17.3 0 0
.. RightUpLeg 0.1035 1.8578 -10.5485
... RightLeg 43.5 0 0
.... RightFoot 42.3722 0 0
..... RightToe 17.3 0 0
.. Spine 6.9020 -2.6037 0
... Spine1 12.5881 0 0
.... Spine2 12.3432 0 0
..... Neck 25.8329 0 0
...... Head 11.7666 0 0
..... LeftShoulder 19.7459 -1.4803 6.0001
...... LeftArm 11.2841 0 0
....... LeftForeArm 33.0001 0 0
........ LeftHand 25.2 0 0
..... RightShoulder 19.7461 -1.4804 -6.0001
...... RightArm 11.2841 0 0
....... RightForeArm 33.0001 0 0
........ RightHand 25.1998 0.0001 0.0004
"""

_MIXAMO_TREE = """
. mixamorig:Hips 0 0 0
.. mixamorig:Spine 0 9.9235 -1.2273
... mixamorig:Spine1 0 11.6455 -1.4224
.... mixamorig:Spine2 0 13.3602 -1.6265
..... mixamorig:Neck 0 15.0325 0.7929
...... mixamorig:Head 0 10.3218 3.1424
....... mixamorig:HeadTop_End 0 18.4747 6.6364
..... mixamorig:LeftShoulder 6.1059 9.1104 0.7056
...... mixamorig:LeftArm 12.6532 -0.3431 -2.6009
....... mixamorig:LeftForeArm 27.3517 -0.9645 -1.4034
........ mixamorig:LeftHand 27.5619 -0.7072 1.55
..... mixamorig:RightShoulder -6.1057 9.1105 0.7056
...... mixamorig:RightArm -12.6532 -0.3429 -2.6009
....... mixamorig:RightForeArm -27.3518 -0.9642 -1.4034
........ mixamorig:RightHand -27.5619 -0.7068 1.5501
.. mixamorig:RightUpLeg -9.1245 -6.6564 -0.0554
... mixamorig:RightLeg 0 -40.561 -1.7662
.... mixamorig:RightFoot 0.4978 -41.9625 -3.3512
..... mixamorig:RightToeBase -0.3734 -10.4922 12.6406
.. mixamorig:LeftUpLeg 9.1245 -6.6564 -0.0554
... mixamorig:LeftLeg 0 -40.561 -1.7662
.... mixamorig:LeftFoot -0.4978 -41.9625 -3.3512
..... mixamorig:LeftToeBase 0.3734 -10.4922 12.6406
"""

_XSENS_TREE = """
. Hips 0 0 0
.. Chest 0 10.6789 0.0063
... Chest2 0 10.4912 -0.0114
.... Chest3 0 9.4793 0
..... Chest4 0 9.4793 0
...... Neck 0 13.5353 0
....... Head 0 8.8191 -0.0271
...... RightCollar -3.0125 7.5452 0
....... RightShoulder -13.6831 0 0
........ RightElbow -26.36 0 0
......... RightWrist -21.7467 0 0.0086
...... LeftCollar 3.0125 7.5452 0
....... LeftShoulder 13.6831 0 0
........ LeftElbow 26.36 0 0
......... LeftWrist 21.7467 0 0.0086
.. RightHip -8.6225 -0.0308 -0.0031
... RightKnee 0 -37.2092 -0.0026
.... RightAnkle 0 -37.3433 -0.0585
..... RightToe 0 -8.9035 15.0881
.. LeftHip 8.6225 -0.0308 -0.0031
... LeftKnee 0 -37.2092 -0.0026
.... LeftAnkle 0 -37.3433 -0.0585
..... LeftToe 0 -8.9035 15.0881
"""

_CHARACTER1_TREE = """
. Character1_Hips 0 0 0
.. Character1_Spine 0 12 -1
... Character1_Spine1 0 22 0
.... Character1_LeftShoulder 4 18 0
..... Character1_LeftArm 13 0 0
...... Character1_LeftForeArm 27 0 0
....... Character1_LeftHand 25 0 0
....... L_Radius_RIGMESH 0 10 0
...... L_Humerus_RIGMESH 0 10 0
..... L_Shoulder_RIGMESH 0 0 10
.... Character1_RightShoulder -4 18 0
..... Character1_RightArm -13 0 0
...... Character1_RightForeArm -27 0 0
....... Character1_RightHand -25 0 0
....... R_Radius_RIGMESH 0 10 0
...... R_Humerus_RIGMESH 0 10 0
..... R_Shoulder_RIGMESH 0 0 10
.... Character1_Neck 0 24 0
..... Character1_Head 0 10 2
..... Neck_RIGMESH 0 0 10
.... Torso_RIGMESH 0 0 10
... Spine_RIGMESH 0 0 10
.. Character1_RightUpLeg -9 -6 0
... Character1_RightLeg 0 -42 0
.... Character1_RightFoot 0 -41 -2
..... Character1_RightToeBase 1.8706 -6.6952 14.7145
..... R_Talus_RIGMESH -10 0 0
.... R_Tibia_RIGMESH -10 0 0
... R_Femur_RIGMESH -10 0 0
.. Character1_LeftUpLeg 9 -6 0
... Character1_LeftLeg 0 -42 0
.... Character1_LeftFoot 0 -41 -2
..... Character1_LeftToeBase -1.8706 -6.6952 14.7145
..... L_Talus_RIGMESH 10 0 0
.... L_Tibia_RIGMESH 10 0 0
... L_Femur_RIGMESH 10 0 0
.. Pelvis_RIGMESH 0 0 10
"""

_BIPED_TREE = """
. Bip001_Pelvis 34.4345 95.6767 -26.8758
.. Bip001_Spine 0 10.2191 -0.0116
... Bip001_L_Thigh 11.0458 -10.2192 0.0116
.... Bip001_L_Calf -0.7071 -44.0221 0.36
..... Bip001_L_Foot -0.6519 -40.5938 -3.5615
...... Bip001_L_Toe0 0.0531 -10.2181 13.1504
... Bip001_R_Thigh -11.0458 -10.2191 0.0116
.... Bip001_R_Calf 0.7070 -44.0221 0.3598
..... Bip001_R_Foot 0.6518 -40.5938 -3.5613
...... Bip001_R_Toe0 -0.0531 -10.2181 13.1504
... Bip001_Spine1 0 14.5736 1.0864
.... Bip001_Spine2 0 14.5058 -1.6908
..... Bip001_Neck 0 15.3945 -0.4894
...... Bip001_L_Clavicle 6.0604 -0.0006 0.0084
....... Bip001_L_UpperArm 11.5509 -0.06 0.0019
........ Bip001_L_Forearm 25.9523 0.0806 -2.1555
......... Bip001_L_Hand 32.2475 0.1538 1.6397
...... Bip001_R_Clavicle -6.0604 -0.0006 0.0084
....... Bip001_R_UpperArm -11.5509 -0.06 0.0019
........ Bip001_R_Forearm -25.9523 0.0807 -2.1559
......... Bip001_R_Hand -32.2475 0.1539 1.6399
...... Bip001_Head 0 11.2744 2.0595
"""

_SFU_TREE = """
. Hips 0 0 0
.. LeftUpLeg 9.2698 0 0
... LeftLeg 0 -39.8928 0
.... LeftFoot 0 -39.1635 0
..... LeftToeBase 0 -3.9 14.5551
.. RightUpLeg -9.2698 0 0
... RightLeg 0 -39.8928 0
.... RightFoot 0 -39.1635 0
..... RightToeBase 0 -3.9 14.5551
.. Spine 0 0.1 0
... Spine1 0 26.0307 0
.... Neck 0 19.8803 0
..... Head 0 17.5442 0
.... LeftShoulder 0 19.8803 0
..... LeftArm 17.0439 -0.0001 0
...... LeftForeArm 27.7983 -0.0001 0
....... LeftHand 21.6411 -0.0001 0
........ LeftHandThumb 0 0 0
........ L_Wrist_End 10 0 0
.... RightShoulder 0 19.8803 0
..... RightArm -17.0439 -0.0001 0
...... RightForeArm -27.7983 -0.0001 0
....... RightHand -21.6411 -0.0001 0
........ RightHandThumb 0 0 0
........ R_Wrist_End -13.7 -0.0001 0
"""

_FAIR_TREE = """
. Hips 0 0 0
.. Spine 0 1.1527 1.7290
... Spine1 0 0.4003 2.2703
.... Spine2 0 0.2009 2.2966
..... Spine3 0 0 2.3053
...... Neck 0 -0.8645 6.0515
....... Head 0 -0.5504 3.1217
...... RightShoulder -0.7883 -1.3138 4.2567
....... RightArm -3.9151 0 0
........ RightForeArm -6.9149 0 0
......... RightHand -6.0962 0 0
.......... RightHandEnd -1.75 0 0
.......... RightHandThumb1 -0.7 -1.1666 -0.4667
...... LeftShoulder 0.7883 -1.3138 4.2567
....... LeftArm 3.9151 0 0
........ LeftForeArm 6.9149 0 0
......... LeftHand 6.0962 0 0
.......... LeftHandEnd 1.75 0 0
.......... LeftHandThumb1 0.7 -1.1666 -0.4667
.. RightUpLeg -2.3386 0 -0.6832
... RightLeg 0 0 -10.745
.... RightFoot 0 0 -10.9309
..... RightToeBase 0 -4.0873 -1.4877
.. LeftUpLeg 2.3386 0 -0.6832
... LeftLeg 0 0 -10.745
.... LeftFoot 0 0 -10.9309
..... LeftToeBase 0 -4.0873 -1.4877
"""

_SMPL_TREE = """
. Pelvis -0.1795 -22.3333 2.8219
.. L_Hip 6.9520 -9.1406 -0.6815
... L_Knee 3.4277 -37.5199 -0.4496
.... L_Ankle -1.3596 -39.7960 -4.3693
..... L_Foot 2.6358 -5.5791 11.9288
.. R_Hip -6.7670 -9.0522 -0.4320
... R_Knee -3.8290 -38.2569 -0.8850
.... R_Ankle 1.5774 -39.8415 -4.2312
..... R_Foot -2.5372 -4.8144 12.3348
.. Spine1 -0.2533 10.8963 -2.6696
... Spine2 0.5487 13.5180 0.1092
.... Spine3 0.1457 5.2922 2.5425
..... Neck -0.2778 21.3870 -4.2857
...... Head 0.5152 6.4970 5.1349
..... L_Collar 7.8845 12.1749 -3.4090
...... L_Shoulder 9.0977 3.0469 -0.8868
....... L_Elbow 25.9612 -1.2772 -2.7456
........ L_Wrist 24.9234 0.8986 -0.1171
..... R_Collar -8.1759 11.8833 -3.8615
...... R_Shoulder -9.6012 3.2551 -0.9143
....... R_Elbow -25.3742 -1.3329 -2.1401
........ R_Wrist -25.5298 0.7772 -0.5559
"""

_DAZ_TREE = """
. hip 0 0 0
.. abdomen 0 20.6881 -0.7315
... chest 0 11.7043 -0.4877
.... neck 0 22.1894 -2.1946
.... rcollar -2.6822 19.2634 -4.8768
..... rshldr -8.7782 -1.9507 1.4630
...... rforearm -28.1742 -1.7115 0.4877
....... rhand -22.5879 0.7732 7.0714
.... lcollar 2.6822 19.2634 -4.8768
..... lshldr 8.7782 -1.9507 1.4630
...... lforearm 28.1742 -1.7115 0.4877
....... lhand 22.5879 0.7732 7.0714
.. rbuttock -8.7782 4.3508 1.2192
... rthigh 0 -1.7069 -2.1946
.... rshin 0 -36.8199 0.7315
..... rfoot 0.7315 -45.1104 -5.1206
.. lbuttock 8.7782 4.3508 1.2192
... lthigh 0 -1.7069 -2.1946
.... lshin 0 -36.8199 0.7315
..... lfoot -0.7315 -45.1104 -5.1206
"""

_XSENS_ROLES = {"hip": "{S}Hip", "knee": "{S}Knee", "ankle": "{S}Ankle", "foot": "{S}Toe",
                "collar": "{S}Collar", "shoulder": "{S}Shoulder", "elbow": "{S}Elbow",
                "wrist": "{S}Wrist"}  # fmt: skip
_BIPED_ROLES = {"hip": "{B}_{S}_Thigh", "knee": "{B}_{S}_Calf", "ankle": "{B}_{S}_Foot",
                "foot": "{B}_{S}_Toe0", "collar": "{B}_{S}_Clavicle",
                "shoulder": "{B}_{S}_UpperArm", "elbow": "{B}_{S}_Forearm",
                "wrist": "{B}_{S}_Hand"}  # fmt: skip
_HEAD = {"neck": "Neck", "head": "Head"}


def _truebones() -> Rig:
    """A human biped with what 3ds Max does to Truebones' files: a ROOT around the pelvis, position
    channels everywhere, and a constant turn of every joint's axes."""
    tree = "\n".join("." + row for row in _BIPED_TREE.strip().splitlines())
    tree = ". Hips 0 95.6767 0\n" + tree.replace("Bip001", "Bip01").replace(
        "Bip01_Pelvis 34.4345 95.6767 -26.8758", "Bip01_Pelvis 0 0 0"
    )
    return Rig(
        source="LuCazzola/PoseYdon, docs on raw Truebones exports: `ROOT Hips` around an unmoved "
        "`Bip01_Pelvis`, six channels ZXY a joint; tree and offsets of nitin-ppnp/GPLVM's biped",
        tree=tree,
        roles={"pelvis": "Bip01_Pelvis", "neck": "Bip01_Neck", "head": "Bip01_Head"}
        | sided(_BIPED_ROLES, B=("Bip01", "Bip01"), S=("L", "R")),
        spine=("Bip01_Spine", "Bip01_Spine1", "Bip01_Spine2"),
        positions="all",
    )


RIGS: dict[str, Rig] = {
    "rokoko": Rig(
        source="facebookresearch/AnimatedDrawings, examples/bvh/rokoko/jesse_dance.bvh",
        tree=_ROKOKO_TREE,
        roles={"pelvis": "Hips"} | _HEAD | sided(_MB, S=_LR),
        order="YXZ",
        spine=("Spine", "Spine1", "Spine2"),
        # Frame 0: Spine (0, 0, 90), LeftShoulder (0, 0, -90), RightShoulder (180, 0, 90),
        # LeftUpLeg (-3, -1, -88), LeftFoot (286, 90, 0), all YXZ.
        axes={"Spine": "URF", "LeftShoulder": "LUF", "RightShoulder": "RUB", "LeftUpLeg": "DLF",
              "RightUpLeg": "DLF", "LeftFoot": "FUR", "RightFoot": "FUR"},
        pitch_deg={"LeftFoot": 16.0, "RightFoot": 16.0},
    ),
    "bandai-namco": Rig(
        source="BandaiNamcoResearchInc/Bandai-Namco-Research-Motiondataset, "
        "dataset/Bandai-Namco-Research-Motiondataset-1/data/dataset-1_dash_normal_001.bvh",
        tree=_BANDAI_TREE,
        roles={"pelvis": "Hips"} | _HEAD
        | sided({"hip": "UpperLeg_{S}", "knee": "LowerLeg_{S}", "ankle": "Foot_{S}",
                 "foot": "Toes_{S}", "collar": "Shoulder_{S}", "shoulder": "UpperArm_{S}",
                 "elbow": "LowerArm_{S}", "wrist": "Hand_{S}"}, S=("L", "R")),
        spine=("Spine", "Chest"),
        # Frame 0: Hips (92, 3, -20), Spine (86, 67, -90), Shoulder_L (-89, 10, -91), Shoulder_R
        # (90, 11, -88), UpperLeg_L (176, 1, -37), UpperLeg_R (-178, 4, 126), Foot_L (0, 3, -84).
        axes={"Hips": "URF", "Spine": "UFL", "Shoulder_L": "LUF", "Shoulder_R": "LDB",
              "UpperLeg_L": "DLF", "UpperLeg_R": "ULB", "Foot_L": "FLU", "Foot_R": "BLD"},
        pitch_deg={"Foot_L": 25.0, "Foot_R": 25.0},
        positions="all",
        carrier=True,
    ),
    "lafan1": Rig(
        source="voxell-tech/bevy_motion_matching, issue 10 (a LAFAN1 header); frame 0 as in "
        "stevenhaener/dynamo_scripts, lafan_breakdown.m",
        tree=_LAFAN_TREE,
        roles={"pelvis": "Hips"} | _HEAD | sided(_MB | {"foot": "{S}Toe"}, S=_LR),
        order="ZYX",
        spine=("Spine", "Spine1", "Spine2"),
        # Frame 0: Hips (90, 1, 92), LeftUpLeg (176, -4, 173), LeftFoot (76, -2, -2), LeftToe (21,
        # 0, 0), LeftShoulder (-65, -84, -118), RightShoulder (-83, 80, 100), all ZYX.
        axes={"Hips": "UFL", "LeftUpLeg": "DFR", "RightUpLeg": "DFR", "LeftFoot": "FUR",
              "RightFoot": "FUR", "LeftShoulder": "LBU", "RightShoulder": "RBD"},
        pitch_deg={"LeftFoot": 16.0, "RightFoot": 16.0},
    ),
    "mixamo": Rig(
        source="20tab/bvh-python, tests/test_freebvh.bvh",
        tree=_MIXAMO_TREE,
        roles={role: f"mixamorig:{name}" for role, name in
               ({"pelvis": "Hips"} | _HEAD | sided(_MB, S=_LR)).items()},
        order="ZYX",
        spine=tuple(f"mixamorig:{name}" for name in ("Spine", "Spine1", "Spine2")),
    ),
    "xsens": Rig(
        source="ousttrue/UniHumanoid, Scripts/Editor/Tests/BvhLoaderTests.cs (bvh_mocap2)",
        tree=_XSENS_TREE,
        roles={"pelvis": "Hips"} | _HEAD | sided(_XSENS_ROLES, S=_LR),
        order="YXZ",
        spine=("Chest", "Chest2", "Chest3", "Chest4"),
    ),
    "motionbuilder": Rig(
        source="a public BVH writer for MotionBuilder (hierarchySectionTemplate, ROOT "
        "Character1_Hips): names, tree, channels, toes, helpers; it fills in bone lengths itself",
        tree=_CHARACTER1_TREE,
        roles={role: f"Character1_{name}" for role, name in
               ({"pelvis": "Hips"} | _HEAD | sided(_MB, S=_LR)).items()},
        spine=("Character1_Spine", "Character1_Spine1"),
    ),
    "3ds-max-biped": Rig(
        source="nitin-ppnp/GPLVM, Data/HighFive/BVH/angry/IIIa/nick_angry_IIIa_2.bvh",
        tree=_BIPED_TREE,
        roles={"pelvis": "Bip001_Pelvis", "neck": "Bip001_Neck", "head": "Bip001_Head"}
        | sided(_BIPED_ROLES, B=("Bip001", "Bip001"), S=("L", "R")),
        spine=("Bip001_Spine", "Bip001_Spine1", "Bip001_Spine2"),
    ),
    "truebones": _truebones(),
    "cmu": Rig(
        source="CMU mocap, 35_01.bvh, the MotionBuilder-friendly release (docs/data.md)",
        tree=_CMU_TREE,
        roles={"pelvis": "Hips", "neck": "Neck1", "head": "Head"} | sided(_MB, S=_LR),
        order="ZYX",
        metres=0.0254 / 0.45,
        spine=("LowerBack", "Spine", "Spine1"),
    ),
    "sfu": Rig(
        source="kevinxie4c/motion-viewer, 0005_2FeetJump001_metric.bvh",
        tree=_SFU_TREE,
        roles={"pelvis": "Hips"} | _HEAD | sided(_MB, S=_LR),
        order="XYZ",
        spine=("Spine", "Spine1"),
    ),
    "z-up": Rig(
        source="facebookresearch/AnimatedDrawings, examples/bvh/fair1/dab.bvh",
        tree=_FAIR_TREE,
        roles={"pelvis": "Hips"} | _HEAD | sided(_MB, S=_LR),
        order="XYZ",
        metres=0.0254,
        spine=("Spine", "Spine1", "Spine2", "Spine3"),
        axes={"Hips": "LBU"},
        world=Z_UP,
    ),
    "z-up-around-y-up": Rig(
        source="lched/python_motion, ref_Zup.bvh (its offsets; SMPL's names put right)",
        tree=_SMPL_TREE,
        roles={"pelvis": "Pelvis"} | _HEAD
        | sided({role: name.replace("{S}", "{S}_").replace("Toe", "Foot")
                 for role, name in _XSENS_ROLES.items()}, S=("L", "R")),
        order="ZYX",
        spine=("Spine1", "Spine2", "Spine3"),
        world=Z_UP,
    ),
    "daz": Rig(
        source="mrdoob/three.js, examples/models/bvh/pirouette.bvh",
        tree=_DAZ_TREE,
        roles={"pelvis": "hip", "neck": "neck"}
        | sided({"hip": "{s}thigh", "knee": "{s}shin", "ankle": "{s}foot", "collar": "{s}collar",
                 "shoulder": "{s}shldr", "elbow": "{s}forearm", "wrist": "{s}hand"},
                s=("l", "r")),
        order="ZYX",
        spine=("abdomen", "chest"),
    ),
}  # fmt: skip
"""One rig a producer."""
