"""Layers files (`.npz`): skin, muscle and bone of one body, which also serve as its body file.

====================== ====== ===========================================================
array                  shape  unit, meaning
====================== ====== ===========================================================
`format`               text   `corporeal-layers`
`skin`                 (V,3)  metres, zero pose; the same as `rest_vertices`
`muscle`, `bone`       (V,3)  metres, zero pose
`faces`                (F,3)  triangles of all three
`layered`              (V,)   1 where the surfaces are apart
`composition/…`        ()     `fat_mass` and `muscle_mass`, kg; absent if nobody weighed them
`metadata/<name>`      ()     number or text: sex, stature (m), masses (kg), residuals
everything of a body   –      see `native`
====================== ====== ===========================================================

Everything survives the round trip.
"""

from pathlib import Path

import numpy as np

from corporeal.body.composition import Composition
from corporeal.body.layered_body import LayeredBody
from corporeal.body.layers import Layers
from corporeal.errors import InputError
from corporeal.formats.native import (
    LAYERS,
    body_arrays,
    body_from,
    head_arrays,
    require_format,
)
from corporeal.formats.npz import NpzReader, open_npz, write_npz


def write_layers(path: str | Path, layered: LayeredBody) -> None:
    """Write a layers file."""
    layers, skin = layered.layers, np.asarray(layered.body.identity.rest_vertices)
    if skin.shape != layers.skin.shape or np.abs(skin - layers.skin).max(initial=0.0) > 1e-5:
        raise InputError(
            f"layers with {len(layers.skin)} vertices do not have the body's skin "
            f"({len(skin)} vertices); write them with the body they were fitted to."
        )
    arrays = head_arrays(LAYERS) | body_arrays(layered.body)
    arrays |= {
        "skin": layers.skin,
        "muscle": layers.muscle,
        "bone": layers.bone,
        "layered": layers.layered.astype(np.uint8),
    }
    if layers.composition is not None:
        arrays["composition/fat_mass"] = np.asarray(layers.composition.fat_mass, np.float64)
        arrays["composition/muscle_mass"] = np.asarray(layers.composition.muscle_mass, np.float64)
    for name, value in (layers.metadata or {}).items():
        arrays[f"metadata/{name}"] = np.asarray(value)
    write_npz(path, arrays)


def read_layers(path: str | Path) -> LayeredBody:
    """Read a layers file."""
    with open_npz(path) as file:
        require_format(file, LAYERS)
        body = body_from(file)
        surfaces = [file.array(name, "f", ("V", 3)) for name in ("skin", "muscle", "bone")]
        layers = Layers(
            *(surface.astype(np.float64) for surface in surfaces),
            triangles=body.template.mesh.triangles,
            layered=file.array("layered", "i", ("V",)).astype(bool),
            composition=_composition(file),
            metadata=_metadata(file),
        )
        return LayeredBody(body, layers)


def _composition(file: NpzReader) -> Composition | None:
    if "composition/fat_mass" not in file.headers:
        return None
    masses = [file.array(f"composition/{k}", "f", ()) for k in ("fat_mass", "muscle_mass")]
    return Composition(*map(float, masses))


def _metadata(file: NpzReader) -> dict[str, float | str]:
    metadata: dict[str, float | str] = {}
    for name in file.names("metadata/"):
        is_text = file.headers[name].dtype.kind == "U"
        value = file.text(name) if is_text else float(file.array(name, "f", ()))
        metadata[name.removeprefix("metadata/")] = value
    return metadata
