"""Learned dynamics: control vectors, constrained autoregressions, mixtures, and their clock."""

from dataclasses import replace

import numpy as np
import pytest
from dynamics_models import small_predictors
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from small_body import small_template

from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.dynamics import equations
from corporeal.dynamics.autoregression import (
    Fitted,
    Ridge,
    fit,
    free_run,
    summed,
    take_moments,
    teacher_forced,
)
from corporeal.dynamics.clock import Clock
from corporeal.dynamics.control_vector import control_vectors, driving_joints
from corporeal.dynamics.free_running import CodedTake, fit_free_running
from corporeal.dynamics.mixture import coefficient_bounds, predictor_for
from corporeal.dynamics.stationarity import constrained, inside, largest_pole, poles
from corporeal.dynamics.training import DynamicsTraining, learn_predictors
from corporeal.errors import InputError
from corporeal.motions.resample import resample

TEMPLATE = small_template()
NAMES = driving_joints(TEMPLATE.skeleton)
PAPER = DynamicsTraining(controls="joints", fitting="one-ahead")


def moving(frames: int = 200, fps: float = 60.0, seed: int = 0) -> Motion:
    """Smooth random turns and travel that begin at rest."""
    random, time = np.random.default_rng(seed), np.arange(frames) / fps
    joints = TEMPLATE.skeleton.joint_count
    waves = sum(
        random.normal(scale=0.2, size=(1, joints + 1, 3))
        * np.sin(2 * np.pi * f * time)[:, None, None]
        for f in random.uniform(0.5, 4, 4)
    )
    waves = waves * np.clip(time / 0.3, 0, 1)[:, None, None] ** 2
    return Motion("waves", fps, waves[:, :-1], 0.3 * waves[:, -1], TEMPLATE.skeleton)


class TestControlVector:
    def test_a_steady_turn_and_a_thrown_root(self):
        """ω = 2 rad/s about the joint's own axis; v = Rᵀ v, a = Rᵀ a of a parabola, exactly."""
        time = np.arange(20) / 60.0
        turns = np.zeros((20, 4, 3))
        turns[:, 1, 1] = 2.0 * time
        tilt = Rotation.from_rotvec([0.4, -0.3, 0.8])
        turns[:, 0] = tilt.as_rotvec()
        velocity, push = np.array([1.0, 2.0, -0.5]), np.array([0.3, -9.81, 0.1])
        root = time[:, None] * velocity + 0.5 * time[:, None] ** 2 * push
        u = control_vectors(Motion("m", 60.0, turns, root, TEMPLATE.skeleton), NAMES)
        k = 10
        np.testing.assert_allclose(u[k, 3:6], [0, 2, 0], atol=1e-9)
        np.testing.assert_allclose(u[k, 12:24], 0, atol=1e-7)
        middle = velocity + push * (time[k] - 0.5 / 60)
        np.testing.assert_allclose(u[k, -6:-3], tilt.inv().apply(middle), atol=1e-9)
        np.testing.assert_allclose(u[k, -3:], tilt.inv().apply(push), atol=1e-7)

    def test_it_does_not_see_where_the_body_faces(self):
        """The world turned about the root's start leaves every number as it is."""
        motion = moving()
        turn = Rotation.from_rotvec([0.3, 2.0, -0.4])
        turned = np.array(motion.joint_rotations)
        turned[:, 0] = (turn * Rotation.from_rotvec(turned[:, 0])).as_rotvec()
        root = turn.apply(motion.root_translation) + np.array([3.0, 1.0, -2.0])
        other = Motion("m", 60.0, turned, root, TEMPLATE.skeleton)
        u = control_vectors(motion, NAMES)
        np.testing.assert_allclose(control_vectors(other, NAMES)[2:], u[2:], atol=1e-8)

    def test_forward_differences_are_the_causal_ones_later(self):
        """Of the joints: the paper's rates of frame k are those known at k + 1 (θ̇) and k + 2."""
        motion = moving()
        causal = control_vectors(motion, NAMES)
        forward = control_vectors(motion, NAMES, "forward")
        np.testing.assert_allclose(forward[:-1, :12], causal[1:, :12], atol=1e-9)
        np.testing.assert_allclose(forward[:-2, 12:24], causal[2:, 12:24], atol=1e-6)

    def test_specific_force_is_zero_standing_and_free_falling_is_weightless(self):
        still = np.zeros((4, 4, 3))
        standing = Motion("m", 60.0, still, np.zeros((4, 3)), TEMPLATE.skeleton)
        assert not control_vectors(standing, NAMES, gravity=True).any()
        fall = -0.5 * 9.81 * (np.arange(4) / 60.0)[:, None] ** 2 * [0, 1, 0]
        falling = Motion("m", 60.0, still, fall, TEMPLATE.skeleton)
        force = control_vectors(falling, NAMES, gravity=True)[3, -3:]
        np.testing.assert_allclose(force, [0, -9.81, 0], atol=1e-8)
        lying = still.copy()
        lying[:, 0] = [np.pi / 2, 0, 0]
        flat = Motion("m", 60.0, lying, np.zeros((4, 3)), TEMPLATE.skeleton)
        assert np.abs(control_vectors(flat, NAMES, gravity=True)[3, -3:]).max() > 9

    def test_fingers_do_not_drive(self):
        from corporeal.assets.default_body import load_default_body

        assert len(driving_joints(load_default_body().template.skeleton)) == 22


