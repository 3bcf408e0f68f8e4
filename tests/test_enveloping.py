"""Corrective enveloping: equations, derivatives, truth found again, people, files."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from corporeal.body.enveloping import coordinates
from corporeal.body.pose import RotationPose
from corporeal.body.registrations import Registrations, Take
from corporeal.body.template import Template
from corporeal.body.twists import partly_twisted, twist_angles, twist_slopes
from corporeal.errors import InputError
from corporeal.evaluation.known_smpl import known_smpl
from corporeal.geometry.rotations import geodesic_angle, matrix_from_axis_angle
from corporeal.models.enveloping import equations
from corporeal.models.enveloping.bones import BoneLayout
from corporeal.models.enveloping.keys import (
    RadialBasis,
    angles_of,
    driver_rotations,
    driver_turns,
    greedy_keys,
    mirrored_order,
    mirrored_rotations,
)
from corporeal.models.enveloping.rig import EnvelopingRig
from corporeal.models.enveloping.train import EnvelopingTrainer
from corporeal.models.enveloping.training.free_poses import FreePoses, influence_motions
from corporeal.models.enveloping.training.linear import LinearSolve, with_linear_parts
from corporeal.models.enveloping.training.people import PersonLinearisation, with_people
from corporeal.models.enveloping.training.problem import Estimate, Problem, Scans, skins
from corporeal.models.enveloping.training.start import KeySettings, begin, first_estimate
from corporeal.models.enveloping.training.weights import on_simplex
from corporeal.skinning.kinematics import rotate_joints

VERTICES = 420
STEP = 1e-6


def random_rotations(count: int, size: float, seed: int) -> np.ndarray:
    return matrix_from_axis_angle(np.random.default_rng(seed).normal(0, size, (count, 3)))


def test_a_swing_and_its_twist_are_the_rotation():
    """R = S T(τ), and the swing turns the axis without twisting: S has no twist of its own."""
    axis = np.array([0.6, 0.0, 0.8])
    rotations = random_rotations(50, 0.8, 1)
    swing = partly_twisted(rotations, axis, 0.0)
    angles = twist_angles(rotations, axis)
    twist = matrix_from_axis_angle(angles[:, None] * axis)
    np.testing.assert_allclose(swing @ twist, rotations, atol=1e-12)
    np.testing.assert_allclose(twist_angles(swing, axis), 0, atol=1e-12)
    np.testing.assert_allclose(swing @ axis, rotations @ axis, atol=1e-12)


def test_twist_slopes_are_those_of_finite_differences():
    axis = np.array([0.6, 0.0, 0.8])
    rotations = random_rotations(20, 0.8, 2)
    for direction in np.eye(3):
        ahead = twist_angles(matrix_from_axis_angle(STEP * direction) @ rotations, axis)
        behind = twist_angles(matrix_from_axis_angle(-STEP * direction) @ rotations, axis)
        slope = twist_slopes(rotations, axis) @ direction
        np.testing.assert_allclose((ahead - behind) / (2 * STEP), slope, atol=1e-8)


@pytest.mark.parametrize("symmetric", [False, True])
def test_radial_weights_are_exact_at_keys_and_sum_to_one(symmetric: bool):
    """ω_k(R_m) = δ_km; everywhere Σ_k ω_k = 1, since constants are in the basis."""
    keys = greedy_keys(random_rotations(200, 0.6, 3), 0.3, 30, symmetric=symmetric)
    basis = RadialBasis.of(keys)
    np.testing.assert_allclose(basis.weights(keys), np.eye(len(keys)), atol=1e-10)
    anywhere = basis.weights(random_rotations(50, 1.0, 4))
    np.testing.assert_allclose(anywhere.sum(axis=1), 1, atol=1e-10)
    if symmetric:
        images = mirrored_rotations(keys)
        np.testing.assert_allclose(keys[mirrored_order(keys)], images, atol=1e-12)


def test_greedy_keys_cover_the_pool_and_keep_apart():
    """Every rotation is within the distance of a key; keys are further apart than that."""
    pool = random_rotations(300, 0.4, 5)
    keys = greedy_keys(pool, 0.3, 1000)
    assert angles_of(pool, keys).min(axis=1).max() <= 0.3
    apart = angles_of(keys, keys) + 10 * np.eye(len(keys))
    assert apart.min() > 0.3
    np.testing.assert_allclose(angles_of(pool[:5], keys[1:2])[:, 0],
                               geodesic_angle(pool[:5], keys[1]), atol=1e-9)  # fmt: skip
    assert len(greedy_keys(pool, 0.3, 7)) == 7
    with pytest.raises(InputError, match="at least one key"):
        greedy_keys(pool, 0.3, 0)


@pytest.mark.parametrize("kind", ["rotation", "swing", "twist"])
def test_weight_slopes_are_those_of_finite_differences(kind):
    axis = np.array([0.0, 0.6, 0.8])
    basis = RadialBasis.of(greedy_keys(random_rotations(100, 0.5, 6), 0.4, 12))
    rotations = random_rotations(10, 0.7, 7)
    turned = driver_rotations(kind, rotations, axis)
    slopes = basis.slopes(turned) @ driver_turns(kind, rotations, axis)
    for place, direction in enumerate(np.eye(3)):
        there, back = (
            basis.weights(
                driver_rotations(kind, matrix_from_axis_angle(s * direction) @ rotations, axis)
            )
            for s in (STEP, -STEP)
        )
        np.testing.assert_allclose((there - back) / (2 * STEP), slopes[..., place], atol=1e-7)


@cache
def small_template() -> Template:
    return known_smpl(VERTICES).template


def test_bone_parameters_give_their_joints_back_and_have_their_slopes():
    """fit ∘ joints_of is the identity; slopes by central differences; right mirrors left but for
    the carrying angles."""
    skeleton = small_template().skeleton
    layout = BoneLayout(skeleton.names, skeleton.parents, np.asarray(skeleton.joints))
    b = layout.fit(np.asarray(skeleton.joints))
    b += np.random.default_rng(0).normal(0, 0.01, len(b))
    np.testing.assert_allclose(layout.fit(layout.joints_of(b)), b, atol=1e-10)
    slopes = layout.slopes(b)
    for place in range(layout.size):
        step = STEP * np.eye(layout.size)[place]
        by_hand = (layout.joints_of(b + step) - layout.joints_of(b - step)) / (2 * STEP)
        np.testing.assert_allclose(slopes[..., place], by_hand, atol=1e-8)
    joints = layout.joints_of(b)
    left, right = (skeleton.index(f"{side}_elbow") for side in ("left", "right"))
    root = joints[0]
    np.testing.assert_allclose((joints[left] - root) * [-1, 1, 1], joints[right] - root, atol=1e-12)


@cache
def known_character(poses: int = 56) -> tuple[Problem, Estimate, Scans]:
    """A person with random smooth offsets at known key angles, in random poses."""
    template = small_template()
    random = np.random.default_rng(8)
    joints = len(template.skeleton.parents)
    turns = random.normal(0, 0.35, (poses, joints, 3))
    turns[0] = 0
    rotations = matrix_from_axis_angle(turns)
    place = random.normal(0, 0.2, (poses, 3))
    rest = np.asarray(template.mesh.vertices, np.float32)
    blank = Scans(
        np.tile(rest, (poses, 1, 1)), np.ones((poses, template.mesh.vertex_count), np.float32),
        np.zeros(poses, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    beginning = begin(blank, template, None, KeySettings(most=1), 10_000)
    problem = replace(beginning.problem, drivers=_drivers(beginning.problem, rotations))
    estimate = first_estimate(
        replace(beginning, problem=problem), template, np.arange(poses),
        beginning.bones, np.zeros((1, 0)),
    )  # fmt: skip
    offsets = tuple(_bumps(rest[d.region], d.key_count, random)[None] for d in problem.drivers)
    truth = replace(estimate, rotations=rotations, translations=place, offsets=offsets)
    made = skins(problem, truth, blank, np.arange(poses)).vertices
    return problem, truth, replace(blank, vertices=made)


def _drivers(problem: Problem, rotations: np.ndarray):
    """The problem's drivers with at most three key angles each, from these poses."""
    made = []
    for place, d in enumerate(problem.drivers):
        pool = driver_rotations(d.kind, rotations[:, d.joint], problem.rig.axes[d.joint])
        basis = RadialBasis.of(greedy_keys(pool, 0.2, 3))
        made.append(replace(d, basis=basis, image=place,
                            image_keys=np.arange(len(basis.keys) - 1)))  # fmt: skip
    return tuple(made)


