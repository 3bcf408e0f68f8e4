"""Where training begins: poses from edges, joints from landmarks, key angles from poses."""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.enveloping.equations import Variances
from corporeal.models.enveloping.keys import (
    RadialBasis,
    driver_rotations,
    greedy_keys,
    mirrored_order,
    mirrored_rotations,
)
from corporeal.models.enveloping.regions import correction_region, drivers_of, first_weights
from corporeal.models.enveloping.rig import EnvelopingRig
from corporeal.models.enveloping.training.given import Given
from corporeal.models.enveloping.training.problem import Driver, Estimate, Problem, Scans
from corporeal.models.enveloping.training.scans import filled
from corporeal.models.enveloping.training.weights import smoothed_weights
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.training.initial import InitialModel, initial_model
from corporeal.models.smpl.training.pose_training import mirrored_joints
from corporeal.skinning.kinematics import kinematic_state

_FAR = 0.25
"""Metres: a scan whose first pose misses it by more, in the root mean square, does not fit."""


@dataclass(frozen=True)
class KeySettings:
    """How key angles are chosen."""

    distance: float = 0.2
    """Radians within which every observed angle has a key."""
    shoulder_distance: float = 0.3
    """The same for shoulders, which would otherwise have too many."""
    most: int = 10
    """Keys of one joint at most; the paper has no such limit."""
    softness: float = 0.2
    """ε of the radial basis √(d² + ε²), radians."""


@dataclass(frozen=True)
class Beginning:
    """Problem and first estimate."""

    problem: Problem
    """What training does not change."""
    poses: RotationPose
    """First poses of all scans."""
    bones: Float64[NumpyArray, "B b"]
    """Everybody's bone parameters, from landmarks."""
    weights: Float64[NumpyArray, "V L"]
    """First enveloping weights."""


def begin(
    scans: Scans,
    template: Template,
    regressor: Float[NumpyArray, "J V"] | None,
    keys: KeySettings,
    some_count: int,
    given: Given | None = None,
) -> Beginning:
    """First poses by edges (the average person, eq. 15 of Loper 2015), joints by landmarks of the
    standing pose, or both as `given`; weights by diffusion, key angles by the poses."""
    initial = initial_model(template)
    rest = np.asarray(template.mesh.vertices, np.float64)
    landmarks = initial.regressor if regressor is None else np.asarray(regressor, np.float64)
    if given is None:
        poses, joints = _first_poses_and_joints(scans, template, initial, landmarks)
    else:
        poses, joints = given.poses, given.own.joints
    skeleton = replace(template.skeleton, joints=_symmetric(joints, template))
    rig = EnvelopingRig.of(skeleton, free=given is not None)
    weights, allowed = first_weights(initial.diffused, rig, rest)
    mirror = template.mesh.mirror
    drivers = _drivers(rig, template, initial, poses, keys)
    problem = Problem(
        rig,
        drivers if given is None else bent(drivers),
        initial.edges,
        None if mirror is None else np.asarray(mirror, np.int64),
        mirrored_joints(rig.names),
        allowed,
        landmarks,
        _some(len(rest), mirror, some_count),
    )
    bones = np.stack([rig.layout.fit(j) for j in joints])
    return Beginning(problem, poses, bones, smoothed_weights(problem, weights))


def _first_poses_and_joints(
    scans: Scans, template: Template, initial: InitialModel, landmarks: NumpyArray
) -> tuple[RotationPose, Float64[NumpyArray, "B J 3"]]:
    rest, parents = np.asarray(template.mesh.vertices, np.float64), template.skeleton.parents
    whole = filled(scans, initial.edges, rest)
    average = SkinnedPerson(
        rest, np.asarray(template.skeleton.joints, np.float64), initial.weights,
        np.zeros((9 * (len(parents) - 1), len(rest), 3), np.float32), parents,
    )  # fmt: skip
    poses = first_poses(whole, average, initial.edges)
    return poses, _rest_joints(poses, whole, scans, landmarks, parents)


def first_estimate(
    beginning: Beginning,
    template: Template,
    which: Int[NumpyArray, "n"],
    bones: Float64[NumpyArray, "m b"],
    x: Float64[NumpyArray, "B s"],
) -> Estimate:
    """Of some scans, with the template's shape for everybody."""
    rest = np.asarray(template.mesh.vertices, np.float32)
    layout = beginning.problem.rig.layout
    root = layout.parents.index(-1)
    dress = np.zeros((len(bones), *rest.shape), np.float32)
    dress[0] = rest + (layout.joints[root] - np.asarray(template.skeleton.joints)[root])
    offsets = tuple(
        np.zeros((1, d.key_count, len(d.region), 3), np.float32) for d in beginning.problem.drivers
    )
    return Estimate(
        np.asarray(beginning.poses.rotations, np.float64)[which],
        np.asarray(beginning.poses.translation, np.float64)[which],
        x, dress, bones, beginning.weights, offsets, Variances(),
    )  # fmt: skip


