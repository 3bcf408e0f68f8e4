"""Where anchors crowd each other, kept from one process to the next.

Finding it takes static balances of the template's body in every extreme pose, half of the time in
which flesh is prepared, and tells nothing of the person. It is kept in the user's cache folder
under a key of all that it is made of, the code included.
"""

from functools import cache
from pathlib import Path

import numpy as np

from corporeal import body, geometry, numerics, physics, skinning
from corporeal._typing import Bool, NumpyArray
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.physics.contact.extreme_poses import extreme_poses
from corporeal.physics.fast_projective_skinning import extreme_shapes
from corporeal.physics.volumetric_mesh.simulation_mesh import SimulationMesh
from corporeal.runtime.user_cache import content_key, keep, kept

NAME = "anchors"
"""Kind of thing in the cache."""
_NOWHERE = b"most"
"""What is kept where anchors crowd each other almost everywhere, so that it tells nothing."""


def crowding_key(template: Template, maps: TissueMaps, coarse: SimulationMesh, pose: str) -> str:
    """Name of what is found for one template, its coarse surface and maps; `pose` in which flesh is
    free of stress."""
    repose = template.repose
    arrays = [
        template.mesh.vertices,
        template.mesh.triangles,
        template.skeleton.joints,
        np.asarray(template.skeleton.parents),
        template.weights.values,
        template.weights.joint_indices,
        template.part_labels,
        coarse.vertex_indices,
        coarse.triangles,
        *extreme_poses(template.skeleton),
        *(given for given in (maps.stiffness, maps.mass) if given is not None),
        *(() if repose is None else (repose.bone_weights, repose.joint_bones, repose.rotations)),
    ]
    limits = (extreme_shapes.CROWDED, extreme_shapes.MOST_CROWDED, extreme_shapes.RINGS)
    names = (template.skeleton.names, template.part_names, maps.stiffness is None, pose, limits)
    contents = [np.ascontiguousarray(array).tobytes() for array in arrays]
    return content_key(_code_key(), repr(names).encode(), *contents)


def kept_crowding(key: str, count: int) -> tuple[Bool[NumpyArray, "V"] | None] | None:
    """What was found before, of `count` skin vertices; None where nothing is kept."""
    content = kept(NAME, key)
    if content == _NOWHERE:
        return (None,)
    if content is None or len(content) != (count + 7) // 8:
        return None
    return (np.unpackbits(np.frombuffer(content, np.uint8), count=count).astype(bool),)


def keep_crowding(key: str, crowded: Bool[NumpyArray, "V"] | None) -> None:
    """Keep what was found."""
    keep(NAME, key, _NOWHERE if crowded is None else np.packbits(crowded).tobytes())


@cache
def _code_key() -> bytes:
    """Which code finds it: everything that flesh is made by."""
    files: list[Path] = []
    for package in (body, geometry, numerics, physics, skinning):
        for folder in package.__path__:
            files += sorted(Path(folder).rglob("*.py"))
    return content_key(*(file.read_bytes() for file in files)).encode()
