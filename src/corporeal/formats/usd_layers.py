"""Layers as USD (`.usd`, `.usdc`, `.usda`): skin, muscle and bone as three meshes to show or hide.

================== ========================================================================
survives           vertices and their order, triangles, normals; masses as `userProperties` of the
                   root; the colour and opacity of `gltf_layers`
does not           skeleton, weights, which vertices are layered
================== ========================================================================

Metres, y up, stated in the file. Needs the extra `usd`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.layers import Layers
from corporeal.body.mesh import Mesh
from corporeal.formats.gltf_layers import COLOURS
from corporeal.formats.usd import Pxr, add_mesh, export_stage

ROOT = "/layers"


def write_usd_layers(path: str | Path, layers: Layers) -> None:
    """Write the three surfaces, each a mesh of its own below one root."""
    pxr = Pxr()
    stage = pxr.stage(24.0, 1)
    root = pxr.UsdGeom.Xform.Define(stage, ROOT)
    stage.SetDefaultPrim(root.GetPrim())
    for name, colour in COLOURS.items():
        surface = Mesh(np.asarray(getattr(layers, name), np.float64), layers.triangles)
        prim = add_mesh(pxr, stage, f"{ROOT}/{name}", surface, None)
        _paint(pxr, prim, colour)
    if layers.composition is not None:
        for name in ("fat_mass", "muscle_mass"):
            place = root.GetPrim().CreateAttribute(
                f"userProperties:{name}_kg", pxr.Sdf.ValueTypeNames.Double
            )
            place.Set(float(getattr(layers.composition, name)))
    export_stage(stage, path)


def _paint(pxr: Pxr, prim: Any, colour: tuple[float, float, float, float]) -> None:
    """One colour and one opacity for the whole mesh."""
    prim.CreateDisplayColorAttr(pxr.vectors(np.array([colour[:3]])))
    if colour[3] < 1.0:
        prim.CreateDisplayOpacityAttr(pxr.numbers(np.array([colour[3]])))
