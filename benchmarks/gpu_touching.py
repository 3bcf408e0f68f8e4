"""The GPU benchmark's characters that collide with themselves: times, and what is left inside."""

import contextlib
from collections.abc import Mapping
from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy as np
from gpu_timing import GPU, STEP, STEPS, SUBJECTS, Subject, moving_state, require, timed

from corporeal.errors import SolverError
from corporeal.physics.contact.gpu.detection import (
    Capacity,
    DeviceSkin,
    require_capacity,
    vertices_inside,
)
from corporeal.physics.contact.gpu.pairs import attach
from corporeal.physics.contact.touching import Touching
from corporeal.physics.fast_projective_skinning.gpu.body import load_device_skin
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    PosedClip,
    Wanted,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.contacts import (
    Collisions,
    Touched,
    base_points,
    collisions_of,
)
from corporeal.physics.solver.gpu.step import SolverOptions, SolverState

MANY = Capacity(7168, 2**19, 3 * 2**20)


def contacts() -> dict[str, object]:
    """One character that collides with itself everywhere, as the command line does it."""
    return touching_clip([(Capacity(), SolverOptions(kernels=GPU))])


def rounds() -> dict[str, object]:
    """The same with other rounds of contact forces, and with more room."""
    others = [(Capacity(), SolverOptions(kernels=GPU, rounds=count)) for count in (3, 8)]
    return touching_clip([*others, (Capacity(5120), SolverOptions(kernels=GPU, unrolled=1))])


def touching_clip(ways: list[tuple[Capacity, SolverOptions]]) -> dict[str, object]:
    """Times of 60 frames, how many contacts there are, and what is left inside."""
    subject = Subject("body.npz")
    data = np.load(SUBJECTS / "contacts.npz")
    frames, origins = clip_frames(data["frames"][:, None])
    start = moving_state(data["positions"], np.zeros_like(data["positions"]))
    solver_state = jax.device_put(device_state(subject.body, [start], origins[0], STEP))
    skin = jax.device_put(load_device_skin(SUBJECTS / "contacts_skin.npz"))
    collisions = collisions_of(subject.body, skin, subject.dense.matrix, begun(data))
    report: dict[str, object] = {"cpu_rows_first_frame": int(data["rows"])}
    for capacity, options in ways:
        run = lambda r=capacity, w=options: run_clip(  # noqa: E731
            subject.body, subject.local, subject.rule, solver_state, frames, collisions,
            steps=STEPS, piece=60, wanted=Wanted(True, True, True), options=w, capacity=r,
        )  # fmt: skip
        _, posed_vertices, touched = run()
        require_capacity(touched.full, capacity)
        got = np.asarray(posed_vertices.simulated[0, :, :, 0], np.float64).T + origins[STEPS, 0]
        off = np.abs(got - data["after"][: len(got)])
        report[f"room {capacity.contacts}, {options.rounds} rounds"] = {
            "ms": round(1e3 * timed(run) / 60, 4),
            "contacts": [int(touched.counts.min()), int(touched.counts.max())],
            "contacts_first_frame": int(touched.counts[0]),
            "first_frame_off_mm": {
                "max": float(1e3 * off.max()),
                "rms": float(1e3 * np.sqrt((off**2).mean())),
            },
            "overlap": overlap(skin, posed_vertices.simulated[-1], frames.path[-1, 0], capacity),
        }
    return report


def begun(data: Mapping[str, np.ndarray]) -> Touching:
    """What touches when a clip begins, as `gpu_subjects.touching_arrays` wrote it."""
    names = (part.name for part in fields(Touching) if part.name != "edges")
    return Touching(*(data[f"touching/{name}"] for name in names))


def overlap(
    skin: DeviceSkin, simulated: jax.Array, pose: jax.Array, capacity: Capacity
) -> dict[str, float]:
    """Vertices inside the body, and how deep they are."""
    points, none = simulated[..., 0], len(skin.prisms)
    hits, full = jax.jit(vertices_inside, static_argnums=3)(
        skin, points, base_points(skin, pose), capacity
    )
    nothing = jnp.full((2, points.shape[1]), none, jnp.int32)
    found, crowded = jax.jit(attach, static_argnums=4)(
        skin, points, nothing, hits, capacity.contacts
    )
    require_capacity(full | crowded, capacity)
    depth = jnp.where(found.valid, jnp.maximum(-found.foot.gap, 0.0), 0.0)
    return {"vertices": int((depth > 1e-5).sum()), "depths_m": round(float(depth.sum()), 4)}


def many() -> dict[str, object]:
    """The full-resolution body curled up into itself: thousands of contacts at once."""
    subject, count = Subject("many_body.npz"), 10
    data = np.load(SUBJECTS / "many.npz")
    frames, origins = clip_frames(np.repeat(data["frame"][None, None], STEPS * count + 1, axis=0))
    frames = jax.device_put(frames)
    start = moving_state(data["positions"], np.zeros_like(data["positions"]))
    solver_state = jax.device_put(device_state(subject.body, [start], origins[0], STEP))
    skin = jax.device_put(load_device_skin(SUBJECTS / "many_skin.npz"))
    collisions = collisions_of(subject.body, skin, subject.dense.matrix, begun(data))

    def run(
        capacity: Capacity, collisions: Collisions | None
    ) -> tuple[SolverState, PosedClip, Touched]:
        moving_on, posed_vertices, touched = run_clip(
            subject.body, subject.local, subject.rule, solver_state, frames, collisions,
            steps=STEPS, piece=count, wanted=Wanted(True, True, True),
            options=SolverOptions(kernels=GPU, unrolled=1), capacity=capacity,
        )  # fmt: skip
        nothing = Touched(None, jnp.zeros(count, int), jnp.zeros(count, bool))
        return moving_on, posed_vertices, touched or nothing

    _, apart, touched = run(MANY, collisions)
    require_capacity(touched.full, MANY)
    require(bool(jnp.isfinite(apart.vertices).all()), "positions are not finite")
    _, through, _ = run(MANY, None)
    pose = frames.path[-1, 0]
    left, otherwise = (
        overlap(skin, jnp.asarray(posed_vertices.simulated)[-1], pose, MANY)
        for posed_vertices in (apart, through)
    )
    require(left["depths_m"] < otherwise["depths_m"], f"{left} is left of {otherwise}")
    for few in (MANY._replace(contacts=1024), MANY._replace(candidates=2**16)):
        with contextlib.suppress(SolverError):
            require_capacity(run(few, collisions)[2].full, few)
            raise SystemExit(f"{few} is too little, and nothing said so; nothing was reported.")
    return {
        "free_vertices": subject.body.free_count,
        "skin_vertices": len(subject.body.skin_places),
        "capacity": MANY._asdict(),
        "contacts": np.asarray(touched.counts).tolist(),
        "overlap": left,
        "overlap_without_collisions": otherwise,
        "ms": round(1e3 * timed(lambda: run(MANY, collisions)) / count, 3),
    }
