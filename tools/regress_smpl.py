"""An SMPL from a capture whose truth is known: pose blend shapes by ridge regression alone.

    python tools/regress_smpl.py --poses multipose.zarr --out truth_smpl.npz
    python tools/regress_smpl.py --poses multipose.zarr --sparse --out truth_sparse.npz

Poses, joints and skin weights are those that made the capture, so nothing but the pose blend shapes
P and what every person keeps in all poses is left to find: registrations are brought to the zero
pose, and P is the ridge regression of what is left over on the pose features. `corporeal train
smpl` needs none of that truth. Shapes are principal components of the people.
"""

import argparse
from pathlib import Path

import numpy as np

from corporeal.assets.default_body import DefaultBody, load_default_body
from corporeal.assets.smpl_view import BODY_JOINT_COUNT, smpl_joint_shares
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.registrations import Registrations, Take
from corporeal.body.weights import SkinWeights
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.smpl import write_smpl
from corporeal.models.smpl.posing import pose_features
from corporeal.runtime.manifest import finish_run, start_run
from corporeal.skinning.kinematics import forward_kinematics, rest_to_world

ROUNDS = 3
"""Turns between P and what people keep in all poses."""
SHAPES = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--poses", type=Path, required=True, help="capture with truth (.zarr)")
    parser.add_argument("--out", type=Path, required=True, help="model to write (.npz)")
    parser.add_argument("--each", type=int, default=15, help="poses a person")
    parser.add_argument("--ridge", type=float, default=1e-2, help="share of the mean moment")
    parser.add_argument("--sparse", action="store_true", help="only a vertex's own joints")
    arguments = parser.parse_args()
    run = start_run("regress_smpl", vars(arguments))
    body = load_default_body()
    held = RegistrationsStore.open(arguments.poses).read()
    held = held.where(lambda take: take.split != "test" and take.truth is not None)
    offsets, features, people = left_over(held, body, arguments.each)
    weights = SkinWeights.from_dense(body.smpl_view().weights.dense().astype(np.float64), 4)
    support = weights.dense()[:, 1:BODY_JOINT_COUNT] > 0 if arguments.sparse else None
    blends, kept = regressed(offsets, features, people, arguments.ridge, support)
    write_smpl(arguments.out, model_of(held, body, weights, blends, kept))
    finish_run(run, [arguments.out], {"registrations": len(offsets), "people": len(kept)})


