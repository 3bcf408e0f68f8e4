"""Models that ship: fewer blend shapes, fingers, the asset and its deformers; smplx reads them."""

import sys
from dataclasses import replace
from pathlib import Path

import linear_models
import numpy as np
import pytest
import synthetic

import corporeal as cp
from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_smpl import METRES_PER_STEP, learned_smpl, model_from_arrays
from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.body.pose import Pose
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.errors import InputError
from corporeal.formats.smpl import read_smpl, write_smpl
from corporeal.models.smpl.embedding import embedded_model, embedded_weights
from corporeal.models.smpl.model import SmplModel
from corporeal.models.smpl.posing import pose_features
from corporeal.models.smpl.reduction import (
    dense_offsets,
    exact_correctives,
    feature_moments,
    reduced_correctives,
    usual_moments,
)
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.pipelines.deformers import make_deformer

TOOLS = Path(__file__).parents[1] / "tools"


def low_rank(rank: int, seed: int = 0) -> LinearBodyModel:
    """A random model whose pose blend shapes are combinations of a few."""
    random = np.random.default_rng(seed)
    model = linear_models.random_model(vertex_count=60)
    few = random.normal(0, 0.01, (rank, 60, 3))
    mixed = np.tensordot(random.normal(size=(model.pose_count, rank)), few, axes=1)
    return replace(model, pose_offsets=mixed)


def weighted_error(model: LinearBodyModel, kept: np.ndarray, moments: np.ndarray) -> float:
    """E‖fᵀ (P − P')‖² for features with these second moments."""
    off = (model.pose_offsets - kept).reshape(model.pose_count, -1)
    return float(np.trace(off.T @ moments @ off))


class TestReduction:
    def test_rank_is_found_and_exact(self) -> None:
        """Blend shapes of rank 6 become six morph targets, and give the same skin."""
        model = low_rank(6)
        exact = exact_correctives(model)
        assert exact is not None
        assert exact.morph_count == 6
        np.testing.assert_allclose(dense_offsets(exact), model.pose_offsets, atol=1e-12)

    def test_joints_without_blend_shapes_do_not_drive(self) -> None:
        """Zero rows are left out; a model without any has no correctives."""
        model = linear_models.random_model(vertex_count=300)
        offsets = model.pose_offsets.copy()
        offsets[9:] = 0
        exact = exact_correctives(replace(model, pose_offsets=offsets))
        assert exact is not None
        assert exact.joint_names == (model.joint_names[1],)
        assert exact_correctives(replace(model, pose_offsets=0 * offsets)) is None

    def test_best_for_the_poses_that_matter(self) -> None:
        """Eckart and Young: with C's moments the C-weighted error is the tail of the singular
        values of C^{1/2} P, and no larger than that of targets chosen for other poses."""
        model = linear_models.random_model(vertex_count=60)
        random = np.random.default_rng(3)
        rotations = random.normal(0, 1, (400, 24, 3)) * random.uniform(0.05, 1, (24, 1))
        moments = feature_moments(rotations)
        kept = dense_offsets(reduced_correctives(model, 20, moments))
        values, vectors = np.linalg.eigh(moments)
        half = (vectors * np.sqrt(values.clip(0))) @ vectors.T
        flat = half @ model.pose_offsets.reshape(model.pose_count, -1)
        tail = np.linalg.svd(flat, compute_uv=False)[20:]
        np.testing.assert_allclose(weighted_error(model, kept, moments), (tail**2).sum(), rtol=1e-2)
        plain = dense_offsets(reduced_correctives(model, 20))
        assert weighted_error(model, kept, moments) < weighted_error(model, plain, moments)

    def test_moments_are_those_of_the_features(self) -> None:
        rotations = np.random.default_rng(4).normal(size=(5, 24, 3))
        features = pose_features(rotations)
        expected = sum(np.outer(f, f) for f in features) / 5
        np.testing.assert_allclose(feature_moments(rotations), expected, atol=1e-14)
        assert usual_moments(24).shape == (207, 207)

    def test_counts_that_cannot_be_are_refused(self) -> None:
        model = linear_models.random_model(vertex_count=20)
        with pytest.raises(InputError, match="asked for 208 morph targets; expected 1 to 207"):
            reduced_correctives(model, 208)
        with pytest.raises(InputError, match=r"moments have the shape \(3, 3\)"):
            reduced_correctives(model, 5, np.eye(3))


