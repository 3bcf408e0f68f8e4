"""Scene → picture, in software: no GPU and no graphics library is needed.

A picture is made in bands of rows, which the threads share. Every band draws all triangles into a
buffer of samples, shades the samples that show a surface, and lays their mean over the backdrop.
"""

import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray, UInt8
from corporeal.body.colours import linear_from_srgb
from corporeal.errors import InputError
from corporeal.runtime.threads import thread_count
from corporeal.scene.camera import focal_length
from corporeal.scene.scene import Scene
from corporeal.scene.stage import JoinedSurfaces, refined, set_stage
from corporeal.scene.textures import pool, textured_triangles
from corporeal.scene.visibility import Mapper, ShadowQuality

MAXIMUM_SAMPLES = 2**27
MAXIMUM_EDGE = 16_384
"""Largest picture, in samples and in pixels along an edge: keeps buffers below about 1 GB."""
_BAND_ROWS = 32


def render(
    scene: Scene,
    width: int,
    height: int,
    *,
    samples: int = 2,
    refinement: int = 0,
    quality: ShadowQuality | None = None,
) -> UInt8[NumpyArray, "H W 3"]:
    """Draw a scene, sRGB, with `samples` × `samples` samples a pixel.

    Each step of `refinement` splits all triangles in four and rounds them, for close-ups.
    The same scene gives the same pixels, whatever the number of threads.
    """
    _require_size(width, height, samples)
    if not 0 <= refinement <= 3:
        raise InputError(f"{refinement} steps of refinement; expected 0 to 3.")
    with ThreadPoolExecutor(thread_count()) as pool:
        stage = set_stage(scene, quality or ShadowQuality(), pool.map)
        for _ in range(refinement):
            stage = refined(stage)
        return _expose(scene, stage, width, height, samples, pool.map)


def _require_size(width: int, height: int, samples: int) -> None:
    if width < 1 or height < 1:
        raise InputError(f"picture of {width} × {height} pixels; expected at least 1 × 1.")
    if not 1 <= samples <= 8:
        raise InputError(f"{samples} samples along a pixel; expected 1 to 8.")
    count = width * height * samples**2
    if count > MAXIMUM_SAMPLES or max(width, height) > MAXIMUM_EDGE:
        raise InputError(
            f"picture of {width} × {height} pixels with {samples} × {samples} samples each has "
            f"{count} samples; at most {MAXIMUM_SAMPLES} are drawn, and {MAXIMUM_EDGE} pixels "
            f"along an edge. Make the picture smaller, or take fewer samples."
        )


def _expose(
    scene: Scene, stage: JoinedSurfaces, width: int, height: int, samples: int, run: Mapper
) -> UInt8[NumpyArray, "H W 3"]:
    """Draw the stage band by band."""
    from corporeal.scene import raster_cpu, shade_cpu

    camera, studio = scene.camera, scene.studio
    matrix = camera.pixel_from_world(width * samples, height * samples)
    corners = stage.attributes[:, :3].astype(np.float64) @ matrix[:, :3].T + matrix[:, 3]
    boxes = np.empty((len(stage.triangles), 4), np.int32)
    raster_cpu.sample_boxes(
        corners, stage.triangles, camera.near, width * samples, height * samples, boxes
    )
    lights = np.array(
        [[*light.unit, *light.colour] for light in (studio.key, studio.fill, studio.rim)]
    )
    surround = np.array([studio.sky, studio.bounce])
    paper = np.array([studio.backdrop.top, studio.backdrop.bottom])
    view = _view(scene, height)
    frames, levels = textured_triangles(
        corners, stage.attributes, stage.triangles, stage.pictures, stage.pool.table
    )
    cut = np.where(stage.cutouts, stage.pictures, -1).astype(np.int32)
    texels, table = stage.pool.texels, stage.pool.table
    picture = np.empty((height, width, 3), np.uint8)

    def band(first: int) -> None:
        rows = min(_BAND_ROWS, height - first)
        seen = np.empty((rows * samples, width * samples), np.int32)
        depth = np.empty(seen.shape, np.float64)
        pixels = np.empty((rows, width, 3))
        raster_cpu.cover(
            corners, stage.triangles, boxes, camera.near, first * samples, cut, levels,
            stage.attributes, texels, table, seen, depth,
        )  # fmt: skip
        shade_cpu.paint_backdrop(
            first, height, view, paper, studio.backdrop.vignette, stage.grounds, stage.grids, pixels
        )
        shade_cpu.shade(
            seen, first * samples, corners, stage.triangles, stage.attributes, stage.kinds,
            stage.materials, stage.decals, stage.pictures, levels, frames, texels, table,
            _light_curve(), lights, surround, view[0], studio.exposure, samples, pixels,
        )  # fmt: skip
        shade_cpu.encode(pixels, first, _srgb_curve(), picture[first : first + rows])

    list(run(band, range(0, height, _BAND_ROWS)))
    return picture


def cover_solid(
    corners: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    boxes: Int[NumpyArray, "F 4"],
    near: float,
    seen: Int[NumpyArray, "h w"],
    inverse_depth: Float64[NumpyArray, "h w"],
) -> None:
    """Draw triangles without holes into a whole picture of samples; see `raster_cpu.cover`."""
    from corporeal.scene import raster_cpu

    none, whole = np.full(len(triangles), -1, np.int32), np.zeros(len(triangles), np.int32)
    places, empty = np.zeros((len(corners), 16), np.float32), pool([])
    raster_cpu.cover(
        corners, triangles, boxes, near, 0, none, whole, places, empty.texels, empty.table, seen,
        inverse_depth,
    )  # fmt: skip


def _view(scene: Scene, height: int) -> Float64[NumpyArray, "4 3"]:
    """Eye, right, up, forward; the first two axes scaled to a pixel at distance 1."""
    axes = scene.camera.axes()
    axes[:2] /= focal_length(scene.camera.field_of_view, height)
    return np.concatenate([np.asarray(scene.camera.eye, np.float64)[None], axes])


@functools.cache
def _srgb_curve() -> Float64[NumpyArray, "n"]:
    """sRGB's transfer curve, from display light to signal, as a table."""
    light = np.linspace(0, 1, 4097)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


@functools.cache
def _light_curve() -> Float64[NumpyArray, "256"]:
    """Light of the 256 levels of an sRGB picture."""
    return linear_from_srgb(np.arange(256) / 255.0)
