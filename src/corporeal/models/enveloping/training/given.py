"""Bodies and poses that come with scans, as those of the virtual scanner do.

Where they are known nothing of them is looked for, so that offsets are what flesh does and make up
for no bone or pose of training's own. Dress shapes and joints of new people are then the principal
components of the known ones (Tipping, Bishop 1999, without noise).
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import BODY_JOINT_COUNT, smpl_joint_shares
from corporeal.body.enveloping import coordinates
from corporeal.body.pose import RotationPose
from corporeal.body.registrations import Registrations, Take
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.enveloping.bones import BoneLayout
from corporeal.models.enveloping.training.problem import FLIP, OwnBodies


@dataclass(frozen=True, eq=False)
class Given:
    """What is known of people and scans."""

    own: OwnBodies
    """Of everybody."""
    poses: RotationPose
    """Of all scans."""

    def of_person(self, person: int, which: Int[NumpyArray, "n"]) -> "Given":
        """One person alone, and some scans, which are the person's."""
        some = slice(person, person + 1)
        return Given(OwnBodies(self.own.dress[some], self.own.joints[some]), self.poses[which])


def given_of(registrations: Registrations, template: Template) -> Given:
    """Bodies of all people and poses of all scans, in the order of the takes.

    Raises `InputError` for the first take or person of which they are not known.
    """
    skeleton, count = template.skeleton, template.mesh.vertex_count
    rotations, places = [], []
    for take in registrations.takes:
        turns, shift = _pose_of(take, skeleton)
        rotations.append(turns)
        places.append(shift)
    dress, joints = [], []
    for name in dict.fromkeys(take.subject for take in registrations.takes):
        subject = registrations.subjects.get(name)
        who = None if subject is None else subject.identity
        if who is None or who.rest_vertices.shape != (count, 3):
            raise InputError(
                f"the set does not tell {name}'s body in the zero pose; expected {count} vertices "
                f"and joints, as captures have them. Let training find them (--poses found)."
            )
        dress.append(np.asarray(who.rest_vertices, np.float32))
        joints.append(_joints_of(np.asarray(who.joints, np.float64), skeleton, name))
    return Given(
        OwnBodies(np.stack(dress), np.stack(joints)),
        RotationPose(np.concatenate(rotations), np.concatenate(places)),
    )


def tells_poses(registrations: Registrations) -> bool:
    """Whether every take comes with its poses and every person with its body."""
    people = registrations.subjects
    return all(
        take.truth is not None and take.subject in people and people[take.subject].identity
        is not None for take in registrations.takes
    )  # fmt: skip


def _pose_of(take: Take, skeleton: Skeleton) -> tuple[NumpyArray, NumpyArray]:
    """Rotations of the skeleton's joints, and shifts of the root."""
    if take.truth is None:
        raise InputError(
            f"take {take.subject} {take.sequence} does not tell its poses; expected those of a "
            f"capture. Let training find them (--poses found)."
        )
    every = slice(0, take.frame_count)
    turns = matrix_from_axis_angle(np.asarray(take.truth.joint_rotations[every], np.float64))
    shift = np.asarray(take.truth.root_translation[every], np.float64)
    count = len(skeleton.names)
    if turns.shape[1] != count:
        _require_hands(turns.shape[1], skeleton, f"take {take.subject} {take.sequence}")
        whole = np.tile(np.eye(3), (len(turns), count, 1, 1))
        whole[:, :BODY_JOINT_COUNT] = turns[:, :BODY_JOINT_COUNT]
        turns = whole
    return turns, shift


def _joints_of(joints: NumpyArray, skeleton: Skeleton, name: str) -> Float64[NumpyArray, "J 3"]:
    if len(joints) == len(skeleton.names):
        return joints
    _require_hands(len(joints), skeleton, f"the body of {name}")
    return smpl_joint_shares(load_default_body().template.skeleton) @ joints


def _require_hands(came: int, skeleton: Skeleton, what: str) -> None:
    """Refuse other joints than the default body's, which one joint a hand stands for."""
    default = load_default_body().template.skeleton
    own = skeleton.names
    if came != default.joint_count or own[:BODY_JOINT_COUNT] != default.names[:BODY_JOINT_COUNT]:
        raise InputError(
            f"{what} has {came} joints and the template {len(own)}; expected as many, or the "
            f"default body's {default.joint_count}."
        )


def principal_bodies(
    own: OwnBodies, layout: BoneLayout, mirror: NumpyArray | None, count: int
) -> tuple[Float64[NumpyArray, "B s"], NumpyArray, Float64[NumpyArray, "m b"]]:
    """x of unit covariance, and rows of c̄ and W for dress shapes and bone parameters.

    Dress shapes are taken with their root where the layout's is, and half from their mirror image.
    """
    root = layout.parents.index(-1)
    home = np.asarray(layout.joints, np.float64)[root]
    shapes = np.asarray(own.dress, np.float64) - own.joints[:, root, None] + home
    if mirror is not None:
        shapes = 0.5 * (shapes + FLIP * shapes[:, mirror])
    people = len(shapes)
    mean = shapes.mean(axis=0)
    flat = (shapes - mean).reshape(people, -1)
    # principal axes of few people in many numbers, from products between people
    sizes, left = np.linalg.eigh(flat @ flat.T)
    order = np.argsort(-sizes, kind="stable")[:count]
    x = np.sqrt(people) * left[:, order]
    rows = (x.T @ flat / people).reshape(count, *mean.shape)
    bones = np.stack([layout.fit(j - j[root] + home) for j in own.joints])
    found = np.linalg.lstsq(coordinates(x), bones, rcond=None)[0]
    return x, np.concatenate([mean[None], rows]).astype(np.float32), found
