"""The parts of a glTF mesh as one surface; seams that our own writer opened are closed again."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.formats.gltf_scene import GltfMesh, Primitive


@dataclass(frozen=True)
class JoinedSurface:
    """One surface with what its vertices carry. Arrays are None where some part lacks them."""

    mesh: Mesh
    """Vertices of all parts, in order, without those added at texture seams."""
    colours: Float64[NumpyArray, "V 3"] | None
    """Linear RGB."""
    joints: Int[NumpyArray, "V K"] | None
    """Index into the skin's joints of every influence."""
    weights: Float64[NumpyArray, "V K"] | None
    """Skin weights of these joints."""
    morph_offsets: Float64[NumpyArray, "B V 3"]
    """Displacement of every vertex at weight 1, file units."""
    morph_normals: Float64[NumpyArray, "B V 3"] | None
    """Change of the normals at weight 1."""


def join_surface(mesh: GltfMesh) -> JoinedSurface:
    """All parts of a mesh, one after the other; vertices keep the file's order.

    Where the file says which of its last vertices are copies made at texture seams
    (`extras.source_vertices`, written by this package), the copies are taken back.
    """
    parts = mesh.primitives
    vertices = np.concatenate([part.vertices for part in parts])
    counts = np.array([len(part.vertices) for part in parts])
    starts = np.cumsum(counts) - counts
    triangles = np.concatenate(
        [part.triangles + start for part, start in zip(parts, starts, strict=True)]
    )
    uv = _stacked(parts, "uv")
    source = np.arange(len(vertices))
    if len(parts) == 1:
        source = _originals(mesh, parts[0])
    kept = int(source.max(initial=-1)) + 1
    if uv is not None:
        uv = uv * [1, -1] + [0, 1]
    normals = [part.morph_normals for part in parts]
    known = [array for array in normals if array is not None]
    return JoinedSurface(
        mesh=Mesh(
            vertices[:kept],
            source[triangles].astype(np.int32),
            uv=uv,
            uv_triangles=None if uv is None else triangles.astype(np.int32),
        ),
        colours=_first(_stacked(parts, "colours"), kept),
        joints=_first(_stacked(parts, "joints"), kept),
        weights=_first(_stacked(parts, "weights"), kept),
        morph_offsets=np.concatenate([part.morph_offsets for part in parts], axis=1)[:, :kept],
        morph_normals=(
            np.concatenate(known, axis=1)[:, :kept] if len(known) == len(normals) else None
        ),
    )


def _stacked(parts: tuple[Primitive, ...], name: str) -> NumpyArray | None:
    found = [getattr(part, name) for part in parts]
    if any(array is None for array in found) or len({array.shape[1] for array in found}) > 1:
        return None
    return np.concatenate(found)


def _first(rows: NumpyArray | None, count: int) -> NumpyArray | None:
    return None if rows is None else rows[:count]


def _originals(mesh: GltfMesh, part: Primitive) -> Int[NumpyArray, "V"]:
    """The vertex that every vertex copies; itself, unless the file's list of copies holds true."""
    count, copies = len(part.vertices), len(mesh.source_vertices)
    own = np.arange(count)
    if not 0 < copies < count:
        return own
    first = count - copies
    if not all(0 <= source < first for source in mesh.source_vertices):
        return own
    copied = np.array(mesh.source_vertices)
    for rows in (part.vertices, part.joints, part.weights, *part.morph_offsets):
        if rows is not None and not np.array_equal(rows[first:], rows[copied]):
            return own
    return np.concatenate([own[:first], copied])
