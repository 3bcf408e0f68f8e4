"""How flesh rings down: frequency and damping ratio of belly, breast and thigh.

    python benchmarks/damping.py

Bodies hang in their T-pose from bones that hold still. Flesh is drawn forwards and up by a share of
its weight until nothing moves, and let go. What the skin of a region does then, along the axis of
its largest movement, is written as a sum of decaying waves (matrix pencil: Hua and Sarkar 1990);
frequency and ratio of the one with most energy are told, for the damping ratio in use at five
iterations a step and at forty, and for drag of 10/s alone, which damped flesh before. Refused if a
region without damping dies down. Steps of the two rules are timed in turns, since other work on the
machine slows both.
"""

import argparse
import json
import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from measured_commit import commit

from corporeal._typing import Float64, NumpyArray
from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.errors import SolverError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP, ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.damping import damped_rule, swing_ratio
from corporeal.physics.solver.integration import State, StepRule, resting

RESULTS = Path(__file__).parent / "results" / "damping.json"
PEOPLE = {"woman": (0.0, 23.0, 1.70), "heavy woman": (0.0, 34.0, 1.70)}
"""Gender, BMI in kg/m² and height in metres."""
REGIONS = {"belly": "belly", "breast": "left_breast", "thigh": "left_thigh"}
PULL = np.array([0.0, 0.2, 0.3])
"""Share of the weight that flesh is drawn with before it is let go."""
SECONDS, ORDER, TIMED = 1.0, 8, 200
WAVES = 1e-3
"""Singular values below this share of the largest are taken for noise."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ratio", type=float, default=ProjectiveControls().damping_ratio)
    parser.add_argument("--quick", action="store_true", help="one body of few vertices")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    model = PhenotypeModel()
    people = dict(list(PEOPLE.items())[: 1 if given.quick else None])
    report = {
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "load_before": os.getloadavg(),
        "damping_ratio": given.ratio,
        "people": {},
    }
    for name, numbers in people.items():
        few = Preparations(model.template, vertex_count=1000) if given.quick else None
        simulation = ProjectiveSimulation(model.template, ProjectiveControls(), preparations=few)
        body = simulation.body(body_at_bmi(model, *numbers))
        report["people"][name] = ring_down(model, body, given.ratio)
        print(name, json.dumps(report["people"][name], indent=1), flush=True)
    given.output.write_text(json.dumps(report, indent=2) + "\n")


def ring_down(model: PhenotypeModel, body: SimulatedBody, ratio: float) -> dict[str, object]:
    """Waves of every region under every rule, and milliseconds a step."""
    step, start = LARGEST_STEP, drawn(body)
    rules = {
        "undamped": StepRule(step, 5),
        "drag 10/s": StepRule(step, 5, 10.0),
        "ratio": damped_rule(step, 5, ratio),
        "ratio, 40 iterations": damped_rule(step, 40, ratio),
    }
    found: dict[str, object] = {}
    for name, rule in rules.items():
        path = released(body, CpuSolver(body.system, rule, accelerated=True), start)
        waves = {}
        for region, part in REGIONS.items():
            waves[region] = strongest_wave(path[:, model.template.part(part)], step)
            hertz = float(waves[region]["frequency_hz"])
            waves[region]["oscillator_ratio"] = round(swing_ratio(hertz, rule), 3)
        found[name] = waves
        if name == "undamped":
            require_swinging(waves)
    timed = {name: rules[name] for name in ("drag 10/s", "ratio")}
    return found | {"milliseconds_a_step": step_times(body, timed, start)}


def require_swinging(waves: dict[str, dict[str, float]]) -> None:
    """Refuse flesh that does not swing freely: its figures would say nothing of damping."""
    for region, wave in waves.items():
        if not wave["ratio"] < 0.1:
            raise SolverError(f"undamped {region} dies down with a ratio of {wave['ratio']}.")


def drawn(body: SimulatedBody) -> State:
    """Flesh in balance with a pull, from rest."""
    solver, state = body.solver(1.0, "static"), resting(body.rest, 1.0)
    pull = body.weight + 9.81 * body.system.masses[:, None] * PULL
    for _ in range(200):
        before = state.positions
        state = solver.step(state, body.rest[body.system.anchored], pull, targets=body.rest)
        if np.abs(state.positions - before).max() < 1e-6:
            break
    return resting(state.positions, LARGEST_STEP, pressures=state.pressures)


def released(body: SimulatedBody, solver: CpuSolver, state: State) -> Float64[NumpyArray, "k W 3"]:
    """The skin after every step, metres."""
    path = []
    for _ in range(round(SECONDS / solver.rule.step)):
        state = stepped(body, solver, state)
        path.append(np.asarray(body.skin(state.positions), np.float64))
    return np.stack(path)


def stepped(body: SimulatedBody, solver: CpuSolver, state: State) -> State:
    """One step later, with bones that hold still."""
    anchors, still = body.rest[body.system.anchored], np.zeros_like(body.rest)
    return solver.step(state, anchors, body.weight, still, targets=body.rest)


def step_times(
    body: SimulatedBody, rules: dict[str, StepRule], start: State
) -> dict[str, dict[str, float]]:
    """Least and median milliseconds of a step, in turns."""
    solvers = {k: CpuSolver(body.system, rule, accelerated=True) for k, rule in rules.items()}
    states, times = dict.fromkeys(rules, start), {name: [] for name in rules}
    for _ in range(TIMED):
        for name, solver in solvers.items():
            started = time.perf_counter()
            states[name] = stepped(body, solver, states[name])
            times[name].append(1e3 * (time.perf_counter() - started))
    return {
        name: {"least": round(min(each), 3), "median": round(float(np.median(each)), 3)}
        for name, each in times.items()
    }


def strongest_wave(path: Float64[NumpyArray, "k r 3"], step: float) -> dict[str, float]:
    """Frequency (Hz), ratio and amplitude (mm) of the decaying wave with most energy, as the most
    mobile fifth of a region's vertices moves; |s| = 2π f, as of an undamped oscillator."""
    size = np.ptp(path, axis=0).max(axis=1)
    signal = path[:, size >= np.percentile(size, 80)].mean(axis=1)
    signal = signal - signal[-1]
    axis = np.linalg.svd(signal, full_matrices=False)[2][0]
    wave = signal @ axis
    half = len(wave) // 2
    rows = np.lib.stride_tricks.sliding_window_view(wave, half)
    left, sizes, _ = np.linalg.svd(rows.T, full_matrices=False)
    order = min(ORDER, int((sizes > WAVES * sizes[0]).sum()))
    basis = left[:, :order]
    roots = np.linalg.eigvals(np.linalg.lstsq(basis[:-1], basis[1:], rcond=None)[0])
    powers = roots[None] ** np.arange(len(wave))[:, None]
    shares = np.linalg.lstsq(powers, wave.astype(complex), rcond=None)[0]
    energy = (np.abs(powers * shares) ** 2).sum(axis=0) * (np.abs(roots.imag) > 1e-6)
    chosen = int(np.argmax(energy))
    rate = np.log(roots[chosen]) / step
    return {
        "frequency_hz": round(float(abs(rate) / (2 * np.pi)), 2),
        "ratio": round(float(-rate.real / abs(rate)), 3),
        "amplitude_mm": round(float(2e3 * abs(shares[chosen])), 2),
    }


if __name__ == "__main__":
    main()
