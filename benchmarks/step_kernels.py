"""What the kernels of an iteration take by themselves, and how right the local step is.

    python benchmarks/step_kernels.py [--out results/step_kernels.json]

The default body (two layers) and the average man (layers) after four frames of running. Times are
the least of 200 calls on one thread, wall milliseconds: a kernel of a tenth of a millisecond finds
a moment of its own even on a busy machine. The local step is compared with singular values in
double precision. Works on earlier checkouts, too (`PYTHONPATH`): run both in turns.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from frame_profile import clip_of
from measured_commit import commit

from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.solver.cpu.local_step import gather_residual, local_step
from corporeal.physics.solver.cpu.solver import CpuSolver

RESULTS = Path(__file__).parent / "results" / "step_kernels.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    report = {
        "command": "python benchmarks/step_kernels.py",
        "commit": commit(),
        "load": os.getloadavg(),
        "rows": [measured(deformer) for deformer in ("projective", "layered")],
    }
    asked.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def measured(deformer: str) -> dict[str, object]:
    """Times and errors of one kind of flesh."""
    clip = clip_of(PhenotypeModel(), deformer, "off", "running-on-spot", 4)
    *_, state = clip.states()
    solver = clip.body.solver(clip.step)
    z, free = state.positions[solver._order], len(solver._free)
    blocks, sums = solver._blocks, np.zeros_like(solver._buffers)
    tolerance = np.float32(1e-4)

    def local() -> None:
        local_step(blocks.corners, blocks.rest, z, sums[0], 0, len(blocks.corners), tolerance)

    local()
    error = np.abs(sums[0][:free, :3] - exact_residual(solver, z)[:free])
    right, answer = solver._sides
    pull = np.zeros((free, 3))
    return {
        "deformer": deformer,
        "tetrahedra": sum(len(c.weights) // 3 for c in solver.system.constraints),
        "free vertices": free,
        "local step, ms": least(local),
        "solve, ms": least(lambda: solver._factor.solve(right, answer)),
        "residual, ms": least(lambda: gather_residual(sums, solver._inertia, pull, z, right)),
        "local step's error, N, rms and most": [
            float(np.sqrt((error**2).mean())),
            float(error.max()),
        ],
    }


def exact_residual(solver: CpuSolver, z: np.ndarray) -> np.ndarray:
    """Σ Q_iᵀ w_i (p_i − Q_i z) in double precision, by singular values."""
    corners, rest = solver._blocks.corners, solver._blocks.rest.astype(np.float64)
    total = np.zeros((len(z), 3))
    for k in range(3):
        own = corners[:, k : k + 4].transpose(0, 2, 1).reshape(-1, 4)
        inverse = rest[:, k, :9].transpose(0, 2, 1).reshape(-1, 3, 3)
        gradient = inverse @ np.diff(z[own], axis=1)
        left, _, turned = np.linalg.svd(gradient)
        left[:, :, 2] *= np.sign(np.linalg.det(left @ turned))[:, None]
        weights = rest[:, k, 9].reshape(-1)[:, None, None]
        pulls = np.swapaxes(inverse, 1, 2) @ (weights * (left @ turned - gradient))
        for m in range(3):
            np.add.at(total, own[:, m + 1], pulls[:, m])
            np.add.at(total, own[:, m], -pulls[:, m])
    return total


def least(call: Callable[[], object], count: int = 200) -> float:
    """Milliseconds of the quickest of some calls."""
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return round(1e3 * min(times), 4)


if __name__ == "__main__":
    main()
