"""All flesh of clips from a device, on JAX's CPU backend, against the CPU; and bodies filled up to
common shapes."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from scipy.sparse import csc_array
from scipy.sparse import eye_array as sparse_eye

from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.anatomy.template import layered_template
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.errors import CapacityError, InputError
from corporeal.physics.contact.colliders.collider import placed
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.contact.gpu.detection import Capacity
from corporeal.physics.fast_projective_skinning.clip import Clip, make_clip
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment, Environment
from corporeal.physics.fast_projective_skinning.flesh_frames import CpuClips, FleshFrame
from corporeal.physics.fast_projective_skinning.gpu import flesh_frames
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    Wanted,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.contacts import collisions_of
from corporeal.physics.fast_projective_skinning.gpu.flesh_frames import DeviceClips
from corporeal.physics.fast_projective_skinning.gpu.padding import (
    padded_body,
    padded_inverse,
    padded_neighbours,
    padded_preservation,
    padded_skin,
    padded_state,
)
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body, device_skin
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    StaticRounds,
)
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.inverse import DenseInverse, local_inverse
from corporeal.physics.solver.gpu.step import SolverOptions
from corporeal.physics.solver.gpu.two_level import two_level_inverse
from corporeal.physics.solver.integration import resting
from corporeal.skinning.kinematics import forward_kinematics

ARM = synthetic.arm_template()
IDENTITY = synthetic.identity_of(ARM)
AGREED = 2e-4
"""Metres between engines whose float32 iterations begin alike (`test_layered_device`)."""


def waved(frames: int = 8, jump: int | None = None) -> Motion:
    """The arm bends while it goes up and down; from the frame `jump` on three metres away."""
    rotations, root = np.zeros((frames, ARM.skeleton.joint_count, 3)), np.zeros((frames, 3))
    rotations[:, 1, 2] = 0.2 * np.sin(0.3 * np.arange(frames))
    root[:, 1] = 0.01 * np.sin(0.45 * np.arange(frames))
    if jump is not None:
        root[jump:, 0] += 3.0
    return Motion("wave", 120.0, rotations, root, ARM.skeleton)


def clip_of(motion: Motion, rounds: int | None = None, **controls) -> Clip:
    simulation = ProjectiveSimulation(ARM, ProjectiveControls(**controls))
    if rounds is not None:
        simulation.following = StaticRounds(rounds)
    return make_clip(simulation, BoundEnvironment(simulation.body(IDENTITY)), IDENTITY, motion)


def both(clip: Clip, piece: int) -> tuple[list[FleshFrame], list[FleshFrame]]:
    """The frames of the CPU, and of JAX."""
    return list(CpuClips().frames(clip)), list(DeviceClips("cpu", piece).frames(clip))


def require_alike(here: list[FleshFrame], there: list[FleshFrame], residual: float) -> None:
    """All vertices within `AGREED`, anchored ones among them; residuals within a share, or 60 nm,
    the spacing of single precision at a metre."""
    assert len(here) == len(there)
    for one, other in zip(here, there, strict=True):
        assert np.linalg.norm(one.positions - other.positions, axis=1).max() < AGREED
        assert other.residual == pytest.approx(one.residual, rel=residual, abs=6e-8)


def test_moving_flesh_is_that_of_the_cpu() -> None:
    """Eight frames in two pieces, the second not full: positions of all simulated vertices, and the
    root mean square of the last correction, which is no rounding error."""
    clip = clip_of(waved())
    here, there = both(clip, piece=4)
    require_alike(here, there, residual=0.05)
    assert min(frame.residual for frame in here[1:]) > 1e-7
    carried = clip.body.carriers(clip.body.frames(clip.poses))[:: clip.steps]
    free = ~clip.body.system.anchored
    away = [np.abs(f.positions - c)[free].max() for f, c in zip(here, carried, strict=True)]
    assert max(away) > 5 * AGREED


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_twin_takes_as_many_rounds_as_it_is_told(rounds: int) -> None:
    """One round or two from the frame before, moved with its bones: shapes and residuals of the
    CPU. Twenty rounds, as many as static frames took whatever they were told, leave 1e-9 m."""
    here, there = both(clip_of(waved(5), rounds, dynamics=False), piece=4)
    require_alike(here, there, residual=0.2)
    if rounds == 1:
        assert min(frame.residual for frame in there[1:]) > 5e-8


def test_flesh_crosses_cuts() -> None:
    """Where the root alone jumps flesh goes on with its movement, as on the CPU; pieces end
    there."""
    clip = clip_of(waved(6, jump=3), volume=0.0)
    assert list(clip.crossings) == [3]
    here, there = both(clip, piece=4)
    require_alike(here, there, residual=0.05)


def test_skin_meets_skin_and_capacity_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arm folds onto itself. The device searches for contact forces less far: against what
    collisions do, a tenth at most (`test_gpu_contacts`). Told that contacts did not fit, it asks
    for twice the capacity; told so at the largest one, it says so."""
    small = Capacity(64, 2**15, 2**15)
    monkeypatch.setattr(flesh_frames, "Capacity", lambda: small)
    template = synthetic.arm_template(24, 12)
    identity = synthetic.identity_of(template)
    rotations = np.zeros((3, len(synthetic.PARENTS), 3))
    rotations[:, 2, 2] = [2.55, 2.6, 2.65]
    motion = Motion("fold", 120.0, rotations, np.zeros((3, 3)), template.skeleton)

    def folding(collisions: str) -> Clip:
        controls = ProjectiveControls(volume=0.0, untangled=False, collisions=collisions)
        simulation = ProjectiveSimulation(template, controls)
        outside = BoundEnvironment(simulation.body(identity))
        return make_clip(simulation, outside, identity, motion)

    sizes, clip = [], folding("global")
    real = run_clip

    def counted(*given, **settings):
        """The clip with one capacity, which is said to be too small at first."""
        sizes.append(settings["capacity"].contacts)
        after, posed, touched = real(*given, **(settings | {"capacity": small}))
        assert not np.asarray(touched.full).any()
        return after, posed, touched._replace(full=touched.full | (sizes[-1] < 256))

    monkeypatch.setattr(flesh_frames, "run_clip", counted)
    here, there = both(clip, piece=2)
    without = list(CpuClips().frames(folding("off")))
    effect = np.sqrt(((here[-1].positions - without[-1].positions) ** 2).mean())
    assert effect > 1e-4
    assert np.sqrt(((here[-1].positions - there[-1].positions) ** 2).mean()) < 0.1 * effect
    assert sizes == [64, 128, 256]
    monkeypatch.setattr(flesh_frames, "MOST_CONTACTS", 128)
    with pytest.raises(CapacityError, match="capacity for 128 contacts"):
        list(DeviceClips("cpu", piece=2).frames(clip))


