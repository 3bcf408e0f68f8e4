"""Muscle vertices on the lines from bone to skin: x_M = x_B + β (x_S − x_B)."""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.prisms import Prisms
from corporeal.geometry.surface import vertex_adjacency

OVER_BONE, UNDER_SKIN = 0.001, 0.002
"""Least thickness of muscle and of fat with skin, metres, where there is room for both."""
MOST_MUSCLE = 0.9
"""Largest share of muscle where there is not: at the border, lines have no length."""


def share_bounds(
    skin: Float64[NumpyArray, "V 3"], bone: Float64[NumpyArray, "V 3"]
) -> tuple[Float64[NumpyArray, "V"], Float64[NumpyArray, "V"]]:
    """Smallest and largest β: 1 mm over the bone, 2 mm under the skin."""
    length = np.linalg.norm(skin - bone, axis=1)
    room = np.maximum(length, OVER_BONE + UNDER_SKIN)
    low = OVER_BONE / room
    return low, np.maximum(low, np.minimum(1.0 - UNDER_SKIN / room, MOST_MUSCLE + 0.1))


def shares(
    points: Float64[NumpyArray, "V 3"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
) -> Float64[NumpyArray, "V"]:
    """β of the point of every line nearest to `points`, within the bounds."""
    line = skin - bone
    squared = np.maximum(np.einsum("vd,vd->v", line, line), 1e-16)
    low, high = share_bounds(skin, bone)
    return np.clip(np.einsum("vd,vd->v", points - bone, line) / squared, low, high)


def on_lines(
    beta: Float64[NumpyArray, "V"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    layered: Bool[NumpyArray, "V"],
) -> Float64[NumpyArray, "V 3"]:
    """The muscle surface for β; the skin itself outside the layered region."""
    return np.where(layered[:, None], bone + beta[:, None] * (skin - bone), skin)


def upright_shares(
    prisms: Prisms,
    beta: Float64[NumpyArray, "V"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    rounds: int = 20,
) -> Float64[NumpyArray, "V"]:
    """β evened out where a prism of fat or muscle would be inverted.

    Evened out far enough β is constant, and its prisms are slices of those from bone to skin.
    """
    adjacency = vertex_adjacency(prisms.triangles, len(beta)).astype(np.float64)
    low, high = share_bounds(skin, bone)
    beta = beta.copy()
    for _ in range(rounds):
        muscle = on_lines(beta, skin, bone, prisms.layered)
        wrong = prisms.inverted(skin, muscle) | prisms.inverted(muscle, bone)
        if not wrong.any():
            break
        wrong |= (adjacency @ wrong > 0) & prisms.layered
        layered_degree = np.maximum(adjacency @ prisms.layered.astype(np.float64), 1e-12)
        mean = (adjacency @ (beta * prisms.layered)) / layered_degree
        mixed = 0.5 * beta + 0.5 * mean
        beta[wrong] = np.clip(mixed, low, high)[wrong]
    return beta


def smoothed_shares(
    beta: Float64[NumpyArray, "V"],
    triangles: Int[NumpyArray, "F 3"],
    layered: Bool[NumpyArray, "V"],
    rounds: int,
) -> Float64[NumpyArray, "V"]:
    """β after `rounds` of Laplacian smoothing within the layered region."""
    adjacency = vertex_adjacency(triangles, len(beta)).astype(np.float64)
    inside = layered.astype(np.float64)
    count = np.maximum(adjacency @ inside, 1e-12)
    for _ in range(rounds):
        beta = np.where(layered, 0.5 * beta + 0.5 * (adjacency @ (beta * inside)) / count, beta)
    return beta
