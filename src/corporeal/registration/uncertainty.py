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

SHOWN = 2.5e-3
"""ε: metres about each axis, poses and sliding included."""
ALIKE = 40.0
"""c."""
ALIKE_AFAR = 6000.0
"""c for parts that the scan hardly shows: small errors of one sign over all that it shows add up
there. Chosen on halves of people whom no benchmark judges (docs/design/registration.md)."""
_HARDLY = 0.5
"""Share of a part's vertices that are shown, below which it hardly is."""
LACKING = 1.5e-3
"""r: metres."""
SPREAD = 1.0 / 1.6
"""The model's directions are spread more widely than people are (`person_space`)."""
_ANY_TURN = 10.0
"""Radians that the root may turn."""


def rest_spread(seen: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """Standard deviation of every rest vertex about each axis, metres, where `seen` are shown."""
    seen, afar = _shown(seen)
    variance = np.empty(len(seen))
    for some, alike in ((~afar, ALIKE), (afar, ALIKE_AFAR)):
        if some.any():
            shapes, root = _posterior(seen, alike)
            half = np.linalg.solve(root, shapes[:, some].reshape(len(shapes), -1))
            variance[some] = np.square(half).sum(axis=0).reshape(-1, 3).mean(axis=1)
    return np.sqrt(np.where(seen, SHOWN**2, variance + LACKING**2))


def rest_draws(
    seen: Bool[NumpyArray, "V"], count: int, seed: int = 0
) -> tuple[Float64[NumpyArray, "n V 3"], Float64[NumpyArray, "n J 3"]]:
    """Errors that the rest skin and the joints may have, metres: drawn from the posterior of the
    shape, so that a person's parts err together."""
    seen, afar = _shown(seen)
    model = person_model()
    normals = np.random.default_rng(seed).normal(size=(model.space.count, count))
    moved = model.weights[afar].sum(axis=0) > 0.5 * model.weights.sum(axis=0)
    skins = np.empty((count, len(seen), 3))
    joints = np.empty((count, len(moved), 3))
    for some, turned, alike in ((~afar, ~moved, ALIKE), (afar, moved, ALIKE_AFAR)):
        if some.any():
            shapes, root = _posterior(seen, alike)
            betas = np.linalg.solve(root.T, normals).T
            skins[:, some] = np.einsum("nk,kva->nva", betas, shapes[:, some], optimize=True)
            each = SPREAD * np.einsum("nk,kja->nja", betas, model.space.joint_shapes)
            joints[:, turned] = each[:, turned]
    return skins, joints


def _shown(seen: Bool[NumpyArray, "V"]) -> tuple[Bool[NumpyArray, "V"], Bool[NumpyArray, "V"]]:
    """What counts as shown, and vertices of the parts that hardly are."""
    if not seen.any():
        seen = np.ones_like(seen)
    labels = np.asarray(person_model().template.part_labels)
    shares = np.bincount(labels, seen) / np.bincount(labels)
    return seen, shares[labels] < _HARDLY


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
) -> tuple[Float64[NumpyArray, "K V 3"], Float64[NumpyArray, "K K"]]:
    """Shape directions as people differ, and Cholesky's factor of the posterior's precision."""
    model = person_model()
    shapes = SPREAD * model.space.vertex_shapes
    # the rest skin is compared where it is shown: a common shift is no error
    shapes = shapes - shapes[:, seen].mean(axis=1, keepdims=True)
    turned = _rotations()[seen]
    turned = turned - turned.mean(axis=0)
    likely = np.minimum(model.prior.spread.reshape(-1), _ANY_TURN)
    precision = marginal_precision(
        shapes[:, seen].reshape(len(shapes), -1),
        turned.reshape(-1, turned.shape[2]),
        1.0 / (alike * SHOWN**2),
        likely,
    )
    return shapes, np.linalg.cholesky(precision)
