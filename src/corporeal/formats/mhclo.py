"""MakeHuman's community assets (`.mhclo`): hair, clothes and shoes bound to its base mesh.

================== ========================================================================
read               name, the surface (`obj_file`), three-vertex bindings with offsets, scales, skin
                   that it hides (`delete_verts`), the colour of its material (`.mhmat`) and, where
                   they lie beside it, its picture
not read           other pictures (bump, specular), shaders, tags, helper groups of its own
================== ========================================================================

The files are strangers': sizes are bounded, indices checked, and names of other files may not lead
out of the asset's folder. Decimetres, y up, facing +z, in the base mesh's own pose.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal._typing import Float, Int, NumpyArray, UInt8
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError
from corporeal.formats.obj import read_obj
from corporeal.runtime.input_files import read_input

BASE_VERTICES = 19_158
"""Vertices of the base mesh hm08, helpers included."""
_MAX_BYTES = 32 * 1024**2
_MAX_VERTICES = 200_000
_MAX_PIXELS = 4096 * 4096
_AXES = ("x_scale", "y_scale", "z_scale")


@dataclass(frozen=True, eq=False)
class ClothAsset:
    """An asset as it lies in its files."""

    name: str
    """As the file says."""
    mesh: Mesh
    """Its surface; positions are those of the file, which the binding replaces."""
    base: Int[NumpyArray, "n 3"]
    """Vertices of the base mesh that carry each vertex."""
    weights: Float[NumpyArray, "n 3"]
    """Their shares."""
    offsets: Float[NumpyArray, "n 3"]
    """What is added, in units of the scales."""
    scales: tuple[tuple[int, int, float] | None, ...]
    """Along x, y, z: two base vertices and their distance in the unscaled mesh; None for 1."""
    hidden: Int[NumpyArray, "h"]
    """Vertices of the base mesh that it hides."""
    colour: tuple[float, float, float]
    """Diffuse colour, sRGB, 0 to 1."""
    picture: UInt8[NumpyArray, "h w 4"] | None
    """Diffuse picture, sRGB and opacity."""
    is_hair: bool
    """Whether it says that it is hair, brows or lashes."""


def read_mhclo(path: str | Path) -> ClothAsset:
    """Read an asset with its surface and material."""
    path = Path(path)
    text = _text(path)
    words: dict[str, list[str]] = {}
    rows: list[list[float]] = []
    hidden: list[int] = []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split("#", 1)[0].split()
        if not parts:
            continue
        if parts[0] in ("verts", "delete_verts", "weights"):
            section = parts[0]
            continue
        if section == "delete_verts" and _is_range(parts):
            hidden += _ranges(parts, path, number)
        elif section == "verts" and _is_number(parts[0]):
            rows.append(_row(parts, path, number))
        elif section != "weights" or not _is_number(parts[0]):
            if section != "weights":
                section = "" if section != "verts" else section
            words.setdefault(parts[0], parts[1:])
    if len(rows) > _MAX_VERTICES:
        raise FormatError(f"{path} binds {len(rows)} vertices; at most {_MAX_VERTICES} are read.")
    if not rows:
        raise FormatError(f"{path} binds no vertices; expected lines after `verts`.")
    table = np.array(rows)
    mesh = read_obj(_beside(path, words, "obj_file"))
    if mesh.vertex_count != len(table):
        raise FormatError(
            f"{path} binds {len(table)} vertices and its surface has {mesh.vertex_count}; "
            f"expected as many."
        )
    base = table[:, :3].astype(np.int64)
    if base.min() < 0 or base.max() >= BASE_VERTICES:
        raise FormatError(
            f"{path} names base vertex {base.max()}; expected 0 to {BASE_VERTICES - 1}."
        )
    colour, picture = _material(path, words)
    tags = " ".join([path.stem, *map(str, path.parts[-3:])]).lower()
    return ClothAsset(
        name=(words.get("name") or [path.stem])[0][:60],
        mesh=mesh,
        base=base.astype(np.int32),
        weights=table[:, 3:6],
        offsets=table[:, 6:9],
        scales=tuple(_scale(words.get(axis), path) for axis in _AXES),
        hidden=np.unique(np.array(hidden, np.int64)),
        colour=colour,
        picture=picture,
        is_hair=any(word in tags for word in ("hair", "brow", "lash", "bob", "afro", "ponytail")),
    )


def _text(path: Path) -> str:
    try:
        return read_input(path, at_most=_MAX_BYTES).decode("utf-8", errors="replace")
    except UnicodeError as error:
        raise FormatError(f"{path} is no text: {error}.") from error


def _is_number(word: str) -> bool:
    return word.lstrip("+-").replace(".", "", 1)[:1].isdigit()


def _is_range(parts: list[str]) -> bool:
    return all(word == "-" or word.isdigit() for word in parts)


def _row(parts: list[str], path: Path, number: int) -> list[float]:
    """A line of the binding: one vertex, or three with weights and offsets."""
    try:
        values = [float(word) for word in parts]
    except ValueError:
        raise FormatError(
            f"{path}, line {number}: {' '.join(parts)[:60]!r} is no binding."
        ) from None
    if len(values) == 1:
        values = [values[0]] * 3 + [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    elif len(values) == 6:
        values += [0.0, 0.0, 0.0]
    if len(values) != 9 or not np.isfinite(values).all() or np.abs(values[3:]).max() > 1e3:
        raise FormatError(
            f"{path}, line {number}: a binding of {len(values)} numbers; expected 1 or 9, finite."
        )
    return values


def _ranges(parts: list[str], path: Path, number: int) -> list[int]:
    """Numbers and ranges `a - b`."""
    found: list[int] = []
    at = 0
    while at < len(parts):
        if parts[at] == "-":
            raise FormatError(f"{path}, line {number}: a range without its beginning.")
        first = last = int(parts[at][:9])
        if at + 2 < len(parts) and parts[at + 1] == "-" and parts[at + 2].isdigit():
            last = int(parts[at + 2][:9])
            at += 2
        at += 1
        if not first <= last < BASE_VERTICES:
            raise FormatError(
                f"{path}, line {number}: vertices {first} to {last} are hidden; expected some of 0 "
                f"to {BASE_VERTICES - 1}."
            )
        found += range(first, last + 1)
    return found


def _scale(words: list[str] | None, path: Path) -> tuple[int, int, float] | None:
    if words is None:
        return None
    try:
        first, second, length = int(words[0]), int(words[1]), float(words[2])
    except (IndexError, ValueError):
        raise FormatError(f"{path}: a scale is {' '.join(words)[:40]!r}; expected two vertices "
                          f"and a distance.") from None  # fmt: skip
    if not (0 <= first < BASE_VERTICES and 0 <= second < BASE_VERTICES and 1e-6 < length < 1e6):
        raise FormatError(f"{path}: a scale names {first}, {second} and {length}; out of range.")
    return first, second, length


def _beside(path: Path, words: dict[str, list[str]], key: str) -> Path:
    """A file that the asset names, which must lie in its own folder."""
    name = " ".join(words.get(key, []))
    if not name:
        raise FormatError(f"{path} names no {key}; expected one.")
    other = Path(name)
    if other.is_absolute() or ".." in other.parts or len(name) > 255 or "\x00" in name:
        raise FormatError(f"{path} names {name[:60]!r}, which does not lie beside it.")
    return path.parent / other


def _material(
    path: Path, words: dict[str, list[str]]
) -> tuple[tuple[float, float, float], UInt8[NumpyArray, "h w 4"] | None]:
    """Diffuse colour and picture of the `.mhmat`, grey where there is none."""
    plain = (0.5, 0.5, 0.5)
    if "material" not in words:
        return plain, None
    file = _beside(path, words, "material")
    if not file.is_file():
        return plain, None
    colour, picture = plain, None
    for line in _text(file).splitlines():
        parts = line.split()
        if parts[:1] == ["diffuseColor"] and len(parts) >= 4:
            try:
                red, green, blue = (min(max(float(w), 0.0), 1.0) for w in parts[1:4])
            except ValueError:
                continue
            colour = (red, green, blue)
        if parts[:1] == ["diffuseTexture"] and len(parts) >= 2:
            name = _beside(file, {"diffuseTexture": parts[1:]}, "diffuseTexture")
            picture = _picture(name) if name.is_file() else None
    return colour, picture


def _picture(path: Path) -> UInt8[NumpyArray, "h w 4"]:
    import io

    from PIL import Image

    content = io.BytesIO(read_input(path, at_most=_MAX_BYTES))
    try:
        with Image.open(content, formats=["PNG", "JPEG"]) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise ValueError(f"it has {image.width} × {image.height} pixels")
            return np.asarray(image.convert("RGBA"))
    except (OSError, SyntaxError, ValueError, MemoryError, Image.DecompressionBombError) as error:
        raise FormatError(f"{path} is no picture that can be read: {error}.") from error
