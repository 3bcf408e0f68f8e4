"""What is inside a person: layers fitted into the body, grown, and the bones among them.

The same files and steps as `corporeal anatomy fit` and `corporeal anatomy grow`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from corporeal._typing import Int, NumpyArray
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.warp import transfer_bones
from corporeal.assets.anatomy import BoneMesh
from corporeal.formats.layers import LayeredBody, read_layers
from corporeal.formats.native import Body, write_body
from corporeal.pipelines.anatomy import FitConfig, GrowConfig, fit_anatomy, grow_anatomy, masses
from corporeal.pipelines.layered_body import sex_of
from corporeal.viewer.command_line import EVERYWHERE
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.errands.person import chosen_body
from corporeal.viewer.packets import Packet

_ENOUGH = 4000
"""Vertices of one bone that say which joint moves it."""


def layers(
    choice: BodyChoice, growth: Mapping[str, float], fitted: str, is_fitted: bool, out: str
) -> Packet:
    """Layers of the chosen body, grown by region (kg), as the file `out`.

    `fitted` is where they are kept before they grow, and whether they lie there already.
    """
    before = Path(fitted)
    if not is_fitted:
        body_file = before.with_name("body.npz")
        body = chosen_body(choice, None)
        write_body(body_file, Body(body.template, body.identity, {}))
        fit_anatomy(FitConfig(body=body_file, out=before))
    for region, mass in growth.items():
        regions = () if region == EVERYWHERE else (region,)
        grow_anatomy(GrowConfig(layers=before, out=Path(out), mass=mass, regions=regions))
        before = Path(out)
    return inside_packet(read_layers(before), str(before))


def inside_packet(layered: LayeredBody, path: str) -> Packet:
    """What a page shows of a layers file: masses, muscle surface, bones with their joints."""
    found = layered.layers
    fields: dict[str, Any] = {"masses": masses(layered), "file": path}
    inner = found.triangles[found.layered[found.triangles].all(axis=1)]
    arrays = {"muscle_triangles": inner.astype(np.uint32)}
    bones = transfer_bones(found, layered_template(sex_of(layered.body, found)))
    joints = moving_joints(bones, layered)
    rest = np.asarray(layered.body.identity.joints, np.float64)
    for joint in np.unique(joints):
        mine = [bone for bone, moved in zip(bones, joints, strict=True) if moved == joint]
        starts = np.cumsum([0, *(len(bone.vertices) for bone in mine)])
        vertices = np.concatenate([bone.vertices for bone in mine]) - rest[joint]
        triangles = [bone.triangles + start for bone, start in zip(mine, starts, strict=False)]
        arrays[f"bone {joint} vertices"] = vertices.astype(np.float32)
        arrays[f"bone {joint} triangles"] = np.concatenate(triangles).astype(np.uint32)
    return Packet("inside", fields | {"bones": np.unique(joints).tolist()}, arrays)


def moving_joints(bones: tuple[BoneMesh, ...], layered: LayeredBody) -> Int[NumpyArray, "n"]:
    """The joint that moves every bone: the one with most weight on the bone surface around it."""
    weights = layered.body.template.weights.dense()
    tree = cKDTree(layered.layers.bone)
    joints = []
    for bone in bones:
        some = bone.vertices[:: max(1, len(bone.vertices) // _ENOUGH)]
        _, near = tree.query(some)
        joints.append(int(weights[near].sum(axis=0).argmax()))
    return np.array(joints)
