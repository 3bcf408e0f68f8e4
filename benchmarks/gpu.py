"""Speed of projective skinning on a GPU: a frame, with collisions, crowds, and how cost grows.

    python benchmarks/gpu_subjects.py      # once, where numba and cholespy are
    python benchmarks/gpu.py               # where the GPU is: NumPy, SciPy, JAX, jaxtyping
    python benchmarks/gpu.py frame crowd   # some parts only

Nothing is reported before it was compared: clips with the float64 reference and with the CPU
simulation (both under 1e-4 of the body's height after 120 frames), crowds with single characters.
A frame is two steps of five local–global iterations, coupling, upsampling to 13 380 vertices and,
where stated, normals. Times are medians of whole clips, without compilation.
"""

import argparse
import contextlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from corporeal.errors import SolverError
from corporeal.physics.collisions.gpu_detection import DeviceSkin, Room, require_room
from corporeal.physics.collisions.gpu_pairs import skin_contacts
from corporeal.physics.projective.crowd import assembled_people, assembled_states, run_people
from corporeal.physics.projective.gpu_body import (
    DeviceBody,
    load_device_body,
    load_device_skin,
)
from corporeal.physics.projective.gpu_clip import (
    Frames,
    Skins,
    Wanted,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.projective.gpu_touch import Collisions, Touched, base_points, no_pairs
from corporeal.physics.projective_dynamics.gpu import Moving, Way
from corporeal.physics.projective_dynamics.gpu_flesh import system_matrix
from corporeal.physics.projective_dynamics.gpu_inverse import (
    DenseInverse,
    Inverse,
    inverted,
    inverted_on_device,
    local_inverse,
)
from corporeal.physics.projective_dynamics.integration import State, StepRule, resting

ROOT = Path(__file__).parents[1]
SUBJECTS = ROOT / "build" / "gpu"
CLIPS = ("running-on-spot", "shake-hips", "one-leg-jump")
STEP, STEPS, ITERATIONS = 1 / 120, 2, 5
AGREEMENT = 1e-4  # of the body's height, after 120 frames
ROUNDS = 7
GPU = jax.default_backend() != "cpu"
CONTACT_WAYS = (
    (Room(384, 80_000, 240_000), Way(kernels=GPU, rounds=3)),
    (Room(384, 80_000, 240_000), Way(kernels=GPU, rounds=8)),
    (Room(5120), Way(kernels=GPU, rounds=3, unrolled=1)),
)
MANY = Room(7168, 2**19, 3 * 2**20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
    for part in options.parts:
        started = time.perf_counter()
        report[part] = PARTS[part]()
        report[part]["took_s"] = round(time.perf_counter() - started, 1)
        print(part, json.dumps(report[part], indent=1), flush=True)
        options.out.write_text(json.dumps(report, indent=2) + "\n")


def timed(call: Callable[[], object]) -> float:
    """Median seconds of a call that has been compiled."""
    jax.block_until_ready(call())
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def copy_rate() -> float:
    """Bytes a second, read and written, of a large copy."""
    values = jnp.ones(2**29 if GPU else 2**20, jnp.float32)
    copy = jax.jit(lambda x: x + 1.0)
    return 2 * values.nbytes / timed(lambda: copy(values))


class Subject:
    """A prepared body with its rule and inverses."""

    def __init__(self, name: str, damping: float = 10.0) -> None:
        host = load_device_body(SUBJECTS / name)
        self.rule = StepRule(STEP, ITERATIONS, damping)
        matrix = system_matrix(host.elements, self.rule.inertia, len(host.order))
        whole = inverted(matrix)
        self.height = float(np.ptp(host.rest[:, 1]))
        self.body: DeviceBody = jax.device_put(host)
        self.local = jax.device_put(local_inverse(whole))
        self.dense = DenseInverse(jnp.asarray(whole, jnp.float32))

    def clip(self, name: str) -> tuple[Moving, Frames, np.ndarray, dict[str, np.ndarray]]:
        """Start, frames, origins, and what was computed elsewhere."""
        clip = dict(np.load(SUBJECTS / f"clip_{name}.npz"))
        frames, origins = clip_frames(clip["frames"][:, None])
        start = moving_state(clip["positions"], clip["velocities"])
        moving = device_state(self.body, [start], origins[0], STEP)
        return jax.device_put(moving), jax.device_put(frames), origins[:, 0], clip


def moving_state(positions: np.ndarray, velocities: np.ndarray) -> State:
    return resting(positions, STEP, velocities)


def frame() -> dict[str, object]:
    """One character: agreement on three clips, then times."""
    subject = Subject("body.npz")
    wanted = Wanted(vertices=True, normals=True, simulated=True)
    report: dict[str, object] = {"tetrahedra": len(subject.body.elements.weights)}
    report["skin_vertices"] = len(subject.body.skin_places)
    report["free_vertices"] = subject.body.free_count
    agreement: dict[str, dict[str, float]] = {}
    for name in CLIPS:
        moving, frames, origins, clip = subject.clip(name)
        agreement[name] = {}
        for key, way in (
            ("reference", Way(accelerated=False, kernels=GPU)),
            ("fast", Way(kernels=GPU)),
        ):
            _, skins, _ = run_clip(
                subject.body, subject.local, subject.rule, moving, frames,
                steps=STEPS, piece=120, wanted=wanted, way=way,
            )  # fmt: skip
            got = np.asarray(skins.simulated[-1, :, :, 0], np.float64).T + origins[-1]
            difference = np.abs(got - clip[key][: len(got)]).max() / subject.height
            agreement[name][key] = float(difference)
            require(difference < AGREEMENT, f"{name} differs from {key} by {difference}")
    report["agreement_of_height"] = agreement
    moving, frames, _, _ = subject.clip(CLIPS[0])
    times = {}
    for title, inverse, way in (
        ("local inverse", subject.local, Way(accelerated=False, kernels=GPU)),
        ("local inverse, accelerated", subject.local, Way(kernels=GPU)),
        ("dense inverse", subject.dense, Way(accelerated=False, kernels=GPU)),
    ):

        def run(inverse: Inverse = inverse, way: Way = way) -> object:
            body, rule = subject.body, subject.rule
            options = {"steps": STEPS, "piece": 120, "wanted": wanted, "way": way}
            return run_clip(body, inverse, rule, moving, frames, **options)

        times[title] = round(1e3 * timed(run) / 120, 4)
    report["frame_ms"] = times
    report["floor"] = floor(subject, times["local inverse"], times["dense inverse"])
    return report


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


def contacts() -> dict[str, object]:
    """One character that collides with itself everywhere."""
    subject = Subject("body.npz")
    data = np.load(SUBJECTS / "contacts.npz")
    frames, origins = clip_frames(data["frames"][:, None])
    start = moving_state(data["positions"], np.zeros_like(data["positions"]))
    moving = jax.device_put(device_state(subject.body, [start], origins[0], STEP))
    skin = jax.device_put(load_device_skin(SUBJECTS / "contacts_skin.npz"))
    collisions = Collisions(skin, subject.dense.matrix, no_pairs(subject.body))
    report: dict[str, object] = {"cpu_rows_first_frame": int(data["rows"])}
    for room, way in CONTACT_WAYS:
        run = lambda r=room, w=way: run_clip(  # noqa: E731
            subject.body, subject.local, subject.rule, moving, frames, collisions,
            steps=STEPS, piece=60, wanted=Wanted(True, True, True), way=w, room=r,
        )  # fmt: skip
        _, skins, touched = run()
        require_room(touched.full, room)
        got = np.asarray(skins.simulated[0, :, :, 0], np.float64).T + origins[STEPS, 0]
        off = np.abs(got - data["after"][: len(got)])
        report[f"room {room.contacts}, {way.rounds} rounds"] = {
            "ms": round(1e3 * timed(run) / 60, 4),
            "contacts": [int(touched.counts.min()), int(touched.counts.max())],
            "contacts_first_frame": int(touched.counts[0]),
            "first_frame_off_mm": {
                "max": float(1e3 * off.max()),
                "rms": float(1e3 * np.sqrt((off**2).mean())),
            },
            "overlap": overlap(subject, skin, skins.simulated[-1], frames.path[-1, 0], room),
        }
    return report


def overlap(
    subject: Subject, skin: DeviceSkin, simulated: jax.Array, pose: jax.Array, room: Room
) -> dict[str, float]:
    """Vertices inside the body, and how deep they are."""
    base = base_points(subject.body.coupling, skin, pose)
    find = jax.jit(skin_contacts, static_argnames="room")
    rows, _, full = find(skin, simulated[..., 0], base, no_pairs(subject.body), room=room)
    require_room(full, room)
    places = jnp.sum(rows.coefficients * simulated[:, rows.vertices, 0], axis=2)
    depth = jnp.maximum(-jnp.sum(rows.normals * places, axis=0), 0.0)
    return {"vertices": int((depth > 1e-5).sum()), "depths_m": round(float(depth.sum()), 4)}


def many() -> dict[str, object]:
    """The full-resolution body curled up into itself: thousands of contacts at once."""
    subject, count = Subject("many_body.npz"), 10
    data = np.load(SUBJECTS / "many.npz")
    frames, origins = clip_frames(np.repeat(data["frame"][None, None], STEPS * count + 1, axis=0))
    frames = jax.device_put(frames)
    start = moving_state(data["positions"], np.zeros_like(data["positions"]))
    moving = jax.device_put(device_state(subject.body, [start], origins[0], STEP))
    skin = jax.device_put(load_device_skin(SUBJECTS / "many_skin.npz"))
    collisions = Collisions(skin, subject.dense.matrix, no_pairs(subject.body))

    def run(room: Room, collisions: Collisions | None) -> tuple[Moving, Skins, Touched | None]:
        return run_clip(
            subject.body, subject.local, subject.rule, moving, frames, collisions,
            steps=STEPS, piece=count, wanted=Wanted(True, True, True),
            way=Way(kernels=GPU, rounds=3, unrolled=1), room=room,
        )  # fmt: skip

    _, apart, touched = run(MANY, collisions)
    require_room(touched.full, MANY)
    require(bool(jnp.isfinite(apart.vertices).all()), "positions are not finite")
    _, through, _ = run(MANY, None)
    pose = frames.path[-1, 0]
    left = overlap(subject, skin, apart.simulated[-1], pose, MANY)
    otherwise = overlap(subject, skin, through.simulated[-1], pose, MANY)
    require(left["depths_m"] < otherwise["depths_m"], f"{left} is left of {otherwise}")
    for few in (MANY._replace(contacts=1024), MANY._replace(candidates=2**16)):
        with contextlib.suppress(SolverError):
            require_room(run(few, collisions)[2].full, few)
            raise SystemExit(f"{few} is too little, and nothing said so; nothing was reported.")
    return {
        "free_vertices": subject.body.free_count,
        "skin_vertices": len(subject.body.skin_places),
        "room": MANY._asdict(),
        "contacts": np.asarray(touched.counts).tolist(),
        "overlap": left,
        "overlap_without_collisions": otherwise,
        "ms": round(1e3 * timed(lambda: run(MANY, collisions)) / count, 3),
    }


def crowd() -> dict[str, object]:
    """Characters that share a body."""
    subject = Subject("body.npz")
    singles = [subject.clip(name) for name in CLIPS]
    count = 8
    report: dict[str, object] = {"frames": count, "character_frames_per_s": {}}
    ends = []
    for moving, frames, _, _ in singles:
        few = Frames(frames.start, frames.path[: STEPS * count], frames.shifts[: STEPS * count])
        _, skins, _ = run_clip(
            subject.body, subject.local, subject.rule, moving, few,
            steps=STEPS, piece=1, way=Way(unrolled=1),
        )  # fmt: skip
        ends.append(np.asarray(skins.vertices[-1, 0]))
    sizes = (16, 64, 256, 1024) if GPU else (4,)
    for size in sizes:
        chosen = [singles[k % len(singles)] for k in range(size)]
        moving = Moving(
            *(jnp.concatenate(parts, 2) for parts in zip(*(c[0] for c in chosen), strict=True))
        )
        frames = Frames(
            jnp.concatenate([c[1].start for c in chosen]),
            jnp.concatenate([c[1].path[: STEPS * count] for c in chosen], axis=1),
            jnp.concatenate([c[1].shifts[: STEPS * count] for c in chosen], axis=2),
        )
        run = lambda m=moving, f=frames: run_clip(  # noqa: E731
            subject.body, subject.dense, subject.rule, m, f,
            steps=STEPS, piece=1, way=Way(kernels=GPU, unrolled=1),
        )  # fmt: skip
        last = np.asarray(run()[1].vertices[-1])
        off = max(np.abs(last[k] - ends[k % len(ends)]).max() for k in (0, 1, 2, size - 1))
        require(off / subject.height < AGREEMENT, f"a crowd of {size} is off by {off} m")
        report["character_frames_per_s"][str(size)] = round(size * count / timed(run))
        report[f"off_of_height_{size}"] = float(off / subject.height)
    return report


def people() -> dict[str, object]:
    """Different people: eight bodies, each in eight materials."""
    hosts = [load_device_body(path) for path in sorted(SUBJECTS.glob("person_*.npz"))]
    variants = 8 if GPU else 1
    count, bodies, inverses = 8, [], []
    rule = StepRule(STEP, ITERATIONS, 10.0)
    for host in hosts:
        for number in range(variants):
            body = stiffened(host, 0.7 + 0.1 * number)
            matrix = system_matrix(body.elements, rule.inertia, len(body.order))
            whole = inverted_on_device(matrix)
            bodies.append(body)
            inverses.append(local_inverse(whole))
    everybody = assembled_people(bodies, inverses)
    clip = np.load(SUBJECTS / f"clip_{CLIPS[0]}.npz")
    frames, origins = clip_frames(clip["frames"][: STEPS * count + 1, None])
    states = []
    for body in bodies:
        start = resting(np.asarray(body.rest, np.float64) + origins[0, 0], STEP)
        states.append(device_state(body, [start], origins[0], STEP))
    every = Frames(
        np.repeat(frames.start, len(bodies), axis=0),
        np.repeat(frames.path, len(bodies), axis=1),
        np.repeat(frames.shifts, len(bodies), axis=2),
    )
    moving = jax.device_put(assembled_states(everybody, states))
    everybody, every = jax.device_put(everybody), jax.device_put(every)
    way = Way(kernels=GPU, unrolled=1)
    run = lambda: run_people(everybody, rule, moving, every, steps=STEPS, way=way)  # noqa: E731
    last, off = np.asarray(run()[1][-1]), []
    for chosen in (0, len(bodies) - 1):
        body, inverse, state = bodies[chosen], inverses[chosen], states[chosen]
        _, skins, _ = run_clip(body, inverse, rule, state, frames, steps=STEPS, way=way)
        off.append(float(np.abs(np.asarray(skins.vertices[-1, 0]) - last[chosen]).max()))
    require(max(off) / 1.7 < AGREEMENT, f"people differ from singles by {off} m")
    return {
        "people": len(bodies),
        "off_m": off,
        "inverse_bytes": int(everybody.inverse.rows.nbytes),
        "character_frames_per_s": round(len(bodies) * count / timed(run)),
    }


def stiffened(body: DeviceBody, factor: float) -> DeviceBody:
    """The same body of other flesh."""
    from dataclasses import replace

    from corporeal.physics.projective_dynamics.gpu_flesh import flesh_of

    elements = replace(body.elements, weights=(body.elements.weights * factor).astype(np.float32))
    return replace(body, elements=elements, flesh=flesh_of(elements))


def sizes() -> dict[str, object]:
    """How a frame's time grows with the simulated vertices."""
    report = {}
    clip = np.load(SUBJECTS / f"clip_{CLIPS[0]}.npz")
    frames, origins = clip_frames(clip["frames"][: STEPS * 60 + 1, None])
    frames = jax.device_put(frames)
    for path in sorted(SUBJECTS.glob("size_*.npz"), key=lambda p: int(p.stem.split("_")[1])):
        subject = Subject(path.name)
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
            way=Way(False, GPU, unrolled=1),
        )
        require(bool(jnp.isfinite(run()[1].vertices).all()), f"{path.name} is not finite")
        report[str(len(subject.body.skin_places))] = {
            "ms": round(1e3 * timed(run) / 60, 4),
            "tetrahedra": len(subject.body.elements.weights),
            "free_vertices": subject.body.free_count,
            "inverse_bytes": int(subject.local.rows.nbytes),
        }
    return report


def require(sound: bool, otherwise: str) -> None:
    if not sound:
        raise SystemExit(f"{otherwise}; nothing was reported.")


PARTS = {
    "frame": frame,
    "contacts": contacts,
    "many": many,
    "crowd": crowd,
    "people": people,
    "sizes": sizes,
}

if __name__ == "__main__":
    main()
