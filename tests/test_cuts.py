"""Cuts: where a skeleton jumps faster than any body moves, flesh goes with it and is not flung."""

from dataclasses import replace

import numpy as np
import public_data
import pytest
import synthetic

from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.cuts import (
    FASTEST_LIMB,
    FASTEST_SPIN,
    FASTEST_TRAVEL,
    FASTEST_TURN,
    Cut,
    find_cuts,
)
from corporeal.motions.library import MOTIONS, make_motion
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.pipelines.make_body import shaped_body
from corporeal.pipelines.motion_source import motion_for
from corporeal.pipelines.options import AnimateOptions
from corporeal.skinning.kinematics import forward_kinematics

TEMPLATE = synthetic.arm_template()
IDENTITY = synthetic.identity_of(TEMPLATE)
JOINTS = len(synthetic.PARENTS)
CLOSE = 1e-3
"""Metres between flesh after a cut and flesh that was started there."""


def motion(
    rotations: np.ndarray | None = None, root: np.ndarray | None = None, fps: float = 30.0
) -> Motion:
    """Of the capsule arm; what is not given stays at zero."""
    if rotations is None:
        rotations = np.zeros((1 if root is None else len(root), JOINTS, 3))
    root = np.zeros((len(rotations), 3)) if root is None else root
    return Motion("jump", fps, rotations, root, TEMPLATE.skeleton)


def jumping(kind: str) -> Motion:
    """At rest for six frames, elsewhere at rest for twelve."""
    rotations, root, fps = np.zeros((18, JOINTS, 3)), np.zeros((18, 3)), 30.0
    if kind == "far":
        root[6:] = (583.0, 0.0, 0.0)
    elif kind == "near":
        root[6:] = (0.0, 0.0, 0.5)
    elif kind == "yaw":
        rotations[6:, 0] = (0.0, np.pi, 0.0)
    elif kind == "flip":
        rotations[6:, 0] = (np.pi, 0.0, 0.0)
    elif kind == "pose":
        rotations[6:, 1], fps = (0.0, 0.0, 2.0), 120.0
    elif kind == "both":
        rotations[6:, 1], root[6:] = (0.0, 0.0, 2.0), (3.0, 1.0, 0.0)
    return motion(rotations, root, fps)


def cuts_of(played: Motion, identity: Identity = IDENTITY) -> tuple[Cut, ...]:
    joints = np.asarray(identity.joints, np.float64)
    frames = forward_kinematics(
        np.asarray(played.joint_rotations, np.float64),
        joints,
        played.skeleton.parents,
        np.asarray(played.root_translation, np.float64),
    )
    reach = float(np.linalg.norm(joints - joints[0], axis=1).max())
    return find_cuts(frames, played.fps, played.skeleton.parents, reach)


@pytest.mark.parametrize(
    ("kind", "speed", "goes_on"),
    [
        ("far", 583 * 30.0, True),
        ("near", 15.0, True),
        ("yaw", 30 * np.pi, True),
        ("flip", 30 * np.pi, False),
        ("pose", 120 * 0.6 * np.sin(1.0), False),
        ("both", 30 * np.sqrt(10.0), False),
    ],
)
def test_a_jump_is_one_cut(kind: str, speed: float, goes_on: bool) -> None:
    """Way or turn times the frame rate; a flip turns gravity and a bent joint the pose."""
    (cut,) = cuts_of(jumping(kind))
    assert cut.frame == 6
    assert cut.pose_goes_on is goes_on
    assert cut.speed == pytest.approx(speed, rel=1e-9)


