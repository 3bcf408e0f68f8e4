"""Where a registration begins: which way normals face, which limb is which, what is missing."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scanned_people import drawn_person

from corporeal.body.mesh import Mesh
from corporeal.body.pose import RotationPose
from corporeal.body.raw_scan import RawScan
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.cloud import sample_surface
from corporeal.registration.coupled_stage import matches
from corporeal.registration.limbs import with_best_limbs
from corporeal.registration.model_stage import COARSE, MIDDLE, ModelFit, fit_model
from corporeal.registration.orientation import outward_normals
from corporeal.registration.person_model import PersonState, person_model
from corporeal.registration.preparing import prepare
from corporeal.registration.register import scatter, started
from corporeal.registration.scan_surface import ScanSurface
from corporeal.registration.unseen_limbs import unseen_ends, with_usual_ends


@cache
def _state() -> PersonState:
    """The drawn person in an A-pose, not turned, at the origin."""
    person = drawn_person()
    rotations = np.asarray(person.pose.rotations).copy()
    rotations[0] = np.eye(3)
    return PersonState(person.shape, RotationPose(rotations, np.zeros(3)))


class _Scan(NamedTuple):
    points: np.ndarray
    truth: np.ndarray


def _legs_closed_scan() -> _Scan:
    """The benchmark's first person with raised arms, as its scanner sees it: one row of it."""
    import importlib.util

    place = Path(__file__).parents[1] / "benchmarks" / "registration.py"
    spec = importlib.util.spec_from_file_location("registration_benchmark", place)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    from corporeal.body.identity import Identity
    from corporeal.body.pose import Pose
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.models.smpl.shipped import SparseSmplSkinning
    from corporeal.population.realise import realise
    from corporeal.population.sampling import sample_people

    template = person_model().template
    made = realise(PhenotypeModel(), sample_people(0, 1, benchmark.SEED, "adults"))
    random = np.random.default_rng([benchmark.SEED, 2, 0])
    heading = random.uniform(-np.pi, np.pi)
    vectors = benchmark.drawn_pose("arms up", template.skeleton.names, random, heading)
    identity = Identity(made.rest_vertices[0], made.joints[0], {})
    skin = SparseSmplSkinning(template).vertices(identity, Pose(vectors, np.zeros(3)))
    truth = np.asarray(skin, np.float64)
    points, _ = benchmark.virtual_scan(
        truth, np.asarray(template.mesh.triangles), random, 4e-4, 150_000
    )
    return _Scan(points, truth)


