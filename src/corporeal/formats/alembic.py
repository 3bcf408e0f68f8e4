"""Alembic (`.abc`): the surface of every frame, exactly.

================== ========================================================================
survives           vertex positions of every frame (float32), their order, quads, texture
                   coordinates with their seams, the frame rate
does not           skeleton, weights, morph targets, normals (readers make their own), part
                   labels, mirror map
================== ========================================================================

Metres, y up: Alembic's custom. Its polygons turn clockwise, so corners are stored in reverse.
Needs the extra `alembic`.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.formats.polygons import authored_faces, authored_uv
from corporeal.runtime.extras import import_extra
from corporeal.runtime.files import atomic_write, require_room

_HEAD_BYTES = 64 * 1024
"""What a file has beside its numbers, and more."""


def write_alembic(
    path: str | Path, mesh: Mesh, vertices: Float[NumpyArray, "N V 3"], fps: float
) -> None:
    """Write a moving surface (metres, y up); frame 0 is at time 0."""
    require_finite("cache vertices", vertices)
    if vertices.shape[1] != mesh.vertex_count or not len(vertices):
        raise InputError(
            f"cache has {len(vertices)} frames of {vertices.shape[1]} vertices and the mesh "
            f"{mesh.vertex_count}; expected at least one frame of as many."
        )
    if not (math.isfinite(fps) and fps > 0):
        raise InputError(f"cache has fps {fps}; expected a finite number above 0.")
    with atomic_write(path) as temporary:
        require_room(temporary, 12 * vertices[..., 0].size + 100 * mesh.vertex_count + _HEAD_BYTES)
        _write(temporary, mesh, vertices, fps)


def _write(path: Path, mesh: Mesh, vertices: Float[NumpyArray, "N V 3"], fps: float) -> None:
    purpose = "writing Alembic"
    abc = import_extra("alembic3d.Abc", "alembic", purpose)
    geometry = import_extra("alembic3d.AbcGeom", "alembic", purpose)
    sampling = import_extra("alembic3d.AbcCoreAbstract", "alembic", purpose)
    imath = import_extra("imath", "alembic", purpose)
    archive = abc.OArchive(str(path))
    clock = archive.addTimeSampling(sampling.TimeSampling(1.0 / fps, 0.0))
    surface = geometry.OPolyMesh(
        geometry.OXform(archive.getTop(), "body"), "bodyShape", abc.Argument(clock)
    )
    schema = surface.getSchema()
    faces = authored_faces(mesh)
    corners = imath.IntArrayFromBuffer(_clockwise(faces))
    counts = imath.IntArrayFromBuffer(np.full(len(faces), faces.shape[1], np.int32))
    for index, frame in enumerate(vertices):
        places = imath.V3fArrayFromBuffer(np.ascontiguousarray(frame, np.float32))
        if index:
            schema.set(_moved(geometry, places))
        else:
            texture = _texture(geometry, imath, mesh)
            schema.set(geometry.OPolyMeshSchemaSample(places, corners, counts, texture))


def _moved(geometry: Any, places: Any) -> Any:
    sample = geometry.OPolyMeshSchemaSample()
    sample.setPositions(places)
    return sample


def _texture(geometry: Any, imath: Any, mesh: Mesh) -> Any:
    corner_uv = authored_uv(mesh)
    if mesh.uv is None or corner_uv is None:
        return geometry.OV2fGeomParamSample()
    rows = np.ascontiguousarray(mesh.uv[_clockwise(corner_uv)], np.float32)
    scope = geometry.GeometryScope.kFacevaryingScope
    return geometry.OV2fGeomParamSample(imath.V2fArrayFromBuffer(rows), scope)


def _clockwise(corners: NumpyArray) -> NumpyArray:
    return np.ascontiguousarray(corners[:, ::-1], np.int32).ravel()