def test_limits_are_what_they_say() -> None:
    """A root and a joint just below each limit are no cut, just above they are one."""
    for share, count in ((0.99, 0), (1.01, 1)):
        root, spun, bent = np.zeros((9, 3)), np.zeros((9, JOINTS, 3)), np.zeros((9, JOINTS, 3))
        root[4:, 0] = share * FASTEST_TRAVEL / 30
        spun[4:, 0, 1] = share * FASTEST_SPIN / 30
        bent[4:, 2, 0] = share * FASTEST_TURN / 120
        assert len(cuts_of(motion(root=root))) == count
        assert len(cuts_of(motion(spun))) == count
        assert len(cuts_of(motion(bent, fps=120.0))) == count
        # the farthest joint from joint 1, 0.3 m: a chord of 2 · 0.3 sin(angle / 2)
        swung = np.zeros((9, JOINTS, 3))
        swung[4:, 1, 2] = 2 * np.arcsin(share * FASTEST_LIMB / 150 / 0.6)
        assert len(cuts_of(motion(swung, fps=150.0))) == count


def test_steady_travel_is_no_cut() -> None:
    """A train at 80 m/s, and a fall that has reached 55; to board the train in one frame is."""
    time = np.arange(30) / 30
    train = np.stack([80 * time, 0 * time, 0 * time], axis=1)
    assert cuts_of(motion(root=train)) == ()
    fall = np.stack([0 * time, -0.5 * 9.81 * (time + 4.6) ** 2, 0 * time], axis=1)
    assert cuts_of(motion(root=fall)) == ()
    train[:10] = train[10]
    assert [cut.frame for cut in cuts_of(motion(root=train))] == [11]


def test_large_creatures_are_faster_in_proportion() -> None:
    """A wing of 30 m that turns at 4 rad/s moves at 120 m/s: no cut; of 0.6 m at 80 it is one."""
    rotations = np.zeros((60, JOINTS, 3))
    rotations[:, 1, 2] = 0.8 * np.sin(5 * np.arange(60) / 30)
    large = Identity(50 * IDENTITY.rest_vertices, 50 * IDENTITY.joints, {})
    assert cuts_of(motion(rotations), large) == ()


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_authored_motions_have_no_cuts(fps: float) -> None:
    body = shaped_body()
    for name in MOTIONS:
        authored = make_motion(name, body.identity, body.template, fps=fps)
        assert cuts_of(authored, body.identity) == (), name


def test_five_times_too_fast_is_no_cut() -> None:
    """Jumping jacks whose finger tips reach 38 m/s, below the 40 of the limit; ten times as fast
    they would be at 76, and are cut."""
    body = shaped_body()
    jacks = make_motion("jumping-jacks", body.identity, body.template, fps=60.0)
    assert cuts_of(replace(jacks, fps=300.0), body.identity) == ()
    assert len(cuts_of(replace(jacks, fps=600.0), body.identity)) > 0


@pytest.mark.data("cmu-mocap")
def test_captures_have_no_cuts() -> None:
    body = shaped_body()
    for stem in public_data.CMU_CLIPS:
        played, _ = motion_for(str(public_data.cmu_clip(stem)), AnimateOptions(), body)
        assert cuts_of(played, body.identity) == (), stem


@pytest.mark.parametrize("kind", ["far", "near", "yaw", "flip", "pose", "both"])
def test_flesh_after_a_cut_is_as_if_started_there(kind: str) -> None:
    """At the first frame after it, and until the end twelve frames later, the skin is within a
    millimetre of flesh in static balance there; before it, of the first frame. A note tells it."""
    jump = jumping(kind)
    taken = ProjectiveSkinning(TEMPLATE).animate(IDENTITY, jump)
    simulation = ProjectiveSimulation(TEMPLATE)
    there = Pose(jump.joint_rotations[-1], jump.root_translation[-1])
    started = simulation.skin(simulation.start(IDENTITY, there))
    assert np.abs(taken.vertices[:6] - taken.vertices[0]).max() < CLOSE
    assert np.abs(taken.vertices[6] - started).max() < CLOSE
    assert np.abs(taken.vertices[6:] - started).max() < CLOSE
    (note,) = taken.notes
    assert "frame 6" in note


