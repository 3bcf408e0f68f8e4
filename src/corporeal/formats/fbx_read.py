"""Reading binary FBX: motions, skeletons and surfaces.

=================== ======================================================================
survives            joint tree and names, rotations (any Euler order, pre- and post-rotation,
                    pivots), the body's way, frame rate; vertices and polygons (as triangles)
does not            weights, morphs, materials, constraints, IK; takes and layers but the first;
                    keys are joined by straight lines, which baked takes are made of
unit and axes       stated by the file, brought to metres and y up
=================== ======================================================================

Own code, since the Python binding of ufbx (0.0.5) gives wrong parents and ends the process on skin
clusters. A node's matrix is T O P A R B⁻¹ P⁻¹ o p S p⁻¹, with the offsets and pivots O, P, o, p of
rotation and scaling, and the pre- and post-rotation A, B.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError
from corporeal.formats.fbx_tree import FbxNode, read_fbx_tree
from corporeal.formats.named_errors import says_the_file
from corporeal.formats.polygons import fan_triangles
from corporeal.formats.rig_motion import (
    RigFrames,
    RigReading,
    one_tree,
    require_frames,
    rig_motion,
)
from corporeal.geometry.rotations import matrix_from_euler

_TICKS: Final = 46_186_158_000.0
"""FBX's time units a second."""
_RATES: Final = {1: 120.0, 2: 100.0, 3: 60.0, 4: 50.0, 5: 48.0, 6: 30.0, 7: 30.0, 8: 29.97,
                 9: 29.97, 10: 25.0, 11: 24.0, 13: 23.976, 15: 96.0, 16: 72.0, 17: 59.94,
                 18: 119.88}  # fmt: skip
"""Frames a second by FBX's time mode; 14 states its own."""
_ORDERS: Final = ("ZYX", "YZX", "XZY", "ZXY", "YXZ", "XYZ")
"""FBX's Euler orders, which name the first turn first, as products of matrices."""
_TRACKS: Final = {"Lcl Translation": 0.0, "Lcl Rotation": 0.0, "Lcl Scaling": 1.0}
_BONES: Final = ("LimbNode", "Limb", "Root")


@dataclass
class _Scene:
    """Objects by id, and what is connected to what."""

    path: Path
    objects: dict[int, FbxNode]
    above: dict[int, list[tuple[int, str]]]
    """What an object is connected to, and as which property."""
    settings: Mapping[str, list[Any]]

    def kind(self, object_id: int) -> str:
        values = self.objects[object_id].values
        return str(values[2]) if len(values) > 2 else ""

    def parent(self, model: int) -> int | None:
        for target, _ in self.above.get(model, ()):
            if target in self.objects and self.objects[target].name == "Model":
                return target
        return None

    def below(self, target: int) -> list[tuple[int, str]]:
        return [
            (source, what)
            for source, links in self.above.items()
            for at, what in links
            if at == target and source in self.objects
        ]


@says_the_file
def read_fbx_motion(path: str | Path, unit: str | float = "auto") -> RigReading:
    """The first take of a file, on the skeleton that its bones are; y up.

    Joints rest in the pose in which the skin was bound, or else where the file has them.
    """
    scene = _scene(Path(path))
    bones, names, parents = _bones(scene)
    tracks = _tracks(scene)
    keys = [times for track in tracks.values() for times, _ in track.values() if len(times)]
    if not keys:
        raise FormatError(f"{path} holds no take; expected an animation. Export it with one.")
    fps = _rate(scene)
    start, end = min(t[0] for t in keys), max(t[-1] for t in keys)
    count = int(min((end - start) * fps, 1e7) + 0.5) + 1
    require_frames(scene.path, count, len(bones))
    place = _place(scene)
    world = place @ _worlds(scene, bones, tracks, start + np.arange(count) / fps)
    rest = place @ _rest(scene, bones)
    return rig_motion(path, RigFrames(names, parents, rest, world, fps), unit)


@says_the_file
def read_fbx_skeleton(path: str | Path) -> Skeleton:
    """The skeleton of a file at rest, metres, y up."""
    scene = _scene(Path(path))
    bones, names, parents = _bones(scene)
    return Skeleton(names, parents, (_place(scene) @ _rest(scene, bones))[:, :3, 3])


