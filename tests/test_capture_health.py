"""Health records, their limits and quasi-static twins: closed forms, and flesh broken by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import synthetic
from registered import TEMPLATE as TUBE
from registered import moving, small_store, take

from corporeal.assets.default_body import load_default_body
from corporeal.body.health_record import FrameFault, HealthRecord
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.registrations import LeftOut, Subject, Take, Twin
from corporeal.capture.checkup import in_words
from corporeal.capture.flesh import TWIN_STEP, TWIN_STEPS, poses_between
from corporeal.errors import InputError
from corporeal.evaluation.flesh_health import FleshHealth
from corporeal.evaluation.flesh_recorder import FleshRecorders
from corporeal.evaluation.health_limits import HealthLimits
from corporeal.evaluation.skin_parts import PartLabels, SkinParts, default_parts
from corporeal.formats.registrations import RegistrationsStore
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    StaticRounds,
)
from corporeal.pipelines.dataset_check import check_dataset

ARM = synthetic.arm_template()
IDENTITY = synthetic.identity_of(ARM)
FLOAT32 = 1e-6
"""Relative rounding of what records hold."""


def sound(frames: int = 5) -> HealthRecord:
    """A record of flesh at rest."""
    ones = np.ones(frames, np.float32)
    return HealthRecord(
        inverted=np.zeros(frames, np.int64),
        least_determinant=ones,
        largest_stretch=ones,
        residual=0 * ones,
        parts=("belly", "left_breast"),
        part_volumes=np.zeros((frames, 2), np.float32),
        penetration_frames=np.arange(0, frames, 3),
        penetration=np.zeros(len(range(0, frames, 3)), np.float32),
    )


@pytest.fixture(scope="module")
def simulation() -> ProjectiveSimulation:
    return ProjectiveSimulation(ARM, ProjectiveControls(dynamics=False))


@pytest.mark.parametrize("factor", [1.1, 0.9])
def test_a_scaled_body_in_numbers(simulation: ProjectiveSimulation, factor: float) -> None:
    """x → s x: J = s³ everywhere, edges s times as long, every part s³ − 1 larger."""
    body = simulation.body(IDENTITY)
    recorder = FleshRecorders(ARM)(body, 1)
    recorder.add(factor * body.rest, residual=0.25)
    found = recorder.record()
    np.testing.assert_allclose(found.least_determinant, factor**3, rtol=FLOAT32)
    np.testing.assert_allclose(found.largest_stretch, factor, rtol=FLOAT32)
    np.testing.assert_allclose(found.part_volumes, factor**3 - 1.0, rtol=1e-5)
    assert found.parts
    assert (found.inverted[0], found.residual[0], found.penetration[0]) == (0, 0.25, 0.0)


def test_a_mirrored_body_fails(simulation: ProjectiveSimulation) -> None:
    """x → −x turns every element inside out: J = −1, and volumes change by −2."""
    body = simulation.body(IDENTITY)
    recorder = FleshRecorders(ARM)(body, penetration_every=0)
    recorder.add(body.rest, 0.0)
    recorder.add(body.rest * [-1.0, 1.0, 1.0], 0.0)
    found = recorder.record()
    assert found.inverted[0] == 0
    assert found.inverted[1] > HealthLimits().inverted
    np.testing.assert_allclose(found.part_volumes[1], -2.0, rtol=FLOAT32)
    assert len(found.penetration) == 0
    faults = HealthLimits().faults(found)
    assert {fault.frame for fault in faults} == {1}
    assert {fault.what.split(" of ")[0] for fault in faults} == {"volume inside out", "volume"}
    health = FleshHealth(body)
    turned = health.rest_volumes[health.moving].sum()
    assert found.inverted_volume is not None
    np.testing.assert_allclose(found.inverted_volume, [0.0, turned], rtol=FLOAT32)


@pytest.mark.quick
def test_each_limit_is_the_largest_value_that_passes() -> None:
    limits, calm = HealthLimits(), sound()
    assert limits.faults(calm) == []
    columns = {
        "inverted": limits.inverted,
        "largest_stretch": limits.stretch,
        "residual": limits.residual,
    }
    for name, limit in columns.items():
        column = getattr(calm, name).astype(np.float32 if name != "inverted" else np.int64)
        column[2] = 0.999 * limit if name != "inverted" else limit
        assert limits.faults(replace(calm, **{name: column})) == []
        column[2] = limit + 1
        (fault,) = limits.faults(replace(calm, **{name: column}))
        assert (fault.frame, fault.worst) == (2, pytest.approx(limit + 1))
    known = replace(calm, inverted=np.full(5, 99), inverted_volume=np.zeros(5, np.float32))
    assert limits.faults(known) == []  # pressed flat, however many
    known.inverted_volume[2] = 2 * limits.inverted_volume
    (fault,) = limits.faults(known)
    assert (fault.frame, fault.what) == (2, "volume inside out")
    depths = calm.penetration.copy()
    depths[1] = 2 * limits.penetration
    (fault,) = limits.faults(replace(calm, penetration=depths))
    assert (fault.frame, fault.what) == (3, "deep penetration")  # the second frame that was asked
    volumes = calm.part_volumes.copy()
    volumes[4, 1] = -1.5 * limits.volume
    (fault,) = limits.faults(replace(calm, part_volumes=volumes))
    assert (fault.frame, fault.what) == (4, "volume of left_breast")


@pytest.mark.quick
def test_faults_are_told_by_kind() -> None:
    faults = [FrameFault(3, "speed", 2, 40.0), FrameFault(4, "speed", 9, 50.0)]
    (line,) = in_words([*faults])
    assert line == "speed in 2 frames, worst in frame 4 (9 places, 50)"


@pytest.mark.quick
def test_records_are_joined_and_refused() -> None:
    """Frames go on being counted across records; what does not belong together is refused."""
    both = HealthRecord.joined([sound(5), sound(2)])
    assert both.frame_count == 7
    assert both.penetration_frames.tolist() == [0, 3, 5]
    assert both.inverted_volume is None
    measured = replace(sound(5), inverted_volume=np.arange(5, dtype=np.float32))
    assert HealthRecord.joined([measured, sound(2)]).inverted_volume is None
    joined = HealthRecord.joined([measured, measured]).inverted_volume
    assert joined is not None
    assert joined.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="expected one column a part"):
        replace(sound(), parts=("belly",))
    with pytest.raises(InputError, match="expected one depth a frame that is there"):
        replace(sound(), penetration_frames=np.array([0, 9]))
    with pytest.raises(InputError, match="expected one row a frame"):
        replace(take("anna", "walk", 5), health=sound(4))
    with pytest.raises(InputError, match="a twin of shape"):
        replace(take("anna", "walk", 5), twin=Twin(moving(4)))


def test_twins_and_records_survive_the_store(tmp_path: Path) -> None:
    """Also a record without any frame asked for penetration, and what was left out."""
    store, beside = small_store(tmp_path / "a.zarr"), moving(5, seed=9)
    nothing = replace(
        sound(), penetration_frames=np.zeros(0, np.int64), penetration=np.zeros(0, np.float32)
    )
    whole = replace(take("anna", "walk"), twin=Twin(beside, nothing), health=sound())
    store.write_take(whole)
    store.write_left_out(LeftOut("anna", "run", ("torn",), 2))
    found = RegistrationsStore.open(tmp_path / "a.zarr").take("anna", "walk")
    assert found.twin is not None
    assert found.health is not None
    assert found.twin.health is not None
    np.testing.assert_array_equal(found.twin.vertices[0:5], beside)
    assert found.health.parts == ("belly", "left_breast")
    for name in ("inverted", "part_volumes", "penetration_frames", "penetration", "residual"):
        np.testing.assert_array_equal(getattr(found.health, name), getattr(sound(), name))
        np.testing.assert_array_equal(getattr(found.twin.health, name), getattr(nothing, name))
    assert store.is_left_out("anna", "run")
    assert not store.is_left_out("anna", "walk")
    (gone,) = store.left_out()
    assert (gone.subject, gone.sequence, gone.reasons, gone.attempts) == (
        "anna",
        "run",
        ("torn",),
        2,
    )


def test_a_pyramid_pushed_in_has_the_negative_volume() -> None:
    """V = base · height / 3 over a square of side 1 m; the other sign below its plane."""
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    out, pushed_in = np.vstack([square, [[0.5, 0.5, 0.6]]]), np.vstack([square, [[0.5, 0.5, -0.6]]])
    triangles = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    parts = SkinParts(out, triangles, PartLabels(("tip", "nothing"), np.zeros(5, np.int64)))
    assert parts.names == ("tip",)
    np.testing.assert_allclose(parts.rest_volumes, 0.2)
    np.testing.assert_allclose(parts.volumes(pushed_in), -0.2)
    np.testing.assert_allclose(parts.volumes(out + np.array([3.0, -2.0, 1.0])), 0.2)


def test_inside_out_breasts_fail_the_check(tmp_path: Path) -> None:
    """A breast mirrored through the plane of its rim fails a take that has no health record."""
    body = PhenotypeModel().prepare({"gender": 0.0, "weight": 0.7})
    template = load_default_body().template
    mesh, skin = template.mesh, np.asarray(body.rest_vertices, np.float32)
    breast = template.part("left_breast")
    other = np.setdiff1d(np.arange(len(skin)), breast)
    touching = mesh.triangles[np.isin(mesh.triangles, other).any(axis=1)]
    rim = np.intersect1d(touching, breast)
    centre = skin[rim].mean(axis=0)
    normal = np.linalg.svd(skin[rim] - centre)[2][2]
    broken = skin.copy()
    inner = np.setdiff1d(breast, rim)
    broken[inner] -= 2 * ((skin[inner] - centre) @ normal)[:, None] * normal
    store = RegistrationsStore.create(
        tmp_path / "a.zarr", "corporeal", mesh.triangles, mesh.vertex_count, {}
    )
    store.write_subject(Subject("anna", body))
    store.write_take(Take("anna", "sound", 60.0, np.stack([skin, skin])))
    store.write_take(Take("anna", "broken", 60.0, np.stack([skin, broken])))
    found = check_dataset(tmp_path / "a.zarr", thorough=0, workers=1)
    assert found.broken_takes == ("anna broken",)
    assert ("collapsed left_breast", 1) in {(f.what, f.frame) for f in found.faults["anna broken"]}
    assert found.without_health == 2
    assert default_parts(TUBE.mesh.triangles) is None


def test_the_check_believes_the_record(tmp_path: Path) -> None:
    """Skin that looks sound over flesh that is not: the record of take or twin fails the take."""
    store, torn = (
        small_store(tmp_path / "a.zarr"),
        replace(sound(), inverted=np.array([0, 0, 50, 0, 0])),
    )
    store.write_take(replace(take("anna", "sound"), twin=Twin(moving(5), sound()), health=sound()))
    store.write_take(replace(take("anna", "torn"), health=torn))
    store.write_take(replace(take("anna", "twin"), twin=Twin(moving(5), torn), health=sound()))
    store.write_left_out(LeftOut("anna", "gone", ("torn",), 2))
    found = check_dataset(tmp_path / "a.zarr", thorough=0, workers=1)
    assert found.broken_takes == ("anna torn", "anna twin")
    assert [f.what for f in found.faults["anna twin"]] == ["twin: elements inside out"]
    assert (found.broken, found.without_health, len(found.left_out)) == (2, 0, 1)


def waved(frames: int = 13, fps: float = 30.0) -> Motion:
    """The arm bends by half a radian."""
    rotations = np.zeros((frames, ARM.skeleton.joint_count, 3))
    rotations[:, 1, 2] = 0.25 * (1.0 - np.cos(np.linspace(0.0, np.pi, frames)))
    return Motion("wave", fps, rotations, np.zeros((frames, 3)), ARM.skeleton)


def test_a_twin_is_near_the_static_shape_of_every_pose(simulation: ProjectiveSimulation) -> None:
    """One round a frame, from the frame before, against the static solve from rest: 0.5 mm.

    Without contacts an arm has one static shape a pose, so that both must agree.
    """
    body, motion = simulation.body(IDENTITY), waved()
    quick = ProjectiveSimulation(ARM, simulation.settings)
    quick.following = StaticRounds(most=1)
    clip = make_clip(quick, BoundEnvironment(body), IDENTITY, motion)
    for number, state in enumerate(clip.states()):
        pose = Pose(motion.joint_rotations[number], motion.root_translation[number])
        cold = simulation.start(IDENTITY, pose).flesh.positions
        assert np.linalg.norm(state.positions - cold, axis=1).max() < 5e-4


def test_finer_clips_take_more_steps_and_end_alike() -> None:
    """Twice the steps a frame, as many frames; the way through them converges with the step.

    BDF2 is of second order: halving h from 1/120 s changes the end by 3/4 of its error, which for
    this slow wave is below a millimetre.
    """
    simulation = ProjectiveSimulation(ARM, ProjectiveControls())
    body, motion = simulation.body(IDENTITY), waved()
    outside = BoundEnvironment(body)
    plain, finer = (make_clip(simulation, outside, IDENTITY, motion, n) for n in (1, 2))
    assert (finer.steps, finer.frame_count) == (2 * plain.steps, plain.frame_count)
    assert finer.step == pytest.approx(plain.step / 2)
    np.testing.assert_allclose(finer.posed_vertices(), plain.posed_vertices(), atol=1e-3)


def test_the_residual_falls_as_static_rounds_go_on(simulation: ProjectiveSimulation) -> None:
    """The last correction of a round tends to rounding: 1e-6 m of float32 at a metre's size."""
    body, motion = simulation.body(IDENTITY), waved()
    clip = make_clip(simulation, BoundEnvironment(body), IDENTITY, motion)
    simulation.following = StaticRounds(most=1)
    residuals = []
    for most in (1, 20):
        simulation.following = StaticRounds(most=most, still=0.0)
        list(clip.states())
        residuals.append(body.solver(1.0, "static").residual)
    assert residuals[1] < 1e-5
    assert residuals[1] < 0.5 * residuals[0]


@pytest.mark.quick
def test_twins_take_as_many_steps_as_the_fastest_knee_needs() -> None:
    """A hip that turns by θ a frame moves the knee by 2 L sin(θ/2); the pelvis takes all along."""
    template = load_default_body().template
    skeleton, joints = template.skeleton, np.asarray(template.skeleton.joints, np.float64)
    body = Identity(np.asarray(template.mesh.vertices, np.float64), joints, {})
    hip, knee = (skeleton.index(f"left_{name}") for name in ("hip", "knee"))
    length = np.linalg.norm((joints[knee] - joints[hip])[1:])
    for wanted, steps in ((0.5, 1), (1.5, 2), (2.5, 3), (9.0, TWIN_STEPS)):
        angle = 2 * np.arcsin(wanted * TWIN_STEP / (2 * length))
        rotations = np.zeros((4, skeleton.joint_count, 3))
        rotations[:, hip, 0] = -angle * np.arange(4)
        rotations[:, 0, 1] = np.arange(4)
        root = np.linspace([0, 0, 0], [1, 0, 3], 4)
        assert poses_between(Motion("kick", 60.0, rotations, root, skeleton), body) == steps
    assert poses_between(Motion("one", 60.0, rotations[:1], root[:1], skeleton), body) == 1
