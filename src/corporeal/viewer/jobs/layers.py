"""What is inside a person: layers fitted into the body, grown, and the bones among them.

The same files and steps as `corporeal anatomy fit` and `corporeal anatomy grow`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.warp import transfer_bones
from corporeal.assets.anatomy import BoneMesh
from corporeal.body.body import Body
from corporeal.body.layered_body import LayeredBody
from corporeal.body.layers import Layers
from corporeal.formats.layers import read_layers
from corporeal.formats.native import write_body
from corporeal.geometry.surface import triangle_area_vectors
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.pipelines.anatomy import FitConfig, GrowConfig, fit_anatomy, grow_anatomy, masses
from corporeal.pipelines.layered_body import sex_of
from corporeal.viewer.command_line import EVERYWHERE
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.jobs.person import chosen_body
from corporeal.viewer.packets import Packet

_ENOUGH = 1000
"""Vertices of one bone that say which joints move it."""
_UNDER = 0.001
"""Metres between muscle surface and shown bone."""
_SHARP, _LEAST = 3, 0.01
"""Power of mean weights, and the share of the largest below which a joint does not count."""


def layers(
    choice: BodyChoice,
    growth: Mapping[str, float],
    fitted: str,
    is_fitted: bool,
    out: str,
    scan: str | None = None,
) -> Packet:
    """Layers of the chosen body, grown by region (kg), as the file `out`.

    `fitted` is where they are kept before they grow, and whether they lie there already; `scan`
    is the file of a registered person.
    """
    before = Path(fitted)
    if not is_fitted:
        body_file = before.with_name("body.npz")
        body = chosen_body(choice, scan)
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
    arrays: dict[str, NumpyArray] = {"muscle_triangles": inner.astype(np.uint32)}
    bones = transfer_bones(found, layered_template(sex_of(layered.body, found)))
    arrays["rest_joints"] = np.asarray(layered.body.identity.joints, np.float32)
    surface = SurfaceTree(found.muscle, found.triangles)
    for number, bone in enumerate(bones):
        shown = kept_under(bone.vertices, surface, found)
        arrays[f"bone {number} vertices"] = shown.astype(np.float32)
        arrays[f"bone {number} triangles"] = bone.triangles.astype(np.uint32)
    return Packet("inside", fields | {"bones": bone_weights(bones, layered)}, arrays)


def kept_under(
    points: Float64[NumpyArray, "n 3"], surface: SurfaceTree, found: Layers
) -> Float64[NumpyArray, "n 3"]:
    """Points with those that lie over the muscle surface put right under it.

    Detailed bones follow their envelope to a few millimetres; where there is hardly any flesh, a
    rib's edge would look out of the skin.
    """
    nearest, triangle = surface.closest(points)
    normals = triangle_area_vectors(found.muscle, found.triangles)[triangle]
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    over = np.einsum("nc,nc->n", points - nearest, normals) > -_UNDER
    return np.where(over[:, None], nearest - _UNDER * normals, points)


def bone_weights(
    bones: tuple[BoneMesh, ...], layered: LayeredBody
) -> list[list[tuple[int, float]]]:
    """Joints that move every bone, with weights that sum to one.

    They are the mean skin weights of the bone surface around it, to the third power: a long bone
    keeps to its joint, while a rib between two goes between them as the skin over it does.
    """
    weights = layered.body.template.weights.dense()
    tree = KDTree(layered.layers.bone)
    found = []
    for bone in bones:
        some = bone.vertices[:: max(1, len(bone.vertices) // _ENOUGH)]
        _, near = tree.query(some)
        sharp = weights[near].mean(axis=0) ** _SHARP
        sharp[sharp < _LEAST * sharp.max()] = 0.0
        sharp /= sharp.sum()
        found.append([(int(joint), float(sharp[joint])) for joint in np.flatnonzero(sharp)])
    return found