def test_a_padded_body_moves_as_it_did() -> None:
    """Added vertices, tetrahedra, prisms and regions add zeros to sums: float32 rounding, and no
    vertex of a metre's size moves by more than 1e-6 m otherwise after four steps."""
    controls = ProjectiveControls()
    body = ProjectiveSimulation(ARM, controls).body(IDENTITY)
    rule = damped_rule(1 / 120, 5, controls.damping_ratio)
    turns = np.zeros((5, len(synthetic.PARENTS), 3))
    turns[:, 1, 2] = 0.05 * np.arange(5)
    path = forward_kinematics(turns, IDENTITY.joints, synthetic.PARENTS, np.zeros((5, 3)))
    frames, origins = clip_frames(path[:, None])
    plain = device_body(body)
    wide = padded_body(plain)
    preservation, inverse = plain.preservation(rule), plain.inverse(rule)
    start = device_state(plain, [resting(plain.rest, 1 / 120)], origins[0], 1 / 120)
    count, ends = plain.free_count, []
    cases = (
        (plain, inverse, preservation, start),
        (
            wide,
            padded_inverse(inverse, wide.free_count),
            padded_preservation(preservation, wide),
            padded_state(start, wide),
        ),
    )
    for prepared, inverted, kept, state in cases:
        after, posed, _ = run_clip(
            prepared, inverted, rule, state, frames, preservation=kept, piece=4,
            wanted=Wanted(simulated=True, flesh=True), options=SolverOptions(unrolled=1),
        )  # fmt: skip
        ends.append((after, posed))
    (after, posed), (wide_after, wide_posed) = ends
    assert wide.free_count > count
    np.testing.assert_allclose(wide_posed.flesh[:, :, :count], posed.flesh, atol=1e-6)
    np.testing.assert_allclose(wide_posed.simulated, posed.simulated, atol=1e-6)
    np.testing.assert_allclose(wide_posed.vertices, posed.vertices, atol=1e-6)
    np.testing.assert_allclose(wide_posed.squares, posed.squares, rtol=1e-2)
    regions = plain.volume.volumes.shape[1]
    largest = np.abs(np.asarray(after.pressures)).max()
    assert largest > 0.0
    np.testing.assert_allclose(
        wide_after.pressures[:, :regions], after.pressures, atol=1e-3 * largest
    )
    assert np.isfinite(np.asarray(wide_after.positions)).all()