@says_the_file
def read_fbx_mesh(path: str | Path) -> Mesh:
    """All surfaces of a file as one mesh, metres, y up, where the models place them."""
    scene = _scene(Path(path))
    place, vertices, triangles, start = _place(scene), [], [], 0
    for geometry, node in scene.objects.items():
        if node.name != "Geometry" or scene.kind(geometry) != "Mesh":
            continue
        points = node.array("Vertices", "f8")
        points = points[: len(points) // 3 * 3].reshape(-1, 3)
        corners = node.array("PolygonVertexIndex", "i8")
        ends = np.flatnonzero(corners < 0)
        sizes = np.diff(ends, prepend=-1)
        corners = np.where(corners < 0, ~corners, corners)[: ends[-1] + 1 if len(ends) else 0]
        if len(corners) and (corners.max() >= len(points) or sizes.min() < 3):
            raise FormatError(f"{path} has polygons of vertices that it lacks.")
        owners = [target for target, _ in scene.above.get(geometry, ()) if target in scene.objects]
        world = place @ (_worlds(scene, owners[:1], {}, np.zeros(1))[0, 0] if owners else np.eye(4))
        vertices.append(points @ world[:3, :3].T + world[:3, 3])
        triangles.append(fan_triangles(sizes, corners) + start)
        start += len(points)
    if not vertices:
        raise FormatError(f"{path} holds no surface; expected a mesh. Export it with one.")
    return Mesh(np.concatenate(vertices), np.concatenate(triangles).astype(np.int32))


def _scene(path: Path) -> _Scene:
    root = read_fbx_tree(path)
    objects: dict[int, FbxNode] = {}
    for node in (root.first("Objects") or FbxNode("")).children:
        if node.values and isinstance(node.values[0], int):
            objects[node.values[0]] = node
    above: dict[int, list[tuple[int, str]]] = {}
    for link in (root.first("Connections") or FbxNode("")).all("C"):
        if len(link.values) >= 3 and all(isinstance(v, int) for v in link.values[1:3]):
            what = str(link.values[3]) if len(link.values) > 3 else ""
            above.setdefault(link.values[1], []).append((link.values[2], what))
    settings = root.first("GlobalSettings")
    return _Scene(path, objects, above, {} if settings is None else settings.properties())


def _number(properties: Mapping[str, list[Any]], name: str, default: float) -> float:
    value = properties.get(name, [])
    good = bool(value) and isinstance(value[0], int | float) and np.isfinite(value[0])
    return float(value[0]) if good else default


def _vector(properties: Mapping[str, list[Any]], name: str, default: float) -> NumpyArray:
    value = properties.get(name, [])[:3]
    if len(value) != 3 or not all(isinstance(v, int | float) for v in value):
        return np.full(3, default)
    return np.nan_to_num(np.array(value, np.float64))


def _rate(scene: _Scene) -> float:
    mode = int(_number(scene.settings, "TimeMode", 6.0))
    if mode == 14:
        return min(max(_number(scene.settings, "CustomFrameRate", 30.0), 1.0), 1000.0)
    return _RATES.get(mode, 30.0)


def _place(scene: _Scene) -> Float[NumpyArray, "4 4"]:
    """From the file's unit (stated in centimetres) and axes into metres, y up, facing +z."""
    rows = []
    for name, usual in (("Coord", 0), ("Up", 1), ("Front", 2)):
        axis = int(_number(scene.settings, f"{name}Axis", float(usual))) % 3
        rows.append(np.sign(_number(scene.settings, f"{name}AxisSign", 1.0)) * np.eye(3)[axis])
    axes = np.stack(rows)
    if np.linalg.det(axes) < 0.5:  # left-handed, or no axes at all: y up as it is
        axes = np.eye(3)
    matrix = np.eye(4)
    matrix[:3, :3] = 0.01 * max(_number(scene.settings, "UnitScaleFactor", 1.0), 1e-6) * axes
    return matrix


def _bones(scene: _Scene) -> tuple[list[int], tuple[str, ...], tuple[int, ...]]:
    """Models that are bones, in tree order; without bones, empties that move."""
    models = [i for i, node in scene.objects.items() if node.name == "Model"]
    order = [model for model in models if scene.kind(model) in _BONES]
    if not order:
        order = [model for model in models if scene.kind(model) in ("Null", "")]
    place = {model: index for index, model in enumerate(order)}
    parents = []
    for model in order:
        seen, above = {model}, scene.parent(model)
        while above is not None and above not in place and above not in seen:
            seen.add(above)
            above = scene.parent(above)
        parents.append(place.get(above, -1) if above is not None else -1)
    chosen, names, tree = one_tree([_name(scene.objects[model]) for model in order], parents)
    require_frames(scene.path, 1, len(chosen))
    return [order[joint] for joint in chosen], names, tree


def _name(node: FbxNode) -> str:
    text = str(node.values[1]) if len(node.values) > 1 else ""
    return text.split("\x00")[0].removeprefix("Model::")


Tracks = dict[tuple[int, str], dict[int, tuple[NumpyArray, NumpyArray]]]
"""Key times (seconds) and values by axis, by model and property."""


def _tracks(scene: _Scene) -> Tracks:
    """Curves of the first layer of the first take."""
    takes = [i for i, node in scene.objects.items() if node.name == "AnimationStack"]
    layers = [s for s, _ in scene.below(takes[0]) if takes] if takes else []
    layers = [s for s in layers if scene.objects[s].name == "AnimationLayer"][:1]
    curves: dict[int, list[tuple[int, str]]] = {}
    for source, links in scene.above.items():
        if source in scene.objects and scene.objects[source].name == "AnimationCurve":
            for target, what in links:
                curves.setdefault(target, []).append((source, what))
    tracks: Tracks = {}
    for node_id, node in scene.objects.items():
        links = scene.above.get(node_id, [])
        if node.name != "AnimationCurveNode" or not any(at in layers for at, _ in links):
            continue
        for model, what in links:
            if what in _TRACKS and model in scene.objects:
                tracks[model, what] = {
                    "XYZ".index(axis[-1]): _keys(scene, scene.objects[curve])
                    for curve, axis in curves.get(node_id, [])
                    if axis in ("d|X", "d|Y", "d|Z")
                }
    return tracks


def _keys(scene: _Scene, curve: FbxNode) -> tuple[NumpyArray, NumpyArray]:
    times, values = curve.array("KeyTime", "f8") / _TICKS, curve.array("KeyValueFloat", "f8")
    if len(times) != len(values) or (np.diff(times) < 0).any() or not np.isfinite(values).all():
        raise FormatError(f"{scene.path} has a curve of {len(times)} times and {len(values)} keys.")
    return times, values


def _worlds(
    scene: _Scene, models: list[int], tracks: Tracks, times: Float[NumpyArray, "N"]
) -> Float[NumpyArray, "N J 4 4"]:
    """World matrices of models at `times`, the file's unit and axes."""
    known: dict[int, Float[NumpyArray, "N 4 4"]] = {}
    for model in models:
        line: list[int] = []
        node: int | None = model
        while node is not None and node not in known:
            if node in line:
                raise FormatError(f"{scene.path} has a model above itself. It is damaged.")
            line.append(node)
            node = scene.parent(node)
        above = np.tile(np.eye(4), (len(times), 1, 1)) if node is None else known[node]
        for each in reversed(line):
            above = above @ _locals(scene, each, tracks, times)
            known[each] = above
    return np.stack([known[model] for model in models], axis=1)


def _locals(
    scene: _Scene, model: int, tracks: Tracks, times: Float[NumpyArray, "N"]
) -> Float[NumpyArray, "N 4 4"]:
    own = scene.objects[model].properties()
    parts = {}
    for name, default in _TRACKS.items():
        values = np.tile(_vector(own, name, default), (len(times), 1))
        for axis, (at, keys) in tracks.get((model, name), {}).items():
            if len(at):
                values[:, axis] = np.interp(times, at, keys)
        parts[name] = values
    active = _number(own, "RotationActive", 0.0) != 0.0
    order = _ORDERS[int(_number(own, "RotationOrder", 0.0)) % 6] if active else _ORDERS[0]
    turn = _turns(parts["Lcl Rotation"], order)
    if active:
        before, after = (
            _turns(_vector(own, name, 0.0)[None], "ZYX") for name in ("PreRotation", "PostRotation")
        )
        turn = before @ turn @ np.swapaxes(after, -1, -2)
    pivot, scale_pivot = _vector(own, "RotationPivot", 0.0), _vector(own, "ScalingPivot", 0.0)
    moved = parts["Lcl Translation"] + _vector(own, "RotationOffset", 0.0) + pivot
    shift = _vector(own, "ScalingOffset", 0.0) + scale_pivot - pivot
    scaled = turn * parts["Lcl Scaling"][:, None, :]
    matrices = np.tile(np.eye(4), (len(times), 1, 1))
    matrices[:, :3, :3] = scaled
    matrices[:, :3, 3] = moved + turn @ shift - scaled @ scale_pivot
    return matrices


def _turns(degrees: Float[NumpyArray, "N 3"], order: str) -> Float[NumpyArray, "N 3 3"]:
    axes = ["XYZ".index(axis) for axis in order]
    return matrix_from_euler(np.deg2rad(degrees[:, axes]), order)


def _rest(scene: _Scene, bones: list[int]) -> Float[NumpyArray, "J 4 4"]:
    """World matrices of the bind pose where skin or pose state it for all, else of the models."""
    bound: dict[int, NumpyArray] = {}
    for node_id, node in scene.objects.items():
        if node.name == "Pose":
            for row in node.all("PoseNode"):
                target = row.first("Node")
                if target is not None and target.values:
                    _bind(bound, target.values[0], row.array("Matrix", "f8"))
        elif node.name == "Deformer" and scene.kind(node_id) == "Cluster":
            for bone, _ in scene.below(node_id):
                _bind(bound, bone, node.array("TransformLink", "f8"))
    if all(bone in bound for bone in bones):
        return np.stack([bound[bone] for bone in bones])
    return _worlds(scene, bones, {}, np.zeros(1))[0]


def _bind(bound: dict[int, NumpyArray], bone: int, matrix: NumpyArray) -> None:
    if len(matrix) == 16 and np.isfinite(matrix).all():
        full = matrix.reshape(4, 4).T
        if abs(np.linalg.det(full[:3, :3])) > 1e-12:
            bound.setdefault(bone, full)