@pytest.mark.parametrize("kind", ["far", "near", "yaw", "flip", "pose", "both"])
def test_live_flesh_goes_with_a_jump(kind: str) -> None:
    """`step` over the same jumps: within a millimetre of flesh that was started there, at once and
    ten steps later, with the clock running on."""
    jump = jumping(kind)
    simulation = ProjectiveSimulation(TEMPLATE)
    state = simulation.start(IDENTITY)
    there = Pose(jump.joint_rotations[-1], jump.root_translation[-1])
    started = simulation.skin(simulation.start(IDENTITY, there))
    for _ in range(10):
        state = simulation.step(state, there, 1 / jump.fps)
        assert np.abs(simulation.skin(state) - started).max() < CLOSE
    assert state.time == pytest.approx(10 / jump.fps)


def shaken(count: int = 40) -> Motion:
    """Travels at 3 m/s along x while its joints swing: flesh is never at rest."""
    time = np.arange(count) / 60
    rotations = np.zeros((count, JOINTS, 3))
    rotations[:, 1, 2] = 0.4 * np.sin(12 * time)
    rotations[:, 3, 1] = 0.5 * np.sin(17 * time)
    return motion(rotations, np.stack([3 * time, 0 * time, 0 * time], axis=1), 60.0)


def cut_and_turned(whole: Motion, frame: int, turn: float, jump: np.ndarray) -> Motion:
    """The motion from `frame` on elsewhere, turned about y."""
    rotations, root = whole.joint_rotations.copy(), whole.root_translation.copy()
    about = np.asarray(matrix_from_axis_angle(np.array([0.0, turn, 0.0])))
    rotations[frame:, 0, 1] += turn
    root[frame:] = root[frame:] @ about.T + jump
    return replace(whole, joint_rotations=rotations, root_translation=root)


@pytest.mark.parametrize("turn", [0.0, 2.0])
def test_a_camera_cut_shows_no_jolt(turn: float) -> None:
    """Gravity knows neither place nor heading: seen from its root, flesh in full swing moves
    through the cut as it does without one. Rounding alone is between them, 1e-6 m; linear travel is
    interpolated exactly."""
    whole, jump = shaken(), np.array([40.0, 0.0, -25.0])
    cut = cut_and_turned(whole, 20, turn, jump)
    deformer = ProjectiveSkinning(TEMPLATE)
    plain, taken = deformer.animate(IDENTITY, whole), deformer.animate(IDENTITY, cut)
    assert len(taken.notes) == 1
    assert plain.notes == ()
    frames = taken.world_from_joint[:, 0]
    seen = np.einsum("nac,nva->nvc", frames[:, :3, :3], taken.vertices - frames[:, None, :3, 3])
    expected = plain.vertices - plain.world_from_joint[:, None, 0, :3, 3]
    assert np.abs(expected - IDENTITY.rest_vertices).max() > 0.05
    assert np.abs(seen - expected).max() < 1e-6


def test_a_live_camera_cut_shows_no_jolt() -> None:
    """The same with `step`, which does not know where the root will go: it goes on with the
    velocity that flesh at the root has."""
    whole = shaken()
    cut = cut_and_turned(whole, 20, 2.0, np.array([40.0, 0.0, -25.0]))
    simulation, found = ProjectiveSimulation(TEMPLATE), []
    for played in (whole, cut):
        state = simulation.start(IDENTITY, Pose(played.joint_rotations[0], np.zeros(3)))
        skins = []
        for frame in range(1, 40):
            pose = Pose(played.joint_rotations[frame], played.root_translation[frame])
            state = simulation.step(state, pose, 1 / 60)
            about = np.asarray(matrix_from_axis_angle(played.joint_rotations[frame, 0]))
            skins.append((simulation.skin(state) - pose.root_translation) @ about)
        found.append(np.stack(skins))
    assert np.abs(found[0] - found[1]).max() < 1e-6


def test_a_cut_in_the_first_and_last_interval() -> None:
    """Cuts right after the first frame, before the last, and one after the other: started anew
    everywhere, as each pose is held for no time."""
    root = np.array([[0.0, 0, 0], [9.0, 0, 0], [9.0, 0, 0], [9.0, 7, 0], [2.0, 0, 0]])
    taken = ProjectiveSkinning(TEMPLATE).animate(IDENTITY, motion(root=root))
    assert len(taken.notes) == 3
    still = taken.vertices - root[:, None]
    assert np.abs(still - IDENTITY.rest_vertices).max() < CLOSE


