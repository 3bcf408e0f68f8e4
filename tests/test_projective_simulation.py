"""Projective skinning as a simulation: balance, stepping, resuming, maps, frame rates, violence."""

from pathlib import Path

import numpy as np
import pytest
import synthetic

from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.errors import FormatError, InputError
from corporeal.formats.npz import write_npz
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.fast_projective_skinning.state_file import read_state, write_state
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.integration import resting
from corporeal.physics.solver.reference import ReferenceSolver

JOINTS = len(synthetic.PARENTS)
ZERO = Pose(np.zeros((JOINTS, 3)), np.zeros(3))


@pytest.fixture(scope="module")
def template() -> Template:
    return synthetic.arm_template()


@pytest.fixture(scope="module")
def identity(template: Template) -> Identity:
    return synthetic.identity_of(template)


def painted_simulation(template: Template, maps: TissueMaps) -> ProjectiveSimulation:
    """A simulation with painted maps."""
    return ProjectiveSimulation(template, preparations=Preparations(template, maps=maps))


def turned(angle: float) -> Pose:
    """The whole body turned about its own long axis, x."""
    rotations = np.zeros((JOINTS, 3))
    rotations[0, 0] = angle
    return Pose(rotations, np.zeros(3))


def unturned(skin: np.ndarray, angle: float) -> np.ndarray:
    """Such a body seen from its root; y is then up when it is not turned."""
    c, s = np.cos(angle), np.sin(angle)
    return skin @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def test_standing_stays_and_turned_over_sags(template: Template, identity: Identity) -> None:
    """At 1 g the rest shape is in balance, within a tenth of a millimetre; upside down, its flesh
    hangs the other way by twice its weight."""
    simulation = ProjectiveSimulation(template)
    state = simulation.start(identity)
    for _ in range(60):
        state = simulation.step(state, ZERO, 1 / 60)
    assert np.abs(simulation.skin(state) - identity.rest_vertices).max() < 1e-4
    over = simulation.skin(simulation.start(identity, turned(np.pi)))
    sag = unturned(over, np.pi) - identity.rest_vertices
    assert sag[:, 1].mean() > 1e-4  # up, seen from the body: down in the world


def test_a_live_loop_is_the_clip(template: Template, identity: Identity) -> None:
    """Stepping pose by pose gives the deformer's frames, where the clip begins without movement and
    its root stays: both interpolate rotations alike."""
    rotations = np.zeros((6, JOINTS, 3))
    rotations[1:, 1, 2] = np.linspace(0, 0.6, 5)
    motion = Motion("bend", 60.0, rotations, np.zeros((6, 3)), template.skeleton)
    clip = ProjectiveSkinning(template).animate(identity, motion).vertices
    simulation = ProjectiveSimulation(template)
    state = simulation.start(identity, Pose(rotations[0], np.zeros(3)))
    live = [simulation.skin(state)]
    for frame in range(1, 6):
        state = simulation.step(state, Pose(rotations[frame], np.zeros(3)), 1 / 60)
        live.append(simulation.skin(state))
    assert np.abs(clip[-1] - identity.rest_vertices).max() > 0.05
    np.testing.assert_allclose(np.stack(live), clip, atol=1e-7)


def test_a_saved_state_goes_on_as_if_never_saved(
    template: Template, identity: Identity, tmp_path: Path
) -> None:
    """Bit for bit, in the same simulation and in a new one that prepares the body again."""
    simulation = ProjectiveSimulation(template, ProjectiveControls(ground=True))
    state = simulation.start(identity)
    poses = [turned(0.2 * k) for k in range(1, 9)]
    for pose in poses[:4]:
        state = simulation.step(state, pose, 1 / 30)
    write_state(tmp_path / "state.npz", state)
    resumed = read_state(tmp_path / "state.npz", identity)
    alone = read_state(tmp_path / "state.npz")
    assert resumed.identity is identity
    assert resumed.time == state.time == pytest.approx(4 / 30)
    other = ProjectiveSimulation(template, ProjectiveControls(ground=True))
    for pose in poses[4:]:
        state = simulation.step(state, pose, 1 / 30)
        resumed = simulation.step(resumed, pose, 1 / 30)
        alone = other.step(alone, pose, 1 / 30)
    np.testing.assert_array_equal(simulation.skin(state), simulation.skin(resumed))
    np.testing.assert_array_equal(simulation.skin(state), other.skin(alone))


