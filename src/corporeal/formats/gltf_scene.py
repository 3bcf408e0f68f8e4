"""What a GLB file holds, as plain arrays: nodes, surfaces, skins, animation tracks.

Vertices stay as the file has them: never merged, dropped or reordered.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.formats.glb_read import GlbFile, open_glb

MAX_NODES = 20_000
_TRIANGLES = 4
_WIDTHS = {"translation": "VEC3", "scale": "VEC3", "rotation": "VEC4", "weights": "SCALAR"}
_MODES = ("LINEAR", "STEP", "CUBICSPLINE")


@dataclass(frozen=True)
class GltfNode:
    """One node of the tree; its transform is `matrix`, or translation · rotation · scale."""

    name: str
    """As in the file, or `node_` and its number."""
    parent: int
    """−1 at the top."""
    translation: Float64[NumpyArray, "3"]
    """In the parent's space, file units (metres by the standard)."""
    rotation_xyzw: Float64[NumpyArray, "4"]
    """Unit quaternion in the parent's space."""
    scale: Float64[NumpyArray, "3"]
    """Factor along each axis."""
    matrix: Float64[NumpyArray, "4 4"] | None
    """Parent from node, instead of the three above; None where they are given."""
    mesh: int | None
    """Index into `GltfScene.meshes`; None for a node without a surface."""
    skin: int | None
    """Index into `GltfScene.skins`; None for a rigid surface."""


@dataclass(frozen=True)
class Primitive:
    """One surface with one material."""

    vertices: Float64[NumpyArray, "V 3"]
    """Positions in the node's space, file units."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices into `vertices`."""
    uv: Float64[NumpyArray, "V 2"] | None
    """Texture coordinates, v down as in glTF."""
    colours: Float64[NumpyArray, "V 3"] | None
    """Linear RGB."""
    joints: Int[NumpyArray, "V K"] | None
    """Index into the skin's joints."""
    weights: Float64[NumpyArray, "V K"] | None
    """Skin weights of the joints in `joints`."""
    morph_offsets: Float64[NumpyArray, "B V 3"]
    """Displacement of every vertex at weight 1, file units."""
    morph_normals: Float64[NumpyArray, "B V 3"] | None
    """Change of the normals at weight 1."""


@dataclass(frozen=True)
class GltfMesh:
    """Surfaces that belong together."""

    name: str
    """As in the file, or `mesh_` and its number."""
    primitives: tuple[Primitive, ...]
    """Its surfaces, one a material."""
    morph_names: tuple[str, ...]
    """One a morph target, from `extras.targetNames` or numbered."""
    morph_weights: Float64[NumpyArray, "B"]
    """Weights where nothing is animated."""
    source_vertices: tuple[int, ...]
    """Originals of the last vertices, which this package's writer appended at texture seams."""


@dataclass(frozen=True)
class Skin:
    """Joints, by node, and the way from the mesh's space to each at rest."""

    joints: tuple[int, ...]
    """Index into `GltfScene.nodes` of every joint."""
    joint_from_mesh: Float64[NumpyArray, "J 4 4"]
    """Inverse bind matrices."""


@dataclass(frozen=True)
class Track:
    """One animated property of one node."""

    node: int
    """Index into `GltfScene.nodes`."""
    path: str
    """`translation`, `rotation` (xyzw), `scale` or `weights`."""
    mode: str
    """`LINEAR`, `STEP` or `CUBICSPLINE`."""
    times: Float64[NumpyArray, "n"]
    """Seconds, rising."""
    values: Float64[NumpyArray, "rows c"]
    """A row a time; three (in-tangent, value, out-tangent) for `CUBICSPLINE`."""