def _bumps(rest: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Smooth offsets of some millimetres."""
    middle = rest.mean(axis=0)
    near = np.exp(-np.sum((rest - middle) ** 2, axis=1) / 0.1**2)
    return (near[None, :, None] * random.normal(0, 0.008, (count, 1, 3))).astype(np.float32)


def test_skins_of_training_are_those_of_the_equations():
    """Batches in float32 against equations 1 and 2 in float64."""
    problem, truth, scans = known_character()
    for scan in (0, 3, 17):
        keyed = tuple(
            equations.Keyed(d.joint, d.kind, d.basis, d.region, k[0])
            for d, k in zip(problem.drivers, truth.offsets, strict=True)
        )
        c = equations.Character(truth.dress[0], truth.bones[0], keyed)
        q = RotationPose(truth.rotations[scan], truth.translations[scan])
        exact = equations.posed(problem.rig, c, truth.weights, q)
        np.testing.assert_allclose(scans.vertices[scan], exact, atol=2e-6)


def test_derivatives_by_pose_and_latents_are_those_of_finite_differences():
    """∂f by every joint's turn, the translation and x, with two latent coordinates that change
    dress shape, bones and offsets."""
    problem, truth, scans = known_character()
    random = np.random.default_rng(9)
    rows = [np.zeros_like(truth.dress[0]), *random.normal(0, 0.01, (2, *truth.dress[0].shape))]
    model = replace(
        truth, x=np.zeros((1, 2)),
        dress=(truth.dress[0] + np.array(rows)).astype(np.float64),
        bones=np.concatenate([truth.bones, random.normal(0, 0.01, (2, truth.bones.shape[1]))]),
        offsets=tuple(
            np.concatenate([k, random.normal(0, 0.003, (2, *k.shape[1:]))]) for k in truth.offsets
        ),
    )  # fmt: skip
    model.dress[1:] -= truth.dress[0]
    line = PersonLinearisation(problem, model)
    x, scan = np.array([0.3, -0.4]), 5
    e, seen = scans.vertices[scan][problem.some], np.ones(len(problem.some))
    pose = RotationPose(truth.rotations[scan], truth.translations[scan])
    here = line.at(x, pose, e, seen)
    parents = problem.rig.layout.parents
    joints = problem.rig.layout.joints_of(coordinates(x) @ model.bones)
    world = problem.rig.state(pose, joints).world_rotations[: len(parents)]
    for column in random.choice(here.by_pose.shape[1], 24, replace=False):
        step = STEP * np.eye(here.by_pose.shape[1])[column]
        ends = [
            line.at(x, rotate_joints(pose, world, parents, s * step), e, seen).residual
            for s in (1, -1)
        ]
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * STEP), here.by_pose[:, column],
                                   atol=1e-7)  # fmt: skip
    for column in range(2):
        step = STEP * np.eye(2)[column]
        ends = [line.at(x + s * step, pose, e, seen).residual for s in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * STEP), here.by_latent[:, column],
                                   atol=1e-7)  # fmt: skip


def test_a_known_character_is_found_again():
    """Keys and poses are known; dress shape and offsets begin elsewhere and come back, and skins in
    poses that were not scanned with them: to 0.5 mm."""
    problem, truth, scans = known_character()
    random = np.random.default_rng(10)
    train = np.arange(len(scans.people)) < 48
    found = replace(
        truth, rotations=truth.rotations[train], translations=truth.translations[train],
        dress=truth.dress + random.normal(0, 0.003, truth.dress.shape).astype(np.float32),
        offsets=tuple(np.zeros_like(k) for k in truth.offsets),
        variances=equations.Variances(offsets=1e-2),
    )  # fmt: skip
    fewer = Scans(scans.vertices[train], scans.confidence[train], scans.people[train],
                  scans.standing)  # fmt: skip
    found = with_linear_parts(problem, fewer, found, 1, LinearSolve(100, 1e-7))
    for k, exact in zip(found.offsets, truth.offsets, strict=True):
        np.testing.assert_allclose(k, exact, atol=5e-4)
    new = replace(found, rotations=truth.rotations[~train], translations=truth.translations[~train])
    held = Scans(scans.vertices[~train], scans.confidence[~train], scans.people[~train],
                 np.zeros(1, np.int64))  # fmt: skip
    off = skins(problem, new, held, np.arange(len(held.people))).vertices - held.vertices
    assert np.sqrt(np.mean(np.sum(off**2, axis=-1))) < 5e-4
    plain = replace(new, offsets=tuple(np.zeros_like(k) for k in truth.offsets))
    without = skins(problem, plain, held, np.arange(len(held.people))).vertices - held.vertices
    assert np.abs(without).max() > 5e-3, "offsets must matter, or the test shows nothing"


@pytest.mark.parametrize(("share", "most"), [(0.3, 2e-5), (0.6, 4e-3)])
def test_holes_carry_no_weight(share: float, most: float):
    """Of every scan a patch is missing, and what stands in its place is a metre off: without noise
    a known character of 48 scans is found as without holes where 30 % are missing; where 60 % are
    it is still found, some places being seen at too few key angles."""
    problem, truth, scans = known_character()
    random, rest = np.random.default_rng(4), np.asarray(truth.dress[0])
    train = np.arange(len(scans.people)) < 48
    vertices, seen = scans.vertices[train].copy(), scans.confidence[train].copy()
    for n in range(48):
        away = np.linalg.norm(rest - rest[random.integers(len(rest))], axis=1)
        hole = away <= np.quantile(away, share)
        vertices[n, hole], seen[n, hole] = 1.0, 0.0
    given = Scans(vertices, seen, scans.people[train], scans.standing)
    found = replace(
        truth, rotations=truth.rotations[train], translations=truth.translations[train],
        dress=truth.dress + random.normal(0, 0.003, truth.dress.shape).astype(np.float32),
        offsets=tuple(np.zeros_like(k) for k in truth.offsets),
        variances=equations.Variances(offsets=1e-2),
    )  # fmt: skip
    found = with_linear_parts(problem, given, found, 1, LinearSolve(100, 1e-7))
    new = replace(found, rotations=truth.rotations[~train], translations=truth.translations[~train])
    held = Scans(scans.vertices[~train], scans.confidence[~train], scans.people[~train],
                 np.zeros(1, np.int64))  # fmt: skip
    assert _rms(problem, new, held) < most


def test_a_known_character_is_found_again_in_unknown_poses():
    """Poses begin 0.02 rad off, dress shape 3 mm, offsets at nothing: after four rounds skins in
    poses that were not scanned with them are found to 0.5 mm, offsets too where poses are given.
    In turns, with poses held while offsets are solved for, four rounds leave 1.5 mm."""
    problem, truth, scans = known_character()
    random = np.random.default_rng(10)
    train = np.arange(len(scans.people)) < 48
    off = matrix_from_axis_angle(random.normal(0, 0.02, (48, truth.rotations.shape[1], 3)))
    found = replace(
        truth, rotations=off @ truth.rotations[train], translations=truth.translations[train],
        dress=truth.dress + random.normal(0, 0.003, truth.dress.shape).astype(np.float32),
        offsets=tuple(np.zeros_like(k) for k in truth.offsets),
        variances=equations.Variances(offsets=1e-2),
    )  # fmt: skip
    seen, held = (
        Scans(scans.vertices[which], scans.confidence[which], scans.people[which], scans.standing)
        for which in (train, ~train)
    )
    solve = LinearSolve(60, 1e-7)
    found = with_linear_parts(problem, seen, found, 1, solve)
    found = with_people(problem, seen, found, iterations=3, latent=False)
    for _ in range(4):
        found = with_linear_parts(problem, seen, found, 1, solve, free=True)
        found = with_people(problem, seen, found, iterations=2, latent=False)
    given = replace(
        found, rotations=truth.rotations[~train], translations=truth.translations[~train]
    )
    fitted = with_people(problem, held, given, iterations=6, latent=False)
    assert _rms(problem, fitted, held) < 3e-4
    assert _rms(problem, given, held) < 1e-3


def _rms(problem: Problem, estimate: Estimate, scans: Scans) -> float:
    off = skins(problem, estimate, scans, np.arange(len(scans.people))).vertices - scans.vertices
    return float(np.sqrt(np.mean(np.sum(off**2, axis=-1))))


def test_free_poses_know_what_turns_do_and_leave_nothing_for_them():
    """M is the derivative of every influence's frame (central differences); P takes a small turn of
    an elbow out of a residual, but for the second order and the damping, and is symmetric and
    between 0 and 1 as conjugate gradients need it."""
    problem, truth, scans = known_character()
    few = np.arange(3)
    some = Scans(scans.vertices[few], scans.confidence[few], scans.people[few], scans.standing)
    estimate = replace(truth, rotations=truth.rotations[few], translations=truth.translations[few])
    rig, pose = problem.rig, estimate.pose(np.array(2))
    joints = estimate.joints(problem)[0]
    state = rig.state(pose, joints)
    made = influence_motions(problem, state, pose.rotations)
    world = state.world_rotations[: rig.joint_count]
    for column in np.random.default_rng(1).choice(made.shape[1], 20, replace=False):
        step = STEP * np.eye(made.shape[1])[column]
        ends = []
        for sign in (1, -1):
            turned = rotate_joints(pose, world, rig.layout.parents, sign * step)
            there = rig.state(turned, joints)
            ends.append(
                np.concatenate([there.world_rotations, there.translations[..., None]], axis=-1)
            )
        slope = ((ends[0] - ends[1]) / (2 * STEP)).reshape(-1)
        np.testing.assert_allclose(made[:, column], slope, atol=1e-8)
    bare = replace(estimate, offsets=tuple(np.zeros_like(k) for k in estimate.offsets))
    poses, skin = FreePoses(problem, some, bare), skins(problem, bare, some, few).vertices
    turn = np.zeros((3, made.shape[1]))
    turn[:, 3 * rig.layout.names.index("left_elbow") + 1] = 1e-3
    worlds = rig.state(bare.pose(few), joints).world_rotations[:, : rig.joint_count]
    turned = rotate_joints(bare.pose(few), worlds, rig.layout.parents, turn)
    bent = replace(bare, rotations=turned.rotations, translations=turned.translation)
    change = skins(problem, bent, some, few).vertices - skin
    left = change.copy()
    poses.project(left)
    assert np.linalg.norm(left) < 5e-3 * np.linalg.norm(change)
    first, second = np.random.default_rng(2).normal(0, 1, (2, *change.shape)).astype(np.float32)
    images = first.copy(), second.copy()
    for image in images:
        poses.project(image)
    assert np.vdot(images[0], second) == pytest.approx(np.vdot(first, images[1]), abs=0.05)
    assert 0 < np.vdot(images[0], first) < np.vdot(first, first)


def test_poses_are_found_again():
    """Gauss–Newton with exact derivatives: the known character, its poses a little off, comes back
    to its scans to a hundredth of a millimetre."""
    problem, truth, scans = known_character()
    random, few = np.random.default_rng(10), np.arange(4)
    turned = matrix_from_axis_angle(random.normal(0, 0.05, (4, truth.rotations.shape[1], 3)))
    start = replace(truth, rotations=turned @ truth.rotations[few],
                    translations=truth.translations[few] + 0.01)  # fmt: skip
    some = Scans(scans.vertices[few], scans.confidence[few], scans.people[few], scans.standing)
    found = with_people(problem, some, start, iterations=8, latent=False)
    off = skins(problem, found, some, few).vertices - some.vertices
    assert np.abs(off).max() < 1e-5


def test_weights_stay_on_the_simplex():
    """Projection: rows sum to one, are not negative, and 0 where not allowed; a fixed point."""
    random = np.random.default_rng(11)
    values, allowed = random.normal(0, 1, (30, 5)), random.random((30, 5)) < 0.7
    allowed[:, 0] = True
    found = on_simplex(values, allowed)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert (found >= 0).all()
    assert not found[~allowed].any()
    np.testing.assert_allclose(on_simplex(found, allowed), found, atol=1e-12)


def registrations_of(vertices: list[np.ndarray]) -> Registrations:
    template = small_template()
    takes = tuple(
        Take(f"person{n}", "poses", 0.0, v.astype(np.float32)) for n, v in enumerate(vertices)
    )
    mesh = template.mesh
    return Registrations("small", np.asarray(mesh.triangles), mesh.vertex_count, takes)


def test_bad_scans_are_refused_in_words():
    """One pose of everybody, a scan of holes, a scan that is no person: each is named."""
    _, _, scans = known_character()
    trainer, template = EnvelopingTrainer(), small_template()
    with pytest.raises(InputError, match="more than 1 poses"):
        trainer.fit(registrations_of([scans.vertices[:1], scans.vertices[1:2]]), template)
    holes = scans.vertices[:8].copy()
    holes[3] = np.nan
    with pytest.raises(InputError, match=r"scan 3 of person0 poses shows 0.0 %"):
        trainer.fit(registrations_of([holes]), template)
    with pytest.raises(InputError, match="latent_count is 0; expected at least 1"):
        EnvelopingTrainer(latent_count=0)
    with pytest.raises(InputError, match="offset_count is -1"):
        EnvelopingTrainer(offset_count=-1)
    with pytest.raises(InputError, match="rounds is 0"):
        EnvelopingTrainer(rounds=0)
    shuffled = scans.vertices[:8].copy()
    shuffled[5] = shuffled[5][np.random.default_rng(0).permutation(shuffled.shape[1])]
    with pytest.raises(InputError, match="scan 5 of person0 is"):
        trainer.fit(registrations_of([shuffled]), template)


def test_joints_that_no_scan_bends_are_named():
    """Eight times the same pose: there is no key angle to learn from."""
    _, _, scans = known_character(8)
    same = np.repeat(scans.vertices[:1], 8, axis=0)
    with pytest.raises(InputError, match=r"no scan bends .*left_elbow.*Add scans in other poses"):
        EnvelopingTrainer().fit(registrations_of([same]), small_template())


def test_scans_in_a_mirror_are_refused():
    """Left and right confused in one scan: no pose explains it, and 0.25 m would let it pass."""
    _, _, scans = known_character()
    given = scans.vertices[:8].copy()
    given[5] *= [-1, 1, 1]
    with pytest.raises(InputError, match=r"scan 5 of person0 is inside out .*\(1 such scans\)"):
        EnvelopingTrainer().fit(registrations_of([given]), small_template())


def test_contradicting_scans_and_unseen_skin_are_told():
    """A patch whose vertices are in another order in one scan, and one that no scan shows."""
    _, _, scans = known_character()
    given = scans.vertices[:10].copy()
    patch = np.argsort(np.linalg.norm(given[5] - given[5][7], axis=1))[:80]
    given[5][patch] = given[5][patch][::-1]
    unseen = np.argsort(np.linalg.norm(given[0] - given[0][300], axis=1))[:9]
    given[:, unseen] = np.nan
    made = EnvelopingTrainer(rounds=1, pose_vertices=60).fit(
        registrations_of([given]), small_template()
    )
    told = " ".join(made.notes)
    assert "9 vertices are in no scan" in told
    assert "scan 5 of person0 (" in told
    assert "(1 scans): their correspondences contradict" in told


def test_a_training_that_was_stopped_goes_on(tmp_path: Path):
    """Stopped after three of its stages, it does the others alone and gives bit for bit the same;
    what was kept for other settings is refused."""
    _, _, scans = known_character()
    given, kept = registrations_of([scans.vertices[:8]]), tmp_path / "kept.npz"
    trainer = EnvelopingTrainer(rounds=1, pose_vertices=60)
    whole = trainer.fit(given, small_template())
    stages = [row["stage"] for row in whole.report["stages"]]

    def stop(stage: str, _: float) -> None:
        if stage == stages[3]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.fit(given, small_template(), callback=stop, checkpoint=kept)
    told: list[str] = []
    again = trainer.fit(
        given, small_template(), callback=lambda stage, _: told.append(stage), checkpoint=kept
    )
    assert told == [stages[0], *stages[3:]]
    assert again.report["stages"] == whole.report["stages"]
    np.testing.assert_array_equal(again.model.dress, whole.model.dress)
    for one, other in zip(again.model.corrections, whole.model.corrections, strict=True):
        np.testing.assert_array_equal(one.offsets, other.offsets)
    other = replace(trainer, pose_vertices=61)
    with pytest.raises(InputError, match="training with other data or settings"):
        other.fit(given, small_template(), checkpoint=kept)


def test_fingers_of_little_confidence_are_no_holes():
    """A vertex that counts for less was seen all the same: nothing is said of holes."""
    _, _, scans = known_character()
    trainer, template = EnvelopingTrainer(rounds=1, pose_vertices=60), small_template()
    made = trainer.fit(
        registrations_of([scans.vertices[:8]]), template,
        vertex_confidence=np.full(scans.vertices.shape[1], 0.5),
    )  # fmt: skip
    assert made.notes == ()


def test_the_rig_has_helpers_that_take_their_share_of_the_twist():
    """Shoulders and elbows have helpers of 0 and 50 %; half the twist is half the angle."""
    rig = EnvelopingRig.of(small_template().skeleton)
    assert rig.names[-2:] == ("right_elbow_twist_0", "right_elbow_twist_50")
    joint = small_template().skeleton.index("right_elbow")
    local = np.tile(np.eye(3), (rig.joint_count, 1, 1))
    local[joint] = matrix_from_axis_angle(0.8 * rig.axes[joint])
    turned = rig.rotations(local)
    np.testing.assert_allclose(turned[-2], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(
        turned[-1], matrix_from_axis_angle(0.4 * rig.axes[joint]), atol=1e-12
    )