def test_files_that_are_no_states_are_refused(
    template: Template, identity: Identity, tmp_path: Path
) -> None:
    state = ProjectiveSimulation(template).start(identity)
    write_state(tmp_path / "state.npz", state)
    wider = Identity(1.1 * np.asarray(identity.rest_vertices), identity.joints, {})
    with pytest.raises(FormatError, match="another body"):
        read_state(tmp_path / "state.npz", wider)
    write_npz(tmp_path / "other.npz", {"format": np.asarray("corporeal-body")})
    with pytest.raises(FormatError, match="a corporeal-body file; expected"):
        read_state(tmp_path / "other.npz")
    newer = {"format": np.asarray("corporeal-state"), "format_version": np.asarray(99)}
    write_npz(tmp_path / "newer.npz", newer)
    with pytest.raises(FormatError, match="format version 99"):
        read_state(tmp_path / "newer.npz")


def test_maps_stiffen_and_weigh_where_painted(template: Template, identity: Identity) -> None:
    """Ten times the stiffness on one half: it sags a tenth there, and about as before elsewhere."""
    count = template.mesh.vertex_count
    half = np.asarray(template.mesh.vertices)[:, 0] > 0.5
    sags = []
    for painted in (np.ones(count), np.where(half, 10.0, 1.0)):
        simulation = painted_simulation(template, TissueMaps(stiffness=painted))
        over = simulation.skin(simulation.start(identity, turned(np.pi)))
        sag = unturned(over, np.pi) - identity.rest_vertices
        sags.append([np.abs(sag[where, 1]).mean() for where in (half, ~half)])
    (soft, left), (hard, left_after) = sags
    assert hard < 0.25 * soft
    assert left_after == pytest.approx(left, rel=0.2)
    for maps, words in (
        (TissueMaps(mass=np.zeros(count)), "mass map has 122 values from 0"),
        (TissueMaps(stiffness=np.ones(count + 1)), "expected 122"),
        (TissueMaps(stiffness=np.full(count, np.nan)), "finite"),
    ):
        with pytest.raises(InputError, match=words):
            Preparations(template, maps=maps)


def test_forces_on_the_skin_pull(template: Template, identity: Identity) -> None:
    simulation = ProjectiveSimulation(template)
    state = simulation.start(identity)
    forces = np.zeros((template.mesh.vertex_count, 3))
    forces[:, 2] = 0.05
    for _ in range(20):
        state = simulation.step(state, ZERO, 1 / 60, forces)
    assert (simulation.skin(state) - identity.rest_vertices)[:, 2].mean() > 1e-4


def test_violent_motion_ends_at_rest(template: Template, identity: Identity) -> None:
    """Teleports of metres and joints flipped at random, thirty times a second: all numbers stay
    finite, and two seconds after it stops the skin is back within a millimetre. These are no cuts
    here: the flesh feels them."""
    simulation = ProjectiveSimulation(template, cuts=False)
    state, random = simulation.start(identity), np.random.default_rng(8)
    for _ in range(10):
        wild = Pose(random.normal(scale=1.5, size=(JOINTS, 3)), random.normal(scale=3.0, size=3))
        state = simulation.step(state, wild, 1 / 30)
        assert np.isfinite(simulation.skin(state)).all()
    for _ in range(90):
        state = simulation.step(state, ZERO, 1 / 30)
    assert np.abs(simulation.skin(state) - identity.rest_vertices).max() < 1e-3


def swing(template: Template, identity: Identity, fps: int) -> complex:
    """Metres and phase by which the mean skin swings against its skeleton, shaken at 4 Hz: the wave
    fitted by least squares, so that frames need not fill whole periods."""
    time = np.arange(fps + 1) / fps
    root = np.zeros((fps + 1, 3))
    root[:, 1] = 0.02 * np.sin(2 * np.pi * 4 * time) * np.minimum(1, 3 * time) ** 2
    motion = Motion("shake", float(fps), np.zeros((fps + 1, JOINTS, 3)), root, template.skeleton)
    soft = {"stiffness": np.array(4e3)}
    skin = ProjectiveSkinning(template).animate(identity, motion, soft).vertices
    height = (skin - identity.rest_vertices)[:, :, 1].mean(axis=1) - root[:, 1]
    last = time >= 0.5
    wave = 2 * np.pi * 4 * time[last]
    basis = np.stack([np.cos(wave), np.sin(wave), np.ones_like(wave)], axis=1)
    fitted, *_ = np.linalg.lstsq(basis, height[last], rcond=None)
    return complex(fitted[0], fitted[1])


