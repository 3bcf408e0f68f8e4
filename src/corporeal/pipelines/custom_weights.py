"""Skin weights of a custom mesh: those of its file, or computed on a coarse surface and spread."""

from pathlib import Path

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.geometry.moving_least_squares import kernel_weights
from corporeal.physics.volumetric_mesh.bones import inflate_skeleton
from corporeal.physics.volumetric_mesh.simulation_mesh import SimulationMesh, decimate
from corporeal.skinning.automatic_weights import INFLUENCES, automatic_weights, fewest_weights

COARSE_COUNT = 8000
"""Vertices on which heat is computed; weights are smoother than that."""
_NEIGHBOURS = 12
_SAME_PLACE = 1e-5
"""Vertices this close together, as a share of the mesh's size, are the same."""


def coarse_skin(mesh: Mesh) -> SimulationMesh:
    """A surface of at most `COARSE_COUNT` vertices, on which weights are computed."""
    return decimate(mesh, np.zeros(mesh.vertex_count, np.int64), np.array([COARSE_COUNT]))


def weights_for_skin(
    mesh: Mesh, skeleton: Skeleton, coarse: SimulationMesh | None = None
) -> SkinWeights:
    """Smooth weights, at most four a vertex; `coarse` is the mesh's `coarse_skin`."""
    coarse = coarse_skin(mesh) if coarse is None else coarse
    surface = coarse.surface(np.asarray(mesh.vertices))
    bones = inflate_skeleton(surface, skeleton)
    weights = automatic_weights(
        surface, bones.nodes[bones.bones], bones.bone_joints, skeleton.joint_count
    )
    if coarse.vertex_count == mesh.vertex_count:
        return weights
    return _spread(mesh, coarse.vertex_indices, weights)


def rig_of(path: Path) -> Template | None:
    """The skinned surface of a `.glb`; None for other files, and where none can be read."""
    if path.suffix.lower() != ".glb":
        return None
    from corporeal.formats.gltf_read import read_glb_character

    return read_glb_character(path).template


def weights_of_rig(mesh: Mesh, skeleton: Skeleton, rig: Template) -> SkinWeights | None:
    """Skin weights of a rig at the vertices of a mesh in the same place; None if they differ."""
    from scipy.spatial import KDTree

    if rig.skeleton.names != skeleton.names:
        return None
    here = np.asarray(mesh.vertices, np.float64)
    there = np.asarray(rig.mesh.vertices, np.float64)
    size = float(np.linalg.norm(np.ptp(here, axis=0)))
    distance, nearest = KDTree(there).query(here)
    if distance.max() > _SAME_PLACE * size:
        return None
    return SkinWeights(
        rig.weights.joint_indices[nearest], rig.weights.values[nearest], skeleton.joint_count
    )


def _spread(mesh: Mesh, known: Int[NumpyArray, "v"], weights: SkinWeights) -> SkinWeights:
    """Means over the coarse vertices nearest along the surface (Shepard's)."""
    from corporeal.geometry.geodesics_cpu import geodesic_neighbours

    vertices = np.ascontiguousarray(mesh.vertices, np.float64)
    triangles = np.ascontiguousarray(mesh.triangles, np.int64)
    near, distances, radii = geodesic_neighbours(
        vertices, triangles, np.ascontiguousarray(known, np.int64), _NEIGHBOURS
    )
    place = np.zeros(len(vertices), np.int64)
    place[known] = np.arange(len(known))
    shares = kernel_weights(distances, radii)
    shares /= shares.sum(axis=1, keepdims=True)
    return _blended(weights, place[np.maximum(near, 0)], np.where(near >= 0, shares, 0.0))


def _blended(
    weights: SkinWeights, near: Int[NumpyArray, "V k"], shares: Float[NumpyArray, "V k"]
) -> SkinWeights:
    """The largest four of Σ_i s_i w_i, in blocks that bound the memory."""
    dense, block = weights.dense(), 1 << 14
    indices = np.empty((len(near), INFLUENCES), np.int32)
    values = np.zeros((len(near), INFLUENCES))
    for start in range(0, len(near), block):
        rows = slice(start, start + block)
        mixed = np.einsum("vk,vkj->vj", shares[rows], dense[near[rows]])
        few = fewest_weights(mixed, INFLUENCES)
        width = few.values.shape[1]
        indices[rows], values[rows, :width] = few.joint_indices[:, :1], few.values
        indices[rows, :width] = few.joint_indices
    return SkinWeights(indices, values, weights.joint_count)
