"""Scene → picture, in software: no GPU and no graphics library is needed.

A picture is made in bands of rows, which the threads share. Every band draws all triangles into a
buffer of samples, shades the samples that show a surface, and lays their mean over the backdrop.
"""

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, Float32, Float64, Int, NumpyArray, UInt8
from corporeal.errors import InputError
from corporeal.runtime.threads import thread_count
from corporeal.scene.camera import focal_length
from corporeal.scene.materials import FABRIC, Material
from corporeal.scene.refine import refine
from corporeal.scene.scene import DECAL_SIZE, Actor, Scene, Surface
from corporeal.scene.visibility import GroundShadow, Mapper, ShadowQuality, visibility

MAXIMUM_SAMPLES = 2**28
"""Largest picture: 2²⁸ samples, for example 16 384 × 4 096 pixels of 2 × 2."""
_BAND_ROWS = 32
_UNCOVERED = -1.0


@dataclass(frozen=True, eq=False)
class _Stage:
    """All surfaces of a scene as one, as the kernels want them."""

    triangles: Int[NumpyArray, "F 3"]
    attributes: Float32[NumpyArray, "V 16"]
    kinds: Int[NumpyArray, "F"]
    materials: Float32[NumpyArray, "m 9"]
    decals: Float32[NumpyArray, "d h w 4"]
    grounds: Float32[NumpyArray, "n g g"]
    grids: Float[NumpyArray, "n 4"]


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
        stage = _set_stage(scene, quality or ShadowQuality(), pool.map)
        for _ in range(refinement):
            stage = _refined(stage)
        return _expose(scene, stage, width, height, samples, pool.map)


def _require_size(width: int, height: int, samples: int) -> None:
    if width < 1 or height < 1:
        raise InputError(f"picture of {width} × {height} pixels; expected at least 1 × 1.")
    if not 1 <= samples <= 8:
        raise InputError(f"{samples} samples along a pixel; expected 1 to 8.")
    if width * height * samples**2 > MAXIMUM_SAMPLES:
        raise InputError(
            f"picture of {width} × {height} pixels with {samples} × {samples} samples needs "
            f"{width * height * samples**2} samples; at most {MAXIMUM_SAMPLES} are drawn. "
            f"Make the picture smaller, or take fewer samples."
        )


def _set_stage(scene: Scene, quality: ShadowQuality, run: Mapper) -> _Stage:
    """Normals, shadows and colours of all actors, gathered."""
    attributes, triangles, kinds = [], [], []
    shadows: list[GroundShadow] = []
    table, decals = [[*_optics(FABRIC), 0.0, 0.0, 0.0, -1.0]], []
    vertex_count = 0
    for actor in scene.actors:
        for surface in actor.surfaces:
            kinds.append(np.full(len(surface.triangles), len(table), np.int32))
            table.append(_material_row(surface, len(decals)))
            decals += [surface.decal.paint] if surface.decal else []
        points, faces = _join(actor)
        if len(faces) == 0:
            continue
        normals = _normals(points, faces)
        seen, shadow = visibility(
            points, normals, faces, scene.studio, scene.ground_height, quality, run
        )
        paint = np.concatenate([_paint(surface) for surface in actor.surfaces])
        attributes.append(np.concatenate([points, normals, paint, seen], axis=1))
        triangles.append(faces + np.int32(vertex_count))
        vertex_count += len(points)
        if shadow is not None:
            shadows.append(shadow)
    size = quality.ground_size
    return _Stage(
        np.concatenate([*triangles, np.zeros((0, 3), np.int32)]),
        np.concatenate([*attributes, np.zeros((0, 16), np.float32)]),
        np.concatenate([*kinds, np.zeros(0, np.int32)]),
        np.array(table, np.float32),
        np.array(decals, np.float32).reshape(-1, DECAL_SIZE, DECAL_SIZE, 4),
        np.stack([s.left for s in shadows]) if shadows else np.zeros((0, size, size), np.float32),
        np.stack([s.grid for s in shadows]) if shadows else np.zeros((0, 4)),
    )


def _refined(stage: _Stage) -> _Stage:
    attributes, triangles = refine(stage.attributes, stage.triangles)
    kinds = np.repeat(stage.kinds, 4)
    return replace(stage, attributes=attributes, triangles=triangles, kinds=kinds)


def _optics(material: Material) -> list[float]:
    return [material.specular, material.roughness, *material.wrap]


def _material_row(surface: Surface, decal: int) -> list[float]:
    """A line of the table of materials, as `shade_cpu` reads it."""
    cloth = surface.garment.colour if surface.garment else (0.0, 0.0, 0.0)
    return [*_optics(surface.material), *cloth, decal if surface.decal else -1.0]


def _join(actor: Actor) -> tuple[Float32[NumpyArray, "V 3"], Int[NumpyArray, "F 3"]]:
    """Vertices and triangles of all the actor's surfaces."""
    starts = np.cumsum([0, *(len(s.vertices) for s in actor.surfaces)])
    faces = [s.triangles + start for s, start in zip(actor.surfaces, starts, strict=False)]
    return (
        actor.points().astype(np.float32),
        np.concatenate([*faces, np.zeros((0, 3), np.int64)]).astype(np.int32),
    )


def _normals(
    points: Float32[NumpyArray, "V 3"], faces: Int[NumpyArray, "F 3"]
) -> Float32[NumpyArray, "V 3"]:
    from corporeal.scene.normals_cpu import angle_weighted_normals

    normals = np.empty(points.shape, np.float32)
    angle_weighted_normals(points, faces, normals)
    return normals


def _paint(surface: Surface) -> Float32[NumpyArray, "V 7"]:
    """Reflectance, garment coverage, gloss and place on the decal of every vertex."""
    paint = np.empty((len(surface.vertices), 7), np.float32)
    paint[:, :3] = surface.colours
    paint[:, 3] = _UNCOVERED if surface.garment is None else surface.garment.coverage
    paint[:, 4] = 1.0 if surface.gloss is None else surface.gloss
    paint[:, 5:] = -1.0 if surface.decal is None else surface.decal.places
    return paint


def _expose(
    scene: Scene, stage: _Stage, width: int, height: int, samples: int, run: Mapper
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
    picture = np.empty((height, width, 3), np.uint8)

    def band(first: int) -> None:
        rows = min(_BAND_ROWS, height - first)
        seen = np.empty((rows * samples, width * samples), np.int32)
        depth = np.empty(seen.shape, np.float64)
        pixels = np.empty((rows, width, 3))
        raster_cpu.cover(corners, stage.triangles, boxes, camera.near, first * samples, seen, depth)
        shade_cpu.paint_backdrop(
            first, height, view, paper, studio.backdrop.vignette, stage.grounds, stage.grids, pixels
        )
        shade_cpu.shade(
            seen, first * samples, corners, stage.triangles, stage.attributes, stage.kinds,
            stage.materials, stage.decals, lights, surround, view[0], studio.exposure, samples,
            pixels,
        )  # fmt: skip
        shade_cpu.encode(pixels, first, _srgb_curve(), picture[first : first + rows])

    list(run(band, range(0, height, _BAND_ROWS)))
    return picture


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
