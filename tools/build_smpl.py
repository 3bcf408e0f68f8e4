"""Builds the SMPL models that ship with the package, from trained ones.

    python tools/build_smpl.py --model my_smpl.npz --poses multipose.zarr
    python tools/build_smpl.py --model my_sparse.npz --sparse

What ships now came from `tools/regress_smpl.py --ridge 0.1`, without and with `--sparse`.

Keeps the 64 morph targets that stand best for the pose blend shapes in the poses of a capture
(`reduced_correctives`), or, with `--sparse`, every blend shape where skin weights are above 0.
Offsets become whole steps. With `--test` the distance between the model and what ships is measured
on the poses of another capture. Writes `smpl.npz.xz` or `smpl_sparse.npz.xz` and the manifest that
vouches for it, with the command that made the model, into the package.
"""

import argparse
from pathlib import Path

import numpy as np
from provenance import PACKAGE_DATA, packed_archive, trained_by, write_asset

from corporeal.assets.default_body import WEIGHT_STEPS
from corporeal.assets.learned_smpl import METRES_PER_STEP, model_from_arrays
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import Pose
from corporeal.body.weights import SkinWeights
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.smpl import read_smpl
from corporeal.models.smpl.model import SmplModel
from corporeal.models.smpl.reduction import feature_moments, reduced_correctives

COUNT = 64
"""Morph targets that ship."""
TESTED = 100
"""Poses at most on which the reduction is measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="trained model (.npz)")
    parser.add_argument("--poses", type=Path, help="capture whose poses matter (.zarr)")
    parser.add_argument("--test", type=Path, help="capture to measure the reduction on (.zarr)")
    parser.add_argument("--sparse", action="store_true", help="keep what weights above 0 allow")
    parser.add_argument("--count", type=int, default=COUNT, help="morph targets to keep")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    model = read_smpl(arguments.model)
    moments = None if arguments.poses is None else feature_moments(poses_of(arguments.poses))
    arrays = shared_arrays(model)
    arrays |= (
        local_arrays(model)
        if arguments.sparse
        else corrective_arrays(model, arguments.count, moments)
    )
    off = {} if arguments.test is None else distances(model, arrays, poses_of(arguments.test))
    name = "smpl_sparse" if arguments.sparse else "smpl"
    write_asset(
        arguments.out, name, packed_archive(arrays), title=f"{name}: a trained SMPL, reduced",
        method="smpl", tool="build_smpl.py", source=arguments.model,
        facts={"trained_by": trained_by(arguments.model), "reduction": off},
    )  # fmt: skip


def poses_of(path: Path) -> np.ndarray:
    """Axis-angle vectors of SMPL's joints in every frame of a capture; hands do not turn."""
    rows = []
    for take in RegistrationsStore.open(path).read().takes:
        if take.truth is not None:
            rows.append(np.asarray(take.truth.joint_rotations[0 : take.frame_count]))
    rotations = np.concatenate(rows).astype(np.float64)
    return np.concatenate([rotations[:, :22], np.zeros((len(rotations), 2, 3))], axis=1)


def shared_arrays(model: LinearBodyModel) -> dict[str, np.ndarray]:
    """Mean, shapes, joints and weights."""
    joints, vertices = np.nonzero(model.joint_regressor)
    weights = SkinWeights.from_dense(model.weights.dense(), 4)
    whole = np.floor(weights.values * WEIGHT_STEPS).astype(np.int64)
    whole[:, 0] += WEIGHT_STEPS - whole.sum(axis=1)
    return {
        "mean_vertices": model.mean_vertices.astype(np.float32),
        "shape_steps": steps(model.shape_offsets),
        "regressor_joints": joints.astype(np.uint8),
        "regressor_vertices": vertices.astype(np.uint16),
        "regressor_shares": model.joint_regressor[joints, vertices].astype(np.float32),
        "skin_indices": weights.joint_indices.astype(np.uint8),
        "skin_weights": whole.astype(np.uint16),
    }


def corrective_arrays(
    model: LinearBodyModel, count: int, moments: np.ndarray | None
) -> dict[str, np.ndarray]:
    """The best morph targets."""
    reduced = reduced_correctives(model, count, moments)
    return {
        "corrective_weights": reduced.feature_weights.astype(np.float32),
        "corrective_steps": steps(reduced.offsets),
    }


def local_arrays(model: LinearBodyModel) -> dict[str, np.ndarray]:
    """Blend shapes of every vertex's own four joints, K × 9 × 3 × V."""
    weights = SkinWeights.from_dense(model.weights.dense(), 4)
    by_joint = np.zeros((model.joint_count, 9, model.vertex_count, 3))
    by_joint[1:] = model.pose_offsets.reshape(-1, 9, model.vertex_count, 3)
    every = np.arange(model.vertex_count)
    slots = []
    for slot in range(weights.joint_indices.shape[1]):
        own = by_joint[weights.joint_indices[:, slot], :, every]
        own[weights.values[:, slot] <= 0] = 0
        slots.append(np.moveaxis(own, 0, -1))
    return {"local_steps": whole_steps(np.stack(slots))}


def steps(offsets: np.ndarray) -> np.ndarray:
    """Metres n × V × 3 as whole steps n × 3 × V, which packs best."""
    return whole_steps(np.ascontiguousarray(offsets.transpose(0, 2, 1)))


def whole_steps(offsets: np.ndarray) -> np.ndarray:
    """Metres as whole steps."""
    whole = np.round(offsets / METRES_PER_STEP)
    if np.abs(whole).max(initial=0) > np.iinfo(np.int16).max:
        raise ValueError(f"an offset of {np.abs(offsets).max():.3f} m does not fit 16 bits")
    return whole.astype(np.int16)


def distances(
    model: LinearBodyModel, arrays: dict[str, np.ndarray], poses: np.ndarray
) -> dict[str, float]:
    """How far the average person of what ships is from the model's, millimetres."""
    poses = poses[np.unique(np.linspace(0, len(poses) - 1, TESTED).round().astype(int))]
    pose = Pose(poses.astype(np.float32), np.zeros((len(poses), 3), np.float32))
    exact, kept = SmplModel(model), SmplModel(model_from_arrays(arrays).model())
    off = exact.vertices(exact.prepare(), pose) - kept.vertices(kept.prepare(), pose)
    apart = 1e3 * np.linalg.norm(off, axis=-1)
    return {
        "poses": len(poses),
        "mean_mm": round(float(apart.mean()), 4),
        "p99_mm": round(float(np.percentile(apart, 99)), 4),
        "max_mm": round(float(apart.max()), 4),
    }


if __name__ == "__main__":
    main()
