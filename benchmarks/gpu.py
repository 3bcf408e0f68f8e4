"""Speed of projective skinning on a GPU: a frame, with collisions, crowds, and how cost grows.

    python benchmarks/gpu_subjects.py      # once, where numba is
    python benchmarks/gpu.py               # where the GPU is: NumPy, SciPy, JAX, jaxtyping
    python benchmarks/gpu.py frame crowd   # some parts only

Nothing is reported before it was compared: clips with the float64 reference and with the CPU
simulation (both under 1e-4 of the body's height after 120 frames), crowds with single characters.
A frame is two steps of five local–global iterations, coupling, upsampling to 13 380 vertices and,
where stated, normals. Times are medians of whole clips, without compilation.
"""

import argparse
import json
import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from gpu_crowds import crowd, people, sizes
from gpu_timing import (
    AGREEMENT,
    CLIPS,
    GPU,
    ITERATIONS,
    ROOT,
    STEP,
    STEPS,
    SUBJECTS,
    Subject,
    require,
    timed,
)
from gpu_touching import contacts, many, rounds
from jax import lax

from corporeal.physics.contact.gpu.detection import Capacity, require_capacity
from corporeal.physics.contact.gpu.environment import DeviceWorld
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody, load_device_body
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    PosedClip,
    Wanted,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.contacts import Touched
from corporeal.physics.fast_projective_skinning.gpu.materials import (
    MaterialTake,
    Parts,
    materials_of,
    recovered,
    simulated,
)
from corporeal.physics.materials import Material
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.elements import DeviceFlesh, system_matrix
from corporeal.physics.solver.gpu.inverse import (
    Inverse,
    correction,
    inverse_of,
    inverted,
)
from corporeal.physics.solver.gpu.step import SolverOptions
from corporeal.physics.solver.integration import StepRule, resting


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of projective skinning on a GPU.")
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "gpu.json")
    options = parser.parse_args()
    report = json.loads(options.out.read_text()) if options.out.exists() else {}
    report |= {
        "command": "python benchmarks/gpu.py " + " ".join(options.parts),
        "commit": os.environ.get("COMMIT", ""),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": jax.devices()[0].device_kind,
        "software": f"JAX {jax.__version__}, Python {platform.python_version()}",
        "copy_bytes_per_s": copy_rate(),
    }
    failed = []
    for part in options.parts:
        started = time.perf_counter()
        try:
            report[part] = PARTS[part]()
        except SystemExit as problem:
            failed.append(f"{part}: {problem}")
            print(failed[-1], flush=True)
            continue
        report[part]["took_s"] = round(time.perf_counter() - started, 1)
        print(part, json.dumps(report[part], indent=1), flush=True)
        options.out.write_text(json.dumps(report, indent=2) + "\n")
    if failed:
        raise SystemExit("; ".join(failed))


def copy_rate() -> float:
    """Bytes a second, read and written, of a large copy."""
    values = jnp.ones(2**29 if GPU else 2**20, jnp.float32)
    copy = jax.jit(lambda x: x + 1.0)
    return 2 * values.nbytes / timed(lambda: copy(values))


