"""Small sets of registrations, and jobs that write them, for tests."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from small_body import small_template

from corporeal.body.registrations import Take
from corporeal.formats.registrations import RegistrationsStore

TEMPLATE = small_template()
VERTICES = TEMPLATE.mesh.vertex_count


def moving(frames: int, seed: int = 0) -> np.ndarray:
    """A tube that trembles."""
    random = np.random.default_rng(seed)
    shape = (frames, VERTICES, 3)
    return (np.asarray(TEMPLATE.mesh.vertices) + 0.01 * random.normal(size=shape)).astype(
        np.float32
    )


def take(subject: str, sequence: str, frames: int = 5, seed: int = 0) -> Take:
    return Take(subject, sequence, 60.0, moving(frames, seed), split="train", notes={"seed": seed})


def small_store(path: Path) -> RegistrationsStore:
    mesh = TEMPLATE.mesh
    return RegistrationsStore.create(path, "tube", mesh.triangles, VERTICES, {"seed": 3})


def write_person(item: tuple[str, int]) -> int:
    """A visit of four takes, each taking a while; says on the disk that it began, and where."""
    path, person = item
    store = RegistrationsStore.open(path)
    written = 0
    for sequence in range(4):
        if not store.has_take(f"p{person}", f"s{sequence}"):
            (Path(path).parent / f"began-{person}-{os.getpid()}").touch()
            time.sleep(0.15)
            store.write_take(take(f"p{person}", f"s{sequence}", 5, 10 * person + sequence))
            written += 1
    return written


def kill_one_writer(folder: Path) -> int:
    """Kill a process that is writing; gives its id."""
    for _ in range(600):
        began = sorted(folder.glob("began-*"))
        if began:
            victim = int(began[0].name.rsplit("-", 1)[1])
            time.sleep(0.2)
            os.kill(victim, signal.SIGKILL)
            return victim
        time.sleep(0.05)
    raise TimeoutError("nobody began to write")
