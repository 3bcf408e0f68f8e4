"""Runs the corrective script in Blender: `blender_correctives.py job.json`.

The job: `script`, `fps`, `frames`, `files` (kind → path), `straighten` (a joint) and `out` (a
folder). Writes the posed vertices before and after the script is run, and of the last frame after
the joint has been straightened by hand, in Blender's axes: metres, z up.
"""

import json
import runpy
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

JOB = json.loads(Path(sys.argv[1]).read_text())
IMPORTERS = {
    "glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    "fbx": lambda path: bpy.ops.wm.fbx_import(filepath=path),
    "fbx_legacy": lambda path: bpy.ops.import_scene.fbx(filepath=path),
}
SHIFT = {"fbx": 1, "fbx_legacy": 1}


def posed(item: bpy.types.Object, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    return shown_now(item)


def straightened(item: bpy.types.Object) -> np.ndarray:
    """Pose by hand, without a change of frame: the pose is evaluated, then the new weights."""
    item.find_armature().pose.bones[JOB["straighten"]].matrix_basis = Matrix()
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    return shown_now(item)


def shown_now(item: bpy.types.Object) -> np.ndarray:
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    places = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", places)
    matrix = np.array(shown.matrix_world)
    shown.to_mesh_clear()
    return places.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


for kind, path in JOB["files"].items():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = round(JOB["fps"])
    IMPORTERS[kind](path)
    keyed = [o for o in bpy.data.objects if o.type == "MESH" and o.data.shape_keys]
    frames = [frame + SHIFT.get(kind, 0) for frame in JOB["frames"]]
    np.save(Path(JOB["out"]) / f"{kind}_before.npy", [posed(keyed[0], f) for f in frames])
    script = runpy.run_path(JOB["script"], run_name="__main__")
    np.save(Path(JOB["out"]) / f"{kind}_after.npy", [posed(keyed[0], f) for f in frames])
    np.save(Path(JOB["out"]) / f"{kind}_hand.npy", straightened(keyed[0])[None])
    script["unregister"]()  # its handlers would live on in the next scene
    print(kind, flush=True)