def frame() -> dict[str, object]:
    """One character: agreement on three clips, then times."""
    subject = Subject("body.npz")
    wanted = Wanted(vertices=True, normals=True, simulated=True)
    report: dict[str, object] = {"tetrahedra": len(subject.body.elements.weights)}
    report["skin_vertices"] = len(subject.body.skin_places)
    report["free_vertices"] = subject.body.free_count
    agreement: dict[str, dict[str, float]] = {}
    for name in CLIPS:
        solver_state, frames, origins, clip = subject.clip(name)
        agreement[name] = {}
        for key, options in (
            ("reference", SolverOptions(accelerated=False, kernels=GPU)),
            ("fast", SolverOptions(kernels=GPU)),
        ):
            _, posed_vertices, _ = run_clip(
                subject.body, subject.local, subject.rule, solver_state, frames,
                steps=STEPS, piece=120, wanted=wanted, options=options,
            )  # fmt: skip
            got = ended(posed_vertices, origins)
            difference = np.abs(got - clip[key][: len(got)]).max() / subject.height
            agreement[name][key] = float(difference)
            require(difference < AGREEMENT, f"{name} differs from {key} by {difference}")
    report["agreement_of_height"] = agreement
    solver_state, frames, origins, clip = subject.clip(CLIPS[0])
    times, solves = {}, {}
    for title, inverse, options in (
        ("local inverse", subject.local, SolverOptions(accelerated=False, kernels=GPU)),
        ("local inverse, accelerated", subject.local, SolverOptions(kernels=GPU)),
        ("dense inverse", subject.dense, SolverOptions(accelerated=False, kernels=GPU)),
        ("two-level inverse", subject.two_level(), SolverOptions(accelerated=False, kernels=GPU)),
    ):

        def run(inverse: Inverse = inverse, options: SolverOptions = options) -> PosedClip:
            return run_clip(
                subject.body, inverse, subject.rule, solver_state, frames,
                steps=STEPS, piece=120, wanted=wanted, options=options,
            )[1]  # fmt: skip

        got = ended(run(), origins)
        end = clip["fast" if options.accelerated else "reference"][: len(got)]
        difference = np.abs(got - end).max() / subject.height
        require(difference < AGREEMENT, f"{title} differs by {difference}")
        times[title] = round(1e3 * timed(run) / 120, 4)
        solves[title] = round(solve_us(inverse, subject.body.free_count), 2)
    report["frame_ms"] = times
    report["solve_us"] = solves
    report["floor"] = floor(subject, times["local inverse"], times["dense inverse"])
    return report


def default() -> dict[str, object]:
    """The body as it is by default, with volume preservation: in the air, then on the ground."""
    return ended_clip("kept")


def layered() -> dict[str, object]:
    """The default man with fat and muscle over his bones: in the air, then on the ground."""
    return ended_clip("layered")


def ended_clip(name: str) -> dict[str, object]:
    """A clip in the air, compared with where the CPU simulation ends, then on the ground."""
    host = load_device_body(SUBJECTS / f"{name}_body.npz")
    body, data = jax.device_put(host), dict(np.load(SUBJECTS / f"clip_{name}.npz"))
    rule = damped_rule(STEP, ITERATIONS, Material.damping_ratio)
    matrix = system_matrix(host.elements, rule.inertia, len(host.order), rule.stiffening)
    whole = inverted(matrix)
    inverse, height = jax.device_put(inverse_of(whole)), float(np.ptp(host.rest[:, 1]))
    frames, origins = clip_frames(data["frames"][:, None])
    frames = jax.device_put(frames)
    start = resting(data["positions"], STEP, data["velocities"], data["pressures"])
    solver_state = jax.device_put(device_state(host, [start], origins[0], STEP))
    report: dict[str, object] = {
        "tetrahedra": len(host.elements.weights),
        "free_vertices": host.free_count,
        "regions": int(solver_state.pressures.shape[1]),
        "inverse": type(inverse).__name__,
        "inverse_bytes": sum(leaf.nbytes for leaf in jax.tree.leaves(inverse)),
    }
    preservation = jax.device_put(host.preservation(rule))
    ground = jax.device_put(floor_world(host, origins[:, 0], float(data["reach"]), whole))
    wanted, options = (
        Wanted(vertices=True, normals=True, simulated=True),
        SolverOptions(kernels=GPU),
    )
    for title, world in (("in the air", None), ("on the ground", ground)):

        def run(world: DeviceWorld | None = world) -> tuple[PosedClip, Touched | None]:
            _, posed_vertices, touched = run_clip(
                body, inverse, rule, solver_state, frames, None, world, preservation,
                steps=STEPS, piece=120, wanted=wanted, options=options,
            )  # fmt: skip
            return posed_vertices, touched

        posed_vertices, touched = run()
        got = ended(posed_vertices, origins[:, 0])
        away = np.linalg.norm(got - data["fast"][: len(got)], axis=1) / height
        off = {"max": float(away.max()), "rms": float(np.sqrt(np.mean(away**2)))}
        near = world is not None or off["rms"] < AGREEMENT
        require(bool(np.isfinite(away).all()) and near, f"{name} {title}: {off}")
        if touched is not None:
            require_capacity(touched.full, Capacity())
        report[title] = {"ms": round(1e3 * timed(run) / 120, 4), "off_of_height": off}
    return report