def test_loops_with_cuts_close() -> None:
    """A seam that travels is no cut; a loop that is cut on its way, or right after its first frame,
    closes as others do. Its flesh is that of the loop without a cut but for its bounce, which
    is interpolated on one side of the cut alone: a second difference of 3 mm, a share of it."""
    time = np.arange(21) / 30
    root = np.stack([3.0 * time, 0.03 * np.sin(3 * np.pi * time), 0 * time], axis=1)
    whole, controls = None, {"loop": True, "damping_ratio": 0.8}
    for frame in (None, 10, 1):
        if frame is not None:
            root[frame:, 2] = 50.0
        taken = ProjectiveSkinning(TEMPLATE).animate(IDENTITY, motion(root=root), controls)
        flesh = taken.vertices - root[:, None]
        whole = flesh if whole is None else whole
        assert len(taken.notes) == (0 if frame is None else 1)
        assert np.abs(flesh[-1] - flesh[0]).max() < 1e-4
        assert np.abs(flesh - whole).max() < 3e-3


@pytest.mark.parametrize("kind", ["near", "flip"])
def test_static_flesh_is_cut_too(kind: str) -> None:
    jump = jumping(kind)
    taken = ProjectiveSkinning(TEMPLATE).animate(IDENTITY, jump, {"dynamics": False})
    simulation = ProjectiveSimulation(TEMPLATE, ProjectiveControls(dynamics=False))
    there = Pose(jump.joint_rotations[-1], jump.root_translation[-1])
    started = simulation.skin(simulation.start(IDENTITY, there))
    assert np.abs(taken.vertices[6:] - started).max() < 1e-4


def test_without_cuts_a_jump_drags_flesh() -> None:
    """What stress tests ask for: flesh is metres behind a root that jumped."""
    simulation = ProjectiveSimulation(TEMPLATE, cuts=False)
    state = simulation.start(IDENTITY)
    state = simulation.step(state, Pose(np.zeros((JOINTS, 3)), np.array([583.0, 0, 0])), 1 / 30)
    left = simulation.skin(state) - IDENTITY.rest_vertices - [583.0, 0, 0]
    assert np.abs(left).max() > 1.0


def test_very_many_cuts_are_summed_up() -> None:
    root = np.zeros((60, 3))
    root[::2, 0] = 5.0
    taken = ProjectiveSkinning(TEMPLATE).animate(IDENTITY, motion(root=root))
    assert len(taken.notes) == 21
    assert taken.notes[-1] == "39 more cuts, the last at frame 59"


@pytest.mark.parametrize("loop", [False, True])
def test_a_device_cuts_as_the_cpu_does(loop: bool) -> None:
    """A jump of the root and one of the pose in a moving clip, on JAX's CPU backend: the skins of
    the CPU within 1e-4 m, which is float32 over forty frames, and the same notes."""
    whole = cut_and_turned(shaken(), 12, 1.0, np.array([583.0, 0.0, 20.0]))
    rotations = whole.joint_rotations.copy()
    rotations[25:, 0] = (2.5, 0.0, 0.0)
    played = replace(whole, joint_rotations=rotations)
    controls = {"loop": loop, "volume": 0.0, "damping_ratio": 1.0}
    cpu = ProjectiveSkinning(TEMPLATE).animate(IDENTITY, played, controls)
    clip = ProjectiveSkinning(TEMPLATE).simulation(controls)
    made = make_clip(clip, BoundEnvironment(clip.body(IDENTITY)), IDENTITY, played)
    found = device_posed_vertices(made, "cpu")
    assert [crossing.start is None for crossing in made.crossings.values()] == [False, True]
    assert made.notes == cpu.notes
    assert np.abs(found - cpu.vertices).max() < 1e-4
