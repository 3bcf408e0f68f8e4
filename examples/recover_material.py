"""Recover how stiff and how heavy flesh is, as maps over a body, from a take of its movement.

    python examples/recover_material.py           # a block of four regions, then a whole body
    python examples/recover_material.py --block   # the block alone: half a minute

Flesh on bones is shaken and pushed with known forces. Its parts have stiffness and mass of their
own, which fade into each other where they meet. From the movement of the vertices alone, descent
through the derivatives of the simulation finds all of these numbers. Without the pushes only ratios
of stiffness to mass would show, since gravity and inertia grow with mass as well.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np

from corporeal.physics.fast_projective_skinning.gpu.materials import (
    MaterialTake,
    Parts,
    Recovery,
    materials_of,
    recovered,
    simulated,
)
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.gpu.elements import (
    DeviceFlesh,
    Elements,
    elements_of,
    flesh_of,
    incidences,
)
from corporeal.physics.solver.integration import StepRule
from corporeal.physics.solver.system import System, tetrahedral_masses

GRAVITY = np.array([0.0, -9.81, 0.0], np.float32)
BODY_PARTS = {
    "chest": ("spine2", "spine3", "left_collar", "right_collar", "neck", "head"),
    "belly": ("pelvis", "spine1"),
    "arms": ("left_shoulder", "right_shoulder", "left_elbow", "right_elbow"),
    "thighs": ("left_hip", "right_hip"),
    "calves": ("left_knee", "right_knee"),
}
"""Parts, and the joints whose bones they lie on. Hands and feet belong to their limbs; the head,
whose skin goes with its bone, to the chest."""


class Scene(NamedTuple):
    """Flesh, what is to be found about it, and what it is put through."""

    names: tuple[str, ...]
    stiffness: np.ndarray
    """True factors of the parts."""
    mass: np.ndarray
    flesh: DeviceFlesh
    parts: Parts
    rule: StepRule
    take: MaterialTake


def block() -> tuple[np.ndarray, np.ndarray]:
    """Flesh of 16 × 4 × 4 cm in cells of 2 cm, six tetrahedra each; its floor is bone."""
    counts = (8, 2, 2)
    index = np.arange(9 * 3 * 3).reshape(9, 3, 3)
    places = 0.02 * np.stack(np.unravel_index(np.arange(index.size), index.shape), axis=1)
    cells = [
        index[x : x + counts[0], y : y + counts[1], z : z + counts[2]].ravel()
        for x in (0, 1)
        for y in (0, 1)
        for z in (0, 1)
    ]
    ways = [[0, a, a + b, 7] for a in (4, 2, 1) for b in (4, 2, 1) if a != b]
    tetrahedra = np.concatenate([np.stack(cells, axis=1)[:, options] for options in ways])
    corners = places[tetrahedra]
    mirrored = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tetrahedra[mirrored] = tetrahedra[mirrored][:, [0, 1, 3, 2]]
    return places, tetrahedra


def block_scene(steps: int = 16) -> Scene:
    """The block, four regions along x, and what it is put through."""
    places, tetrahedra = block()
    system = System(
        tetrahedral_masses(places, tetrahedra, 1000.0),
        places[:, 1] == 0,
        (strain_constraint(places, tetrahedra, 8e3),),
    )
    order = np.concatenate([system.free, np.flatnonzero(system.anchored)])
    elements, free = elements_of(system, order), len(system.free)
    rest = places[order].T.astype(np.float32)
    middle = rest[0][np.asarray(elements.tetrahedra)].mean(axis=1)
    one = np.eye(4, dtype=np.float32)
    parts = Parts(owners(elements), one[region(middle)], one[region(rest[0, :free] - 1e-4)])
    time = np.arange(1, steps + 1) / 60
    shake = np.zeros((steps, 3, 1), np.float32)
    shake[:, 0, 0], shake[:, 2, 0] = 0.015 * np.sin(25 * time), 0.01 * np.sin(17 * time)
    push = np.zeros((steps, 3, free), np.float32)
    push[4:10, 1] = -0.05 * (rest[1, :free] > 0.039)
    return Scene(
        ("first", "second", "third", "fourth"),
        np.array([0.6, 1.0, 1.5, 2.2], np.float32),
        np.array([1.4, 0.8, 1.0, 0.6], np.float32),
        flesh_of(elements),
        parts,
        StepRule(1 / 60, 3, 2.0),
        MaterialTake(
            rest[:, :free],
            rest[None, :, free:] + shake,
            np.zeros((steps, 3, free), np.float32),
            push,
            GRAVITY,
        ),
    )


def region(along: np.ndarray) -> np.ndarray:
    return np.minimum((along / 0.04).astype(np.int32), 3)


def owners(elements: Elements) -> np.ndarray:
    """Tetrahedron of every incidence; the first stands for none."""
    listed, _ = incidences(np.asarray(elements.tetrahedra), len(elements.masses))
    return np.maximum(listed, 0).astype(np.int32)


def body_scene(vertex_count: int = 400, steps: int = 20) -> Scene:
    """A coarse body that begins to run and is pushed all over; five parts that fade together."""
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.motions.library import make_motion
    from corporeal.physics.fast_projective_skinning.clip import frames_of
    from corporeal.physics.fast_projective_skinning.preparation import Preparations
    from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
    from corporeal.physics.solver.gpu.solver import device_order

    model = PhenotypeModel()
    identity = model.prepare()
    body = ProjectiveSimulation(
        model.template, preparations=Preparations(model.template, vertex_count=vertex_count)
    ).body(identity)
    motion = make_motion("running-on-spot", identity, model.template, seed=1, fps=60.0)
    rest = np.asarray(body.model.vertices, np.float64)
    order = device_order(body.system, rest)
    elements, free = elements_of(body.system, order), len(body.system.free)
    carried = body.carriers(frames_of(body, motion.poses)[: steps + 1])[:, order]
    origin = carried[0].mean(axis=0)
    speeds = 60.0 * np.diff(carried, axis=0)
    shares = body_shares(body)[order]
    pushed = pushes(rest[order[:free]], shares[:free], steps)
    start = rest[order[:free]] + (carried[0] - body.carriers(_unmoved(body))[order])[:free] - origin
    return Scene(
        tuple(BODY_PARTS),
        np.array([0.7, 0.5, 1.4, 0.8, 1.7], np.float32),
        np.array([0.9, 0.7, 1.3, 0.8, 1.1], np.float32),
        flesh_of(elements),
        Parts(
            owners(elements),
            shares[np.asarray(elements.tetrahedra)].mean(axis=1).astype(np.float32),
            shares[:free].astype(np.float32),
        ),
        StepRule(1 / 60, 4, 5.0),
        MaterialTake(
            start.T.astype(np.float32),
            (carried[1:, free:] - origin).transpose(0, 2, 1).astype(np.float32),
            speeds[:, :free].transpose(0, 2, 1).astype(np.float32),
            pushed,
            GRAVITY,
        ),
    )


def _unmoved(body) -> np.ndarray:
    """World frames of the rest pose."""
    frames = np.tile(np.eye(4), (len(body.joints), 1, 1))
    frames[:, :3, 3] = body.joints
    return frames


def body_shares(body) -> np.ndarray:
    """How much of every vertex belongs to each part: by its bone, then averaged over neighbours."""
    part_of = {joint: k for k, joints in enumerate(BODY_PARTS.values()) for joint in joints}
    parents, names = body.skeleton.parents, body.skeleton.names

    def part(joint: int) -> int:
        while names[joint] not in part_of and parents[joint] >= 0:
            joint = parents[joint]
        return part_of.get(names[joint], 0)

    parts = np.array([part(joint) for joint in range(len(names))])
    skin = parts[body.model.bones.bone_joints[body.model.inner_bones]]
    shares = np.eye(len(BODY_PARTS))[np.concatenate([skin, skin])]
    edges = np.asarray(body.model.tetrahedra)[:, [0, 0, 0, 1, 1, 2, 1, 2, 3, 2, 3, 3]]
    first, second = edges[:, :6].ravel(), edges[:, 6:].ravel()
    for _ in range(4):
        sums = shares.copy()
        np.add.at(sums, first, shares[second])
        np.add.at(sums, second, shares[first])
        shares = sums / sums.sum(axis=1, keepdims=True)
    return shares


def pushes(rest: np.ndarray, shares: np.ndarray, steps: int) -> np.ndarray:
    """A known force of 3 N a vertex on each part in turn, for five steps, out of the axis."""
    forces = np.zeros((steps, 3, len(rest)), np.float32)
    for k in range(shares.shape[1]):
        first = 2 + k * (steps - 8) // shares.shape[1]
        away = rest - np.average(rest, axis=0, weights=shares[:, k])
        away[:, 1] = 0.0
        away /= np.linalg.norm(away, axis=1, keepdims=True) + 1e-9
        forces[first : first + 5] -= (3.0 * shares[:, k] * away.T).astype(np.float32)
    return forces


def recover(scene: Scene, noise: float = 0.0, rounds: int = 20) -> Recovery:
    """Make a take with the true materials (`noise` in metres), then find the materials again."""
    true = materials_of(scene.flesh, scene.parts, scene.stiffness, scene.mass)
    seen = np.asarray(simulated(true, scene.rule, scene.take))
    seen = seen + noise * np.random.default_rng(1).normal(size=seen.shape).astype(np.float32)
    return recovered(scene.flesh, scene.parts, scene.rule, scene.take, seen, rounds)


def report(scene: Scene, noise: float = 0.0) -> None:
    started = time.perf_counter()
    found = recover(scene, noise)
    print(f"{'part':8s} stiffness (true)   mass (true)")
    for name, *numbers in zip(
        scene.names, found.stiffness, scene.stiffness, found.mass, scene.mass, strict=True
    ):
        print("{:8s} {:8.4f} ({:.2f})   {:8.4f} ({:.2f})".format(name, *map(float, numbers)))
    print(
        f"{len(found.losses) - 1} rounds, {time.perf_counter() - started:.0f} s; root mean square "
        f"distance to the take: {1e3 * found.losses[0] ** 0.5:.3f} mm before, "
        f"{1e3 * found.losses[-1] ** 0.5:.6f} mm after"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Recover how stiff and heavy flesh is.")
    parser.add_argument("--block", action="store_true", help="the block of four regions alone")
    parser.add_argument("--noise", type=float, default=0.0, help="of the take, metres")
    options = parser.parse_args()
    report(block_scene(), options.noise)
    if not options.block:
        report(body_scene(), options.noise)


if __name__ == "__main__":
    main()
