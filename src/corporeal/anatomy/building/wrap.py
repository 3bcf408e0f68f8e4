"""The bone wrap W: one watertight surface round all bones, without gaps or holes (section 4.2.2).

Groups of bones are closed (dilated, then eroded) by a radius of their own: wide for ribs and
pelvis, whose inside counts as bone, narrow for limbs, where gaps between two bones are bridged.
Komaritzan 2022 wraps a sphere in a modelling program; closing on a grid does the same by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.building.distance_field import DistanceField
from corporeal.errors import InputError
from corporeal.geometry.surface_tree import SurfaceTree

SPACING = 0.003
"""Of the grid, metres."""
THICKNESS = 0.0015
"""W runs this far outside the bones' surfaces, metres, so that rounding leaves none outside."""
BENEATH_SKIN = 0.0035
"""Least depth of a body's bone wrap, metres."""
BRIDGE = 0.012
"""Closing radius that joins the groups at joints, metres."""


@dataclass(frozen=True, eq=False)
class BoneGroup:
    """Bones that are wrapped together."""

    vertices: Float64[NumpyArray, "V 3"]
    """Of all bones of the group, metres, in the template's T-pose."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices into `vertices`."""
    closing: float
    """Gaps and hollows narrower than twice this are filled, metres."""


def wrap_bones(groups: Sequence[BoneGroup], skin: SurfaceTree, clearance: float) -> DistanceField:
    """Signed distance to W, at least `clearance` (metres) beneath the skin everywhere.

    Bones must be symmetric about x = 0, within a grid step; the left half is built.
    """
    from scipy.ndimage import gaussian_filter, label

    if not groups:
        raise InputError("no bones to wrap; expected at least one group.")
    origin, shape = _grid(groups)
    solid = np.zeros(shape, bool)
    for group in groups:
        solid |= _closed(_rasterised(group, origin, shape), group.closing)
    pieces = np.asarray(label(_filled(_closed(solid, BRIDGE)))[0])  # pyright: ignore[reportIndexIssue]
    solid = pieces == 1 + np.argmax(np.bincount(pieces.ravel())[1:])
    signed = _distance(~solid) - _distance(solid)
    values = gaussian_filter(signed.astype(np.float32), 1.0) - THICKNESS
    near = np.argwhere(values < 2 * SPACING)
    depth = skin.signed_distance(origin + SPACING * near) + clearance
    spot = tuple(near.T)
    values[spot] = np.maximum(values[spot], depth)
    return DistanceField(origin, SPACING, values.astype(np.float32))


def _grid(groups: Sequence[BoneGroup]) -> tuple[Float64[NumpyArray, "3"], tuple[int, int, int]]:
    """First sample and sample counts: the left half with room around it."""
    everything = np.concatenate([group.vertices for group in groups])
    low, high = everything.min(axis=0) - 0.08, everything.max(axis=0) + 0.08
    low[0] = -round(0.09 / SPACING) * SPACING
    nx, ny, nz = np.ceil((high - low) / SPACING).astype(int) + 1
    return low, (int(nx), int(ny), int(nz))


def _rasterised(
    group: BoneGroup, origin: Float64[NumpyArray, "3"], shape: tuple[int, int, int]
) -> Bool[NumpyArray, "nx ny nz"]:
    """Cells that the bones' surfaces pass through."""
    corner = group.vertices[group.triangles]
    edge = np.linalg.norm(corner - np.roll(corner, 1, axis=1), axis=2).max(axis=1)
    solid = np.zeros(shape, bool)
    steps = np.ceil(edge / (0.5 * SPACING)).astype(int)
    for count in np.unique(steps):
        i, j = np.divmod(np.arange((count + 1) ** 2), count + 1)
        keep = i + j <= count
        shares = np.stack([i, j, count - i - j], axis=1)[keep] / max(count, 1)
        points = np.einsum("sk,fkd->fsd", shares, corner[steps == count]).reshape(-1, 3)
        cell = np.round((points - origin) / SPACING).astype(int)
        cell = cell[((cell >= 0) & (cell < shape)).all(axis=1)]
        solid[tuple(cell.T)] = True
    return solid


def _closed(solid: Bool[NumpyArray, "nx ny nz"], radius: float) -> Bool[NumpyArray, "nx ny nz"]:
    """Dilated and eroded by `radius`, metres, and filled; worked on in the box of the shape."""
    where = np.argwhere(solid)
    if not len(where):
        return solid
    room = int(np.ceil(radius / SPACING)) + 2
    low = where.min(axis=0) - room
    high = where.max(axis=0) + room + 1
    start, stop = np.maximum(low, 0), np.minimum(high, solid.shape)
    box = tuple(slice(a, b) for a, b in zip(start, stop, strict=True))
    padding = [(int(a - l), int(h - b)) for a, l, h, b in zip(start, low, high, stop, strict=True)]
    padded = np.pad(solid[box], padding)
    wide = _filled(_distance(~padded) <= radius)
    closed = _filled(_distance(wide) > radius) | padded
    inner = tuple(slice(p, n - q) for (p, q), n in zip(padding, closed.shape, strict=True))
    result = solid.copy()
    result[box] |= closed[inner]
    return result


def _distance(solid: Bool[NumpyArray, "nx ny nz"]) -> Float64[NumpyArray, "nx ny nz"]:
    """Metres from every cell of a shape to the nearest outside it."""
    from scipy.ndimage import distance_transform_edt

    return SPACING * np.asarray(distance_transform_edt(solid))


def _filled(solid: Bool[NumpyArray, "nx ny nz"]) -> Bool[NumpyArray, "nx ny nz"]:
    """A shape without enclosed holes."""
    from scipy.ndimage import binary_fill_holes

    return np.asarray(binary_fill_holes(solid))
