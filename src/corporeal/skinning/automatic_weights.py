"""Skin weights for a surface that came without: heat that flows from bones into the skin.

Baran and Popović 2007: the weights of joint j are the temperature in balance when the bones of j
are at 1 and all others at 0, (L + M H) w_j = M H p_j. Each vertex is heated by the nearest bone
that lies behind its skin.

====== ==========================================================================
L       cotangent Laplacian of the surface, no entry above zero off the diagonal
M       area around every vertex, m²
H       c / d², d the distance to the heating bone (1/m²)
p_j     1 where a bone of joint j heats the vertex
====== ==========================================================================

L + M H is sparse, symmetric and positive definite; it is factored once for all joints. Weights are
between 0 and 1 and sum to 1, since L has zero row sums and Σ_j p_j = 1.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.geometry.laplacian import cotangent_laplacian
from corporeal.geometry.surface import vertex_normals
from corporeal.geometry.volume import enclosed_volume

INFLUENCES = 4
HEAT = 8.0
"""c: greater values follow the nearest bone more closely. On the default body 8 comes nearest to
the weights an artist painted (1.2 mm mean over three clips; 1.9 at 1, 1.4 at 32)."""
_COTANGENTS = (1e-3, 1e3)
"""Least and greatest: heat flows over every edge, and not at once over slivers."""
_LEAST_COSINE = 0.1
"""Between the skin's normal and the way from a bone that counts as behind it."""


def automatic_weights(
    mesh: Mesh,
    segments: Float[NumpyArray, "b 2 3"],
    segment_joints: Int[NumpyArray, "b"],
    joint_count: int,
    influences: int = INFLUENCES,
) -> SkinWeights:
    """Smooth weights of a skin at rest, from bone lines (metres) and the joint that moves each."""
    require_indices("joints of bone lines", segment_joints, joint_count)
    if len(segments) == 0 or mesh.vertex_count == 0:
        raise InputError("automatic weights need a skin with vertices and at least one bone.")
    vertices = np.asarray(mesh.vertices, np.float64)
    triangles = np.asarray(mesh.triangles, np.int64)
    bones, distances = heating_bones(vertices, triangles, np.asarray(segments, np.float64))
    heated = np.asarray(segment_joints)[bones]
    used, columns = np.unique(heated, return_inverse=True)
    sources = np.eye(len(used))[columns.reshape(-1)]
    dense = np.zeros((len(vertices), joint_count))
    dense[:, used] = _balance(vertices, triangles, distances, sources)
    return fewest_weights(dense, influences)


def fewest_weights(dense: Float[NumpyArray, "V J"], influences: int) -> SkinWeights:
    """The largest weights of every row, cut so that they change as smoothly as the row does.

    What the largest weight left out has is taken from all that are kept: where two joints change
    places at the end of the list, both have nothing.
    """
    dense = np.maximum(dense, 0.0)
    if dense.shape[1] > influences:
        left_out = -np.partition(-dense, influences, axis=1)[:, influences]
        dense = np.maximum(dense - (1.0 - 1e-6) * left_out[:, None], 0.0)
    return SkinWeights.from_dense(dense, influences)


def heating_bones(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    segments: Float[NumpyArray, "b 2 3"],
) -> tuple[Int[NumpyArray, "V"], Float[NumpyArray, "V"]]:
    """Nearest bone behind the skin of every vertex (of all, if none is behind), and how far it is.

    A bone is behind where the way from it meets the skin from inside; so a thigh is not heated by
    the other leg, however near that is.
    """
    inside_out = float(enclosed_volume(vertices, triangles)) < 0.0
    normals = vertex_normals(vertices, triangles) * (-1.0 if inside_out else 1.0)
    best, best_any = np.full(len(vertices), np.inf), np.full(len(vertices), np.inf)
    bone, bone_any = np.full(len(vertices), -1), np.zeros(len(vertices), np.int64)
    for index, (start, end) in enumerate(segments):
        way = vertices - _closest(vertices, start, end)
        distance = np.linalg.norm(way, axis=1)
        behind = np.sum(way * normals, axis=1) > _LEAST_COSINE * distance
        nearer = distance < best_any
        best_any[nearer], bone_any[nearer] = distance[nearer], index
        nearer = behind & (distance < best)
        best[nearer], bone[nearer] = distance[nearer], index
    lost = bone < 0
    return np.where(lost, bone_any, bone), np.where(lost, best_any, best)


def _closest(
    points: Float[NumpyArray, "V 3"], start: Float[NumpyArray, "3"], end: Float[NumpyArray, "3"]
) -> Float[NumpyArray, "V 3"]:
    axis = end - start
    squared = float(axis @ axis)
    along = (points - start) @ axis / (squared if squared > 0 else 1.0)
    return start + np.clip(along, 0.0, 1.0)[:, None] * axis


def _balance(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    distances: Float[NumpyArray, "V"],
    sources: Float[NumpyArray, "V j"],
) -> Float[NumpyArray, "V j"]:
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    laplacian, area = cotangent_laplacian(vertices, triangles, *_COTANGENTS)
    area = np.maximum(area, 1e-6 * max(float(area.mean()), 1e-12))
    floor = 1e-3 * float(np.ptp(vertices, axis=0).max()) + 1e-12
    heat = area * HEAT / np.maximum(distances, floor) ** 2
    matrix = csc_array(diags_array(heat) - laplacian)
    return splu(matrix).solve(heat[:, None] * sources)
