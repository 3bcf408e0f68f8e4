"""DMPL and Dyna: trained on takes that known models made; controls, files, decomposition."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic
from dynamics_models import small_dmpl, small_dyna, small_predictors

from corporeal.body.dynamics import DynamicBlendShapes
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Subject, Take, Truth, Twin
from corporeal.body.skeleton import Skeleton
from corporeal.cli.main import main
from corporeal.dynamics.autoregression import Ridge
from corporeal.dynamics.body_mass import body_mass_index, fit_weight_maps
from corporeal.dynamics.deformer import LearnedDynamics
from corporeal.dynamics.dmpl import equations as dmpl_equations
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.dynamics.dmpl.train import DmplTrainer
from corporeal.dynamics.dyna import equations as dyna_equations
from corporeal.dynamics.dyna.decomposition import Decomposition, triangle_neighbours
from corporeal.dynamics.dyna.model import DynaSkinning
from corporeal.dynamics.dyna.train import DynaTrainer
from corporeal.dynamics.mixture import predictor_for
from corporeal.dynamics.stationarity import poles
from corporeal.dynamics.training import DynamicsTraining
from corporeal.dynamics.transfer import transferred
from corporeal.errors import FormatError, InputError
from corporeal.formats.dmpl import read_dmpl, write_dmpl
from corporeal.formats.dyna import read_dyna, write_dyna
from corporeal.formats.npz import write_npz
from corporeal.models.blendscape.triangles import DeformedTriangles, triangle_frames
from corporeal.pipelines.fill_dmpls import projected

TEMPLATE = synthetic.arm_template()
FPS = 60.0


def person(size: float = 1.0) -> Identity:
    """The arm, thicker or thinner."""
    return Identity(
        np.asarray(TEMPLATE.mesh.vertices) * [1.0, size, size],
        np.asarray(TEMPLATE.skeleton.joints),
        {},
    )


def moving(frames: int = 150, seed: int = 0) -> Motion:
    random, time = np.random.default_rng(seed), np.arange(frames) / FPS
    waves = sum(
        random.normal(scale=0.1, size=(1, 6, 3)) * np.sin(2 * np.pi * f * time)[:, None, None]
        for f in random.uniform(0.5, 4, 4)
    )
    waves = waves * np.clip(time / 0.3, 0, 1)[:, None, None] ** 2
    return Motion("waves", FPS, waves[:, :-1], 0.3 * waves[:, -1], TEMPLATE.skeleton)


def recorded(deformer: LearnedDynamics, count: int = 4, noise: float = 0.0) -> Registrations:
    """Takes with twins of two people that a known model made, with noise on the skin (metres)."""
    takes, random = [], np.random.default_rng(6)
    people = {"thin": person(0.8), "thick": person(1.2)}
    for n in range(count):
        name = list(people)[n % 2]
        motion = moving(seed=n)
        moved = deformer.animate(people[name], motion).vertices
        moved = moved + random.normal(scale=noise, size=moved.shape)
        still = deformer.animate(people[name], motion, {"dynamics": False}).vertices
        truth = Truth(motion.joint_rotations, motion.root_translation)
        takes.append(Take(name, f"s{n}", FPS, moved, truth, "train", {}, Twin(still)))
    subjects = {name: Subject(name, who) for name, who in people.items()}
    mesh = TEMPLATE.mesh
    return Registrations(
        "arm", np.asarray(mesh.triangles), mesh.vertex_count, tuple(takes), subjects
    )


ALIKE = {"people": 1, "frequencies": (5.0, 5.0)}
"""One person whose coefficients swing alike: then every basis of them has a diagonal history."""


SETTINGS = DynamicsTraining(
    count=3, ridge=Ridge(2, 1e-8, 0.98), controls="joints", fitting="one-ahead"
)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_a_known_dmpl_is_learned(noise: float):
    """Three shapes and a known AR(2): free-running skin of a new motion within 0.5 mm on average,
    and without noise the poles within 1 %. Swings are about a centimetre."""
    made = small_dmpl(TEMPLATE, **ALIKE)
    made = replace(made, shapes=0.3 * made.shapes)
    known = DmplSkinning(TEMPLATE, made)
    settings = replace(SETTINGS, free_running=3 if noise else 0, ridge=Ridge(2, 1e-6, 0.98))
    trained = DmplTrainer(settings).fit(recorded(known, noise=noise), known.static)
    learned = DmplSkinning(TEMPLATE, trained.model)
    new, who = moving(seed=77), person(1.1)
    true, found = known.animate(who, new), learned.animate(who, new)
    swing = np.linalg.norm(np.asarray(true.dynamic_offsets), axis=-1).max()
    apart = np.linalg.norm(true.vertices - found.vertices, axis=-1).mean()
    real = np.sort(np.abs(poles(made.predictors.history[0])).ravel())
    radius = np.sort(np.abs(poles(predictor_for(trained.model.predictors, 25.0).history)).ravel())
    print(f"noise {noise}: {1e3 * apart:.3f} mm of {1e3 * swing:.1f} mm; poles {radius} for {real}")
    assert swing > 5e-3
    assert apart < 0.5e-3
    if noise == 0:
        np.testing.assert_allclose(radius, real, atol=0.01)


def test_a_known_dyna_is_learned():
    """The same for triangles, with the root pinned alone, as in the paper: the planted deformations
    are no surface's, so that nothing is known of where flesh is to be held."""
    made = small_dyna(TEMPLATE, **ALIKE)
    made = replace(made, dynamic=replace(made.dynamic, deformations=5 * made.dynamic.deformations))
    known = DynaSkinning(TEMPLATE, made, anchored=False)
    trained = DynaTrainer(SETTINGS).fit(recorded(known), made.body, TEMPLATE.skeleton)
    learned = DynaSkinning(TEMPLATE, trained.model, anchored=False)
    new, who = moving(seed=77), person(1.1)
    true, found = known.animate(who, new).vertices, learned.animate(who, new).vertices
    still = known.animate(who, new, {"dynamics": False}).vertices
    swing = np.linalg.norm(true - still, axis=-1)
    apart = np.linalg.norm(true - found, axis=-1)
    print(f"{1e3 * apart.mean():.3f} mm of {1e3 * swing.mean():.2f} mm on average")
    assert swing.mean() > 2e-3
    assert apart.mean() < 0.5e-3


