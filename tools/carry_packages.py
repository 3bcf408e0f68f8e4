"""Packages for a machine that nothing can be installed on: wheels in one small archive, and out.

    pip download --no-deps --dest WHEELS numba llvmlite zarr numcodecs …
    python tools/carry_packages.py pack WHEELS build/packages.tar.xz        here; minutes
    python tools/carry_packages.py unpack build/packages.tar.xz build/packages      there; seconds
    PYTHONPATH=build/packages:src python -m corporeal.cli.main …

Tests and what compilers need are left out, symbols are stripped from libraries, and machine code
is brought into the form that packs best (xz with its x86 filter): numba with llvmlite, 180 MB
unpacked, becomes 38 MB. `unpack` needs nothing but Python.
"""

import argparse
import lzma
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

FILTERS = [
    {"id": lzma.FILTER_X86},
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 27},
]
UNUSED = ("tests", "include")
"""Folders that nothing imports."""
MOST_BYTES = 1 << 30
"""An archive that claims to unpack to more is refused."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("pack", "unpack"))
    parser.add_argument("source", type=Path, help="folder of wheels; archive")
    parser.add_argument("target", type=Path, help="archive (.tar.xz); folder")
    asked = parser.parse_args()
    (pack if asked.what == "pack" else unpack)(asked.source, asked.target)


def pack(wheels: Path, archive: Path) -> None:
    """All wheels of a folder, without what is not needed to run, as one archive."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        for wheel in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(wheel) as file:
                file.extractall(home)
        lighten(home)
        files = sorted(path for path in home.rglob("*") if path.is_file())
        with (
            lzma.open(archive, "wb", filters=FILTERS) as packed,
            tarfile.open(fileobj=packed, mode="w") as tar,
        ):
            for path in files:
                tar.add(path, path.relative_to(home))
    print(f"{len(files)} files: {archive.stat().st_size / 1e6:.1f} MB")


def lighten(home: Path) -> None:
    """Remove tests and headers, strip libraries."""
    for folder in [path for path in home.rglob("*") if path.is_dir() and path.name in UNUSED]:
        shutil.rmtree(folder, ignore_errors=True)
    strip = shutil.which("strip")
    for library in home.rglob("*.so") if strip else ():
        subprocess.run([strip, "--strip-unneeded", str(library)], check=False)


def unpack(archive: Path, folder: Path) -> None:
    """Put the packages of an archive into a folder; one that is there already is left as it is."""
    if folder.exists():
        return
    made = folder.with_name(folder.name + ".part")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    with tarfile.open(archive, "r:xz") as tar:
        held = 0
        for member in tar:
            held += member.size
            if held > MOST_BYTES:
                raise SystemExit(f"{archive} unpacks to more than {MOST_BYTES} bytes; refused.")
            tar.extract(member, made, filter="data")
    made.rename(folder)


if __name__ == "__main__":
    main()
