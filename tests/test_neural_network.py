"""Neural soft tissue: equations of Casas 2018, and a network that cannot blow up."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.body.pose import Pose
from corporeal.dynamics.neural import equations, features, network, recurrence
from corporeal.dynamics.neural.clock import NeuralClock
from corporeal.dynamics.neural.deformer import NeuralSkinning
from corporeal.dynamics.neural.model import NeuralModel
from corporeal.dynamics.neural.person import PERSON_SIZE, Tissue, person_numbers
from corporeal.errors import AssetError, FormatError, InputError
from corporeal.formats.neural import read_neural, write_neural
from corporeal.formats.npz import write_npz
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.deformers import DEFORMERS, is_ready, make_deformer
from corporeal.viewer.catalogue import catalogue

DYNAMIC, STATIC = 5, 3


def small_model(seed: int = 0, vertices: int = 7) -> NeuralModel:
    """A network with random weights on a mesh of a few vertices."""
    draw = np.random.default_rng(seed)
    parameters = network.initial_parameters(
        seed, PERSON_SIZE, DYNAMIC, STATIC, width=16, oscillators=8, hidden=12
    )
    return NeuralModel(
        NeuralFlesh(
            parameters,
            draw.standard_normal((DYNAMIC, vertices, 3)).astype(np.float32),
            draw.standard_normal((STATIC, vertices, 3)).astype(np.float32),
            np.zeros(PERSON_SIZE),
            np.ones(PERSON_SIZE),
        )
    )


def lively_motion(fps: float, seconds: float = 1.0, still: float = 0.0) -> Motion:
    """Sines in all joints and in the root, the same curves at any rate; then `still` seconds."""
    skeleton = load_default_body().template.skeleton
    draw = np.random.default_rng(5)
    count = skeleton.joint_count
    size, phase = draw.normal(0, 0.25, (count, 3)), draw.uniform(0, 6, (count, 3))
    times = np.minimum(np.arange(round((seconds + still) * fps) + 1) / fps, seconds)
    swing = 0.5 * (1 - np.cos(2 * np.pi * times / seconds))  # starts and ends at rest
    rotations = swing[:, None, None] * size * np.cos(5 * times[:, None, None] + phase)
    root = np.stack([0.2 * swing, 0.3 * swing**2, -0.1 * swing], axis=1)
    return Motion("lively", fps, rotations, root, skeleton)


def test_rigidity_weights_are_the_mean_change_of_velocity():
    """Eq. 7 in closed form: x = a cos(ω t) has velocity differences of a known mean size."""
    fps, frequency, size = 240.0, 3.0, np.array([0.0, 0.01, 0.03])
    times = np.arange(2400) / fps
    offsets = np.zeros((len(times), 3, 3))
    offsets[:, :, 1] = size * np.cos(2 * np.pi * frequency * times)[:, None]
    found = np.asarray(equations.rigidity_weights(offsets, fps))
    # |ẍ| / fps, in the mean of |cos| = 2/π; second differences are sinc² smaller
    expected = size * (2 * np.pi * frequency) ** 2 / fps * 2 / np.pi
    np.testing.assert_allclose(found, expected, rtol=3e-3, atol=1e-12)


def test_loss_is_a_sum_of_distances_not_of_squares():
    """Eq. 6 for two frames of two vertices, by hand."""
    truth = np.zeros((2, 2, 3))
    predicted = np.zeros((2, 2, 3))
    predicted[0, 0] = (3.0, 4.0, 0.0)
    predicted[1, 1] = (0.0, 0.0, 2.0)
    found = equations.loss(truth, predicted, np.array([2.0, 0.5]))
    np.testing.assert_allclose(float(found), (2.0 * 5.0 + 0.5 * 2.0) / 2, rtol=1e-9)


def test_a_linear_autoencoder_of_full_width_reconstructs():
    """With tanh in its linear range and orthogonal weights, decoding undoes encoding."""
    draw = np.random.default_rng(1)
    turn = np.linalg.qr(draw.standard_normal((6, 6)))[0]
    small = equations.Layer(1e-4 * turn, np.zeros(6))
    plain, back = (
        equations.Layer(np.eye(6), np.zeros(6)),
        equations.Layer(1e4 * turn.T, np.zeros(6)),
    )
    coder = equations.Autoencoder((small, plain, plain), (plain, plain, back))
    offsets = draw.standard_normal((4, 6))
    again = equations.decode(coder, equations.encode(coder, offsets))
    np.testing.assert_allclose(again, offsets, atol=1e-6)


def test_oscillators_follow_their_differential_equation():
    """A held drive: the step is the exact solution of ẋ = −(α − iω)(x − α u/(α − iω)), by SciPy."""
    alpha, omega, drive, seconds = 4.0, 2 * np.pi * 3.0, 0.7 - 0.2j, 1 / 24
    bank = recurrence.poles(np.array([alpha]), np.array([omega]), seconds)
    (re,), (im,) = recurrence.advance(
        bank, (np.array([0.3]), np.array([-0.5])), (np.array([drive.real]), np.array([drive.imag]))
    )
    rate = -(alpha - 1j * omega)

    def slope(_: float, state: np.ndarray) -> list[float]:
        value = rate * (state[0] + 1j * state[1]) + alpha * drive
        return [value.real, value.imag]

    exact = solve_ivp(slope, (0, seconds), [0.3, -0.5], rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose([re, im], exact, atol=1e-9)


def test_all_frames_at_once_are_frame_by_frame():
    """The associative scan of training gives the states of the steps of use."""
    pytest.importorskip("optax")
    from corporeal.dynamics.neural.training.recurrent import predict

    model, motion = small_model(), lively_motion(60.0)
    joints = np.asarray(load_default_body().template.skeleton.joints)
    person = np.linspace(-1, 1, PERSON_SIZE).astype(np.float32)
    stepped = model.clip_coefficients(motion, joints, person)
    movement, pose = (
        part[None].astype(np.float32) for part in features.clip_features(motion, joints)
    )
    scanned, _ = predict(dict(model.parameters), movement, pose, person[None], 1 / 60)
    np.testing.assert_allclose(np.asarray(scanned)[0], stepped, atol=2e-4 * np.abs(stepped).max())


def test_the_compiled_step_is_the_network():
    """Every frame of `step_cpu`, with the person's part laid out before, against the equations that
    training differentiates, for the network that ships (two members, experts): single precision."""
    deformer = NeuralSkinning(load_default_body().template)
    who = PhenotypeModel().prepare({"weight": 0.8, "gender": 0.3})
    person, motion = deformer.person(who, Tissue(4000.0, damping_ratio=0.2)), lively_motion(60.0)
    parameters = deformer.model.parameters
    rows = deformer.model.clip_coefficients(motion, np.asarray(who.joints), person)
    banks = network.layer_poles(parameters, person, 1 / 60)
    states = [(np.zeros(n, np.float32),) * 2 for n in network.bank_sizes(parameters)]

    def remember(layer, bank, drive):
        states[layer] = recurrence.advance(bank, states[layer], drive)
        return states[layer]

    movement, pose = features.clip_features(motion, np.asarray(who.joints))
    for n, row in enumerate(rows):
        wanted = network.dynamic_coefficients(
            parameters, movement[n].astype(np.float32), pose[n].astype(np.float32), person, banks,
            remember,
        )  # fmt: skip
        np.testing.assert_allclose(row, wanted, atol=3e-6 * np.abs(rows).max())


@pytest.mark.parametrize("fps", [24.0, 60.0, 240.0])
def test_live_steps_are_the_clip(fps: float):
    """A clock that is given pose after pose remembers what the clip's arrays hold."""
    model, motion = small_model(), lively_motion(fps, 0.5)
    skeleton = load_default_body().template.skeleton
    clock = NeuralClock(model, np.zeros(PERSON_SIZE, np.float32), skeleton.joints, skeleton)
    whole = clock.run(motion)
    state = clock.start(Pose(motion.joint_rotations[0], motion.root_translation[0]))
    rows = [clock.coefficients(state)]
    for turns, place in zip(motion.joint_rotations[1:], motion.root_translation[1:], strict=True):
        state = clock.step(state, Pose(turns, place), 1 / fps)
        rows.append(clock.coefficients(state))
    np.testing.assert_allclose(np.stack(rows), whole, atol=1e-5 * np.abs(whole).max())


