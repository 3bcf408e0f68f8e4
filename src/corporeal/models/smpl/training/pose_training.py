"""Training from many poses of several people: {Θ, T̂, Ĵ, W, P}, in turns, then 𝒥.

Loper et al. 2015, section 4.1 and 4.3, eq. 14. Each turn solves one set of unknowns given the
others. Joints are found first, with P = 0, together with poses: pose blend shapes could otherwise
take over what a misplaced joint does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.body.template import Template
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_poses import solve_poses
from corporeal.models.smpl.training.blend_weights import candidate_joints, solved_weights
from corporeal.models.smpl.training.checkpoints import Checkpoints
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes, distances
from corporeal.models.smpl.training.initial import InitialModel
from corporeal.models.smpl.training.joint_regressor import around, solved_regressor
from corporeal.models.smpl.training.pose_shapes import Ridge, solved_pose_shapes
from corporeal.models.smpl.training.posed_joints import JointRule, solve_poses_and_joints
from corporeal.models.smpl.training.priors import ridge_of
from corporeal.models.smpl.training.subjects import (
    SubjectRule,
    mirror_penalty,
    solved_rest_shapes,
    solved_subject,
)
from corporeal.models.smpl.training.surface import (
    TrainingSurface,
    estimate_of_all,
    estimate_of_some,
    some_vertices,
    thinned,
    whole_surface,
)


def with_solved_poses(meshes: PosedMeshes, estimate: Estimate, *, iterations: int) -> Estimate:
    """Every pose again, from where it was."""
    rotations, translations = estimate.rotations.copy(), estimate.translations.copy()
    for subject in range(meshes.subject_count):
        own = meshes.of_subject(subject)
        found = solve_poses(
            estimate.person(subject), meshes.vertices[own], estimate.poses(own),
            iterations=iterations,
        ).poses  # fmt: skip
        rotations[own], translations[own] = found.rotations, found.translation
    return replace(estimate, rotations=rotations, translations=translations)


ProgressCallback = Callable[[str, float], None]
"""Is told what was done and the mean distance of vertices after it, metres."""


@dataclass(frozen=True)
class PoseTraining:
    """Settings. Strengths are per registration or per vertex, so that they do not depend on the
    size of the set or the mesh; the numbers of Loper 2015 have no units."""

    joint_rounds: int = 3
    """Turns with P = 0: subjects, weights, then joints and poses together."""
    shape_rounds: int = 5
    """Turns with pose blend shapes: those, subjects, weights, poses."""
    rest_symmetry: float = 0.05
    """λ_Y, in registrations: as if every subject had so many more, symmetric ones."""
    joint_symmetry: float = 10.0
    """λ_Y λ_U, in vertices a registration that would miss as far as the joint is asymmetric."""
    ring: float = 0.1
    """λ_J, likewise: how strongly joints are held to the average of their ring."""
    pose_ridge: float = 1e-4
    """λ_P, in registrations, of squared features."""
    weight_pull: float = 1e-6
    """λ_W, m² a registration for a weight that is wrong by one."""
    regressor_rings: int = 6
    """Edges from the initial ring to the furthest vertex a joint may use."""
    blending: Blending = "lbs"
    """How joint motions are blended: `lbs`, or `dqbs` for dual quaternions."""
    sparse: bool = False
    """Only the joints whose weights move a vertex may offset it (section 5.2)."""
    locality: float = 0.0
    """How much harder offsets are pulled to 0 ten centimetres from the joint, a share of λ_P."""
    lasso: float = 0.0
    """Metres: size of a joint's offsets of a vertex that λ_P pulls as it does without; smaller ones
    are pulled harder. 0 leaves it out."""
    smoothness: float = 0.0
    """Pull towards the neighbours' offsets, a share of λ_P."""
    turn_vertices: int = 3000
    """Turns use about so many vertices of a larger mesh; the others follow at the end."""
    learn_weights: bool = True
    """Whether skin weights change; else they stay the template's."""
    learn_pose_shapes: bool = True
    """Whether pose blend shapes are learned; else P = 0."""
    pose_iterations: int = 4
    """Gauss–Newton steps of the poses in every round."""


@dataclass(frozen=True)
class PoseModel:
    """What pose training found."""

    estimate: Estimate
    """Poses, subjects, weights and pose blend shapes."""
    regressor: Float64[NumpyArray, "J V"]
    """𝒥: joints are these weighted sums of rest vertices."""
    initial: InitialModel
    """What it began with."""
    history: tuple[tuple[str, float], ...] = field(default=())
    """After every turn: what was done, mean distance of vertices in metres."""


