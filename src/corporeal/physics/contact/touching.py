"""Skin on skin from one step to the next: contacts fall asleep where bones have come to rest.

What touches is asked of a shape that answers by moving: feet slide, normals turn, pairs come and
go, and in a deep fold they would do so for ever. So a row goes from what it was to what it would be
anew at a *rate*: as fast as bones move its two sides against each other. Some time after they have
stopped the rate is next to 0 and the row sleeps: foot, normal, offset and the place that friction
holds it at stay as they are, seen from the bone of the triangle. What flesh by itself brings
together is a new row, and sleeps at once. Rates go on falling in sleep, which becomes deeper
(`solver.calming`). Rows whose skin would not overlap if bones alone carried it never sleep: strain
parts them without friction, and what is on the wrong side gets free (`contact.cpu.release`).
"""

from functools import cached_property

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.physics.contact.rules import ASLEEP, FORGET
from corporeal.runtime.pytree_dataclass import pytree_dataclass, unchecked


@pytree_dataclass()
class TouchingEdges:
    """The pairs of skin edges that the last step kept apart, and their rows."""

    pairs: Int[NumpyArray, "E 2"]
    """Edges of the skin, as `unique_edges` counts them."""
    shares: Float64[NumpyArray, "E 2"]
    """Where they pass each other, from their first ends."""
    normals: Float64[NumpyArray, "E 3"]
    """Unit vectors from the second to the first, as the second's bone sees them."""
    offsets: Float64[NumpyArray, "E"]
    """Metres along the normal that they are kept at."""
    places: Float64[NumpyArray, "E 3"]
    """Where friction holds the first, from the second, as the second's bone sees it (metres)."""
    rates: Float64[NumpyArray, "E"]
    """Share of what is new that the last step took on, 0 to 1; below `ASLEEP` it sleeps."""

    def check(self) -> None:
        """Raise `InputError` unless all numbers are finite."""
        for name in ("shares", "normals", "offsets", "places", "rates"):
            require_finite(f"touching edges' {name}", getattr(self, name))

    def __len__(self) -> int:
        return len(self.offsets)

    def chosen(self, rows: Int[NumpyArray, "k"]) -> "TouchingEdges":
        """Some of them, in the order given."""
        return unchecked(TouchingEdges, *(part[rows] for part in self._parts()))

    def with_others(self, others: "TouchingEdges") -> "TouchingEdges":
        """Those of two lists."""
        both = zip(self._parts(), others._parts(), strict=True)
        return unchecked(TouchingEdges, *(np.concatenate(parts) for parts in both))

    def _parts(self) -> tuple[NumpyArray, ...]:
        return (self.pairs, self.shares, self.normals, self.offsets, self.places, self.rates)


def no_edges_touch() -> TouchingEdges:
    """No pairs."""
    return TouchingEdges(
        np.zeros((0, 2), np.int64),
        np.zeros((0, 2)),
        np.zeros((0, 3)),
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros(0),
    )


@pytree_dataclass()
class Touching:
    """The pairs of skin on skin that the last step had, and their rows."""

    pairs: Int[NumpyArray, "C 2"]
    """Skin vertices, and the skin triangles that they stay in front of."""
    shares: Float64[NumpyArray, "C 3"]
    """Barycentric coordinates of the foot."""
    normals: Float64[NumpyArray, "C 3"]
    """Unit vectors out of the triangle, as its bone sees them."""
    offsets: Float64[NumpyArray, "C"]
    """Metres along the normal that the vertex is kept at."""
    places: Float64[NumpyArray, "C 3"]
    """Where friction holds the vertex, from its foot, as the triangle's bone sees it (metres)."""
    rates: Float64[NumpyArray, "C"]
    """Share of what is new that the last step took on, 0 to 1; below `ASLEEP` it sleeps."""
    edges: TouchingEdges | None = None
    """Pairs of edges beside them."""

    @property
    def awake(self) -> bool:
        """Whether some of them still change."""
        edges = () if self.edges is None else self.edges.rates
        return bool((self.rates >= ASLEEP).any() or (np.asarray(edges) >= ASLEEP).any())

    def check(self) -> None:
        """Raise `InputError` unless all numbers are finite."""
        for name in ("shares", "normals", "offsets", "places", "rates"):
            require_finite(f"touching {name}", getattr(self, name))

    def __len__(self) -> int:
        return len(self.offsets)

    def chosen(self, rows: Int[NumpyArray, "k"]) -> "Touching":
        """Some of them, in the order given."""
        return unchecked(Touching, *(part[rows] for part in self._parts()))

    def with_others(self, others: "Touching") -> "Touching":
        """Those of two lists."""
        both = zip(self._parts(), others._parts(), strict=True)
        return unchecked(Touching, *(np.concatenate(parts) for parts in both))

    def _parts(self) -> tuple[NumpyArray, ...]:
        return (self.pairs, self.shares, self.normals, self.offsets, self.places, self.rates)


def nothing_touches() -> Touching:
    """No pairs."""
    return Touching(
        np.zeros((0, 2), np.int64),
        np.zeros((0, 3)),
        np.zeros((0, 3)),
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros(0),
    )


@pytree_dataclass(static=("seconds",))
class Movement:
    """How bones and flesh move in one step."""

    frames: Float64[NumpyArray, "2 J 4 4"]
    """World frames of the joints, before and after."""
    flesh: Float64[NumpyArray, "n 3"]
    """Metres that every simulated vertex would go on by."""
    seconds: float
    """Length of the step."""

    @cached_property
    def moves(self) -> Float64[NumpyArray, "J 4 4"]:
        """How every joint takes what it carries from before to after."""
        from corporeal.geometry.transforms import invert_rigid  # a GPU machine has less

        before, after = self.frames
        return after @ np.asarray(invert_rigid(before))

    @property
    def remembered(self) -> float:
        """Share of a rate that is left a step later, where bones do not move."""
        return float(np.exp(-self.seconds / FORGET))


def seen_apart(
    positions: Float64[NumpyArray, "n 3"],
    corners: Int[NumpyArray, "C 4"],
    coefficients: Float64[NumpyArray, "C 4"],
) -> Float64[NumpyArray, "C 3"]:
    """Σ_k c_k x_k: one side of every pair from the other, metres."""
    return np.einsum("ck,ckj->cj", coefficients, positions[corners])