@pytest.mark.quick
class TestStationarity:
    @pytest.mark.parametrize("radius", [0.6, 0.98])
    def test_the_constrained_minimum_is_that_of_a_general_solver(self, radius: float):
        """Against SLSQP on random convex problems whose free minimum lies anywhere."""
        random = np.random.default_rng(1)
        for _ in range(12):
            root = random.normal(size=(2, 2))
            H, g = root @ root.T + 0.1 * np.eye(2), random.normal(scale=3, size=2)
            found = constrained(H[None], g[None], radius)[0]
            rules = [
                {"type": "ineq", "fun": lambda a, s=s: 1 - s * a[0] / radius - a[1] / radius**2}
                for s in (1, -1)
            ] + [{"type": "ineq", "fun": lambda a: 1 + a[1] / radius**2}]
            other = minimize(
                lambda a, H=H, g=g: 0.5 * a @ H @ a - g @ a, [0, 0], constraints=rules, tol=1e-12
            )
            value = 0.5 * found @ H @ found - g @ found
            assert value <= other.fun + 1e-7
            assert inside(found[None] * (1 - 1e-12), radius).all()
            assert largest_pole(found[:, None]) <= radius + 1e-6

    def test_mixtures_of_stable_ones_are_stable(self):
        random = np.random.default_rng(2)
        wanted = random.normal(scale=3, size=(200, 2))
        some = constrained(np.tile(np.eye(2), (200, 1, 1)), wanted, 0.98)
        for _ in range(50):
            mixed = random.dirichlet(np.ones(200) * 0.05) @ some
            assert largest_pole(mixed[:, None]) <= 0.98 + 1e-9


def known_model(count: int = 3, seed: int = 4) -> Fitted:
    """Swings of 3 to 8 Hz that die away, driven by everything."""
    predictors = small_predictors(TEMPLATE.skeleton, count=count, people=1, seed=seed)
    return predictor_for(predictors, 25.0)


def sampled_takes(model: Fitted, count: int = 6, noise: float = 0.0) -> list[CodedTake]:
    """Takes that a known autoregression made, with noise on what is seen."""
    takes, random = [], np.random.default_rng(8)
    for seed in range(count):
        controls = control_vectors(moving(300, seed=seed), NAMES)
        deltas = free_run(model, controls)
        takes.append(
            CodedTake(f"p{seed % 2}", f"s{seed}", controls,
                      deltas + random.normal(scale=noise * deltas.std(axis=0), size=deltas.shape))
        )  # fmt: skip
    return takes


