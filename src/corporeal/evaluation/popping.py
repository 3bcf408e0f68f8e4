"""Popping: single vertices that hop from frame to frame while those around them do not.

A vertex is seen from its neighbours along the edges of the skin, and from the joint whose skin
weight it has most of, so that neither travel nor turns count:

    d_i(t) = R(t)ᵀ (x_i − Σ_j x_j/n),    hop_i(t) = ‖d_i(t + 1) − 2 d_i(t) + d_i(t − 1)‖

A body that moves rigidly with its joints has no hops. A vertex that moves by h from one frame to
the next, and stays, has one of h in either frame; one that moves there and back has 2h between. A
swing d = A sin(ωt) has hops of up to 2A (1 − cos ωΔt). Hops go with the square of the time between
frames, so that only clips with as many frames a second compare.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.animation import Animation
from corporeal.errors import InputError
from corporeal.geometry.surface import vertex_adjacency

SEEN: Final = 2e-3
"""Metres: a larger hop is popping that is seen on a body that fills the picture."""


@dataclass(frozen=True)
class Popping:
    """Of one clip."""

    largest: float
    """Hop, metres."""
    vertex: int
    """Which hops so."""
    frame: int
    """When."""
    frames_seen: float
    """Share of the frames with a hop of more than `SEEN`."""
    vertices_seen: Int[NumpyArray, "m"]
    """Vertices that do so in some frame, in ascending order."""
    rms: float
    """Root mean square over vertices and frames, metres."""


def hops(
    skin: Float[NumpyArray, "N V 3"],
    triangles: Int[NumpyArray, "F 3"],
    turns: Float[NumpyArray, "N J 3 3"],
    owners: Int[NumpyArray, "V"],
) -> Float64[NumpyArray, "m V"]:
    """Hops in all frames but the first and the last, metres. `turns` are the rotations of joints in
    the world, `owners` the joint from which each vertex is seen."""
    if len(skin) < 3 or len(turns) != len(skin):
        raise InputError(
            f"{len(skin)} frames of skin came with {len(turns)} of joints; expected as many, and "
            f"three at least."
        )
    means = _means(triangles, skin.shape[1])
    details = np.empty(skin.shape)
    for number, (vertices, turn) in enumerate(zip(skin, turns, strict=True)):
        apart = vertices - means @ np.asarray(vertices, np.float64)
        details[number] = np.einsum("vji,vj->vi", turn[owners], apart)
    return np.linalg.norm(np.diff(details, n=2, axis=0), axis=2)


def popping(animation: Animation) -> Popping:
    """How the skin of an animation pops."""
    template = animation.template
    owners = np.take_along_axis(
        np.asarray(template.weights.joint_indices),
        np.asarray(template.weights.values).argmax(axis=1)[:, None],
        axis=1,
    )[:, 0]
    found = hops(
        np.asarray(animation.vertices),
        np.asarray(template.mesh.triangles),
        np.asarray(animation.world_from_joint, np.float64)[..., :3, :3],
        owners,
    )
    frame, vertex = np.unravel_index(int(found.argmax()), found.shape)
    return Popping(
        float(found.max()),
        int(vertex),
        int(frame) + 1,
        float((found > SEEN).any(axis=1).mean()),
        np.flatnonzero((found > SEEN).any(axis=0)),
        float(np.sqrt(np.mean(found**2))),
    )


def _means(triangles: Int[NumpyArray, "F 3"], count: int) -> csr_array:
    """The mean of every vertex's neighbours, V × V; itself where it has none."""
    near = vertex_adjacency(np.asarray(triangles, np.int64), count).astype(np.float64).tocsr()
    degrees = np.diff(near.indptr)
    alone = np.flatnonzero(degrees == 0)
    near.data /= np.repeat(degrees, degrees)
    ones = np.ones(len(alone))
    return csr_array(near + csr_array((ones, (alone, alone)), shape=(count, count)))