def test_deformations_of_a_blend_shape_are_the_blend_shape():
    """D = dV V̂⁻¹ of an offset d of the template: in the rest pose the surface moves by d, but for
    a shift that leaves head, hands and feet (here: all skin) in the mean."""
    made = small_dyna(TEMPLATE)
    rest = np.asarray(made.body.template_vertices, np.float64)
    offset = 0.01 * np.stack([np.sin(9 * rest[:, 1]), rest[:, 0], np.cos(5 * rest[:, 2])], axis=1)
    frames = [triangle_frames(rest + s * offset, made.body.triangles) for s in (0.0, 1e-4)]
    triangles = DeformedTriangles(made.body)
    D = (frames[1] - frames[0]) / 1e-4 @ triangles.template_inverse
    deformer = DynaSkinning(TEMPLATE, made)
    found = deformer.static.rest_offsets(D[None])[0]
    away = found - offset
    np.testing.assert_allclose(away, np.broadcast_to(away[0], away.shape), atol=1e-8)
    zero = Pose(np.zeros((1, TEMPLATE.skeleton.joint_count, 3)), np.zeros((1, 3)))
    arms = deformer.static.arms(found[None])
    who = Identity(rest, np.asarray(TEMPLATE.skeleton.joints, np.float64), {})
    still = deformer.static.vertices(who, zero)
    moved = deformer.static.vertices(who, zero, D[None], arms) - still
    np.testing.assert_allclose(moved[0], found, atol=1e-6)


