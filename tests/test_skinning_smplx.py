"""Kinematics and linear skinning equal `smplx` on a synthetic file of SMPL's layout (optional)."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.skinning.linear import LinearBlendSkinning

torch = pytest.importorskip("torch", reason="peer test: needs torch and smplx")
smplx = pytest.importorskip("smplx", reason="peer test: needs torch and smplx")

SMPL_PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19, 20, 21)
VERTEX_COUNT = 6890  # smplx picks face and finger vertices by index, so it needs all of SMPL's


def write_synthetic_smpl(path: Path) -> dict[str, np.ndarray]:
    """A random cloud with SMPL's keys, sparse weights and a joint regressor; no correctives."""
    random = np.random.default_rng(24)
    joint_count = len(SMPL_PARENTS)
    weights = np.zeros((VERTEX_COUNT, joint_count))
    for row in weights:
        row[random.choice(joint_count, 4, replace=False)] = random.dirichlet(np.ones(4))
    data = {
        "v_template": random.uniform(-1, 1, (VERTEX_COUNT, 3)),
        "shapedirs": np.zeros((VERTEX_COUNT, 3, 10)),
        "posedirs": np.zeros((VERTEX_COUNT, 3, 9 * (joint_count - 1))),
        "J_regressor": random.dirichlet(np.full(VERTEX_COUNT, 0.01), joint_count),
        "weights": weights,
        "kintree_table": np.array([SMPL_PARENTS, range(joint_count)], dtype=np.int64),
        "f": random.integers(0, VERTEX_COUNT, (100, 3)).astype(np.uint32),
    }
    path.write_bytes(pickle.dumps(data))
    return data


def template_of(data: dict[str, np.ndarray]) -> Template:
    joints = data["J_regressor"] @ data["v_template"]
    names = tuple(f"joint_{j}" for j in range(len(joints)))
    return Template(
        Mesh(data["v_template"], data["f"].astype(np.int32)),
        Skeleton(names, SMPL_PARENTS, joints),
        SkinWeights.from_dense(data["weights"]),
        ("all",),
        np.zeros(VERTEX_COUNT, np.int32),
    )


def test_equals_smplx(tmp_path: Path) -> None:
    """Joints and vertices within 1e−6 m in float64; smplx itself adds 1e−8 to every angle."""
    data = write_synthetic_smpl(tmp_path / "SMPL_NEUTRAL.pkl")
    peer = smplx.SMPL(str(tmp_path / "SMPL_NEUTRAL.pkl"), dtype=torch.float64, batch_size=4)
    random = np.random.default_rng(0)
    rotations, translation = random.normal(size=(4, 24, 3)), random.normal(size=(4, 3))
    rotations[3] = 0
    with torch.no_grad():
        expected = peer(
            global_orient=torch.from_numpy(rotations[:, 0]),
            body_pose=torch.from_numpy(rotations[:, 1:].reshape(4, -1)),
            transl=torch.from_numpy(translation),
        )
    template = template_of(data)
    deformer = LinearBlendSkinning(template)
    identity = Identity(template.mesh.vertices, template.skeleton.joints, {})
    pose = Pose(rotations, translation)
    np.testing.assert_allclose(
        deformer.vertices(identity, pose), expected.vertices.numpy(), rtol=0, atol=1e-6
    )
    joints = deformer.world_from_joint(identity, pose)[..., :3, 3]
    np.testing.assert_allclose(joints, expected.joints[:, :24].numpy(), rtol=0, atol=1e-6)
