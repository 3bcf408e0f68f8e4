"""Gradients through a simulation, and materials found by them."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import recover_material  # pyright: ignore[reportMissingImports]

from corporeal.errors import SolverError
from corporeal.physics.fast_projective_skinning.gpu.materials import (
    materials_of,
    recovered,
    simulated,
)


def test_gradients_in_material_and_motion_are_those_of_differences() -> None:
    """Central differences of step 1e-4 in float64, whose error is ∝ 1e-8 of the gradient."""
    with jax.enable_x64(True):
        scene = recover_material.block_scene()
        rule = scene.rule
        flesh, parts, take = jax.tree.map(
            lambda x: jnp.asarray(x, jnp.float64) if np.asarray(x).dtype.kind == "f" else x,
            (scene.flesh, scene.parts, scene.take),
        )
        take = take._replace(
            anchors=take.anchors[:3], carried=take.carried[:3], forces=take.forces[:3]
        )
        target = take.start + 0.01

        def loss(stiffness: jax.Array, mass: jax.Array, share: jax.Array) -> jax.Array:
            driven = take._replace(
                anchors=take.anchors + share * jnp.array([1.0, 2.0, 0.5])[:, None]
            )
            made = simulated(materials_of(flesh, parts, stiffness, mass), rule, driven)
            return jnp.sum((made - target) ** 2)

        at = (jnp.array([0.9, 1.1, 1.0, 1.2]), jnp.array([1.0, 0.8, 1.3, 1.0]), jnp.array(0.01))
        value = jax.jit(loss)
        gradients = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*at)
        forward = jax.jit(lambda ways: jax.jvp(loss, at, ways)[1])
        for number, (point, gradient) in enumerate(zip(at, gradients, strict=True)):
            options = jnp.asarray(np.random.default_rng(number).normal(size=point.shape))
            ahead = [p + 1e-4 * options if k == number else p for k, p in enumerate(at)]
            behind = [p - 1e-4 * options if k == number else p for k, p in enumerate(at)]
            difference = (value(*ahead) - value(*behind)) / 2e-4
            np.testing.assert_allclose(jnp.sum(gradient * options), difference, rtol=1e-4)
            ways = tuple(options if k == number else jnp.zeros_like(p) for k, p in enumerate(at))
            np.testing.assert_allclose(forward(ways), difference, rtol=1e-4)


def test_all_regions_of_a_block_are_recovered() -> None:
    """A take without noise determines the factors up to rounding: 1e-7 of 3 cm against movements
    of millimetres, enlarged by the condition of JᵀJ, √5000."""
    scene = recover_material.block_scene()
    found = recover_material.recover(scene)
    np.testing.assert_allclose(found.stiffness, scene.stiffness, rtol=1e-3)
    np.testing.assert_allclose(found.mass, scene.mass, rtol=1e-3)
    assert found.losses[-1] < 1e-6 * found.losses[0]


def test_a_take_that_does_not_tell_is_refused() -> None:
    """Without pushes, all stiffnesses and masses may be multiplied by one number."""
    scene = recover_material.block_scene(steps=6)
    take = scene.take._replace(forces=np.zeros_like(scene.take.forces))
    true = materials_of(scene.flesh, scene.parts, scene.stiffness, scene.mass)
    seen = simulated(true, scene.rule, take)
    with pytest.raises(SolverError, match="Push every part"):
        recovered(scene.flesh, scene.parts, scene.rule, take, seen)


@pytest.mark.slow
def test_the_maps_of_a_body_are_recovered() -> None:
    """Five parts that fade into each other, seen with a tenth of a millimetre of noise: averaged
    over 20 frames of 400 vertices, under a hundredth of the factors is left."""
    scene = recover_material.body_scene()
    found = recover_material.recover(scene, noise=1e-4)
    np.testing.assert_allclose(found.stiffness, scene.stiffness, rtol=0.03)
    np.testing.assert_allclose(found.mass, scene.mass, rtol=0.03)
