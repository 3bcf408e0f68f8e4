"""The poses of a whole clip of markers at once, smooth in time.

    min Σ_k Σ_i ρ(‖x_i(θ_k) − m_ki‖²/σ²) + λ Σ_k E_θ(θ_k) + Σ_k Σ_j ‖a_kj‖²/(α_j Δt²)²

with a_kj = log(R_k+1 R_kᵀ) − log(R_k R_k−1ᵀ) the change of joint j's turn from frame to frame, and
likewise of the translation. α, how fast every joint accelerates, begins wide and is then taken from
the clip itself. Gauss–Newton: one symmetric positive definite band matrix over all frames.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import axis_angle_from_matrix
from corporeal.registration.marker_body import POSE_SIZE, MarkerBody, stepped
from corporeal.registration.marker_prior import MarkerPrior
from corporeal.registration.person_model import BODY_JOINTS

ROBUST = 0.06
"""Metres from which on a marker counts as mistaken."""
TURNING = 120.0
"""α at first: rad/s²."""
MOVING = 30.0
"""α of the translation at first, m/s²."""
SLOWEST = (4.0, 1.0)
"""α is never taken below these, rad/s² and m/s²."""
PRIOR = 0.3
"""λ: a pose's prior counts for so much in every frame, since neighbours are alike."""
WINDOW = 400
"""Frames that are solved at once."""
OVERLAP = 40
"""Frames that two windows share."""
_MOST_TURN = 0.5
"""Radians that a step may turn a joint by."""


def frame_equations(
    body: MarkerBody,
    prior: MarkerPrior,
    seen: Float64[NumpyArray, "N m 3"],
    shape: Float64[NumpyArray, "K"],
    poses: RotationPose,
    shapes: int = 0,
    robust: float = ROBUST,
    weight: float = 1.0,
    offsets: bool = False,
) -> tuple[Float64[NumpyArray, "N P P"], Float64[NumpyArray, "N P"]]:
    """Normal equations of every frame alone: markers, and `weight` times the pose's prior.

    Unknowns are the first `shapes` of β, with `offsets` the markers' (in the zero pose), the pose.
    """
    posed = body.posed(shape, poses)
    gap = seen - posed.places
    good = np.asarray(np.isfinite(gap).all(axis=2))
    gap = np.where(good[:, :, None], gap, 0.0)
    count = good / (1.0 + np.sum(gap * gap, axis=2) / robust**2) ** 2 / body.noise**2
    jacobian = body.jacobian(posed, shapes)
    if offsets:
        own = np.zeros((*gap.shape, gap.shape[1], 3))
        each = np.arange(gap.shape[1])
        own[:, each, :, each] = np.swapaxes(posed.blend.blended, 0, 1)
        flat = own.reshape(*gap.shape, -1)
        jacobian = np.concatenate([jacobian[..., :shapes], flat, jacobian[..., shapes:]], axis=-1)
    frames, size = len(seen), jacobian.shape[-1]
    flat = jacobian.reshape(frames, -1, size)
    scaled = np.repeat(count, 3, axis=1)[:, :, None] * flat
    matrix = np.matmul(np.swapaxes(flat, 1, 2), scaled)
    right = np.einsum("nrp,nr->np", scaled, gap.reshape(frames, -1))
    prior.add_to(matrix, right, poses, size - POSE_SIZE, weight)
    return matrix, right


def smooth_poses(
    body: MarkerBody,
    seen: Float64[NumpyArray, "N m 3"],
    shape: Float64[NumpyArray, "K"],
    poses: RotationPose,
    fps: float,
    rounds: tuple[int, ...] = (4, 2, 2, 2),
) -> RotationPose:
    """Poses of all frames together, from poses frame by frame; windows of long clips one by one."""
    names = body.model.template.skeleton.names
    prior = MarkerPrior(names, body.model.space.joints(shape))
    rotations, translation = poses.rotations.copy(), poses.translation.copy()
    starts = range(0, max(len(seen) - OVERLAP, 1), WINDOW - OVERLAP)
    for start in starts:
        part = slice(start, min(start + WINDOW, len(seen)))
        solved = _window(
            body, prior, seen[part], shape,
            RotationPose(rotations[part], translation[part]), fps, rounds,
        )  # fmt: skip
        first = 0 if start == 0 else OVERLAP // 2
        kept = slice(start + first, part.stop)
        rotations[kept], translation[kept] = solved.rotations[first:], solved.translation[first:]
    return RotationPose(rotations, translation)


def _window(
    body: MarkerBody,
    prior: MarkerPrior,
    seen: NumpyArray,
    shape: NumpyArray,
    poses: RotationPose,
    fps: float,
    rounds: tuple[int, ...],
) -> RotationPose:
    step = np.full(POSE_SIZE, TURNING / fps**2)
    step[-3:] = MOVING / fps**2
    for number, count in enumerate(rounds):
        if number and len(seen) >= 8:
            body.learn_noise(seen - body.posed(shape, poses).places)
            least = np.where(np.arange(POSE_SIZE) < POSE_SIZE - 3, *SLOWEST) / fps**2
            step = np.maximum(np.sqrt(np.mean(_changes(poses) ** 2, axis=0)), least)
        for _ in range(count):
            matrix, right = frame_equations(body, prior, seen, shape, poses, weight=PRIOR)
            turn = _solved(matrix, right, _changes(poses), 1.0 / step**2)
            turn[:, :-3] = np.clip(turn[:, :-3], -_MOST_TURN, _MOST_TURN)
            poses = stepped(poses, turn)
    return poses


def _changes(poses: RotationPose) -> Float64[NumpyArray, "n p"]:
    """a of every inner frame: radians and metres a frame²."""
    rotations = poses.rotations[:, :BODY_JOINTS]
    turns = axis_angle_from_matrix(rotations[1:] @ np.swapaxes(rotations[:-1], -1, -2))
    way = np.diff(poses.translation, n=2, axis=0)
    return np.concatenate([np.diff(turns, axis=0).reshape(len(way), -1), way], axis=1)


def _solved(
    matrix: Float64[NumpyArray, "N p p"],
    right: Float64[NumpyArray, "N p"],
    changes: Float64[NumpyArray, "n p"],
    weights: Float64[NumpyArray, "p"],
) -> Float64[NumpyArray, "N p"]:
    """The step of all frames: their own equations, and second differences weighted."""
    from scipy.linalg import solveh_banded

    frames, size = right.shape
    band = np.zeros((2 * size + 1, frames * size))
    right = right.copy()
    for offset in range(size):
        # entries (i + offset, i) of every block
        entries = np.zeros((frames, size))
        entries[:, : size - offset] = np.diagonal(matrix, -offset, axis1=1, axis2=2)
        band[offset] = entries.reshape(-1)
    if len(changes):
        for shift, factor in enumerate((1.0, -2.0, 1.0)):
            right[shift : frames - 2 + shift] -= factor * weights * changes
        diagonal = np.zeros(frames)
        below = np.zeros(frames)
        for shift, factor in enumerate((1.0, -2.0, 1.0)):
            diagonal[shift : frames - 2 + shift] += factor**2
        below[:-2] += -2.0
        below[1:-1] += -2.0
        twice = np.zeros(frames)
        twice[:-2] = 1.0
        band[0] += np.outer(diagonal, weights).reshape(-1)
        band[size] += np.outer(below, weights).reshape(-1)
        band[2 * size] += np.outer(twice, weights).reshape(-1)
    band[0] += 1e-9 * band[0].max()
    return solveh_banded(band, right.reshape(-1), lower=True).reshape(frames, size)
