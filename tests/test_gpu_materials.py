"""Gradients through the simulation, against differences; materials found again by descent."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import recover_material

from corporeal.physics.projective.gpu_materials import (
    Take,
    materials_of,
    recovered,
    simulated,
)


def test_gradients_in_material_and_motion_are_those_of_differences() -> None:
    """Central differences of step 1e-4 in float64, whose error is ∝ 1e-8 of the gradient."""
    with jax.enable_x64(True):
        flesh, regions, rule, take = jax.tree.map(
            lambda x: jnp.asarray(x, jnp.float64) if np.asarray(x).dtype.kind == "f" else x,
            recover_material.scene(),
            is_leaf=lambda x: not isinstance(x, tuple) and not hasattr(x, "corners"),
        )
        take = Take(take.start, *(part[:4] for part in take[1:4]), take.gravity)
        target = take.start + 0.01

        def loss(stiffness: jax.Array, mass: jax.Array, share: jax.Array) -> jax.Array:
            driven = take._replace(
                anchors=take.anchors + share * jnp.array([1.0, 2.0, 0.5])[:, None]
            )
            made = simulated(materials_of(flesh, regions, stiffness, mass), rule, driven)
            return jnp.sum((made - target) ** 2)

        at = (jnp.array([0.9, 1.1, 1.0, 1.2]), jnp.array([1.0, 0.8, 1.3, 1.0]), jnp.array(0.01))
        value = jax.jit(loss)
        gradients = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*at)
        for number, (point, gradient) in enumerate(zip(at, gradients, strict=True)):
            way = jnp.asarray(np.random.default_rng(number).normal(size=point.shape))
            ahead = [p + 1e-4 * way if k == number else p for k, p in enumerate(at)]
            behind = [p - 1e-4 * way if k == number else p for k, p in enumerate(at)]
            difference = (value(*ahead) - value(*behind)) / 2e-4
            np.testing.assert_allclose(jnp.sum(gradient * way), difference, rtol=1e-4)


def test_descent_goes_towards_the_material() -> None:
    """A few rounds bring the take nearer and the factors to the right side of 1."""
    flesh, regions, rule, take = recover_material.scene()
    true = materials_of(
        flesh,
        regions,
        jnp.asarray(recover_material.STIFFNESS, jnp.float32),
        jnp.asarray(recover_material.MASS, jnp.float32),
    )
    seen = simulated(true, rule, take)
    found = recovered(flesh, regions, rule, take, seen, 4, rounds=12)
    assert float(found.losses[-1]) < 0.3 * float(found.losses[0])
    assert float(found.stiffness[0]) < 1.0 < float(found.stiffness[3])


@pytest.mark.slow
def test_the_example_recovers_all_regions() -> None:
    found = recover_material.recover()
    np.testing.assert_allclose(found.stiffness, recover_material.STIFFNESS, rtol=0.05)
    np.testing.assert_allclose(found.mass, recover_material.MASS, rtol=0.05)
