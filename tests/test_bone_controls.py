"""Accelerations of bones as control vectors, poles found on left-out motions, swings by mass."""

from dataclasses import replace

import numpy as np
import pytest
from dynamics_models import small_predictors
from scipy.spatial.transform import Rotation
from small_body import small_template

from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.dynamics.autoregression import Fitted, Ridge, free_run
from corporeal.dynamics.clock import Clock
from corporeal.dynamics.control_vector import bone_controls, driving_names
from corporeal.dynamics.free_running import CodedTake
from corporeal.dynamics.mixture import REACH, predictor_for
from corporeal.dynamics.pole_search import pole_grid, search_poles
from corporeal.dynamics.stationarity import largest_pole
from corporeal.dynamics.training import DynamicsTraining, amplitude_growth, learn_predictors
from corporeal.errors import InputError

SKELETON = small_template().skeleton
NAMES = driving_names(SKELETON, "bones")
JOINTS = np.asarray(SKELETON.joints, np.float64)


def moving(frames: int = 200, fps: float = 60.0, seed: int = 0) -> Motion:
    """Smooth random turns and travel that begin at rest."""
    random, time = np.random.default_rng(seed), np.arange(frames) / fps
    waves = sum(
        random.normal(scale=0.2, size=(1, SKELETON.joint_count + 1, 3))
        * np.sin(2 * np.pi * f * time)[:, None, None]
        for f in random.uniform(0.5, 4, 4)
    )
    waves = waves * np.clip(time / 0.3, 0, 1)[:, None, None] ** 2
    return Motion(f"waves {seed}", fps, waves[:, :-1], 0.3 * waves[:, -1], SKELETON)


class TestControls:
    def test_a_thrown_body_and_a_turning_root(self):
        """A parabola gives Rᵀ g to every bone; a root that turns ever faster about y gives every
        bone α about y, and a bone at distance r the acceleration α r along the circle at first."""
        time = np.arange(12) / 60.0
        still = np.zeros((12, SKELETON.joint_count, 3))
        tilt = Rotation.from_rotvec([0.4, -0.3, 0.8])
        still[:, 0] = tilt.as_rotvec()
        fall = 0.5 * np.array([0.0, -9.81, 0.0]) * time[:, None] ** 2
        u = bone_controls(Motion("m", 60.0, still, fall, SKELETON), NAMES, JOINTS)
        felt = np.tile(tilt.inv().apply([0, -9.81, 0]), len(NAMES))
        np.testing.assert_allclose(u[5, : len(felt)], felt, atol=1e-7)
        np.testing.assert_allclose(u[5, len(felt) :], 0, atol=1e-7)
        turns = np.zeros((12, SKELETON.joint_count, 3))
        turns[:, 0, 1] = 0.5 * 3.0 * time**2
        u = bone_controls(Motion("m", 60.0, turns, 0 * fall, SKELETON), NAMES, JOINTS)
        np.testing.assert_allclose(u[5, len(felt) :].reshape(-1, 3), [[0, 3, 0]] * len(NAMES),
                                   atol=1e-6)  # fmt: skip
        arm = JOINTS[1] - JOINTS[0]
        along = np.cross([0, 3.0, 0], arm)
        # the centripetal part is ω² r with ω < 0.6 rad/s, and the axes have turned by 0.01
        np.testing.assert_allclose(u[5, 3:6], along, atol=0.4 * np.linalg.norm(arm))

    def test_it_does_not_see_where_the_body_faces(self):
        motion, turn = moving(), Rotation.from_rotvec([0.3, 2.0, -0.4])
        turned = np.array(motion.joint_rotations)
        turned[:, 0] = (turn * Rotation.from_rotvec(turned[:, 0])).as_rotvec()
        # the root turns about its own rest place
        root = turn.apply(np.asarray(motion.root_translation)) + np.array([3.0, 1.0, -2.0])
        other = bone_controls(Motion("m", 60.0, turned, root, SKELETON), NAMES, JOINTS)
        np.testing.assert_allclose(other[2:], bone_controls(motion, NAMES, JOINTS)[2:], atol=1e-7)

    def test_flesh_without_swing_does_not_drive(self):
        from corporeal.assets.default_body import load_default_body

        names = driving_names(load_default_body().template.skeleton, "bones")
        assert len(names) == 15
        assert not any(end in name for name in names for end in ("head", "wrist", "foot", "ankle"))

    @pytest.mark.parametrize("fps", [24.0, 60.0, 240.0])
    def test_the_clock_steps_as_it_runs(self, fps: float):
        """At 60 frames a second steps are the clip; at other rates swings are alike."""
        predictors = small_predictors(SKELETON, controls="bones", differences="causal")
        clock = Clock(predictors, predictor_for(predictors, 25.0), SKELETON, JOINTS)
        motion = moving(int(2 * fps), fps)
        state, found = clock.start(Pose(motion.joint_rotations[0], motion.root_translation[0])), []
        for turns, root in zip(motion.joint_rotations, motion.root_translation, strict=True):
            if found:
                state = clock.step(state, Pose(turns, root), 1.0 / fps)
            found.append(clock.coefficients(state))
        np.testing.assert_allclose(found, clock.run(motion), atol=1e-9)
        true = clock.run(moving(120, 60.0))
        at = np.arange(len(found)) / fps * 60
        for column, own in zip(np.transpose(found), true.T, strict=True):
            there = np.interp(at, np.arange(len(own)), own)
            share = 0.7 if fps < 60 else 0.3  # differences over 1/24 s are late and smoothed
            assert np.sqrt(((column - there) ** 2).mean()) < share * np.std(own)

    def test_gravity_and_forward_differences_are_of_joints(self):
        with pytest.raises(InputError, match="Add --controls joints"):
            DynamicsTraining(gravity=True)
        with pytest.raises(InputError, match="causal differences and no gravity"):
            small_predictors(SKELETON, controls="bones", gravity=True)


