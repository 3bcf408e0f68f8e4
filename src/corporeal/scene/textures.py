"""Pictures on surfaces, as the kernels read them: one long list of texels with smaller copies.

A texel is red, green, blue (sRGB), opacity, the normal's first two parts, roughness; eight bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from corporeal._typing import Float, Float32, Int, NumpyArray, UInt8
from corporeal.body.material import Material

LEVELS = 7
"""Sizes that a picture is kept in, each half of the one before."""


@dataclass(frozen=True, eq=False)
class SurfaceTexture:
    """A surface's paint, and where its vertices lie on it."""

    material: Material
    """The pictures."""
    source: Int[NumpyArray, "v"]
    """The surface's vertex of each vertex that the seams make."""
    triangles: Int[NumpyArray, "F 3"]
    """The surface's triangles, of those vertices."""
    uv: Float[NumpyArray, "v 2"]
    """Place on the pictures: to the right and down, 0 to 1."""


@dataclass(frozen=True, eq=False)
class TexturePool:
    """All pictures of a scene."""

    texels: UInt8[NumpyArray, "n 8"]
    """Rows of all pictures, one after the other."""
    table: Int[NumpyArray, "t c"]
    """A row a picture: for each level its first texel, width and height."""


@lru_cache(maxsize=32)
def packed(material: Material) -> tuple[UInt8[NumpyArray, "n 8"], Int[NumpyArray, "c"]]:
    """A material's texels with all levels, and where each begins."""
    height, width = material.colour.shape[:2]
    level = np.zeros((height, width, 8), np.uint8)
    level[..., :4] = material.colour
    level[..., 4:6] = 128 if material.normal is None else material.normal[..., :2]
    level[..., 6] = material.roughness
    rows, table, first = [], [], 0
    for _ in range(LEVELS):
        rows.append(level.reshape(-1, 8))
        table += [first, level.shape[1], level.shape[0]]
        first += level.shape[0] * level.shape[1]
        if min(level.shape[:2]) >= 2:
            level = _halved(level)
    return np.concatenate(rows), np.array(table, np.int64)


def _halved(level: UInt8[NumpyArray, "h w 8"]) -> UInt8[NumpyArray, "k l 8"]:
    even = level[: len(level) // 2 * 2, : level.shape[1] // 2 * 2].astype(np.uint16)
    total = even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2]
    return ((total + 2) // 4).astype(np.uint8)


def pool(materials: Sequence[Material]) -> TexturePool:
    """The texels of some materials, in order."""
    if not materials:
        return TexturePool(np.zeros((1, 8), np.uint8), np.zeros((0, 3 * LEVELS), np.int64))
    rows, tables, first = [], [], 0
    for material in materials:
        texels, table = packed(material)
        moved = table.copy()
        moved[::3] += first
        rows.append(texels)
        tables.append(moved)
        first += len(texels)
    return TexturePool(rows[0] if len(rows) == 1 else np.concatenate(rows), np.stack(tables))


def textured_triangles(
    corners: Float[NumpyArray, "V 3"],
    attributes: Float32[NumpyArray, "V a"],
    triangles: Int[NumpyArray, "F 3"],
    pictures: Int[NumpyArray, "F"],
    table: Int[NumpyArray, "t c"],
) -> tuple[Float32[NumpyArray, "F 6"], Int[NumpyArray, "F"]]:
    """Of every triangle, unit vectors along which u grows and v grows (up), and the smaller copy
    that has about one texel a sample; zeros without a picture. `corners` are as projected."""
    from corporeal.scene.textures_cpu import lay_frames

    frames = np.zeros((len(triangles), 6), np.float32)
    levels = np.zeros(len(triangles), np.int32)
    lay_frames(corners, attributes, triangles, pictures, table, LEVELS, frames, levels)
    return frames, levels
