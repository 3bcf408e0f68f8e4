"""One body and its motion from labelled markers (Loper et al. 2014, MoSh; Loper 2015, section 7).

Over some frames k of the clip, one shape β, the markers' offsets o and a pose a frame minimise

    Σ_k Σ_i ρ(‖x_i(β, o, θ_k) − m_ki‖²/σ²) + Σ_i ‖o_i − ô_i‖²/s² + ‖β‖² + Σ_k E_θ(θ_k)

with ô a marker's radius along the normal (`marker_body`); then every frame's pose follows from the
last one's, and all poses of the clip are solved together, smooth in time (`marker_clip`), soft
tissue and mislabelled markers forgiven by ρ (Geman and McClure 1985). A marker that is missing has
no term; a frame that has too few keeps to the poses around it.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose, RotationPose
from corporeal.errors import InputError
from corporeal.geometry.alignment import best_rotation
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.registration.marker_body import MarkerBody, stepped
from corporeal.registration.marker_clip import (
    frame_equations,
    smooth_poses,
)
from corporeal.registration.marker_prior import MarkerPrior
from corporeal.registration.marker_sets import marker_vertices
from corporeal.registration.model_stage import limited, solved_damped
from corporeal.registration.person_model import PersonModel, person_model
from corporeal.registration.starts import kinds_of_pose

SHAPES = 20
"""Components of shape that markers tell."""
SHAPE_FRAMES = 24
"""Frames of the clip from which the body is found."""
OFFSET = 6e-3
"""s: how far a marker is likely to sit from where its label says, metres."""
LIKELY = 0.25
"""Weight of a pose's prior in each of those frames: markers that sit off by a little would turn all
poses alike, and the prior of one pose must not be counted for every frame."""
LEAST_MARKERS = 10
"""Fewer known labels tell no body."""
LEAST_SEEN = 6
"""A frame with fewer markers tells no pose of its own."""
_STEADY = 0.1
"""Radians and decimetres by which a pose is likely to differ from the last one's going on."""


@dataclass(frozen=True, eq=False)
class MarkerFit:
    """A body and its motion."""

    identity: Identity
    """The body in the zero pose, on the ground, metres."""
    poses: Pose
    """One a frame, radians and metres."""
    shape: Float64[NumpyArray, "K"]
    """β, standard deviations."""
    labels: tuple[str, ...]
    """Markers that were used."""
    offsets: Float64[NumpyArray, "m 3"]
    """o: from their vertices in the zero pose, metres."""
    residuals: Float64[NumpyArray, "N"]
    """Root mean square of the seen markers' distances, metres."""
    rotation: Float64[NumpyArray, "3 3"]
    """From the file's axes to y up."""


def fit_markers(
    labels: tuple[str, ...],
    places: Float64[NumpyArray, "N M 3"],
    table: dict[str, int] | None = None,
    model: PersonModel | None = None,
    fps: float = 60.0,
) -> MarkerFit:
    """The body and the motion of a clip; `places` in metres, not a number in gaps.

    `table` gives vertices by label; labels of Plug-in Gait and Helen Hayes are known.
    """
    model = person_model() if model is None else model
    space = model.space
    if table is None:
        table = marker_vertices(
            labels, model.template.skeleton, space.mean_vertices, space.mean_joints
        )
    used = [i for i, label in enumerate(labels) if label in table]
    if len(used) < LEAST_MARKERS:
        raise InputError(
            f"{len(used)} of {len(labels)} markers have labels that are known "
            f"({', '.join(labels[i] for i in used) or 'none'}); expected at least {LEAST_MARKERS}. "
            f"Give --markers a JSON table, label: vertex."
        )
    seen = places[:, used]
    if not np.isfinite(seen).any():
        raise InputError("no marker is seen in any frame.")
    body = MarkerBody(model, np.array([table[labels[i]] for i in used]))
    rotation = _upright(body, seen)
    seen = seen @ rotation.T
    shape = _person(body, seen)
    poses = smooth_poses(body, seen, shape, _followed(body, seen, shape), fps)
    rest, joints = space.vertices(shape), space.joints(shape)
    ground = np.array([0.0, rest[:, 1].min(), 0.0])
    return MarkerFit(
        Identity(rest - ground, joints - ground, {}),
        Pose(axis_angle_from_matrix(poses.rotations), poses.translation + ground),
        shape,
        tuple(labels[i] for i in used),
        body.offsets,
        _residuals(body, seen, shape, poses),
        rotation,
    )


