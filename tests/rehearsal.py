"""Small files and small settings, so that what pages ask a reader to type can be tried."""

import os
import shlex
import shutil
from pathlib import Path
from typing import Final

from command_server import run_command

NOT_REHEARSED: Final = {
    "corporeal studio": "waits for a browser: tests/studio_page.py opens it",
    "jiggle": "another package's deformer: tests/test_third_party_deformer.py",
    "--device gpu": "needs a GPU",
    "tcp://": "needs a cluster: examples/cluster.py starts one",
    "avatar": "a scan of the reader's: examples/phone_scan.py, tests/test_scan_tutorial.py",
    "register": "scans of the reader's: tests/test_registration.py",
    "markers": "a capture of the reader's: tests/test_markers.py",
    "scan.obj": "a scan of the reader's",
    "me.npz": "comes of a scan",
    "--wear": "assets of others: tests/test_looks.py wears made-up ones",
    "dataset import": "data of others: tests/test_packed_registrations.py reads made-up ones",
    "--from": "tables of the reader's: tests/test_people_store.py",
    "anatomy template": "bones of the reader's",
    "own.npz": "comes of bones of the reader's",
    "dyna": "swinging people take minutes: examples/train_dynamics.py",
    "dmpl": "swinging people take minutes: examples/train_dynamics.py",
    "neural": "swinging people take minutes: examples/train_dynamics.py",
    "train blendscape": "takes minutes: tests/test_blendscape.py trains a small one",
    "enveloping.npz": "sparse scans: examples/enveloping.py",
    "heavy_take": "a take of the reader's: tests/test_front_door.py",
    "landing.mp4": "the film of the gallery, 90 frames",
}
"""Parts of lines that are not run here, and why not, or by what else."""
_MADE: Final = """
body --gender female --stature 1.70 --mass 82 --out anna.npz
people --count 16 --seed 1 --out people.zarr
capture --people people.zarr --protocol poses --women 1 --men 1 --poses 6 --deformer dqs --split train --jobs 1 --out multipose.zarr
capture --people people.zarr --protocol shapes --women 2 --men 2 --deformer dqs --jobs 1 --out multishape.zarr
capture --people people.zarr --protocol poses --women 1 --men 0 --poses 3 --deformer dqs --split test --jobs 1 --out test.zarr
train smpl --poses multipose.zarr --shapes multishape.zarr --shape-count 2 --out my_smpl.npz
animate --motion hips --duration 2 --fps 10 --deformer lbs --out walk.bvh
animate --motion hips --duration 2 --fps 10 --deformer lbs --out dance.fbx
"""  # noqa: E501
_FEWER: Final = {"--count": "16", "--women": "1", "--men": "1", "--duration": "2", "--fps": "10"}
_ALSO: Final = {
    "animate": {"--duration": "2", "--fps": "10", "--deformer": "dqs"},
    "capture": {"--women": "1", "--men": "1", "--deformer": "dqs", "--jobs": "1"},
    "train": {"--shape-count": "2"},
}
"""Flags that a line gets, by its verb, where it has them not."""


def make_files(folder: Path) -> None:
    """Bodies, people, captures, a model and motions."""
    for line in _MADE.strip().splitlines():
        done = run_command(shlex.split(line), folder, dict(os.environ))
        assert done.status == 0, f"{line}\n{done.said}"
    (folder / "clips").mkdir()
    shutil.copy(folder / "walk.bvh", folder / "clips" / "walk.bvh")


def write_files(made: Path, folder: Path) -> None:
    """The same in another folder."""
    shutil.copytree(made, folder, dirs_exist_ok=True)


def rehearsed(words: list[str]) -> list[str]:
    """A line with fewer people and frames. What it would make anew may be there already."""
    given = list(words)
    for flag, value in _FEWER.items():
        if flag in given:
            given[given.index(flag) + 1] = value
    for flag, value in _ALSO.get(given[0], {}).items():
        if flag not in given:
            given += [flag, value]
    if given[0] == "capture" and "poses" in given:
        given += ["--poses", "4"]
    if given[0] == "animate" and "--start" in given:
        given[given.index("--start") + 1] = "0"
    out = given.index("--out") + 1 if "--out" in given else 0
    if out and f"--out {given[out]}" in _MADE:
        given[out] = f"rehearsed_{given[out]}"
    return given
