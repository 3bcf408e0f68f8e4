"""Enveloping from captures: bodies and poses that are known are held."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_enveloping import known_character, small_template

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_enveloping import learned_enveloping
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose, RotationPose
from corporeal.body.registrations import Registrations, Subject, Take, Truth
from corporeal.errors import InputError
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.models.enveloping import equations
from corporeal.models.enveloping.bones import BoneLayout
from corporeal.models.enveloping.fitting import rig_of
from corporeal.models.enveloping.keys import RadialBasis, driver_rotations
from corporeal.models.enveloping.model import EnvelopingSkinning
from corporeal.models.enveloping.train import EnvelopingTrainer
from corporeal.models.enveloping.training.given import given_of, principal_bodies, tells_poses
from corporeal.models.enveloping.training.linear import LinearSolve, with_linear_parts
from corporeal.models.enveloping.training.problem import OwnBodies, Scans, skins
from corporeal.models.enveloping.training.start import KeySettings, begin
from corporeal.models.smpl.training.pose_training import mirrored_joints
from corporeal.pipelines.train_enveloping import trained_enveloping

PEOPLE, POSES, NEW = 3, 12, 4


def bodies() -> OwnBodies:
    """Three people: taller, wider, and joints that no bone parameters give exactly."""
    mesh, skeleton = small_template().mesh, small_template().skeleton
    random = np.random.default_rng(4)
    sizes = 1 + random.normal(0, 0.05, (PEOPLE, 1, 3))
    sizes[..., 1] = 1 + random.normal(0, 0.05, (PEOPLE, 1))
    dress = sizes * np.asarray(mesh.vertices)
    joints = sizes * np.asarray(skeleton.joints) + random.normal(0, 0.004, (PEOPLE, 24, 3))
    return OwnBodies(dress.astype(np.float32), joints)


def flesh():
    """Truth: everybody's scans, with the known character's offsets on bodies of their own."""
    problem, truth, scans = known_character()
    count = PEOPLE * (POSES + NEW)
    people = np.repeat(np.arange(PEOPLE), POSES + NEW)
    blank = Scans(
        np.zeros((count, *scans.vertices.shape[1:]), np.float32),
        np.ones((count, scans.vertices.shape[1]), np.float32), people,
        np.arange(0, count, POSES + NEW),
    )  # fmt: skip
    everyone = replace(
        truth, rotations=truth.rotations[:count], translations=truth.translations[:count],
        x=np.zeros((PEOPLE, 0)), own=bodies(),
    )  # fmt: skip
    made = skins(problem, everyone, blank, np.arange(count)).vertices
    learned = np.arange(count) % (POSES + NEW) < POSES
    return problem, everyone, replace(blank, vertices=made), learned


def captured(vertices: np.ndarray, estimate, people: np.ndarray) -> Registrations:
    """A set as the virtual scanner writes it."""
    mesh = small_template().mesh
    own, takes, subjects = estimate.own, [], {}
    for person in range(PEOPLE):
        which, name = people == person, f"person{person}"
        turns = axis_angle_from_matrix(estimate.rotations[which])
        truth = Truth(turns, estimate.translations[which])
        takes.append(Take(name, "poses", 0.0, vertices[which], truth))
        subjects[name] = Subject(name, Identity(own.dress[person], own.joints[person], {}))
    triangles = np.asarray(mesh.triangles)
    return Registrations("small", triangles, mesh.vertex_count, tuple(takes), subjects)


def test_offsets_on_known_bodies_are_found_again():
    """Bodies, poses and keys are known: offsets come back, and skins in poses that were not scanned
    with them, to 0.5 mm; the bodies stay bit for bit."""
    problem, truth, scans, learned = flesh()
    some = Scans(scans.vertices[learned], scans.confidence[learned], scans.people[learned],
                 np.arange(0, PEOPLE * POSES, POSES))  # fmt: skip
    blank = replace(
        truth, rotations=truth.rotations[learned], translations=truth.translations[learned],
        offsets=tuple(np.zeros_like(k) for k in truth.offsets),
        variances=equations.Variances(offsets=1e-2),
    )  # fmt: skip
    found = with_linear_parts(problem, some, blank, 1, LinearSolve(100, 1e-7))
    np.testing.assert_array_equal(found.own.dress, truth.own.dress)
    np.testing.assert_array_equal(found.dress, blank.dress)
    for k, exact in zip(found.offsets, truth.offsets, strict=True):
        np.testing.assert_allclose(k, exact, atol=5e-4)
    new = replace(truth, offsets=found.offsets)
    off = skins(problem, new, scans, np.arange(len(scans.people))).vertices - scans.vertices
    assert np.sqrt(np.mean(np.sum(off[~learned] ** 2, axis=-1))) < 5e-4


def test_held_training_moves_given_bodies_better_than_training_with_bones_of_its_own():
    """What captures are for: new poses of given bodies, with other keys than made the flesh.
    Corrections that were learned with bodies and poses held leave six tenths at most of what
    blending without them leaves; with bodies and poses that training found itself, more than
    that."""
    _, truth, scans, learned = flesh()
    everything = captured(scans.vertices, truth, scans.people)
    takes = tuple(
        replace(t, vertices=t.vertices[:POSES], truth=Truth(
            t.truth.joint_rotations[:POSES], t.truth.root_translation[:POSES]))
        for t in everything.takes
    )  # fmt: skip
    trainer = EnvelopingTrainer(keys=KeySettings(most=4), linear=LinearSolve(30), offset_count=0)
    errors = {}
    scanned = replace(everything, takes=takes)
    for name, given in (("held", given_of(scanned, small_template())), ("found", None)):
        model = trainer.fit(scanned, small_template(), given=given).model
        deformer, off = EnvelopingSkinning(small_template(), model), {0.0: [], 1.0: []}
        for person, strengths in ((p, off) for p in range(PEOPLE)):
            who = everything.subjects[f"person{person}"].identity
            which = (scans.people == person) & ~learned
            turns = axis_angle_from_matrix(truth.rotations[which])
            for strength, found in strengths.items():
                made = deformer.vertices(
                    who, Pose(turns, truth.translations[which]), controls={"corrections": strength}
                )
                found.append(np.sum((made - scans.vertices[which]) ** 2, axis=-1))
        errors[name] = {s: float(np.sqrt(np.mean(found))) for s, found in off.items()}
    assert errors["held"][1.0] < 0.6 * errors["held"][0.0]
    assert errors["found"][1.0] > errors["found"][0.0], "bones of its own did harm"


def test_principal_bodies_are_those_that_made_them():
    """Bodies of two latent coordinates: x is white, c̄ + W x gives every dress shape back
    and the joints (float32), and the first axis is the larger one."""
    template = small_template()
    random = np.random.default_rng(2)
    rest = np.asarray(template.mesh.vertices, np.float64)
    joints = np.asarray(template.skeleton.joints, np.float64)
    other = mirrored_joints(template.skeleton.names)
    joints = 0.5 * (joints + joints[other] * [-1, 1, 1])
    scale = random.normal(0, [0.06, 0.01], (9, 2))
    sizes = np.stack([np.ones(9), 1 + scale[:, 0], 1 + scale[:, 1]], axis=1)[:, None]
    own = OwnBodies(((rest - joints[0]) * sizes + joints[0]).astype(np.float32),
                    (joints - joints[0]) * sizes + joints[0])  # fmt: skip
    beginning = begin(
        Scans(own.dress, np.ones(own.dress.shape[:2], np.float32), np.arange(9), np.arange(9)),
        template, None, KeySettings(most=1), 1000,
    )  # fmt: skip
    layout = replace(beginning.problem.rig.layout, free=True)
    x, dress, bones = principal_bodies(own, layout, None, 2)
    np.testing.assert_allclose(x.T @ x / 9, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-9)
    made = np.tensordot(np.concatenate([np.ones((9, 1)), x], axis=1), dress, axes=1)
    shift = layout.joints[0] - own.joints[:, 0]
    np.testing.assert_allclose(made, own.dress + shift[:, None], atol=2e-6)
    assert np.linalg.norm(dress[1]) > np.linalg.norm(dress[2])
    own_joints = [layout.joints_of(np.concatenate([[1.0], row]) @ bones) for row in x]
    np.testing.assert_allclose(own_joints, own.joints + shift[:, None], atol=2e-6)


def test_free_bones_give_any_joints_back():
    """In a mirror, but otherwise anywhere; their number tells them from the paper's."""
    skeleton = small_template().skeleton
    random, joints = np.random.default_rng(5), np.asarray(skeleton.joints, np.float64)
    layout = BoneLayout(skeleton.names, skeleton.parents, joints, free=True)
    other = mirrored_joints(skeleton.names)
    moved = joints - joints[0] + random.normal(0, 0.02, joints.shape)
    moved = 0.5 * (moved + moved[other] * [-1, 1, 1])
    moved += joints[0] - moved[0]
    np.testing.assert_allclose(layout.joints_of(layout.fit(moved)), moved, atol=1e-12)
    strict = BoneLayout(skeleton.names, skeleton.parents, joints)
    assert np.abs(strict.joints_of(strict.fit(moved)) - moved).max() > 0.01
    for one in (layout, strict):
        found = BoneLayout.of_size(skeleton.names, skeleton.parents, joints, one.size)
        assert found.free == one.free
    with pytest.raises(InputError, match="7 bone parameters"):
        BoneLayout.of_size(skeleton.names, skeleton.parents, joints, 7)