class TestAutoregression:
    def test_moments_give_the_minimum_of_the_risk(self):
        """Order 2 against a dense least-squares solve of all rows, ridge and all."""
        takes = sampled_takes(known_model(), 2, noise=0.1)
        settings = Ridge(2, 1e-3, 0.999)
        moments = summed(take_moments(t.controls, t.deltas) for t in takes)
        found = fit(moments, settings)
        rows, targets = [], []
        for t in takes:
            rows.append(np.c_[t.controls[2:], t.deltas[1:-1, :1], t.deltas[:-2, :1]])
            targets.append(t.deltas[2:, 0])
        A, y = np.concatenate(rows), np.concatenate(targets)
        scale = np.sqrt((A[:, :-2] ** 2).mean(axis=0))
        penalty = np.diag(np.r_[np.sqrt(1e-3 * len(A)) * scale, 0, 0])
        dense, *_ = np.linalg.lstsq(np.r_[A, penalty], np.r_[y, np.zeros(len(penalty))], rcond=None)
        np.testing.assert_allclose(found.history[:, 0], dense[-2:], atol=1e-6)
        np.testing.assert_allclose(found.inputs[0] * scale, dense[:-2] * scale, atol=1e-8)

    def test_known_poles_are_found_within_a_hundredth(self):
        model = known_model()
        takes = sampled_takes(model)
        found = fit(summed(take_moments(t.controls, t.deltas) for t in takes), Ridge(2, 1e-9))
        off = np.abs(np.sort_complex(poles(found.history).ravel())
                     - np.sort_complex(poles(model.history).ravel()))  # fmt: skip
        assert off.max() < 0.01

    def test_noise_pulls_poles_inward_and_the_free_run_finds_them(self):
        """A tenth of noise: one frame ahead is biased, the refit for the free run much less."""
        model = known_model()
        takes = sampled_takes(model, noise=0.1)
        settings = Ridge(2, 1e-6)
        first = fit(summed(take_moments(t.controls, t.deltas) for t in takes), settings)
        refit = fit_free_running(takes, {"p0": 1.0, "p1": 1.0}, first, settings, 5)
        true = np.abs(poles(model.history)).max(axis=1)
        biased = np.abs(np.abs(poles(first.history)).max(axis=1) - true).max()
        mended = np.abs(np.abs(poles(refit.history)).max(axis=1) - true).max()
        print(f"pole radius off by {biased:.4f} one frame ahead, {mended:.4f} refit")
        assert mended < 0.01 < biased

    def test_free_run_is_the_recursion(self):
        """lfilter against eq. 20, frame by frame, from a given start."""
        model = known_model()
        controls = control_vectors(moving(30), NAMES)
        start = np.random.default_rng(0).normal(size=(2, 3))
        found = free_run(model, controls, start)
        one, two = start
        for k, u in enumerate(controls):
            now = equations.single_person(
                u, np.stack([one, two]), model.inputs, model.history, model.constants
            )
            np.testing.assert_allclose(found[k], now, atol=1e-12)
            one, two = now, one

    def test_teacher_forced_is_exact_on_its_own_data(self):
        model = known_model()
        take = sampled_takes(model, 1)[0]
        ahead = teacher_forced(model, take.controls, take.deltas)
        np.testing.assert_allclose(ahead, take.deltas, atol=1e-12)

    def test_weighted_risk_weighs_as_the_paper_says(self):
        """Its minimum is stationary for eq. 24, computed from all rows."""
        takes = sampled_takes(known_model(), 4, noise=0.3)
        settings = replace(PAPER, ridge=Ridge(2, 0.0))
        found = learn_predictors(takes, NAMES, {"p0": 22.0, "p1": 30.0}, settings)
        w = equations.risk_weights(1, 2)

        def risk_of(inputs: np.ndarray) -> float:
            model = Fitted(inputs, found.history[1], found.constants[1])
            risks = []
            for name in ("p0", "p1"):
                mine = [t for t in takes if t.subject == name]
                ahead = [teacher_forced(model, t.controls, t.deltas)[2:] for t in mine]
                true = [t.deltas[2:] for t in mine]
                risks.append(equations.risk(np.concatenate(true), np.concatenate(ahead)))
            return equations.weighted_risk(np.array(risks), w)

        best = risk_of(found.inputs[1])
        random = np.random.default_rng(0)
        for _ in range(5):
            step = random.normal(size=found.inputs[1].shape) * np.abs(found.inputs[1]).max() * 0.1
            assert risk_of(found.inputs[1] + step) > best


