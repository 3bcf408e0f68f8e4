"""Nouns: what the constructors refuse, and that they are pytrees."""

import numpy as np
import pytest

from corporeal.body.attachment import Attachment
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh, triangles_from_quads
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import unchecked, with_unchecked

TRIANGLE = np.array([[0, 1, 2]])
POINTS = np.eye(3)


def two_joints() -> Skeleton:
    return Skeleton(("root", "tip"), (-1, 0), np.array([[0.0, 0, 0], [0, 1, 0]]))


def test_quads_split_into_two_triangles_each_in_order():
    triangles = triangles_from_quads(np.array([[0, 1, 2, 3], [4, 5, 6, 7]]))
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Mesh(np.full((3, 3), np.nan), TRIANGLE), "9 of 9 values are not finite"),
        (lambda: Mesh(POINTS, TRIANGLE + 1), "indices from 1 to 3; expected 0 to 2"),
        (lambda: Mesh(POINTS, TRIANGLE, quads=np.array([[0, 1, 2, 0]])), "two triangles a quad"),
        (lambda: Mesh(POINTS, TRIANGLE, uv=np.zeros((3, 2))), "only one of uv"),
        (lambda: Mesh(POINTS, TRIANGLE, mirror=np.array([1, 2, 0])), "involution"),
        (lambda: Skeleton(("a", "a"), (-1, 0), np.zeros((2, 3))), "stand twice"),
        (lambda: Skeleton(("a", "b"), (-1, 1), np.zeros((2, 3))), "joint 1 ('b') has parent 1"),
        (lambda: Skeleton(("a", "b"), (-1, -1), np.zeros((2, 3))), "has parent -1"),
        (lambda: Skeleton(("a", "b"), (-1, 0), np.zeros((1, 3))), "2 names, 2 parents and 1"),
        (lambda: two_joints().index("toe"), "no joint 'toe'; it has root, tip"),
        (
            lambda: SkinWeights(np.zeros((1, 2), int), np.array([[0.5, 0.4]]), 2),
            "vertex 0 sum to 0.9",
        ),
        (lambda: SkinWeights(np.zeros((1, 2), int), np.array([[1.5, -0.5]]), 2), "below 0"),
        (lambda: SkinWeights(np.array([[2]]), np.ones((1, 1)), 2), "indices from 2 to 2"),
        (lambda: Pose(np.full((2, 3), np.inf), np.zeros(3)), "not finite"),
        (lambda: Identity(POINTS, np.full((2, 3), np.nan), {}), "identity joints"),
        (
            lambda: Motion("m", 0.0, np.zeros((1, 2, 3)), np.zeros((1, 3)), two_joints()),
            "fps 0.0; expected",
        ),
        (
            lambda: Motion("m", 30.0, np.zeros((0, 2, 3)), np.zeros((0, 3)), two_joints()),
            "no frames",
        ),
        (
            lambda: Motion("m", 30.0, np.zeros((1, 3, 3)), np.zeros((1, 3)), two_joints()),
            "3 joint rotations a frame and its skeleton 2 joints",
        ),
        (
            lambda: Attachment("eye", Mesh(POINTS, TRIANGLE), np.zeros((2, 3)), 0),
            "3 vertices and 2 colours",
        ),
    ],
)
def test_what_shapes_cannot_say_is_refused_in_words(make, words):
    with pytest.raises(InputError) as caught:
        make()
    assert words in str(caught.value)


def template(weights: SkinWeights, labels: np.ndarray) -> Template:
    return Template(Mesh(POINTS, TRIANGLE), two_joints(), weights, ("all",), labels)


def test_a_template_whose_parts_do_not_fit_is_refused():
    weights = SkinWeights(np.zeros((3, 1), int), np.ones((3, 1)), 2)
    assert template(weights, np.zeros(3, int)).part("all").tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="no part 'tail'"):
        template(weights, np.zeros(3, int)).part("tail")
    with pytest.raises(InputError, match="part labels"):
        template(weights, np.zeros(2, int))
    with pytest.raises(InputError, match="weights for 2"):
        template(SkinWeights(np.zeros((2, 1), int), np.ones((2, 1)), 2), np.zeros(3, int))
    with pytest.raises(InputError, match="weights name 5 joints"):
        template(SkinWeights(np.zeros((3, 1), int), np.ones((3, 1)), 5), np.zeros(3, int))


def test_dense_and_sparse_weights_are_one_matrix():
    generator = np.random.default_rng(0)
    matrix = generator.random((20, 6)) * (generator.random((20, 6)) > 0.4)
    matrix[:, 0] += 0.01
    matrix /= matrix.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(SkinWeights.from_dense(matrix).dense(), matrix, atol=1e-15)


def test_cutting_to_four_influences_keeps_the_largest_and_sums_to_one():
    matrix = np.array([[0.30, 0.05, 0.25, 0.10, 0.30]])
    kept = SkinWeights.from_dense(matrix, influences=4)
    assert kept.joint_indices.tolist() == [[0, 4, 2, 3]]
    np.testing.assert_allclose(kept.values, [[0.30, 0.30, 0.25, 0.10]] / np.float64(0.95))


def test_nouns_pass_through_jax():
    """A noun is a pytree: `jit` and `grad` take it and give it back, checks aside."""
    jax = pytest.importorskip("jax")
    pose = Pose(np.ones((2, 3)), np.zeros(3))
    doubled = jax.jit(lambda p: Pose(2 * p.joint_rotations, p.root_translation))(pose)
    np.testing.assert_array_equal(doubled.joint_rotations, 2.0)
    gradient = jax.grad(lambda p: (p.joint_rotations**2).sum())(pose)
    np.testing.assert_array_equal(gradient.joint_rotations, 2.0)
    skeleton = jax.tree.map(lambda x: x + 1, two_joints())
    assert skeleton.names == ("root", "tip")
    np.testing.assert_array_equal(skeleton.joints, [[1.0, 1, 1], [1, 2, 1]])


def test_unchecked_nouns_have_all_fields_and_are_not_looked_at():
    """What the constructor would refuse passes; fields left out have their defaults."""
    wrong = np.full((3, 3), np.nan)
    made = unchecked(Mesh, wrong, TRIANGLE)
    assert made.vertices is wrong
    assert made.mirror is None
    mended = with_unchecked(made, vertices=POINTS)
    assert (mended.vertices is POINTS, mended.triangles is TRIANGLE) == (True, True)
    assert made.vertices is wrong