Stage = Literal[
    "first poses",
    "subjects",
    "weights",
    "joints",
    "regressor",
    "pose blend shapes",
    "poses",
    "all vertices",
    "rest skins",
]


def stages(settings: PoseTraining, vertex_count: int) -> tuple[Stage, ...]:
    """What is solved, in order; each stage starts from the one before alone."""
    weights: list[Stage] = ["weights"] if settings.learn_weights else []
    shapes: list[Stage] = ["pose blend shapes"] if settings.learn_pose_shapes else []
    plan: list[Stage] = ["first poses"]
    with_joints: list[Stage] = ["subjects", *weights, "joints"]
    regressed: list[Stage] = ["regressor", "poses", "rest skins"]
    with_shapes: list[Stage] = [*shapes, "rest skins", *weights, "poses"]
    plan += settings.joint_rounds * with_joints
    if settings.joint_rounds:
        plan += regressed
    plan += settings.shape_rounds * with_shapes
    if _stride(settings, vertex_count) > 1:
        last = shapes if settings.shape_rounds else []
        everyone: list[Stage] = ["all vertices", "rest skins", *weights, *last, "rest skins"]
        plan += everyone
    return tuple(plan)


def _stride(settings: PoseTraining, vertex_count: int) -> int:
    return max(1, vertex_count // settings.turn_vertices)


def train_pose(
    meshes: PosedMeshes,
    template: Template,
    settings: PoseTraining,
    callback: ProgressCallback | None = None,
    kept: Checkpoints | None = None,
    begin: Estimate | None = None,
) -> PoseModel:
    """Learn joints, weights and pose blend shapes from registrations of the template's topology.

    With `kept`, every stage is written when it is done, and a run that was ended goes on after the
    last one, to the same result. `begin` is what another training of the same registrations found,
    to go on from with other settings.
    """
    run = _Run(meshes, template, settings)
    plan = stages(settings, run.whole.vertex_count)
    done, estimate, history = (0, None, []) if kept is None else kept.latest(plan)
    if begin is not None and done == 0:
        done, estimate = 1, run.begun(replace(begin, blending=settings.blending))
    for number, stage in enumerate(plan[done:], start=done):
        estimate = run.solved(stage, estimate)
        mean = float(distances(run.meshes_of(estimate), estimate).mean())
        history = [*history, (stage, mean)]
        if callback is not None:
            callback(stage, mean)
        if kept is not None:
            kept.keep(number + 1, estimate, history)
    assert estimate is not None
    return PoseModel(estimate, run.regressor(estimate), run.whole.start, tuple(history))


class _Run:
    """One training: data and surface, whole and thinned."""

    def __init__(self, meshes: PosedMeshes, template: Template, settings: PoseTraining) -> None:
        self.meshes, self.template, self.settings = meshes, template, settings
        self.whole = whole_surface(template)
        self.stride = _stride(settings, self.whole.vertex_count)

    @cached_property
    def fewer(self) -> TrainingSurface:
        return thinned(self.whole, self.stride)

    @cached_property
    def fewer_meshes(self) -> PosedMeshes:
        return some_vertices(self.meshes, self.fewer)

    def surface_of(self, estimate: Estimate) -> TrainingSurface:
        """That of an estimate, by its number of vertices."""
        return self.whole if len(estimate.weights) == self.whole.vertex_count else self.fewer

    def meshes_of(self, estimate: Estimate) -> PosedMeshes:
        """The registrations, of an estimate's vertices."""
        return self.meshes if self.surface_of(estimate) is self.whole else self.fewer_meshes

    def regressor(self, estimate: Estimate) -> Float64[NumpyArray, "J V"]:
        """𝒥 for an estimate's vertices; where turns use fewer, it does too."""
        whole, surface = self.whole.start, self.surface_of(estimate)
        support = around(whole.regressor, whole.edges, self.settings.regressor_rings)
        if self.stride > 1:
            support[:, np.setdiff1d(self.whole.indices, self.fewer.indices)] = 0
        support = support[:, surface.indices]
        initial = surface.start.regressor
        return solved_regressor(estimate.rest_shapes, estimate.joints, initial, support)

    def begun(self, estimate: Estimate) -> Estimate:
        """An estimate of all vertices, as the turns take it."""
        return estimate if self.stride == 1 else estimate_of_some(estimate, self.fewer)

    def solved(self, stage: Stage, estimate: Estimate | None) -> Estimate:
        """One set of unknowns, given the others."""
        settings = self.settings
        if stage == "first poses" or estimate is None:
            first = _started(self.meshes, self.template, self.whole.start, settings.blending)
            return self.begun(first)
        if stage == "all vertices":
            return estimate_of_all(estimate, self.fewer, self.template)
        surface, meshes = self.surface_of(estimate), self.meshes_of(estimate)
        count, start = len(meshes.subjects), surface.start
        if stage == "rest skins":
            return replace(estimate, rest_shapes=solved_rest_shapes(meshes, estimate))
        if stage == "pose blend shapes":
            ridge = _ridge(estimate, surface, settings, count)
            return replace(estimate, pose_offsets=solved_pose_shapes(meshes, estimate, ridge))
        if stage == "subjects":
            return _with_subjects(meshes, estimate, surface, settings)
        if stage == "weights":
            candidates = candidate_joints(start.diffused)
            pull = settings.weight_pull * count
            weights = solved_weights(meshes, estimate, candidates, start.weights, pull)
            return replace(estimate, weights=weights)
        if stage == "joints":
            return _with_joints(meshes, estimate, surface, settings)
        if stage == "regressor":
            return replace(estimate, joints=self.regressor(estimate) @ estimate.rest_shapes)
        return with_solved_poses(meshes, estimate, iterations=settings.pose_iterations)


def _ridge(
    estimate: Estimate, surface: TrainingSurface, settings: PoseTraining, count: int
) -> Ridge:
    # neighbours are known on the whole surface alone
    whole = np.array_equal(surface.indices, np.arange(surface.vertex_count))
    return ridge_of(
        estimate,
        surface.start.edges,
        strength=settings.pose_ridge * count,
        sparse=settings.sparse,
        locality=settings.locality,
        lasso=settings.lasso,
        smoothness=settings.smoothness if whole else 0.0,
    )


def _started(
    meshes: PosedMeshes, template: Template, start: InitialModel, blending: Blending
) -> Estimate:
    rest = np.asarray(template.mesh.vertices, np.float64)
    joint_count, count = len(template.skeleton.parents), meshes.subject_count
    features = 9 * (joint_count - 1)
    average = SkinnedPerson(
        rest,
        start.regressor @ rest,
        start.weights,
        np.zeros((features, len(rest), 3), meshes.vertices.dtype),
        template.skeleton.parents,
        blending,
    )
    poses = first_poses(meshes.vertices, average, start.edges)
    return Estimate(
        poses.rotations,
        poses.translation,
        np.tile(rest, (count, 1, 1)),
        np.tile(average.joints, (count, 1, 1)),
        start.weights,
        average.pose_offsets,
        template.skeleton.parents,
        blending,
    )


def _with_subjects(
    meshes: PosedMeshes,
    estimate: Estimate,
    surface: TrainingSurface,
    settings: PoseTraining,
) -> Estimate:
    rest_shapes, joints = [], []
    for subject in range(meshes.subject_count):
        count = len(meshes.of_subject(subject))
        rule = SubjectRule(
            surface.start.regressor,
            surface.mirror,
            mirrored_joints(surface.joint_names),
            settings.rest_symmetry * (surface.mirror is not None),
            settings.joint_symmetry * count * (surface.mirror is not None),
            settings.ring * count,
        )
        rest, joint = solved_subject(meshes, estimate, subject, rule)
        rest_shapes.append(rest)
        joints.append(joint)
    return replace(estimate, rest_shapes=np.stack(rest_shapes), joints=np.stack(joints))


def _with_joints(
    meshes: PosedMeshes,
    estimate: Estimate,
    surface: TrainingSurface,
    settings: PoseTraining,
) -> Estimate:
    """Poses and joints together, without pose blend shapes."""
    rotations, translations = estimate.rotations.copy(), estimate.translations.copy()
    joints = estimate.joints.copy()
    symmetry = mirror_penalty(mirrored_joints(surface.joint_names))
    symmetry = settings.joint_symmetry * (surface.mirror is not None) * symmetry
    for subject in range(meshes.subject_count):
        own = meshes.of_subject(subject)
        near = surface.start.regressor @ estimate.rest_shapes[subject]
        rule = JointRule(near, settings.ring * len(own), len(own) * symmetry)
        poses, joints[subject] = solve_poses_and_joints(
            estimate.person(subject), meshes.vertices[own], estimate.poses(own), rule,
            settings.pose_iterations,
        )  # fmt: skip
        rotations[own], translations[own] = poses.rotations, poses.translation
    return replace(estimate, rotations=rotations, translations=translations, joints=joints)


def mirrored_joints(names: tuple[str, ...]) -> Int[NumpyArray, "J"]:
    """The joint on the other side, by the words left and right; itself where there is none."""
    other = [
        n.replace("left", "right") if "left" in n else n.replace("right", "left") for n in names
    ]
    return np.array([names.index(o) if o in names else i for i, o in enumerate(other)], np.int64)
