"""The evaluation of dynamics: who sees what, what is chosen by whom, and coordinates of a code."""

from pathlib import Path

import numpy as np
import pytest
from small_body import small_template

from corporeal.body.identity import Identity
from corporeal.body.registrations import Registrations, Take, Truth, Twin
from corporeal.dynamics.autoregression import Fitted, Ridge, free_run
from corporeal.dynamics.free_running import CodedTake
from corporeal.dynamics.mirror import mirrored_offsets
from corporeal.dynamics.training import DynamicsTraining, learn_predictors
from corporeal.errors import InputError
from corporeal.evaluation.dynamics_cases import People, case_of_takes, chosen_settings, predicted
from corporeal.numerics.transform_coding import make_code
from corporeal.pipelines.evaluate_dynamics import EvaluateDynamicsConfig, evaluate_dynamics
from corporeal.pipelines.packed_dataset import Carrier, CodedRows, PackedRows
from corporeal.pipelines.packed_offsets import (
    joined_regional,
    packed_offsets,
    principal_directions,
    regional,
    symmetric_directions,
)

PEOPLE = ("ann", "bea", "cid", "dan")
MOTIONS = ("hop", "jump", "kick", "run", "shake", "walk")
NAMES = [(person, motion) for person in PEOPLE for motion in MOTIONS]


class TestCases:
    def test_nothing_of_the_tests_is_learned_from(self):
        """Case by case who and what is new; and every training person keeps most takes."""
        cases = dict(zip(NAMES, case_of_takes(NAMES, ("bea",), ("run",)), strict=True))
        for (person, motion), case in cases.items():
            assert (case in (3, 4)) == (person == "bea")
            assert (case in (2, 4)) == (motion == "run")
        for person in ("ann", "cid", "dan"):
            left = [cases[person, motion] for motion in MOTIONS if motion != "run"]
            assert left.count(1) == 1
            assert left.count(0) == 4

    def test_people_and_motions_that_are_not_there(self):
        with pytest.raises(InputError, match="the set has the people ann"):
            case_of_takes(NAMES, ("zoe",), ("run",))
        with pytest.raises(InputError, match="two people at least"):
            case_of_takes(NAMES, ("ann", "bea", "cid"), ("run",))


def takes_of(sizes: dict[str, float], noise: float) -> list[CodedTake]:
    """People who swing alike but for the size."""
    random = np.random.default_rng(0)
    a = 1.8 * np.cos(0.2 * np.pi), -0.81  # 6 Hz, on the grid
    model = Fitted(random.normal(size=(3, 6)), np.tile(np.reshape(a, (2, 1)), 3), np.zeros(3))
    takes = []
    for name, size in sizes.items():
        for motion in range(3):
            controls = np.random.default_rng(motion).normal(size=(150, 6))
            deltas = size * free_run(model, controls)
            deltas += noise * deltas.std() * random.normal(size=deltas.shape)
            takes.append(CodedTake(name, f"m{motion}", controls, deltas))
    return takes


class TestChoice:
    def test_the_best_ridge_is_taken_and_all_are_told(self):
        """Without noise the smallest; every trial has its error, the best the least."""
        takes = takes_of({"a": 1.0, "b": 1.0, "c": 1.0}, 0.0)
        people = People({"a": 20.0, "b": 25.0, "c": 30.0}, None)
        settings = DynamicsTraining(ridge=Ridge(2))
        best, rows = chosen_settings(takes, ("p",), people, settings, (1e-6, 1.0), (2.0, 1000.0))
        assert len(rows) == 4
        assert best.ridge.strength == 1e-6
        assert min(row["error"] for row in rows) < 0.1 < max(row["error"] for row in rows)

    def test_of_one_person_nobody_is_left_out(self):
        """The settings stay as they are, and nothing was tried."""
        people, settings = People({"a": 20.0}, None), DynamicsTraining(ridge=Ridge(2, 0.5))
        assert chosen_settings(takes_of({"a": 1.0}, 0.0), ("p",), people, settings) == (
            settings,
            [],
        )

    def test_known_people_have_their_own_predictor(self):
        """One swings twice as far as all others of the same mass; a new one as the others do."""
        takes = takes_of({"a": 1.0, "b": 1.0, "loud": 2.0}, 0.0)
        people = People(dict.fromkeys(("a", "b", "loud", "new"), 25.0), None)
        settings = DynamicsTraining(ridge=Ridge(2, 1e-9), risk="single")
        found = learn_predictors(takes, ("p",), people.indices, settings)
        loud = next(take for take in takes if take.subject == "loud")
        (own,) = predicted(found, ("a", "b", "loud"), [loud], people)
        np.testing.assert_allclose(own, loud.deltas, rtol=1e-3, atol=1e-3)
        (mixed,) = predicted(found, (), [loud], people)
        np.testing.assert_allclose(mixed, loud.deltas * 4 / 6, rtol=1e-3, atol=1e-3)


