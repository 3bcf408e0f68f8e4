"""Speed of projective skinning on the CPU: stages, a frame, and how cost grows with tetrahedra.

    python benchmarks/physics.py

The subject is the default body's simulation mesh (about 4 700 skin vertices, 27 000 tetrahedra) in
motion, float32, on all cores that the process may use. A frame at 60 frames a second is two steps
of five local–global iterations; with the default settings, and with the energy of Komaritzan 2022
alone. Before a time is reported, the compiled solver is compared with the float64 reference over 60
steps. Every time is the smallest and the median of many rounds; the load of the machine is written
beside them, since a busy machine shows in the median.
"""

import argparse
import itertools
import json
import os
import platform
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from timing import timed

from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    SimulationState,
)
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu import local_step as cpu
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses
from corporeal.physics.volumetric_mesh.model import VolumetricModel, build_volumetric_model
from corporeal.runtime.threads import thread_count

RESULTS = Path(__file__).parent / "results" / "physics.json"
PLOT = Path(__file__).parents[1] / "docs" / "pictures" / "tetrahedra.svg"
AGREEMENT = 1e-4  # of the body's height, after 60 steps


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    model = PhenotypeModel()
    identity = model.prepare()
    simulation = ProjectiveSimulation(model.template)
    started = time.perf_counter()
    body = simulation.body(identity)
    prepared = time.perf_counter() - started
    state = waving(simulation, simulation.start(identity))
    published, published_state = losing_volume(simulation, state)
    report = {
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {thread_count()} threads, Python "
        f"{platform.python_version()}",
        "load_before": os.getloadavg(),
        "subject": {
            "skin_vertices": body.model.vertex_count,
            "free_vertices": len(body.system.free),
            "tetrahedra": len(body.model.tetrahedra),
        },
        "agreement_of_height": agreement(body),
        "prepare_s": prepared,
        "stages_ms": stages(body, state),
        "frame_ms": frames(simulation, state),
        "frame_without_volume_ms": frames(published, published_state),
        "model_ms": timed(lambda: rebuilt(body), 10),
        "acceleration_mm": acceleration(body, state),
        "acceleration_without_volume_mm": acceleration(published.body(identity), published_state),
        "tetrahedra_ms": growth(),
        "load_after": os.getloadavg(),
    }
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    PLOT.write_text(plot(report["tetrahedra_ms"]))
    print(json.dumps(report, indent=2))


def commit() -> str:
    """The checkout's commit, for the record."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def raised_arms(body: SimulatedBody, phase: float) -> Pose:
    """A body that bends elbows and knees and goes up and down."""
    rotations = np.zeros((len(body.joints), 3))
    for name, axis, turn in (
        ("left_elbow", 1, -1.0),
        ("right_elbow", 1, 1.0),
        ("left_knee", 0, 1.0),
    ):
        rotations[body.skeleton.index(name), axis] = turn * np.sin(phase) ** 2
    return Pose(rotations, np.array([0.0, 0.1 * np.sin(2 * phase), 0.0]))


def waving(simulation: ProjectiveSimulation, state: SimulationState) -> SimulationState:
    """Half a second of movement, so that the flesh is deformed when it is timed."""
    body = simulation.body(state.identity)
    for frame in range(30):
        state = simulation.step(state, raised_arms(body, 0.1 * frame), 1 / 60)
    return state


def agreement(body: SimulatedBody) -> float:
    """Largest difference of compiled and reference solver after 60 steps of a shaken skeleton, over
    the body's height; refused above 1e-4."""
    rest = np.asarray(body.model.vertices, np.float64)
    rule = damped_rule(LARGEST_STEP, 5, body.material.damping_ratio)
    ends = []
    for solver in (ReferenceSolver(body.system, rule), CpuSolver(body.system, rule)):
        state = resting(rest, rule.step)
        for step in range(60):
            anchors = rest[body.system.anchored] + [0, 0.03 * np.sin(0.2 * step), 0]
            state = solver.step(state, anchors, body.weight)
        ends.append(state.positions)
    difference = float(np.abs(ends[0] - ends[1]).max() / np.ptp(rest[:, 1]))
    if difference > AGREEMENT:
        raise SystemExit(f"the solvers differ by {difference} of the height; nothing was timed.")
    return difference


