"""Scans of people as scanners write them: surfaces and clouds, with what came along.

========== ===================================================================================
`.ply`     positions, triangles; `nx ny nz`, `red green blue`, `confidence` or `quality`
`.obj`     positions, triangles; colours as three more numbers a vertex, or the picture that
           `map_Kd` of its `mtllib` names, in the same folder
`.glb`     positions, triangles, vertex colours; the base colour picture of one surface
`.stl`     triangles; corners in one place are one point
`.off`     positions, triangles
`.xyz`     text: x y z, then normals (three numbers) or colours (three whole numbers to 255)
`.npz`     `points` (n × 3), and `normals`, `colours`, `confidence`; or a scan of this package
========== ===================================================================================

Units and axes are the file's own. At most `MOST_POINTS` points and `MOST_BYTES` bytes are read.
Landmarks come beside, as JSON (name → [x, y, z]) or `.lnd` (lines of x y z name).
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.raw_scan import RawScan, ScanTexture
from corporeal.errors import FormatError, InputError
from corporeal.formats.glb_texture import read_glb_texture
from corporeal.formats.gltf_scene import read_gltf_scene
from corporeal.formats.npz import open_npz
from corporeal.formats.ply import read_ply_columns
from corporeal.formats.png import read_picture
from corporeal.formats.registry import read_mesh
from corporeal.formats.scans import SCAN, read_scan
from corporeal.geometry.pictures import picture_colours
from corporeal.runtime.input_files import read_input

MOST_BYTES = 700_000_000
"""Largest file that is read."""
MOST_POINTS = 12_000_000
"""Most points that are read."""
SUFFIXES = (".ply", ".obj", ".glb", ".stl", ".off", ".xyz", ".npz")
"""What can be read."""
_TEXT_BYTES = 400_000_000


def read_raw_scan(path: str | Path, landmarks: str | Path | None = None) -> RawScan:
    """Read a scan, and landmarks that lie beside it."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"cannot read a scan from {path}: it has the suffix {suffix!r}; expected "
            f"{', '.join(SUFFIXES)}."
        )
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise InputError(
            f"{path} has {path.stat().st_size / 1e9:.1f} GB; at most {MOST_BYTES / 1e9:.1f} are "
            f"read. Thin the scan first: {MOST_POINTS // 1_000_000} million points are plenty."
        )
    scan = _READERS[suffix](path)
    if len(scan.points) > MOST_POINTS:
        raise InputError(
            f"{path} has {len(scan.points)} points; at most {MOST_POINTS} are read. Thin it first."
        )
    if landmarks is None:
        return scan
    return replace(scan, landmarks=read_landmarks(landmarks))


def read_landmarks(path: str | Path) -> dict[str, Float[NumpyArray, "3"]]:
    """Landmarks by name, in the scan's unit and axes."""
    path = Path(path)
    text = read_input(path, at_most=1_000_000).decode("utf-8", "replace")
    try:
        if path.suffix.lower() == ".json":
            rows = dict(json.loads(text))
        else:
            words = [line.split() for line in text.splitlines() if line.strip()]
            rows = {" ".join(row[3:]): row[:3] for row in words if len(row) >= 4}
        found = {str(name): np.asarray(place, np.float64) for name, place in rows.items()}
    except (ValueError, TypeError, IndexError) as error:
        raise FormatError(f"{path} cannot be read as landmarks: {error}") from error
    if not found or any(place.shape != (3,) for place in found.values()):
        raise FormatError(f"{path} holds no landmarks; expected names with three numbers each.")
    return found


def _of_mesh(mesh: Mesh, colours: NumpyArray | None = None) -> RawScan:
    triangles = np.asarray(mesh.triangles)
    return RawScan(
        np.asarray(mesh.vertices, np.float64), triangles if len(triangles) else None, None, colours
    )


def _plain(path: Path) -> RawScan:
    return _of_mesh(read_mesh(path))


def _ply(path: Path) -> RawScan:
    points, triangles, columns = read_ply_columns(path)
    return RawScan(
        points.astype(np.float64),
        triangles if len(triangles) else None,
        _stacked(columns, ("nx", "ny", "nz")),
        _colours(_stacked(columns, ("red", "green", "blue"))),
        _confidence(columns),
    )


def _stacked(columns: Mapping[str, NumpyArray], names: tuple[str, ...]) -> NumpyArray | None:
    if any(name not in columns for name in names):
        return None
    return np.stack([np.asarray(columns[name], np.float64) for name in names], axis=1)


def _colours(values: NumpyArray | None) -> NumpyArray | None:
    """0 to 1, from bytes or from shares."""
    if values is None:
        return None
    return np.clip(values / (255.0 if values.max(initial=0.0) > 1.0 else 1.0), 0.0, 1.0)


def _confidence(columns: Mapping[str, NumpyArray]) -> NumpyArray | None:
    for name in ("confidence", "quality"):
        if name in columns:
            values = np.asarray(columns[name], np.float64)
            return np.clip(values / max(float(values.max(initial=0.0)), 1e-12), 0.0, 1.0)
    return None


