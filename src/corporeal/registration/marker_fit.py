"""One body and its motion from labelled markers (Loper et al. 2014, MoSh; Loper 2015, section 7).

A marker i sits beside vertex v_i of the rest skin, at an offset o_i, and moves with that vertex's
weights. Over some frames k of the clip, one shape β, the offsets and a pose a frame minimise

    Σ_k Σ_i ρ(‖x_i(β, o, θ_k) − m_ki‖²/σ²) + Σ_i ‖o_i − ô_i‖²/s² + ‖β‖² + Σ_k E_θ(θ_k)

with ô a marker's radius along the normal; then every frame's pose follows from the last one's, the
body held, soft tissue and mislabelled markers forgiven by ρ (Geman and McClure 1985). A marker that
is missing has no term; a frame that has too few keeps to the poses around it.
"""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose, RotationPose
from corporeal.errors import InputError
from corporeal.geometry.alignment import best_rotation
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.registration.marker_sets import marker_vertices
from corporeal.registration.model_stage import limited, solved_damped
from corporeal.registration.person_model import PersonModel, PersonState, person_model
from corporeal.registration.pose_prior import pose_prior
from corporeal.registration.starts import kinds_of_pose
from corporeal.skinning.kinematics import parent_rotations

SHAPES = 20
"""Components of shape that markers tell."""
SHAPE_FRAMES = 16
"""Frames of the clip from which the body is found."""
NOISE = 4e-3
"""σ: metres of a marker, noise and soft tissue together."""
OFFSET = 1.2e-2
"""s: how far a marker is likely to sit from where its label says, metres."""
RADIUS = 9.5e-3
"""Of a marker, metres."""
LEAST_MARKERS = 10
"""Fewer known labels tell no body."""
_ROBUST = 0.06
"""Metres from which on a marker counts as mistaken."""
_STEADY = 0.06
"""Radians by which a joint's turn is likely to differ from its last turn's going on."""


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
    vertices = np.array([table[labels[i]] for i in used])
    seen = places[:, used]
    if not np.isfinite(seen).any():
        raise InputError("no marker is seen in any frame.")
    body = _Markers(model, vertices)
    rotation = body.upright(seen)
    seen = seen @ rotation.T
    frames = _telling_frames(seen)
    states = [body.first(seen[k]) for k in frames]
    states = body.together(seen[frames], states)
    shape = states[0].shape
    poses, residuals = body.follow(seen, shape, states[0])
    rest, joints = space.vertices(shape), space.joints(shape)
    ground = np.array([0.0, rest[:, 1].min(), 0.0])
    moved = Pose(
        axis_angle_from_matrix(np.stack([p.rotations for p in poses])),
        np.stack([p.translation for p in poses]) + ground,
    )
    return MarkerFit(
        Identity(rest - ground, joints - ground, {}),
        moved,
        shape,
        tuple(labels[i] for i in used),
        body.offsets,
        residuals,
        rotation,
    )


def _going_on(poses: list[RotationPose]) -> RotationPose:
    """The next pose if all turns go on as between the last two."""
    last = poses[-1]
    if len(poses) < 2:
        return last
    step = last.rotations @ np.swapaxes(poses[-2].rotations, -1, -2)
    shift = last.translation - poses[-2].translation
    return RotationPose(step @ last.rotations, last.translation + shift)


def _telling_frames(seen: NumpyArray) -> Int[NumpyArray, "k"]:
    """Frames spread over the clip, those of each stretch in which most markers are seen."""
    count = np.isfinite(seen).all(axis=2).sum(axis=1)
    stretches = np.array_split(np.arange(len(seen)), min(SHAPE_FRAMES, len(seen)))
    return np.array([stretch[np.argmax(count[stretch])] for stretch in stretches])