def test_equations_are_what_is_shown():
    """Eq. 16 and 17 by hand, skinned by the static model with another rest shape."""
    model = small_dmpl(TEMPLATE)
    deformer, who, motion = DmplSkinning(TEMPLATE, model), person(), moving(30)
    take = deformer.animate(who, motion, {"exaggeration": 2.0})
    deltas = deformer.coefficients(who, motion)
    dynamic = dmpl_equations.dynamic_blend_shapes(
        2.0 * deltas[20], np.asarray(model.mean, float), np.asarray(model.shapes, float)
    )
    rest = dmpl_equations.dynamic_template(who.rest_vertices, np.zeros_like(dynamic), dynamic)
    again = deformer.static.animate(Identity(rest, who.joints, {}), motion).vertices[20]
    np.testing.assert_allclose(take.vertices[20], again, atol=1e-6)
    dyna = small_dyna(TEMPLATE)
    shown = DynaSkinning(TEMPLATE, dyna)
    total = dyna_equations.total_deformation(
        shown.static.shape(who), deltas[20], np.asarray(dyna.dynamic.mean),
        np.asarray(dyna.dynamic.deformations),
    )  # fmt: skip
    mine = shown.static.shape(who) + shown.deformations(deltas[20:21])[0]
    np.testing.assert_allclose(mine, total, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "model"), [(DmplSkinning, small_dmpl), (DynaSkinning, small_dyna)]
)
class TestControls:
    def test_exaggeration_scales_what_is_shown(self, kind, model):
        """Linear in λ: exactly for offsets, and for stitched triangles."""
        deformer, who, motion = kind(TEMPLATE, model(TEMPLATE)), person(), moving(40)
        still = deformer.animate(who, motion, {"dynamics": False}).vertices
        once = deformer.animate(who, motion).vertices - still
        thrice = deformer.animate(who, motion, {"exaggeration": 3.0}).vertices - still
        assert np.abs(once).max() > 1e-6
        np.testing.assert_allclose(thrice, 3 * once, atol=1e-6)
        none = deformer.animate(who, motion, {"exaggeration": 0.0}).vertices
        np.testing.assert_allclose(none, still, atol=1e-7)

    def test_heavier_flesh_swings_further(self, kind, model):
        """The heavier of two training people answers twice as much."""
        deformer, who, motion = kind(TEMPLATE, model(TEMPLATE, seed=2)), person(), moving(60)
        size = [
            np.abs(deformer.coefficients(who, motion, {"bmi": bmi})).mean() for bmi in (20.0, 35.0)
        ]
        assert size[1] > 1.2 * size[0]

    def test_a_stepper_goes_on_when_a_slider_moves(self, kind, model):
        deformer, who, motion = kind(TEMPLATE, model(TEMPLATE)), person(), moving(20)
        first = deformer.stepper()
        state = first.start(who)
        for n in range(1, 15):
            pose = type(motion.poses)(motion.joint_rotations[n], motion.root_translation[n])
            state = first.step(state, pose, 1 / FPS)
        other = deformer.stepper({"exaggeration": 2.0})
        still = deformer.stepper({"dynamics": False}).skin(state)
        swung = first.skin(state) - still
        np.testing.assert_allclose(other.skin(other.resume(state)) - still, 2 * swung, atol=1e-6)


def test_local_weights_leave_what_is_not_painted():
    """DMPL: vertices of factor 1 are unchanged to the bit, those of 3 swing three times as far."""
    model, who, motion = small_dmpl(TEMPLATE), person(), moving(40)
    painted = np.where(np.arange(TEMPLATE.mesh.vertex_count) % 3 == 0, 3.0, 1.0)
    plain = DmplSkinning(TEMPLATE, model)
    take, more = (d.animate(who, motion) for d in (plain, DmplSkinning(TEMPLATE, model, painted)))
    same = painted == 1.0
    np.testing.assert_array_equal(more.vertices[:, same], take.vertices[:, same])
    np.testing.assert_allclose(
        more.dynamic_offsets[:, ~same], 3 * take.dynamic_offsets[:, ~same], rtol=1e-4, atol=1e-9
    )
    with pytest.raises(InputError, match="one finite number a vertex"):
        DmplSkinning(TEMPLATE, model, painted[:-1])


def test_local_weights_of_dyna_stay_where_they_are_painted():
    """Stitching carries deformations everywhere; painted are displacements of the posed skin, which
    is static to rounding where the factor is 0 and moves three times as far where it is 3."""
    model, who, motion = small_dyna(TEMPLATE), person(), moving(40)
    painted = np.array([0.0, 1.0, 3.0])[np.arange(TEMPLATE.mesh.vertex_count) % 3]
    plain, other = DynaSkinning(TEMPLATE, model), DynaSkinning(TEMPLATE, model, painted)
    still = np.asarray(plain.animate(who, motion, {"dynamics": False}).vertices)
    swing = np.asarray(plain.animate(who, motion).vertices) - still
    found = np.asarray(other.animate(who, motion).vertices) - still
    assert np.abs(swing).max() > 1e-3
    np.testing.assert_allclose(found, painted[:, None] * swing, atol=1e-6)


