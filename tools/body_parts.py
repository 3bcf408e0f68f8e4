"""Names every skin vertex after the body part it belongs to."""

import numpy as np
from cavities import hidden_vertices, patches, sphere_directions
from makehuman_source import BODY_VERTEX_COUNT, MakeHumanSource

SIDES = ("left", "right")
PART_NAMES = (
    "head", "neck", "chest", "belly", "back", "hips",
    *(f"{side}_{part}" for part in (
        "breast", "buttock", "shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot",
        "eye_socket") for side in SIDES),
    "inner_mouth",
)  # fmt: skip
PART_OF_JOINT = {
    "head": "head", "neck": "neck", "collar": "shoulder", "shoulder": "upper_arm",
    "elbow": "forearm", "wrist": "hand", "hip": "thigh", "knee": "shin", "ankle": "foot",
    "foot": "foot",
}  # fmt: skip
TRUNK_JOINTS = ("pelvis", "spine1", "spine2", "spine3")
BREAST_SHARE = 0.35
"""A vertex is of the breast where the source rig's breast bone has at least this weight."""
RIBS_SHARE = 0.35
"""The chest ends this far up from spine2 to spine3, where the ribs do."""


def part_labels(
    source: MakeHumanSource,
    average: np.ndarray,
    joint_names: tuple[str, ...],
    joints: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Index into `PART_NAMES` of every vertex of the average adult; mirrored vertices agree."""
    owner = np.array(joint_names)[weights.argmax(axis=1)]
    names = np.array([_limb_part(joint) for joint in owner], dtype=object)
    trunk = np.isin(owner, TRUNK_JOINTS)
    joint = dict(zip(joint_names, joints, strict=True))
    names[trunk] = _trunk_parts(average[trunk], joint)
    crotch = average[trunk, 1].min()
    for side in SIDES:
        _, y, z = average.T
        behind = (y > crotch) & (z < joint[f"{side}_hip"][2])
        names[behind & (names == f"{side}_thigh")] = f"{side}_buttock"
    for side, end in zip(SIDES, ("L", "R"), strict=True):
        breast = source.bone_weights[:, source.bones.index(f"breast.{end}")] >= BREAST_SHARE
        names[breast & np.isin(names, ("chest", "belly"))] = f"{side}_breast"
    for name, vertices in _cavities(source).items():
        names[vertices] = name
    labels = np.array([PART_NAMES.index(name) for name in names])
    return _mirrored(labels, source.mirror[:BODY_VERTEX_COUNT], average[:, 0])


def _limb_part(joint: str) -> str:
    if joint in TRUNK_JOINTS:
        return "belly"  # told apart by place, below
    side, _, part = joint.rpartition("_")
    part = PART_OF_JOINT.get(part, "hand")  # what remains are fingers
    return f"{side}_{part}" if side else part


def _trunk_parts(vertices: np.ndarray, joint: dict[str, np.ndarray]) -> np.ndarray:
    """Front and back by the spine's depth; upper and lower by height."""
    x, y, z = vertices.T
    spine = [joint[name] for name in ("pelvis", "spine1", "spine2", "spine3", "neck")]
    middle = np.interp(y, [p[1] for p in spine], [p[2] for p in spine])
    front = z > middle
    ribs = joint["spine2"][1] + RIBS_SHARE * (joint["spine3"][1] - joint["spine2"][1])
    crest = (joint["pelvis"][1] + joint["spine1"][1]) / 2
    upper = np.where(front, np.where(y > ribs, "chest", "belly"), "back")
    middle_line = np.abs(x) < 1e-6
    lower = np.where(x > 0, "left_buttock", "right_buttock")
    lower = np.where(front | middle_line, "hips", lower)
    return np.where(y > crest, upper, lower)


def _cavities(source: MakeHumanSource) -> dict[str, np.ndarray]:
    """Vertices of the mouth and of the sockets, with the eyeballs standing in the way of rays."""
    eyes = np.concatenate([source.helper_quads[f"helper-{s}-eye"] for s in ("l", "r")])
    quads = np.concatenate([source.quads, eyes])
    triangles = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    chin = source.vertices[source.group_vertices["joint-jaw"], 1].min() - 0.02
    is_head = source.vertices[:, 1] > chin
    triangles = triangles[is_head[triangles].all(axis=1)]
    candidates = np.flatnonzero(is_head[:BODY_VERTEX_COUNT])
    hidden = hidden_vertices(source.vertices, triangles, candidates, sphere_directions(200))
    found = patches(np.union1d(hidden, source.mirror[hidden]), triangles)
    names = {}
    for patch in found:
        x = source.vertices[patch, 0].mean()
        name = "inner_mouth" if abs(x) < 0.01 else f"{SIDES[int(x < 0)]}_eye_socket"
        names[name] = np.union1d(names.get(name, patch), patch)
    return names


def _mirrored(labels: np.ndarray, mirror: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Labels of the right half taken from the left, so that both sides agree exactly."""
    swapped = np.array([PART_NAMES.index(_other_side(name)) for name in PART_NAMES])
    right = (x < 0) & (mirror != np.arange(len(mirror)))
    labels = labels.copy()
    labels[right] = swapped[labels[mirror[right]]]
    return labels


def _other_side(name: str) -> str:
    side, _, rest = name.partition("_")
    return f"{ {'left': 'right', 'right': 'left'}[side] }_{rest}" if side in SIDES else name
