"""Reading glTF 2.0 (`.glb`): surfaces, and skinned characters with morphs and animation.

================== ========================================================================
survives           vertices and their order, triangles, texture coordinates, vertex colours,
                   skeleton, four weights a vertex, joint animation, morph targets with normals
                   and animated weights, rigid parts under a joint; seams that our writer opened
                   are closed
does not           quads (files have triangles), part labels, mirror map, materials, cameras,
                   lights, further weights; joints that stretch or scale are refused
================== ========================================================================

Metres, y up: glTF's own. A file is hostile until parsed: see `glb_read`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from corporeal.body.character import Character
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError, InputError
from corporeal.formats.gltf_rig import rig_character
from corporeal.formats.gltf_scene import GltfScene, read_gltf_scene
from corporeal.formats.gltf_surface import join_surface
from corporeal.formats.gltf_tracks import world_matrices

_MAX_SHOWN = 10_000_000
"""Vertices and triangles of all nodes together, however few meshes they share."""


def read_glb_mesh(path: str | Path) -> Mesh:
    """All surfaces of a file as one mesh, one after the other, where the nodes place them."""
    scene = read_gltf_scene(path)
    with _refusals_named(path):
        parts = _placed_surfaces(scene)
        if not parts:
            raise FormatError("it holds no surface; expected a node with a mesh")
        counts = np.array([part.vertex_count for part in parts])
        triangles = [
            part.triangles + start
            for part, start in zip(parts, np.cumsum(counts) - counts, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        vertices = np.concatenate([np.asarray(part.vertices) for part in parts])
        return Mesh(vertices, np.concatenate(triangles).astype(np.int32))


def read_glb_character(
    path: str | Path, *, animation: int = 0, fps: float | None = None
) -> Character:
    """The first skinned surface of a file, with one of its animations (at rest, if it has none).

    `fps` resamples; without it the file's own keys are kept where they are steady, else the take
    is sampled at 30 frames a second.
    """
    if fps is not None and not (np.isfinite(fps) and fps > 0):
        raise InputError(f"fps is {fps}; expected a finite number above 0.")
    scene = read_gltf_scene(path)
    with _refusals_named(path):
        skinned = [
            index
            for index, node in enumerate(scene.nodes)
            if node.skin is not None and node.mesh is not None
        ]
        if not skinned:
            raise FormatError("it holds no skinned surface; read it as a mesh")
        if scene.animations and not 0 <= animation < len(scene.animations):
            raise InputError(
                f"it has {len(scene.animations)} animations; number {animation} was asked for"
            )
        name, tracks = scene.animations[animation] if scene.animations else ("rest", ())
        noted = scene.frame_rates[animation] if scene.frame_rates else None
        return rig_character(scene, skinned[0], name, tracks, fps, noted)


def _placed_surfaces(scene: GltfScene) -> list[Mesh]:
    shown = [index for index, node in enumerate(scene.nodes) if node.mesh is not None]
    sizes = [sum(len(p.vertices) + len(p.triangles) for p in m.primitives) for m in scene.meshes]
    total = sum(sizes[scene.nodes[index].mesh or 0] for index in shown)
    if total > _MAX_SHOWN:
        raise FormatError(
            f"its nodes show {total} vertices and triangles; at most {_MAX_SHOWN} are read"
        )
    worlds = world_matrices(scene, (), shown, np.zeros(1))
    joined = {
        m: join_surface(scene.meshes[m]).mesh
        for m in {scene.nodes[i].mesh for i in shown}
        if m is not None
    }
    parts: list[Mesh] = []
    for index in shown:
        node = scene.nodes[index]
        mesh = joined[node.mesh or 0]
        # glTF: a skinned node's own place does not matter
        world = np.eye(4) if node.skin is not None else worlds[index][0]
        places = np.asarray(mesh.vertices) @ world[:3, :3].T + world[:3, 3]
        parts.append(Mesh(places, mesh.triangles, uv=mesh.uv, uv_triangles=mesh.uv_triangles))
    return parts


@contextmanager
def _refusals_named(path: str | Path) -> Iterator[None]:
    """Name the file in everything that is refused while its content is put together."""
    try:
        with np.errstate(all="ignore"):  # the nouns refuse what overflows
            yield
    except InputError as error:
        raise FormatError(f"{path}: {str(error).rstrip('.')}.") from error