def stages(body: SimulatedBody, state: SimulationState) -> dict[str, dict[str, float]]:
    """One local step (all threads), residual, pressures (corrected and pushing) and solve."""
    solver = body.solver(LARGEST_STEP)
    positions = state.flesh.positions[solver._order]
    free = len(body.system.free)
    right, delta = np.empty((free, 3), np.float32), np.empty((free, 3), np.float32)
    pull = np.zeros((free, 3))
    solver._local_steps(positions, 2)
    return {
        "local": timed(lambda: solver._local_steps(positions, 2)),
        "residual": timed(
            lambda: cpu.gather_residual(solver._buffers, solver._inertia, pull, positions, right)
        ),
        "solve": timed(lambda: solver._factor.solve(right, delta)),
    } | pressing(solver, state, positions, right)


def pressing(
    solver: CpuSolver, state: SimulationState, positions: np.ndarray, right: np.ndarray
) -> dict[str, dict[str, float]]:
    """What keeping the volume costs in an odd iteration, where pressures are corrected."""
    kept = solver._pressing
    if kept is None:
        return {}
    kept.begin(state.flesh.pressures)
    slots = range(len(solver._buffers))

    def survey() -> None:
        for slot in slots:
            kept.survey(positions, slot)

    def push() -> None:
        kept.push(right, 1)

    return {"survey_on_one_core": timed(survey), "pressures": timed(push)}


def frames(simulation: ProjectiveSimulation, state: SimulationState) -> dict[str, dict[str, float]]:
    """A frame at 60 frames a second: the solver's two steps; with kinematics and coupling; skin."""
    body = simulation.body(state.identity)
    solver = body.solver(LARGEST_STEP)
    carriers = body.carriers(simulation._path(body, state.pose, raised_arms(body, 3.0), 2))
    anchors = carriers[:, body.system.anchored]
    carried = np.diff(carriers, axis=0) / LARGEST_STEP
    phases = itertools.count(30)
    moving = [state]

    def whole() -> None:
        moving[0] = simulation.step(moving[0], raised_arms(body, 0.1 * next(phases)), 1 / 60)

    def solving() -> None:
        flesh = solver.step(state.flesh, anchors[1], body.weight, carried[0])
        solver.step(flesh, anchors[2], body.weight, carried[1])

    return {
        "solver_10_iterations": timed(solving),
        "with_kinematics_and_coupling": timed(whole),
        "upsampling": timed(lambda: simulation.skin(state)),
    }


def losing_volume(
    simulation: ProjectiveSimulation, state: SimulationState
) -> tuple[ProjectiveSimulation, SimulationState]:
    """The same body with the energy of Komaritzan 2022 alone, without volume preservation."""
    settings = replace(simulation.settings, volume=0.0, untangled=False, stress_free="t-pose")
    plain = ProjectiveSimulation(
        simulation.template, settings, preparations=simulation._preparations
    )
    return plain, waving(plain, plain.start(state.identity))


def rebuilt(body: SimulatedBody) -> VolumetricModel:
    """The volumetric model, made once more."""
    model = body.model
    mesh = Mesh(model.skin, model.triangles)
    return build_volumetric_model(mesh, body.stress_free.skeleton, carriers=model.carriers)


def acceleration(body: SimulatedBody, state: SimulationState) -> dict[str, dict[str, float]]:
    """RMS distance of a step's end from the converged one, plain and accelerated, mm."""
    rest = np.asarray(body.model.vertices, np.float64)
    flesh = state.flesh
    lift = np.array([0.0, 0.02, 0.01])  # metres in a step: bones that leave the flesh behind
    anchors = flesh.positions[body.system.anchored] + lift
    carried = np.tile(lift / LARGEST_STEP, (len(rest), 1))
    errors: dict[str, dict[str, float]] = {}
    converged = None
    for count in (400, 1, 2, 3, 5, 8, 10, 15, 20, 30):
        rule = damped_rule(LARGEST_STEP, count, body.material.damping_ratio)
        for name, accelerated in (("plain", False), ("accelerated", True)):
            solver = CpuSolver(body.system, rule, accelerated=accelerated)
            end = solver.step(flesh, anchors, body.weight, carried).positions
            if converged is None:
                converged = end
            elif count < 400:
                apart = np.linalg.norm(end - converged, axis=1)
                row = errors.setdefault(name, {})
                row[str(count)] = round(1e3 * float(np.sqrt(np.mean(apart**2))), 5)
    return errors


