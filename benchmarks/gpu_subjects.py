"""Prepare what the GPU benchmark runs on, on a machine that has the CPU engines.

    python benchmarks/gpu_subjects.py             # all, some minutes
    python benchmarks/gpu_subjects.py body layered   # some parts only

Writes `build/gpu/`: the default body prepared for a device, four other people, bodies of other
sizes, three clips of 120 frames (two steps each) with where the float64 reference and the CPU
simulation end, one with contacts, a full-resolution body with thousands of them, flesh with volume
preservation and layered flesh. The benchmark itself (`benchmarks/gpu.py`) then needs NumPy, SciPy,
JAX and jaxtyping alone.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.formats.npz import write_npz
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.motions.resample import sampled
from corporeal.physics.contact.touching import Touching
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP, ProjectiveControls
from corporeal.physics.fast_projective_skinning.gpu.body import save_device_body, save_device_skin
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body, device_skin
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.integration import State, resting
from corporeal.physics.solver.protocol import Solver
from corporeal.physics.solver.reference import ReferenceSolver

FOLDER = Path(__file__).parents[1] / "build" / "gpu"
CLIPS = ("running-on-spot", "shake-hips", "one-leg-jump")
FRAMES, STEPS, ITERATIONS = 120, 2, 5
PEOPLE = 4
PUBLISHED = ProjectiveControls(volume=0.0, untangled=False, stress_free="t-pose")
"""The flesh of Komaritzan 2022, without volume preservation."""
FLESH = ("corners", "gradients", "weights", "masses")
"""Of the material's body, which has no attachments."""
SIZES = (1500, 8000)
CURLED = (
    ("left_hip", 0, -2.8), ("right_hip", 0, -2.8), ("left_hip", 2, -0.1), ("right_hip", 2, 0.1),
    ("left_knee", 0, 2.5), ("right_knee", 0, 2.5), ("spine1", 0, 1.2), ("spine2", 0, 1.2),
    ("spine3", 0, 1.2), ("neck", 0, 1.2), ("head", 0, 1.2), ("left_shoulder", 2, -1.6),
    ("right_shoulder", 2, 1.6), ("left_elbow", 1, -1.5), ("right_elbow", 1, 1.5),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    FOLDER.mkdir(parents=True, exist_ok=True)
    model = PhenotypeModel()
    identity = model.prepare()
    for part in parser.parse_args().parts:
        PARTS[part](model, identity)


def write_body(model: PhenotypeModel, identity: Identity) -> None:
    """The default body with the flesh of Komaritzan 2022."""
    body = ProjectiveSimulation(model.template, PUBLISHED).body(identity)
    save_device_body(FOLDER / "body.npz", device_body(body))


def write_people(model: PhenotypeModel, identity: Identity) -> None:
    """Bodies drawn over the phenotype's range."""
    random, simulation = np.random.default_rng(5), ProjectiveSimulation(model.template, PUBLISHED)
    names = ("gender", "muscle", "weight", "height")
    for number in range(PEOPLE):
        person = model.prepare({name: np.array(random.uniform(0.2, 0.8)) for name in names})
        body = device_body(simulation.body(person))
        save_device_body(FOLDER / f"person_{number}.npz", body)


def write_sizes(model: PhenotypeModel, identity: Identity) -> None:
    """The default body, simulated with fewer and with more vertices."""
    for count in SIZES:
        preparations = Preparations(model.template, vertex_count=count)
        sized = ProjectiveSimulation(model.template, PUBLISHED, preparations=preparations)
        save_device_body(FOLDER / f"size_{count}.npz", device_body(sized.body(identity)))


def write_material(model: PhenotypeModel, identity: Identity) -> None:
    """The body of the example that recovers maps, as arrays."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    from recover_material import body_scene  # pyright: ignore[reportMissingImports]

    scene = body_scene()
    way = scene.rule
    rule = np.array([way.step, way.iterations, way.damping, way.viscosity])
    arrays = {"stiffness": scene.stiffness, "mass": scene.mass, "rule": rule}
    arrays |= {f"flesh_{k}": np.asarray(getattr(scene.flesh, k)) for k in FLESH}
    arrays |= {f"parts_{k}": np.asarray(v) for k, v in scene.parts._asdict().items()}
    arrays |= {f"take_{k}": np.asarray(v) for k, v in scene.take._asdict().items()}
    write_npz(FOLDER / "material.npz", arrays)


def write_kept(model: PhenotypeModel, identity: Identity) -> None:
    """The body as it is by default, with volume preservation."""
    write_ended("kept", ProjectiveSimulation(model.template), model, identity)


def write_layered(model: PhenotypeModel, identity: Identity) -> None:
    """The default man with fat and muscle over his bones."""
    man = model.prepare({"gender": 1.0})
    write_ended("layered", LayeredSkinning(model.template).simulation(), model, man)


def write_ended(
    name: str, simulation: ProjectiveSimulation, model: PhenotypeModel, identity: Identity
) -> None:
    """A body, and where the CPU simulation ends in a clip."""
    body = simulation.body(identity)
    save_device_body(FOLDER / f"{name}_body.npz", device_body(body))
    motion = make_motion(CLIPS[0], identity, model.template, seed=1, fps=60.0)
    places = np.arange(FRAMES * STEPS + 1) / STEPS
    frames = body.frames(sampled(motion, places, 60.0 * STEPS).poses)
    start = started(simulation, identity, frames, motion)
    fast = passed(body, body.solver(LARGEST_STEP), start, frames)
    pressures = np.zeros(0) if start.pressures is None else start.pressures
    np.savez_compressed(
        FOLDER / f"clip_{name}.npz",
        frames=frames,
        positions=start.positions,
        velocities=start.velocities,
        pressures=pressures,
        fast=fast.positions,
        reach=body.touch_reach,
    )


def write_clip(name: str, model: PhenotypeModel, identity: Identity) -> None:
    """Frames, start, and the ends of reference and CPU simulation, both without contacts."""
    simulation = ProjectiveSimulation(model.template, PUBLISHED)
    body = simulation.body(identity)
    motion = make_motion(name, identity, model.template, seed=1, fps=60.0)
    places = np.arange(FRAMES * STEPS + 1) / STEPS
    frames = body.frames(sampled(motion, places, 60.0 * STEPS).poses)
    start = started(simulation, identity, frames, motion)
    rule = damped_rule(LARGEST_STEP, ITERATIONS, body.material.damping_ratio)
    reference = passed(body, ReferenceSolver(body.system, rule), start, frames)
    fast = passed(body, body.solver(LARGEST_STEP), start, frames)
    np.savez_compressed(
        FOLDER / f"clip_{name}.npz",
        frames=frames,
        positions=start.positions,
        velocities=start.velocities,
        reference=reference.positions,
        fast=fast.positions,
    )


def write_contacts(model: PhenotypeModel, identity: Identity) -> None:
    """A body that folds its arms and one leg onto itself, and where the CPU has it a frame later.

    It starts in the shape that it would have without collisions, so that there are many contacts.
    """
    preparations = Preparations(model.template)
    apart = ProjectiveSimulation(model.template, PUBLISHED, preparations=preparations)
    touching = ProjectiveSimulation(
        model.template, replace(PUBLISHED, collisions="global"), preparations=preparations
    )
    body = touching.body(identity)
    finder = preparations.of(identity, touching.settings.stress_free).skin_contacts(
        touching.settings
    )
    state = apart.start(identity, folded(body, 1.0))
    poses = [folded(body, 1.0 + 0.05 * np.sin(0.1 * frame)) for frame in range(61)]
    frames = np.concatenate(
        [touching._path(body, a, b, STEPS)[:-1] for a, b in pairwise(poses)]
        + [touching._path(body, poses[-1], poses[-1], 1)[:1]]
    )
    rows, begun = finder.contacts(state.flesh.positions, frames[0])
    after = touching.step(
        replace(state, flesh=replace(state.flesh, touching=begun)), poses[1], 1 / 60
    )
    save_device_skin(FOLDER / "contacts_skin.npz", device_skin(finder, body.model))
    np.savez_compressed(
        FOLDER / "contacts.npz",
        frames=frames,
        positions=state.flesh.positions,
        after=after.flesh.positions,
        rows=len(rows),
        **touching_arrays(begun),
    )


def touching_arrays(touching: Touching) -> dict[str, Any]:
    """What touches, by the names that the benchmark reads."""
    names = (part.name for part in fields(Touching) if part.name != "edges")
    return {f"touching/{name}": getattr(touching, name) for name in names}


def write_many(model: PhenotypeModel, identity: Identity) -> None:
    """The full-resolution body, curled up into itself as far as it goes without collisions."""
    preparations = Preparations(model.template, vertex_count=model.template.mesh.vertex_count)
    apart = ProjectiveSimulation(model.template, PUBLISHED, preparations=preparations)
    body = apart.body(identity)
    touching = replace(PUBLISHED, collisions="global")
    finder = preparations.of(identity, touching.stress_free).skin_contacts(touching)
    pose = curled(body)
    frame = apart._path(body, pose, pose, 1)[0]
    positions = apart.start(identity, pose).flesh.positions
    save_device_body(FOLDER / "many_body.npz", device_body(body))
    save_device_skin(FOLDER / "many_skin.npz", device_skin(finder, body.model))
    np.savez_compressed(
        FOLDER / "many.npz",
        frame=frame,
        positions=positions,
        **touching_arrays(finder.contacts(positions, frame)[1]),
    )


def curled(body: SimulatedBody) -> Pose:
    """Knees in the belly, head between them, hands through the trunk."""
    rotations = np.zeros((len(body.joints), 3))
    for name, axis, turn in CURLED:
        rotations[body.skeleton.index(name), axis] = turn
    return Pose(rotations, np.zeros(3))


def folded(body: SimulatedBody, share: float) -> Pose:
    """Arms bent and pressed to the trunk, one leg pulled up."""
    rotations = np.zeros((len(body.joints), 3))
    for name, axis, turn in (
        ("left_elbow", 1, -2.3),
        ("right_elbow", 1, 2.3),
        ("left_shoulder", 2, -1.3),
        ("right_shoulder", 2, 1.3),
        ("left_knee", 0, 2.3),
        ("left_hip", 0, -1.9),
    ):
        rotations[body.skeleton.index(name), axis] = share * turn
    return Pose(rotations, np.zeros(3))


def started(simulation: ProjectiveSimulation, identity: Identity, frames, motion) -> State:
    """Quiet flesh in the first pose, moving with its bones."""
    body = simulation.body(identity)
    first = Pose(
        np.asarray(motion.joint_rotations[0], float), np.asarray(motion.root_translation[0], float)
    )
    quiet = simulation.start(identity, first).flesh
    ahead = body.carry(quiet.positions, frames[0], frames[1])
    speeds = (ahead - quiet.positions) / LARGEST_STEP
    return resting(quiet.positions, LARGEST_STEP, speeds, quiet.pressures)


def passed(body: SimulatedBody, solver: Solver, state: State, frames: np.ndarray) -> State:
    """The state after all steps."""
    for before, now in pairwise(body.carriers(frames)):
        carried = (now - before) / LARGEST_STEP
        state = solver.step(state, now[body.system.anchored], body.weight, carried)
    return state


PARTS: dict[str, Callable[[PhenotypeModel, Identity], None]] = {
    "body": write_body,
    **{name: partial(write_clip, name) for name in CLIPS},
    "contacts": write_contacts,
    "layered": write_layered,
    "kept": write_kept,
    "people": write_people,
    "many": write_many,
    "sizes": write_sizes,
    "material": write_material,
}


if __name__ == "__main__":
    main()
