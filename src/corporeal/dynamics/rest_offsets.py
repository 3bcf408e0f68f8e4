"""What a captured skin does beyond a static one, in the rest pose: what DMPL and networks learn."""

from typing import Any

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.runtime.arrays import namespace_of
from corporeal.skinning.geometric import MotionRows

_LEAST_DETERMINANT = 1e-3
"""Of a blended matrix that is still undone; below it a posed point does not say its offset."""


def carried_back(
    rows: MotionRows, gaps: Float[NumpyArray, "n V 3"]
) -> Float32[NumpyArray, "n V 3"]:
    """M⁻¹ gap of every vertex, from the rows of its blended motion; 0 where M is flattened."""
    (a, b, c, _), (d, e, f, _), (g, h, i, _) = rows
    xp = namespace_of(a)
    x, y, z = gaps[..., 0], gaps[..., 1], gaps[..., 2]
    ei, ch, bf = e * i - f * h, c * h - b * i, b * f - c * e
    determinant = a * ei + d * ch + g * bf
    flat = xp.abs(determinant) < _LEAST_DETERMINANT
    scale = xp.where(flat, 0.0, 1.0 / xp.where(flat, 1.0, determinant))
    found = xp.stack(
        [
            scale * (ei * x + ch * y + bf * z),
            scale * ((f * g - d * i) * x + (a * i - c * g) * y + (c * d - a * f) * z),
            scale * ((d * h - e * g) * x + (b * g - a * h) * y + (a * e - b * d) * z),
        ],
        axis=-1,
    )
    return found.astype(np.float32)


def beyond_static(
    static: CorrectedSkinning,
    identity: Identity,
    pose: Pose,
    rows: MotionRows,
    seen: Float[NumpyArray, "n V 3"],
) -> Float32[NumpyArray, "n V 3"]:
    """M⁻¹ (x − M (r + P(θ)) − m): what posed skins do beyond the model's correctives, metres."""
    rest = np.asarray(identity.rest_vertices, np.float32)
    rest = rest + np.asarray(static.pose_offsets(pose), np.float32)
    shift = np.stack([row[3] for row in rows], axis=-1)
    moved = np.stack([sum(row[c] * rest[..., c] for c in range(3)) for row in rows], axis=-1)
    return carried_back(rows, seen - shift - moved)


def frames_of(rows: Any, frames: NumpyArray) -> Float32[NumpyArray, "n ..."]:
    """Some rows of what lies on the disk; read in one piece."""
    first, last = int(frames[0]), int(frames[-1]) + 1
    return np.asarray(rows[first:last], np.float32)[frames - first]
