"""Masks in texture space, mouth and lashes, face targets: what looks are made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.assets.archive import read_archive
from corporeal.assets.default_body import METRES_PER_DELTA
from corporeal.body.mesh import Mesh, triangles_from_quads

MASK_NAMES = (
    "lips",
    "eyelids",
    "ears",
    "face",
    "fingernails",
    "toenails",
    "aureolae",
    "inside_mouth",
)
_MASK_LEVELS = 15
_METRES_PER_STEP = 1e-4


@dataclass(frozen=True, eq=False)
class SparseTargets:
    """Offsets of the face's vertices, stored for those that each target moves."""

    names: tuple[str, ...]
    """As in the source, such as `nose/nose-hump-incr`."""
    starts: Int[NumpyArray, "s"]
    """Target n has the rows starts[n] to starts[n + 1]."""
    index: Int[NumpyArray, "r"]
    """Vertex of every row, in the numbers of the source: V and above are mouth and lashes."""
    offsets: Float[NumpyArray, "r 3"]
    """Displacement at weight 1, metres."""

    def blend(self, weights: Mapping[str, float], count: int) -> Float[NumpyArray, "V 3"]:
        """Sum of the named targets on the first `count` vertices, metres."""
        total = np.zeros((count, 3))
        place = {name: n for n, name in enumerate(self.names)}
        for name, weight in weights.items():
            n = place[name]
            rows = slice(int(self.starts[n]), int(self.starts[n + 1]))
            kept = self.index[rows] < count
            total[self.index[rows][kept]] += weight * self.offsets[rows][kept]
        return total


@cache
def face_targets() -> SparseTargets:
    """Shapes of the face; the head does not turn on the way to the T-pose."""
    return _sparse("face")


@cache
def expression_targets() -> SparseTargets:
    """Expression units, named `origin/unit`."""
    return _sparse("expression")


@cache
def masks() -> Mapping[str, Float[NumpyArray, "m m"]]:
    """Grey masks by name, 0 to 1, rows down."""
    stored = _looks()
    return {name: stored[f"mask_{name}"].astype(np.float32) / _MASK_LEVELS for name in MASK_NAMES}


@cache
def helper_places() -> Float[NumpyArray, "h 3"]:
    """The source's helper vertices around the average adult in the T-pose, metres; the first has
    the number V."""
    return _looks()["helpers"].astype(np.float64) * _METRES_PER_STEP


@cache
def loose_part(name: str) -> tuple[Mesh, Int[NumpyArray, "n"]]:
    """`upper_teeth`, `lower_teeth`, `tongue` or `lashes` of the average adult, metres, and the
    source's numbers of its vertices, less V."""
    stored = _looks()
    first = 13_380
    rows = stored[f"{name}_vertices"].astype(np.int64) - first
    quads = stored[f"{name}_quads"].astype(np.int32)
    mesh = Mesh(
        helper_places()[rows].astype(np.float32),
        triangles_from_quads(quads),
        quads,
        stored[f"{name}_uv"].astype(np.float32),
        triangles_from_quads(stored[f"{name}_quads_uv"].astype(np.int32)),
    )
    return mesh, rows


@cache
def _looks() -> Mapping[str, NumpyArray]:
    return read_archive("looks")


@cache
def _faces() -> Mapping[str, NumpyArray]:
    return read_archive("faces")


def _sparse(what: str) -> SparseTargets:
    stored = _faces()
    starts = stored[f"{what}_starts"].astype(np.int64)
    steps = stored[f"{what}_index_steps"].astype(np.int64)
    index = np.cumsum(steps)
    # steps begin anew with every target
    before = np.concatenate([[0], index])[starts[:-1]]
    index -= np.repeat(before, np.diff(starts))
    offsets = stored[f"{what}_deltas"].T.astype(np.float64) * float(METRES_PER_DELTA)
    names = tuple(str(name) for name in stored[f"{what}_names"])
    return SparseTargets(names, starts, index, offsets)