def test_stillness_leads_back_to_no_offset():
    """Whatever the weights: after the movement the coefficients fall below any part of their
    size, at least as fast as the slowest oscillator, e^{−4.5 t}."""
    model, motion = small_model(seed=3), lively_motion(60.0, 1.0, still=8.0)
    joints = np.asarray(load_default_body().template.skeleton.joints)
    rows = model.clip_coefficients(motion, joints, np.ones(PERSON_SIZE, np.float32))
    size = np.abs(rows).max(axis=1)
    assert size[:60].max() > 1e-3
    assert size[-1] < 0.02 * size[:60].max()


def test_slow_oscillators_settle_as_flesh_does():
    """Every oscillator learned to ring as long as it may: two banks, one driving the other, fall by
    (1 + λt) e^{−λt} with λ the least decay, 0.2 % after 1.9 s, from what is
    left when the movement ends; by e^{−0.8 t}, as the slowest was free to, a quarter was left."""
    model, motion = small_model(seed=3), lively_motion(60.0, 1.0, still=3.0)
    slow = {k: np.full_like(v, -30.0) if k.startswith("decay_") else v
            for k, v in model.parameters.items()}  # fmt: skip
    model = NeuralModel(replace(model.trained, parameters=slow))
    joints = np.asarray(load_default_body().template.skeleton.joints)
    rows = model.clip_coefficients(motion, joints, np.zeros(PERSON_SIZE, np.float32))
    size = np.abs(rows).max(axis=1)
    first, later = 64, 180  # nothing is felt any more after two frames of stillness
    way = recurrence.SETTLING * (later - first) / 60.0
    assert size[first] > 1e-5
    assert size[later:].max() < (1.0 + way) * np.exp(-way) * size[first : first + 12].max()


