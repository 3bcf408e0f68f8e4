"""Dyna's equations 20 to 25, as the paper prints them; one frame at a time, float64.

Pons-Moll, Romero, Mahmood, Black: Dyna: A Model of Dynamic Human Shape in Motion, ACM Transactions
on Graphics 34(4), 2015. The fast paths (`autoregression`, `mixture`, `clock`) are checked against
these. Equation 21's exponent is the distance of body mass indices over τ.

========  ==================================================  ===========================
symbol    meaning                                             code
========  ==================================================  ===========================
x_k       control vector of frame k: θ̇, θ̈, v, a              `control`      c
δ_k       dynamic coefficients                                `delta`        D
B         inputs of a person                                  `B`            D c
a_l       autoregressive coefficients, l = 1 … M              `a`            M D
b         constant offset                                     `b`            D
a, a^j    body mass index to animate, of person j             `index`, `indices`  n
τ         kernel width, kg/m²                                 `tau`
α_j       mixture weights, normalised                         `alpha`        n
w_i       weight of person i in the risk of person j          `w`            n
========  ==================================================  ===========================
"""

import math

import numpy as np

from corporeal._typing import Float64, NumpyArray


def single_person(
    control: Float64[NumpyArray, "c"],
    before: Float64[NumpyArray, "m D"],
    B: Float64[NumpyArray, "D c"],
    a: Float64[NumpyArray, "m D"],
    b: Float64[NumpyArray, "D"],
) -> Float64[NumpyArray, "D"]:
    """δ̂_k = g(x_k) = Σ_n B_n x_kn + Σ_l diag(a_l) δ̂_{k−l} + b, eq. 20."""
    delta = B @ control + b
    for a_l, delta_l in zip(a, before, strict=True):
        delta = delta + np.diag(a_l) @ delta_l
    return delta


def mixture_weights(
    index: float, indices: Float64[NumpyArray, "n"], tau: float
) -> Float64[NumpyArray, "n"]:
    """α_j = exp(−‖a^j − a‖/τ) / Z, eq. 21; τ → 0 is the nearest person, τ → ∞ all alike."""
    apart = np.abs(indices - index)
    if math.isinf(tau):
        return np.full(len(indices), 1.0 / len(indices))
    alpha = np.exp(-(apart - apart.min()) / tau)  # the common factor falls out with Z
    return alpha / alpha.sum()


def mixture(
    control: Float64[NumpyArray, "c"],
    before: Float64[NumpyArray, "m D"],
    people: list[tuple[NumpyArray, NumpyArray, NumpyArray]],
    alpha: Float64[NumpyArray, "n"],
) -> Float64[NumpyArray, "D"]:
    """δ̂_k = Σ_j α_j g_j(x_k), eq. 21 and 22; `people` are (B, a, b) of each."""
    total = np.zeros(len(people[0][2]))
    for share, (B, a, b) in zip(alpha, people, strict=True):
        total = total + share * single_person(control, before, B, a, b)
    return total


def risk(deltas: Float64[NumpyArray, "N D"], predicted: Float64[NumpyArray, "N D"]) -> float:
    """R(p; 𝒟) = 1/|𝒟| Σ_k ‖δ_k − g(x_k; p)‖², eq. 23."""
    return float(np.sum((deltas - predicted) ** 2) / len(deltas))


def risk_weights(person: int, count: int) -> Float64[NumpyArray, "n"]:
    """w_i of the weighted risk of `person` j: √(2 (N − 1)) for i = j and 1 otherwise."""
    w = np.ones(count)
    w[person] = math.sqrt(2 * max(count - 1, 1))
    return w


def weighted_risk(risks: Float64[NumpyArray, "n"], w: Float64[NumpyArray, "n"]) -> float:
    """R_w(p; 𝒟) = Σ_i w_i² R(p; 𝒟^i), eq. 24 and 25."""
    return float(np.sum(w**2 * risks))