class TestMixture:
    def test_it_is_one_autoregression(self):
        """Eq. 21 of all people equals the mixed parameters'."""
        predictors = small_predictors(TEMPLATE.skeleton, people=4)
        mixed = predictor_for(predictors, 27.0)
        alpha = equations.mixture_weights(27.0, predictors.body_mass_indices, 2.0)
        people = list(zip(predictors.inputs, predictors.history, predictors.constants, strict=True))
        random = np.random.default_rng(0)
        u, before = random.normal(size=predictors.inputs.shape[2]), random.normal(size=(2, 3))
        np.testing.assert_allclose(
            equations.single_person(u, before, mixed.inputs, mixed.history, mixed.constants),
            equations.mixture(u, before, people, alpha),
            atol=1e-12,
        )

    def test_kernel_widths(self):
        indices = np.array([20.0, 25.0, 33.0])
        near = equations.mixture_weights(26.0, indices, 1e-6)
        np.testing.assert_allclose(near, [0, 1, 0], atol=1e-12)
        np.testing.assert_allclose(equations.mixture_weights(26.0, indices, np.inf), 1 / 3)
        far = equations.mixture_weights(1e4, indices, 2.0)
        assert np.isfinite(far).all()
        assert far.argmax() == 2


class TestClock:
    def clock(self, **changes: float) -> Clock:
        predictors = small_predictors(TEMPLATE.skeleton, **changes)
        return Clock(predictors, predictor_for(predictors, 25.0), TEMPLATE.skeleton)

    def stepped(self, clock: Clock, motion: Motion) -> np.ndarray:
        poses = [
            Pose(r, t) for r, t in zip(motion.joint_rotations, motion.root_translation, strict=True)
        ]
        state = clock.start(poses[0])
        found = [clock.coefficients(state)]
        for pose in poses[1:]:
            state = clock.step(state, pose, 1.0 / motion.fps)
            found.append(clock.coefficients(state))
        return np.stack(found)

    def test_at_its_own_rate_steps_are_the_clip(self):
        motion = moving()
        clock = self.clock()
        np.testing.assert_allclose(self.stepped(clock, motion), clock.run(motion), atol=1e-9)

    @pytest.mark.parametrize("fps", [24.0, 30.0, 100.0, 120.0, 240.0])
    def test_other_rates_are_close(self, fps: float):
        """The same movement at another rate swings alike, at the same moments."""
        slow = moving(240, fps=240.0)
        clock = self.clock()
        true = clock.run(resample(slow, 60.0))
        other = self.stepped(clock, resample(slow, fps))
        times = np.arange(len(other)) / fps
        at = np.stack(
            [np.interp(times, np.arange(len(true)) / 60.0, column) for column in true.T], axis=1
        )
        share = np.sqrt(((other - at) ** 2).mean() / (at**2).mean())
        print(f"{fps:g} fps: {100 * share:.0f} % off")
        assert share < (0.5 if fps < 60 else 0.2)

    def test_stillness_settles_at_the_static_shape(self):
        """δ falls by the largest pole a tick; after two seconds nothing is left."""
        clock = self.clock()
        motion = moving(60)
        still = np.repeat(np.asarray(motion.joint_rotations)[-1:], 120, axis=0)
        rest = np.repeat(np.asarray(motion.root_translation)[-1:], 120, axis=0)
        whole = Motion(
            "m", 60.0, np.concatenate([motion.joint_rotations, still]),
            np.concatenate([motion.root_translation, rest]), TEMPLATE.skeleton,
        )  # fmt: skip
        deltas = clock.run(whole)
        assert np.abs(deltas[40:60]).max() > 1e-3
        assert np.abs(deltas[-1]).max() < 1e-4 * np.abs(deltas).max()

    @pytest.mark.parametrize("fps", [24.0, 60.0, 240.0])
    def test_wild_motion_stays_within_the_bound(self, fps: float):
        """Independent random poses, metres and radians a frame; the bound is that of the limits."""
        random = np.random.default_rng(0)
        frames = 1000
        turns = random.normal(scale=2.0, size=(frames, 4, 3))
        motion = Motion("m", fps, turns, random.normal(size=(frames, 3)), TEMPLATE.skeleton)
        predictors = small_predictors(TEMPLATE.skeleton)
        fitted = predictor_for(predictors, 25.0)
        deltas = Clock(predictors, fitted, TEMPLATE.skeleton).run(motion)
        assert np.isfinite(deltas).all()
        assert (np.abs(deltas) <= coefficient_bounds(predictors, fitted) * (1 + 1e-9)).all()


