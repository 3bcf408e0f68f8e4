"""Untangling as it is defined: tetrahedra below a share of their rest volume are pushed open.

Strain with Poisson's ratio 0 has a finite energy when an element is flat, so that flesh pressed
into a fold turns inside out. Every global step is therefore followed by a projection onto shapes in
which no element has less than a small share ε of its volume: projected Gauss–Seidel as in Position
Based Dynamics (Müller 2007), over the elements that need it alone. With the volume V of an element
and its gradients ∇_k V by the four corners,

    x_k ← x_k + λ ∇_k V,    λ = (ε⁺ V₀ − V)/Σ ‖∇_k V‖²    over the free corners k,

as long as V < ε V₀, with no corner moved by more than a few millimetres at once. Elements that a
move leaves too small join the end of the queue. ε⁺ is hardly above ε, so that flesh which rests on
the limit does not hop between two shapes.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.solver.constraints.strain import StrainConstraint
from corporeal.physics.solver.system import System

LEAST_SHARE = 0.02
"""ε: of its rest volume, below which an element is pushed open."""
OPENED_SHARE = 0.021
"""ε⁺: to which it is."""
LARGEST_MOVE = 5e-3
"""Metres that a corner is moved at once."""
MOST_MOVES = 20_000
"""Elements pushed in one pass; what is left waits for the next."""


@dataclass(frozen=True, eq=False)
class Untangling:
    """What is pushed open, and what gives way."""

    tetrahedra: Int[NumpyArray, "T 4"]
    """Those with a free corner."""
    volumes: Float64[NumpyArray, "T"]
    """V₀: of their unloaded shapes, m³, above 0."""
    free: Bool[NumpyArray, "V"]
    """Vertices that may be moved."""

    def volume(self, element: int, positions: Float64[NumpyArray, "V 3"]) -> float:
        """V, m³."""
        return float(np.linalg.det(_edges(positions[self.tetrahedra[element]])) / 6.0)

    def small(self, positions: Float64[NumpyArray, "V 3"]) -> Int[NumpyArray, "m"]:
        """Elements with less than ε of their volume, in ascending order."""
        corners = positions[self.tetrahedra]
        volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
        return np.flatnonzero(volumes < LEAST_SHARE * self.volumes)

    def untangle(self, positions: Float64[NumpyArray, "V 3"]) -> int:
        """Push elements open, in place; how many are left."""
        around = self._elements_of_vertices(len(positions))
        queue = deque(int(t) for t in self.small(positions))
        waiting, moves = set(queue), 0
        while queue and moves < MOST_MOVES:
            element = queue.popleft()
            waiting.discard(element)
            if not self._open(element, positions):
                continue
            moves += 1
            for vertex in self.tetrahedra[element]:
                for other in around[vertex] if self.free[vertex] else ():
                    small = self.volume(other, positions) < LEAST_SHARE * self.volumes[other]
                    if other not in waiting and small:
                        queue.append(other)
                        waiting.add(other)
        return len(queue)

    def _open(self, element: int, positions: Float64[NumpyArray, "V 3"]) -> bool:
        """One push; whether it was needed and something could be moved."""
        corners = self.tetrahedra[element]
        slopes = volume_slopes(positions[corners]) * self.free[corners, None]
        volume, size = self.volume(element, positions), np.sum(slopes**2)
        if not volume < LEAST_SHARE * self.volumes[element] or not size > 0:
            return False
        push = (OPENED_SHARE * self.volumes[element] - volume) / size
        furthest = np.linalg.norm(slopes, axis=1).max()
        positions[corners] += min(push, LARGEST_MOVE / furthest) * slopes
        return True

    def _elements_of_vertices(self, count: int) -> list[list[int]]:
        around: list[list[int]] = [[] for _ in range(count)]
        for element, corners in enumerate(self.tetrahedra):
            for vertex in corners:
                around[vertex].append(element)
        return around


def untangling_of(system: System) -> Untangling | None:
    """That of all elements of a system; None where it is not untangled."""
    if not system.untangled:
        return None
    strains = [c for c in system.constraints if isinstance(c, StrainConstraint)]
    anchored = np.asarray(system.anchored)
    tetrahedra = np.concatenate([strain.tetrahedra for strain in strains])
    inverse = np.concatenate([strain.inverse_edges for strain in strains])
    moving = np.logical_not(anchored[tetrahedra].all(axis=1))
    volumes = 1.0 / (6.0 * np.abs(np.linalg.det(inverse[moving])))
    return Untangling(np.ascontiguousarray(tetrahedra[moving]), volumes, ~anchored)


def volume_slopes(corners: Float64[NumpyArray, "4 3"]) -> Float64[NumpyArray, "4 3"]:
    """∇_k V of a tetrahedron by its four corners, m²."""
    first, second, third = _edges(corners)
    others = np.stack([np.cross(second, third), np.cross(third, first), np.cross(first, second)])
    return np.concatenate([-others.sum(axis=0, keepdims=True), others]) / 6.0


def _edges(corners: Float64[NumpyArray, "4 3"]) -> Float64[NumpyArray, "3 3"]:
    return corners[1:] - corners[:1]