class TestFingers:
    def test_straight_hands_give_the_same_skin(self) -> None:
        """With 52 joints and straight fingers every vertex is where 24 joints put it."""
        data = learned_smpl().model()
        small, large = SmplModel(data), SmplModel(embedded_model(data))
        random = np.random.default_rng(5)
        rotations = np.zeros((3, 52, 3))
        rotations[:, :22] = random.normal(0, 0.5, (3, 22, 3))
        still = np.zeros((3, 3))
        betas = random.normal(size=2)
        came = large.vertices(large.prepare(betas), Pose(rotations, still))
        expected = small.vertices(small.prepare(betas), Pose(rotations[:, :24], still))
        # weights are float32, of 13 380 × 4 whole steps
        np.testing.assert_allclose(came, expected, atol=1e-6)
        joints = [model.prepare(betas).joints[:22] for model in (small, large)]
        np.testing.assert_allclose(joints[0], joints[1], atol=1e-6)

    def test_weights_go_to_fingers_four_a_vertex(self) -> None:
        """The default body's own weights, merged and split again, are themselves."""
        body = load_default_body()
        made = embedded_weights(body.smpl_view().weights, body.template)
        np.testing.assert_allclose(made.dense(), body.template.weights.dense(), atol=1e-6)
        assert made.values.shape[1] == 4

    def test_other_surfaces_are_refused(self) -> None:
        with pytest.raises(InputError, match="can be given fingers"):
            embedded_model(linear_models.random_model(vertex_count=30))


class TestAsset:
    def test_what_is_packed_comes_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Within half a step a morph target, of a model on the default body with rank 5."""
        monkeypatch.syspath_prepend(TOOLS)
        build = __import__("build_smpl")
        data = learned_smpl().model()
        random = np.random.default_rng(6)
        few = random.normal(0, 0.005, (5, data.vertex_count, 3))
        mixed = np.tensordot(random.normal(0, 0.3, (data.pose_count, 5)), few, axes=1)
        data = replace(data, pose_offsets=mixed)
        arrays = build.shared_arrays(data) | build.corrective_arrays(data, 5, None)
        back = model_from_arrays(arrays).model()
        reach = np.abs(arrays["corrective_weights"]).sum(axis=0).max()
        np.testing.assert_allclose(
            back.pose_offsets, data.pose_offsets, atol=reach * METRES_PER_STEP
        )
        np.testing.assert_allclose(
            back.shape_offsets, data.shape_offsets, atol=0.51 * METRES_PER_STEP
        )
        np.testing.assert_allclose(back.joint_regressor, data.joint_regressor, atol=1e-6)
        np.testing.assert_allclose(back.weights.dense(), data.weights.dense(), atol=2e-4)
        sys.modules.pop("build_smpl")

    def test_local_blend_shapes_come_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The sparse form keeps every number where weights are above 0."""
        monkeypatch.syspath_prepend(TOOLS)
        build = __import__("build_smpl")
        data = learned_smpl().model()
        support = np.repeat((data.weights.dense() > 0)[:, 1:].T, 9, axis=0)[..., None]
        noise = np.random.default_rng(7).normal(0, 0.01, data.pose_offsets.shape)
        data = replace(data, pose_offsets=noise * support)
        arrays = build.shared_arrays(data) | build.local_arrays(data)
        back = model_from_arrays(arrays).model()
        np.testing.assert_allclose(
            back.pose_offsets, data.pose_offsets, atol=0.51 * METRES_PER_STEP
        )
        sys.modules.pop("build_smpl")

    def test_sparse_correctives_are_local(self) -> None:
        """What ships as sparse moves a vertex only where its weights are above 0."""
        learned = learned_smpl("smpl-sparse")
        moved = np.abs(learned.correctives.offsets).max(axis=2).reshape(23, 9, -1).max(axis=1) > 0
        assert not (moved & ~(learned.weights.dense()[:, 1:].T > 0)).any()

    def test_small_enough_to_ship(self) -> None:
        """Both together are below 8 MB."""
        data = Path(synthetic.__file__).parents[1] / "src/corporeal/assets/data"
        sizes = [(data / f"{name}.npz.xz").stat().st_size for name in ("smpl", "smpl_sparse")]
        assert sum(sizes) < 8e6
        assert learned_smpl().correctives.morph_count <= 64


@pytest.mark.parametrize("name", ["smpl", "smpl-sparse"])
def test_other_bodies_are_refused(name: str) -> None:
    """A mesh that the model has not learned is told what to do."""
    with pytest.raises(InputError, match="corporeal train smpl"):
        make_deformer(name, synthetic.arm_template())


