"""Layered templates as files (`.npz`), for those that were made from an atlas of one's own.

====================== ====== ===========================================================
array                  shape  unit, meaning
====================== ====== ===========================================================
`format`               text   `corporeal-anatomy-template`
`sex`                  text   `female` or `male`
`muscle`, `bone`       (V,3)  metres, in the default body's zero pose; its skin is not stored
`muscle_thickness`     (V,)   metres
`bones/…`, `muscles/…` –      detailed meshes one after the other: `names`, `vertices` (metres),
                              `triangles` (each counted from its custom mesh's first vertex),
                              `vertex_ends`, `triangle_ends`
====================== ====== ===========================================================
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.anatomy.template import LayeredTemplate, layered_template
from corporeal.assets.anatomy import BoneMesh
from corporeal.errors import FormatError
from corporeal.formats.native import head_arrays, require_format
from corporeal.formats.npz import NpzReader, open_npz, write_npz

TEMPLATE = "corporeal-anatomy-template"


def write_template(path: str | Path, template: LayeredTemplate) -> None:
    """Write a layered template."""
    arrays = head_arrays(TEMPLATE) | {
        "sex": np.asarray(template.sex),
        "muscle": template.muscle,
        "bone": template.bone,
        "muscle_thickness": template.muscle_thickness,
    }
    for kind in ("bones", "muscles"):
        arrays |= _mesh_arrays(kind, getattr(template, kind))
    write_npz(path, arrays)


def read_template(path: str | Path) -> LayeredTemplate:
    """Read a layered template; `FormatError` for one of another body."""
    with open_npz(path) as file:
        require_format(file, TEMPLATE)
        shipped = layered_template(file.text("sex"))
        count = len(shipped.skin)
        found = {name: file.array(name, "f", ("V", 3)) for name in ("muscle", "bone")}
        if any(len(surface) != count for surface in found.values()):
            raise FormatError(
                f"{path} has {len(found['bone'])} vertices; expected the default body's {count}."
            )
        return replace(
            shipped,
            muscle=found["muscle"].astype(np.float64),
            bone=found["bone"].astype(np.float64),
            muscle_thickness=file.array("muscle_thickness", "f", (count,)).astype(np.float64),
            bones=_meshes(file, "bones"),
            muscles=_meshes(file, "muscles"),
        )


def _mesh_arrays(kind: str, meshes: tuple[BoneMesh, ...]) -> dict[str, NumpyArray]:
    if not meshes:
        return {}
    return {
        f"{kind}/names": np.array([mesh.name for mesh in meshes]),
        f"{kind}/vertices": np.concatenate([mesh.vertices for mesh in meshes]),
        f"{kind}/triangles": np.concatenate([mesh.triangles for mesh in meshes]),
        f"{kind}/vertex_ends": np.cumsum([len(mesh.vertices) for mesh in meshes]),
        f"{kind}/triangle_ends": np.cumsum([len(mesh.triangles) for mesh in meshes]),
    }


def _meshes(file: NpzReader, kind: str) -> tuple[BoneMesh, ...]:
    if f"{kind}/names" not in file.headers:
        return ()
    names = file.array(f"{kind}/names", "U", (f"{kind} n",))
    vertices = file.array(f"{kind}/vertices", "f", (f"{kind} v", 3)).astype(np.float64)
    triangles = file.array(f"{kind}/triangles", "i", (f"{kind} f", 3)).astype(np.int64)
    ends = [
        file.array(f"{kind}/{end}", "i", (f"{kind} n",)) for end in ("vertex_ends", "triangle_ends")
    ]
    places, corners = np.split(vertices, ends[0][:-1]), np.split(triangles, ends[1][:-1])
    return tuple(
        BoneMesh(str(name), v, f) for name, v, f in zip(names, places, corners, strict=True)
    )
