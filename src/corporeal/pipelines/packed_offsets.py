"""Dynamic offsets of a packed set in few numbers, without unpacking a frame.

A packed set tells what dynamics added to every frame by whole steps n along rounded directions:
offsets are x = n C + m. With the Gram matrix of the rows of (C, m) = L Lᵀ, coordinates y = (n, 1) L
have the offsets' lengths and angles exactly, some thousand numbers instead of 40 140. Vertices that
the code tells one by one (one in ten thousand) are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float32, Float64, Int, NumpyArray
from corporeal.body.registrations import Registrations, Take
from corporeal.dynamics.mirror import mirrored_offsets
from corporeal.errors import InputError
from corporeal.pipelines.packed_dataset import PackedRows


@dataclass(frozen=True, eq=False)
class PackedOffsets:
    """Dynamic offsets of all takes with a twin, in the rest pose (carried by dual quaternions)."""

    takes: tuple[Take, ...]
    """Those with a twin."""
    coordinates: tuple[Float32[NumpyArray, "N m"], ...]
    """Of every take: an isometric image of its offsets, metres."""
    rows: Float32[NumpyArray, "m d"]
    """Rows of the code and its mean, d = 3 V."""
    to_rows: Float64[NumpyArray, "m m"]
    """L⁻¹: offsets are y L⁻¹ rows."""

    @property
    def vertex_count(self) -> int:
        """Number V of vertices."""
        return self.rows.shape[1] // 3

    def directions(self, basis: Float64[NumpyArray, "m D"]) -> Float32[NumpyArray, "D V 3"]:
        """Rest-pose offsets of directions in coordinates, metres."""
        rows = (basis.T @ self.to_rows).astype(np.float32) @ self.rows
        return rows.reshape(basis.shape[1], -1, 3)

    def gram(self, vertices: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "m m"]:
        """S with yᵀ S y = Σ of squared offsets of these vertices."""
        part = self.rows[:, np.repeat(vertices, 3)]
        return self.to_rows @ np.asarray(part @ part.T, np.float64) @ self.to_rows.T


def packed_offsets(held: Registrations) -> PackedOffsets:
    """Coordinates of all takes of a packed set that have a twin."""
    takes = tuple(take for take in held.takes if take.twin is not None)
    if not takes or not isinstance(takes[0].vertices, PackedRows):
        raise InputError(
            f"{len(takes)} takes with quasi-static twins came, which are not packed; expected a "
            f"packed set with twins. Pack it first: corporeal dataset pack SET.zarr --out "
            f"SET.packed.npz."
        )
    coded = [_dynamic_part(take) for take in takes]
    whole, code = coded[0][0].steps, coded[0][0].code
    unit = np.eye(whole.shape[1], dtype=np.int32)
    mean = code.decoded(np.zeros((1, whole.shape[1]), np.int32))
    rows = np.concatenate([code.decoded(unit) - mean, mean]).astype(np.float32)
    sizes, vectors = np.linalg.eigh(np.asarray(rows @ rows.T, np.float64))
    sizes = np.sqrt(np.maximum(sizes, 1e-12 * sizes[-1]))
    numbers = np.concatenate([whole, np.ones((len(whole), 1))], axis=1) @ (vectors * sizes)
    numbers = numbers.astype(np.float32)
    own = tuple(
        numbers[first : first + take.frame_count]
        for take, (_, first) in zip(takes, coded, strict=True)
    )
    return PackedOffsets(takes, own, rows, (vectors / sizes).T)


def principal_directions(
    coordinates: Sequence[Float32[NumpyArray, "N m"]], count: int
) -> tuple[Float64[NumpyArray, "m D"], float]:
    """The main directions of some takes about 0, most variance first, and their share of it."""
    square = np.zeros((coordinates[0].shape[1],) * 2)
    for rows in coordinates:
        square += rows.T @ rows
    sizes, vectors = np.linalg.eigh(square)
    kept = np.ascontiguousarray(vectors[:, ::-1][:, :count])
    return kept, float(sizes[::-1][:count].sum() / sizes.sum())


def _dynamic_part(take: Take) -> tuple:
    """The code of what dynamics added to a take, and where the take begins in it."""
    assert isinstance(take.vertices, PackedRows)
    return take.vertices.parts[1]


@dataclass(frozen=True, eq=False)
class SymmetricBasis:
    """Components that are their own mirror image, or its negative."""

    shapes: Float32[NumpyArray, "D V 3"]
    """Orthonormal rest-pose offsets, most variance first."""
    parity: Float64[NumpyArray, "D"]
    """1 for symmetric ones and −1 for the others: factors of mirrored coefficients."""
    explained: float
    """Share of the squares of the takes and their mirror images."""


def symmetric_directions(
    offsets: PackedOffsets,
    coordinates: Sequence[Float32[NumpyArray, "N m"]],
    mirror: Int[NumpyArray, "V"],
    count: int,
) -> SymmetricBasis:
    """Principal components about 0 of some takes together with their mirror images.

    The mirror commutes with their covariance, which falls apart into that of symmetric parts
    (x + Mx)/2 and that of antisymmetric ones.
    """
    square = np.zeros((coordinates[0].shape[1],) * 2)
    for rows in coordinates:
        square += rows.T @ rows
    image = mirrored_offsets(offsets.rows, mirror)
    found: list[tuple[float, float, NumpyArray]] = []
    total = 0.0
    for sign in (1.0, -1.0):
        half = (0.5 * (offsets.rows + np.float32(sign) * image)).astype(np.float32)
        gram = offsets.to_rows @ np.asarray(half @ half.T, np.float64) @ offsets.to_rows.T
        sizes, vectors = np.linalg.eigh(gram)
        root = vectors * np.sqrt(np.maximum(sizes, 0.0))
        values, turns = np.linalg.eigh(root.T @ square @ root)
        total += float(values.sum())
        kept = np.argsort(values)[::-1][:count]
        # x_half of the direction: to_rowsᵀ-weights of the half rows, of unit length
        back = vectors / np.sqrt(np.maximum(sizes, 1e-12 * sizes[-1]))
        shapes = ((back @ turns[:, kept]).T @ offsets.to_rows).astype(np.float32) @ half
        found += [(float(values[k]), sign, row) for k, row in zip(kept, shapes, strict=True)]
    found.sort(key=lambda one: -one[0])
    chosen = found[:count]
    shapes = np.stack([row for _, _, row in chosen])
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    return SymmetricBasis(
        shapes.reshape(count, -1, 3),
        np.array([sign for _, sign, _ in chosen]),
        sum(value for value, _, _ in chosen) / total,
    )


@dataclass(frozen=True, eq=False)
class Regional:
    """Offsets of some takes as far as errors of predictions within a region need them."""

    deltas: tuple[Float64[NumpyArray, "N D"], ...]
    """Of every take: products of the region's offsets with the components."""
    squares: tuple[Float64[NumpyArray, "N"], ...]
    """Squared length of the region's offsets, m²."""
    gram: Float64[NumpyArray, "D D"]
    """Products of the components within the region."""
    count: int
    """Vertices."""

    def rms(self, take: int, found: Float64[NumpyArray, "N D"] | None) -> Float64[NumpyArray, "N"]:
        """Root mean square over the region of what prediction lacks in every frame, metres; of the
        static model if None."""
        square = self.squares[take]
        if found is not None:
            square = square - 2 * np.sum(self.deltas[take] * found, axis=1)
            square = square + np.sum((found @ self.gram) * found, axis=1)
        return np.sqrt(np.maximum(square, 0.0) / self.count)