class TestRefusals:
    def test_history_that_does_not_die_away(self):
        history = np.zeros((2, 2, 3))
        history[1, :, 2] = [1.5, -0.4]
        with pytest.raises(InputError, match=r"coefficient 2 of person 1 .* does not die away"):
            small_predictors(TEMPLATE.skeleton, history=history)

    def test_forward_differences_do_not_run_live(self):
        predictors = small_predictors(TEMPLATE.skeleton, differences="forward")
        with pytest.raises(InputError, match="cannot run live"):
            Clock(predictors, predictor_for(predictors, 25.0), TEMPLATE.skeleton)

    def test_nobody_moves(self):
        take = CodedTake("p", "s", np.zeros((9, 30)), np.zeros((9, 2)))
        with pytest.raises(InputError, match="nobody moves"):
            learn_predictors([take], NAMES, {"p": 20.0}, PAPER)

    def test_joints_that_a_skeleton_lacks(self):
        predictors = small_predictors(TEMPLATE.skeleton, joint_names=("root", "tail", "a", "b"))
        with pytest.raises(InputError, match="driven by the joints tail"):
            Clock(predictors, predictor_for(predictors, 25.0), TEMPLATE.skeleton)

    def test_steps_of_no_time(self):
        clock = TestClock().clock()
        state = clock.start(Pose(np.zeros((4, 3)), np.zeros(3)))
        with pytest.raises(InputError, match="a step of 0"):
            clock.step(state, Pose(np.zeros((4, 3)), np.zeros(3)), 0.0)


class TestGender:
    def test_women_do_not_swing_like_men(self):
        """A man of a woman's body mass gets the men's predictor, however far their index is."""
        predictors = small_predictors(TEMPLATE.skeleton, people=2, genders=np.array([0.0, 1.0]))
        mixed = predictor_for(predictors, 20.0, gender=1.0)
        np.testing.assert_allclose(mixed.inputs, predictors.inputs[1], rtol=1e-2, atol=1e-5)
        unknown = predictor_for(predictors, 20.0)
        np.testing.assert_allclose(unknown.inputs, predictors.inputs[0], atol=2e-5)

    def test_a_person_is_fitted_to_people_of_the_same_sex(self):
        """Two known models, one a sex: with sexes both are found, without neither."""
        women = [replace(t, subject="w") for t in sampled_takes(known_model(seed=4), 3)]
        men = [replace(t, subject="m") for t in sampled_takes(known_model(seed=9), 3)]
        settings = replace(PAPER, ridge=Ridge(2, 1e-9))
        indices = {"w": 25.0, "m": 25.0}
        apart = learn_predictors(women + men, NAMES, indices, settings, {"w": 0.0, "m": 1.0})
        np.testing.assert_allclose(apart.inputs[1], known_model(seed=9).inputs, atol=1e-5)
        mixed = learn_predictors(women + men, NAMES, indices, settings)
        assert np.abs(mixed.inputs[1] - known_model(seed=9).inputs).max() > 1e-4
