"""Wind: moving air presses on skin, triangle by triangle."""

import math

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.geometry.surface import triangle_area_vectors
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("density", "drag"))
class Wind:
    """Air that moves everywhere alike; nothing shelters anything."""

    velocity: Float64[NumpyArray, "3"]
    """m/s."""
    density: float = 1.2
    """Of the air, kg/m³."""
    drag: float = 1.0
    """c_d: 1 is the stagnation pressure on a plate across the wind."""

    def check(self) -> None:
        """Raise `InputError` unless velocity is finite, and density and drag 0 or more."""
        require_finite("wind velocity", self.velocity)
        for name in ("density", "drag"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"wind has {name} {value}; expected a finite number from 0.")

    def forces(
        self,
        positions: Float64[NumpyArray, "V 3"],
        velocities: Float64[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
    ) -> Float64[NumpyArray, "V 3"]:
        """Newtons on every vertex: a third of ½ ρ c_d |u| (u·n) n A of each of its triangles.

        u is the air's velocity against the triangle's; the force is along the normal alone: it
        presses on the windward side and draws on the other.
        """
        area = np.asarray(triangle_area_vectors(positions, triangles))
        size = np.linalg.norm(area, axis=1)
        u = self.velocity - velocities[triangles].mean(axis=1)
        # (u·n) n A = (u·a) a / A
        share = np.divide(np.sum(u * area, axis=1), size, out=np.zeros_like(size), where=size > 0)
        pressure = 0.5 * self.density * self.drag * np.linalg.norm(u, axis=1)
        each = (pressure * share)[:, None] * area / 3.0
        forces = np.zeros_like(positions)
        np.add.at(forces, triangles, each[:, None, :])
        return forces
