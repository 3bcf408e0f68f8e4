"""What a captured frame costs on a GPU and on the CPU, movement and twin, in the same run.

    python benchmarks/capture_gpu.py                       two people, two motions of 2 s
    python benchmarks/capture_gpu.py --device cpu-jax      the same program on JAX's CPU backend
    python benchmarks/capture_gpu.py --quick --device cpu-jax --out FILE     a few frames

Every take is simulated by both, from the same first frame, before any figure is written: they must
agree as far as `agreement` of the report says, or nothing is reported. Told apart are the first
frame, which the CPU brings into balance for both (`begin_s`); the others (`ms_a_frame`), of a take
that was simulated before; and what the device took longer when it simulated it first (`once_s`):
matrices and inverse of a person and a rule, and the program where it was not compiled yet. Health
is not measured. Writes benchmarks/results/capture_gpu.json.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

from corporeal.assets.default_body import load_default_body
from corporeal.capture.flesh import PersonFlesh, flesh_of
from corporeal.capture.protocols.dyna import DynaProtocol
from corporeal.capture.protocols.protocol import Recording
from corporeal.physics.fast_projective_skinning.flesh_frames import (
    ClipEngine,
    CpuClips,
    FleshFrame,
)
from corporeal.pipelines.capture import person_of
from corporeal.pipelines.people import PeopleConfig, make_people
from corporeal.population.people_store import read_people

RESULTS = Path(__file__).parent / "results" / "capture_gpu.json"
MOTIONS = ("jumping-jacks", "shake-hips")
AGREEMENT = {"off": 1e-3, "global": 5e-3}
"""Metres, 95th percentile over the flesh at the last frame: float32 iterations agree to less, but
where elements are pushed open, or skin touches skin, engines settle for other shapes."""
FEW = """name,gender,age,stature,mass
clara,female,34,1.63,68
david,male,41,1.77,92
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", default="gpu", help="gpu, gpu:N, or cpu-jax")
    parser.add_argument("--touch", nargs="+", choices=tuple(AGREEMENT), default=tuple(AGREEMENT))
    parser.add_argument("--seconds", type=float, default=2.0, help="of every motion")
    parser.add_argument("--quick", action="store_true", help="one person, six frames, no contacts")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    engine = engine_on(asked.device, 5 if asked.quick else None)
    report: dict[str, Any] = {
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(asked.device),
        "load_before": os.getloadavg(),
        "agreement": AGREEMENT,
        "takes": [],
    }
    motions, touches = (MOTIONS[:1], ("off",)) if asked.quick else (MOTIONS, asked.touch)
    protocol = DynaProtocol(60.0, asked.seconds, motions)
    for flesh in people(1 if asked.quick else 2):
        for name in protocol.sequences():
            recording = protocol.direct(flesh.person, load_default_body().template, name, 1)
            if asked.quick:
                recording = shortened(recording, 6)
            for touch in touches:
                for twin in (False, True):
                    row = compared(flesh, recording, touch, twin, engine)
                    row = {"person": flesh.person.name, "motion": name} | row
                    report["takes"].append(row)
                    print(json.dumps(row), flush=True)
    asked.out.write_text(json.dumps(report, indent=2) + "\n")


def engine_on(device: str, piece: int | None) -> ClipEngine:
    from corporeal.physics.fast_projective_skinning.gpu.flesh_frames import PIECE, DeviceClips

    return DeviceClips("cpu" if device == "cpu-jax" else device, piece or PIECE)


def machine(device: str) -> str:
    from corporeal.runtime.devices import require_device

    found = require_device("cpu" if device == "cpu-jax" else device)
    host = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{host}; {device}: {found.description}"


def people(count: int) -> list[PersonFlesh]:
    """Some people in layers."""
    template = load_default_body().template
    with tempfile.TemporaryDirectory() as folder:
        table, store = Path(folder) / "people.csv", Path(folder) / "people.zarr"
        table.write_text(FEW)
        make_people(PeopleConfig(out=store, table=table), workers=1)
        held = read_people(store)
        who = [person_of(held, number) for number in range(count)]
        return [flesh_of(person, template, "layered", seed=0) for person in who]


def shortened(recording: Recording, frames: int) -> Recording:
    """The first frames alone."""
    motion = recording.motion
    few = replace(
        motion,
        joint_rotations=np.asarray(motion.joint_rotations)[:frames],
        root_translation=np.asarray(motion.root_translation)[:frames],
    )
    return replace(recording, motion=few)


def compared(
    flesh: PersonFlesh, recording: Recording, touch: str, twin: bool, engine: ClipEngine
) -> dict[str, Any]:
    """Both engines' time of a take, once they agree."""
    here, cpu = played(flesh, recording, touch, twin, CpuClips())
    _, first = played(flesh, recording, touch, twin, engine)  # prepares and compiles
    there, device = played(flesh, recording, touch, twin, engine)
    off = np.linalg.norm(here[-1].positions - there[-1].positions, axis=1)
    most = float(np.percentile(off, 95.0))
    if len(here) != len(there) or not most < AGREEMENT[touch]:
        raise SystemExit(
            f"{flesh.person.name} {recording.motion.name} touch {touch} twin {twin}: of the "
            f"last frames one vertex in twenty is {1e3 * most:.3f} mm off; nothing was reported."
        )
    once = 1e-3 * (len(here) - 1) * (first["ms_a_frame"] - device["ms_a_frame"])
    again, _ = played(flesh, recording, touch, twin, engine)
    same = all(np.array_equal(a.positions, b.positions) for a, b in zip(there, again, strict=True))
    return {
        "touch": touch,
        "twin": twin,
        "frames": len(here),
        "cpu": cpu,
        "device": device | {"once_s": round(once, 2)},
        "ratio": round(cpu["ms_a_frame"] / device["ms_a_frame"], 2),
        "rms_mm": round(1e3 * float(np.sqrt((off**2).mean())), 4),
        "95_percent_mm": round(1e3 * most, 4),
        "largest_mm": round(1e3 * float(off.max()), 3),
        "repeats_bit_for_bit": same,
    }


def played(
    flesh: PersonFlesh, recording: Recording, touch: str, twin: bool, engine: ClipEngine
) -> tuple[list[FleshFrame], dict[str, float]]:
    """All frames of a take or its twin; seconds of the first, milliseconds a later one."""
    person = replace(flesh, clips=engine)
    frames = person.twin_frames(recording, touch) if twin else person.frames(recording, touch)
    start = time.perf_counter()
    found = [next(frames)]
    begun = time.perf_counter()
    found += frames
    spent = time.perf_counter() - begun
    each = 1e3 * spent / max(1, len(found) - 1)
    return found, {"begin_s": round(begun - start, 3), "ms_a_frame": round(each, 3)}


if __name__ == "__main__":
    main()
