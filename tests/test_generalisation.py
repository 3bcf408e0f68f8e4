"""The protocol of generalisation: zero for the model that made the data, and told apart."""

from dataclasses import replace

import numpy as np
import pytest
import smpl_truth

from corporeal.errors import InputError
from corporeal.evaluation.fitted_smpl import FittedSmpl
from corporeal.evaluation.generalisation import generalisation


def test_the_true_model_generalises_and_a_lesser_one_does_not() -> None:
    """With all coefficients the maker of the data is exact; with two, or without pose blend
    shapes, it is not; and what shape can hide in model generalisation shows in pose."""
    model, meshes, _ = smpl_truth.sampled(250, 2, 6, pose_scale=0.005)
    people = {f"p{i}": meshes.vertices[meshes.of_subject(i)] for i in range(2)}
    true = generalisation(FittedSmpl(model, iterations=40), people, (2, 6))
    assert true.mean_model[1] < 1e-5
    assert true.mean_pose[1] < 1e-5
    assert true.mean_model[0] > 1e-3
    assert np.isnan(true.pose).sum() == 4
    plain = replace(model, pose_offsets=0 * model.pose_offsets)
    worse = generalisation(FittedSmpl(plain), people, (6,))
    assert worse.mean_model[0] > 1e-3
    assert worse.mean_pose[0] > worse.mean_model[0]
    assert worse.by_vertex.shape == (model.vertex_count,)
    again = generalisation(FittedSmpl(plain), people, (6,), pose_alone=True)
    assert np.isnan(again.model).sum() == 4
    np.testing.assert_allclose(again.mean_pose, worse.mean_pose, rtol=1e-6)


def test_people_with_one_registration_are_refused() -> None:
    """Their shape could not be tried elsewhere."""
    model, meshes, _ = smpl_truth.sampled(250, 2, 6)
    with pytest.raises(InputError, match="lonely has a single test registration"):
        generalisation(FittedSmpl(model), {"lonely": meshes.vertices[:1]}, (2,))