def test_no_decay_is_slower_than_the_bound():
    found = recurrence.decay(np.array([-50.0, -2.0, 0.0, 3.0, 50.0]))
    assert found.min() == recurrence.SETTLING
    assert found.max() == pytest.approx(120.0)
    assert (np.diff(found) >= 0).all()


def test_a_body_that_never_moves_has_no_dynamics():
    """Movement is exactly zero at rest, and nothing has a bias."""
    skeleton = load_default_body().template.skeleton
    held = np.repeat(
        np.random.default_rng(2).normal(0, 0.4, (1, skeleton.joint_count, 3)), 5, axis=0
    )
    motion = Motion("held", 60.0, held, np.full((5, 3), 0.3), skeleton)
    assert (
        not small_model()
        .clip_coefficients(motion, skeleton.joints, np.zeros(PERSON_SIZE, np.float32))
        .any()
    )


def test_jumps_of_kilometres_stay_bounded():
    """Bounded movement in, bounded coefficients out: a teleport is a hard knock, no more."""
    motion = lively_motion(60.0)
    root = motion.root_translation.copy()
    root[20:] += 5000.0
    thrown = Motion("thrown", 60.0, motion.joint_rotations, root, motion.skeleton)
    model, person = small_model(), np.zeros(PERSON_SIZE, np.float32)
    rows = model.clip_coefficients(thrown, motion.skeleton.joints, person)
    usual = model.clip_coefficients(motion, motion.skeleton.joints, person)
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() < 100 * np.abs(usual).max()