class TestTrained:
    """`--deformer smpl --trained my_smpl.npz`: any body, moved as that model has learned."""

    @pytest.mark.parametrize("blending", ["lbs", "dqs"])
    def test_the_models_own_person_moves_as_the_model_moves_it(self, blending: Blending) -> None:
        data = replace(learned_smpl("smpl-sparse").model(), blending=blending)
        model = SmplModel(embedded_model(data))
        person = model.prepare(np.array([1.0, -1.0]))
        random = np.random.default_rng(6)
        pose = Pose(random.normal(0, 0.5, (2, 52, 3)), np.zeros((2, 3)))
        came = SmplSkinning(load_default_body().template, data).vertices(person, pose)
        np.testing.assert_allclose(came, model.vertices(person, pose), atol=1e-6)

    def test_read_from_a_file_by_an_animation(self, tmp_path: Path) -> None:
        """The file's correctives act: without them the arm's skin is blended plainly."""
        data = learned_smpl().model()
        plain = replace(data, pose_offsets=np.zeros_like(data.pose_offsets))
        for name, model in (("own", data), ("plain", plain)):
            write_smpl(tmp_path / f"{name}.npz", model)
        end = {"end": 0.05}
        shipped = cp.animate(None, "punching", deformer="smpl", **end)
        own = cp.animate(None, "punching", deformer="smpl", trained=tmp_path / "own.npz", **end)
        bare = cp.animate(None, "punching", deformer="smpl", trained=tmp_path / "plain.npz", **end)
        # what ships is kept in whole steps, files in float32
        np.testing.assert_allclose(own.vertices, shipped.vertices, atol=2e-5)
        assert np.abs(bare.vertices - shipped.vertices).max() > 1e-3

    def test_a_model_of_another_surface_is_refused(self) -> None:
        other = linear_models.random_model(vertex_count=60)
        with pytest.raises(InputError, match=r"60 vertices .* body has 13380 .* --model my_smpl"):
            SmplSkinning(load_default_body().template, other)

    def test_corrections_by_shape_coefficients_are_refused(self, tmp_path: Path) -> None:
        data = learned_smpl().model()
        names = data.joint_names[1:]
        shares = np.zeros((2, 3, data.pose_count))
        offsets = np.zeros((3, data.vertex_count, 3), np.float32)
        write_smpl(tmp_path / "own.npz", data, ShapeCorrectives(names, shares, offsets))
        with pytest.raises(InputError, match=r"--model own\.npz --shape"):
            cp.animate(None, "punching", deformer="smpl", trained=tmp_path / "own.npz", end=0.02)

    def test_the_sparse_one_ships_alone(self, tmp_path: Path) -> None:
        write_smpl(tmp_path / "own.npz", learned_smpl().model())
        with pytest.raises(InputError, match=r"--trained .* Use --deformer smpl"):
            cp.animate(
                None, "punching", deformer="smpl-sparse", trained=tmp_path / "own.npz", end=0.02
            )


def test_whole_numbers_are_near_enough() -> None:
    """In float32 correctives are whole numbers: the skin is within 0.01 mm of float64's."""
    deformer = make_deformer("smpl", load_default_body().template)
    identity = synthetic.identity_of(deformer.template, np.float64)
    rotations = np.random.default_rng(8).normal(0, 0.5, (5, 52, 3))
    exact = deformer.vertices(identity, Pose(rotations, np.zeros((5, 3))))  # pyright: ignore
    single = Pose(rotations.astype(np.float32), np.zeros((5, 3), np.float32))
    np.testing.assert_allclose(deformer.vertices(identity, single), exact, atol=1e-5)  # pyright: ignore


def given(count: int, hands: bool) -> dict[str, np.ndarray]:
    """Random people and poses, as smplx takes them."""
    random = np.random.default_rng(9)
    values = {
        "betas": random.normal(size=(count, 6)),
        "body_pose": random.normal(0, 0.6, (count, 63 if hands else 69)),
        "global_orient": random.normal(size=(count, 3)),
        "transl": random.normal(size=(count, 3)),
    }
    if hands:
        values["left_hand_pose"] = random.normal(0, 0.4, (count, 45))
        values["right_hand_pose"] = random.normal(0, 0.4, (count, 45))
    return values


@pytest.mark.parametrize("hands", [False, True], ids=["SMPL", "SMPLH"])
def test_smplx_agrees_on_what_ships(tmp_path: Path, hands: bool) -> None:
    """100 random people and poses: vertices and our joints within 1e−5 m."""
    torch = pytest.importorskip("torch", reason="peer test: needs torch and smplx")
    smplx = pytest.importorskip("smplx", reason="peer test: needs torch and smplx")
    data, count, values = learned_smpl().model(), 100, given(100, hands)
    values["betas"] = values["betas"][:, : data.shape_count]
    settings = {"num_betas": values["betas"].shape[1], "batch_size": count, "dtype": torch.float64}
    if hands:
        path = tmp_path / "SMPLH_NEUTRAL.npz"
        write_smpl(path, embedded_model(data))
        hand = {"use_pca": False, "flat_hand_mean": True, "ext": "npz"}
        peer = smplx.SMPLH(str(path), **settings, **hand)
    else:
        path = tmp_path / "SMPL_NEUTRAL.pkl"
        write_smpl(path, data)
        peer = smplx.SMPL(str(path), **settings)
    expected = peer(**{name: torch.tensor(value) for name, value in values.items()})
    model = SmplModel(read_smpl(path))
    came = model(**values)
    joints = model.data.joint_count
    np.testing.assert_allclose(came.vertices, expected.vertices.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(came.joints, expected.joints.detach().numpy()[:, :joints], atol=1e-5)