def left_over(
    held: Registrations, body: DefaultBody, each: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What linear blend skinning misses, in the zero pose (n × 3V, metres); features; persons."""
    offsets, features, people = [], [], []
    for person, take in enumerate(held.takes):
        chosen = np.unique(np.linspace(0, take.frame_count - 1, each).round().astype(int))
        rotations, unposed = in_zero_pose(take, held, body, chosen)
        offsets.append(unposed.reshape(len(chosen), -1).astype(np.float32))
        features.append(pose_features(rotations[:, :BODY_JOINT_COUNT]).astype(np.float32))
        people += [person] * len(chosen)
    return np.concatenate(offsets), np.concatenate(features), np.array(people)


def in_zero_pose(
    take: Take, held: Registrations, body: DefaultBody, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Joint rotations of the chosen frames, and their skins in the zero pose less the person's."""
    identity, truth = held.subjects[take.subject].identity, take.truth
    assert identity is not None
    assert truth is not None
    count = take.frame_count
    rest, joints = (np.asarray(a, np.float64) for a in (identity.rest_vertices, identity.joints))
    rotations = np.asarray(truth.joint_rotations[0:count], np.float64)[chosen]
    translation = np.asarray(truth.root_translation[0:count], np.float64)[chosen]
    vertices = np.asarray(take.vertices[0:count], np.float32)[chosen].astype(np.float64)
    parents, weights = body.template.skeleton.parents, body.template.weights
    world = forward_kinematics(rotations, joints, parents, translation)
    motions = rest_to_world(world, joints)[..., :3, :]
    found = np.empty_like(vertices)
    for n, posed in enumerate(vertices):
        # T_v = Σ_k w_vk A_k
        blended = np.einsum("vk,vkab->vab", weights.values, motions[n][weights.joint_indices])
        sides = (posed - blended[:, :, 3])[:, :, None]
        found[n] = np.linalg.solve(blended[:, :, :3], sides)[:, :, 0] - rest
    return rotations, found


def regressed(
    offsets: np.ndarray,
    features: np.ndarray,
    people: np.ndarray,
    ridge: float,
    support: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """P (features × V × 3), and what every person keeps in all poses (persons × V × 3), metres."""
    gram = features.T.astype(np.float64) @ features
    gram += ridge * np.trace(gram) / len(gram) * np.eye(len(gram))
    shares = np.eye(people.max() + 1, dtype=np.float32)[people]
    shares /= shares.sum(axis=0)
    kept = np.zeros((shares.shape[1], offsets.shape[1]), np.float32)
    blends = np.zeros((len(gram), offsets.shape[1]), np.float32)
    for _ in range(ROUNDS):
        blends = solved(gram, features, offsets - kept[people], support)
        kept = shares.T @ (offsets - features @ blends)
    return blends.reshape(len(gram), -1, 3), kept.reshape(len(kept), -1, 3)


def solved(
    gram: np.ndarray, features: np.ndarray, targets: np.ndarray, support: np.ndarray | None
) -> np.ndarray:
    """The ridge regression; with `support`, of every vertex on its own joints' features alone."""
    if support is None:
        return np.linalg.solve(gram, features.T).astype(np.float32) @ targets
    blends = np.zeros((len(gram), targets.shape[1] // 3, 3), np.float32)
    sets, which = np.unique(support, axis=0, return_inverse=True)
    targets = targets.reshape(len(targets), -1, 3)
    for number, joints in enumerate(sets):
        columns = np.flatnonzero(np.repeat(joints, 9))
        some = np.flatnonzero(which.reshape(-1) == number)
        part = np.linalg.solve(gram[np.ix_(columns, columns)], features[:, columns].T)
        found = part.astype(np.float32) @ targets[:, some].reshape(len(targets), -1)
        blends[np.ix_(columns, some)] = found.reshape(len(columns), len(some), 3)
    return blends.reshape(len(gram), -1)


def model_of(
    held: Registrations,
    body: DefaultBody,
    weights: SkinWeights,
    blends: np.ndarray,
    kept: np.ndarray,
) -> LinearBodyModel:
    """The model of 24 joints; hands have no blend shapes."""
    view = body.smpl_view()
    regressor = smpl_joint_shares(body.template.skeleton) @ body.joint_regressor.astype(np.float64)
    regressor /= regressor.sum(axis=1, keepdims=True)
    identities = [held.subjects[take.subject].identity for take in held.takes]
    rest_shapes = np.stack(
        [np.asarray(i.rest_vertices, np.float64) for i in identities if i is not None]
    )
    rest_shapes += kept
    roots = np.einsum("v,iva->ia", regressor[0], rest_shapes)
    rest_shapes += (np.asarray(view.skeleton.joints, np.float64)[0] - roots)[:, None]
    mean = rest_shapes.mean(axis=0)
    flat = (rest_shapes - mean).reshape(len(rest_shapes), -1)
    _, sizes, directions = np.linalg.svd(flat, full_matrices=False)
    deviations = sizes[:SHAPES, None] / np.sqrt(len(rest_shapes) - 1)
    pose_offsets = np.zeros((9 * (view.skeleton.joint_count - 1), *mean.shape))
    pose_offsets[: len(blends)] = blends
    return LinearBodyModel(
        np.asarray(view.mesh.triangles, np.int64),
        mean,
        (directions[:SHAPES] * deviations).reshape(-1, *mean.shape),
        pose_offsets,
        regressor,
        weights,
        view.skeleton.names,
        view.skeleton.parents,
    )


if __name__ == "__main__":
    main()
