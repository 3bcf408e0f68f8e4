"""What files hold, as arrays and single values: read without corporeal, so that both commits are
read alike.

Left out: times, versions, paths and hashes in manifests (they differ by design; what is hashed is
compared as arrays), films and HTML pages (words and compression; their numbers are in the
manifests).
"""

import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Values = dict[str, Any]
"""Path of a value in its document → number, text, truth or None."""

LEFT_OUT = {".mp4", ".html", ".cs", ".mjs", ".py"}
_UNSTABLE = {"inputs", "versions", "platform", "started", "ended", "corporeal", "sha256", "bytes"}
_FBX_ARRAYS = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "<u1"}
_FBX_SCALARS = {"Y": "<h", "C": "<B", "I": "<i", "F": "<f", "D": "<d", "L": "<q"}
_GLTF_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_GLTF_SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_PLY_TYPES = {"float": "<f4", "double": "<f8", "uchar": "u1", "int": "<i4", "uint": "<u4"}
_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def read_outputs(folder: Path, spoken: str) -> tuple[Arrays, Values]:
    """Everything that a run left in its folder, and what it printed as JSON."""
    arrays: Arrays = {}
    values: Values = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder)
        inside = any(part.endswith(".zarr") for part in parts.parts[:-1])
        if inside or (path.is_dir() and path.suffix != ".zarr"):
            continue
        if path.suffix in LEFT_OUT:
            values[f"{parts}/exists"] = True
            continue
        found, told = read_one(path)
        arrays |= {f"{parts}/{name}": array for name, array in found.items()}
        values |= {f"{parts}/{name}": value for name, value in told.items()}
    if spoken.lstrip().startswith(("{", "[")):
        told_arrays, told = flattened(json.loads(spoken), "stdout")
        arrays, values = arrays | told_arrays, values | told
    return arrays, values


def read_one(path: Path) -> tuple[Arrays, Values]:
    """One file or store."""
    if path.suffix == ".zarr":
        return _zarr(path)
    if path.suffix == ".json":
        return flattened(json.loads(path.read_text()), "")
    readers = {
        ".npz": _npz,
        ".glb": _glb,
        ".fbx": _fbx,
        ".usd": _usd,
        ".usda": _usd,
        ".png": _png,
        ".ply": _ply,
        ".hdf5": _hdf5,
        ".obj": _text,
        ".off": _text,
        ".skel": _text,
        ".bvh": _text,
    }
    return readers.get(path.suffix, _bytes)(path), {}


def flattened(document: Any, path: str) -> tuple[Arrays, Values]:
    """A JSON document as arrays (long lists of numbers) and leaves; unstable keys left out."""
    arrays: Arrays = {}
    values: Values = {}
    if isinstance(document, dict):
        members = [(str(k), v) for k, v in document.items() if k not in _UNSTABLE]
    elif isinstance(document, list) and _is_array(document):
        return {path: np.asarray(document, np.float64)}, {}
    elif isinstance(document, list):
        members = [(str(k), v) for k, v in enumerate(document)]
    else:
        return {}, {path: _portable(document)}
    for key, member in members:
        more, told = flattened(member, f"{path}/{key}" if path else key)
        arrays, values = arrays | more, values | told
    if not members:
        values[path] = "empty"
    return arrays, values


def _is_array(document: list) -> bool:
    if len(document) < 9:
        return False
    try:
        found = np.asarray(document, np.float64)
    except (ValueError, TypeError):
        return False
    return found.dtype.kind == "f"


def _portable(value: Any) -> Any:
    """A path as its name alone, so that two folders can be compared."""
    if isinstance(value, str) and "/" in value and " " not in value:
        return value.rsplit("/", 1)[-1]
    return value


