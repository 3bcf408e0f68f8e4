"""What every deformer promises, written once: a new deformer is one line in the registry.

Each contract runs for every name in the registry on a small synthetic arm, and on the default body;
what a deformer takes and needs is read from its traits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import get_args

import numpy as np
import pytest
import synthetic
from dynamics_models import trained_for
from scipy.spatial.transform import Rotation

from corporeal.anatomy.fit.layers import fit_layers
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.composition import Composition
from corporeal.body.controls import Controls, control
from corporeal.body.deformer import Deformer, StatefulDeformer
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.stepper import Stepper
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.pipelines.deformers import (
    contract_problem,
    deformer_class,
    deformer_names,
    make_deformer,
)
from corporeal.pipelines.offsets import EXACT, offsets_by_cause, static_take
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.skinning.offsets import SkinningName, skinned_offsets

SLACK = {"gravity": 0.0, "dynamics": False, "stress_free": "t-pose"}
"""Controls that leave out momentum and weight, under which flesh does not move rigidly, and have
the zero pose be its rest shape."""


@dataclass(frozen=True, kw_only=True)
class Wobbling(Controls):
    """Controls that no deformer here has."""

    wobbliness: float = control(1.0, low=0.0, high=2.0, help="how it wobbles")


@dataclass(frozen=True)
class Case:
    """A deformer, a body and a lively motion for it."""

    deformer: Deformer
    identity: Identity
    motion: Motion

    @property
    def template(self) -> Template:
        return self.deformer.template

    @cached_property
    def take(self) -> Animation:
        """The body moved through the lively motion; simulated once for all that look at it."""
        return self.deformer.animate(self.identity, self.motion)

    def moved(self, rotations: np.ndarray, translation: np.ndarray) -> Motion:
        dtype = self.motion.joint_rotations.dtype
        return Motion(
            "moved",
            self.motion.fps,
            rotations.astype(dtype),
            translation.astype(dtype),
            self.template.skeleton,
        )

    def still(self, frames: int = 2) -> Motion:
        count = self.template.skeleton.joint_count
        return self.moved(np.zeros((frames, count, 3)), np.zeros((frames, 3)))


BODIES = {
    "arm": (synthetic.arm_template, np.float64),
    "arm-single": (synthetic.arm_template, np.float32),
    "default-body": (lambda: load_default_body().template, np.float32),
}


@cache
def default_layers() -> Layers:
    """Layers of the default body, fitted once for all contracts."""
    identity = synthetic.identity_of(load_default_body().template, np.float32)
    return fit_layers(identity, "male", Composition(15.0, 30.0))


def made(name: str, template: Template) -> Deformer:
    """The deformer by its name; layers and made-up models come from here, to save time."""
    layers = default_layers() if deformer_class(name).needs_layers else None
    return make_deformer(name, template, layers=layers, trained=trained_for(name))


@pytest.fixture(params=deformer_names())
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@cache
def prepared(name: str, body: str) -> Case:
    """One deformer for all contracts, which keeps the body that it prepared."""
    make_template, dtype = BODIES[body]
    template = make_template()
    identity = synthetic.identity_of(template, dtype)
    return Case(
        made(name, template),
        identity,
        synthetic.random_motion(template, frames=5, seed=3, dtype=dtype),
    )


@pytest.fixture(scope="module", autouse=True)
def memory() -> Iterator[None]:
    """Prepared bodies are given back when the contracts are done."""
    yield
    prepared.cache_clear()
    default_layers.cache_clear()


@pytest.fixture(params=BODIES)
def case(request: pytest.FixtureRequest, name: str) -> Case:
    if request.param != "default-body" and not deformer_class(name).accepts_custom_mesh:
        pytest.skip(f"{name} moves the default body alone")
    return prepared(name, request.param)


def rounding(case: Case) -> float:
    """Metres that the case's precision may lose on bodies of a few metres."""
    return 64 * float(np.finfo(case.motion.joint_rotations.dtype).eps)


def balance(case: Case) -> float:
    """Metres that rounding and the deformer's solver may be off."""
    return max(rounding(case), case.deformer.tolerance)


def slack(deformer: Deformer, *names: str) -> dict[str, float | str]:
    """Those of `SLACK` that the deformer can be told; or of the ones named."""
    known = {row.name for row in deformer.Controls.table()} & set(names or SLACK)
    return {name: value for name, value in SLACK.items() if name in known}


def test_is_a_deformer(case: Case, name: str) -> None:
    assert isinstance(case.deformer, Deformer)
    assert case.deformer.name == name
    assert contract_problem(type(case.deformer), name) is None
    assert case.deformer.summary
    assert isinstance(case.deformer, StatefulDeformer) == case.deformer.stateful
    assert case.deformer.Controls().changed() == {}


