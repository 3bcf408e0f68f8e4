"""How the peers pose the same body: body-models, smplx and plain NumPy.

Every function here takes the benchmark's `Subject` and gives back a `Contender`: a name, what it
holds, and a function from float32 poses to vertices. Peers get and give their own arrays (no
conversion is charged to them), hold the same template and a prepared identity, and compute no pose
correctives where they allow it.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.template import Template
from corporeal.geometry.rotations import matrix_from_axis_angle


@dataclass(frozen=True)
class Subject:
    """The body that everyone poses."""

    template: Template
    identity: Identity


@dataclass(frozen=True)
class Contender:
    """One way to pose bodies."""

    name: str
    what: str
    vertex_count: int
    bind: Callable[[np.ndarray], Callable[[], Any]]
    """Joint rotations N×J×3 → a call that poses them."""
    to_numpy: Callable[[Any], np.ndarray]
    comparable: bool = True
    """Whether its vertices are those of the subject."""


def plain_numpy(subject: Subject) -> Contender:
    """Dense weights, one matrix product: what a careful NumPy user writes."""
    parents = subject.template.skeleton.parents
    rest = np.asarray(subject.identity.rest_vertices, np.float32)
    joints = np.asarray(subject.identity.joints, np.float32)
    weights = subject.template.weights.dense().astype(np.float32)

    def pose(rotations: np.ndarray) -> np.ndarray:
        local = matrix_from_axis_angle(rotations)
        turn, place = np.empty_like(local), np.empty_like(rotations)
        for j, parent in enumerate(parents):
            if parent < 0:
                turn[:, j], place[:, j] = local[:, j], joints[j]
                continue
            turn[:, j] = turn[:, parent] @ local[:, j]
            place[:, j] = place[:, parent] + turn[:, parent] @ (joints[j] - joints[parent])
        shift = place - np.einsum("njab,jb->nja", turn, joints)
        motions = np.concatenate([turn, shift[..., None]], axis=-1)
        blended = weights @ motions.reshape(len(rotations), len(parents), 12)
        blended = blended.reshape(len(rotations), -1, 3, 4)
        return np.einsum("nvab,vb->nva", blended[..., :3], rest) + blended[..., 3]

    return Contender(
        "plain NumPy", "dense weights", len(rest), lambda r: lambda: pose(r), np.asarray
    )


def smplh_file(subject: Subject, folder: Path) -> Path:
    """The subject in SMPL-H's layout, with no shape space and zero correctives."""
    vertex_count, joint_count = subject.template.mesh.vertex_count, 52
    rest = np.asarray(subject.identity.rest_vertices, np.float64)
    joints = np.asarray(subject.identity.joints, np.float64)
    # any regressor that gives exactly these joints from these vertices: least norm, affine
    frame = np.c_[rest, np.ones(vertex_count)]
    regressor = np.c_[joints, np.ones(joint_count)] @ np.linalg.pinv(frame)
    path = folder / "subject.npz"
    np.savez(
        path,
        v_template=rest,
        f=subject.template.mesh.triangles,
        weights=subject.template.weights.dense(),
        shapedirs=np.zeros((vertex_count, 3, 16)),
        posedirs=np.zeros((vertex_count, 3, 9 * (joint_count - 1)), np.float32),
        J_regressor=regressor,
        kintree_table=np.array([subject.template.skeleton.parents, range(joint_count)]),
    )
    return path


def body_models_poser(subject: Subject, backend: str) -> tuple[Callable[[Any], Any], Callable]:
    """body-models' SMPL-H on the subject: (rotations → vertices, NumPy → its arrays)."""
    if backend == "torch":
        import torch
        from body_models.smplh.torch import SMPLH

        convert = torch.from_numpy
    else:
        import jax.numpy as jnp
        from body_models.smplh.jax import SMPLH

        convert = jnp.asarray
    with tempfile.TemporaryDirectory() as folder:
        model = SMPLH(model_path=smplh_file(subject, Path(folder)), flat_hand_mean=True)
    identity = model.prepare_identity(convert(np.zeros(16, np.float32)))

    def pose(rotations: Any) -> Any:
        prepared = model.prepare_pose(
            rotations[:, 1:22],
            rotations[:, 22:],
            pelvis_rotation=rotations[:, 0],
            identity=identity,
        )
        return model._runtime._skin_vertices(  # as its forward_vertices does, less the correctives
            identity["rest_vertices"],
            prepared["skinning_transforms"],
            skinning=model._assets.compact_skinning,
        )

    return pose, convert


def body_models_compiled(subject: Subject) -> Contender:
    """body-models under torch.compile, same template, prepared identity, no correctives."""
    import torch

    pose, convert = body_models_poser(subject, "torch")
    compiled = torch.compile(pose, dynamic=False)

    def bind(rotations: np.ndarray) -> Callable[[], Any]:
        tensor = convert(rotations)

        def call() -> Any:
            with torch.no_grad():
                return compiled(tensor)

        return call

    vertex_count = subject.template.mesh.vertex_count
    what = "SMPL-H class on the same template, torch.compile, identity prepared, no correctives"
    return Contender("body-models", what, vertex_count, bind, lambda tensor: tensor.numpy())


def body_models_anny(folder: Path) -> Contender:
    """body-models' own ANNY body under torch.compile, as it ships: 13 718 vertices, 163 joints."""
    import torch
    from body_models.anny.torch import ANNY

    model = ANNY(model_path=folder)
    rest = model.get_rest_pose()
    identity = model.prepare_identity(rest["shape"])
    counts = [rest[part].shape[-2] for part in ("body_pose", "head_pose", "hand_pose")]

    def pose(body: Any, head: Any, hand: Any) -> Any:
        return model.forward_vertices(body, head, hand, identity=identity)

    compiled = torch.compile(pose, dynamic=False)

    def bind(rotations: np.ndarray) -> Callable[[], Any]:
        random = np.random.default_rng(0)
        parts = [
            torch.from_numpy(random.normal(0, 0.3, (len(rotations), n, 3)).astype(np.float32))
            for n in counts
        ]

        def call() -> Any:
            with torch.no_grad():
                return compiled(*parts)

        return call

    what = "its ANNY body as shipped, torch.compile, identity prepared"
    return Contender(
        "body-models ANNY", what, model.num_vertices, bind, lambda t: t.numpy(), comparable=False
    )


def smplx_lbs(subject: Subject) -> Contender:
    """smplx's `lbs` on the same template, as its models call it (it always adds correctives)."""
    import torch
    from smplx.lbs import lbs

    with tempfile.TemporaryDirectory() as folder:
        data = dict(np.load(smplh_file(subject, Path(folder))))

    def tensor(name: str) -> Any:
        return torch.from_numpy(data[name].astype(np.float32))

    vertex_count = subject.template.mesh.vertex_count
    template, weights, regressor = tensor("v_template"), tensor("weights"), tensor("J_regressor")
    shapes = tensor("shapedirs")
    correctives = torch.zeros((9 * 51, vertex_count * 3))
    parents = torch.tensor(subject.template.skeleton.parents)

    def bind(rotations: np.ndarray) -> Callable[[], Any]:
        pose = torch.from_numpy(rotations.reshape(len(rotations), -1))
        betas = torch.zeros((len(rotations), 16))

        def call() -> Any:
            with torch.no_grad():
                return lbs(
                    betas, pose, template[None], shapes, correctives, regressor, parents, weights
                )[0]

        return call

    what = "smplx.lbs.lbs on the same template, eager, shape and correctives evaluated as always"
    return Contender("smplx", what, vertex_count, bind, lambda t: t.numpy())
