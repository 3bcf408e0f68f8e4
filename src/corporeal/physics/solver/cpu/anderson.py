"""Anderson acceleration of the local–global iteration, compiled (Peng et al. 2018).

The iteration is a fixed point g(z) = z + δ(z). Instead of g at the newest z, the combination of the
newest three g is taken whose δ would be smallest if δ were linear.
"""

import numpy as np

from corporeal.runtime.kernels import kernel

MEMORY = 3
"""Iterates combined: more brings little (measured with 6)."""
_GROWTH = 4.0
"""A δ whose square grew by more than this forgets what came before."""


@kernel(fastmath=True)
def _dots(steps, newest, second, third, out):
    """‖f₀‖² and the products of f₀, f₀ − f₁ and f₀ − f₂ that the least squares need."""
    n0, a11, a12, a22, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(steps.shape[1]):
        f = steps[newest, i]
        u, v = f - steps[second, i], f - steps[third, i]
        n0 += f * f
        a11 += u * u
        a12 += u * v
        a22 += v * v
        b1 += u * f
        b2 += v * f
    out[0], out[1], out[2], out[3], out[4], out[5] = n0, a11, a12, a22, b1, b2


@kernel()
def _shares(dots, known):
    """θ₁, θ₂ of min ‖f₀ − θ₁ (f₀ − f₁) − θ₂ (f₀ − f₂)‖²; zero where they are not determined."""
    a11, a12, a22, b1, b2 = dots[1], dots[2], dots[3], dots[4], dots[5]
    slight = 1e-10 * (a11 + a22)
    if known >= 3:
        determinant = (a11 + slight) * (a22 + slight) - a12 * a12
        if determinant > 1e-14 * a11 * a22 and determinant > 0.0:
            return (
                ((a22 + slight) * b1 - a12 * b2) / determinant,
                ((a11 + slight) * b2 - a12 * b1) / determinant,
            )
    if known >= 2 and a11 > 0.0:
        return b1 / a11, 0.0
    return 0.0, 0.0


@kernel()
def accelerate(z, delta, reached, steps, norms, iteration, known):
    """z ← the best combination of the newest g(z); gives back how many iterates are known now.

    `reached` and `steps` keep g and δ of three iterates (rings of 3 × 3f), `norms` three ‖δ‖².
    """
    newest = iteration % MEMORY
    second, third = (iteration + 2) % MEMORY, (iteration + 1) % MEMORY
    for i in range(delta.shape[0]):
        for c in range(3):
            reached[newest, 3 * i + c] = z[i, c] + delta[i, c]
            steps[newest, 3 * i + c] = delta[i, c]
    dots = np.empty(6)
    _dots(steps, newest, second, third, dots)
    norms[newest] = dots[0]
    if known > 0 and not (dots[0] <= _GROWTH * norms[second]):
        known = 0
    known = min(known + 1, MEMORY)
    first, other = _shares(dots, known)
    for i in range(delta.shape[0]):
        for c in range(3):
            k = 3 * i + c
            g = reached[newest, k]
            if known > 1:
                g -= first * (g - reached[second, k])
            if known > 2:
                g -= other * (reached[newest, k] - reached[third, k])
            z[i, c] = g
    return known