@dataclass(frozen=True)
class GltfScene:
    """A parsed file. Every index is in range and the nodes form trees."""

    nodes: tuple[GltfNode, ...]
    """All nodes, in the file's order."""
    meshes: tuple[GltfMesh, ...]
    """All meshes, in the file's order."""
    skins: tuple[Skin, ...]
    """All skins, in the file's order."""
    animations: tuple[tuple[str, tuple[Track, ...]], ...]
    """Name and tracks."""
    frame_rates: tuple[tuple[float, int] | None, ...] = ()
    """Frames a second and frames of every animation, where the file says them."""


def read_gltf_scene(path: str | Path) -> GltfScene:
    """Read a `.glb` file; `FormatError` says what is wrong with one that is damaged."""
    file = open_glb(path)
    nodes = _nodes(file)
    meshes = tuple(_mesh(file, index, item) for index, item in enumerate(file.items("meshes")))
    skins = tuple(_skin(file, item, len(nodes)) for item in file.items("skins"))
    animations = tuple(
        (
            file.text(item, "name", f"animation_{index}"),
            _tracks(file, item, nodes, meshes),
        )
        for index, item in enumerate(file.items("animations"))
    )
    rates = tuple(_frame_rate(item) for item in file.items("animations"))
    return GltfScene(nodes, meshes, skins, animations, rates)


def _frame_rate(item: Mapping[str, Any]) -> tuple[float, int] | None:
    """What this package's writer notes, since thinned tracks do not show it."""
    extras = item.get("extras")
    extras = extras if isinstance(extras, dict) else {}
    fps, frames = extras.get("fps"), extras.get("frames")
    if not isinstance(fps, int | float) or not isinstance(frames, int):
        return None
    return (float(fps), frames) if 0.01 < fps < 1e5 and 1 <= frames < 10**6 else None


def _nodes(file: GlbFile) -> tuple[GltfNode, ...]:
    items = file.items("nodes")
    if len(items) > MAX_NODES:
        file.refuse(f"it has {len(items)} nodes; at most {MAX_NODES} are read")
    parents = _parents(file, items)
    return tuple(_node(file, index, item, parents[index]) for index, item in enumerate(items))


def _parents(file: GlbFile, items: list[Mapping[str, Any]]) -> list[int]:
    parents = [-1] * len(items)
    for index, item in enumerate(items):
        for child in file.indices(item, "children", len(items), "node"):
            if parents[child] != -1:
                file.refuse(f"node {child} has two parents, {parents[child]} and {index}")
            parents[child] = index
    reached = [index for index, parent in enumerate(parents) if parent < 0]
    for index in reached:  # grows while it is walked: children follow their parents
        reached.extend(file.indices(items[index], "children", len(items), "node"))
    if len(reached) < len(items):
        file.refuse(f"{len(items) - len(reached)} nodes are their own ancestors")
    return parents


def _node(file: GlbFile, index: int, item: Mapping[str, Any], parent: int) -> GltfNode:
    matrix = None
    if "matrix" in item:
        matrix = file.numbers(item, "matrix", tuple(np.eye(4).ravel())).reshape(4, 4).T
    rotation = file.numbers(item, "rotation", (0.0, 0.0, 0.0, 1.0))
    length = float(np.linalg.norm(rotation))
    if not 0.5 < length < 2:
        file.refuse(f"node {index} has a rotation of length {length:.3g}; expected 1")
    meshes, skins = len(file.items("meshes")), len(file.items("skins"))
    return GltfNode(
        name=file.text(item, "name", f"node_{index}"),
        parent=parent,
        translation=file.numbers(item, "translation", (0.0, 0.0, 0.0)),
        rotation_xyzw=rotation / length,
        scale=file.numbers(item, "scale", (1.0, 1.0, 1.0)),
        matrix=matrix,
        mesh=file.index(item, "mesh", meshes, "mesh") if "mesh" in item else None,
        skin=file.index(item, "skin", skins, "skin") if "skin" in item else None,
    )


