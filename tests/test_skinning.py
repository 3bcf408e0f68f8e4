"""Linear and dual-quaternion skinning against references written straight from the papers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from scipy.spatial.transform import Rotation
from test_kinematics import reference_frames

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.pipelines.deformers import make_deformer
from corporeal.skinning.blocks import LANES, pack_blocks, pack_consecutive_blocks
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.geometric import move_points
from corporeal.skinning.linear import LinearBlendSkinning

TEMPLATE = synthetic.arm_template()
IDENTITY = synthetic.identity_of(TEMPLATE)
MOTION = synthetic.random_motion(TEMPLATE, frames=9, seed=5)
SKINNINGS = (LinearBlendSkinning, DualQuaternionSkinning)


def joint_motions(rotations, translation) -> np.ndarray:
    """A_j = G_j G_j(rest)⁻¹ from the independent recursion."""
    joints, parents = TEMPLATE.skeleton.joints, TEMPLATE.skeleton.parents
    posed = reference_frames(rotations, joints, parents, translation)
    rest = reference_frames(np.zeros_like(rotations), joints, parents, np.zeros(3))
    return posed @ np.linalg.inv(rest)


def linear_reference(template: Template, motions: np.ndarray) -> np.ndarray:
    """Σ_j w_vj A_j x_v with dense weights, one vertex at a time."""
    weights = template.weights.dense()
    homogeneous = np.c_[template.mesh.vertices, np.ones(template.mesh.vertex_count)]
    return np.array(
        [(np.tensordot(w, motions, 1) @ x)[:3] for w, x in zip(weights, homogeneous, strict=True)]
    )


def hamilton(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Quaternion product (wxyz) from scalar and vector parts."""
    return np.r_[p[0] * q[0] - p[1:] @ q[1:], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])]


def dual_quaternion_reference(template: Template, motions: np.ndarray) -> np.ndarray:
    """Kavan et al. 2008, algorithm 1, with the antipodality rule of section 4.1, in float64."""
    real, dual = [], []
    for motion in motions:
        q = Rotation.from_matrix(motion[:3, :3]).as_quat(scalar_first=True)
        real.append(q)
        dual.append(0.5 * hamilton(np.r_[0, motion[:3, 3]], q))
    posed = []
    for x, weights in zip(template.mesh.vertices, template.weights.dense(), strict=True):
        pivot = real[int(np.argmax(weights))]
        b0, be = np.zeros(4), np.zeros(4)
        for w, q0, qe in zip(weights, real, dual, strict=True):
            sign = 1 if q0 @ pivot >= 0 else -1
            b0, be = b0 + sign * w * q0, be + sign * w * qe
        c0, ce = b0 / np.linalg.norm(b0), be / np.linalg.norm(b0)
        a0, d0, ae, de = c0[0], c0[1:], ce[0], ce[1:]
        turned = x + 2 * np.cross(d0, np.cross(d0, x) + a0 * x)
        posed.append(turned + 2 * (a0 * de - ae * d0 + np.cross(d0, de)))
    return np.array(posed)


REFERENCES = {"lbs": linear_reference, "dqs": dual_quaternion_reference}


@pytest.mark.parametrize("skinning", SKINNINGS)
@pytest.mark.parametrize("influences", [1, 2, 4, 5])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 5e-6)])
def test_equals_the_reference(skinning, influences: int, dtype, tolerance: float) -> None:
    """Compiled and array-API paths equal the reference; the tolerance is rounding × 5 metres."""
    template = synthetic.arm_template(influences=influences)
    identity = synthetic.identity_of(template)
    poses = Pose(MOTION.joint_rotations.astype(dtype), MOTION.root_translation.astype(dtype))
    deformer = skinning(template)
    expected = [
        REFERENCES[deformer.name](template, joint_motions(r, t))
        for r, t in zip(MOTION.joint_rotations, MOTION.root_translation, strict=True)
    ]
    compiled = deformer.vertices(identity, poses)
    equations = move_points(
        deformer.vertex_motions(identity, poses), identity.rest_vertices.astype(dtype)
    )
    assert compiled.dtype == equations.dtype == dtype
    np.testing.assert_allclose(compiled, expected, atol=tolerance)
    np.testing.assert_allclose(equations, expected, atol=tolerance)


