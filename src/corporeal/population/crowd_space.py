"""Shapes of many people of one sex and any age at once, as functions of the solver's unknowns.

The unknowns are those of `anthropometry.shape_space`. One matrix of directions serves everybody, so
the two products that a single solve is slow for (shape by coefficients, mass by coefficients, each
over all 60 MB of it) become matrix products over a whole batch.
"""

from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.sensitivity import MASS_ROW, gradients
from corporeal.anthropometry.shape_space import (
    SLIDERS,
    Shape,
    local_directions,
    macro_slopes,
    macro_values,
    target_offsets,
    unknowns_of,
)
from corporeal.models.phenotype.model import PhenotypeModel

_PROBES: Final = (20.0, 50.0)
"""Ages at which young and old targets are reached, years."""


class CrowdSpace:
    """Shapes of one sex; every row of a batch has an age of its own."""

    def __init__(self, model: PhenotypeModel, gender: float) -> None:
        self.model = model
        self.gender = gender
        self.unknowns = unknowns_of(model)
        self.names = tuple(u.name for u in self.unknowns)
        self.low = np.array([u.low for u in self.unknowns])
        self.high = np.array([u.high for u in self.unknowns])
        corners = np.array(list(product(_PROBES, *[(0.25, 0.75)] * len(SLIDERS))))
        reached = macro_values(model, self._fixed(corners[:, 0]), corners[:, 1:])
        self._macro_rows = np.flatnonzero(np.abs(reached).max(axis=0) > 0)
        macro = [target_offsets(model, row) for row in self._macro_rows.tolist()]
        self._directions = np.ascontiguousarray(np.array([*macro, *local_directions(model)]).T)
        body = model.body
        self._base = np.concatenate([body.base_vertices, body.base_joints]).astype(np.float64)
        self._vertex_count = len(body.base_vertices)

    def _fixed(self, ages: Float[NumpyArray, "n"]) -> dict[str, float | NumpyArray]:
        return {"gender": self.gender, "age": ages}

    def coefficients(
        self, values: Float[NumpyArray, "n K"], ages: Float[NumpyArray, "n"]
    ) -> Float[NumpyArray, "n C"]:
        """c(θ) of every person: reachable macro targets, then two a modifier."""
        count = len(SLIDERS)
        macro = macro_values(self.model, self._fixed(ages), values[:, :count])
        local = values[:, count:]
        sided = np.stack([np.maximum(local, 0), np.maximum(-local, 0)], axis=2)
        return np.concatenate([macro[:, self._macro_rows], sided.reshape(len(values), -1)], axis=1)

    def shapes(
        self, values: Float[NumpyArray, "n K"], ages: Float[NumpyArray, "n"]
    ) -> Float[NumpyArray, "n P 3"]:
        """Skin, then joints, of every person in the zero pose, metres; not set on the ground."""
        weights = self.coefficients(values, ages).astype(self._directions.dtype)
        # x_np = base_p + Σ_c c_nc D_pc
        offsets = weights @ self._directions.T
        return self._base + offsets.reshape(len(values), -1, 3)

    def sensitivities(
        self, values: Float[NumpyArray, "n K"], ages: Float[NumpyArray, "n"]
    ) -> tuple[Float[NumpyArray, "n M"], Float[NumpyArray, "n M K"]]:
        """Dimensions of every person (metres, kilograms), and their derivatives by unknowns."""
        template, split = self.model.template, self._vertex_count
        skin, joints = self._directions[: 3 * split], self._directions[3 * split :]
        found = [
            gradients(template, Shape(points[:split], points[split:]))
            for points in self.shapes(values, ages)
        ]
        by_mass = np.array([f.mass_by_vertex for f in found], skin.dtype) @ skin
        by_point = np.array([f.by_coefficient(skin, joints) for f in found])
        by_coefficient = np.insert(by_point, MASS_ROW, by_mass, axis=1)
        return np.array([f.values for f in found]), self._chained(by_coefficient, values, ages)

    def _chained(
        self,
        by_coefficient: Float[NumpyArray, "n M C"],
        values: Float[NumpyArray, "n K"],
        ages: Float[NumpyArray, "n"],
    ) -> Float[NumpyArray, "n M K"]:
        """∂m/∂θ = ∂m/∂c · dc/dθ; a modifier moves its positive or its negative target."""
        count, rows = len(SLIDERS), self._macro_rows
        slopes = macro_slopes(self.model, self._fixed(ages), values[:, :count])[:, rows]
        by_slider = by_coefficient[:, :, : len(rows)] @ slopes
        sided = by_coefficient[:, :, len(rows) :].reshape(*by_coefficient.shape[:2], -1, 2)
        raised = (values[:, None, count:] >= 0)[..., None]
        by_modifier = np.where(raised[..., 0], sided[..., 0], -sided[..., 1])
        return np.concatenate([by_slider, by_modifier], axis=2)


@lru_cache(maxsize=2)
def crowd_space(model: PhenotypeModel, gender: float) -> CrowdSpace:
    """The space of one sex, kept for the next batch."""
    return CrowdSpace(model, gender)
