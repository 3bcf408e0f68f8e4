"""Poses of a person's scans and its latent coordinates, together (Gauss–Newton).

One step moves the poses q_α of a person and x, which they share; with J_α the derivatives by the
pose and K_α by x, the poses are eliminated, (Σ KᵀK + σ_v² − Σ KᵀJ (JᵀJ)⁻¹ JᵀK) δx = …. x has the
prior N(0, 1) of eq. 13. Derivatives are exact, with what rotations do to key angles and to helpers.
"""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.enveloping import coordinates
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import cross_matrix
from corporeal.models.enveloping.keys import driver_rotations, driver_turns
from corporeal.models.enveloping.training.problem import Estimate, Problem, Scans
from corporeal.skinning.kinematics import KinematicState, rotate_joints

LONGEST_TURN = 0.5
"""No joint turns further about an axis in one step, radians."""
_DAMPING = 1e-5
"""Share of the diagonal that is added to it: a joint whose skin nobody saw stays."""


@dataclass(frozen=True)
class Linearised:
    """One scan: residual and derivatives, times the roots of the confidences."""

    residual: Float64[NumpyArray, "r"]
    """√c (v − e), metres."""
    by_pose: Float64[NumpyArray, "r p"]
    """By turns of all joints and the translation; p = 3 J + 3."""
    by_latent: Float64[NumpyArray, "r s"]
    """By x."""


class PersonLinearisation:
    """f(W x + c̄, s, q) of one person on some vertices, with its derivatives."""

    def __init__(self, problem: Problem, estimate: Estimate) -> None:
        some = problem.some
        self.problem, self.rig = problem, problem.rig
        self.weights = np.asarray(estimate.weights, np.float64)[some]
        self.dress = np.asarray(estimate.dress, np.float64)[:, some]
        self.bones = estimate.bones
        place = np.full(len(problem.allowed), -1)
        place[some] = np.arange(len(some))
        self.regions, self.offsets = [], []
        for driver, rows in zip(problem.drivers, estimate.offsets, strict=True):
            seen = place[driver.region] >= 0
            self.regions.append(place[driver.region][seen])
            self.offsets.append(np.asarray(rows[:, :, seen], np.float64))

    def at(
        self,
        x: Float64[NumpyArray, "s"],
        pose: RotationPose,
        e: NumpyArray,
        confidence: NumpyArray,
        *,
        latent: bool = True,
    ) -> Linearised:
        """One scan: `e` are the places of the looked-at vertices, with their confidences."""
        rig, y = self.rig, coordinates(x)
        b = y @ self.bones
        state = rig.state(pose, rig.layout.joints_of(b))
        blended = np.tensordot(self.weights, state.world_rotations, axes=1)
        rest = np.tensordot(y, self.dress, axes=1)
        by_rest = self.dress[1:].copy() if latent else None
        turns = np.zeros((len(rest), 3, rig.joint_count, 3))
        for driver, region, rows in zip(
            self.problem.drivers, self.regions, self.offsets, strict=True
        ):
            self._correct(driver, region, rows, y, pose, state, rest, by_rest, turns)
        turns = np.einsum("vab,vbjc->vajc", blended, turns)
        turns += self._by_rotations(state, pose, rest)
        moved = np.einsum("vab,vb->va", blended, rest) + self.weights @ state.translations
        roots = np.sqrt(confidence)[:, None]
        count = len(rest)
        still = np.broadcast_to(np.eye(3), (count, 3, 3))
        by_pose = np.concatenate([turns.reshape(count, 3, -1), still], axis=2)
        size = len(x) if latent else 0
        by_latent = np.zeros((count, 3, size))
        if by_rest is not None and size:
            by_latent = np.einsum("vab,svb->vas", blended, by_rest)
            maps = rig.translation_maps(state.world_rotations[None])[0]
            by_joints = rig.layout.slopes(b).reshape(-1, rig.layout.size) @ self.bones[1:].T
            by_latent += np.tensordot(self.weights, maps @ by_joints, axes=1)
        return Linearised(
            (roots * np.where(roots > 0, moved - e, 0.0)).reshape(-1),
            (roots[..., None] * by_pose).reshape(3 * count, -1),
            (roots[..., None] * by_latent).reshape(3 * count, size),
        )

    def _correct(
        self, driver, region, rows, y, pose, state, rest, by_rest, turns
    ) -> None:  # fmt: skip
        """Add a driver's offsets to the rest shape and to its derivatives, in place."""
        local, axis = pose.rotations[driver.joint], self.rig.axes[driver.joint]
        turned = driver_rotations(driver.kind, local, axis)
        omega = driver.basis.weights(turned)[1:]
        used = len(rows)
        person = np.tensordot(y[:used], rows, axes=1)
        rest[region] += np.tensordot(omega, person, axes=1)
        if by_rest is not None and used > 1:
            by_rest[: used - 1, region] += np.einsum("k,ckva->cva", omega, rows[1:])
        above = state.world_rotations[self.rig.layout.parents[driver.joint]]
        slope = driver.basis.slopes(turned)[1:] @ driver_turns(driver.kind, local, axis) @ above.T
        turns[region, :, driver.joint] += np.einsum("kva,kc->vac", person, slope)

    def _by_rotations(
        self, state: KinematicState, pose: RotationPose, rest: NumpyArray
    ) -> Float64[NumpyArray, "v 3 J 3"]:
        """∂v/∂δ_m: −[Σ_l s_l (M_l v̄ − g_m)]ₓ over what hangs under m; helpers of m turn less."""
        rig, weights, count = self.rig, self.weights, self.rig.joint_count
        points = np.einsum("lab,vb->lva", state.world_rotations, rest) + state.translations[:, None]
        points *= weights.T[:, :, None]
        arms = np.tensordot(rig.descendants, points, axes=1)  # J v 3
        arms -= (rig.descendants @ weights.T)[..., None] * state.centres[:count, None]
        by = -np.moveaxis(cross_matrix(arms), 0, 2)  # v 3 J 3
        helpers = rig.helper_turns(pose.rotations, state.world_rotations)
        for place, joint in enumerate(rig.helper_joints.tolist()):
            arm = points[count + place] - weights[:, count + place, None] * state.centres[joint]
            by[:, :, joint] -= cross_matrix(arm) @ helpers[place]
        return by


