"""All dimensions of a shape, and their derivatives by the coefficients of its targets."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Int, NumpyArray
from corporeal.anthropometry.definitions import COMPANIONS, DIMENSIONS
from corporeal.anthropometry.kinds import Mass
from corporeal.anthropometry.reading import Reading, plan_for, read
from corporeal.anthropometry.shape_space import Shape, ShapeSpace
from corporeal.anthropometry.standing import standing_map
from corporeal.body.template import Template
from corporeal.units import BODY_DENSITY

_POINT_KINDS: Final = [d.kind for d in (*DIMENSIONS, *COMPANIONS) if not isinstance(d.kind, Mass)]
MASS_ROW: Final = next(i for i, d in enumerate(DIMENSIONS) if isinstance(d.kind, Mass))
"""Where mass stands among the dimensions."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Dimensions in the order of `DIMENSIONS`, then of `COMPANIONS`, and how they change."""

    values: Float[NumpyArray, "M"]
    """Metres, kilograms or cubic metres."""
    by_unknown: Float[NumpyArray, "M K"]
    """Change a unit of each unknown."""


def sensitivity(space: ShapeSpace, unknowns: Float[NumpyArray, "K"]) -> Sensitivity:
    """Measure the shape of these unknowns; derivatives are analytic throughout.

    d(dimension)/dθ = ∂(dimension)/∂(points) · ∂(points)/∂(zero pose) · directions · dc/dθ.
    """
    shape = space.shape(space.coefficients(unknowns))
    found = gradients(space.model.template, shape)
    skin = space.vertex_directions
    by_coefficient = np.insert(
        found.by_coefficient(skin, space.joint_directions),
        MASS_ROW,
        found.mass_by_vertex.astype(skin.dtype) @ skin,
        axis=0,
    )
    return Sensitivity(found.values, by_coefficient @ space.slopes(unknowns))


@dataclass(frozen=True, eq=False)
class Gradients:
    """Dimensions of one shape, and their derivatives by its skin and joints."""

    values: Float[NumpyArray, "M"]
    """In the order of `DIMENSIONS`, then of `COMPANIONS`: metres, kilograms, cubic metres."""
    by_vertex: csr_array
    """All dimensions but mass (M − 1 rows) by every vertex coordinate; sparse."""
    by_joint: Float[NumpyArray, "m n"]
    """The same by every joint coordinate."""
    mass_by_vertex: Float[NumpyArray, "v"]
    """Mass by every vertex coordinate, kg a metre."""

    def by_coefficient(
        self, skin: Float[NumpyArray, "v C"], joints: Float[NumpyArray, "n C"]
    ) -> Float[NumpyArray, "m C"]:
        """All dimensions but mass along directions of skin and joints."""
        return self.by_vertex.astype(skin.dtype) @ skin + self.by_joint @ joints


def gradients(template: Template, shape: Shape) -> Gradients:
    """Measure a zero-pose shape, and how its dimensions change with every point of it."""
    carry, plan = standing_map(template), plan_for(template)
    points = carry(shape.vertices, shape.joints)
    readings = [read(plan, kind, points) for kind in _POINT_KINDS]
    by_vertex, by_joint = carry.pull_back(_rows(readings, points.size))
    mass, mass_by_vertex = _mass(shape, template.mesh.triangles)
    values = np.insert([r.value for r in readings], MASS_ROW, mass)
    return Gradients(values, by_vertex, by_joint, mass_by_vertex)


def _rows(readings: list[Reading], width: int) -> csr_array:
    """Gradients of readings by all coordinates of all points, one sparse row each."""
    columns = [(3 * r.rows[:, None] + np.arange(3)).reshape(-1) for r in readings]
    entries = np.concatenate([r.gradient.reshape(-1) for r in readings])
    starts = np.cumsum([0, *map(len, columns)])
    return csr_array((entries, np.concatenate(columns), starts), shape=(len(readings), width))


def _mass(shape: Shape, triangles: Int[NumpyArray, "F 3"]) -> tuple[float, Float[NumpyArray, "n"]]:
    """Mass, kg, and its gradient by every vertex coordinate of the zero pose."""
    from corporeal.geometry.volume_cpu import volume_and_gradient

    volume, gradient = volume_and_gradient(shape.vertices, triangles)
    return BODY_DENSITY * volume, BODY_DENSITY * gradient.reshape(-1)
