"""Colours of a scan, carried to the registered mesh and onto its texture."""

import numpy as np

from corporeal._typing import Float64, NumpyArray, UInt8
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
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
    from scipy.ndimage import distance_transform_edt

    if mesh.uv is None or mesh.uv_triangles is None:
        raise InputError("the mesh has no texture coordinates; the default body has.")
    owner, shares = _texels(np.asarray(mesh.uv), np.asarray(mesh.uv_triangles), size)
    rows, columns = np.nonzero(owner >= 0)
    which = owner[rows, columns]
    corners = np.asarray(mesh.triangles)[which]
    weights = shares[rows, columns]
    places = np.einsum("nk,nkc->nc", weights, vertices[corners])
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    image = np.zeros((size, size, 3))
    image[rows, columns] = place_colours(surface, places, normals)
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
