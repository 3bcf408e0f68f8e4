"""Plays an FBX file with ufbx: `ufbx_play.py file.fbx out.npz time …`. Runs as its own process.

ufbx crashes when an evaluated scene is freed: references are kept and the process ends hard.
"""

import os
import sys

import numpy as np
import ufbx

path, out, *times = sys.argv[1:]
scene = ufbx.load_file(path)
kept, frames = [], []
names = [node.name for node in scene.nodes]
for time in map(float, times):
    posed = ufbx.evaluate_scene(scene, scene.anim, time, evaluate_skinning=True)
    kept.append(posed)
    node = next(node for node in posed.nodes if node.name == "body")
    frames.append([tuple(p) for p in node.mesh.skinned_position.values])
np.savez(
    out,
    vertices=np.array(frames),
    metres_a_unit=scene.settings.unit_meters,
    fps=scene.settings.frames_per_second,
    warnings=[str(w.description) for w in scene.metadata.warnings],
    names=names,
)
sys.stdout.flush()
os._exit(0)
