"""Dyna's equations 12 to 18, as the paper prints them; one frame.

Pons-Moll, Romero, Mahmood, Black: Dyna, ACM Transactions on Graphics 34(4), 2015, 3.5 and 4. Symbols
beyond those of `models.blendscape.equations`:

========  ====================================================  ==========================
symbol    meaning                                               code
========  ====================================================  ==========================
T_t       total deformation of a triangle, person and dynamics  `T`             F 3 3
v_t,e     edges of a registration                               `edges`         F 2 3
λ         smoothness of T over neighbouring triangles           `smoothness`
S̄         mean of T over a subject's frames                     `mean`
μ_D, u_D  mean and components of D = T − S̄                      `mu`, `U`       D F 3 3
========  ====================================================  ==========================
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.models.blendscape.equations import deformed_edges


def decomposition_energy(
    T: Float[NumpyArray, "F 3 3"],
    R: Float[NumpyArray, "F 3 3"],
    Q: Float[NumpyArray, "F 3 3"],
    template_edges: Float[NumpyArray, "F 2 3"],
    edges: Float[NumpyArray, "F 2 3"],
    neighbours: Int[NumpyArray, "n 2"],
    smoothness: float,
) -> float:
    """Σ_t,e ‖R*_t T_t Q_t v̂_t,e − v_t,e‖² + λ Σ_adj ‖T_t1 − T_t2‖², eq. 12."""
    off = deformed_edges(R, T, Q, template_edges) - edges
    apart = T[neighbours[:, 0]] - T[neighbours[:, 1]]
    return float(np.sum(off**2) + smoothness * np.sum(apart**2))


def subject_mean(T: Float[NumpyArray, "N F 3 3"]) -> Float[NumpyArray, "F 3 3"]:
    """S̄ = 1/N Σ_k T_k, eq. 13."""
    return T.mean(axis=0)


def total_deformation(
    S: Float[NumpyArray, "F 3 3"],
    delta: Float[NumpyArray, "D"],
    mu: Float[NumpyArray, "F 3 3"],
    U: Float[NumpyArray, "D F 3 3"],
) -> Float[NumpyArray, "F 3 3"]:
    """T(β, δ) = S(β) + μ_D + Σ_d δ_d u_D,d, eq. 14 to 16."""
    return S + mu + np.tensordot(delta, U, axes=1)