def floor_world(
    body: DeviceBody, origins: np.ndarray, reach: float, inverse: np.ndarray
) -> DeviceWorld:
    """The floor y = 0, seen from every step's origin."""
    placed = np.tile(np.eye(4, dtype=np.float32), (len(origins) - 1, 1, 1, 1))
    placed[:, 0, :3, 3] = -origins[1:]
    places, one = np.asarray(body.skin_places), np.ones(1, np.float32)
    return DeviceWorld(
        np.zeros((1, 3), np.float32), 0.0 * one, np.ones(1, bool), 0.5 * one, placed, placed,
        np.zeros(3, np.float32), np.float32(0.0), places[places < body.free_count],
        np.float32(reach), np.float32(1e-5), inverse.astype(np.float32),
    )  # fmt: skip


def material() -> dict[str, object]:
    """Maps of stiffness and mass found from a take with a tenth of a millimetre of noise."""
    data = dict(np.load(SUBJECTS / "material.npz"))

    def part(prefix: str) -> dict[str, np.ndarray]:
        return {k.removeprefix(prefix): v for k, v in data.items() if k.startswith(prefix)}

    flesh, parts, take = (
        DeviceFlesh(**part("flesh_")),
        Parts(**part("parts_")),
        MaterialTake(**part("take_")),
    )
    step, iterations, damping, viscosity = (float(number) for number in data["rule"])
    rule = StepRule(step, int(iterations), damping, viscosity=viscosity)
    seen = simulated(materials_of(flesh, parts, data["stiffness"], data["mass"]), rule, take)
    noise = 1e-4 * np.random.default_rng(1).normal(size=seen.shape).astype(np.float32)
    started = time.perf_counter()
    found = recovered(flesh, parts, rule, take, seen + noise)
    took = time.perf_counter() - started
    off = {
        "stiffness": float(np.abs(found.stiffness / data["stiffness"] - 1.0).max()),
        "mass": float(np.abs(found.mass / data["mass"] - 1.0).max()),
    }
    require(max(off.values()) < 0.05, f"materials are off by {off}")
    return {
        "free_vertices": len(flesh.masses),
        "steps": len(seen),
        "rounds": len(found.losses) - 1,
        "seconds": round(took, 2),
        "largest_error": off,
        "distance_mm": [float(1e3 * loss**0.5) for loss in found.losses],
    }


def ended(posed_vertices: PosedClip, origins: np.ndarray) -> np.ndarray:
    """The simulated skin in the last frame, metres."""
    return np.asarray(posed_vertices.simulated, np.float64)[-1, :, :, 0].T + origins[-1]


def solve_us(inverse: Inverse, free: int) -> float:
    """Microseconds of one global step among a hundred, each of which waits for the one before."""
    right = jnp.asarray(np.random.default_rng(3).normal(size=(3, free, 1)), jnp.float32)

    @jax.jit
    def hundred(inverse: Inverse, right: jax.Array) -> jax.Array:
        def once(now: jax.Array, _: None) -> tuple[jax.Array, None]:
            return right + 1e-9 * correction(inverse, now), None

        return lax.scan(once, right, length=100, unroll=5)[0]

    return 1e4 * timed(lambda: hundred(inverse, right))


def floor(subject: Subject, local_ms: float, dense_ms: float) -> dict[str, float]:
    """Bytes that ten iterations must move, each input once and each output once."""
    flesh = subject.body.flesh
    used = int((np.asarray(flesh.weights) > 0).sum())
    state = 4 * 3 * len(subject.body.order)
    residual = used * (3 + 9 + 1) * 4 + 2 * state
    rate, iterations = copy_rate(), STEPS * ITERATIONS
    local = iterations * (residual + subject.local.rows.nbytes + subject.local.columns.nbytes)
    dense = iterations * (residual + subject.dense.matrix.nbytes)
    return {
        "local_bytes": local,
        "local_share_of_floor": 1e3 * local / rate / local_ms,
        "dense_bytes": dense,
        "dense_share_of_floor": 1e3 * dense / rate / dense_ms,
    }


PARTS = {
    "frame": frame,
    "contacts": contacts,
    "layered": layered,
    "crowd": crowd,
    "people": people,
    "default": default,
    "many": many,
    "sizes": sizes,
    "material": material,
    "rounds": rounds,
}

if __name__ == "__main__":
    main()
