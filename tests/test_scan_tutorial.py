"""The tutorial on scans: its commands are understood, its pictures there, its scan readable."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from corporeal.cli.main import command_of
from corporeal.formats.raw_scans import read_raw_scan

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs/tutorials/scan-to-character.md"
BLOCKS = re.findall(r"```shell\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.S)
LINES = [line for block in BLOCKS for line in block.strip().splitlines()]


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("corporeal ")])
def test_commands_are_understood(line: str) -> None:
    """Every flag and verb is one that there is; nothing is run."""
    assert hasattr(command_of(shlex.split(line)[1:]), "run")


def test_pictures_are_there() -> None:
    """No picture is named that is not beside."""
    for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", TUTORIAL.read_text(encoding="utf-8")):
        assert (TUTORIAL.parent / name).is_file(), name


def test_the_scan_of_the_tutorial(tmp_path) -> None:
    """`examples/phone_scan.py` writes a textured surface in centimetres, z up, that can be read."""
    line = next(line for line in LINES if line.startswith("python examples/"))
    script, name = line.split()[1:3]
    subprocess.run([sys.executable, ROOT / script, tmp_path / name], check=True)
    scan = read_raw_scan(tmp_path / name)
    assert scan.texture is not None
    assert scan.triangles is not None
    assert 140 < np.ptp(scan.points[:, 2]) < 210