def shapes(value: object) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in jax.tree.leaves(value)]


def test_two_people_have_equal_shapes() -> None:
    """A man and a woman in layers: other numbers of free vertices, one program for both."""
    plain, wide = [], []
    for sex in ("female", "male"):
        template = layered_template(sex)
        layers = Layers(
            template.skin, template.muscle, template.bone, template.triangles, template.layered
        )
        identity = Identity(template.skin, template.joints, {})
        deformer = LayeredSkinning(template.body, layers, vertex_count=900)
        body = deformer.simulation({"collisions": "global"}).body(identity)
        prepared = device_body(body)
        filled = padded_body(prepared)
        skin = device_skin(body.skin_contacts(), body.model)
        rule = damped_rule(1 / 120, 5, 0.12)
        inverse, preservation = prepared.inverse(rule, dense=True), prepared.preservation(rule)
        assert isinstance(inverse, DenseInverse)
        local = local_inverse(np.asarray(inverse.matrix))
        near = collisions_of(filled, skin, inverse.matrix).near
        plain.append(shapes((prepared, local, preservation, skin)))
        wide.append(
            shapes(
                (
                    filled,
                    padded_inverse(local, filled.free_count),
                    padded_preservation(preservation, filled),
                    padded_skin(skin),
                    padded_neighbours(near, filled),
                )
            )
        )
    assert plain[0] != plain[1]
    assert wide[0] == wide[1]


def test_only_dense_and_local_inverses_are_padded() -> None:
    with pytest.raises(InputError, match="expected a dense or a local one"):
        padded_inverse(two_level_inverse(csc_array(sparse_eye(64))), 1024)


def test_bones_move_flesh_on_as_on_the_cpu() -> None:
    """`SimulatedBody.carry` between two poses a tenth of a radian apart, in float32."""
    from corporeal.physics.contact.gpu.touching import displacements

    body = ProjectiveSimulation(ARM, ProjectiveControls(volume=0.0)).body(IDENTITY)
    prepared, random = device_body(body), np.random.default_rng(3)
    turns = random.normal(scale=0.5, size=(1, len(synthetic.PARENTS), 3)) + np.zeros((2, 1, 1))
    turns[1] += 0.1
    before, after = forward_kinematics(
        turns, IDENTITY.joints, synthetic.PARENTS, np.array([[0.0, 0, 0], [0.02, 0, 0.01]])
    )
    positions = body.carriers(before) + 0.02 * random.normal(size=body.rest.shape)
    free = np.asarray(prepared.order)[: prepared.free_count]
    moved = prepared.moved(
        jnp.asarray(positions[free].T, jnp.float32),
        displacements(jnp.asarray(before, jnp.float32), jnp.asarray(after, jnp.float32)),
    )
    expected = body.carry(positions, before, after) - positions
    np.testing.assert_allclose(moved.T, expected[free], atol=2e-6)


def test_what_is_not_offered_is_refused() -> None:
    """Colliders, loops: in words, before anything is computed."""
    still, engine = waved(3), DeviceClips("cpu")
    with pytest.raises(InputError, match="loops"):
        next(engine.frames(clip_of(still, loop=True)))
    clip = clip_of(still)
    ground = BoundEnvironment(clip.body, Environment((placed(Ground()),)))
    with pytest.raises(InputError, match="colliders"):
        next(engine.frames(replace(clip, outside=ground)))
    with pytest.raises(InputError, match="no device is called"):
        DeviceClips("toaster")
