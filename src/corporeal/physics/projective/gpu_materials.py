"""Gradients of a simulation in its materials: stiffness and mass by region, found by descent.

The global step's inverse is made anew for every material but is not differentiated: with
δ₀ = A⁻¹ r held fixed, the correction is written as δ = δ₀ + A⁻¹ (r(θ) − A(θ) δ₀), whose value is δ₀
and whose derivative is A⁻¹ (dr − dA δ₀): that of the exact solve.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Float, Int
from corporeal.physics.projective_dynamics.gpu_flesh import (
    Flesh,
    stiffness_product,
    strain_forces,
)
from corporeal.physics.projective_dynamics.integration import StepRule


class Regions(NamedTuple):
    """Which region every part of the flesh belongs to."""

    incidences: Int[Array, "f k"]
    """Region of the tetrahedron of every incidence."""
    vertices: Int[Array, "f"]
    """Region of every free vertex, for its mass."""


class Take(NamedTuple):
    """What a body is put through: k steps of one character, without contacts."""

    start: Float[Array, "3 f"]
    """Free vertices, at rest, metres."""
    anchors: Float[Array, "k 3 b"]
    """Places of the anchored vertices, metres."""
    carried: Float[Array, "k 3 f"]
    """Velocities that drag draws towards, m/s."""
    forces: Float[Array, "k 3 f"]
    """Forces that do not depend on the material, newtons: known pushes."""
    gravity: Float[Array, "3"]
    """m/s²."""


def materials_of(
    flesh: Flesh, regions: Regions, stiffness: Float[Array, "m"], mass: Float[Array, "m"]
) -> Flesh:
    """The flesh with stiffness and mass multiplied by a factor in every region."""
    return Flesh(
        flesh.corners,
        flesh.gradients,
        flesh.weights * stiffness[regions.incidences],
        flesh.masses * mass[regions.vertices],
    )


def flesh_matrix(flesh: Flesh, inertia: float) -> Float[Array, "f f"]:
    """A = κ M_f + Q_fᵀ W Q_f, dense: of small bodies."""
    free = flesh.weights.shape[0]
    columns = jnp.broadcast_to(jnp.eye(free, dtype=flesh.masses.dtype), (3, free, free))
    return stiffness_product(flesh, columns)[0] + inertia * jnp.diag(flesh.masses)


def simulated(flesh: Flesh, rule: StepRule, take: Take) -> Float[Array, "k 3 f"]:
    """The free vertices after every step, metres; differentiable in flesh and take.

    Plain iterations: acceleration divides by what vanishes where the iteration has converged.
    """
    matrix = lax.stop_gradient(flesh_matrix(flesh, rule.inertia))
    inverse = lax.stop_gradient(jnp.linalg.inv(matrix))
    weight = flesh.masses * take.gravity[:, None]
    inertia = rule.inertia * flesh.masses
    now, earlier = rule.blend
    drag = rule.damping * rule.reach

    def solved(right: Array) -> Array:
        first = lax.stop_gradient(_product(inverse, right))
        product = stiffness_product(flesh, first[..., None])[..., 0] + inertia * first
        return first + _product(inverse, right - product)

    def step(state: tuple[Array, ...], given: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array]:
        position, velocity, before, velocity_before = state
        anchors, carried, forces = given
        place = now * position - earlier * before
        speed = now * velocity - earlier * velocity_before
        predicted = place + (rule.reach / (1.0 + drag)) * (speed + drag * carried)

        def iterate(z: Array, _: None) -> tuple[Array, None]:
            everything = jnp.concatenate([z, anchors], axis=1)[..., None]
            right = inertia * (predicted - z) + weight + forces
            return z + solved(right + strain_forces(flesh, everything)[..., 0]), None

        found, _ = lax.scan(jax.checkpoint(iterate), predicted, length=rule.iterations)
        return (found, (found - place) / rule.reach, position, velocity), found

    still = jnp.zeros_like(take.start)
    start = (take.start, still, take.start, still)
    return lax.scan(step, start, (take.anchors, take.carried, take.forces))[1]


class Recovery(NamedTuple):
    """What a descent found."""

    stiffness: Float[Array, "m"]
    """Factors of the regions."""
    mass: Float[Array, "m"]
    losses: Float[Array, "rounds"]
    """Mean squared distance to the take, m²."""


def recovered(
    flesh: Flesh,
    regions: Regions,
    rule: StepRule,
    take: Take,
    seen: Float[Array, "k 3 f"],
    region_count: int,
    rounds: int = 120,
    rate: float = 0.1,
) -> Recovery:
    """Factors of stiffness and mass with which the simulation passes through what was `seen`.

    Adam on the logarithms of the factors, all starting at 1, with a rate that falls to a tenth.
    """

    def loss(logarithms: Array) -> Array:
        stiffness, mass = jnp.exp(logarithms)
        made = simulated(materials_of(flesh, regions, stiffness, mass), rule, take)
        return jnp.mean(jnp.sum((made - seen) ** 2, axis=1))

    def descend(state: tuple[Array, Array, Array], number: Array) -> tuple[tuple, Array]:
        at, slope, square = state
        value, gradient = jax.value_and_grad(loss)(at)
        slope = 0.9 * slope + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        away = (slope / (1.0 - 0.9 ** (number + 1.0))) / (
            jnp.sqrt(square / (1.0 - 0.99 ** (number + 1.0))) + 1e-20
        )
        return (at - rate * 0.1 ** (number / rounds) * away, slope, square), value

    start = jnp.zeros((2, region_count))
    descent: Callable = jax.jit(lambda s: lax.scan(descend, s, jnp.arange(float(rounds))))
    (logarithms, _, _), losses = descent((start, start, start))
    stiffness, mass = jnp.exp(logarithms)
    return Recovery(stiffness, mass, losses)


def _product(inverse: Float[Array, "f f"], right: Float[Array, "3 f"]) -> Float[Array, "3 f"]:
    # δ_ci = Σ_j A⁻¹_ij r_cj
    return jnp.einsum("ij,cj->ci", inverse, right, precision=lax.Precision.HIGHEST)
