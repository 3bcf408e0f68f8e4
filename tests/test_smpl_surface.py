"""Turns on fewer vertices, rest skins vertex by vertex, and priors of pose blend shapes."""

from dataclasses import replace

import numpy as np
import pytest
import smpl_truth

from corporeal.body.linear_model import Blending
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.evaluation.known_smpl import known_smpl
from corporeal.models.smpl.training.estimate import distances
from corporeal.models.smpl.training.pose_shapes import solved_pose_shapes
from corporeal.models.smpl.training.pose_training import PoseTraining, stages, train_pose
from corporeal.models.smpl.training.priors import ridge_of
from corporeal.models.smpl.training.subjects import solved_rest_shapes
from corporeal.models.smpl.training.surface import (
    estimate_of_all,
    estimate_of_some,
    some_vertices,
    thinned,
    whole_surface,
)


def mirrored_template(count: int) -> Template:
    """A template whose vertices are swapped in pairs by the mirror."""
    template = known_smpl(count).template
    mirror = np.arange(template.mesh.vertex_count)
    even = template.mesh.vertex_count // 2 * 2
    mirror[:even] = mirror[:even].reshape(-1, 2)[:, ::-1].ravel()
    mesh = Mesh(template.mesh.vertices, template.mesh.triangles, mirror=mirror)
    return replace(template, mesh=mesh)


def test_fewer_vertices_keep_mirrors_and_rings() -> None:
    """Mirror images of kept vertices are kept and told by their new numbers; rings average."""
    template = mirrored_template(2000)
    whole = whole_surface(template)
    fewer = thinned(whole, 4)
    assert fewer.vertex_count < 0.8 * whole.vertex_count
    assert fewer.mirror is not None
    assert whole.mirror is not None
    there = fewer.indices[fewer.mirror]
    np.testing.assert_array_equal(there, whole.mirror[fewer.indices])
    np.testing.assert_allclose(fewer.start.regressor.sum(axis=1), 1, atol=1e-12)
    rest = np.asarray(template.mesh.vertices)
    joints = fewer.start.regressor @ rest[fewer.indices]
    np.testing.assert_allclose(joints, whole.start.regressor @ rest, atol=1e-9)


def test_all_vertices_are_guessed_from_the_kept() -> None:
    """The kept ones come back exactly, the others near; weights sum to one with four joints."""
    model, meshes, truth = smpl_truth.sampled(300, 2, 6, pose_scale=0.005)
    template = smpl_truth.template_of(model)
    fewer = thinned(whole_surface(template), 2)
    again = estimate_of_all(estimate_of_some(truth, fewer), fewer, template)
    kept = fewer.indices
    np.testing.assert_allclose(again.rest_shapes[:, kept], truth.rest_shapes[:, kept], atol=1e-5)
    np.testing.assert_allclose(again.weights.sum(axis=1), 1, atol=1e-12)
    assert ((again.weights > 0).sum(axis=1) <= 4).all()
    assert np.median(np.linalg.norm(again.rest_shapes - truth.rest_shapes, axis=2)) < 0.01
    part = some_vertices(meshes, fewer)
    np.testing.assert_array_equal(part.vertices, meshes.vertices[:, kept])


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_rest_skins_of_known_poses(blending: Blending) -> None:
    """With everything else known they are exact."""
    _, meshes, truth = smpl_truth.sampled(200, 2, 8, blending=blending)
    blank = replace(truth, rest_shapes=np.zeros_like(truth.rest_shapes))
    np.testing.assert_allclose(solved_rest_shapes(meshes, blank), truth.rest_shapes, atol=1e-9)


def test_training_on_fewer_vertices_meets_all() -> None:
    """Turns on half the vertices end as close as turns on all, within a half."""
    model, meshes, _ = smpl_truth.sampled(300, 3, 30, pose_scale=0.005)
    template = smpl_truth.template_of(model)
    every = PoseTraining(joint_rounds=1, shape_rounds=1)
    half = replace(every, turn_vertices=140)
    assert stages(half, model.vertex_count)[-1] == "rest skins"
    assert "all vertices" not in stages(every, model.vertex_count)
    means = [
        distances(meshes, train_pose(meshes, template, settings).estimate).mean()
        for settings in (every, half)
    ]
    assert means[1] < 1.5 * means[0]


def test_priors_do_what_they_say() -> None:
    """Locality shrinks what is far, the lasso leaves fewer, smoothness brings neighbours closer."""
    model, meshes, truth = smpl_truth.sampled(200, 3, 30, pose_scale=0.005)
    edges = whole_surface(smpl_truth.template_of(model)).start.edges

    def solved(**given: float) -> np.ndarray:
        now = replace(truth, pose_offsets=solved_pose_shapes(meshes, truth, ridge_of(
            truth, edges, strength=0.3)))  # fmt: skip
        return solved_pose_shapes(meshes, now, ridge_of(now, edges, strength=0.3, **given))

    plain = solved()
    apart = np.linalg.norm(
        truth.rest_shapes.mean(axis=0)[None] - truth.joints.mean(axis=0)[1:, None], axis=2
    )
    far = np.repeat(apart > 0.3, 9, axis=0)
    local = solved(locality=30.0)
    assert np.square(local[far]).mean() < 0.5 * np.square(plain[far]).mean()
    blocks = [
        np.sqrt(np.square(p.reshape(23, 9, -1, 3)).sum(axis=(1, 3)))
        for p in (plain, solved(lasso=0.01))
    ]
    assert (blocks[1] > 1e-3).sum() < 0.8 * (blocks[0] > 1e-3).sum()
    rough = [
        np.mean(np.square(edges @ np.moveaxis(p, 1, 0).reshape(p.shape[1], -1)))
        for p in (plain, solved(smoothness=30.0))
    ]
    assert rough[1] < rough[0]
