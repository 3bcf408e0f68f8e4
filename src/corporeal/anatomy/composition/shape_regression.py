"""Fat and muscle mass as linear functions of shape coefficients: the form of Komaritzan 2022.

    FM(c) = a_FMᵀ c + b_FM   (4.5)          MM(c) = a_MMᵀ c + b_MM   (4.6)

c are the leading principal components of registered bodies of one sex (the thesis takes 12). They
are trained by least squares on pairs (c_j, FM_j, MM_j), whoever made them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.composition.constrained import leave_one_out
from corporeal.body.checks import require_finite
from corporeal.body.composition import Composition
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

SHAPE_COUNT: Final = 12
"""Components that the thesis uses: 99.5 % of the variance of its 100 bodies a sex."""


@pytree_dataclass()
class ShapeRegressor:
    """Linear fat and muscle of one sex."""

    slopes: Float[NumpyArray, "S 2"]
    """a_FM and a_MM, kg for a unit of each shape coefficient."""
    offsets: Float[NumpyArray, "2"]
    """b_FM and b_MM, kg."""

    def masses(self, coefficients: Float[NumpyArray, "*batch S"]) -> Float[NumpyArray, "*batch 2"]:
        """Fat and muscle mass, kg, by the equations; the thinnest bodies may get less than 0."""
        if coefficients.shape[-1] < len(self.slopes):
            raise InputError(
                f"{coefficients.shape[-1]} shape coefficients came; this regressor was trained on "
                f"{len(self.slopes)}. Project the body onto as many components."
            )
        # m_k = Σ_s c_s a_sk + b_k
        return coefficients[..., : len(self.slopes)] @ self.slopes + self.offsets

    def composition(self, coefficients: Float[NumpyArray, "S"]) -> Composition:
        """The composition of one body, negative masses clamped to 0."""
        fat, muscle = np.maximum(self.masses(coefficients), 0.0)
        return Composition(float(fat), float(muscle))


@dataclass(frozen=True, eq=False)
class ShapeRegression:
    """A trained regressor and its leave-one-out errors."""

    regressor: ShapeRegressor
    """Fitted to all pairs (equations 4.5 and 4.6)."""
    left_out_errors: Float[NumpyArray, "n 2"]
    """Fat and muscle: given minus predicted by the fit to all others, kg."""
    determination: Float[NumpyArray, "2"]
    """R² of the fit, fat and muscle."""

    @property
    def mean_absolute_errors(self) -> Float[NumpyArray, "2"]:
        """Leave-one-out, fat and muscle, kg."""
        return np.abs(self.left_out_errors).mean(axis=0)


def train_shape_regressor(
    coefficients: Float[NumpyArray, "n c"],
    masses: Float[NumpyArray, "n 2"],
    shape_count: int = SHAPE_COUNT,
) -> ShapeRegression:
    """Least squares of fat and muscle mass (kg) on the first `shape_count` shape coefficients."""
    require_finite("shape coefficients", coefficients)
    require_finite("fat and muscle masses", masses)
    people, available = coefficients.shape
    if available < shape_count:
        raise InputError(
            f"each body has {available} shape coefficients; {shape_count} were asked for. Give "
            f"more components or a smaller shape_count."
        )
    if people < shape_count + 2:
        raise InputError(
            f"{people} bodies cannot determine {shape_count + 1} coefficients with an error left "
            f"to measure; give at least {shape_count + 2}, or fewer shape coefficients."
        )
    design = np.column_stack([np.ones(people), coefficients[:, :shape_count]])
    solved, _, rank, _ = np.linalg.lstsq(design, masses)
    if rank < shape_count + 1:
        raise InputError(
            f"the shape coefficients vary in {rank - 1} of {shape_count} directions only; leave "
            f"out components that do not vary."
        )
    hat = design @ np.linalg.pinv(design)
    fitted = design @ solved
    errors = np.column_stack([leave_one_out(masses[:, k], fitted[:, k], hat) for k in range(2)])
    unexplained = ((masses - fitted) ** 2).sum(axis=0)
    total = ((masses - masses.mean(axis=0)) ** 2).sum(axis=0)
    return ShapeRegression(ShapeRegressor(solved[1:], solved[0]), errors, 1 - unexplained / total)