def test_a_stepper_plays_the_clip(case: Case) -> None:
    """Stepped frame by frame it gives the frames of `animate`, where a clip begins without movement
    and its root stays. A state can be stepped from twice: it is not changed."""
    if not isinstance(case.deformer, StatefulDeformer):
        pytest.skip(f"{case.deformer.name} has no memory")
    rotations = case.still(4).joint_rotations.copy()
    rotations[2:, 1, 2] = [0.1, 0.2]
    motion = case.moved(rotations, np.zeros((4, 3)))
    stepper = case.deformer.stepper()
    assert isinstance(stepper, Stepper)
    state = stepper.start(case.identity, Pose(rotations[0], motion.root_translation[0]))
    posed_vertices = [np.asarray(stepper.skin(state))]
    before, pose = state, Pose(rotations[0], motion.root_translation[0])
    for turned in rotations[1:]:
        pose = Pose(turned, motion.root_translation[0])
        before, state = state, stepper.step(state, pose, 1 / motion.fps)
        np.testing.assert_array_equal(stepper.skin(before), posed_vertices[-1])
        posed_vertices.append(np.asarray(stepper.skin(state)))
    again = stepper.step(before, pose, 1 / motion.fps)
    np.testing.assert_array_equal(stepper.skin(again), posed_vertices[-1])
    clip = case.deformer.animate(case.identity, motion).vertices
    assert np.abs(clip[-1] - clip[0]).max() > 1e-2
    np.testing.assert_allclose(posed_vertices, clip, rtol=0, atol=rounding(case))


def test_animation_is_whole(case: Case) -> None:
    """Shapes, dtype, finiteness, and what it was made from."""
    animation = case.take
    frames, joints = case.motion.frame_count, case.template.skeleton.joint_count
    assert animation.deformer == case.deformer.name
    assert animation.template is case.template
    assert animation.identity is case.identity
    assert animation.motion is case.motion
    assert animation.vertices.shape == (frames, case.template.mesh.vertex_count, 3)
    assert animation.world_from_joint.shape == (frames, joints, 4, 4)
    assert animation.vertices.dtype == case.motion.joint_rotations.dtype
    assert animation.world_from_joint.dtype == case.motion.joint_rotations.dtype
    for offsets in (animation.pose_offsets, animation.dynamic_offsets):
        assert offsets is None or offsets.shape == animation.vertices.shape
    assert np.isfinite(animation.vertices).all()
    np.testing.assert_array_equal(animation.joints, animation.world_from_joint[..., :3, 3])


def test_zero_pose_is_the_rest_shape(case: Case) -> None:
    """Where flesh is free of stress in the zero pose; weight does not matter."""
    controls = slack(case.deformer, "stress_free")
    vertices = case.deformer.animate(case.identity, case.still(), controls).vertices
    expected = np.broadcast_to(case.identity.rest_vertices, vertices.shape)
    np.testing.assert_allclose(vertices, expected, rtol=0, atol=balance(case))


def test_root_motion_is_rigid(case: Case) -> None:
    """Turning the root turns the rest shape about the root joint, and translation moves it."""
    still = case.still(3)
    rotations, translation = still.joint_rotations.copy(), still.root_translation.copy()
    rotations[:, 0] = [[0.3, -0.8, 0.5], [0, np.pi, 0], [0, 0, 0]]
    translation[:] = [[0, 0, 0], [0.1, -0.2, 0.3], [1, 2, 3]]
    motion = case.moved(rotations, translation)
    vertices = case.deformer.animate(case.identity, motion, slack(case.deformer)).vertices
    root = case.identity.joints[0].astype(float)
    for frame in range(3):
        turn = Rotation.from_rotvec(motion.joint_rotations[frame, 0].astype(float)).as_matrix()
        expected = (case.identity.rest_vertices - root) @ turn.T + root + translation[frame]
        np.testing.assert_allclose(vertices[frame], expected, rtol=0, atol=balance(case))


def test_joints_follow_kinematics(case: Case) -> None:
    frames = forward_kinematics(
        case.motion.joint_rotations.astype(float),
        case.identity.joints.astype(float),
        case.template.skeleton.parents,
        case.motion.root_translation.astype(float),
    )
    animation = case.take
    np.testing.assert_allclose(animation.world_from_joint, frames, rtol=0, atol=rounding(case))


