"""A rest shape that is in balance under gravity.

A body is measured while it stands, so its flesh already carries its own weight. Every tetrahedron
is therefore given its own unloaded shape, such that the measured one is exactly at rest at 1 g:

1. The stress S (over stiffness, symmetric) must balance the weight: Q_fᵀ W S = f. Of all such
   fields take the smallest, S = sym(Q u), with u from Q_fᵀ W sym(Q_f u) = f: linear elasticity,
   solved by conjugate gradients, preconditioned with the factored Q_fᵀ W Q_f.
2. A tetrahedron that is stretched by X in the rest shape has the energy E V/2 ‖F X − R‖² and, at
   F = 1, the stress E (X² − X). So X = (1 + √(1 + 4 S))/2.

The potential stays a strain constraint with other inverse edges: it costs nothing in a step, and it
is as conservative and as blind to rigid motion as before.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import LinearOperator, SuperLU, cg, splu

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.errors import SolverError
from corporeal.physics.solver.constraints.strain import StrainConstraint

SMALLEST_STRESS = -0.24
"""No stretch X carries a stress below −1/4 of the stiffness. Elements that would stay at this, and
their neighbours take over."""
_SLACK = 5e-3
"""By how much the limit may be passed, as rounds end when no element passes it further."""
_OVERLOADED = 1e-2
"""Share of further load that an element at the limit is asked to take."""
_MOST_ROUNDS = 8
_TURNING = 1e-4
"""Share of the gradient's whole size that is added to its symmetric part when the stress is sought:
what hangs almost on a hinge then keeps a bounded stress, and a load that strain cannot carry."""
_REFINEMENTS = 4
"""Rounds that take up what the addition left: a bent bar is in balance after three; what hangs on a
hinge gets so many times its stress at most."""


def balancing_stress(
    strain: StrainConstraint,
    anchored: Bool[NumpyArray, "V"],
    forces: Float64[NumpyArray, "V 3"],
    tolerance: float = 1e-6,
) -> Float64[NumpyArray, "T 3 3"]:
    """The smallest symmetric stress, over stiffness, that holds `forces` (newtons) at rest."""
    free = np.flatnonzero(~anchored)
    matrix = csc_array(strain.matrix)[:, free]
    weighted = csc_array(matrix.T @ diags_array(strain.weights))
    factor = splu(csc_array(weighted @ matrix))
    left = forces[free]
    stress = np.zeros((len(strain.tetrahedra), 3, 3))
    share = np.ones((len(stress), 1, 1))
    for _ in range(_MOST_ROUNDS):
        stress = stress + _least_stress(matrix, weighted, factor, share, left, tolerance)
        values, axes = np.linalg.eigh(stress)
        over = values[:, 0] < SMALLEST_STRESS - _SLACK
        if not over.any():
            break
        values = np.maximum(values, SMALLEST_STRESS)
        stress = (axes * values[:, None, :]) @ axes.transpose(0, 2, 1)
        share[over] = _OVERLOADED
        left = forces[free] - weighted @ stress.reshape(-1, 3)
    return stress


def _least_stress(
    matrix: csc_array,
    weighted: csc_array,
    factor: SuperLU,
    share: Float64[NumpyArray, "T 1 1"],
    forces: Float64[NumpyArray, "f 3"],
    tolerance: float,
) -> Float64[NumpyArray, "T 3 3"]:
    """S = share · sym(Q u) with Q_fᵀ W S = f."""

    def stress(displacement: NumpyArray, turning: float = 0.0) -> NumpyArray:
        gradient = (matrix @ displacement.reshape(forces.shape)).reshape(-1, 3, 3)
        symmetric = 0.5 * (gradient + gradient.transpose(0, 2, 1))
        return share * (symmetric + turning * gradient)

    def stiffness(displacement: NumpyArray) -> NumpyArray:
        return (weighted @ stress(displacement, _TURNING).reshape(-1, 3)).ravel()

    def precondition(residual: NumpyArray) -> NumpyArray:
        return factor.solve(residual.reshape(forces.shape)).ravel()

    found = np.zeros((len(share), 3, 3))
    most = tolerance * float(np.linalg.norm(forces))
    for _ in range(_REFINEMENTS):
        left = forces - weighted @ found.reshape(-1, 3)
        if np.linalg.norm(left) <= most:
            break
        displacement, status = cg(
            _operator(forces.size, stiffness),
            left.ravel(),
            rtol=0.0,
            atol=most,
            maxiter=2000,
            M=_operator(forces.size, precondition),
        )
        if status != 0:
            raise SolverError(
                f"the weight of the rest shape could not be balanced in {status} iterations; the "
                f"tetrahedra are near degenerate. Rebuild the volumetric model, or set gravity to "
                f"0."
            )
        found = found + stress(displacement)
    return found


def _operator(size: int, product: Callable[[NumpyArray], NumpyArray]) -> LinearOperator:
    return LinearOperator((size, size), product)  # pyright: ignore[reportArgumentType]


def natural_stretch(stress: Float64[NumpyArray, "T 3 3"]) -> Float64[NumpyArray, "T 3 3"]:
    """X = (1 + √(1 + 4 S))/2: the stretch that carries the stress S (over stiffness)."""
    values, axes = np.linalg.eigh(stress)
    stretch = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * np.maximum(values, SMALLEST_STRESS - _SLACK)))
    return (axes * stretch[:, None, :]) @ axes.transpose(0, 2, 1)