def with_people(
    problem: Problem,
    scans: Scans,
    estimate: Estimate,
    *,
    iterations: int,
    latent: bool,
    which: Int[NumpyArray, "B"] | None = None,
) -> Estimate:
    """The estimate with everybody's poses found again, and with `latent` x as well."""
    rotations, translations = estimate.rotations.copy(), estimate.translations.copy()
    x = estimate.x.copy()
    model = PersonLinearisation(problem, estimate)
    for person in range(scans.person_count) if which is None else which.tolist():
        own = scans.of_person(person)
        poses, x[person] = fit_person(
            model, estimate.pose(own), x[person],
            scans.vertices[own][:, problem.some], scans.confidence[own][:, problem.some],
            iterations=iterations, latent=latent, variance=estimate.variances.observation,
        )  # fmt: skip
        rotations[own], translations[own] = poses.rotations, poses.translation
    return replace(estimate, rotations=rotations, translations=translations, x=x)


def fit_person(
    model: PersonLinearisation,
    poses: RotationPose,
    x: Float64[NumpyArray, "s"],
    e: NumpyArray,
    confidence: NumpyArray,
    *,
    iterations: int,
    latent: bool,
    variance: float,
    tolerance: float = 1e-4,
) -> tuple[RotationPose, Float64[NumpyArray, "s"]]:
    """Poses and latent coordinates in which the model comes closest to a person's scans, from
    near ones; `e` (n v 3) and `confidence` (n v) are of the looked-at vertices."""
    size = len(x) if latent else 0
    for _ in range(iterations):
        steps, shared = [], (variance * np.eye(size), variance * x[:size])
        for n in range(len(e)):
            line = model.at(x, poses[n], e[n], confidence[n], latent=latent)
            both = np.concatenate([line.by_pose, line.by_latent, line.residual[:, None]], axis=1)
            both = both.astype(np.float32)
            gram = (both.T @ both).astype(np.float64)
            p = line.by_pose.shape[1]
            normal = gram[:p, :p] + damping(gram[:p, :p])
            solved = np.linalg.solve(normal, gram[:p, p:])
            steps.append(solved)
            shared = (
                shared[0] + gram[p:-1, p:-1] - gram[p:-1, :p] @ solved[:, :-1],
                shared[1] + gram[p:-1, -1] - gram[p:-1, :p] @ solved[:, -1],
            )
        change = -np.linalg.solve(shared[0], shared[1]) if size else np.zeros(0)
        moves = np.stack([-(s[:, -1] + s[:, :-1] @ change) for s in steps])
        longest = np.abs(moves[:, :-3]).max(axis=1, keepdims=True)
        moves *= np.minimum(1.0, LONGEST_TURN / np.maximum(longest, 1e-12))
        poses = _turned(model, poses, x, moves)
        x = x + change if size else x
        if longest.max() < tolerance and np.abs(change).max(initial=0.0) < 10 * tolerance:
            break
    return poses, x


def damping(normal: Float64[NumpyArray, "p p"]) -> Float64[NumpyArray, "p p"]:
    """What is added to a pose's normal matrix."""
    diagonal = np.diag(normal)
    return np.diag(_DAMPING * diagonal + 1e-8 * diagonal.max())


def _turned(
    model: PersonLinearisation, poses: RotationPose, x: NumpyArray, moves: NumpyArray
) -> RotationPose:
    rig = model.rig
    joints = rig.layout.joints_of(coordinates(x) @ model.bones)
    world = rig.state(poses, joints).world_rotations[:, : rig.joint_count]
    return rotate_joints(poses, world, rig.layout.parents, moves)
