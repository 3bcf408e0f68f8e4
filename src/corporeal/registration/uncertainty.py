"""How well a registered person is known: the spread of the rest skin about what was found.

The posterior of the shape given the vertices that the scan shows is Gaussian with the model's own
prior, β ~ N(0, I), and a shown vertex known to ε metres about each axis,

    Cov(β) = (I + Σ_v∈shown S_vᵀ S_v/(ε² c))⁻¹,     Var(x_v) = S_v Cov(β) S_vᵀ + r²

with S the shape directions, c the number of neighbouring vertices whose errors are alike, and r
what the shape space lacks. Shown vertices have ε itself.
"""

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.registration.person_model import person_model

SHOWN = 2.5e-3
"""ε: metres about each axis, poses and sliding included."""
ALIKE = 40.0
"""c."""
LACKING = 1.5e-3
"""r: metres."""
SPREAD = 1.0 / 1.6
"""The model's directions are spread more widely than people are (`person_space`)."""


def rest_spread(seen: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """Standard deviation of every rest vertex about each axis, metres, where `seen` are shown."""
    shapes, root, seen = _posterior(seen)
    half = np.linalg.solve(root, shapes.reshape(len(shapes), -1))
    variance = np.square(half).sum(axis=0).reshape(-1, 3).mean(axis=1)
    return np.sqrt(np.where(seen, SHOWN**2, variance + LACKING**2))


def rest_draws(
    seen: Bool[NumpyArray, "V"], count: int, seed: int = 0
) -> tuple[Float64[NumpyArray, "n V 3"], Float64[NumpyArray, "n J 3"]]:
    """Errors that the rest skin and the joints may have, metres: drawn from the posterior of the
    shape, so that a person's parts err together."""
    shapes, root, _ = _posterior(seen)
    space = person_model().space
    random = np.random.default_rng(seed)
    betas = np.linalg.solve(root.T, random.normal(size=(len(shapes), count))).T
    joints = SPREAD * np.einsum("nk,kja->nja", betas, space.joint_shapes)
    return np.einsum("nk,kva->nva", betas, shapes, optimize=True), joints


def _posterior(
    seen: Bool[NumpyArray, "V"],
) -> tuple[Float64[NumpyArray, "K V 3"], Float64[NumpyArray, "K K"], Bool[NumpyArray, "V"]]:
    """Shape directions as people differ, Cholesky's factor of the posterior's precision, and what
    counts as shown."""
    space = person_model().space
    if not seen.any():
        seen = np.ones_like(seen)
    shapes = SPREAD * space.vertex_shapes
    # the rest skin is compared where it is shown: a common shift is no error
    shapes = shapes - shapes[:, seen].mean(axis=1, keepdims=True)
    shown = shapes[:, seen].reshape(len(shapes), -1)
    precision = np.eye(len(shapes)) + shown @ shown.T / (ALIKE * SHOWN**2)
    return shapes, np.linalg.cholesky(precision), seen