def _npz(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _zarr(path: Path) -> tuple[Arrays, Values]:
    import zarr

    group = zarr.open_group(path, mode="r")
    arrays: Arrays = {}
    _, values = flattened(dict(group.attrs), "attributes")
    for name, member in sorted(group.members(max_depth=None)):
        more, told = flattened(dict(member.attrs), f"{name}/attributes")
        arrays, values = arrays | more, values | told
        if isinstance(member, zarr.Array):
            arrays[name] = np.asarray(member[...])
    return arrays, values


def _hdf5(path: Path) -> Arrays:
    import h5py

    arrays: Arrays = {}

    def keep(name: str, member: Any) -> None:
        if isinstance(member, h5py.Dataset) and member.dtype.kind in "biuf":
            arrays[name] = np.asarray(member[...])

    with h5py.File(path) as file:
        file.visititems(keep)
    return arrays


def _glb(path: Path) -> Arrays:
    data = path.read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + size])
    binary = data[28 + size :]
    arrays: Arrays = {}
    for place, accessor in enumerate(document.get("accessors", [])):
        view = document["bufferViews"][accessor["bufferView"]]
        kind, width = _GLTF_TYPES[accessor["componentType"]], _GLTF_SIZES[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        row = np.dtype(kind).itemsize * width
        step = view.get("byteStride", row)
        rows = np.frombuffer(binary, np.uint8, step * (accessor["count"] - 1) + row, start)
        strided = np.lib.stride_tricks.as_strided(rows, (accessor["count"], row), (step, 1))
        arrays[f"accessor {place:04d}"] = np.ascontiguousarray(strided).view(kind)
    for name in ("nodes", "skins", "animations", "meshes"):
        arrays[f"count of {name}"] = np.asarray(len(document.get(name, [])))
    return arrays


def _fbx(path: Path) -> Arrays:
    data, arrays = path.read_bytes(), {}
    place = 27
    while place < len(data):
        place, ended = _fbx_node(data, place, "", arrays)
        if ended:
            break
    return arrays


def _fbx_node(data: bytes, place: int, above: str, arrays: Arrays) -> tuple[int, bool]:
    end, count, size, length = struct.unpack_from("<IIIB", data, place)
    if end == 0:
        return place + 13, True
    name = f"{above}/{data[place + 13 : place + 13 + length].decode()}"
    place += 13 + length
    stop, numbers = place + size, []
    for _ in range(count):
        value, place = _fbx_property(data, place)
        if isinstance(value, np.ndarray):
            arrays[_fresh(name, arrays)] = value
        elif isinstance(value, float):
            numbers.append(value)
    if numbers:
        arrays[_fresh(f"{name} numbers", arrays)] = np.asarray(numbers)
    place = stop
    while place < end:
        place, ended = _fbx_node(data, place, name, arrays)
        if ended:
            break
    return end, False


def _fresh(name: str, arrays: Arrays) -> str:
    """The name with a number, so that repeated nodes are told apart."""
    place = 0
    while f"{name} {place}" in arrays:
        place += 1
    return f"{name} {place}"


def _fbx_property(data: bytes, place: int) -> tuple[Any, int]:
    code = chr(data[place])
    place += 1
    if code in _FBX_SCALARS:
        size = struct.calcsize(_FBX_SCALARS[code])
        return struct.unpack_from(_FBX_SCALARS[code], data, place)[0], place + size
    if code in "SR":
        (size,) = struct.unpack_from("<I", data, place)
        return None, place + 4 + size
    _, packed, size = struct.unpack_from("<III", data, place)
    content = data[place + 12 : place + 12 + size]
    content = zlib.decompress(content) if packed else content
    return np.frombuffer(content, _FBX_ARRAYS[code]), place + 12 + size


def _usd(path: Path) -> Arrays:
    """Every numeric attribute, at its default and at all of its times."""
    from pxr import Usd  # pyright: ignore

    arrays: Arrays = {}
    stage = Usd.Stage.Open(str(path))  # held: its prims end with it
    for prim in stage.Traverse():
        for attribute in prim.GetAttributes():
            times = attribute.GetTimeSamples()
            held = [attribute.Get(t) for t in times] if times else [attribute.Get()]
            try:
                array = np.asarray([np.asarray(value) for value in held])
            except ValueError:
                continue
            if array.dtype.kind in "biuf":
                arrays[str(attribute.GetPath())] = array
    return arrays


def _png(path: Path) -> Arrays:
    from PIL import Image

    with Image.open(path) as image:
        return {"pixels": np.asarray(image)}


def _ply(path: Path) -> Arrays:
    data = path.read_bytes()
    head = data.index(b"end_header\n") + len(b"end_header\n")
    lines = [line.split() for line in data[:head].decode().splitlines()]
    start = next(n for n, line in enumerate(lines) if line[:2] == ["element", "vertex"])
    fields = []
    for line in lines[start + 1 :]:
        if line[0] != "property" or line[1] == "list":
            break
        fields.append((line[2], _PLY_TYPES[line[1]]))
    count = int(lines[start][2])
    rows = np.frombuffer(data, np.dtype(fields), count, head)
    arrays = {name: np.ascontiguousarray(rows[name]) for name, _ in fields}
    return arrays | {"rest": np.frombuffer(data[head + rows.nbytes :], np.uint8)}


def _text(path: Path) -> Arrays:
    """All numbers of a text file, without its comments."""
    lines = [line for line in path.read_bytes().splitlines() if not line.startswith(b"#")]
    return {"numbers": np.array([float(n) for n in _NUMBER.findall(b"\n".join(lines))])}


def _bytes(path: Path) -> Arrays:
    data = path.read_bytes()
    if path.suffix == ".pc2":
        return {
            "head": np.frombuffer(data, "<u1", 32),
            "points": np.frombuffer(data, "<f4", -1, 32),
        }
    if path.suffix == ".stl":
        rows = np.frombuffer(data, np.dtype([("points", "<f4", 12), ("word", "<u2")]), -1, 84)
        return {"points": np.ascontiguousarray(rows["points"])}
    return {"bytes": np.frombuffer(data, np.uint8)}