class TestDecomposition:
    def problem(self):
        model = small_dyna(TEMPLATE).body
        from corporeal.models.blendscape.triangles import DeformedTriangles, world_rotations

        triangles = DeformedTriangles(model)
        turns = 0.4 * synthetic.random_motion(TEMPLATE, 1, 5).joint_rotations
        world = world_rotations(turns, TEMPLATE.skeleton.parents)[0]
        R, Q = triangles.blended(world), triangles.pose_deformed(turns[0])
        T = np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=R.shape)
        edges = np.swapaxes(R @ T @ Q @ triangles.template_edges, -1, -2)
        return model, triangles, R, Q, edges

    def test_conjugate_gradients_agree_with_a_direct_solve(self):
        """The whole matrix of nine unknowns a triangle, dense, to 1e-8."""
        model, triangles, R, Q, edges = self.problem()
        smoothness = 1e-4
        solver = Decomposition(model.triangles, triangles.template_edges, smoothness)
        found = solver.solve(R, Q, edges)
        count = len(R)
        pairs = triangle_neighbours(np.asarray(model.triangles))
        assert len(pairs) == 3 * count // 2
        columns = Q @ triangles.template_edges
        rows, targets = [], []
        for t in range(count):
            block = np.zeros((6, 9 * count))
            # vec of R T c, row by row: Σ_bd R_ab c_d T_bd
            block[:, 9 * t : 9 * t + 9] = np.einsum("ab,de->eabd", R[t], columns[t]).reshape(6, 9)
            rows.append(block)
            targets.append(edges[t].ravel())
        for one, other in pairs:
            block = np.zeros((9, 9 * count))
            block[:, 9 * one : 9 * one + 9] = np.sqrt(smoothness) * np.eye(9)
            block[:, 9 * other : 9 * other + 9] = -np.sqrt(smoothness) * np.eye(9)
            rows.append(block)
            targets.append(np.zeros(9))
        A, y = np.concatenate(rows), np.concatenate(targets)
        dense = np.linalg.solve(A.T @ A, A.T @ y).reshape(count, 3, 3)
        np.testing.assert_allclose(found, dense, atol=1e-8)
        template = np.swapaxes(triangles.template_edges, -1, -2)
        energy = [
            dyna_equations.decomposition_energy(T, R, Q, template, edges, pairs, smoothness)
            for T in (found, found + 1e-3)
        ]
        assert energy[0] < energy[1]
        again = solver.solve(R, Q, edges, start=found)
        assert solver.iterations == 0, "a warm start at the answer must not iterate"
        np.testing.assert_array_equal(again, found)

    def test_without_smoothness_it_is_refused(self):
        model, triangles, *_ = self.problem()
        with pytest.raises(InputError, match="expected above 0"):
            Decomposition(model.triangles, triangles.template_edges, 0.0)


