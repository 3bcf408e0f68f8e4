"""`corporeal doctor`."""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Literal

import tyro

import corporeal
from corporeal.cli.console import print_json
from corporeal.errors import CorporealError

State = Literal["ok", "optional", "missing"]

_EXTRAS = {
    "torch": ("torch", "PyTorch arrays in and out"),
    "distributed": ("cluster", "batches on a Dask cluster"),
    "embreex": ("scans", "raw scans of captured people"),
    "h5py": ("hdf5", "DFAUST's and Dyna's .hdf5 files"),
    "usd-core": ("usd", "USD files in and out"),
    "alembic3d": ("alembic", "Alembic caches"),
}
_MARKS = {"ok": "ok      ", "optional": "optional", "missing": "MISSING "}


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    what: str
    """What was looked at."""
    state: State
    """`ok`, `optional` or `missing`."""
    said: str
    """What was found, in words."""
    remedy: str = ""
    """How to get what is missing; empty where nothing is."""


@dataclass(frozen=True)
class Doctor:
    """Say what this machine has, what is missing, and how to get it.

    Ends with code 1 if something is missing that corporeal needs.

    Examples:
      corporeal doctor
      corporeal doctor --device gpu --json
    """

    device: Annotated[str | None, tyro.conf.arg(metavar="cpu|gpu|gpu:N")] = None
    """Look whether this device is there."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Look at everything, then tell."""
        findings = [finding for check in CHECKS for finding in check()]
        if self.device is not None:
            findings.append(_asked_device(self.device))
        if self.json:
            print_json({"corporeal": corporeal.__version__, "findings": findings})
        else:
            print(f"corporeal {corporeal.__version__}\n")
            for finding in findings:
                print(f"  {_MARKS[finding.state]}  {finding.what}: {finding.said}")
                if finding.remedy:
                    print(f"            → {finding.remedy}")
        return int(any(finding.state == "missing" for finding in findings))


def check_python() -> Iterator[Finding]:
    """The interpreter and the machine."""
    fine = sys.version_info >= (3, 11)
    yield Finding(
        "python",
        "ok" if fine else "missing",
        f"{platform.python_version()} on {platform.platform()}, {os.cpu_count()} cores",
        "" if fine else "install Python 3.11 or newer",
    )


def check_packages() -> Iterator[Finding]:
    """Every package of the default install."""
    for requirement in metadata.requires("corporeal") or ():
        if "extra ==" in requirement:
            continue
        name = re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0]
        least = re.search(r">=\s*([\d.]+)", requirement)
        yield _package(name, least.group(1) if least else "0")


def check_extras() -> Iterator[Finding]:
    """Packages that some features ask for."""
    for name, (extra, purpose) in _EXTRAS.items():
        try:
            yield Finding(name, "ok", f"{metadata.version(name)} ({purpose})")
        except metadata.PackageNotFoundError:
            remedy = f'for {purpose}: pip install "corporeal[{extra}]"'
            yield Finding(name, "optional", "not installed", remedy)


def check_assets() -> Iterator[Finding]:
    """The embedded body, against its checksum."""
    from corporeal.assets.default_body import load_default_body

    try:
        body = load_default_body()
    except CorporealError as error:
        yield Finding("default body", "missing", str(error), "reinstall corporeal")
        return
    said = (
        f"{body.template.mesh.vertex_count} vertices, "
        f"{body.template.skeleton.joint_count} joints, {body.targets.count} shape targets"
    )
    yield Finding("default body", "ok", said)


def check_devices() -> Iterator[Finding]:
    """What can be computed on."""
    from corporeal.runtime.devices import list_devices

    devices = ", ".join(f"{d.name} ({d.description})" for d in list_devices())
    yield Finding("devices", "ok", devices)


def check_cholesky() -> Iterator[Finding]:
    """Which kernel the sparse Cholesky solve of the CPU physics uses, and why."""
    from corporeal.numerics.cholesky import KERNEL_SETTING, kernel_choice

    try:
        choice = kernel_choice()
    except CorporealError as error:
        yield Finding("cholesky solve", "missing", str(error), f"unset {KERNEL_SETTING}")
        return
    except ImportError as error:
        yield Finding("cholesky solve", "missing", str(error), 'pip install "numba>=0.61"')
        return
    remedy = f"a warning tells of it; {KERNEL_SETTING}=plain is content with it"
    yield Finding(
        "cholesky solve",
        "optional" if choice.by_need else "ok",
        f"{choice.name} kernel ({choice.reason})",
        remedy if choice.by_need else "",
    )


def check_film() -> Iterator[Finding]:
    """The encoder of films."""
    import imageio_ffmpeg

    remedy = "reinstall it: pip install --force-reinstall imageio-ffmpeg"
    try:
        program = imageio_ffmpeg.get_ffmpeg_exe()
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        yield Finding("ffmpeg", "missing", str(error), remedy)
        return
    words = done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else ""
    yield Finding("ffmpeg", "ok" if words else "missing", words[:40], "" if words else remedy)


def check_folders() -> Iterator[Finding]:
    """Where results, compiled kernels and temporary files go."""
    for what, folder in (
        ("this folder", Path.cwd()),
        ("temporary files", Path(tempfile.gettempdir())),
        ("compiled kernels", _kernel_folder()),
    ):
        free = shutil.disk_usage(folder).free / 1024**3
        fine = os.access(folder, os.W_OK | os.X_OK)
        yield Finding(
            what,
            "ok" if fine else "missing" if what == "temporary files" else "optional",
            f"{folder}, {free:.1f} GiB free" if fine else f"{folder} cannot be written",
            "" if fine else _FOLDER_REMEDIES[what],
        )


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    check_python,
    check_packages,
    check_extras,
    check_assets,
    check_devices,
    check_cholesky,
    check_film,
    check_folders,
)

_FOLDER_REMEDIES = {
    "this folder": "results must go elsewhere: pass --out",
    "temporary files": "set TMPDIR to a folder that you may write",
    "compiled kernels": "compiled anew each time: set NUMBA_CACHE_DIR to a writable folder",
}


def _kernel_folder() -> Path:
    """Numba keeps kernels beside their sources, or where NUMBA_CACHE_DIR says."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return Path(chosen) if chosen and Path(chosen).is_dir() else Path(corporeal.__path__[0])


def _package(name: str, least: str) -> Finding:
    remedy = f'pip install "{name}>={least}"'
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, "missing", "not installed", remedy)
    if _numbers(version) < _numbers(least):
        return Finding(name, "missing", f"{version}; expected {least} or newer", remedy)
    return Finding(name, "ok", version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.split("+")[0])[:3])


def _asked_device(name: str) -> Finding:
    from corporeal.runtime.devices import require_device

    try:
        return Finding(f"device {name}", "ok", require_device(name).description)
    except CorporealError as error:
        return Finding(f"device {name}", "missing", str(error))