def ringing(template: Template, identity: Identity, fps: int) -> float:
    """Frequency, Hz, of flesh that swings freely after its skeleton stopped."""
    count = int(0.9 * fps)
    time = np.arange(count + 1) / fps
    root = np.zeros((count + 1, 3))
    root[:, 1] = 0.03 * np.sin(np.pi * np.minimum(time, 0.25) / 0.25)
    motion = Motion("stop", float(fps), np.zeros((count + 1, JOINTS, 3)), root, template.skeleton)
    loose = {"stiffness": np.array(4e3), "damping_ratio": np.array(0.05)}
    skin = ProjectiveSkinning(template).animate(identity, motion, loose).vertices
    height = (skin - identity.rest_vertices)[:, :, 1].mean(axis=1)
    after = time >= 0.3

    def missed(frequency: float) -> float:
        wave = 2 * np.pi * frequency * time[after]
        fade = np.exp(-time[after])
        basis = np.stack([fade * np.cos(wave), fade * np.sin(wave), np.ones_like(wave)], axis=1)
        fitted, *_ = np.linalg.lstsq(basis, height[after], rcond=None)
        return float(np.sum((height[after] - basis @ fitted) ** 2))

    return min(np.linspace(2, 9, 701), key=missed)


def test_jiggle_does_not_depend_on_the_frame_rate(template: Template, identity: Identity) -> None:
    """Amplitude and phase within 5 % from 24 to 120 frames a second, and the frequency of free
    swinging too. 25 divides into steps of another length than the others."""
    swings = {fps: swing(template, identity, fps) for fps in (24, 25, 60, 120)}
    assert abs(swings[120]) > 5e-3
    for found in swings.values():
        assert abs(found - swings[120]) < 0.05 * abs(swings[120])
    tones = {fps: ringing(template, identity, fps) for fps in (25, 120)}
    for tone in tones.values():
        assert tone == pytest.approx(tones[120], rel=0.05)


def test_loops_close(template: Template, identity: Identity) -> None:
    """A periodic shake that also travels, of two thirds and of a third of a second: seen from the
    skeleton the flesh ends where and as fast as it began when the clip is asked to loop, and not
    otherwise."""
    for frames in (20, 10):
        time = np.linspace(0, 1, frames + 1)
        wave = 0.03 * np.sin(frames / 10 * 2 * np.pi * time)
        root = np.stack([0.5 * time, wave, 0 * time], axis=1)
        motion = Motion("loop", 30.0, np.zeros((len(time), JOINTS, 3)), root, template.skeleton)
        gaps, jerks = [], []
        for loop in (0.0, 1.0):
            skin = ProjectiveSkinning(template).animate(identity, motion, {"loop": np.array(loop)})
            flesh = skin.vertices - root[:, None]
            gaps.append(np.abs(flesh[-1] - flesh[0]).max())
            jerks.append(np.abs((flesh[1] - flesh[0]) - (flesh[-1] - flesh[-2])).max())
        assert gaps[0] > 1e-3
        assert gaps[1] < 1e-4
        assert jerks[1] < 0.5 * jerks[0]


@pytest.mark.parametrize(
    ("joint", "turn", "stays"),
    [
        (0, (np.pi, 0.0, 0.0), 1e-3),
        (0, (0.0, np.pi, 0.0), 1e-3),
        (1, (0.0, 0.0, 3.0), 1e-3),
        (2, (3.0, 1.0, 0.0), 1e-3),
        (1, (0.0, 0.0, np.pi), 0.05),
    ],
)
def test_clips_begin_quietly_in_any_pose(
    template: Template,
    identity: Identity,
    joint: int,
    turn: tuple[float, float, float],
    stays: float,
) -> None:
    """Upside down, back to front, with joints turned by 172°: held for half a second, the skin
    stays within a millimetre of the first frame. Folded by exactly 180° the balance is one of
    symmetry, and flesh buckles out of it by less than half its thickness."""
    rotations = np.zeros((16, JOINTS, 3))
    rotations[:, joint] = turn
    motion = Motion("held", 30.0, rotations, np.zeros((16, 3)), template.skeleton)
    skin = ProjectiveSkinning(template).animate(identity, motion).vertices
    assert np.isfinite(skin).all()
    assert np.abs(skin[0] - identity.rest_vertices).max() > 0.05
    assert np.abs(skin - skin[0]).max() < stays