@pytest.mark.parametrize("skinning", SKINNINGS)
def test_jax_equals_numpy(skinning) -> None:
    """The same call on JAX arrays, and with identity or pose left in NumPy."""
    deformer = skinning(TEMPLATE)
    expected = deformer.vertices(IDENTITY, MOTION.poses)
    with jax.enable_x64(True):
        poses = jax.tree.map(jnp.asarray, MOTION.poses)
        identity = jax.tree.map(jnp.asarray, IDENTITY)
        for result in (
            jax.jit(lambda pose: deformer.vertices(IDENTITY, pose))(poses),
            jax.jit(lambda body: deformer.vertices(body, MOTION.poses))(identity),
            jax.jit(deformer.vertices)(identity, poses),
        ):
            assert isinstance(result, jax.Array)
            np.testing.assert_allclose(result, expected, atol=1e-13)
        one = jax.tree.map(lambda array: array[:1], poses)
        result = jax.jit(lambda pose: deformer.vertices(IDENTITY, pose))(one)
        np.testing.assert_allclose(result, expected[:1], atol=1e-13)


@pytest.mark.parametrize("skinning", SKINNINGS)
def test_gradient_equals_finite_differences(skinning) -> None:
    """d(skin)/d(pose, rest vertices, joints), at the zero pose and away from it."""
    deformer = skinning(TEMPLATE)
    random = np.random.default_rng(0)
    probe = random.normal(size=IDENTITY.rest_vertices.shape)
    direction = [random.normal(size=shape) for shape in ((5, 3), (3,), probe.shape, (5, 3))]

    def score(rotations, translation, rest, joints):
        posed = deformer.vertices(Identity(rest, joints, {}), Pose(rotations, translation))
        return (probe * posed).sum()

    for rotations in (np.zeros((5, 3)), MOTION.joint_rotations[0]):
        at = [rotations, np.zeros(3), IDENTITY.rest_vertices, IDENTITY.joints]
        with jax.enable_x64(True):
            gradients = jax.jit(jax.grad(score, argnums=(0, 1, 2, 3)))(*map(jnp.asarray, at))
        slope = sum((np.asarray(g) * d).sum() for g, d in zip(gradients, direction, strict=True))
        h = 1e-6
        ahead = score(*(x + h * d for x, d in zip(at, direction, strict=True)))
        behind = score(*(x - h * d for x, d in zip(at, direction, strict=True)))
        np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-7)


@pytest.mark.parametrize("skinning", SKINNINGS)
def test_batches_broadcast(skinning) -> None:
    """Two identities against three poses; each pair equals its own call."""
    deformer = skinning(TEMPLATE)
    scale = np.array([1.0, 1.3])[:, None, None, None]
    identities = Identity(scale * IDENTITY.rest_vertices, scale * IDENTITY.joints, {})
    poses = Pose(MOTION.joint_rotations[:3], MOTION.root_translation[:3])
    together = deformer.vertices(identities, poses)
    assert together.shape == (2, 3, TEMPLATE.mesh.vertex_count, 3)
    other = Identity(1.3 * IDENTITY.rest_vertices, 1.3 * IDENTITY.joints, {})
    np.testing.assert_array_equal(together[1], deformer.vertices(other, poses))
    one = deformer.vertices(other, Pose(poses.joint_rotations[2], poses.root_translation[2]))
    np.testing.assert_array_equal(together[1, 2], one)


