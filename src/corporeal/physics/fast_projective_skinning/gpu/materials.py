"""Gradients of a simulation in its materials: maps of stiffness and mass, found from a take.

The global step's inverse is made anew for every material but is not differentiated: with
δ₀ = A⁻¹ r held fixed, the correction is written as δ = δ₀ + A⁻¹ (r(θ) − A(θ) δ₀), whose value is δ₀
and whose derivative is A⁻¹ (dr − dA δ₀): that of the exact solve.

Maps are few numbers θ blended over the body, and a take is thousands: the sum of squares is
descended by Gauss and Newton's method, damped as Levenberg and Marquardt do, with the whole slope
J = ∂x/∂θ from forward derivatives. Neighbouring parts share most of what they do to a movement (the
condition of JᵀJ is thousands), which steps along the gradient alone need hundreds of rounds for.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corporeal._typing import Array, Float, Float64, Int, NumpyArray
from corporeal.errors import SolverError
from corporeal.numerics.levenberg_marquardt import Damping, Trial, descend_damped
from corporeal.physics.solver.gpu.elements import (
    DeviceFlesh,
    stiffness_product,
    strain_forces,
)
from corporeal.physics.solver.integration import StepRule

_DAMPING, _MOST_DAMPING = Damping(0.1, lambda d: 0.2 * d, lambda d: 10.0 * d), 1e6
"""Of a round, against the diagonal of JᵀJ."""
_SETTLED = 1e-4
"""A round that changes no logarithm of a factor by more is the last."""
_LONGEST = 1.0
"""A round changes no logarithm by more than this: the slope is not known to hold further."""


class Parts(NamedTuple):
    """How much of every piece of flesh belongs to each of m parts; shares sum to one."""

    owners: Int[Array, "f k"]
    """Tetrahedron of every incidence."""
    tetrahedra: Float[Array, "T m"]
    """Share of every tetrahedron in each part, for its stiffness."""
    vertices: Float[Array, "f m"]
    """Of the free vertices, for their mass."""


class MaterialTake(NamedTuple):
    """What a body is put through: k steps of one character, without contacts."""

    start: Float[Array, "3 f"]
    """Free vertices, at rest, metres."""
    anchors: Float[Array, "k 3 b"]
    """Places of the anchored vertices, metres."""
    carried: Float[Array, "k 3 f"]
    """Velocities that drag draws towards, m/s."""
    forces: Float[Array, "k 3 f"]
    """Forces that do not depend on the material, newtons: known pushes, and K t of attachments."""
    gravity: Float[Array, "3"]
    """m/s²."""


def materials_of(
    flesh: DeviceFlesh, parts: Parts, stiffness: Float[Array, "m"], mass: Float[Array, "m"]
) -> DeviceFlesh:
    """The flesh with stiffness and mass multiplied by maps: geometric means of the parts' factors,
    in their shares."""
    stiff = jnp.exp(parts.tetrahedra @ jnp.log(stiffness))
    heavy = jnp.exp(parts.vertices @ jnp.log(mass))
    return DeviceFlesh(
        flesh.corners,
        flesh.gradients,
        flesh.weights * stiff[parts.owners],
        flesh.masses * heavy,
        flesh.springs,
    )


def flesh_matrix(
    flesh: DeviceFlesh, inertia: float, stiffening: float = 1.0
) -> Float[Array, "f f"]:
    """A = κ M_f + K_f + s Q_fᵀ W Q_f, dense: of small bodies."""
    free = flesh.weights.shape[0]
    columns = jnp.broadcast_to(jnp.eye(free, dtype=flesh.masses.dtype), (3, free, free))
    stiffness = stiffening * stiffness_product(flesh, columns)[0]
    return stiffness + jnp.diag(_held(flesh, inertia * flesh.masses))


def _held(flesh: DeviceFlesh, inertia: Float[Array, "f"]) -> Float[Array, "f"]:
    """κ M_f + K_f of a diagonal κ M_f, N/m."""
    return inertia if flesh.springs is None else inertia + flesh.springs


def simulated(flesh: DeviceFlesh, rule: StepRule, take: MaterialTake) -> Float[Array, "k 3 f"]:
    """The free vertices after every step, metres; differentiable in flesh and take.

    Plain iterations: acceleration divides by what vanishes where the iteration has converged.
    """
    matrix = lax.stop_gradient(flesh_matrix(flesh, rule.inertia, rule.stiffening))
    inverse = lax.stop_gradient(jnp.linalg.inv(matrix))
    weight = flesh.masses * take.gravity[:, None]
    inertia = rule.inertia * flesh.masses
    now, earlier = rule.blend
    drag = rule.damping * rule.reach

    def solved(right: Array) -> Array:
        first = lax.stop_gradient(_product(inverse, right))
        product = rule.stiffening * stiffness_product(flesh, first[..., None])[..., 0]
        product = product + _held(flesh, inertia) * first
        return first + _product(inverse, right - product)

    def step(state: tuple[Array, ...], given: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array]:
        position, velocity, before, velocity_before = state
        anchors, carried, forces = given
        place = now * position - earlier * before
        speed = now * velocity - earlier * velocity_before
        predicted = place + (rule.reach / (1.0 + drag)) * (speed + drag * carried)

        def strain(z: Array) -> Array:
            return strain_forces(flesh, jnp.concatenate([z, anchors], axis=1)[..., None])[..., 0]

        if rule.viscosity > 0.0:
            forces = forces - (rule.stiffening - 1.0) * strain(position + rule.step * carried)

        def iterate(z: Array, _: None) -> tuple[Array, None]:
            right = inertia * (predicted - z)
            right = right if flesh.springs is None else right - flesh.springs * z
            right = right + weight + forces
            return z + solved(right + rule.stiffening * strain(z)), None

        found, _ = lax.scan(jax.checkpoint(iterate), predicted, length=rule.iterations)
        return (found, (found - place) / rule.reach, position, velocity), found

    still = jnp.zeros_like(take.start)
    start = (take.start, still, take.start, still)
    return lax.scan(step, start, (take.anchors, take.carried, take.forces))[1]


class Recovery(NamedTuple):
    """What a descent found."""

    stiffness: Float[Array, "m"]
    """Factors of the parts."""
    mass: Float[Array, "m"]
    """Factors of the parts."""
    losses: Float[NumpyArray, "rounds"]
    """Mean squared distance to the take after every round that came nearer, m²."""


class _Here(NamedTuple):
    at: Float64[NumpyArray, "p"]
    """Logarithms of the factors."""
    gradient: Float64[NumpyArray, "p"]
    curvature: Float64[NumpyArray, "p p"]
    losses: tuple[float, ...]
    """Sums of squares on the way here, the last one of this point."""


def recovered(
    flesh: DeviceFlesh,
    parts: Parts,
    rule: StepRule,
    take: MaterialTake,
    seen: Float[Array, "k 3 f"],
    rounds: int = 20,
) -> Recovery:
    """Factors of stiffness and mass with which the simulation passes through what was `seen`.

    All start at 1. Raises where the take leaves some factor undetermined: without known forces
    only ratios of stiffness to mass show, since gravity and inertia grow with mass as well.
    """
    count = parts.tetrahedra.shape[1]

    def missed(logarithms: Array) -> tuple[Array, Array]:
        stiffness, mass = jnp.exp(logarithms.reshape(2, count))
        made = simulated(materials_of(flesh, parts, stiffness, mass), rule, take)
        away = (made - seen).ravel()
        return away, away

    @jax.jit
    def squares(logarithms: Array) -> tuple[Array, Array, Array]:
        """The sum of squares, half its gradient, and JᵀJ."""
        slope, away = jax.jacfwd(missed, has_aux=True)(logarithms)
        exact = lax.Precision.HIGHEST
        return (
            jnp.sum(away * away),
            jnp.matmul(slope.T, away, precision=exact),
            jnp.matmul(slope.T, slope, precision=exact),
        )

    def evaluated(at: NumpyArray, losses: tuple[float, ...]) -> _Here:
        value, gradient, curvature = _on_host(squares(jnp.asarray(at, seen.dtype)))
        return _Here(at, gradient, curvature, (*losses, value))

    def attempt(here: _Here, damping: float) -> tuple[_Here, float, float]:
        step = _damped_step(here.gradient, here.curvature, damping)
        there = evaluated(here.at + step, here.losses)
        return there, there.losses[-1], float(np.abs(step).max())

    def ended(trial: Trial) -> str:
        if trial.length < _SETTLED:
            return "converged"
        return "no further descent" if trial.damping > _MOST_DAMPING else ""

    first = evaluated(np.zeros(2 * count), ())
    _require_determined(first.curvature)
    found = descend_damped((first, first.losses[0]), attempt, ended, _DAMPING, rounds).here
    stiffness, mass = jnp.exp(jnp.asarray(found.at, seen.dtype)).reshape(2, count)
    frames = seen.shape[0] * seen.shape[2]
    return Recovery(stiffness, mass, np.array(found.losses) / frames)


def _on_host(found: tuple[Array, Array, Array]) -> tuple[float, NumpyArray, NumpyArray]:
    value, gradient, curvature = (np.asarray(part, np.float64) for part in found)
    return float(value), gradient, curvature


def _damped_step(
    gradient: Float64[NumpyArray, "p"], curvature: Float64[NumpyArray, "p p"], damping: float
) -> Float64[NumpyArray, "p"]:
    """−(H + λ diag H)⁻¹ g, no longer than the slope is trusted."""
    step = -np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), gradient)
    return step * min(1.0, _LONGEST / max(np.abs(step).max(), 1e-30))


def _require_determined(curvature: Float64[NumpyArray, "p p"]) -> None:
    """Refuse a take in which some combination of factors does not show."""
    scale = np.sqrt(np.diag(curvature))
    least = 0.0
    if (scale > 0.0).all():
        least = float(np.linalg.eigvalsh(curvature / np.outer(scale, scale)).min())
    if least < 1e-6:
        raise SolverError(
            f"the take does not tell the materials of all parts apart (least curvature {least:.1e} "
            f"of 1). Push every part with a known force, or take fewer parts."
        )


def _product(inverse: Float[Array, "f f"], right: Float[Array, "3 f"]) -> Float[Array, "3 f"]:
    # δ_ci = Σ_j A⁻¹_ij r_cj
    return jnp.einsum("ij,cj->ci", inverse, right, precision=lax.Precision.HIGHEST)
