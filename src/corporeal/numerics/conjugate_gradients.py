"""Preconditioned conjugate gradients for many systems of one size, side by side.

One recurrence a system (Hestenes, Stiefel 1952), all of them advanced by the same products; systems
that have converged leave. For one system SciPy's `cg` is used instead.

The matrices are symmetric and positive definite, each with n · k unknowns: system v of an array
(n, N, k) is its slice [:, v].
"""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float, Int, NumpyArray

Some = Int[NumpyArray, "a"] | slice
"""Numbers of the systems that an array holds; a slice for all of them."""
Product = Callable[[Float[NumpyArray, "n a k"], Some], Float[NumpyArray, "n a k"]]
"""Columns of some systems → a matrix of each times its column."""
_TINY = 1e-30


def conjugate_gradients_many(
    product: Product,
    precondition: Product,
    right: Float[NumpyArray, "n N k"],
    start: Float[NumpyArray, "n N k"] | None = None,
    *,
    tolerance: float,
    iterations: int,
) -> Float[NumpyArray, "n N k"]:
    """x with A_v x_v = b_v of every system v.

    `product` is A, `precondition` an approximation of A⁻¹, symmetric and positive definite too. A
    system is done when its residual r has r·A₀⁻¹r ≤ `tolerance` · b·A₀⁻¹b, with A₀⁻¹ the
    preconditioner; the others stop after so many `iterations`.
    """
    everyone: Some = slice(None)
    found = np.zeros_like(right) if start is None else start.copy()
    residual = right - product(found, everyone)
    way = precondition(residual, everyone)
    power = _dot(residual, way)
    least = tolerance * np.maximum(_dot(right, precondition(right, everyone)), _TINY)
    live = np.arange(right.shape[1])
    for _ in range(iterations):
        going = power > least[live]
        if not going.any():
            break
        if not going.all():
            live, power = live[going], power[going]
            residual, way = residual[:, going], way[:, going]
        image = product(way, live)
        length = power / np.maximum(_dot(way, image), _TINY)
        found[:, live] += length[:, None] * way
        residual = residual - length[:, None] * image
        fresh = precondition(residual, live)
        after = _dot(residual, fresh)
        way = fresh + (after / np.maximum(power, _TINY))[:, None] * way
        power = after
    return found


def _dot(
    left: Float[NumpyArray, "n a k"], right: Float[NumpyArray, "n a k"]
) -> Float[NumpyArray, "a"]:
    # d_v = Σ_fc l_fvc r_fvc
    return np.einsum("fva,fva->v", left, right)