def test_flesh_rests_on_the_ground_and_is_flattened(template: Template, identity: Identity) -> None:
    """An arm of 10 cm radius held 9 cm over the floor: with the ground its skin stays above, within
    0.4 mm, in static balance and while stepping; without, it is a centimetre under it."""
    pose = Pose(np.zeros((JOINTS, 3)), np.array([0.0, 0.09, 0.0]))
    for dynamics in (True, False):
        settings = ProjectiveControls(ground=True, dynamics=dynamics)
        simulation = ProjectiveSimulation(template, settings)
        state = simulation.start(identity, pose)
        for _ in range(10):
            state = simulation.step(state, pose, 1 / 60)
        lowest = simulation.skin(state)[:, 1].min()
        assert -4e-4 < lowest < 1e-3
        assert np.abs(state.flesh.velocities).max() < 0.02
    assert (
        ProjectiveSimulation(template)
        .skin(ProjectiveSimulation(template).start(identity, pose))[:, 1]
        .min()
        < -8e-3
    )


def test_controls_rebuild_only_what_they_touch(template: Template, identity: Identity) -> None:
    deformer = ProjectiveSkinning(template)
    plain = deformer.simulation().body(identity)
    for name, value in {"loop": 1.0, "ground": 1.0, "dynamics": 0.0}.items():
        other = deformer.simulation({name: np.array(value)}).body(identity)
        assert other.system is plain.system
        assert other.coupling is plain.coupling
    damped = deformer.simulation({"damping_ratio": np.array(0.1)}).body(identity)
    assert damped.system is plain.system
    assert damped.solver(0.01) is not plain.solver(0.01)
    assert plain.solver(0.01) is plain.solver(0.01)
    harder = deformer.simulation({"stiffness": np.array(5e4)}).body(identity)
    assert harder.system is not plain.system
    assert harder.coupling is plain.coupling
    stuck = deformer.simulation({"sliding": np.array(0.0)}).body(identity)
    assert stuck.coupling is not plain.coupling
    assert stuck.system is plain.system
    thin = deformer.simulation({"bone_radii": np.array(0.5)}).body(identity)
    assert thin.model.bones.bone_radii.sum() == pytest.approx(
        0.5 * plain.model.bones.bone_radii.sum(), rel=0.1
    )


def test_the_body_matches_the_reference_after_sixty_steps(
    template: Template, identity: Identity
) -> None:
    """Compiled and float64 solvers agree to 1e-4 of the body's length, 1 m; not so where elements
    rest on the limit of being small, on whose side rounding decides."""
    body = ProjectiveSimulation(template, ProjectiveControls(untangled=False)).body(identity)
    rule = damped_rule(1 / 120, 5, body.material.damping_ratio)
    rest = np.asarray(body.model.vertices, float)
    fast, slow = resting(rest, rule.step), resting(rest, rule.step)
    quick, reference = body.solver(1 / 120), ReferenceSolver(body.system, rule)
    for step in range(60):
        now = rest + np.array([0, 0.03 * np.sin(0.2 * step), 0])
        anchors = now[body.system.anchored]
        fast = quick.step(fast, anchors, body.weight, targets=now)
        slow = reference.step(slow, anchors, body.weight, targets=now)
    assert np.abs(slow.positions - rest).max() > 0.01
    assert np.abs(fast.positions - slow.positions).max() < 1e-4


def test_mass_and_gravity_are_in_si(template: Template, identity: Identity) -> None:
    """Density is body mass over body volume; the rest shape's weight is mass times gravity."""
    light = ProjectiveSimulation(template, ProjectiveControls(mass=1.0)).body(identity)
    heavy = ProjectiveSimulation(template, ProjectiveControls(mass=3.0, gravity=2.0)).body(identity)
    np.testing.assert_allclose(heavy.system.masses, 3 * light.system.masses, rtol=1e-12)
    np.testing.assert_allclose(heavy.weight[:, 1], -2.0 * heavy.system.masses)


def test_wrong_calls_are_refused(template: Template, identity: Identity) -> None:
    simulation = ProjectiveSimulation(template)
    state = simulation.start(identity)
    with pytest.raises(InputError, match="dt is 0"):
        simulation.step(state, ZERO, 0.0)
    with pytest.raises(InputError, match="pose has 2 joints"):
        simulation.step(state, Pose(np.zeros((2, 3)), np.zeros(3)), 0.1)
    with pytest.raises(InputError, match="batch of poses"):
        simulation.step(state, Pose(np.zeros((4, JOINTS, 3)), np.zeros((4, 3))), 0.1)
    several = Identity(np.stack([identity.rest_vertices] * 2), np.stack([identity.joints] * 2), {})
    with pytest.raises(InputError, match="batch of identities"):
        simulation.start(several)
