"""Joint frames over time → the rotation tracks that animation files store."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.geometry.rotations import quaternion_from_matrix


def local_rotation_tracks(
    world_from_joint: Float64[NumpyArray, "N J 4 4"], parents: tuple[int, ...]
) -> Float64[NumpyArray, "N J 4"]:
    """Parent-relative unit quaternions (wxyz) that take the short way from frame to frame.

    q and −q are one rotation; a jump between them would make engines spin the long way round.
    """
    rotation_vectors = world_from_joint[..., :3, :3]
    local = rotation_vectors.copy()
    local[:, 1:] = rotation_vectors[:, list(parents[1:])].swapaxes(-1, -2) @ rotation_vectors[:, 1:]
    tracks = quaternion_from_matrix(local)
    flips = np.sum(tracks[1:] * tracks[:-1], axis=-1) < 0
    tracks[1:][np.cumsum(flips, axis=0) % 2 == 1] *= -1
    return tracks
