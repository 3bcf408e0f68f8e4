"""A surface as a veil over a picture: clear where it faces the camera, dense along its outline."""

from collections.abc import Sequence

import numpy as np

from corporeal._typing import Float64, NumpyArray, UInt8
from corporeal.geometry.surface import vertex_normals
from corporeal.scene.camera import Camera
from corporeal.scene.raster import cover_solid
from corporeal.scene.scene import Surface

CLEAR, DENSE = 0.28, 0.9
"""Opacity of skin that faces the camera, and of its outline."""
FALL = 1.6
"""How fast opacity grows towards the outline: (1 − cos)^FALL."""
SAMPLES = 2
"""Along each edge of a pixel."""


def veiled(
    pixels: UInt8[NumpyArray, "H W 3"],
    shells: UInt8[NumpyArray, "H W 3"],
    surfaces: Sequence[Surface],
    camera: Camera,
) -> UInt8[NumpyArray, "H W 3"]:
    """`shells`, a picture of `surfaces` alone, over `pixels`, both seen by `camera`."""
    height, width = pixels.shape[:2]
    opacity = np.zeros((height, width))
    for surface in surfaces:
        opacity = np.maximum(opacity, _opacity(surface, camera, width, height))
    light = [(image / 255.0) ** 2.2 for image in (pixels, shells)]
    mixed = light[0] + opacity[..., None] * (light[1] - light[0])
    return np.round(255 * mixed ** (1 / 2.2)).astype(np.uint8)


def _opacity(
    surface: Surface, camera: Camera, width: int, height: int
) -> Float64[NumpyArray, "H W"]:
    """Opacity of one surface in every pixel, 0 where it is not seen."""
    from corporeal.scene import raster_cpu

    columns, rows = SAMPLES * width, SAMPLES * height
    vertices = np.asarray(surface.vertices, np.float64)
    triangles = np.asarray(surface.triangles, np.int32)
    matrix = camera.pixel_from_world(columns, rows)
    corners = vertices @ matrix[:, :3].T + matrix[:, 3]
    boxes = np.empty((len(triangles), 4), np.int32)
    raster_cpu.sample_boxes(corners, triangles, camera.near, columns, rows, boxes)
    seen = np.empty((rows, columns), np.int32)
    cover_solid(corners, triangles, boxes, camera.near, seen, np.empty(seen.shape))
    away = np.asarray(camera.eye) - vertices
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    cosine = np.abs(np.einsum("vd,vd->v", vertex_normals(vertices, triangles), away))
    facing = cosine[triangles].mean(axis=1)
    dense = CLEAR + (DENSE - CLEAR) * (1.0 - facing) ** FALL
    opacity = np.where(seen >= 0, dense[np.maximum(seen, 0)], 0.0)
    return opacity.reshape(height, SAMPLES, width, SAMPLES).mean(axis=(1, 3))