def swinging(subject: str, seed: int, size: float, noise: float = 0.05) -> CodedTake:
    """A take of one coefficient that swings by 4 Hz, on the grid, and one without memory."""
    controls = bone_controls(moving(300, seed=seed), NAMES, JOINTS)
    random = np.random.default_rng(3)
    inputs = 1e-3 * random.normal(size=(2, controls.shape[1]))
    a = 2 * 0.9 * np.cos(2 * np.pi * 4 / 60), -0.81
    model = Fitted(inputs, np.array([[a[0], 0.0], [a[1], 0.0]]), np.zeros(2))
    deltas = size * free_run(model, controls)
    seen = np.random.default_rng(seed).normal(scale=noise * deltas.std(axis=0), size=deltas.shape)
    return CodedTake(subject, f"m{seed}", controls, deltas + seen)


class TestPoles:
    def test_the_grid_is_stable(self):
        for order in (0, 1, 2):
            grid = pole_grid(order, 0.93)
            assert grid.shape[1] == order
            assert largest_pole(grid.T) <= 0.93 + 1e-12

    def test_known_poles_and_inputs_are_found_under_noise(self):
        """A twentieth of noise; each coefficient takes its own poles."""
        takes = [swinging("p", seed, 1.0) for seed in range(5)]
        (found,) = search_poles(takes, [{"p": 1.0}], Ridge(2, 1e-6))
        a = 2 * 0.9 * np.cos(2 * np.pi * 4 / 60), -0.81
        np.testing.assert_allclose(found.history[:, 0], a)
        np.testing.assert_allclose(found.history[:, 1], 0)
        new = swinging("p", 77, 1.0, noise=0.0)
        off = free_run(found, new.controls) - new.deltas
        assert np.sqrt((off**2).mean()) < 0.1 * new.deltas.std()

    def test_orders_and_constants(self):
        takes = [swinging("p", seed, 1.0) for seed in range(2)]
        assert search_poles(takes, [{"p": 1.0}], Ridge(0))[0].history.shape == (0, 2)
        assert search_poles(takes, [{"p": 1.0}], Ridge(1))[0].history.shape == (1, 2)
        with pytest.raises(InputError, match="Leave --constant out"):
            search_poles(takes, [{"p": 1.0}], Ridge(2, constant=True))


class TestAmplitude:
    def test_swings_that_grow_with_mass_are_told_and_carried_over(self):
        """Swings as e^{0.05 i}: the growth is found, and a new person's swings are as large."""
        indices = {"light": 20.0, "middle": 28.0, "heavy": 36.0}
        takes = [
            swinging(name, seed, np.exp(0.05 * index), 0.0)
            for name, index in indices.items()
            for seed in range(3)
        ]
        assert amplitude_growth(takes, indices) == pytest.approx(0.05, abs=1e-9)
        settings = DynamicsTraining(ridge=Ridge(2, 1e-9))
        found = learn_predictors(takes, NAMES, indices, settings)
        new = swinging("new", 50, np.exp(0.05 * 32.0), 0.0)
        run = free_run(predictor_for(found, 32.0), new.controls)
        np.testing.assert_allclose(run, new.deltas, atol=0.01 * np.abs(new.deltas).max())

    def test_it_does_not_grow_for_ever(self):
        predictors = small_predictors(SKELETON, people=2)
        grown = replace(predictors, amplitude=0.05)
        far, edge = (predictor_for(grown, index) for index in (80.0, 35.0 + REACH))
        np.testing.assert_allclose(far.inputs, edge.inputs, rtol=1e-2)
        with pytest.raises(InputError, match="amplitude"):
            replace(predictors, amplitude=2.0)