class TestFiles:
    def test_dmpl_in_the_public_layout(self, tmp_path):
        """Loaders of others read `eigvec` alone, V × 3 × K; all of it comes back here."""
        model = small_dmpl(TEMPLATE)
        write_dmpl(tmp_path / "a.npz", model)
        with np.load(tmp_path / "a.npz") as file:
            assert file["eigvec"].shape == (TEMPLATE.mesh.vertex_count, 3, 3)
        again = read_dmpl(tmp_path / "a.npz")
        motion = moving(30)
        one, two = (DmplSkinning(TEMPLATE, m).animate(person(), motion) for m in (model, again))
        np.testing.assert_allclose(one.vertices, two.vertices, atol=1e-6)

    def test_public_files_hold_shapes_alone(self, tmp_path):
        vectors = np.random.default_rng(0).normal(size=(TEMPLATE.mesh.vertex_count, 3, 8))
        write_npz(tmp_path / "a.npz", {"eigvec": vectors, "eigval": np.ones(8)})
        found = read_dmpl(tmp_path / "a.npz")
        np.testing.assert_allclose(found.shapes[5], vectors[:, :, 5], rtol=1e-6)
        assert found.predictors is None
        with pytest.raises(InputError, match="nothing that predicts"):
            DmplSkinning(TEMPLATE, found)

    def test_dyna(self, tmp_path):
        model = small_dyna(TEMPLATE)
        write_dyna(tmp_path / "a.npz", model)
        again, motion = read_dyna(tmp_path / "a.npz"), moving(20)
        one, two = (DynaSkinning(TEMPLATE, m).animate(person(), motion) for m in (model, again))
        np.testing.assert_allclose(one.vertices, two.vertices, atol=1e-6)

    @pytest.mark.parametrize("read", [read_dmpl, read_dyna])
    def test_hostile_files(self, read, tmp_path):
        (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 no")
        with pytest.raises(FormatError):
            read(tmp_path / "a.npz")
        write_npz(tmp_path / "b.npz", {"eigvec": np.full((4, 3, 2), np.nan)})
        with pytest.raises(FormatError):
            read(tmp_path / "b.npz")

    def test_a_file_whose_history_explodes(self, tmp_path):
        model = small_dmpl(TEMPLATE)
        write_dmpl(tmp_path / "a.npz", model)
        with np.load(tmp_path / "a.npz") as file:
            arrays = {key: file[key] for key in file.files}
        arrays["predictor_history"] = arrays["predictor_history"] * 2
        write_npz(tmp_path / "b.npz", arrays)
        with pytest.raises(FormatError, match="does not die away"):
            read_dmpl(tmp_path / "b.npz")


class TestRefusals:
    def fit(self, **changes: object) -> None:
        known = DmplSkinning(TEMPLATE, small_dmpl(TEMPLATE))
        held = recorded(known, 2)
        held = replace(held, takes=tuple(replace(take, **changes) for take in held.takes))
        DmplTrainer(SETTINGS).fit(held, known.static)

    def test_another_rate(self):
        with pytest.raises(InputError, match="has 30 frames a second"):
            self.fit(fps=30.0)

    def test_no_twin(self):
        with pytest.raises(InputError, match="--against model"):
            self.fit(twin=None)

    def test_no_poses(self):
        with pytest.raises(InputError, match="has no poses"):
            self.fit(truth=None)

    def test_frames_that_are_missing(self):
        bad = np.full((150, TEMPLATE.mesh.vertex_count, 3), np.nan)
        with pytest.raises(InputError, match="not finite"):
            self.fit(vertices=bad)

    def test_another_topology(self):
        shapes = np.zeros((1, 7, 3), np.float32)
        names = small_predictors(TEMPLATE.skeleton, count=1)
        with pytest.raises(InputError, match="move 7 vertices"):
            DmplSkinning(TEMPLATE, DynamicBlendShapes(shapes, shapes[0], names))

    def test_more_components_than_frames(self):
        known = DmplSkinning(TEMPLATE, small_dmpl(TEMPLATE))
        with pytest.raises(InputError, match="9999 dynamic coefficients"):
            DmplTrainer(replace(SETTINGS, count=9999)).fit(recorded(known, 1), known.static)


class TestBodyMass:
    def test_index_of_a_box(self):
        """A box of 0.2 × 2 × 0.4 m: 160 litres."""
        from itertools import product

        from scipy.spatial import ConvexHull

        from corporeal.units import BODY_DENSITY

        corners = np.array(list(product([0.0, 0.2], [0.0, 2.0], [0.0, 0.4])))
        hull = ConvexHull(corners)
        faces = hull.simplices.copy()
        normals = np.cross(*(corners[faces[:, k]] - corners[faces[:, 0]] for k in (1, 2)))
        faces[np.sum(normals * hull.equations[:, :3], axis=1) < 0] = faces[
            np.sum(normals * hull.equations[:, :3], axis=1) < 0
        ][:, ::-1]
        who = Identity(corners, np.zeros((1, 3)), {})
        assert body_mass_index(who, faces.astype(np.int64)) == pytest.approx(
            BODY_DENSITY * 0.16 / 4
        )

    def test_weight_gain_keeps_height(self):
        """People whose cube root of weight and height are linear in shape: the asked gain."""
        random = np.random.default_rng(0)
        betas = random.normal(size=(400, 5))
        C = np.array([[0.3, 0.05, 0, 0.02, 0], [0.01, 0.06, 0, 0, 0.01]])
        features = np.array([4.2, 1.7]) + betas @ C.T
        maps = fit_weight_maps(betas, features[:, 0] ** 3, features[:, 1], ridge=1e-9)
        start = np.array([0.5, -0.2, 0.3, 0.0, 1.0])
        np.testing.assert_allclose(maps.features(start), [4.2, 1.7] + C @ start, atol=0.02)
        heavier = maps.reshaped(start, 15.0)
        old, new = maps.features(start), maps.features(heavier)
        assert new[0] ** 3 - old[0] ** 3 == pytest.approx(15.0, rel=0.1)
        assert new[1] == pytest.approx(old[1], abs=0.01)
        assert maps.index(heavier) > maps.index(start)
        with pytest.raises(InputError, match="cannot change by"):
            maps.reshaped(start, -200.0)


def test_a_skeleton_without_a_hand_is_all_driving():
    from corporeal.dynamics.control_vector import driving_joints

    skeleton = Skeleton(("root", "left_hand", "left_index1"), (-1, 0, 1), np.zeros((3, 3)))
    assert driving_joints(skeleton) == ("root",)


class TestFillDmpls:
    def test_coefficients_of_a_subset_are_a_projection(self):
        """Orthonormal shapes: the first coefficients; other vectors by least squares."""
        random = np.random.default_rng(0)
        rows, _ = np.linalg.qr(random.normal(size=(60, 5)))
        shapes = rows.T.reshape(5, 20, 3)
        model = DynamicBlendShapes(shapes, np.zeros((20, 3)))
        deltas = random.normal(size=(7, 5))
        found, kept = projected(deltas, model, model, 3)
        np.testing.assert_allclose(found, deltas[:, :3], atol=1e-12)
        assert kept == pytest.approx(np.sum(deltas[:, :3] ** 2) / np.sum(deltas**2))
        other = DynamicBlendShapes(random.normal(size=(2, 20, 3)), np.zeros((20, 3)))
        found, _ = projected(deltas, model, other, 2)
        offsets = np.tensordot(deltas, shapes, axes=1).reshape(7, -1)
        dense, *_ = np.linalg.lstsq(other.shapes.reshape(2, -1).T, offsets.T, rcond=None)
        np.testing.assert_allclose(found, dense.T, atol=1e-10)
        with pytest.raises(InputError, match="9 coefficients were asked for"):
            projected(deltas, model, model, 9)

    def test_a_clip_is_filled(self, tmp_path):
        """All arrays stay, `dmpls` are N × 8, and they move."""
        from corporeal.assets.default_body import load_default_body

        template = load_default_body().template
        predictors = small_predictors(template.skeleton, count=9)
        shapes = np.random.default_rng(0).normal(size=(9, 13380, 3)).astype(np.float32)
        model = DynamicBlendShapes(shapes, np.zeros((13380, 3), np.float32), predictors)
        write_dmpl(tmp_path / "dmpl.npz", model)
        time = np.arange(40) / 120.0
        poses = np.zeros((40, 156))
        poses[:, 3:66] = 0.3 * np.sin(8 * time)[:, None]
        clip = {
            "poses": poses, "trans": np.zeros((40, 3)), "betas": np.zeros(16),
            "gender": np.array("female"), "mocap_framerate": np.array(120.0),
        }  # fmt: skip
        write_npz(tmp_path / "clip.npz", clip)
        code = main(
            ["motion", "fill-dmpls", str(tmp_path / "clip.npz"), "--model",
             str(tmp_path / "dmpl.npz"), "--out", str(tmp_path / "out.npz")]
        )  # fmt: skip
        assert code == 0
        with np.load(tmp_path / "out.npz") as file:
            assert file["dmpls"].shape == (40, 8)
            assert np.abs(file["dmpls"]).max() > 0
            np.testing.assert_array_equal(file["poses"], poses)
            assert str(file["gender"]) == "female"


class TestTransfer:
    def test_dynamics_are_those_of_the_source(self):
        """On its own body a take is itself; on another the same offsets, scaled by exaggeration."""
        deformer = DmplSkinning(TEMPLATE, small_dmpl(TEMPLATE))
        take = deformer.animate(person(1.2), moving(30))
        offsets = np.asarray(take.dynamic_offsets)
        again = transferred(take, offsets, take.template, take.identity)
        np.testing.assert_allclose(again.vertices, take.vertices, atol=1e-6)
        slim = person(0.7)
        other = transferred(take, offsets, take.template, slim, exaggeration=2.0)
        np.testing.assert_allclose(other.dynamic_offsets, 2 * offsets, atol=1e-12)
        still = transferred(take, 0 * offsets, take.template, slim)
        assert np.abs(other.vertices - still.vertices).max() > 1e-5
        with pytest.raises(InputError, match="of one topology"):
            transferred(take, offsets, synthetic.arm_template(rings=9), slim)
