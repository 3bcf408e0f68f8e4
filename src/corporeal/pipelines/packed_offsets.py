"""Dynamic offsets of a packed set in few numbers, without unpacking a frame.

A packed set tells what dynamics added to every frame by whole steps n along rounded directions:
offsets are x = n C + m. With the Gram matrix of the rows of (C, m) = L Lᵀ, coordinates y = (n, 1) L
have the offsets' lengths and angles exactly, some thousand numbers instead of 40 140. Vertices that
the code tells one by one (one in ten thousand) are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float32, Float64, NumpyArray
from corporeal.body.registrations import Registrations, Take
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
