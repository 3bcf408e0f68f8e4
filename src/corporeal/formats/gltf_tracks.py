"""Playing the animation of a GLB file: node transforms and morph weights at given times."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.formats.gltf_scene import GltfNode, GltfScene, Track
from corporeal.geometry.rotations import matrix_from_quaternion, slerp

Tracks = tuple[Track, ...]


def sample(track: Track, times: Float64[NumpyArray, "n"]) -> Float64[NumpyArray, "n c"]:
    """Values of a track at `times` (seconds), held before its first key and after its last."""
    values = track.values
    right = np.clip(np.searchsorted(track.times, times, side="right"), 1, len(track.times) - 1)
    if len(track.times) == 1:
        return np.repeat(values[-1:] if track.mode != "CUBICSPLINE" else values[1:2], len(times), 0)
    left = right - 1
    span = track.times[right] - track.times[left]
    part = np.clip((times - track.times[left]) / span, 0.0, 1.0)
    if track.mode == "CUBICSPLINE":
        return _cubic(values, left, right, part[:, None], span[:, None])
    if track.mode == "STEP":
        return values[np.where(part >= 1, right, left)]
    if track.path == "rotation":
        turned = slerp(_wxyz(values[left]), _wxyz(values[right]), part)
        return turned[:, [1, 2, 3, 0]]
    return values[left] + part[:, None] * (values[right] - values[left])


def world_matrices(
    scene: GltfScene, tracks: Tracks, nodes: list[int], times: Float64[NumpyArray, "n"]
) -> dict[int, Float64[NumpyArray, "n 4 4"]]:
    """World matrix of every node in `nodes`, and of all above them, at `times` (seconds)."""
    moving: dict[int, dict[str, Track]] = {}
    for track in tracks:
        moving.setdefault(track.node, {}).setdefault(track.path, track)
    world: dict[int, Float64[NumpyArray, "n 4 4"]] = {}
    for node in nodes:
        branch = []
        while node >= 0 and node not in world:
            branch.append(node)
            node = scene.nodes[node].parent
        for index in reversed(branch):
            local = local_matrices(scene.nodes[index], moving.get(index, {}), times)
            parent = scene.nodes[index].parent
            world[index] = world[parent] @ local if parent >= 0 else local
    return world


def local_matrices(
    node: GltfNode, moving: dict[str, Track], times: Float64[NumpyArray, "n"]
) -> Float64[NumpyArray, "n 4 4"]:
    """A node's own matrix at `times`: T · R · S, each animated or at rest."""
    if node.matrix is not None:
        return np.repeat(node.matrix[None], len(times), axis=0)

    def part(path: str, still: NumpyArray) -> NumpyArray:
        return sample(moving[path], times) if path in moving else np.tile(still, (len(times), 1))

    turns = matrix_from_quaternion(_wxyz(part("rotation", node.rotation_xyzw)))
    matrices = np.tile(np.eye(4), (len(times), 1, 1))
    matrices[:, :3, :3] = turns * part("scale", node.scale)[:, None, :]
    matrices[:, :3, 3] = part("translation", node.translation)
    return matrices


def key_times(tracks: Tracks) -> tuple[Float64[NumpyArray, "n"], float | None]:
    """Times of the track with most keys, and their rate (frames a second) if it is steady."""
    times = max((track.times for track in tracks), key=len)
    if len(times) < 2:
        return times, None
    step = (times[-1] - times[0]) / (len(times) - 1)
    steady = np.abs(np.diff(times) - step).max() < 0.02 * step
    rate = float(1 / step)
    whole = round(rate)  # times are float32: 60 frames a second come back as 60.000001
    rate = float(whole) if abs(rate - whole) < 1e-4 * rate else rate
    return times, rate if steady else None


def _wxyz(xyzw: Float64[NumpyArray, "n 4"]) -> Float64[NumpyArray, "n 4"]:
    """Unit quaternions; a cubic spline can pass through zero, which is read as no turn."""
    length = np.linalg.norm(xyzw, axis=1, keepdims=True)
    unit = np.where(length > 1e-9, xyzw / np.where(length > 1e-9, length, 1.0), [0, 0, 0, 1.0])
    return unit[:, [3, 0, 1, 2]]


def _cubic(
    values: Float64[NumpyArray, "m c"],
    left: NumpyArray,
    right: NumpyArray,
    part: NumpyArray,
    span: NumpyArray,
) -> Float64[NumpyArray, "n c"]:
    """Hermite spline of glTF's specification, appendix C."""
    start, leave = values[3 * left + 1], span * values[3 * left + 2]
    end, arrive = values[3 * right + 1], span * values[3 * right]
    square, cube = part**2, part**3
    return (
        (2 * cube - 3 * square + 1) * start
        + (cube - 2 * square + part) * leave
        + (3 * square - 2 * cube) * end
        + (cube - square) * arrive
    )
