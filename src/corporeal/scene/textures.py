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


def tangents(
    attributes: Float32[NumpyArray, "V a"], triangles: Int[NumpyArray, "F 3"]
) -> Float32[NumpyArray, "F 6"]:
    """Unit vectors along which u grows, and v grows (up), of every triangle; zero without uv."""
    corners = attributes[triangles]
    edge, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    a, b, c, d = edge[:, 11], edge[:, 12], other[:, 11], other[:, 12]
    # columns 11 and 12 are u, and v downwards
    side = np.where(a * d - b * c < 0, -1.0, 1.0).astype(np.float32)[:, None]
    along = (d[:, None] * edge[:, :3] - b[:, None] * other[:, :3]) * side
    up = (c[:, None] * edge[:, :3] - a[:, None] * other[:, :3]) * side
    for axis in (along, up):
        axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-20)
    return np.concatenate([along, up], axis=1)


def levels_of(
    corners: Float[NumpyArray, "V 3"],
    attributes: Float32[NumpyArray, "V a"],
    triangles: Int[NumpyArray, "F 3"],
    texture: Int[NumpyArray, "F"],
    table: Int[NumpyArray, "t c"],
) -> Int[NumpyArray, "F"]:
    """The smaller copy that suits each triangle: about one texel a sample."""
    levels = np.zeros(len(triangles), np.int32)
    used = np.flatnonzero(texture >= 0)
    if len(used) == 0:
        return levels
    w = np.maximum(corners[:, 2], 1e-6)
    flat = corners[:, :2] / w[:, None]
    seen = _areas(flat[triangles[used]])
    size = table[texture[used]]
    texels = _areas(attributes[:, 11:13][triangles[used]].astype(np.float64))
    texels *= size[:, 1] * size[:, 2]
    ratio = np.maximum(texels, 1e-12) / np.maximum(seen, 1e-3)
    levels[used] = np.clip(np.floor(0.5 * np.log2(ratio) + 0.35), 0, LEVELS - 1)
    return levels


def _areas(corners: Float[NumpyArray, "F 3 2"]) -> Float[NumpyArray, "F"]:
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return 0.5 * np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
