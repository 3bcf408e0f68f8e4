"""Layers as glTF 2.0 (`.glb`): skin, muscle and bone as three nodes to show or hide.

Survives: vertex order, triangles, normals, metres. Lost: skeleton, weights, which vertices are
layered; the masses go into the scene's `extras`. The skin is translucent.
"""

from pathlib import Path

import numpy as np

from corporeal.body.layers import Layers
from corporeal.formats.glb import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, GlbDocument
from corporeal.geometry.surface import vertex_normals

COLOURS: dict[str, tuple[float, float, float, float]] = {
    "bone": (0.80, 0.75, 0.62, 1.0),
    "muscle": (0.45, 0.07, 0.05, 1.0),
    "skin": (0.61, 0.36, 0.26, 0.35),
}
"""Linear RGB and opacity, from inside out."""


def write_glb_layers(path: str | Path, layers: Layers) -> None:
    """Write the three surfaces, each a node of its own."""
    document = GlbDocument()
    corners = layers.triangles.astype(np.uint32).reshape(-1)
    indices = document.add_accessor(corners, "SCALAR", target=ELEMENT_ARRAY_BUFFER)
    nodes = [_add_layer(document, layers, name, indices) for name in COLOURS]
    scene: dict[str, object] = {"nodes": nodes}
    if layers.composition is not None:
        held = layers.composition
        scene["extras"] = {"fat_mass_kg": held.fat_mass, "muscle_mass_kg": held.muscle_mass}
    document.add("scenes", scene)
    document.write(path)


def _add_layer(document: GlbDocument, layers: Layers, name: str, indices: int) -> int:
    places = np.asarray(getattr(layers, name), np.float64)
    normals = vertex_normals(places, layers.triangles)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(lengths > 0, normals / np.where(lengths > 0, lengths, 1), [0.0, 1.0, 0.0])
    colour = COLOURS[name]
    material = document.add(
        "materials",
        {
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorFactor": list(colour),
                "metallicFactor": 0.0,
                "roughnessFactor": 0.6,
            },
            "alphaMode": "OPAQUE" if colour[3] == 1.0 else "BLEND",
        },
    )
    attributes = {
        "POSITION": document.add_accessor(
            places.astype(np.float32), "VEC3", target=ARRAY_BUFFER, bounds=True
        ),
        "NORMAL": document.add_accessor(normals.astype(np.float32), "VEC3", target=ARRAY_BUFFER),
    }
    primitive = {"attributes": attributes, "indices": indices, "material": material}
    mesh = document.add("meshes", {"name": name, "primitives": [primitive]})
    return document.add("nodes", {"name": name, "mesh": mesh})
