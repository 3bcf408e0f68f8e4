"""A scene as the kernels want it: all surfaces as one, with normals, paint and shadows."""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Bool, Float, Float32, Int, NumpyArray
from corporeal.body.material import Material
from corporeal.scene.materials import FABRIC, SurfaceMaterial
from corporeal.scene.refine import refine
from corporeal.scene.scene import DECAL_SIZE, Actor, Scene, Surface
from corporeal.scene.textures import TexturePool, pool
from corporeal.scene.visibility import GroundShadow, Mapper, ShadowQuality, visibility

_UNCOVERED = -1.0
"""Garment coverage where there is no garment."""


@dataclass(frozen=True, eq=False)
class JoinedSurfaces:
    """All surfaces of a scene as one."""

    triangles: Int[NumpyArray, "F 3"]
    """Corner indices into all vertices."""
    attributes: Float32[NumpyArray, "V 16"]
    """Columns as `shade_cpu` reads them."""
    kinds: Int[NumpyArray, "F"]
    """Row of every triangle in `materials`."""
    materials: Float32[NumpyArray, "m 10"]
    """A row of optical constants a material, as `shade_cpu` reads it."""
    pictures: Int[NumpyArray, "F"]
    """Picture of every triangle in `pool`; −1 for none."""
    cutouts: Bool[NumpyArray, "F"]
    """Whether its opacity cuts holes."""
    pool: TexturePool
    """The pictures."""
    decals: Float32[NumpyArray, "d h w 4"]
    """Paint of every decal: linear RGB and opacity."""
    grounds: Float32[NumpyArray, "n g g"]
    """Light left on the ground around every actor, 0 to 1."""
    grids: Float[NumpyArray, "n 4"]
    """Their place; see `GroundShadow.grid`."""


def set_stage(scene: Scene, quality: ShadowQuality, run: Mapper) -> JoinedSurfaces:
    """Normals, shadows and colours of all actors, gathered."""
    attributes, triangles, kinds = [], [], []
    pictures, cutouts = [], []
    materials: dict[Material, int] = {}
    shadows: list[GroundShadow] = []
    table, decals = [[*_optics(FABRIC), 0.0, 0.0, 0.0, -1.0, 0.0]], []
    vertex_count = 0
    for actor in scene.actors:
        for surface in actor.surfaces:
            kinds.append(np.full(len(surface.triangles), len(table), np.int32))
            table.append(_material_row(surface, len(decals)))
            decals += [surface.decal.paint] if surface.decal else []
            texture = surface.texture
            number = -1
            if texture is not None:
                number = materials.setdefault(texture.material, len(materials))
            cut = texture is not None and texture.material.cutout
            pictures.append(np.full(len(surface.triangles), number, np.int32))
            cutouts.append(np.full(len(surface.triangles), cut))
        points, faces = _join(actor)
        if len(faces) == 0:
            continue
        normals = _normals(points, faces)
        seen, shadow = visibility(
            points, normals, faces, scene.studio, scene.ground_height, quality, run
        )
        paint = np.concatenate([_paint(surface) for surface in actor.surfaces])
        rows, faces = _opened(actor, np.concatenate([points, normals, paint, seen], axis=1))
        attributes.append(rows)
        triangles.append(faces + np.int32(vertex_count))
        vertex_count += len(rows)
        if shadow is not None:
            shadows.append(shadow)
    size = quality.ground_size
    return JoinedSurfaces(
        np.concatenate([*triangles, np.zeros((0, 3), np.int32)]),
        np.concatenate([*attributes, np.zeros((0, 16), np.float32)]),
        np.concatenate([*kinds, np.zeros(0, np.int32)]),
        np.array(table, np.float32),
        np.concatenate([*pictures, np.zeros(0, np.int32)]),
        np.concatenate([*cutouts, np.zeros(0, bool)]),
        pool(list(materials)),
        np.array(decals, np.float32).reshape(-1, DECAL_SIZE, DECAL_SIZE, 4),
        np.stack([s.left for s in shadows]) if shadows else np.zeros((0, size, size), np.float32),
        np.stack([s.grid for s in shadows]) if shadows else np.zeros((0, 4)),
    )


def refined(stage: JoinedSurfaces) -> JoinedSurfaces:
    """The same stage with every triangle split in four; shadows are those of the coarse one."""
    attributes, triangles = refine(stage.attributes, stage.triangles)
    return replace(
        stage,
        attributes=attributes,
        triangles=triangles,
        kinds=np.repeat(stage.kinds, 4),
        pictures=np.repeat(stage.pictures, 4),
        cutouts=np.repeat(stage.cutouts, 4),
    )


def _optics(material: SurfaceMaterial) -> list[float]:
    return [material.specular, material.roughness, *material.wrap]


def _material_row(surface: Surface, decal: int) -> list[float]:
    """A line of the table of materials, as `shade_cpu` reads it."""
    cloth = surface.garment.colour if surface.garment else (0.0, 0.0, 0.0)
    paint = float(decal) if surface.decal else -1.0
    return [*_optics(surface.material), *cloth, paint, surface.material.response]


def _join(actor: Actor) -> tuple[Float32[NumpyArray, "V 3"], Int[NumpyArray, "F 3"]]:
    """Vertices and triangles of all the actor's surfaces."""
    starts = np.cumsum([0, *(len(s.vertices) for s in actor.surfaces)])
    faces = [s.triangles + start for s, start in zip(actor.surfaces, starts, strict=False)]
    return (
        actor.points().astype(np.float32),
        np.concatenate([*faces, np.zeros((0, 3), np.int64)]).astype(np.int32),
    )


def _opened(
    actor: Actor, rows: Float32[NumpyArray, "V 16"]
) -> tuple[Float32[NumpyArray, "v 16"], Int[NumpyArray, "F 3"]]:
    """The actor's attributes and triangles with texture seams opened, and places on pictures."""
    if all(surface.texture is None for surface in actor.surfaces):
        return rows, _join(actor)[1]
    parts, faces, start, count = [], [], 0, 0
    for surface in actor.surfaces:
        own = rows[start : start + len(surface.vertices)]
        corners = surface.triangles
        if surface.texture is not None:
            own = own[surface.texture.source]
            own[:, 11:13] = surface.texture.uv
            corners = surface.texture.triangles
        parts.append(own)
        faces.append((corners + count).astype(np.int32))
        start += len(surface.vertices)
        count += len(own)
    return np.concatenate(parts), np.concatenate(faces)


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