def bone_latents(
    bones: Float64[NumpyArray, "B b"], count: int
) -> tuple[Float64[NumpyArray, "B s"], Float64[NumpyArray, "m b"]]:
    """x and (b̄, W_b) by principal components of the bone parameters (4.2.2), x of unit variance."""
    mean = bones.mean(axis=0)
    left, sizes, right = np.linalg.svd(bones - mean, full_matrices=False)
    if not 1 <= count < len(bones):
        raise InputError(
            f"{count} latent coordinates were asked for {len(bones)} people; expected 1 to "
            f"{len(bones) - 1}. Give fewer, or more people."
        )
    root = np.sqrt(len(bones))
    kept = min(count, len(sizes))
    x = np.zeros((len(bones), count))
    x[:, :kept] = root * left[:, :kept]
    rows = np.zeros((count + 1, bones.shape[1]))
    rows[0] = mean
    rows[1 : kept + 1] = sizes[:kept, None] / root * right[:kept]
    return x, rows


def _rest_joints(
    poses: RotationPose, whole: NumpyArray, scans: Scans, landmarks: NumpyArray,
    parents: tuple[int, ...],
) -> Float64[NumpyArray, "B J 3"]:  # fmt: skip
    """Joints of everybody in the dress pose: bones of the standing pose, turned back."""
    told = np.einsum("jv,bva->bja", landmarks, whole[scans.standing].astype(np.float64))
    standing = poses[scans.standing]
    world = kinematic_state(standing, told, parents).world_rotations
    rest = told.copy()
    for k, parent in enumerate(parents):
        if parent >= 0:
            bone = told[:, k] - told[:, parent]
            rest[:, k] = rest[:, parent] + np.einsum("nba,nb->na", world[:, parent], bone)
    return rest


def _symmetric(joints: NumpyArray, template: Template) -> Float64[NumpyArray, "J 3"]:
    """The mean skeleton, its root where the template's is, left the mirror image of right."""
    root = template.skeleton.parents.index(-1)
    mean = (joints - joints[:, root : root + 1]).mean(axis=0)
    other = mirrored_joints(template.skeleton.names)
    mean = 0.5 * (mean + mean[other] * [-1.0, 1.0, 1.0])
    return mean + np.asarray(template.skeleton.joints, np.float64)[root] * [0.0, 1.0, 1.0]


def _drivers(
    rig: EnvelopingRig, template: Template, initial: InitialModel, poses: RotationPose,
    settings: KeySettings,
) -> tuple[Driver, ...]:  # fmt: skip
    """Key angles of every driver; those of the right are mirror images of the left's."""
    names, mirror = rig.layout.names, template.mesh.mirror
    rest = np.asarray(template.mesh.vertices, np.float64)
    listed = drivers_of(names)
    others = mirrored_joints(names)
    made: list[Driver] = []
    for place, (joint, kind) in enumerate(listed):
        image = listed.index((int(others[joint]), kind))
        if mirror is not None and image < place:
            first = made[image]
            region = np.asarray(mirror)[first.region]
            basis = RadialBasis.of(mirrored_rotations(first.basis.keys), settings.softness)
            orders = np.arange(first.key_count), np.arange(len(region))
            made.append(Driver(joint, kind, basis, region, image, *orders))
            continue
        pool = driver_rotations(kind, poses.rotations[:, joint], rig.axes[joint])
        if mirror is not None and image != place:
            far = poses.rotations[:, listed[image][0]]
            far = driver_rotations(kind, far, rig.axes[listed[image][0]])
            pool = np.concatenate([pool, mirrored_rotations(far)])
        distance = (
            settings.shoulder_distance if names[joint].endswith("shoulder") else settings.distance
        )
        middle = mirror is not None and image == place
        keys = greedy_keys(pool, distance, settings.most, symmetric=middle)
        region = correction_region(joint, template.skeleton, rest, initial.parts)
        orders = np.arange(len(keys) - 1), np.arange(len(region))
        if middle:
            region = np.union1d(region, np.asarray(mirror)[region])
            orders = (
                mirrored_order(keys)[1:] - 1,
                np.searchsorted(region, np.asarray(mirror)[region]),
            )
        basis = RadialBasis.of(keys, settings.softness)
        made.append(
            Driver(joint, kind, basis, region, image if mirror is not None else place, *orders)
        )
    return tuple(made)


def bent(drivers: tuple[Driver, ...]) -> tuple[Driver, ...]:
    """Those whose joint is not the same in all scans, such as elbows that never twist."""
    kept = [place for place, driver in enumerate(drivers) if driver.key_count]
    return tuple(replace(drivers[k], image=kept.index(drivers[k].image)) for k in kept)


def _some(count: int, mirror: NumpyArray | None, wanted: int) -> Int[NumpyArray, "w"]:
    """About so many vertices, with their mirror images."""
    if mirror is None:
        return np.arange(0, count, max(1, count // wanted))
    kept = np.arange(0, count, max(1, 2 * count // wanted))
    return np.union1d(kept, np.asarray(mirror)[kept])


def require_near(squares: NumpyArray, seen: NumpyArray, names: list[str]) -> None:
    """Refuse scans that no pose explains: their correspondences contradict the template."""
    off = np.sqrt(squares / np.maximum(seen, 1.0))
    if off.max(initial=0.0) > _FAR:
        worst = int(off.argmax())
        raise InputError(
            f"{names[worst]} is {off[worst]:.2f} m from the template in its best pose; expected a "
            f"person in correspondence with it. Check the vertex order and the unit, or leave it "
            f"out."
        )