def plot(times: dict[str, dict[str, float]]) -> str:
    """Milliseconds of ten iterations over the number of tetrahedra, as an SVG with a straight line
    through the origin fitted to them."""
    count = np.array([float(k) for k in times])
    least = np.array([row["least"] for row in times.values()])
    slope = float(count @ least / (count @ count))
    wide, high, left, below = 520, 320, 60, 50
    right, top = 1.05 * count.max(), 1.1 * max(float(least.max()), slope * float(count.max()))

    def place(x: float, y: float) -> str:
        across = left + (wide - left - 20) * x / right
        return f"{across:.1f},{high - below - (high - below - 20) * y / top:.1f}"

    dots = [place(x, y).split(",") for x, y in zip(count, least, strict=True)]
    ticks = [place(x, 0).split(",") for x in (25e3, 50e3, 75e3, 100e3)]
    steps = [place(0, y).split(",") for y in np.linspace(0, top, 5)[1:]]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
        f'font-family="sans-serif" font-size="12" fill="#34383e">',
        f'<rect width="{wide}" height="{high}" fill="white"/>',
        f'<polyline points="{place(0, top)} {place(0, 0)} {place(right, 0)}" fill="none" '
        f'stroke="#34383e"/>',
        f'<polyline points="{place(0, 0)} {place(count.max(), slope * count.max())}" fill="none" '
        f'stroke="#8aa" stroke-dasharray="5 4"/>',
        *(f'<circle cx="{x}" cy="{y}" r="4" fill="#246"/>' for x, y in dots),
        *(
            f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">{k} 000</text>'
            for (x, y), k in zip(ticks, (25, 50, 75, 100), strict=True)
        ),
        *(
            f'<text x="{float(x) - 8}" y="{y}" text-anchor="end">{value:.0f}</text>'
            for (x, y), value in zip(steps, np.linspace(0, top, 5)[1:], strict=True)
        ),
        f'<text x="{wide / 2}" y="{high - 8}" text-anchor="middle">tetrahedra</text>',
        f'<text x="{left + 12}" y="16">ms for ten iterations; line: '
        f"{1e6 * slope:.0f} ns a tetrahedron</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def growth() -> dict[str, dict[str, float]]:
    """Ten iterations on slabs of 5 000 to 100 000 tetrahedra, one layer thick like flesh."""
    times = {}
    for cells in (29, 58, 91, 129):
        rest, tetrahedra = slab(cells)
        masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
        strain = strain_constraint(rest, tetrahedra, 12e3)
        system = System(masses, rest[:, 2] == 0, (strain,))
        solver = CpuSolver(system, StepRule(LARGEST_STEP, 10, 10.0))
        state = resting(rest, LARGEST_STEP)
        anchors, pull = rest[system.anchored], masses[:, None] * np.array([5.0, 3.0, -9.81])
        for _ in range(5):
            state = solver.step(state, anchors, pull)
        times[str(len(tetrahedra))] = timed(
            lambda go=solver, at=state, a=anchors, f=pull: go.step(at, a, f), 20
        )
    return times


def slab(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """A square of `cells` × `cells` × 1 cells of 2.5 cm, six tetrahedra each."""
    index = np.arange((cells + 1) ** 2 * 2).reshape(cells + 1, cells + 1, 2)
    corners = np.stack(
        [
            index[x : x + cells, y : y + cells, z].ravel()
            for x, y, z in itertools.product((0, 1), repeat=3)
        ],
        axis=1,
    )
    ways = [[0, a, a + b, 7] for a, b, _ in itertools.permutations((4, 2, 1))]
    places = np.stack(np.unravel_index(np.arange(index.size), index.shape), axis=1)
    return 0.025 * places.astype(np.float64), np.concatenate([corners[:, way] for way in ways])


if __name__ == "__main__":
    main()
