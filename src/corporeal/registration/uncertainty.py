"""How well a registered person is known: the spread of the rest skin about what was found.

The posterior of the shape given the vertices that the scan shows is Gaussian with the model's own
prior, β ~ N(0, I), the pose's, θ ~ N(0, τ²), and a shown vertex known to ε metres about each axis,

    Cov(β) = (I + SᵀS − SᵀJ (JᵀJ + ε² c/τ²)⁻¹ JᵀS)⁻¹ with SᵀS, SᵀJ and JᵀJ over ε² c,

    Var(x_v) = S_v Cov(β) S_vᵀ + r²,

S the shape directions and J the rotations' of shown vertices, c the number of neighbouring vertices
whose errors are alike, and r what the shape space lacks. The pose is as unknown as the shape: a
joint turned a little and a shape that leans as much look alike where both are shown, and differ at
the end of a limb that is not. Shown vertices have ε itself.
"""

from functools import cache

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.registration.model_jacobian import model_jacobian
from corporeal.registration.person_model import person_model
from corporeal.registration.pose_prior import pose_prior

SHOWN = 2.5e-3
"""ε: metres about each axis, poses and sliding included."""
ALIKE = 40.0
"""c of measurements."""
ALIKE_AFAR = 400.0
"""c of what the scan does not show: small errors of one sign over all that it shows add up there.
Chosen on four scans of two people, of which half or a limb was missing."""
LACKING = 1.5e-3
"""r: metres."""
SPREAD = 1.0 / 1.6
"""The model's directions are spread more widely than people are (`person_space`)."""
_ANY_TURN = 10.0
"""Radians that the root may turn."""


def rest_spread(seen: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """Standard deviation of every rest vertex about each axis, metres, where `seen` are shown."""
    shapes, root, seen = _posterior(seen, ALIKE_AFAR)
    half = np.linalg.solve(root, shapes.reshape(len(shapes), -1))
    variance = np.square(half).sum(axis=0).reshape(-1, 3).mean(axis=1)
    return np.sqrt(np.where(seen, SHOWN**2, variance + LACKING**2))


def rest_draws(
    seen: Bool[NumpyArray, "V"], count: int, seed: int = 0
) -> tuple[Float64[NumpyArray, "n V 3"], Float64[NumpyArray, "n J 3"]]:
    """Errors that the rest skin and the joints may have, metres: drawn from the posterior of the
    shape, so that a person's parts err together."""
    shapes, root, _ = _posterior(seen, ALIKE)
    space = person_model().space
    random = np.random.default_rng(seed)
    betas = np.linalg.solve(root.T, random.normal(size=(len(shapes), count))).T
    joints = SPREAD * np.einsum("nk,kja->nja", betas, space.joint_shapes)
    return np.einsum("nk,kva->nva", betas, shapes, optimize=True), joints


def marginal_precision(
    shown: Float64[NumpyArray, "K n"],
    turned: Float64[NumpyArray, "n R"],
    weight: float,
    likely: Float64[NumpyArray, "R"],
) -> Float64[NumpyArray, "K K"]:
    """Precision of the shape whatever the pose is: directions `shown` and `turned` of so many
    coordinates of this weight, priors 1 and `likely` (standard deviations)."""
    across = weight * shown @ turned
    poses = weight * turned.T @ turned + np.diag(likely**-2.0)
    both = np.eye(len(shown)) + weight * shown @ shown.T
    return both - across @ np.linalg.solve(poses, across.T)


@cache
def _rotations() -> Float64[NumpyArray, "V 3 R"]:
    """How the rest skin turns with every joint, metres a radian."""
    model = person_model()
    jacobian = model_jacobian(model, model.posed(model.start()), 1)
    return np.asarray(jacobian.rotations.toarray()).reshape(len(model.vertex_indices), 3, -1)


def _posterior(
    seen: Bool[NumpyArray, "V"], alike: float
) -> tuple[Float64[NumpyArray, "K V 3"], Float64[NumpyArray, "K K"], Bool[NumpyArray, "V"]]:
    """Shape directions as people differ, Cholesky's factor of the posterior's precision, and what
    counts as shown."""
    model = person_model()
    if not seen.any():
        seen = np.ones_like(seen)
    shapes = SPREAD * model.space.vertex_shapes
    # the rest skin is compared where it is shown: a common shift is no error
    shapes = shapes - shapes[:, seen].mean(axis=1, keepdims=True)
    turned = _rotations()[seen]
    turned = turned - turned.mean(axis=0)
    likely = np.minimum(pose_prior(model.template.skeleton.names).spread.reshape(-1), _ANY_TURN)
    precision = marginal_precision(
        shapes[:, seen].reshape(len(shapes), -1),
        turned.reshape(-1, turned.shape[2]),
        1.0 / (alike * SHOWN**2),
        likely,
    )
    return shapes, np.linalg.cholesky(precision), seen