def small_set() -> tuple[Registrations, np.ndarray]:
    """Two packed takes with twins, and the dynamic offsets that they hold."""
    template = small_template()
    mesh, random = template.mesh, np.random.default_rng(3)
    count = mesh.vertex_count
    rows = 1e-2 * random.normal(size=(20, 4)) @ random.normal(size=(4, 3 * count))
    code = make_code((rows + 1e-3).astype(np.float32), 1e-4)
    none = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 3), np.int64), 1e-4)
    coded = CodedRows(code, code.encoded((rows + 1e-3).astype(np.float32)), *none)
    rest = np.asarray(mesh.vertices, np.float32)
    who = Identity(rest, np.asarray(template.skeleton.joints, np.float32), {})
    joints = template.skeleton.joint_count
    poses = np.zeros((10, 3 + 3 * joints), np.int32)
    truth = Truth(np.zeros((10, joints, 3), np.float32), np.zeros((10, 3), np.float32))
    takes = []
    for n in range(2):
        parts = ((coded, 0), (coded, 10 * n))
        packed = PackedRows(Carrier(template), who, poses, parts)
        still = PackedRows(Carrier(template), who, poses, parts[:1])
        takes.append(Take(f"p{n}", "walk", 60.0, packed, truth, "train", {}, Twin(still)))
    held = Registrations("small", np.asarray(mesh.triangles), count, tuple(takes), {})
    return held, coded.rows(slice(None))


class TestPackedOffsets:
    def test_coordinates_are_the_offsets_but_for_a_rotation(self):
        """Products of rows, regions and directions agree with those of all vertices."""
        held, rows = small_set()
        offsets = packed_offsets(held)
        y = np.concatenate(offsets.coordinates).astype(np.float64)
        np.testing.assert_allclose(y @ y.T, rows @ rows.T, atol=1e-6 * np.abs(rows @ rows.T).max())
        some = np.arange(offsets.vertex_count) % 3 == 0
        part = rows[:, np.repeat(some, 3)]
        np.testing.assert_allclose(
            np.einsum("ni,ij,nj->n", y, offsets.gram(some), y), (part**2).sum(axis=1), rtol=1e-4
        )
        basis, share = principal_directions(offsets.coordinates, 5)  # four, and the mean
        shapes = offsets.directions(basis).reshape(5, -1)
        np.testing.assert_allclose(shapes @ shapes.T, np.eye(5), atol=1e-4)
        np.testing.assert_allclose((y @ basis) @ shapes, rows, atol=1e-4 * np.abs(rows).max())
        assert 0.99 < share <= 1.0

    def test_components_with_the_mirror_image_are_symmetric_or_antisymmetric(self):
        """They span takes and their images, and are the principal components of both together, by
        a dense decomposition."""
        held, rows = small_set()
        offsets = packed_offsets(held)
        count = offsets.vertex_count
        mirror = np.arange(count)
        mirror[: 2 * (count // 2)] = mirror[: 2 * (count // 2)].reshape(-1, 2)[:, ::-1].ravel()
        basis = symmetric_directions(offsets, offsets.coordinates, mirror, 8)
        shapes = basis.shapes.reshape(8, -1)
        image = mirrored_offsets(rows.astype(np.float32), mirror)
        both = np.concatenate([rows, image]).astype(np.float64)
        exact = np.linalg.svd(both, compute_uv=False)
        np.testing.assert_allclose(
            np.sort(np.linalg.norm(both @ shapes.T, axis=0))[::-1][:8], exact[:8], rtol=1e-3
        )
        np.testing.assert_allclose(shapes @ shapes.T, np.eye(8), atol=1e-3)
        np.testing.assert_allclose(
            image @ shapes.T, (rows @ shapes.T) * basis.parity, atol=1e-4 * np.abs(rows).max()
        )
        assert basis.explained == pytest.approx(
            float((exact[:8] ** 2).sum() / (exact**2).sum()), abs=1e-3
        )

    def test_errors_of_a_region_are_those_of_its_vertices(self):
        """From sums alone and from all vertices, whole and of some; of two sets joined too."""
        held, rows = small_set()
        offsets = packed_offsets(held)
        basis, _ = principal_directions(offsets.coordinates, 3)
        shapes = offsets.directions(basis)
        some = np.arange(offsets.vertex_count) % 3 == 0
        found = 1e-2 * np.random.default_rng(2).normal(size=(10, 3))
        for chosen in (None, some):
            part = regional(offsets, shapes, chosen)
            part = joined_regional([part, part])
            kept = np.ones(len(some), bool) if chosen is None else chosen
            lacking = (rows[10:] - found @ shapes.reshape(3, -1)).reshape(10, -1, 3)[:, kept]
            exact = np.sqrt((lacking**2).sum(axis=(1, 2)) / kept.sum())
            np.testing.assert_allclose(part.rms(1, found), exact, rtol=1e-3)
            np.testing.assert_allclose(part.rms(3, found), exact, rtol=1e-3)

    def test_an_unpacked_store_is_refused_by_its_way_out(self, tmp_path: Path):
        """A folder, as captures are recorded into, is told how to become a packed file."""
        store = tmp_path / "dyna_test.zarr"
        store.mkdir()
        config = EvaluateDynamicsConfig(test=store, report=tmp_path / "report")
        with pytest.raises(InputError, match=r"corporeal dataset pack .*dyna_test\.zarr"):
            evaluate_dynamics(config)

    def test_a_set_that_is_not_packed_is_refused(self):
        held, _ = small_set()
        with pytest.raises(InputError, match="corporeal dataset pack"):
            packed_offsets(held.where(lambda take: False))