def _mesh(file: GlbFile, index: int, item: Mapping[str, Any]) -> GltfMesh:
    primitives = tuple(_primitive(file, part) for part in file.objects(item, "primitives"))
    if not primitives:
        file.refuse(f"mesh {index} has no primitives")
    counts = {len(part.morph_offsets) for part in primitives}
    if len(counts) > 1:
        file.refuse(f"mesh {index} has parts with {sorted(counts)} morph targets")
    morphs = counts.pop()
    extras = item.get("extras", {})
    extras = extras if isinstance(extras, dict) else {}
    names = extras.get("targetNames")
    if not isinstance(names, list) or len(names) != morphs or len(set(map(str, names))) != morphs:
        names = [f"morph_{b:02d}" for b in range(morphs)]
    sources = extras.get("source_vertices", [])
    whole = isinstance(sources, list) and all(type(source) is int for source in sources)
    return GltfMesh(
        name=file.text(item, "name", f"mesh_{index}"),
        primitives=primitives,
        morph_names=tuple(map(str, names)),
        morph_weights=file.numbers(item, "weights", (0.0,) * morphs),
        source_vertices=tuple(sources) if whole else (),
    )


def _primitive(file: GlbFile, item: Mapping[str, Any]) -> Primitive:
    mode = file.integer(item, "mode", _TRIANGLES)
    if mode != _TRIANGLES:
        file.refuse(f"a mesh has drawing mode {mode}; only triangles (4) are read")
    names = file.inside(item, "attributes")
    accessors = len(file.items("accessors"))

    def attribute(name: str, kind: str, *, whole: bool = False) -> NumpyArray | None:
        if name not in names:
            return None
        rows = file.array(file.index(names, name, accessors, "accessor"), kind, whole=whole)
        if name != "POSITION" and len(rows) != count:
            file.refuse(f"{name} has {len(rows)} rows for {count} vertices")
        return rows

    count = 0
    vertices = attribute("POSITION", "VEC3")
    if vertices is None or not len(vertices):
        file.refuse("a mesh has no positions")
    count = len(vertices)
    joints, weights = attribute("JOINTS_0", "VEC4", whole=True), attribute("WEIGHTS_0", "VEC4")
    more = attribute("JOINTS_1", "VEC4", whole=True), attribute("WEIGHTS_1", "VEC4")
    if joints is not None and weights is not None and more[0] is not None and more[1] is not None:
        joints, weights = np.c_[joints, more[0]], np.c_[weights, more[1]]
    offsets, normals = _morphs(file, item, count)
    return Primitive(
        vertices=vertices,
        triangles=_triangles(file, item, count),
        uv=attribute("TEXCOORD_0", "VEC2"),
        colours=_colours(file, names, attribute),
        joints=joints if weights is not None else None,
        weights=weights if joints is not None else None,
        morph_offsets=offsets,
        morph_normals=normals,
    )


def _colours(file: GlbFile, names: Mapping[str, Any], attribute: Any) -> NumpyArray | None:
    if "COLOR_0" not in names:
        return None
    accessors = file.items("accessors")
    index = file.index(names, "COLOR_0", len(accessors), "accessor")
    kind = "VEC4" if accessors[index].get("type") == "VEC4" else "VEC3"
    return attribute("COLOR_0", kind)[:, :3]


def _triangles(file: GlbFile, item: Mapping[str, Any], count: int) -> Int[NumpyArray, "F 3"]:
    if "indices" in item:
        accessor = file.index(item, "indices", len(file.items("accessors")), "accessor")
        corners = file.array(accessor, "SCALAR", whole=True)[:, 0]
    else:
        corners = np.arange(count)
    if len(corners) % 3:
        file.refuse(f"a mesh has {len(corners)} triangle corners, not a multiple of 3")
    if len(corners) and not (corners.min() >= 0 and corners.max() < count):
        file.refuse(f"a triangle names vertex {corners.max()}; there are {count}")
    return corners.reshape(-1, 3).astype(np.int32)


