"""Whether simulated flesh is right side out: what a slice or a close look would show of a frame.

Elements are judged against their own rest shape, by J = det F: below 0 an element is inside out.
Nothing here is used by a solver, so that none is judged by its own measure.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.geometry.dihedral import folds_beyond, hinges_of
from corporeal.geometry.intersection import intersecting_triangle_pairs
from corporeal.geometry.surface import unique_edges
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.solver.constraints.strain import StrainConstraint
from corporeal.physics.volume_preservation.regions import smooth_regions
from corporeal.physics.volumetric_mesh.prisms import signed_volumes

FOLDED: Final = np.deg2rad(120.0)
"""Radians: an edge of the skin that is bent further has its two triangles nearly back to back."""
SHORTEST: Final = 1e-3
"""Metres: shorter edges at rest say nothing when they are stretched."""


@dataclass(frozen=True)
class FrameHealth:
    """One frame of flesh."""

    inverted: int
    """Elements with a free vertex that are inside out."""
    hopeless: int
    """Elements inside out all of whose vertices are anchored: no material could help them."""
    least_determinant: float
    """Of the elements with a free vertex: 1 at rest, 0 flat."""
    largest_stretch: float
    """Of a skin edge, over its length at rest."""
    volume_changes: tuple[float, float]
    """Least and largest relative change of a pressure region's elements."""
    folded_edges: int
    """Skin edges folded past 120° that are not so at rest."""


class FleshHealth:
    """Looks at frames of one body's flesh."""

    def __init__(self, body: SimulatedBody) -> None:
        strains = [c for c in body.system.constraints if isinstance(c, StrainConstraint)]
        elements = np.concatenate([c.tetrahedra for c in strains])
        self.tetrahedra: Int[NumpyArray, "T 4"] = np.ascontiguousarray(elements, np.int64)
        held = np.asarray(body.system.anchored[self.tetrahedra]).all(axis=1)
        self.moving = np.flatnonzero(~held)
        """Elements with a free vertex."""
        self._held = np.flatnonzero(held)
        self._rest = np.asarray(body.rest, np.float64)
        self.rest_volumes = signed_volumes(self._rest, self.tetrahedra)
        self._triangles = np.asarray(body.surface.triangles, np.int64)
        self._count = body.surface.vertex_count
        edges = unique_edges(self._triangles)
        length = _lengths(self._rest, edges)
        self.edges: Int[NumpyArray, "E 2"] = edges[length > SHORTEST]
        self._lengths = length[length > SHORTEST]
        self._hinges = hinges_of(self._triangles)
        self._folded = folds_beyond(
            self._rest[: self._count], self._triangles, self._hinges, FOLDED
        )
        self._body = body

    def volumes(self, positions: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "T"]:
        """Signed volume of every element at `positions` (metres), m³."""
        from corporeal.anatomy.prisms_cpu import tetrahedron_volumes

        return tetrahedron_volumes(np.ascontiguousarray(positions, np.float64), self.tetrahedra)

    def determinants(self, positions: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "T"]:
        """J of every element at `positions` (metres)."""
        return self.volumes(positions) / self.rest_volumes

    def stretches(self, positions: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "E"]:
        """Length of every skin edge over that at rest."""
        return _lengths(positions, self.edges) / self._lengths

    def volume_changes(self, positions: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "K"]:
        """Relative change of the elements' volume in every pressure region."""
        return self._region_changes(self.volumes(positions))

    def _region_changes(self, volumes: Float64[NumpyArray, "T"]) -> Float64[NumpyArray, "K"]:
        return self._shares.T @ volumes / (self._shares.T @ self.rest_volumes) - 1.0

    @cached_property
    def _shares(self) -> csr_array:
        return _element_shares(self._body, self.tetrahedra)

    def folded(self, positions: Float64[NumpyArray, "n 3"]) -> Int[NumpyArray, "m 2"]:
        """Skin edges folded past 120° that are not so at rest."""
        now = folds_beyond(positions[: self._count], self._triangles, self._hinges, FOLDED)
        return self._hinges.edges[now & ~self._folded]

    def crossings(self, positions: Float64[NumpyArray, "n 3"]) -> int:
        """Pairs of skin triangles that meet and do not at rest; slower than the rest."""
        return len(np.setdiff1d(self._crossing_codes(positions), self._rest_crossings))

    @cached_property
    def _rest_crossings(self) -> Int[NumpyArray, "m"]:
        return self._crossing_codes(self._rest)

    def _crossing_codes(self, positions: Float64[NumpyArray, "n 3"]) -> Int[NumpyArray, "m"]:
        """A number for each pair of skin triangles that meet."""
        one, other = intersecting_triangle_pairs(positions[: self._count], self._triangles).T
        return one * len(self._triangles) + other

    def frame(self, positions: Float64[NumpyArray, "n 3"]) -> FrameHealth:
        """All but the crossings."""
        volumes = self.volumes(positions)
        determinants, changes = volumes / self.rest_volumes, self._region_changes(volumes)
        inside_out = determinants <= 0
        return FrameHealth(
            int(inside_out[self.moving].sum()),
            int(inside_out[self._held].sum()),
            float(determinants[self.moving].min()),
            float(self.stretches(positions).max()),
            (float(changes.min()), float(changes.max())),
            len(self.folded(positions)),
        )


def _lengths(
    positions: Float64[NumpyArray, "n 3"], edges: Int[NumpyArray, "E 2"]
) -> Float64[NumpyArray, "E"]:
    return np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)


def _element_shares(body: SimulatedBody, tetrahedra: Int[NumpyArray, "T 4"]) -> csr_array:
    """Share of every element in every pressure region, T × K: the mean over its corners, those
    beneath taking the shares of the nearest skin."""
    shares, above = smooth_regions(body.model), skin_above(body)[tetrahedra]
    each = sum((shares[above[:, k]] for k in range(1, 4)), shares[above[:, 0]])
    return csr_array(each / 4.0)


def skin_above(body: SimulatedBody) -> Int[NumpyArray, "n"]:
    """The simulated skin vertex of every simulated vertex: itself, or the nearest one at rest."""
    from scipy.spatial import KDTree

    skin, count = np.asarray(body.surface.vertices, np.float64), body.surface.vertex_count
    beneath = KDTree(skin).query(body.rest[count:])[1]
    return np.concatenate([np.arange(count), beneath])