def _upright(body: MarkerBody, seen: NumpyArray) -> Float64[NumpyArray, "3 3"]:
    """The rotation of the file's axes that takes the body's up to y."""
    rest = body.model.space.mean_vertices
    ups = []
    for frame in seen[np.linspace(0, len(seen) - 1, min(12, len(seen))).astype(int)]:
        good = np.isfinite(frame).all(axis=1)
        if good.sum() >= LEAST_SEEN:
            a, b = rest[good] - rest[good].mean(axis=0), frame[good] - frame[good].mean(axis=0)
            ups.append(best_rotation(a, b)[:, 1])
    if not ups:
        raise InputError(
            f"no frame shows {LEAST_SEEN} known markers at once; expected most of them in most "
            "frames."
        )
    mean = np.mean(ups, axis=0)
    axis = int(np.argmax(np.abs(mean)))
    up = np.sign(mean[axis]) * np.eye(3)[axis]
    if axis == 1 and up[1] > 0:
        return np.eye(3)
    aside = np.eye(3)[0] if axis != 0 else np.eye(3)[2]
    return np.stack([aside, up, np.cross(aside, up)])


def _telling_frames(seen: NumpyArray) -> Int[NumpyArray, "k"]:
    """Frames spread over the clip, those of each stretch in which most markers are seen."""
    count = np.isfinite(seen).all(axis=2).sum(axis=1)
    stretches = np.array_split(np.arange(len(seen)), min(SHAPE_FRAMES, len(seen)))
    best = np.array([stretch[np.argmax(count[stretch])] for stretch in stretches])
    return best[count[best] >= LEAST_SEEN]


def _prior(body: MarkerBody, shape: NumpyArray) -> MarkerPrior:
    return MarkerPrior(body.model.template.skeleton.names, body.model.space.joints(shape))


def _first(body: MarkerBody, frame: NumpyArray, shape: NumpyArray) -> RotationPose:
    """The kind of pose and the place that lie nearest to one frame, then a few steps."""
    good = np.isfinite(frame).all(axis=1)
    kinds = np.stack([matrix_from_axis_angle(v) for v in kinds_of_pose(body.model).values()])
    poses = RotationPose(kinds, np.zeros((len(kinds), 3)))
    target = frame[good].mean(axis=0)
    best, found = np.inf, poses[:1]
    for index, mine in enumerate(body.posed(shape, poses).places[:, good]):
        middle = mine.mean(axis=0)
        turn = best_rotation(mine - middle, frame[good] - target)
        left = float(np.sum((frame[good] - target - (mine - middle) @ turn.T) ** 2))
        if left < best:
            rotations = kinds[index].copy()
            rotations[0] = turn @ rotations[0]
            # the root turns about its own rest place, the origin
            placed = target - turn @ middle
            best, found = left, RotationPose(rotations[None], placed[None])
    rotations = np.concatenate([found.rotations[:, :22], body.relaxed[None, 22:]], axis=1)
    found = RotationPose(rotations, found.translation)
    prior = _prior(body, shape)
    for robust in (0.3, 0.3, 0.15, 0.15, 0.1, 0.1):
        matrix, right = frame_equations(body, prior, frame[None], shape, found, robust=robust)
        found = stepped(found, limited(solved_damped(matrix[0], right[0]), 0)[None])
    return found


def _person(body: MarkerBody, seen: NumpyArray) -> Float64[NumpyArray, "K"]:
    """One shape, and the markers' offsets, from telling frames."""
    frames = seen[_telling_frames(seen)]
    shape = np.zeros(body.model.space.count)
    firsts = [_first(body, frame, shape) for frame in frames]
    poses = RotationPose(
        np.concatenate([pose.rotations for pose in firsts]),
        np.concatenate([pose.translation for pose in firsts]),
    )
    for round_ in range(14):
        shapes = SHAPES if round_ >= 2 else 4
        poses, shape = _shared_step(body, frames, shape, poses, shapes)
        if round_ in (6, 9):
            body.learn_noise(frames - body.posed(shape, poses).places)
    return shape


