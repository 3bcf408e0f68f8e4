"""What all tests share: checked annotations, public data, the order of files, compiled programs."""

import ctypes
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import checked_annotations
import durations
import public_data
import pytest
import shared_command
import xla_flags

if TYPE_CHECKING:
    from corporeal.body.identity import Identity

sys.dont_write_bytecode = False  # workers and commands share what the hook below compiles
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
checked_annotations.install("corporeal")

_JAX = {
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
"""Tests run a JAX program a few times on small bodies: to optimise it takes longer than to run it
plain. All programs are kept, small ones too: there are hundreds, and many files want them."""
_XLA = {
    "xla_cpu_use_fusion_emitters": "false",
    "xla_cpu_parallel_codegen_split_count": "1",
}
"""Flags of the compiler behind JAX: loops are written by the older, quicker emitter, and a program
in one piece. A clip takes 10.5 s of a processor to compile and run instead of 16.9."""
_MUCH_BYTES = 1 << 30
_PROGRAMS = "JAX_COMPILATION_CACHE_DIR"


def pytest_configure(config: pytest.Config) -> None:
    """Let all workers share the programs that JAX compiles, and commands that are run once.

    Kernels of numba lie in a cache beside their sources anyway.
    """
    if hasattr(config, "workerinput"):
        return
    folder = Path(tempfile.mkdtemp(prefix="corporeal-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ[shared_command.PLACE] = str(folder / "commands")
    (folder / "commands").mkdir()
    if _PROGRAMS in os.environ:
        return
    programs = {_PROGRAMS: str(folder / "programs")}
    os.environ.update(programs | {k: os.environ.get(k, v) for k, v in _JAX.items()})
    os.environ.setdefault(
        "XLA_FLAGS", " ".join(f"--{k}={_XLA[k]}" for k in xla_flags.known_flags(_XLA))
    )
    if config.getoption("numprocesses", None):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # or waiting threads take others' cores


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and mark those that are quick (see `durations`)."""
    seconds = durations.recorded()
    items.sort(key=lambda item: durations.place(item.path.name, seconds))
    for item in items:
        if durations.is_quick(item.path.name, seconds) and not item.get_closest_marker("slow"):
            item.add_marker("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, before any fixture is made, what needs public data that is not there."""
    for mark in item.iter_markers("data"):
        for name in mark.args:
            reason = public_data.missing(name)
            if reason is not None:
                pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Give memory back after a file that took much: compiled programs and what they hold."""
    result = yield
    if (nextitem is None or nextitem.path != item.path) and _resident_bytes() > _MUCH_BYTES:
        if "jax" in sys.modules:
            sys.modules["jax"].clear_caches()
        gc.collect()
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # of glibc
    return result


def _resident_bytes() -> int:
    """Memory of this process; 0 where the system does not tell as Linux does."""
    callback = Path("/proc/self/statm")
    return (
        int(callback.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if callback.exists()
        else 0
    )


@pytest.fixture(scope="module")
def average() -> "Identity":
    """The average adult, a woman of thirty to those who ask: the body that looks are tried on."""
    import numpy as np

    from corporeal.assets.default_body import load_default_body
    from corporeal.body.identity import Identity

    template = load_default_body().template
    told = {"gender": np.float64(0.0), "age": np.float64(30.0)}
    return Identity(template.mesh.vertices, template.skeleton.joints, told)
