"""Readers of foreign files meet thousands of damaged ones: only named errors, bounded memory."""

import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mutants import mutants
from small_body import small_identity, small_mesh, small_motion, small_template
from takes import soft_character

from corporeal.body.body import Body
from corporeal.errors import InputError
from corporeal.formats.gltf import write_glb_character
from corporeal.formats.gltf_read import read_glb_character, read_glb_mesh
from corporeal.formats.native import read_body, read_motion, write_body, write_motion
from corporeal.formats.obj import read_obj, write_obj
from corporeal.formats.off import read_off, write_off
from corporeal.formats.pc2 import read_pc2, write_pc2
from corporeal.formats.ply import read_ply, write_ply
from corporeal.formats.skel import read_skel, write_skel
from corporeal.formats.skeleton_json import read_skeleton_json, write_skeleton_json
from corporeal.formats.stl import read_stl, write_stl

MEMORY_MB = 256
"""Most that the process may grow while it reads all mutants of one small file."""


def write_text_stl(path: Path) -> None:
    mesh = small_mesh()
    lines = ["solid tube"]
    for corners in np.asarray(mesh.vertices)[mesh.triangles[:40]]:
        lines += ["facet normal 0 0 1", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in corners]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid tube"]))


def write_small_body(path: Path) -> None:
    template = small_template()
    write_body(path, Body(template, small_identity(template), {"stature": 1.7}))


READERS: dict[str, tuple[Callable[[Path], object], Callable[[Path], None]]] = {
    "glb character": (
        read_glb_character,
        lambda path: write_glb_character(path, soft_character(frames=5, rank=2)),
    ),
    "glb mesh": (
        read_glb_mesh,
        lambda path: write_glb_character(path, soft_character(frames=5, rank=2)),
    ),
    "obj": (read_obj, lambda path: write_obj(path, small_mesh())),
    "ply": (read_ply, lambda path: write_ply(path, small_mesh())),
    "ply text": (read_ply, lambda path: write_ply(path, small_mesh(), binary=False)),
    "native body": (read_body, write_small_body),
    "native motion": (read_motion, lambda path: write_motion(path, small_motion(small_template()))),
    "off": (read_off, lambda path: write_off(path, small_mesh())),
    "stl": (read_stl, lambda path: write_stl(path, small_mesh())),
    "stl text": (read_stl, write_text_stl),
    "skel": (read_skel, lambda path: write_skel(path, small_template().skeleton)),
    "json skeleton": (
        read_skeleton_json,
        lambda path: write_skeleton_json(path, small_template().skeleton),
    ),
    "pc2": (read_pc2, lambda path: write_pc2(path, np.zeros((4, 9, 3)))),
}


def feed(name: str, folder: Path, count: int) -> int:
    """Read `count` mutants; gives back how many were refused. Any other error passes through."""
    read, write = READERS[name]
    whole, damaged = folder / "whole", folder / "damaged"
    write(whole)
    read(whole)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = 0
    for number, content in enumerate(mutants(whole.read_bytes(), count)):
        damaged.write_bytes(content)
        said = str(damaged)
        try:
            read(damaged)
        except InputError as error:
            said, refused = str(error), refused + 1
        assert str(damaged) in said, f"mutant {number} is refused without its name"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MEMORY_MB
    return refused


@pytest.mark.parametrize("name", READERS)
def test_five_hundred_damaged_files_are_read_or_refused(name: str, tmp_path: Path):
    assert feed(name, tmp_path, 500) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_ten_thousand_damaged_files_are_read_or_refused(name: str, tmp_path: Path):
    assert feed(name, tmp_path, 10_000) > 2_000