class _Markers:
    """A model of the markers alone."""

    def __init__(self, model: PersonModel, vertices: Int[NumpyArray, "m"]) -> None:
        self.whole, self.vertices = model, vertices
        self.likely = RADIUS * model.rest_normals[vertices]
        self.offsets = self.likely.copy()
        self.prior = pose_prior(model.template.skeleton.names)

    @property
    def model(self) -> PersonModel:
        """The markers as vertices of their own."""
        cut = self.whole.cut(self.vertices)
        space = replace(cut.space, mean_vertices=cut.space.mean_vertices + self.offsets)
        return replace(cut, space=space)

    def upright(self, seen: NumpyArray) -> NumpyArray:
        """The rotation of the file's axes that takes the body's up to y."""
        rest = self.model.space.mean_vertices
        ups = []
        for frame in seen[np.linspace(0, len(seen) - 1, min(12, len(seen))).astype(int)]:
            good = np.isfinite(frame).all(axis=1)
            if good.sum() >= 6:
                a, b = rest[good] - rest[good].mean(axis=0), frame[good] - frame[good].mean(axis=0)
                ups.append(best_rotation(a, b)[:, 1])
        mean = np.mean(ups, axis=0)
        axis = int(np.argmax(np.abs(mean)))
        up = np.sign(mean[axis]) * np.eye(3)[axis]
        if axis == 1 and up[1] > 0:
            return np.eye(3)
        aside = np.eye(3)[0] if axis != 0 else np.eye(3)[2]
        return np.stack([aside, up, np.cross(aside, up)])

    def first(self, frame: NumpyArray) -> PersonState:
        """The kind of pose and the place that lie nearest, then a few steps."""
        good = np.isfinite(frame).all(axis=1)
        model, best = self.model, (np.inf, self.model.start())
        for vectors in kinds_of_pose(model).values():
            pose = RotationPose(matrix_from_axis_angle(vectors), np.zeros(3))
            state = PersonState(np.zeros(model.space.count), pose)
            mine = model.posed(state, corrected=False).vertices[good]
            middle, target = mine.mean(axis=0), frame[good].mean(axis=0)
            turn = best_rotation(mine - middle, frame[good] - target)
            left = float(np.sum((frame[good] - target - (mine - middle) @ turn.T) ** 2))
            if left < best[0]:
                rotations = pose.rotations.copy()
                rotations[0] = turn @ rotations[0]
                placed = RotationPose(rotations, target - turn @ middle)
                best = (left, PersonState(state.shape, placed))
        state = best[1]
        for robust in (0.3, 0.3, 0.15, 0.15, 0.1, 0.1):
            state = self._stepped(frame, state, 0, robust, None)
        return state

    def together(self, seen: NumpyArray, states: list[PersonState]) -> list[PersonState]:
        """One shape, one set of offsets and a pose a frame."""
        for round_ in range(12):
            shapes = SHAPES if round_ >= 2 else 4
            states = self._shared_step(seen, states, shapes)
            if round_ >= 3:
                self._move_offsets(seen, states)
        return states

    def _rows(
        self, frame: NumpyArray, state: PersonState, shapes: int, robust: float
    ) -> tuple[NumpyArray, NumpyArray]:
        """Normal equations of one frame, priors of pose too."""
        model = self.model
        posed = model.posed(state, corrected=False)
        good = np.flatnonzero(np.isfinite(frame).all(axis=1))
        gap = frame[good] - posed.vertices[good]
        weight = 1.0 / (1.0 + np.sum(gap * gap, axis=1) / robust**2) ** 2 / NOISE**2
        jacobian = model.jacobian(posed, shapes, good)
        flat = jacobian.reshape(3 * len(good), -1)
        rows = np.repeat(weight, 3)
        matrix = flat.T @ (rows[:, None] * flat)
        right = flat.T @ (rows * gap.reshape(-1))
        frames = parent_rotations(posed.kinematics.world_rotations, model.parents)
        self.prior.add_to(matrix, right, state.pose, frames, shapes, 1.0)
        return matrix, right

    def _stepped(
        self,
        frame: NumpyArray,
        state: PersonState,
        shapes: int,
        robust: float,
        before: RotationPose | None,
    ) -> PersonState:
        """One step of one frame; `before` is the pose that it should be near."""
        model = self.model
        matrix, right = self._rows(frame, state, shapes, robust)
        if before is not None:
            posed = model.posed(state, corrected=False)
            away = axis_angle_from_matrix(
                state.pose.rotations @ np.swapaxes(before.rotations, -1, -2)
            )
            frames = parent_rotations(posed.kinematics.world_rotations, model.parents)
            world = np.einsum("jab,jb->ja", frames, away).reshape(-1)
            stiff = 1.0 / _STEADY**2
            place = np.arange(shapes, shapes + 3 * model.joint_count)
            matrix[place, place] += stiff
            right[place] -= stiff * world
        step = limited(solved_damped(matrix, right), shapes)
        return model.stepped(state, model.posed(state, corrected=False), step)

    def _shared_step(
        self, seen: NumpyArray, states: list[PersonState], shapes: int
    ) -> list[PersonState]:
        """β from the sum of Schur complements, then every frame's pose."""
        matrix, right = np.eye(shapes), -states[0].shape[:shapes].copy()
        kept = []
        for frame, state in zip(seen, states, strict=True):
            rows, pull = self._rows(frame, state, shapes, _ROBUST)
            both = solved_damped(
                rows[shapes:, shapes:].copy(),
                np.column_stack([rows[shapes:, :shapes], pull[shapes:]]),
            )
            matrix += rows[:shapes, :shapes] - rows[:shapes, shapes:] @ both[:, :shapes]
            right += pull[:shapes] - rows[:shapes, shapes:] @ both[:, shapes]
            kept.append(both)
        beta = np.linalg.solve(matrix, right)
        model, moved = self.model, []
        for state, both in zip(states, kept, strict=True):
            step = np.concatenate([beta, both[:, shapes] - both[:, :shapes] @ beta])
            posed = model.posed(state, corrected=False)
            moved.append(model.stepped(state, posed, limited(step, shapes)))
        return moved

    def _move_offsets(self, seen: NumpyArray, states: list[PersonState]) -> None:
        """o: what is left on average in the zero pose, drawn to a marker's radius off the skin."""
        model = self.model
        mass = np.full(len(self.vertices), NOISE**2 / OFFSET**2)
        pull = mass[:, None] * (self.likely - self.offsets)
        for frame, state in zip(seen, states, strict=True):
            posed = model.posed(state, corrected=False)
            gap = frame - posed.vertices
            good = np.isfinite(gap).all(axis=1) & (np.linalg.norm(gap, axis=1) < _ROBUST)
            back = np.einsum("vji,vj->vi", posed.blend.blended, np.where(good[:, None], gap, 0.0))
            mass += good
            pull += back
        self.offsets = self.offsets + pull / mass[:, None]

    def follow(
        self, seen: NumpyArray, shape: NumpyArray, start: PersonState
    ) -> tuple[list[RotationPose], Float64[NumpyArray, "N"]]:
        """Poses of all frames, the body held, each from the one before."""
        state = self.first(seen[0]) if np.isfinite(seen[0]).all(axis=1).sum() >= 6 else start
        state = PersonState(shape, state.pose)
        for _ in range(4):
            state = self._stepped(seen[0], state, 0, _ROBUST, None)
        poses: list[RotationPose] = []
        residuals = np.zeros(len(seen))
        for number, frame in enumerate(seen):
            before = _going_on(poses) if poses else state.pose
            state = PersonState(shape, before)
            for _ in range(3 if number else 6):
                state = self._stepped(frame, state, 0, _ROBUST, before if number else None)
            gap = frame - self.model.posed(state, corrected=False).vertices
            squares = np.sum(gap * gap, axis=1)
            good = np.isfinite(squares)
            residuals[number] = float(np.sqrt(squares[good].mean())) if good.any() else np.nan
            poses.append(state.pose)
        return poses, residuals
