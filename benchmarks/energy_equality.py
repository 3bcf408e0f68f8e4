r"""Does the float64 reference with strain alone still solve Komaritzan 2022's energy, to the digit?

    python benchmarks/energy_equality.py --record recorded.npz     # with the code of one commit
    python benchmarks/energy_equality.py --compare recorded.npz    # with that of another

A system is recorded as numbers (vertices, tetrahedra, stiffness, anchors, their path) together with
what the reference makes of it: strain in every tetrahedron and nothing else, implicit Euler, ten
iterations a step, as in Komaritzan 2022. Systems are a coarse default body that is shaken and bent,
and a bar that is turned upside down. `--compare` builds them anew from the numbers and tells the
largest difference over the size of the system; it exits with 1 above 1e-9. Writes
`results/energy_equality.json`.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from measured_commit import commit

from corporeal._typing import Float64, NumpyArray
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

RESULTS = Path(__file__).parent / "results" / "energy_equality.json"
AGREEMENT, STEPS, STEP = 1e-9, 20, 1 / 60
NUMBERS = ("rest", "tetrahedra", "stiffness", "anchored", "path")

Numbers = dict[str, NumpyArray]


def body() -> Numbers:
    """A coarse default body between its inner vertices, which bones carry."""
    model = PhenotypeModel()
    settings = ProjectiveControls(volume=0.0, untangled=False, stress_free="t-pose", gravity=0.0)
    few = Preparations(model.template, vertex_count=1000)
    flesh = ProjectiveSimulation(model.template, settings, preparations=few).body(model.prepare())
    tetrahedra = np.asarray(flesh.model.tetrahedra, np.int64)
    rest, anchored = np.asarray(flesh.rest, np.float64), np.asarray(flesh.system.anchored)
    phase = np.linspace(0.0, 2.0 * np.pi, STEPS)[:, None, None]
    sway = 0.05 * np.sin(phase) * rest[anchored][:, [1, 0, 2]] * [1.0, 0.3, 1.0]
    young = 12e3 * (1.0 + 0.5 * np.sin(np.arange(len(tetrahedra))))
    return dict(
        zip(NUMBERS, (rest, tetrahedra, young, anchored, rest[anchored] + sway), strict=True)
    )


def bar() -> Numbers:
    """A bar of 8 × 2 × 2 cells whose end is turned by half a turn in all steps together."""
    shape = (9, 3, 3)
    index = np.arange(np.prod(shape)).reshape(shape)
    ways = [[0, 4, 6, 7], [0, 4, 5, 7], [0, 2, 6, 7], [0, 2, 3, 7], [0, 1, 5, 7], [0, 1, 3, 7]]
    cells = [index[x : x + 8, y : y + 2, z : z + 2] for x, y, z in np.ndindex(2, 2, 2)]
    corners = np.stack([cell.ravel() for cell in cells], axis=1)
    tetrahedra = np.concatenate([corners[:, way] for way in ways])
    rest = 0.05 * np.stack(np.unravel_index(np.arange(index.size), shape), axis=1).astype(float)
    anchored = rest[:, 0] == 0.0
    held, turns = rest[anchored], np.linspace(0.0, np.pi, STEPS)
    y, z = np.outer(np.cos(turns), held[:, 1] - 0.05), np.outer(np.sin(turns), held[:, 1] - 0.05)
    path = np.stack([np.zeros_like(y), 0.05 + y, z + held[:, 2]], axis=2)
    young = np.full(len(tetrahedra), 2e4)
    return dict(zip(NUMBERS, (rest, tetrahedra, young, anchored, path), strict=True))


def solved(numbers: Numbers) -> Float64[NumpyArray, "n 3"]:
    """Where the reference ends, metres."""
    rest, tetrahedra, young, anchored, path = (numbers[name] for name in NUMBERS)
    masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
    system = System(masses, anchored, (strain_constraint(rest, tetrahedra, young),))
    solver = ReferenceSolver(system, StepRule(STEP, 10, integrator="implicit-euler"))
    state, pull = resting(rest, STEP), masses[:, None] * np.array([0.0, -9.81, 0.0])
    for anchors in path:
        state = solver.step(state, np.ascontiguousarray(anchors), pull)
    return state.positions


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    if asked.record is not None:
        kept: Numbers = {"commit": np.array(commit())}
        for name, made in (("body", body()), ("bar", bar())):
            kept |= {f"{name}_{key}": value for key, value in made.items()}
            kept[f"{name}_end"] = solved(made)
        np.savez_compressed(asked.record, **kept)  # pyright: ignore[reportArgumentType]
        return 0
    if asked.compare is None:
        parser.error("give --record FILE or --compare FILE")
    apart = {}
    with np.load(asked.compare) as held:
        recorded_by = str(held["commit"])
        for name in ("body", "bar"):
            numbers = {key: held[f"{name}_{key}"] for key in NUMBERS}
            difference = np.abs(solved(numbers) - held[f"{name}_end"]).max()
            apart[name] = float(difference / np.ptp(numbers["rest"], axis=0).max())
    found = {"recorded_by": recorded_by, "compared_by": commit(), "of_the_size": apart}
    asked.out.write_text(json.dumps(found | {"allowed": AGREEMENT}, indent=1) + "\n")
    print(json.dumps(found))
    return int(max(apart.values()) > AGREEMENT)


if __name__ == "__main__":
    sys.exit(main())
