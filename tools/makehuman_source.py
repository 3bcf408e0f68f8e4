"""Reads the CC0 MakeHuman source files: base mesh, rig, weights and shape targets."""

import hashlib
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

BODY_VERTEX_COUNT = 13_380
"""Vertices 0 … 13 379 are the skin; those above are joint cubes and clothing helpers."""
METRES_PER_DELTA = 1e-4
"""Target deltas are whole thousandths of a decimetre."""
FILES = (
    "hm08_mesh.npz",
    "rig_default.json",
    "weights_default.npz",
    "targets_macro_adult.npz",
    "targets_local.npz",
)


@dataclass(frozen=True)
class MakeHumanSource:
    """All of the source, helper vertices included. Lengths in metres unless a name says else."""

    vertices: np.ndarray
    quads: np.ndarray
    uv: np.ndarray
    quads_uv: np.ndarray
    mirror: np.ndarray
    group_vertices: dict[str, np.ndarray]
    helper_quads: dict[str, np.ndarray]
    """Faces of the helper groups, such as `helper-l-eye`."""
    target_names: tuple[str, ...]
    target_deltas: np.ndarray
    """(S, all vertices, 3) int16, in units of `METRES_PER_DELTA`."""
    bones: tuple[str, ...]
    bone_weights: np.ndarray
    """(skin vertices, bones)."""
    hashes: dict[str, str]
    """SHA-256 of every file read."""


def read_source(folder: Path) -> MakeHumanSource:
    """Read the five source files of `folder`."""
    mesh = np.load(folder / "hm08_mesh.npz")
    is_body = mesh["quad_group"] == list(mesh["group_names"]).index("body")
    names, deltas = [], []
    for file in ("targets_macro_adult.npz", "targets_local.npz"):
        stored = np.load(folder / file)
        names += [str(name) for name in stored["names"]]
        deltas.append(_dense_deltas(stored, len(mesh["vertices_dm"])))
    bones, weights = _read_weights(folder)
    return MakeHumanSource(
        vertices=mesh["vertices_dm"].astype(float) / 10,
        quads=mesh["quads"][is_body],
        uv=mesh["uv"],
        quads_uv=mesh["quads_uv"][is_body],
        mirror=mesh["mirror"],
        group_vertices={
            str(name): np.unique(mesh["quads"][mesh["quad_group"] == index])
            for index, name in enumerate(mesh["group_names"])
        },
        helper_quads={
            str(name): mesh["quads"][mesh["quad_group"] == index]
            for index, name in enumerate(mesh["group_names"])
            if str(name).startswith("helper-")
        },
        target_names=tuple(names),
        target_deltas=np.concatenate(deltas),
        bones=bones,
        bone_weights=weights,
        hashes={f: hashlib.sha256((folder / f).read_bytes()).hexdigest() for f in FILES},
    )


def _dense_deltas(stored: np.lib.npyio.NpzFile, vertex_count: int) -> np.ndarray:
    offsets, index, delta = stored["offsets"], stored["index"], stored["delta_milli_dm"]
    dense = np.zeros((len(offsets) - 1, vertex_count, 3), np.int16)
    for target, (start, stop) in enumerate(pairwise(offsets)):
        dense[target, index[start:stop]] = delta[start:stop]
    return dense


def _read_weights(folder: Path) -> tuple[tuple[str, ...], np.ndarray]:
    stored = np.load(folder / "weights_default.npz")
    bones = tuple(str(bone) for bone in stored["bones"])
    if set(bones) != set(json.loads((folder / "rig_default.json").read_text())):
        raise ValueError("rig_default.json and weights_default.npz name different bones.")
    dense = np.zeros((BODY_VERTEX_COUNT, len(bones)))
    skin = stored["vertex"] < BODY_VERTEX_COUNT
    np.add.at(dense, (stored["vertex"][skin], stored["bone"][skin]), stored["weight"][skin])
    return bones, dense / dense.sum(axis=1, keepdims=True)