def test_dual_quaternions_keep_the_volume_of_a_twist() -> None:
    """A tube twisted by 180°: halfway, linear skinning collapses to the axis, quaternions do not.

    At weights ½ : ½ the linear blend is (I + R_x(π))/2 = diag(1, 0, 0); the dual quaternion
    is the quarter turn R_x(π/2), which keeps the distance to the axis.
    """
    half = np.tile([[0.5, 0.5, 0, 0, 0]], (TEMPLATE.mesh.vertex_count, 1))
    template = synthetic.with_weights(TEMPLATE, SkinWeights.from_dense(half))
    rotations = np.zeros((5, 3))
    rotations[1, 0] = np.pi
    pose = Pose(rotations, np.zeros(3))
    linear = LinearBlendSkinning(template).vertices(IDENTITY, pose)
    dual = DualQuaternionSkinning(template).vertices(IDENTITY, pose)
    np.testing.assert_allclose(linear[:, 1:], 0, atol=1e-15)
    x, y, z = IDENTITY.rest_vertices.T
    np.testing.assert_allclose(dual, np.stack([x, -z, y], axis=-1), atol=1e-15)


def test_full_turns_do_not_flip_dual_quaternions() -> None:
    """q and −q are one motion: turning a joint by 2π more changes nothing."""
    deformer = DualQuaternionSkinning(TEMPLATE)
    rotations = MOTION.joint_rotations[0].copy()
    before = deformer.vertices(IDENTITY, Pose(rotations, np.zeros(3)))
    angle = np.linalg.norm(rotations[3])
    rotations[3] *= (angle + 2 * np.pi) / angle
    after = deformer.vertices(IDENTITY, Pose(rotations, np.zeros(3)))
    np.testing.assert_allclose(after, before, atol=1e-13)


@pytest.mark.parametrize("skinning", SKINNINGS)
def test_weights_in_any_order(skinning) -> None:
    """The most influential joint is found wherever it stands in the row."""
    weights = TEMPLATE.weights
    turned = SkinWeights(
        np.ascontiguousarray(weights.joint_indices[:, ::-1]),
        np.ascontiguousarray(weights.values[:, ::-1]),
        weights.joint_count,
    )
    deformer = skinning(synthetic.with_weights(TEMPLATE, turned))
    expected = skinning(TEMPLATE).vertices(IDENTITY, MOTION.poses)
    np.testing.assert_allclose(deformer.vertices(IDENTITY, MOTION.poses), expected, atol=1e-13)
    motions = deformer.vertex_motions(IDENTITY, MOTION.poses)
    np.testing.assert_allclose(move_points(motions, IDENTITY.rest_vertices), expected, atol=1e-13)


@pytest.mark.parametrize("skinning", SKINNINGS)
def test_prepares_an_identity_once(skinning) -> None:
    deformer = skinning(TEMPLATE)
    assert deformer.prepare(IDENTITY) is deformer.prepare(IDENTITY)
    assert deformer.prepare(IDENTITY) is not deformer.prepare(IDENTITY, np.float64)


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slices of a batch give bitwise what one thread gives."""
    deformer = LinearBlendSkinning(TEMPLATE)
    motion = synthetic.random_motion(TEMPLATE, frames=50)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    alone = deformer.vertices(IDENTITY, motion.poses)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    np.testing.assert_array_equal(deformer.vertices(IDENTITY, motion.poses), alone)


def test_writes_to_out() -> None:
    deformer = make_deformer("lbs", TEMPLATE)
    assert isinstance(deformer, LinearBlendSkinning)
    out = np.empty((9, TEMPLATE.mesh.vertex_count, 3))
    assert deformer.vertices(IDENTITY, MOTION.poses, out=out) is out
    np.testing.assert_array_equal(out, deformer.vertices(IDENTITY, MOTION.poses))
    locked = out.copy()
    locked.flags.writeable = False
    for wrong in (out[:8], out.astype(np.float32), out[:, ::-1], locked):
        with pytest.raises(InputError, match="expected a contiguous float64"):
            deformer.vertices(IDENTITY, MOTION.poses, out=wrong)
    with pytest.raises(InputError, match="NumPy poses alone"):
        deformer.vertices(IDENTITY, jax.tree.map(jnp.asarray, MOTION.poses), out=out)


def test_blocks_hold_every_influence_once() -> None:
    """Every vertex is in some lane, and its weights by joint are the template's."""
    blocks = pack_blocks(TEMPLATE.weights, np.float64)
    dense = np.zeros((TEMPLATE.mesh.vertex_count, 5))
    for b, vertices in enumerate(blocks.vertices):
        assert len(vertices) == LANES
        rows = slice(blocks.starts[b], blocks.starts[b + 1])
        assert len(set(blocks.joints[rows])) == len(blocks.joints[rows])
        for lane, vertex in enumerate(vertices):
            row = np.zeros(5)
            row[blocks.joints[rows]] = blocks.weights[rows, lane]
            dense[vertex] = row
            assert row.argmax() == blocks.joints[rows][0]
    np.testing.assert_array_equal(dense, TEMPLATE.weights.dense())