def test_normals_of_a_virtual_scan_face_outwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person with raised arms, seen with holes: normals are those of the skin that was scanned.

    Of this scan a spanning tree turned one whole leg inside out (24 % of the points)."""
    pytest.importorskip("embreex")
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    scan = _legs_closed_scan()
    prepared = prepare(RawScan(scan.points), "m")
    triangles = np.asarray(person_model().template.mesh.triangles)
    found = matches(scan.truth, triangles, prepared.points)
    near = np.linalg.norm(found.feet - prepared.points, axis=1) < 0.004
    turned = np.sum(found.normals * prepared.normals, axis=1) < 0
    assert near.mean() > 0.9
    assert turned[near].mean() < 0.01


def test_patches_turned_over_in_a_file_are_turned_back() -> None:
    """Given normals of a sphere, a third of them inside out, all become radii again."""
    random = np.random.default_rng(1)
    points = random.normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    given = np.where(points[:, :1] > 0.3, -points, points)
    assert (np.sum(outward_normals(points, given) * points, axis=1) > 0.99).mean() > 0.98


def test_a_limb_that_the_scan_lacks_does_not_join_the_other() -> None:
    """Without the right leg's points the ankles stay as far apart as in the truth, up to the hip's
    prior (0.3 rad of a leg of 0.8 m, a quarter metre) and never at one place."""
    model = person_model()
    posed = model.posed(_state())
    mesh = Mesh(posed.vertices, np.asarray(model.template.mesh.triangles))
    cloud = sample_surface(mesh, 4000)
    found = matches(posed.vertices, np.asarray(mesh.triangles), cloud.points)
    kept = model.limbs[found.triangles[:, 0]] != -2
    surface = ScanSurface(cloud.points[kept], cloud.normals[kept], np.ones(int(kept.sum())), 0.01)
    start = PersonState(np.zeros(model.space.count), _state().pose)
    fit = fit_model(model.cut(np.arange(0, 13380, 12)), surface, start, (*COARSE, *MIDDLE))
    left, right = (
        fit.posed.kinematics.centres[model.template.skeleton.index(f"{side}_ankle")]
        for side in ("left", "right")
    )
    truth = [
        posed.kinematics.centres[model.template.skeleton.index(f"{side}_ankle")]
        for side in ("left", "right")
    ]
    apart = np.linalg.norm(truth[0] - truth[1])
    assert abs(np.linalg.norm(left - right) - apart) < 0.4 * apart


def test_limbs_are_begun_anew() -> None:
    """An arm half down where the scan's is raised: small steps end 43 cm off, a new beginning
    within the spacing of the points (2 cm)."""
    model = person_model().cut(np.arange(0, 13380, 25))
    names = model.template.skeleton.names
    begun = _state()
    rotations = begun.pose.rotations.copy()
    rotations[names.index("left_shoulder")] = matrix_from_axis_angle(np.array([0.0, 0.0, 1.35]))
    raised = PersonState(begun.shape, RotationPose(rotations, begun.pose.translation))
    posed = person_model().posed(raised)
    some = np.arange(0, 13380, 9)
    surface = ScanSurface(posed.vertices[some], posed.normals[some], np.ones(len(some)), 0.02)
    fit = fit_model(model, surface, begun, MIDDLE)
    arm = model.limbs == 1

    def off(found: ModelFit) -> float:
        gap = np.linalg.norm(found.posed.vertices - posed.vertices[::25], axis=1)
        return float(gap[arm].mean())

    assert off(fit) > 0.1
    assert off(with_best_limbs(model, surface, fit)) < 0.02


def test_a_person_who_lies_on_the_floor_is_found() -> None:
    """Lying on the back along the negative z axis, with a floor below and y up: the start's skin is
    within 5 cm of the truth; begun upright and tipped over, it came to lie face down (20 cm)."""
    model = person_model()
    posed = model.posed(_state())
    mesh = Mesh(posed.vertices, np.asarray(model.template.mesh.triangles))
    cloud = sample_surface(mesh, 30_000)
    lie = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    points, truth = cloud.points @ lie.T, posed.vertices @ lie.T
    random = np.random.default_rng(0)
    floor = random.uniform(-1.3, 1.3, (30_000, 3)) + truth.mean(axis=0)
    floor[:, 1] = truth[:, 1].min() - 0.004
    prepared = prepare(RawScan(np.concatenate([points, floor])), "m")
    starts, _, rotation, words = started(model, prepared, "auto")
    error = np.linalg.norm(model.posed(starts[0].state).vertices @ rotation - truth, axis=1)
    assert "lies" in words
    assert error.mean() < 0.05


def test_a_body_cut_off_at_the_waist_hangs_from_its_head() -> None:
    """What is above the navel, in another heading: its skin starts within 5 cm of the truth; begun
    as a whole body that squats as low, it lay 30 cm off."""
    model = person_model()
    posed = model.posed(_state())
    turn = matrix_from_axis_angle(np.array([0.0, 2.0, 0.0]))
    truth = posed.vertices @ turn.T
    labels = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    waist = np.median(truth[labels == "belly", 1])
    cloud = sample_surface(Mesh(truth, np.asarray(model.template.mesh.triangles)), 40_000)
    prepared = prepare(RawScan(cloud.points[cloud.points[:, 1] > waist]), "m")
    starts, _, rotation, words = started(model, prepared, "auto")
    error = np.linalg.norm(model.posed(starts[0].state).vertices @ rotation - truth, axis=1)
    assert "+y" in words
    assert error[truth[:, 1] > waist].mean() < 0.05


def test_a_forearm_that_the_scan_lacks_is_where_forearms_usually_are() -> None:
    """Bent over the belly it is noticed and put back; whole limbs, and a hand behind a hole of the
    forearm, are left alone."""
    model, state = person_model(), _state()
    names = model.template.skeleton.names
    posed = model.posed(state)
    triangles = np.asarray(model.template.mesh.triangles)
    cloud = sample_surface(Mesh(posed.vertices, triangles), 20_000)
    labels = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    owners = labels[matches(posed.vertices, triangles, cloud.points).triangles[:, 0]]

    def ends(*lacking: str, of: PersonState = state) -> tuple[tuple[str, str], ...]:
        kept = ~np.isin(owners, lacking)
        return unseen_ends(
            model,
            ScanSurface(cloud.points[kept], cloud.normals[kept], np.ones(int(kept.sum())), 0.01),
            of,
        )

    elbow = names.index("right_elbow")
    rotations = state.pose.rotations.copy()
    rotations[elbow] = matrix_from_axis_angle(np.array([0.0, 1.9, 0.0]))
    bent = PersonState(state.shape, RotationPose(rotations, state.pose.translation))
    assert ends() == ()
    assert ends("right_forearm") == ()
    found = ends("right_forearm", "right_hand", of=bent)
    assert found == (("right", "arm"),)
    usual = with_usual_ends(model, bent, found).pose.rotations
    np.testing.assert_allclose(
        usual[elbow], matrix_from_axis_angle(np.array([0.0, 0.3, 0.0])), atol=1e-12
    )
    np.testing.assert_array_equal(
        usual[names.index("left_elbow")], rotations[names.index("left_elbow")]
    )
    assert ends("left_shin", "left_foot") == (("left", "leg"),)


def test_noise_of_points_is_told() -> None:
    """Gaussian heights of 2 mm over a mesh that itself is 5 mm off: 2 mm, within a tenth."""
    model = person_model()
    posed = model.posed(_state())
    triangles = np.asarray(model.template.mesh.triangles)
    cloud = sample_surface(Mesh(posed.vertices, triangles), 20_000)
    heights = 0.005 + 0.002 * np.random.default_rng(0).normal(size=(len(cloud.points), 1))
    points = cloud.points + heights * cloud.normals
    surface = ScanSurface(points, cloud.normals, np.ones(len(points)), 0.01)
    assert abs(scatter(posed.vertices, triangles, surface) - 0.002) < 2e-4


def test_a_hand_behind_a_hole_of_the_forearm_belongs_to_the_body() -> None:
    """With 20 cm of a forearm missing the hand is kept; a ball of its size, farther off, is not."""
    model = person_model()
    posed = model.posed(_state())
    triangles = np.asarray(model.template.mesh.triangles)
    points = sample_surface(Mesh(posed.vertices, triangles), 20_000).points
    labels = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    hand, forearm = (posed.vertices[labels == f"left_{part}"] for part in ("hand", "forearm"))
    along = hand.mean(axis=0) - forearm.mean(axis=0)
    along /= np.linalg.norm(along)
    wrist = float(np.percentile(hand @ along, 1))
    near_arm = np.linalg.norm(points - forearm.mean(axis=0), axis=1) < 0.3
    hole = near_arm & (points @ along < wrist) & (points @ along > wrist - 0.2)
    place = np.array([1.3, 0.3, 0.6])
    ball = 0.04 * np.random.default_rng(1).normal(size=(300, 3)) + place
    found = prepare(RawScan(np.concatenate([points[~hole], ball])), unit="m")
    assert (np.linalg.norm(found.points - hand.mean(axis=0), axis=1) < 0.08).sum() > 100
    assert not (np.linalg.norm(found.points - place, axis=1) < 0.1).any()