def test_a_stopped_held_training_goes_on(tmp_path: Path):
    """Bit for bit the same; other bodies are another training."""
    _, truth, scans, learned = flesh()
    few = captured(scans.vertices[learned], replace(
        truth, rotations=truth.rotations[learned], translations=truth.translations[learned]
    ), scans.people[learned])  # fmt: skip
    given, kept = given_of(few, small_template()), tmp_path / "kept.npz"
    trainer = EnvelopingTrainer(rounds=1, keys=KeySettings(most=3))
    whole = trainer.fit(few, small_template(), given=given)
    stages = [row["stage"] for row in whole.report["stages"]]

    def stop(stage: str, _: float) -> None:
        if stage == stages[4]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.fit(few, small_template(), callback=stop, checkpoint=kept, given=given)
    again = trainer.fit(few, small_template(), checkpoint=kept, given=given)
    assert again.report["stages"] == whole.report["stages"]
    assert again.report["bodies_and_poses"] == "held"
    for one, other in zip(again.model.corrections, whole.model.corrections, strict=True):
        np.testing.assert_array_equal(one.offsets, other.offsets)
    moved = replace(given, own=replace(given.own, joints=given.own.joints + 0.01))
    with pytest.raises(InputError, match="training with other data or settings"):
        trainer.fit(few, small_template(), checkpoint=kept, given=moved)


