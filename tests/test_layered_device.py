"""Layered clips on a device, checked on JAX's CPU backend."""

from dataclasses import replace

import numpy as np
import pytest

from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.anatomy.template import layered_template
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.physics.contact.colliders.collider import placed
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment, Environment
from corporeal.skinning.kinematics import forward_kinematics


@pytest.fixture(scope="module")
def case():
    """The default man on a coarse skin, hopping with a bent trunk."""
    template = layered_template("male")
    layers = Layers(
        template.skin, template.muscle, template.bone, template.triangles, template.layered
    )
    identity = Identity(template.skin, template.joints, {"gender": np.asarray(1.0)})
    skeleton, frames = template.body.skeleton, 8
    rotations, root = np.zeros((frames, skeleton.joint_count, 3)), np.zeros((frames, 3))
    root[:, 1] = 0.03 * np.sin(0.6 * np.arange(frames))
    rotations[:, skeleton.index("spine2"), 0] = 0.02 * np.arange(frames)
    motion = Motion("hop", 60.0, rotations, root, skeleton)
    return LayeredSkinning(template.body, layers, vertex_count=900), identity, motion


def clip_of(case, around: Environment | None = None, **controls: float):
    deformer, identity, motion = case
    simulation = deformer.simulation({k: np.asarray(v) for k, v in controls.items()})
    return make_clip(
        simulation, BoundEnvironment(simulation.body(identity), around), identity, motion
    )


@pytest.mark.parametrize("around", [(), (placed(Ground(), friction=0.0),)], ids=["air", "ground"])
def test_a_device_gives_the_frames_of_the_cpu(case, around, monkeypatch: pytest.MonkeyPatch):
    """Float32 iterations from the same start agree within 0.2 mm while flesh moves by over 5 mm;
    in the air, and on slippery ground, where both engines solve the same rows; without pressures,
    which `test_gpu_pressure` compares. The frames after
    the first are more than one piece, and the second piece is not full."""
    pytest.importorskip("jax")
    from corporeal.physics.fast_projective_skinning.gpu import take
    from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices

    monkeypatch.setattr(take, "_PIECE", 5)
    clip = clip_of(case, Environment(around), volume=0.0)
    here, there = clip.posed_vertices(), device_posed_vertices(clip, "cpu")
    root = np.asarray(case[2].root_translation)[:, None]
    assert np.linalg.norm(here - root - here[0], axis=-1).max() > 5e-3
    assert there.shape == here.shape
    assert np.linalg.norm(here - there, axis=-1).max() < 2e-4


def test_bones_carry_layers_as_on_the_cpu(case):
    """Weighted places in float32, in poses of up to two radians."""
    pytest.importorskip("jax")
    import jax.numpy as jnp

    from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body

    deformer, identity, motion = case
    body = deformer.simulation().body(identity)
    prepared = device_body(body)
    for turn in np.random.default_rng(6).normal(
        scale=0.7, size=(2, motion.skeleton.joint_count, 3)
    ):
        frames = forward_kinematics(turn, body.joints, motion.skeleton.parents, np.zeros(3))
        found = prepared.carried(jnp.asarray(frames, jnp.float32))[:, prepared.sources]
        np.testing.assert_allclose(found.T, body.carriers(frames)[prepared.order], atol=3e-6)


def test_what_a_device_does_not_simulate_is_refused(case):
    pytest.importorskip("jax")
    from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices

    deformer, identity, motion = case
    single = replace(
        motion,
        joint_rotations=motion.joint_rotations[:1],
        root_translation=motion.root_translation[:1],
    )
    with pytest.raises(InputError, match="single frame"):
        device_posed_vertices(clip_of((deformer, identity, single)), "cpu")
