"""Builds what faces and looks are made from out of the CC0 MakeHuman source.

    python tools/build_looks.py "$CORPOREAL_DATA"/makehuman

Writes two archives with their manifests into the package: `faces` (shape targets of the face and
expression units, as whole tenths of a millimetre on the vertices that they move) and `looks` (masks
in texture space; teeth, tongue and lashes; where the source's helper vertices stand around the
average adult in the T-pose, which community clothes are bound to).
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
from build_body import write_asset
from makehuman_source import BODY_VERTEX_COUNT, METRES_PER_DELTA, MakeHumanSource, read_source
from PIL import Image

from corporeal.assets.default_body import read_default_body
from corporeal.skinning.followers import bind_follower

PACKAGE_DATA = Path(__file__).parents[1] / "src/corporeal/assets/data"
MASK_SIZE = 1024
MASKS = (
    "lips",
    "eyelids",
    "ears",
    "face",
    "fingernails",
    "toenails",
    "aureolae",
    "inside-mouth",
)
PARTS = {
    "upper-teeth": ("helper-upper-teeth",),
    "lower-teeth": ("helper-lower-teeth",),
    "tongue": ("helper-tongue",),
    "lashes": (
        "helper-l-eyelashes-1",
        "helper-l-eyelashes-2",
        "helper-r-eyelashes-1",
        "helper-r-eyelashes-2",
    ),
}
LEFT_OUT = ("asym/asymm-breast", "asym/asymm-trunk")
"""Targets of the file that are not of the head."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="folder with the MakeHuman source files")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    folder: Path = arguments.source
    source = read_source(folder)
    inside = np.zeros(len(source.vertices), bool)
    inside[:BODY_VERTEX_COUNT] = True
    for groups in PARTS.values():
        for group in groups:
            inside[source.group_vertices[group]] = True
    faces = {
        **targets(folder / "targets_face.npz", "face", body_only(inside)),
        **targets(folder / "targets_expression.npz", "expression", inside),
    }
    write(arguments.out, "faces", faces, folder, ("targets_face.npz", "targets_expression.npz"))
    looks = {**masks(folder), **helpers(source, folder)}
    files = ("hm08_mesh.npz", *(f"masks/{name}.jpg" for name in MASKS))
    write(arguments.out, "looks", looks, folder, files)


def body_only(inside: np.ndarray) -> np.ndarray:
    """The skin's vertices among all."""
    only = np.zeros_like(inside)
    only[:BODY_VERTEX_COUNT] = True
    return only


def targets(path: Path, what: str, inside: np.ndarray) -> dict[str, np.ndarray]:
    """Names, starts, vertices and deltas (one plane a coordinate) of the targets in a file."""
    stored = np.load(path)
    names, starts, index, delta = [], [0], [], []
    for n, name in enumerate(str(name) for name in stored["names"]):
        if name.startswith(LEFT_OUT):
            continue
        rows = slice(stored["offsets"][n], stored["offsets"][n + 1])
        at, by = stored["index"][rows].astype(np.int64), stored["delta_milli_dm"][rows]
        kept = inside[at] & by.any(axis=1)
        order = np.argsort(at[kept], kind="stable")
        index.append(at[kept][order])
        delta.append(by[kept][order])
        names.append(name.removeprefix("expression/units/"))
        starts.append(starts[-1] + len(order))
    steps = [np.diff(rows, prepend=0) for rows in index]
    return {
        f"{what}_names": np.array(names),
        f"{what}_starts": np.array(starts, np.int32),
        f"{what}_index_steps": np.concatenate(steps).astype(np.uint16),
        f"{what}_deltas": np.ascontiguousarray(np.concatenate(delta).T),
    }


def masks(folder: Path) -> dict[str, np.ndarray]:
    """Grey masks, 0 to 15, rows from the top."""
    found = {}
    for name in MASKS:
        picture = Image.open(folder / "masks" / f"{name}.jpg").convert("L")
        small = np.asarray(picture.resize((MASK_SIZE, MASK_SIZE), Image.Resampling.BOX), np.float64)
        levels = np.round(np.clip((small - 10) / 235, 0, 1) * 15).astype(np.uint8)
        found[f"mask_{name.replace('-', '_')}"] = levels
    return found


def helpers(source: MakeHumanSource, folder: Path) -> dict[str, np.ndarray]:
    """Helper vertices around the average adult in the T-pose, and the faces of mouth and lashes."""
    body = read_default_body()
    order = {name: k for k, name in enumerate(body.targets.names)}
    used = [(k, order[name]) for k, name in enumerate(source.target_names) if name in order]
    shares = body.default_coefficients[[column for _, column in used]]
    deltas = source.target_deltas[[row for row, _ in used]]
    average = source.vertices + METRES_PER_DELTA * np.tensordot(shares, deltas, 1)
    skin, rest = average[:BODY_VERTEX_COUNT], average[BODY_VERTEX_COUNT:]
    triangles = body.template.mesh.triangles
    bound = bind_follower(rest, np.full(len(rest), -1), skin, triangles)
    places = bound.follow(np.asarray(body.template.mesh.vertices, np.float64)[None])[0]
    mesh = np.load(folder / "hm08_mesh.npz")
    names = [str(name) for name in mesh["group_names"]]
    made: dict[str, np.ndarray] = {"helpers": np.round(places * 1e4).astype(np.int16)}
    for part, groups in PARTS.items():
        rows = np.isin(mesh["quad_group"], [names.index(group) for group in groups])
        quads, corners = mesh["quads"][rows], mesh["quads_uv"][rows]
        vertices, numbered = np.unique(quads, return_inverse=True)
        uvs, uv_numbered = np.unique(corners, return_inverse=True)
        key = part.replace("-", "_")
        made[f"{key}_vertices"] = vertices.astype(np.uint16)
        made[f"{key}_quads"] = numbered.reshape(-1, 4).astype(np.uint16)
        made[f"{key}_uv"] = mesh["uv"][uvs].astype(np.float32)
        made[f"{key}_quads_uv"] = uv_numbered.reshape(-1, 4).astype(np.uint16)
    return made


def write(
    out: Path, name: str, arrays: dict[str, np.ndarray], folder: Path, files: tuple[str, ...]
) -> None:
    hashes = {f: hashlib.sha256((folder / f).read_bytes()).hexdigest() for f in files}
    write_asset(out, name, arrays, hashes, "tools/build_looks.py")


if __name__ == "__main__":
    main()