def _shared_step(
    body: MarkerBody, frames: NumpyArray, shape: NumpyArray, poses: RotationPose, shapes: int
) -> tuple[RotationPose, Float64[NumpyArray, "K"]]:
    """β and the offsets from the sum of Schur complements, then every frame's pose."""
    rows, pulls = frame_equations(
        body, _prior(body, shape), frames, shape, poses, shapes, weight=LIKELY, offsets=True
    )
    shared = shapes + body.offsets.size
    hold = np.concatenate([np.ones(shapes), np.full(body.offsets.size, OFFSET**-2)])
    away = (body.offsets - body.likely_offsets).reshape(-1)
    matrix, right = np.diag(hold), -hold * np.concatenate([shape[:shapes], away])
    across = rows[:, shared:, :shared]
    block = rows[:, shared:, shared:].copy()
    index = np.arange(block.shape[1])
    block[:, index, index] += 1e-7 * np.trace(block, axis1=1, axis2=2)[:, None] / len(index)
    both = np.linalg.solve(block, np.concatenate([across, pulls[:, shared:, None]], axis=2))
    matrix += (rows[:, :shared, :shared] - np.swapaxes(across, 1, 2) @ both[..., :shared]).sum(0)
    right += (pulls[:, :shared] - np.einsum("npk,np->nk", across, both[..., shared])).sum(0)
    found = np.linalg.solve(matrix, right)
    steps = both[..., shared] - both[..., :shared] @ found
    shape = shape.copy()
    shape[:shapes] += np.clip(found[:shapes], -1.5, 1.5)
    body.offsets = body.offsets + np.clip(found[shapes:], -0.02, 0.02).reshape(-1, 3)
    return stepped(poses, np.clip(steps, -0.5, 0.5)), shape


def _followed(body: MarkerBody, seen: NumpyArray, shape: NumpyArray) -> RotationPose:
    """Poses of all frames, the body held, each from the one before."""
    prior = _prior(body, shape)
    good = np.isfinite(seen).all(axis=2).sum(axis=1) >= LEAST_SEEN
    pose = _first(body, seen[int(np.argmax(good))], shape)
    found: list[RotationPose] = []
    for number, frame in enumerate(seen):
        before = pose = _going_on(found) if found else pose
        for _ in range(2 if number else 5):
            matrix, right = frame_equations(body, prior, frame[None], shape, pose)
            turns = axis_angle_from_matrix(
                pose.rotations[:, :22] @ np.swapaxes(before.rotations[:, :22], -1, -2)
            )
            shift = pose.translation - before.translation
            away = np.concatenate([turns.reshape(1, -1), shift], axis=1)[0]
            index = np.arange(matrix.shape[1])
            stiff = np.where(index < len(index) - 3, 1.0, 100.0) / _STEADY**2
            matrix[0, index, index] += stiff
            step = solved_damped(matrix[0], right[0] - stiff * away)
            pose = stepped(pose, limited(step, 0)[None])
        found.append(pose)
    return RotationPose(
        np.concatenate([p.rotations for p in found]), np.concatenate([p.translation for p in found])
    )


def _going_on(poses: list[RotationPose]) -> RotationPose:
    """The next pose if all turns go on as between the last two, half as fast."""
    last = poses[-1]
    if len(poses) < 2:
        return last
    turn = axis_angle_from_matrix(last.rotations @ np.swapaxes(poses[-2].rotations, -1, -2))
    shift = last.translation - poses[-2].translation
    return RotationPose(
        matrix_from_axis_angle(0.5 * turn) @ last.rotations, last.translation + 0.5 * shift
    )


def _residuals(
    body: MarkerBody, seen: NumpyArray, shape: NumpyArray, poses: RotationPose
) -> Float64[NumpyArray, "N"]:
    """Root mean square distance of the markers that a frame shows; not a number where none is."""
    squares = np.sum((seen - body.posed(shape, poses).places) ** 2, axis=2)
    good = np.isfinite(squares)
    sums = np.where(good, squares, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.sqrt(sums / np.where(good.any(axis=1), good.sum(axis=1), np.nan))