def test_consecutive_blocks_hold_every_influence_once() -> None:
    """Lanes follow one another, weights by joint are the template's, and a mesh whose neighbours
    follow other joints is grouped as ever."""
    template = load_default_body().template
    blocks = pack_consecutive_blocks(template.weights, np.float64)
    assert (np.diff(blocks.vertices, axis=1) == 1).all()
    dense = np.zeros((template.mesh.vertex_count, template.skeleton.joint_count))
    for b, vertices in enumerate(blocks.vertices):
        rows = slice(blocks.starts[b], blocks.starts[b + 1])
        dense[vertices] = 0.0
        dense[vertices[:, None], blocks.joints[rows]] = blocks.weights[rows].T
    np.testing.assert_array_equal(dense, template.weights.dense())
    order = np.random.default_rng(0).permutation(template.mesh.vertex_count)
    shuffled = SkinWeights(
        template.weights.joint_indices[order],
        template.weights.values[order],
        template.skeleton.joint_count,
    )
    expected, packed = (
        pack_blocks(shuffled, np.float64),
        pack_consecutive_blocks(shuffled, np.float64),
    )
    np.testing.assert_array_equal(packed.vertices, expected.vertices)
    np.testing.assert_array_equal(packed.weights, expected.weights)


@pytest.mark.parametrize("count", [1, 15, 17])
def test_few_vertices_fill_blocks(count: int) -> None:
    """Fewer vertices than lanes, and a last block that overlaps the one before."""
    weights = SkinWeights(np.zeros((count, 1), np.int64), np.ones((count, 1)), 1)
    blocks = pack_consecutive_blocks(weights, np.float32)
    assert set(blocks.vertices.reshape(-1)) == set(range(count))
    np.testing.assert_array_equal(blocks.weights, 1.0)


def test_unknown_deformer_is_refused() -> None:
    with pytest.raises(InputError, match="no deformer 'jelly'; expected one of lbs, dqs"):
        make_deformer("jelly", TEMPLATE)


def test_kinds_do_not_mix() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is an optional extra")
    deformer = LinearBlendSkinning(TEMPLATE)
    pose = Pose(torch.zeros((5, 3)), jnp.zeros(3))
    with pytest.raises(InputError, match="expected one kind"):
        deformer.vertices(IDENTITY, pose)


@pytest.mark.parametrize("skinning", SKINNINGS)
def test_torch_equals_numpy(skinning) -> None:
    """The same call on PyTorch tensors, with gradients finite at the zero pose."""
    torch = pytest.importorskip("torch", reason="PyTorch is an optional extra")
    deformer = skinning(TEMPLATE)
    poses = Pose(
        torch.from_numpy(MOTION.joint_rotations), torch.from_numpy(MOTION.root_translation)
    )
    result = deformer.vertices(IDENTITY, poses)
    np.testing.assert_allclose(
        result.numpy(), deformer.vertices(IDENTITY, MOTION.poses), atol=1e-13
    )
    rotations = torch.zeros((5, 3), dtype=torch.float64, requires_grad=True)
    deformer.vertices(IDENTITY, Pose(rotations, torch.zeros(3))).sum().backward()
    assert torch.isfinite(rotations.grad).all()