def _obj(path: Path) -> RawScan:
    mesh = read_mesh(path)
    rows = [
        line.split()[4:7]
        for line in read_input(path).decode("utf-8", "replace").splitlines()
        if line.startswith("v ")
    ]
    colours = None
    if rows and all(len(row) == 3 for row in rows):
        try:
            colours = _colours(np.array(rows, np.float64))
        except ValueError:
            colours = None
    return _textured(_of_mesh(mesh, colours), mesh, _obj_picture(path))


def _obj_picture(path: Path) -> NumpyArray | None:
    """Pixels that the file's materials name as diffuse colour; None where there is no such file."""
    for library in _named(path, "mtllib "):
        for picture in _named(library, "map_Kd "):
            if picture.suffix.lower() in (".png", ".jpg", ".jpeg"):
                return read_picture(picture)
    return None


def _named(path: Path, keyword: str) -> list[Path]:
    """Files beside a text file that lines with a keyword name; none elsewhere is looked at."""
    lines = read_input(path).decode("utf-8", "replace").splitlines()
    names = [line[len(keyword) :].strip() for line in lines if line.startswith(keyword)]
    # options such as -s 1 1 1 stand before the name
    found = [path.parent / Path(name.replace("\\", "/")).name for name in names]
    found += [path.parent / name.split()[-1] for name in names if name and "/" not in name]
    return [place for place in found if place.is_file()]


def _glb(path: Path) -> RawScan:
    mesh = read_mesh(path)
    scan = _of_mesh(mesh, _glb_colours(path, mesh))
    return _textured(scan, mesh, read_glb_texture(path) if mesh.uv is not None else None)


def _glb_colours(path: Path, mesh: Mesh) -> NumpyArray | None:
    """sRGB of vertex colours, which glTF has as linear light."""
    scene = read_gltf_scene(path)
    parts = [part.colours for one in scene.meshes for part in one.primitives]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts) or sum(map(len, known)) != mesh.vertex_count:
        return None
    light = np.clip(np.concatenate(known)[:, :3].astype(np.float64), 0.0, 1.0)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def _textured(scan: RawScan, mesh: Mesh, pixels: NumpyArray | None) -> RawScan:
    """The scan with its picture, and the picture's colour at every vertex."""
    if pixels is None or mesh.uv is None or mesh.uv_triangles is None:
        return scan
    uv, corners = np.asarray(mesh.uv, np.float64), np.asarray(mesh.uv_triangles)
    texture = ScanTexture(uv, corners, pixels)
    colours = np.full((len(scan.points), 3), 0.5)
    colours[np.asarray(mesh.triangles).reshape(-1)] = picture_colours(
        pixels, uv[corners.reshape(-1)]
    )
    return replace(scan, colours=colours, texture=texture)


def _stl(path: Path) -> RawScan:
    """Corners in one place are one point."""
    mesh = read_mesh(path)
    places = np.asarray(mesh.vertices, np.float32)
    points, inverse = np.unique(places, axis=0, return_inverse=True)
    triangles = inverse.reshape(-1)[np.asarray(mesh.triangles)]
    return RawScan(points.astype(np.float64), triangles)


def _xyz(path: Path) -> RawScan:
    data = read_input(path, at_most=_TEXT_BYTES)
    try:
        rows = np.loadtxt(data.decode("ascii", "replace").splitlines(), ndmin=2, comments="#")
    except ValueError as error:
        raise FormatError(f"{path} cannot be read as rows of numbers: {error}") from error
    if rows.size == 0 or rows.shape[1] < 3:
        raise FormatError(f"{path} has no rows of three numbers; expected x y z in each.")
    further = rows[:, 3:6] if rows.shape[1] >= 6 else None
    if further is not None and further.min() >= 0 and further.max() > 1:
        return RawScan(rows[:, :3], None, None, _colours(further))
    return RawScan(rows[:, :3], None, further)


def _npz(path: Path) -> RawScan:
    with open_npz(path) as file:
        if "format" in file.headers and file.text("format") == SCAN:
            scan = read_scan(path)
            marks = zip(scan.landmark_names, np.asarray(scan.landmarks, np.float64), strict=True)
            points = np.asarray(scan.points, np.float64)
            return RawScan(points, None, None, None, np.asarray(scan.confidence), dict(marks))
        if "points" not in file.headers:
            raise FormatError(
                f"{path} holds {', '.join(file.headers) or 'nothing'}; expected `points`, n × 3."
            )
        points = file.array("points", "f", ("P", 3)).astype(np.float64)

        def beside(name: str, shape: tuple[int | str, ...]) -> NumpyArray | None:
            return file.array(name, "f", shape) if name in file.headers else None

        return RawScan(
            points,
            None,
            beside("normals", (len(points), 3)),
            _colours(beside("colours", (len(points), 3))),
            beside("confidence", (len(points),)),
        )


_READERS = {
    ".ply": _ply,
    ".obj": _obj,
    ".glb": _glb,
    ".stl": _stl,
    ".off": _plain,
    ".xyz": _xyz,
    ".npz": _npz,
}
