"""Sequences of one known person: turns, fast motion, flesh that slides."""

import numpy as np
from scanned_people import drawn_person

from corporeal.body.identity import Identity
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.person_model import PersonState, person_model
from corporeal.registration.tracking import Tracker


def test_tracker_follows_a_turn() -> None:
    """A known person, turned by 0.05 rad a frame, is followed to a millimetre or two."""
    model, state = person_model(), drawn_person()
    rest, joints = model.space.vertices(state.shape), model.space.joints(state.shape)
    tracker = Tracker(Identity(rest, joints, {}))
    tracker.begin(state.axis_angles)
    joint = model.template.skeleton.index("left_elbow")
    turned = state.pose.rotations.copy()
    turned[joint] = turned[joint] @ matrix_from_axis_angle(np.array([0.0, -0.05, 0.0]))
    truth = model.posed(PersonState(state.shape, RotationPose(turned, state.pose.translation)))
    random = np.random.default_rng(0)
    triangles = np.asarray(model.template.mesh.triangles)
    shares = random.dirichlet((1, 1, 1), 20_000)
    chosen = random.integers(len(triangles), size=20_000)
    points = np.einsum("nk,nkc->nc", shares, truth.vertices[triangles[chosen]])
    frame = tracker.frame(points)
    assert not frame.lost
    assert not frame.recovered
    error = np.linalg.norm(frame.vertices - truth.vertices, axis=1)
    assert np.median(error) < 1.5e-3


def test_tracker_expects_an_arm_to_swing_on() -> None:
    """Both arms swing by 9° a frame, hands by 10 cm: fingers are found in their places (where no
    motion was expected to go on, hands lay 18 mm off)."""
    model, state = person_model(), drawn_person()
    rest, joints = model.space.vertices(state.shape), model.space.joints(state.shape)
    tracker = Tracker(Identity(rest, joints, {}))
    tracker.begin(state.axis_angles)
    triangles = np.asarray(model.template.mesh.triangles)
    labels = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    hands = np.isin(labels, ("left_hand", "right_hand"))
    shares = np.random.default_rng(0).dirichlet((1, 1, 1), 30_000)
    chosen = np.random.default_rng(1).integers(len(triangles), size=30_000)
    rotations = state.pose.rotations.copy()
    errors = []
    for _ in range(6):
        for side, way in (("left", 1.0), ("right", -1.0)):
            joint = model.template.skeleton.index(f"{side}_shoulder")
            swing = matrix_from_axis_angle(np.array([0.0, 0.0, 0.16 * way]))
            rotations[joint] = swing @ rotations[joint]
        pose = RotationPose(rotations.copy(), state.pose.translation)
        truth = model.posed(PersonState(state.shape, pose)).vertices
        frame = tracker.frame(np.einsum("nk,nkc->nc", shares, truth[triangles[chosen]]))
        errors.append(np.linalg.norm(frame.vertices - truth, axis=1)[hands].mean())
    assert errors[-1] < 3e-3


def test_tracked_flesh_slides_along_the_skin() -> None:
    """Breast and belly sink by 15 mm within four frames: what moves along the surface follows from
    what moves across it, half of the way at least (with what slides held by a tenth, 0.46)."""
    model, state = person_model(), drawn_person()
    rest, joints = model.space.vertices(state.shape), model.space.joints(state.shape)
    tracker = Tracker(Identity(rest, joints, {}))
    tracker.begin(state.axis_angles)
    skin, triangles = model.posed(state).vertices, np.asarray(model.template.mesh.triangles)
    labels = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    soft = np.isin(labels, ("belly", "left_breast", "right_breast"))
    away = np.linalg.norm(skin - skin[soft].mean(axis=0), axis=1)
    sunk = 0.015 * np.exp(-0.5 * (away / 0.12) ** 2)[:, None] * [0.0, -1.0, 0.0]
    random = np.random.default_rng(0)
    shares = random.dirichlet((1, 1, 1), 40_000)
    area = np.linalg.norm(np.cross(*np.moveaxis(np.diff(skin[triangles], axis=1), 1, 0)), axis=1)
    chosen = random.choice(len(triangles), 40_000, p=area / area.sum())
    for share in (0.25, 0.5, 0.75, 1.0):
        truth = skin + share * sunk
        frame = tracker.frame(np.einsum("nk,nkc->nc", shares, truth[triangles[chosen]]))
    moved = (frame.vertices - skin)[soft]
    followed = np.sum(moved * sunk[soft]) / np.sum(sunk[soft] ** 2)
    assert followed > 0.5
