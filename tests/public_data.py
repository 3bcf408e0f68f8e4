"""Where the optional public data lies, and what a test says that needs it and does not find it.

`CORPOREAL_DATA` names a folder with one subfolder a set; `docs/data.md` says where each set comes
from and how its files are laid out. A test that reads a set carries `@pytest.mark.data("<set>")`:
the mark selects it (`pytest -m data`) and, through `conftest.py`, skips it where the set is absent.
"""

import os
from pathlib import Path
from typing import NamedTuple


class PublicSet(NamedTuple):
    """A set of public data that tests may read."""

    title: str
    source: str
    """Where anybody can get it."""


SETS = {
    "ansur2": PublicSet("ANSUR II", "https://www.openlab.psu.edu/ansur2/"),
    "bodyparts3d": PublicSet(
        "BodyParts3D", "https://dbarchive.biosciencedbc.jp/en/bodyparts3d/download.html"
    ),
    "cmu-mocap": PublicSet(
        "the CMU motion captures as BVH (Hahne's conversion of 2010)",
        "http://mocap.cs.cmu.edu and https://sites.google.com/a/cgspeed.com/cgspeed/motion-capture",
    ),
    "makehuman": PublicSet(
        "MakeHuman's arrays and eight community assets", "http://www.makehumancommunity.org"
    ),
    "nhanes": PublicSet("NHANES 2017-2018", "https://wwwn.cdc.gov/nchs/nhanes/"),
    "visible-human": PublicSet(
        "the Visible Human's skin", "https://humanatlas.io/3d-reference-library"
    ),
}

CMU_CLIPS = (
    "05_06_dance_pirouette_jete",
    "09_01_run",
    "124_11_jump_two_foot_repeated",
    "13_18_boxing_8s_excerpt",
    "16_01_jump_in_place",
    "16_05_jump_forward",
    "22_16_jumping_jacks",
    "35_01_walk",
    "35_17_run_jog",
    "49_03_jump_up_down_and_hop_on_one_foot",
)
"""Stems of the BVH files in the set `cmu-mocap`."""


def folder(name: str) -> Path:
    """Folder of a set, which need not exist: a test that reads it carries the mark."""
    if name not in SETS:
        raise KeyError(f"no public set is called {name!r}; there are {', '.join(SETS)}")
    return Path(os.environ.get("CORPOREAL_DATA", "CORPOREAL_DATA-is-not-set")) / name


def cmu_clip(stem: str) -> Path:
    """One of `CMU_CLIPS`."""
    return folder("cmu-mocap") / f"{stem}.bvh"


def missing(name: str) -> str | None:
    """Why a test that needs a set cannot run, or None."""
    if folder(name).is_dir():
        return None
    title, source = SETS[name]
    where = os.environ.get("CORPOREAL_DATA")
    why = f"CORPOREAL_DATA ({where}) has no {name}" if where else "CORPOREAL_DATA is not set"
    return f"needs {title}, {source} (docs/data.md); {why}"