def test_the_default_body_lends_its_hands_to_24_joints():
    """52 joints become 24: the first 22 as they are, a hand that does not turn at the knuckles."""
    template, body = load_default_body().smpl_view(), load_default_body().template
    rest = np.asarray(body.mesh.vertices, np.float32)
    joints = np.asarray(body.skeleton.joints)
    turns = np.random.default_rng(1).normal(0, 0.3, (2, 52, 3))
    take = Take("anna", "poses", 0.0, np.stack([rest, rest]), Truth(turns, np.ones((2, 3))))
    anna = Subject("anna", Identity(rest, joints, {}))
    held = Registrations(
        "body", np.asarray(body.mesh.triangles), len(rest), (take,), {"anna": anna}
    )
    given = given_of(held, template)
    np.testing.assert_allclose(axis_angle_from_matrix(given.poses.rotations[:, :22]), turns[:, :22],
                               atol=1e-9)  # fmt: skip
    np.testing.assert_array_equal(given.poses.rotations[:, 22:], np.tile(np.eye(3), (2, 2, 1, 1)))
    np.testing.assert_allclose(given.own.joints[0], template.skeleton.joints, atol=1e-6)
    assert isinstance(given.of_person(0, np.array([1])).poses, RotationPose)


def test_sets_without_bodies_or_poses_are_named():
    """Held is refused where something is missing; `auto` finds poses there."""
    _, truth, scans, _ = flesh()
    whole = captured(scans.vertices, truth, scans.people)
    assert tells_poses(whole)
    blind = replace(whole, takes=(replace(whole.takes[0], truth=None), *whole.takes[1:]))
    assert not tells_poses(blind)
    with pytest.raises(InputError, match="take person0 poses does not tell its poses"):
        given_of(blind, small_template())
    strangers = {**whole.subjects, "person1": Subject("person1")}
    assert not tells_poses(replace(whole, subjects=strangers))
    with pytest.raises(InputError, match="does not tell person1's body"):
        given_of(replace(whole, subjects=strangers), small_template())
    take = whole.takes[0]
    fewer = Truth(np.asarray(take.truth.joint_rotations)[:, :20], take.truth.root_translation)
    odd = replace(whole, takes=(replace(take, truth=fewer), *whole.takes[1:]))
    with pytest.raises(InputError, match="person0 poses has 20 joints and the template 24"):
        given_of(odd, small_template())
    with pytest.raises(InputError, match="not the default body's surface"):
        trained_enveloping(whole, EnvelopingTrainer(), poses="held")


def test_weights_stay_small_far_from_all_keys():
    """Chords between rotations are bounded, so that multiquadrics do not run away: whatever a joint
    of the model that ships does, up to half a turn, no key counts for more than one and a half."""
    model = learned_enveloping()
    axes = rig_of(model).axes
    turns = np.random.default_rng(0).normal(0, 1.2, (2000, 3))
    turns /= np.maximum(np.linalg.norm(turns, axis=1, keepdims=True) / np.pi, 1.0)
    for driver in model.corrections:
        basis = RadialBasis.of(driver.keys, model.softness)
        rotations = driver_rotations(driver.kind, matrix_from_axis_angle(turns), axes[driver.joint])
        assert np.abs(basis.weights(rotations)).max() < 1.5