def test_movement_is_felt_in_the_bones_own_axes():
    """Turning the whole movement about the vertical changes nothing that flesh feels; in free
    fall from rest each joint feels −g, exactly, by second differences."""
    skeleton = load_default_body().template.skeleton
    motion = lively_motion(60.0)
    turn = np.array([0.0, 0.9, 0.0])
    matrix = np.asarray(matrix_from_axis_angle(turn))
    from scipy.spatial.transform import Rotation

    turned = motion.joint_rotations.copy()
    turned[:, 0] = (Rotation.from_rotvec(turn) * Rotation.from_rotvec(turned[:, 0])).as_rotvec()
    # the root turns about its own rest position
    pivot = np.asarray(skeleton.joints)[0]
    root = (motion.root_translation + pivot) @ matrix.T - pivot
    other = Motion("turned", 60.0, turned, root, skeleton)
    for one, two in zip(
        features.clip_features(motion, skeleton.joints),
        features.clip_features(other, skeleton.joints),
        strict=True,
    ):
        np.testing.assert_allclose(one, two, atol=1e-8)

    fall = np.zeros((30, 3))
    fall[:, 1] = -0.5 * features.GRAVITY * (np.arange(30) / 60.0) ** 2
    still = np.zeros((30, skeleton.joint_count, 3))
    felt, _ = features.clip_features(Motion("fall", 60.0, still, fall, skeleton), skeleton.joints)
    by_joint = felt.reshape(30, len(features.FLESHY), 6)
    np.testing.assert_allclose(by_joint[2:, :, 1], -1.0, atol=1e-9)
    np.testing.assert_allclose(by_joint[:, :, 3:], 0.0, atol=1e-12)


def test_people_are_told_apart_by_shape_and_tissue():
    """Moving a body in space changes nothing; twice the stiffness is ln 2."""
    rest = np.asarray(load_default_body().template.mesh.vertices, np.float64)
    usual = person_numbers(rest, Tissue())
    np.testing.assert_allclose(person_numbers(rest + 3.0, Tissue()), usual, atol=1e-6)
    twice = person_numbers(rest, Tissue(stiffness=2 * Tissue().stiffness))
    np.testing.assert_allclose(twice - usual, np.eye(PERSON_SIZE)[-3] * np.log(2.0), atol=1e-12)
    assert np.abs(person_numbers(1.1 * rest, Tissue())[:10] - usual[:10]).max() > 0.3


def test_a_file_gives_the_network_back(tmp_path):
    """Written and read, every array is the same to the bit; damage is named."""
    trained = small_model().trained
    write_neural(tmp_path / "n.npz", trained)
    again = read_neural(tmp_path / "n.npz")
    for name, value in trained.parameters.items():
        np.testing.assert_array_equal(again.parameters[name], value)
    np.testing.assert_array_equal(again.dynamic_basis, trained.dynamic_basis)
    with pytest.raises(InputError, match=r"expected \.npz"):
        write_neural(tmp_path / "n.bin", trained)
    lacking = {k: v for k, v in trained.parameters.items() if k != "skip_1"}
    with pytest.raises(InputError, match="skip_1"):
        NeuralModel(replace(trained, parameters=lacking))
    wrong = {**trained.parameters, "value_0": np.zeros((3, 3), np.float32)}
    with pytest.raises(InputError, match="value_0"):
        NeuralModel(replace(trained, parameters=wrong))
    with pytest.raises(InputError, match="basis"):
        replace(trained, dynamic_basis=trained.dynamic_basis[:-1])
    write_npz(tmp_path / "other.npz", {"something": np.zeros(3)})
    with pytest.raises(FormatError, match="no neural soft tissue"):
        read_neural(tmp_path / "other.npz")


def test_only_what_works_at_once_is_offered_in_the_studio():
    """A deformer whose model does not ship says how to get one; the studio leaves it out."""
    offered = {row["name"] for row in catalogue(PhenotypeModel())["deformers"]}
    for name in DEFORMERS:
        if is_ready(name):
            continue
        assert name not in offered
        with pytest.raises(AssetError, match=f"corporeal train {name}"):
            make_deformer(name, load_default_body().template)
    assert {"lbs", "smpl", "projective"} <= offered
