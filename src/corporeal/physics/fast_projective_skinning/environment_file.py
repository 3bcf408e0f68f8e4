"""Environment as a small JSON file: colliders and wind, in SI units, y up, radians.

    {"wind": {"velocity": [3, 0, 0]},
     "colliders": [
       {"shape": "ground"},
       {"shape": "box", "size": [0.5, 0.45, 0.5], "position": [0, 0.225, -0.3]},
       {"shape": "mesh", "file": "chair.obj", "rotation": [0, 1.57, 0], "friction": 0.8},
       {"shape": "sphere", "radius": 0.1, "track": [
         {"time": 0.0, "position": [0, 1, 2]}, {"time": 0.5, "position": [0, 1, 0]}]}]}

================ ==================================================================
shape            what else it needs
================ ==================================================================
`ground`         nothing: all below y = 0 of its place
`box`            `size`, three edges
`sphere`         `radius`
`capsule`        `radius`, and `length` of its axis along y, without the round ends
`mesh`           `file`, any surface that is read here, beside this file
================ ==================================================================

Every collider may have `position`, `rotation` (axis-angle) and `friction`; a moving one has a
`track` of these with times instead, in seconds from the first frame.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import FormatError, InputError
from corporeal.formats.joint_tree import read_text
from corporeal.formats.registry import read_mesh
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.geometry.transforms import transform_from_parts
from corporeal.physics.contact.colliders.box import Box
from corporeal.physics.contact.colliders.capsule import Capsule
from corporeal.physics.contact.colliders.collider import Collider
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.contact.colliders.mesh import MeshSolid
from corporeal.physics.contact.colliders.shape import ColliderShape
from corporeal.physics.contact.colliders.sphere import Sphere
from corporeal.physics.fast_projective_skinning.environment import Environment
from corporeal.physics.wind import Wind

_MOST = 1e6
"""No length, time or factor of a scene is as large."""
_PLACE = {"position", "rotation"}
_SHAPES: dict[str, tuple[set[str], Callable[[Mapping[str, Any], Path], ColliderShape]]] = {
    "ground": (set(), lambda row, folder: Ground()),
    "box": ({"size"}, lambda row, folder: Box(_edges(row))),
    "sphere": ({"radius"}, lambda row, folder: Sphere(_number(row, "radius"))),
    "capsule": (
        {"radius", "length"},
        lambda row, folder: Capsule(_number(row, "radius"), _number(row, "length")),
    ),
    "mesh": ({"file"}, lambda row, folder: MeshSolid(read_mesh(folder / str(row["file"])))),
}


def read_environment(path: str | Path) -> Environment:
    """Colliders and wind of a JSON file."""
    path = Path(path)
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(f"{path} is no JSON ({error}). Correct it.") from error
    try:
        _require_keys("the file", content, {"colliders", "wind"}, set())
        rows = content.get("colliders", [])
        if not isinstance(rows, list):
            raise InputError(f"'colliders' is {rows!r:.40}; expected a list.")
        colliders = tuple(_collider(row, path.parent) for row in rows)
        return Environment(colliders, _wind(content["wind"]) if "wind" in content else None)
    except InputError as error:
        raise FormatError(f"{path}: {error}") from error


def _collider(row: Any, folder: Path) -> Collider:
    kind = row.get("shape") if isinstance(row, dict) else None
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise InputError(f"a collider is {row!r:.60}; expected a shape of {', '.join(_SHAPES)}.")
    needed, make = _SHAPES[kind]
    moving = "track" in row
    allowed = needed | {"shape", "friction"} | ({"track"} if moving else _PLACE)
    _require_keys(f"collider {kind!r}", row, allowed, needed)
    friction = _number(row, "friction") if "friction" in row else 0.5
    if not moving:
        return Collider(make(row, folder), np.zeros(1), _placement(row)[None], friction)
    keys = row["track"]
    if not isinstance(keys, list) or not keys:
        raise InputError(f"the track of {kind!r} is {keys!r:.40}; expected a list of placements.")
    for key in keys:
        _require_keys(f"the track of {kind!r}", key, {"time", *_PLACE}, {"time"})
    times = np.array([_number(key, "time") for key in keys])
    return Collider(make(row, folder), times, np.stack([_placement(key) for key in keys]), friction)


def _wind(row: Any) -> Wind:
    _require_keys("wind", row, {"velocity", "density", "drag"}, {"velocity"})
    density = _number(row, "density") if "density" in row else 1.2
    drag = _number(row, "drag") if "drag" in row else 1.0
    return Wind(_vector(row, "velocity"), density, drag)


def _placement(row: Mapping[str, Any]) -> Float64[NumpyArray, "4 4"]:
    turn = _vector(row, "rotation") if "rotation" in row else np.zeros(3)
    where = _vector(row, "position") if "position" in row else np.zeros(3)
    return transform_from_parts(matrix_from_axis_angle(turn), where)


def _edges(row: Mapping[str, Any]) -> tuple[float, float, float]:
    x, y, z = _vector(row, "size").tolist()
    return x, y, z


def _vector(row: Mapping[str, Any], name: str) -> Float64[NumpyArray, "3"]:
    value = row[name]
    if not isinstance(value, list) or len(value) != 3 or not all(_is_number(v) for v in value):
        raise InputError(f"{name!r} is {value!r:.60}; expected three numbers.")
    return np.array(value, np.float64)


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row[name]
    if not _is_number(value):
        raise InputError(f"{name!r} is {value!r:.60}; expected a number.")
    return float(value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _MOST


def _require_keys(what: str, row: Any, allowed: set[str], needed: set[str]) -> None:
    if not isinstance(row, dict) or set(row) - allowed or needed - set(row):
        found = sorted(row) if isinstance(row, dict) else type(row).__name__
        must = f", {', '.join(sorted(needed))} among them" if needed else ""
        raise InputError(
            f"{what} holds {found!s:.80}; expected {', '.join(sorted(allowed))}{must}."
        )