def regional(
    offsets: PackedOffsets,
    shapes: Float32[NumpyArray, "D V 3"],
    vertices: Bool[NumpyArray, "V"] | None = None,
) -> Regional:
    """What a region (all vertices if None) of a set's takes holds of some components."""
    chosen = np.ones(offsets.vertex_count, bool) if vertices is None else vertices
    rows = offsets.rows[:, np.repeat(chosen, 3)]
    some = shapes[:, chosen].reshape(len(shapes), -1)
    onto = offsets.to_rows @ np.asarray(rows @ some.T, np.float64)
    own = None if vertices is None else offsets.gram(chosen)
    deltas, squares = [], []
    for y in offsets.coordinates:
        wide = y.astype(np.float64)
        deltas.append(wide @ onto)
        squares.append(np.sum((wide if own is None else wide @ own) * wide, axis=1))
    gram = np.asarray(some @ some.T, np.float64)
    return Regional(tuple(deltas), tuple(squares), gram, int(chosen.sum()))


def joined_regional(parts: Sequence[Regional]) -> Regional:
    """Takes of several sets, one after the other, over the same components."""
    return Regional(
        tuple(rows for part in parts for rows in part.deltas),
        tuple(rows for part in parts for rows in part.squares),
        parts[0].gram,
        parts[0].count,
    )
