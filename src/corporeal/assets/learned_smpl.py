"""SMPL models that ship with the package: trained on captures of the default body, then reduced.

`smpl` has its pose blend shapes as 64 morph targets; `smpl_sparse` has them where skin weights are
above 0 alone, and whole. Offsets are stored as whole steps. See docs/methods/smpl.md and
`tools/build_smpl.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from typing import Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.assets.archive import read_archive
from corporeal.assets.default_body import WEIGHT_STEPS, load_default_body
from corporeal.body.correctives import FEATURES, PoseCorrectives
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights

METRES_PER_STEP = 2e-5
"""Offsets are stored as whole steps of a fiftieth of a millimetre."""

LearnedName = Literal["smpl", "smpl-sparse"]


@dataclass(frozen=True, eq=False)
class LearnedSmpl:
    """A model of 24 joints on the default body's surface; float32."""

    view: Template
    """Surface and joints that it was trained on."""
    mean_vertices: Float[NumpyArray, "V 3"]
    """Metres."""
    shape_offsets: Float[NumpyArray, "S V 3"]
    """Offset of every shape coefficient of one, metres."""
    joint_regressor: Float[NumpyArray, "J V"]
    """Joint centres are these weighted sums of rest vertices."""
    weights: SkinWeights
    """Skin weights, learned with the model."""
    correctives: PoseCorrectives
    """Pose blend shapes."""

    def model(self) -> LinearBodyModel:
        """With one pose blend shape a feature, as files have them."""
        shares = np.asarray(self.correctives.feature_weights, np.float32)
        return LinearBodyModel(
            np.asarray(self.view.mesh.triangles, np.int64),
            self.mean_vertices,
            self.shape_offsets,
            np.tensordot(shares.T, self.correctives.offsets, axes=1),
            self.joint_regressor,
            self.weights,
            self.view.skeleton.names,
            self.view.skeleton.parents,
        )


@cache
def learned_smpl(name: LearnedName = "smpl") -> LearnedSmpl:
    """The model that ships under this name, read once.

    Raises `AssetError` if its file is missing or damaged.
    """
    return read_learned_smpl(name)


def read_learned_smpl(name: LearnedName, folder: Traversable | None = None) -> LearnedSmpl:
    """Read and unpack the asset from `folder` (the package's own, if None)."""
    return model_from_arrays(read_archive(name.replace("-", "_"), folder))


def model_from_arrays(stored: Mapping[str, NumpyArray]) -> LearnedSmpl:
    """Unpack the arrays that `tools/build_smpl.py` wrote."""
    view = load_default_body().smpl_view()
    joints, vertices = view.skeleton.joint_count, view.mesh.vertex_count
    indices = stored["skin_indices"].astype(np.int32)
    weights = (stored["skin_weights"] / WEIGHT_STEPS).astype(np.float32)
    regressor = np.zeros((joints, vertices), np.float32)
    regressor[stored["regressor_joints"], stored["regressor_vertices"]] = stored["regressor_shares"]
    if "corrective_weights" in stored:
        shares, offsets = stored["corrective_weights"], _metres(stored["corrective_steps"])
    else:
        shares = np.eye(FEATURES * (joints - 1), dtype=np.float32)
        offsets = _local_offsets(stored["local_steps"], indices, joints)
    digits = max(2, len(str(len(shares) - 1)))
    names = tuple(f"pose_{b:0{digits}d}" for b in range(len(shares)))
    return LearnedSmpl(
        view,
        stored["mean_vertices"],
        _metres(stored["shape_steps"]),
        regressor,
        SkinWeights(indices, weights, joints),
        PoseCorrectives(view.skeleton.names[1:], names, shares, offsets),
    )


def _metres(steps: NumpyArray) -> Float[NumpyArray, "n V 3"]:
    """Whole steps, component by component (n × 3 × V)."""
    return np.ascontiguousarray(steps.transpose(0, 2, 1)) * np.float32(METRES_PER_STEP)


def _local_offsets(
    steps: NumpyArray, indices: NumpyArray, joints: int
) -> Float[NumpyArray, "P V 3"]:
    """Offsets that only a vertex's own joints cause, from K × 9 × 3 × V whole steps."""
    offsets = np.zeros((joints, FEATURES, indices.shape[0], 3), np.float32)
    every = np.arange(len(indices))
    for slot, some in enumerate(steps):
        # a joint that fills an unused slot a second time brings nothing
        offsets[indices[:, slot], :, every] += np.moveaxis(some, -1, 0) * np.float32(
            METRES_PER_STEP
        )
    return offsets[1:].reshape(-1, len(indices), 3)
