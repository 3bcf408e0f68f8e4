"""Imports files into Blender and writes the posed vertices: `blender_play.py job.json`.

The job: `fps`, `frames` (numbers of frames from 0), `files` (kind → path), `out` (a folder) and
perhaps `picture` (a path: the second frame, drawn by Cycles).
Runs in a Python that has `bpy`. Vertices are written in Blender's axes: metres, z up.
"""

import json
import os
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

JOB = json.loads(Path(sys.argv[1]).read_text())


def empty_scene() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = round(JOB["fps"])
    bpy.context.scene.render.fps_base = round(JOB["fps"]) / JOB["fps"]


def body() -> bpy.types.Object:
    """The imported surface with most vertices; importers add helper objects."""
    meshes = [item for item in bpy.data.objects if item.type == "MESH"]
    return max(meshes, key=lambda item: len(item.data.vertices))


def posed(item: bpy.types.Object, frame: float) -> np.ndarray:
    whole = int(frame)
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = item.evaluated_get(graph)
    mesh = shown.to_mesh()
    places = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", places)
    matrix = np.array(shown.matrix_world)
    shown.to_mesh_clear()
    return places.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def draw(frame: float, path: str) -> None:
    """The scene from where the other clients look at it."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    camera.data.angle = np.radians(35)
    camera.location = (0.9, -3.1, 1.3)
    aim = Vector((0.0, 0.0, 0.85)) - camera.location
    camera.rotation_euler = aim.to_track_quat("-Z", "Y").to_euler()
    scene.camera = camera
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    scene.collection.objects.link(sun)
    sun.data.energy = 3.0
    sun.rotation_euler = Vector((-1.0, 3.0, -2.0)).to_track_quat("-Z", "Y").to_euler()
    scene.world = bpy.data.worlds.new("world")
    scene.world.color = (0.6, 0.6, 0.6)
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 8
    scene.render.resolution_x = scene.render.resolution_y = 640
    scene.view_settings.view_transform = "Standard"
    scene.frame_set(int(frame))
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)


def add_cache(path: str) -> None:
    """A mesh of the right order, driven by a point cache."""
    rest = np.load(JOB["rest"])
    mesh = bpy.data.meshes.new("body")
    mesh.from_pydata(rest["vertices"].tolist(), [], rest["triangles"].tolist())
    item = bpy.data.objects.new("body", mesh)
    bpy.context.scene.collection.objects.link(item)
    modifier = item.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.interpolation = "NONE"
    modifier.frame_start = 0


IMPORTERS = {
    "glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    "glb_quantized": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    "usd": lambda path: bpy.ops.wm.usd_import(filepath=path),
    "usd_cache": lambda path: bpy.ops.wm.usd_import(filepath=path),
    "fbx": lambda path: bpy.ops.wm.fbx_import(filepath=path),
    "fbx_legacy": lambda path: bpy.ops.import_scene.fbx(filepath=path),
    "abc": lambda path: bpy.ops.wm.alembic_import(filepath=path),
    "pc2": add_cache,
}
SHIFT = {"fbx": 1.0, "fbx_legacy": 1.0}
"""Frames by which an importer moves the take."""

for kind, path in JOB["files"].items():
    empty_scene()
    IMPORTERS[kind](path)
    item = body()
    frames = np.stack([posed(item, frame + SHIFT.get(kind, 0.0)) for frame in JOB["frames"]])
    np.save(Path(JOB["out"]) / f"{kind}.npy", frames)
    if "picture" in JOB:
        draw(JOB["frames"][1] + SHIFT.get(kind, 0.0), JOB["picture"])
    print(kind, frames.shape, flush=True)

sys.stdout.flush()
os._exit(0)  # Blender 4.2 as a module crashes while Python takes itself apart, all work done
