"""Motions of a producer's rig with known positions, and files of them.

Forward kinematics and Euler angles (SciPy's) are this module's own, so that nothing in it can share
a mistake with the reader.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from producers.rig import Rig


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
