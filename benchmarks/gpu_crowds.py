"""The GPU benchmark's crowds: characters that share a body, different people, other sizes."""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from gpu_timing import (
    AGREEMENT,
    CLIPS,
    GPU,
    ITERATIONS,
    STEP,
    STEPS,
    SUBJECTS,
    Subject,
    require,
    timed,
)

from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody, load_device_body
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    SkeletonFrames,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.crowd import (
    assembled_people,
    assembled_states,
    run_people,
)
from corporeal.physics.solver.gpu.elements import flesh_of, system_matrix
from corporeal.physics.solver.gpu.inverse import (
    Inverse,
    inverted_on_device,
    local_inverse,
)
from corporeal.physics.solver.gpu.step import SolverOptions, SolverState
from corporeal.physics.solver.gpu.two_level import two_level_inverse
from corporeal.physics.solver.integration import StepRule, resting

PEOPLE = 64 if GPU else 2
SIZES = (1500, 8000)
"""Simulated skin vertices; besides, all of them."""


def crowd() -> dict[str, object]:
    """Characters that share a body."""
    subject = Subject("body.npz")
    singles = [subject.clip(name) for name in CLIPS]
    count = 8
    rates: dict[str, int] = {}
    report: dict[str, object] = {"frames": count, "character_frames_per_s": rates}
    ends = []
    for solver_state, frames, _, _ in singles:
        few = SkeletonFrames(
            frames.start, frames.path[: STEPS * count], frames.shifts[: STEPS * count]
        )
        _, posed_vertices, _ = run_clip(
            subject.body, subject.local, subject.rule, solver_state, few,
            steps=STEPS, piece=1, options=SolverOptions(unrolled=1),
        )  # fmt: skip
        ends.append(np.asarray(posed_vertices.vertices[-1, 0]))
    sizes = (16, 64, 256, 1024) if GPU else (4,)
    for size in sizes:
        chosen = [singles[k % len(singles)] for k in range(size)]
        solver_state = SolverState(
            *(jnp.concatenate(parts, 2) for parts in zip(*(c[0] for c in chosen), strict=True))
        )
        frames = SkeletonFrames(
            jnp.concatenate([c[1].start for c in chosen]),
            jnp.concatenate([c[1].path[: STEPS * count] for c in chosen], axis=1),
            jnp.concatenate([c[1].shifts[: STEPS * count] for c in chosen], axis=2),
        )
        run = lambda m=solver_state, f=frames: run_clip(  # noqa: E731
            subject.body, subject.dense, subject.rule, m, f,
            steps=STEPS, piece=1, options=SolverOptions(kernels=GPU, unrolled=1),
        )  # fmt: skip
        last = np.asarray(run()[1].vertices[-1])
        off = max(np.abs(last[k] - ends[k % len(ends)]).max() for k in (0, 1, 2, size - 1))
        require(off / subject.height < AGREEMENT, f"a crowd of {size} is off by {off} m")
        rates[str(size)] = round(size * count / timed(run))
        report[f"off_of_height_{size}"] = float(off / subject.height)
    return report


def people() -> dict[str, object]:
    """Different people: some bodies, each in several materials; both forms of their inverses."""
    hosts = [load_device_body(path) for path in sorted(SUBJECTS.glob("person_*.npz"))]
    factors = np.linspace(0.7, 1.4, -(-PEOPLE // len(hosts)))
    bodies = [stiffened(host, float(factor)) for host in hosts for factor in factors][:PEOPLE]
    rule = StepRule(STEP, ITERATIONS, 10.0)
    matrices = [system_matrix(body.elements, rule.inertia, len(body.order)) for body in bodies]
    report: dict[str, object] = {"people": len(bodies)}
    report["local"] = many_people(
        bodies, [local_inverse(inverted_on_device(matrix)) for matrix in matrices], rule
    )
    report["two_level"] = many_people(
        bodies, [two_level_inverse(matrix) for matrix in matrices], rule
    )
    return report


def many_people(
    bodies: list[DeviceBody], inverses: Sequence[Inverse], rule: StepRule
) -> dict[str, object]:
    """Their rate, compared with two of them alone before it is reported."""
    count = 8
    everybody = assembled_people(bodies, inverses, rule)
    clip = np.load(SUBJECTS / f"clip_{CLIPS[0]}.npz")
    frames, origins = clip_frames(clip["frames"][: STEPS * count + 1, None])
    states = []
    for body in bodies:
        start = resting(np.asarray(body.rest, np.float64) + origins[0, 0], STEP)
        states.append(device_state(body, [start], origins[0], STEP))
    every = SkeletonFrames(
        np.repeat(frames.start, len(bodies), axis=0),
        np.repeat(frames.path, len(bodies), axis=1),
        np.repeat(frames.shifts, len(bodies), axis=2),
    )
    solver_state = jax.device_put(assembled_states(everybody, states))
    size = sum(leaf.nbytes for leaf in jax.tree.leaves(everybody.inverse))
    everybody, every = jax.device_put(everybody), jax.device_put(every)
    options = SolverOptions(kernels=GPU, unrolled=1)
    run = lambda: run_people(everybody, rule, solver_state, every, steps=STEPS, options=options)  # noqa: E731
    last, off = np.asarray(run()[1][-1]), []
    for chosen in (0, len(bodies) - 1):
        body, inverse, state = bodies[chosen], inverses[chosen], states[chosen]
        _, posed_vertices, _ = run_clip(
            body, inverse, rule, state, frames, steps=STEPS, options=options
        )
        off.append(float(np.abs(np.asarray(posed_vertices.vertices[-1, 0]) - last[chosen]).max()))
    require(max(off) / 1.7 < AGREEMENT, f"people differ from singles by {off} m")
    return {
        "off_m": off,
        "inverse_bytes": size,
        "character_frames_per_s": round(len(bodies) * count / timed(run)),
    }


def stiffened(body: DeviceBody, factor: float) -> DeviceBody:
    """The same body of other flesh."""
    elements = replace(body.elements, weights=(body.elements.weights * factor).astype(np.float32))
    return replace(body, elements=elements, flesh=flesh_of(elements))


def sizes() -> dict[str, object]:
    """How a frame's time grows with the simulated vertices."""
    report = {}
    clip = np.load(SUBJECTS / f"clip_{CLIPS[0]}.npz")
    frames, origins = clip_frames(clip["frames"][: STEPS * 60 + 1, None])
    frames = jax.device_put(frames)
    names = (*(f"size_{count}.npz" for count in SIZES), "many_body.npz")
    for name in names:
        subject = Subject(name)
        rest = np.asarray(subject.body.rest, np.float64) + origins[0, 0]
        start = device_state(subject.body, [resting(rest, STEP)], origins[0], STEP)
        start = jax.device_put(start)
        run = lambda s=subject, m=start: run_clip(  # noqa: E731
            s.body,
            s.local,
            s.rule,
            m,
            frames,
            steps=STEPS,
            piece=60,
            options=SolverOptions(False, GPU, unrolled=1),
        )
        require(bool(jnp.isfinite(run()[1].vertices).all()), f"{name} is not finite")
        report[str(len(subject.body.skin_places))] = {
            "ms": round(1e3 * timed(run) / 60, 4),
            "tetrahedra": len(subject.body.elements.weights),
            "free_vertices": subject.body.free_count,
            "inverse_bytes": int(subject.local.rows.nbytes),
        }
    return report
