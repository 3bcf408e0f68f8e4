"""Local collisions: pairs of vertices that may meet at a joint, found once, tested by angles.

Komaritzan 2022, section 3.2.5, "CPU-Based Local Collision Handling" and figure 3.13. In an
extreme pose the colliding vertices of a joint are split by a plane through it, and every one of the
first patch is paired with the nearest of the second. At run time a pair is tested by the angles
that its vertices have about the joint, seen from b_i: printed is b_j for the second one, but angles
from two different bones cannot be compared.

====== ============================================ ================
x_i    vertex of the first patch                     `pairs[:, 0]`
x_j    its partner                                   `pairs[:, 1]`
b_i    bone of x_i, away from the joint              `bones[:, 0]`
b_j    bone of x_j, away from the joint              `bones[:, 1]`
j_ij   joint: the inner end of b_i                   `joints`
====== ============================================ ================
"""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.runtime.pytree_dataclass import pytree_dataclass

WEIGHT = 150.0 * (0.2 * 60.0) ** 2
"""N/m: the collision weight of Komaritzan 2022, 150 at its step of 0.2, one a frame of 1/60 s."""
LONGEST_CHAIN = 2
"""Bones that may lie between those of a pair: collar and spine from arm to chest."""


@pytree_dataclass()
class LocalPairs:
    """Vertices that may meet; m of them."""

    pairs: Int[NumpyArray, "m 2"]
    """Simulated skin vertices i and j."""
    joints: Int[NumpyArray, "m"]
    """Nodes of the volumetric skeleton."""
    bones: Int[NumpyArray, "m 2 2"]
    """Nodes from which and to which each of the two bones leads, away from the joint."""

    def check(self) -> None:
        """Raise `InputError` if a pair names a vertex below 0."""
        if len(self.pairs):
            require_indices("local pairs", self.pairs, int(self.pairs.max()) + 1)

    def __len__(self) -> int:
        return len(self.pairs)


def find_local_pairs(
    model: VolumetricModel,
    finder: SkinContacts,
    shapes: Iterable[tuple[Float64[NumpyArray, "J 4 4"], Float64[NumpyArray, "n 3"]]],
) -> LocalPairs:
    """Pairs that collide in extreme poses: `shapes` are their world frames and the vertices in
    static balance there without collisions, metres."""
    chains, owners = _chains(model.bones.bones), finder.detection.base.bones
    triangles = np.asarray(model.triangles, np.int64)
    found: dict[tuple[int, int], Int[NumpyArray, "2 2"]] = {}
    for frames, positions in shapes:
        skin = np.ascontiguousarray(positions[: model.vertex_count])
        hits = finder.detect(skin, frames)
        sides = np.sort(np.stack([owners[hits[:, 0]], owners[triangles[hits[:, 1], 0]]], 1), axis=1)
        for bones in np.unique(sides, axis=0):
            lines = chains.get((int(bones[0]), int(bones[1])))
            if lines is not None:
                chosen = hits[(sides == bones).all(axis=1)]
                patch = np.unique(np.append(chosen[:, 0], triangles[chosen[:, 1]]))
                for pair in _paired(model, skin, patch, lines):
                    found.setdefault(pair, lines)
    pairs = np.array(list(found), np.int64).reshape(-1, 2)
    lines = np.array(list(found.values()), np.int64).reshape(-1, 2, 2)
    return LocalPairs(pairs, lines[:, 0, 0].copy(), lines)


def _chains(bones: Int[NumpyArray, "b 2"]) -> dict[tuple[int, int], Int[NumpyArray, "2 2"]]:
    """Two bones (the smaller index first) with at most `LONGEST_CHAIN` others between them, as node
    pairs that lead away from each other: the first one's start is the joint."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    count = int(bones.max()) + 1
    graph = csr_array((np.ones(len(bones)), (bones[:, 0], bones[:, 1])), shape=(count, count))
    steps = shortest_path(graph, directed=False, unweighted=True)
    chains: dict[tuple[int, int], NumpyArray] = {}
    for one, other in combinations(range(len(bones)), 2):
        between = steps[np.ix_(bones[one], bones[other])]
        a, b = divmod(int(np.argmin(between)), 2)
        if between[a, b] <= LONGEST_CHAIN:
            away = [[bones[one, a], bones[one, 1 - a]], [bones[other, b], bones[other, 1 - b]]]
            chains[one, other] = np.array(away)
    return chains


def _paired(
    model: VolumetricModel,
    skin: Float64[NumpyArray, "V 3"],
    patch: Int[NumpyArray, "p"],
    lines: Int[NumpyArray, "2 2"],
) -> list[tuple[int, int]]:
    """The patch split at rest by the plane through the joint that halves the angle of the bones,
    and every vertex of the first side with the one of the other that is nearest in `skin`.

    Komaritzan 2022 takes n = (x_c − j) × (b_i × b_j) in the colliding pose, with x_c the vertex
    nearest to the joint: the same plane where flesh is alike on both sides, and none for bones in
    one line.
    """
    rest = np.asarray(model.bones.nodes, np.float64)
    away = _unit(rest[lines[:, 1]] - rest[lines[:, 0]])
    first = (np.asarray(model.skin)[patch] - rest[lines[0, 0]]) @ (away[0] - away[1]) > 0
    one, other = patch[first], patch[~first]
    if len(one) == 0 or len(other) == 0:
        return []
    gaps = np.linalg.norm(skin[one][:, None] - skin[other][None], axis=2)
    return [(int(i), int(j)) for i, j in zip(one, other[np.argmin(gaps, axis=1)], strict=True)]


def contact_plane_normals(
    local: LocalPairs,
    skin: Float64[NumpyArray, "V 3"],
    normals: Float64[NumpyArray, "V 3"],
    nodes: Float64[NumpyArray, "n 3"],
) -> Float64[NumpyArray, "m 3"]:
    """Normals of the planes between the pairs that the angle test reports; zero for the others.

    δc = cos α − cos β < 0, with α and β the angles of π(x_i) and π(x_j) from b_i about the joint,
    π the projection into the plane of both bones; and n = (n_i − n_j)/‖n_i − n_j‖.
    """
    i, j = local.pairs[:, 0], local.pairs[:, 1]
    centre = nodes[local.joints]
    first = _unit(nodes[local.bones[:, 0, 1]] - nodes[local.bones[:, 0, 0]])
    second = _unit(nodes[local.bones[:, 1, 1]] - nodes[local.bones[:, 1, 0]])
    across = _unit(np.cross(first, second))

    def cosine(points: NumpyArray) -> NumpyArray:
        offset = points - centre
        flat = offset - np.sum(offset * across, axis=1, keepdims=True) * across
        return np.sum(first * _unit(flat), axis=1)

    meets = cosine(skin[i]) - cosine(skin[j]) < 0
    return np.where(meets[:, None], _unit(normals[i] - normals[j]), 0.0)


def _unit(vectors: Float64[NumpyArray, "m 3"]) -> Float64[NumpyArray, "m 3"]:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 1e-12)
