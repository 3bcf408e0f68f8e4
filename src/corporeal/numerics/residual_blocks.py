"""Sparse Gauss–Newton from blocks of residuals with robust kernels.

    E(x) = ½ Σ_b Σ_i u_bi ρ_b(‖r_bi(x)‖²)

over blocks b of vectors r_bi, k numbers each (3 for a distance between points, 1 for a distance to
a plane), with weights u and a robust kernel ρ a block. About x, with J the blocks' sparse Jacobian
and w = u ρ'(‖r‖²), the model is that of iteratively reweighted least squares,

    gradient Jᵀ w r (exact),   matrix Jᵀ w J: sparse, symmetric, positive semidefinite,

which the dogleg of `gauss_newton` steps through.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.numerics.gauss_newton import Descent, Normal, descend
from corporeal.numerics.robust_kernels import RobustKernel, Squared

Point = TypeVar("Point")


@dataclass(frozen=True, eq=False)
class Residuals:
    """One block: m vectors of k numbers that a kernel and weights go with."""

    values: Float64[NumpyArray, "m k"]
    """r, in the block's unit."""
    kernel: RobustKernel = field(default_factory=Squared)
    """ρ, by which large residuals count less."""
    weights: Float64[NumpyArray, "m"] | float = 1.0
    """u, one a vector or one for all; not below 0."""

    def __post_init__(self) -> None:
        if not (np.min(self.weights, initial=0.0) >= 0 and np.all(np.isfinite(self.weights))):
            raise InputError(
                f"weights of a block of residuals go from {np.min(self.weights):g} to "
                f"{np.max(self.weights):g}; expected finite numbers from 0."
            )

    @property
    def squares(self) -> Float64[NumpyArray, "m"]:
        """‖r‖² of every vector."""
        return np.sum(self.values**2, axis=1)

    @property
    def energy(self) -> float:
        """½ Σ u ρ(‖r‖²)."""
        return 0.5 * float(np.sum(self.weights * self.kernel.loss(self.squares)))


@dataclass(frozen=True, eq=False)
class LinearisedResiduals:
    """A block with its derivatives."""

    residuals: Residuals
    """The block itself."""
    jacobian: csr_array
    """m k × n: the rows of a vector's k numbers follow each other."""

    def __post_init__(self) -> None:
        rows = self.jacobian.shape[0]  # pyright: ignore[reportOptionalSubscript]
        if rows != self.residuals.values.size:
            raise InputError(
                f"a Jacobian has {rows} rows for {self.residuals.values.size} residuals; expected "
                f"a row each."
            )


def normal_of(blocks: Sequence[LinearisedResiduals]) -> Normal:
    """Jᵀ w J, Jᵀ w r and the energy of all blocks together."""
    if not blocks:
        raise InputError("no block of residuals came; expected at least one.")
    widths = {block.jacobian.shape[1] for block in blocks}  # pyright: ignore[reportOptionalSubscript]
    if len(widths) > 1:
        raise InputError(
            f"Jacobians have {sorted(widths)} columns; expected one number of unknowns for all."
        )
    size = widths.pop()
    matrix, gradient, energy = csc_array((size, size)), np.zeros(size), 0.0
    for block in blocks:
        given = block.residuals
        weights = given.weights * given.kernel.weight(given.squares)
        rows = np.repeat(weights, given.values.shape[1])
        weighted = csr_array(diags_array(rows) @ block.jacobian)
        matrix = matrix + csc_array(weighted.T @ block.jacobian)
        gradient += weighted.T @ given.values.ravel()
        energy += given.energy
    return Normal(csc_array(matrix), gradient, energy)


def minimise_blocks(
    start: Point,
    linearised: Callable[[Point], Sequence[LinearisedResiduals]],
    residuals: Callable[[Point], Sequence[Residuals]],
    moved: Callable[[Point, NumpyArray], Point],
    *,
    radius: float = 1.0,
    tolerance: float = 1e-6,
    iterations: int = 50,
) -> Descent[Point]:
    """Minimise E from `start`; `moved(x, step)` is x ⊕ step, as in `gauss_newton.descend`.

    `residuals` are the blocks without their derivatives, for steps that may be taken back.
    """
    return descend(
        start,
        lambda point: normal_of(linearised(point)),
        lambda point: sum(block.energy for block in residuals(point)),
        moved,
        radius=radius,
        tolerance=tolerance,
        iterations=iterations,
    )
