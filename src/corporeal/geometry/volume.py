"""What a closed surface encloses: volume and centroid, by the divergence theorem.

    volume   = Σ_f  x₁ · (x₂ × x₃) / 6
    centroid = Σ_f (x₁ + x₂ + x₃) / 4 · x₁ · (x₂ × x₃) / 6 / volume

Both are sums of signed tetrahedra from the origin to every triangle, so they are exact for any
closed, outward-oriented surface; where it overlaps itself the overlap counts twice.
"""

import numpy as np
from array_api_compat import array_namespace

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.errors import InputError


def enclosed_volume(
    vertices: Float[Array, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[Array, "*batch"]:
    """Volume inside a closed surface, m³; negative if its triangles face inwards."""
    xp = array_namespace(vertices)
    return xp.sum(_signed_volumes(vertices, triangles), axis=-1)


def enclosed_centroid(
    vertices: Float[Array, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[Array, "*batch 3"]:
    """Centre of the enclosed volume, metres: the centre of mass at constant density."""
    xp = array_namespace(vertices)
    volumes = _signed_volumes(vertices, triangles)
    quarters = sum(vertices[..., triangles[:, k], :] for k in range(3)) / 4
    moment = xp.sum(volumes[..., None] * quarters, axis=-2)
    return moment / xp.sum(volumes, axis=-1)[..., None]


def volume_gradient(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[NumpyArray, "V 3"]:
    """Derivative of the enclosed volume by every vertex, m².

    ∂volume/∂x₁ = x₂ × x₃ / 6, summed over the triangles of a vertex.
    """
    corner = [vertices[triangles[:, k]] for k in range(3)]
    gradient = np.zeros_like(vertices)
    for k in range(3):
        share = np.cross(corner[(k + 1) % 3], corner[(k + 2) % 3]) / 6
        for axis in range(3):
            gradient[:, axis] += np.bincount(triangles[:, k], share[:, axis], len(vertices))
    return gradient


def require_closed(triangles: Int[NumpyArray, "F 3"]) -> None:
    """Raise `InputError` unless every edge has two triangles, passing it in opposite directions."""
    directed = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    forward = np.unique(directed, axis=0)
    backward = np.unique(directed[:, ::-1], axis=0)
    if len(forward) == len(directed) and np.array_equal(forward, backward):
        return
    there = {tuple(edge) for edge in directed.tolist()}
    open_count = sum((b, a) not in there for a, b in there)
    raise InputError(
        f"surface is not closed: {open_count} directed edges have no opposite and "
        f"{len(directed) - len(forward)} stand twice; expected a closed, oriented surface. "
        f"Close its holes, or ask for measurements that need no volume."
    )


def _signed_volumes(
    vertices: Float[Array, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[Array, "*batch F"]:
    xp = array_namespace(vertices)
    corner = [vertices[..., triangles[:, k], :] for k in range(3)]
    return xp.sum(corner[0] * xp.linalg.cross(corner[1], corner[2]), axis=-1) / 6