def test_frames_stand_alone(case: Case, name: str) -> None:
    """All frames at once equal frame by frame, where a deformer has no memory."""
    if case.deformer.stateful:
        pytest.skip(f"{name} depends on earlier frames")
    together = case.take.vertices
    for frame in range(case.motion.frame_count):
        rotations = case.motion.joint_rotations[frame : frame + 1]
        alone = case.moved(rotations, case.motion.root_translation[frame : frame + 1])
        vertices = case.deformer.animate(case.identity, alone).vertices
        np.testing.assert_array_equal(vertices[0], together[frame])


def test_repeats_bitwise_and_keeps_its_inputs(case: Case) -> None:
    inputs = (
        case.identity.rest_vertices,
        case.identity.joints,
        case.motion.joint_rotations,
        case.motion.root_translation,
    )
    before = [array.copy() for array in inputs]
    first = case.take
    second = case.deformer.animate(case.identity, case.motion)
    fresh = made(case.deformer.name, case.template)
    third = fresh.animate(case.identity, case.motion)
    for other in (second, third):
        np.testing.assert_array_equal(first.vertices, other.vertices)
        np.testing.assert_array_equal(first.world_from_joint, other.world_from_joint)
    for array, copy in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_offsets_by_cause_give_the_vertices_back(case: Case) -> None:
    """skinning(rest + pose + dynamic) = vertices to 1e-6 m, whatever the skinning. Only what
    remembers has dynamic offsets, and in its static take none. The motion is no cut:
    after a jump flesh would begin anew."""
    deformer, identity = case.deformer, case.identity
    rotations, root = case.motion.joint_rotations[:2], case.motion.root_translation[:2]
    share = rotations.dtype.type(0.1)
    motion = case.moved(share * rotations, share * root)
    animation = deformer.animate(identity, motion)
    static = static_take(deformer, identity, motion) if deformer.stateful else None
    if static is not None:
        with pytest.raises(InputError, match="static=static_take"):
            offsets_by_cause(animation)
    for skinning in get_args(SkinningName):
        found = offsets_by_cause(animation, static, skinning)
        again = skinned_offsets(animation, found.total, skinning)
        apart = np.linalg.norm(again - np.asarray(animation.vertices, np.float64), axis=-1)
        assert apart[~found.singular].max() < EXACT
        assert found.skinning == skinning
        assert found.singular_count < 1e-3 * found.singular.size
        assert found.dynamic.any() == deformer.stateful
        if static is not None:
            assert not offsets_by_cause(static, static, skinning).dynamic.any()
        if deformer.is_linear_blend and skinning == "lbs":
            assert np.abs(found.pose[~found.singular]).max() < 1e-3
        if animation.offset_skinning == skinning:
            known = np.asarray(animation.pose_offsets)
            np.testing.assert_allclose(found.pose, known, rtol=0, atol=2e-5)


def test_unknown_control_is_refused(case: Case) -> None:
    with pytest.raises(InputError, match="wobbliness"):
        case.deformer.animate(case.identity, case.motion, {"wobbliness": np.ones(1)})
    with pytest.raises(InputError, match="was given Wobbling; expected"):
        case.deformer.animate(case.identity, case.motion, Wobbling())


def test_wrong_joint_count_is_refused(case: Case) -> None:
    """A motion of another skeleton is refused by name of both counts."""
    skeleton = Skeleton(("a", "b"), (-1, 0), np.zeros((2, 3)))
    motion = Motion("other", 30.0, np.zeros((1, 2, 3)), np.zeros((1, 3)), skeleton)
    count = case.template.skeleton.joint_count
    with pytest.raises(InputError, match=f"2 joints; the template has {count}"):
        case.deformer.animate(case.identity, motion)


def test_wrong_identity_is_refused(case: Case) -> None:
    rest, joints = case.identity.rest_vertices, case.identity.joints
    for wrong in (Identity(rest[:-1], joints, {}), Identity(rest, joints[:-1], {})):
        with pytest.raises(InputError, match=r"identity has .*; the template has"):
            case.deformer.animate(wrong, case.motion)


def test_not_finite_numbers_are_refused(case: Case) -> None:
    """NaN and infinity never reach a deformer: the nouns refuse them, saying where."""
    for bad in (np.nan, np.inf):
        rotations = case.motion.joint_rotations.copy()
        rotations[2, 1, 0] = bad
        with pytest.raises(InputError, match=r"first at index \(2, 1, 0\)"):
            case.moved(rotations, case.motion.root_translation)
        rest = case.identity.rest_vertices.copy()
        rest[7, 2] = bad
        with pytest.raises(InputError, match=r"first at index \(7, 2\)"):
            Identity(rest, case.identity.joints, {})
