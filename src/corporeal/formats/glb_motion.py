"""The motion of a glTF file (`.glb`), of any rig: a skin's joints, or all nodes that move."""

from pathlib import Path

import numpy as np

from corporeal.errors import FormatError
from corporeal.formats.gltf_scene import GltfScene, read_gltf_scene
from corporeal.formats.gltf_tracks import Tracks, key_times, world_matrices
from corporeal.formats.rig_motion import (
    RigFrames,
    RigReading,
    one_tree,
    require_frames,
    rig_motion,
)

_FPS = 30.0


def read_glb_motion(path: str | Path, unit: str | float = "auto", clip: int = 0) -> RigReading:
    """The motion in a `.glb`: animation `clip`, at the rate of its keys, or 30 frames a second.

    Joints rest where their skin was bound, or where the nodes are if nothing is skinned.
    """
    path = Path(path)
    scene = read_gltf_scene(path)
    if not 0 <= clip < len(scene.animations):
        raise FormatError(
            f"{path} has {len(scene.animations)} animations; number {clip} was asked for. Export "
            f"it with its animation."
        )
    tracks = scene.animations[clip][1]
    nodes = _nodes(scene, tracks)
    chosen, names, parents = one_tree(
        [scene.nodes[node].name for node in nodes], [_above(scene, node, nodes) for node in nodes]
    )
    nodes = [nodes[joint] for joint in chosen]
    times, fps = _times(tracks)
    require_frames(path, len(times), len(nodes))
    with np.errstate(all="ignore"):  # numbers that are not finite are refused by the motion
        world = world_matrices(scene, tracks, nodes, times)
        rest = _rest(scene, nodes)
    frames = np.stack([world[node] for node in nodes], axis=1)
    return rig_motion(path, RigFrames(names, parents, rest, frames, fps), unit)


def _nodes(scene: GltfScene, tracks: Tracks) -> list[int]:
    """Joints of all skins; without skins, nodes that turn and all above them."""
    joints = {joint for skin in scene.skins for joint in skin.joints}
    if joints:
        return sorted(joints)
    found: set[int] = set()
    for track in tracks:
        node = track.node if track.path != "weights" else -1
        while node >= 0 and node not in found:
            found.add(node)
            node = scene.nodes[node].parent
    return sorted(found)


def _above(scene: GltfScene, node: int, nodes: list[int]) -> int:
    """Place in `nodes` of the nearest of them above a node; −1 if there is none."""
    places = {index: place for place, index in enumerate(nodes)}
    node = scene.nodes[node].parent
    while node >= 0 and node not in places:
        node = scene.nodes[node].parent
    return places.get(node, -1)


def _times(tracks: Tracks) -> tuple[np.ndarray, float]:
    times, fps = key_times(tracks)
    if fps is not None:
        return times, fps
    count = min(float(times[-1] - times[0]) * _FPS, 1e7)
    return times[0] + np.arange(int(count + 1e-6) + 1) / _FPS, _FPS


def _rest(scene: GltfScene, nodes: list[int]) -> np.ndarray:
    """World matrices at rest: of the bind pose where a skin states it, else of the nodes."""
    still = world_matrices(scene, (), nodes, np.zeros(1))
    rest = np.stack([still[node][0] for node in nodes])
    for skin in scene.skins:
        bound = [joint for joint in skin.joints if joint in nodes]
        if len(bound) < 0.5 * len(nodes):
            continue
        inverse = dict(zip(skin.joints, skin.joint_from_mesh, strict=True))
        rest_bound = {j: np.linalg.inv(inverse[j]) for j in bound if _regular(inverse[j])}
        if len(rest_bound) == len(nodes):
            return np.stack([rest_bound[node] for node in nodes])
    return rest


def _regular(matrix: np.ndarray) -> bool:
    return bool(np.isfinite(matrix).all() and abs(np.linalg.det(matrix[:3, :3])) > 1e-12)