def _morphs(
    file: GlbFile, item: Mapping[str, Any], count: int
) -> tuple[Float64[NumpyArray, "B V 3"], Float64[NumpyArray, "B V 3"] | None]:
    accessors = len(file.items("accessors"))
    found: dict[str, list[NumpyArray]] = {"POSITION": [], "NORMAL": []}
    targets = file.objects(item, "targets")
    for target in targets:
        for name, rows in found.items():
            if name in target:
                array = file.array(file.index(target, name, accessors, "accessor"), "VEC3")
                if len(array) != count:
                    file.refuse(f"a morph target has {len(array)} rows for {count} vertices")
                rows.append(array)
    empty = np.zeros((0, count, 3))
    if not targets:
        return empty, None
    if len(found["POSITION"]) != len(targets):
        file.refuse("a morph target has no positions")
    normals = found["NORMAL"]
    return np.stack(found["POSITION"]), np.stack(normals) if len(normals) == len(targets) else None


def _skin(file: GlbFile, item: Mapping[str, Any], node_count: int) -> Skin:
    joints = file.indices(item, "joints", node_count, "node")
    if not joints or len(set(joints)) != len(joints):
        file.refuse("a skin has no joints, or one of them twice")
    matrices = np.tile(np.eye(4), (len(joints), 1, 1))
    if "inverseBindMatrices" in item:
        accessor = file.index(item, "inverseBindMatrices", len(file.items("accessors")), "accessor")
        columns = file.array(accessor, "MAT4")
        if len(columns) != len(joints):
            file.refuse(f"a skin has {len(joints)} joints and {len(columns)} bind matrices")
        matrices = columns.reshape(-1, 4, 4).swapaxes(1, 2)
    return Skin(tuple(joints), matrices)


def _tracks(
    file: GlbFile,
    item: Mapping[str, Any],
    nodes: tuple[GltfNode, ...],
    meshes: tuple[GltfMesh, ...],
) -> tuple[Track, ...]:
    samplers = file.objects(item, "samplers")
    tracks: list[Track] = []
    for channel in file.objects(item, "channels"):
        target = file.inside(channel, "target")
        if "node" not in target:
            continue  # glTF: ignore what an unknown extension animates
        node = file.index(target, "node", len(nodes), "node")
        sampler = samplers[file.index(channel, "sampler", len(samplers), "sampler")]
        tracks.append(_track(file, sampler, node, file.text(target, "path", ""), nodes, meshes))
    return tuple(tracks)


def _track(
    file: GlbFile,
    sampler: Mapping[str, Any],
    node: int,
    path: str,
    nodes: tuple[GltfNode, ...],
    meshes: tuple[GltfMesh, ...],
) -> Track:
    if path not in _WIDTHS:
        file.refuse(f"an animation moves {path[:40]!r}; expected one of {', '.join(_WIDTHS)}")
    mode = file.text(sampler, "interpolation", "LINEAR")
    if mode not in _MODES:
        file.refuse(f"an animation has the interpolation {mode[:40]!r}")
    accessors = len(file.items("accessors"))
    times = file.array(file.index(sampler, "input", accessors, "accessor"), "SCALAR")[:, 0]
    if not len(times) or np.any(np.diff(times) <= 0):
        file.refuse("an animation has times that do not rise")
    values = file.array(file.index(sampler, "output", accessors, "accessor"), _WIDTHS[path])
    if path == "weights":
        mesh = nodes[node].mesh
        width = len(meshes[mesh].morph_weights) if mesh is not None else 0
        if not width or len(values) % width:
            file.refuse(f"an animation has {len(values)} weights for {width} morph targets")
        values = values.reshape(-1, width)
    rows = len(times) * (3 if mode == "CUBICSPLINE" else 1)
    if len(values) != rows:
        file.refuse(f"an animation has {len(values)} values for {len(times)} times ({mode})")
    if path == "rotation":
        lengths = np.linalg.norm(values[1::3] if mode == "CUBICSPLINE" else values, axis=1)
        if lengths.min() < 0.5 or lengths.max() > 2:
            file.refuse("an animation has rotations whose quaternions are far from length 1")
    return Track(node, path, mode, times, values)
