"""Colours of a scan, carried to the registered mesh and onto its texture."""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float64, NumpyArray, UInt8
from corporeal.body.mesh import Mesh
from corporeal.body.raw_scan import RawScan
from corporeal.errors import InputError
from corporeal.geometry.surface import triangle_area_vectors
from corporeal.registration.coupled_stage import barycentric
from corporeal.registration.scan_surface import ScanSurface

_REACH = 0.02
"""Metres from which on a place takes the colour of its surroundings."""
_NEIGHBOURS = 6


def place_colours(
    surface: ScanSurface,
    places: Float64[NumpyArray, "n 3"],
    normals: Float64[NumpyArray, "n 3"],
) -> Float64[NumpyArray, "n 3"]:
    """sRGB of places on the registered mesh: near points of the scan that face the same way."""
    from scipy.spatial import KDTree

    if surface.colours is None:
        raise InputError("the scan has no colours; expected some to carry over.")
    tree = KDTree(np.hstack([surface.points, 0.02 * surface.normals]))
    distance, near = tree.query(np.hstack([places, 0.02 * normals]), _NEIGHBOURS)
    weight = 1.0 / (distance**2 + 1e-6)
    far = distance[:, :1] > _REACH
    weight = np.where(far, 1.0, weight)
    colours = surface.colours[near]
    return np.einsum("nk,nkc->nc", weight, colours) / weight.sum(axis=1, keepdims=True)


def linear_rgb(srgb: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n 3"]:
    """Linear light of screen colours (IEC 61966-2-1)."""
    low = srgb / 12.92
    return np.where(srgb <= 0.04045, low, ((np.maximum(srgb, 0.0) + 0.055) / 1.055) ** 2.4)


def bake_texture(
    surface: ScanSurface,
    mesh: Mesh,
    vertices: Float64[NumpyArray, "V 3"],
    size: int = 1024,
) -> UInt8[NumpyArray, "s s 3"]:
    """The scan's colours in the mesh's texture coordinates, sRGB, v up; seams are bled over."""

    def colours(places: NumpyArray, normals: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
        return place_colours(surface, places, normals), np.ones(len(places), bool)

    return _baked(mesh, vertices, size, colours)


def carry_texture(
    scan: RawScan,
    mesh: Mesh,
    vertices: Float64[NumpyArray, "V 3"],
    reach: float,
    size: int = 2048,
) -> UInt8[NumpyArray, "s s 3"]:
    """The scan's own picture in the mesh's texture coordinates; texel by texel, from the scan's
    nearest triangle.

    `vertices` of the registered mesh and `reach` are in the scan's own unit and axes. Places that
    lie further from the scan, or that face away, take the colour of the places around them.
    """
    from corporeal.geometry.pictures import picture_colours
    from corporeal.geometry.surface_tree import SurfaceTree

    texture = scan.texture
    if texture is None or scan.triangles is None:
        raise InputError("the scan has no texture; expected one to carry over.")
    points, triangles = np.asarray(scan.points, np.float64), np.asarray(scan.triangles)
    tree = SurfaceTree(points, triangles)
    facing = triangle_area_vectors(points, triangles)
    facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-30)

    def colours(places: NumpyArray, normals: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
        feet, which = tree.closest(places)
        near = np.linalg.norm(feet - places, axis=1) < reach
        agree = np.sum(facing[which] * normals, axis=1)
        # scans that are inside out face the other way everywhere
        good = near & ((agree if np.median(agree) > 0 else -agree) > 0.0)
        shares = barycentric(feet, points[triangles[which]])
        uv = np.einsum("nk,nkc->nc", shares, texture.uv[texture.uv_triangles[which]])
        return picture_colours(texture.pixels, uv.astype(np.float64)), good

    return _baked(mesh, vertices, size, colours)


def _baked(
    mesh: Mesh,
    vertices: Float64[NumpyArray, "V 3"],
    size: int,
    colours: Callable[[NumpyArray, NumpyArray], tuple[NumpyArray, NumpyArray]],
) -> UInt8[NumpyArray, "s s 3"]:
    """A texture from what tells the colours of places, and which of them are known."""
    from scipy.ndimage import distance_transform_edt
    from scipy.spatial import KDTree

    if mesh.uv is None or mesh.uv_triangles is None:
        raise InputError("the mesh has no texture coordinates; the default body has.")
    owner, shares = _texels(np.asarray(mesh.uv), np.asarray(mesh.uv_triangles), size)
    rows, columns = np.nonzero(owner >= 0)
    corners = np.asarray(mesh.triangles)[owner[rows, columns]]
    places = np.einsum("nk,nkc->nc", shares[rows, columns], vertices[corners])
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    values, known = colours(places, normals)
    if known.any() and not known.all():
        near = KDTree(places[known]).query(places[~known], 4)[1]
        values[~known] = values[known][near].mean(axis=1)
    image = np.zeros((size, size, 3))
    image[rows, columns] = values
    nearest = distance_transform_edt(owner < 0, return_distances=False, return_indices=True)
    rows, columns = np.asarray(nearest)
    image = image[rows, columns]
    return np.rint(255.0 * np.clip(image, 0.0, 1.0)).astype(np.uint8)


def _texels(uv: NumpyArray, triangles: NumpyArray, size: int) -> tuple[NumpyArray, NumpyArray]:
    """Triangle and barycentric coordinates of every texel; −1 where there is none."""
    owner = np.full((size, size), -1, np.int64)
    shares = np.zeros((size, size, 3))
    corners = uv[triangles] * (size, -size) + (0, size) - 0.5  # column, row
    for number, (a, b, c) in enumerate(corners):
        low = np.maximum(np.ceil(np.minimum(np.minimum(a, b), c)).astype(int), 0)
        high = np.minimum(np.floor(np.maximum(np.maximum(a, b), c)).astype(int), size - 1)
        if (high < low).any():
            continue
        x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0:
            continue
        u = ((b[0] - x) * (c[1] - y) - (b[1] - y) * (c[0] - x)) / area
        v = ((c[0] - x) * (a[1] - y) - (c[1] - y) * (a[0] - x)) / area
        inside = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9)
        owner[y[inside], x[inside]] = number
        shares[y[inside], x[inside]] = np.stack([u, v, 1 - u - v], axis=-1)[inside]
    return owner, shares
