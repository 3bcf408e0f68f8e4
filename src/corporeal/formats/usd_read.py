"""Reading USD through `usd-core` (the optional extra `usd`): motions, skeletons and surfaces.

=================== ======================================================================
survives            joint tree and names, rotations, the body's way, frame rate; vertices and
                    polygons (as triangles) where the stage places them at rest
does not            weights, blend shapes, materials, further skeletons than the first
unit and axes       stated by the stage, brought to metres and y up
=================== ======================================================================

Only the file itself is opened: a stage that refers to other layers or payloads is read without
them.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError
from corporeal.formats.bvh_units import axis_rotation
from corporeal.formats.named_errors import says_the_file
from corporeal.formats.polygons import fan_triangles
from corporeal.formats.rig_motion import (
    RigFrames,
    RigReading,
    one_tree,
    require_frames,
    rig_motion,
)
from corporeal.formats.usd import Pxr
from corporeal.runtime.input_files import open_input

MAX_BYTES: Final = 1024**3
"""Largest file that is read."""


@says_the_file
def read_usd_motion(path: str | Path, unit: str | float = "auto") -> RigReading:
    """The animation of the first skeleton of a stage; y up."""
    path = Path(path)
    pxr, stage = _stage(path)
    place = _place(pxr, stage)
    query, names, parents, order = _skeleton(path, pxr, stage)
    fps = float(stage.GetTimeCodesPerSecond())
    samples = query.GetAnimQuery().GetJointTransformTimeSamples() if query.GetAnimQuery() else []
    if not samples:
        raise FormatError(f"{path} has a skeleton and no animation of it; expected joint tracks.")
    first, last = float(min(samples)), float(max(samples))
    codes = np.arange(first, last + 0.5) if last - first >= 1 else np.array([first])
    require_frames(path, len(codes), len(order))
    cache = pxr.UsdGeom.XformCache()
    world = np.empty((len(codes), len(order), 4, 4))
    for frame, code in enumerate(codes):
        cache.SetTime(pxr.Usd.TimeCode(float(code)))
        matrices = query.ComputeJointWorldTransforms(cache)
        world[frame] = _matrices(matrices)[order]
    rest = _matrices(query.GetJointWorldBindTransforms())[order]
    if not np.isfinite(np.linalg.det(rest[:, :3, :3])).all() or not np.any(rest[:, :3, 3]):
        rest = world[0]
    frames = RigFrames(names, parents, place @ rest, place @ world, fps)
    return rig_motion(path, frames, unit)


@says_the_file
def read_usd_skeleton(path: str | Path) -> Skeleton:
    """The first skeleton of a stage, as it was bound; metres, y up."""
    path = Path(path)
    pxr, stage = _stage(path)
    query, names, parents, order = _skeleton(path, pxr, stage)
    rest = _place(pxr, stage) @ _matrices(query.GetJointWorldBindTransforms())[order]
    return Skeleton(names, parents, rest[:, :3, 3])


@says_the_file
def read_usd_mesh(path: str | Path) -> Mesh:
    """All surfaces of a stage as one mesh, at rest; metres, y up."""
    path = Path(path)
    pxr, stage = _stage(path)
    place = _place(pxr, stage)
    cache = pxr.UsdGeom.XformCache()
    vertices, triangles, start = [], [], 0
    for prim in stage.Traverse():
        if not prim.IsA(pxr.UsdGeom.Mesh):
            continue
        mesh = pxr.UsdGeom.Mesh(prim)
        points = np.array(mesh.GetPointsAttr().Get() or [], np.float64).reshape(-1, 3)
        sizes = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
        require_finite(f"points of {prim.GetPath()}", points)
        held = not len(corners) or (corners.min() >= 0 and corners.max() < len(points))
        if sizes.sum() != len(corners) or not held:
            raise FormatError(f"{path}: {prim.GetPath()} has faces of vertices that it lacks.")
        world = place @ np.array(cache.GetLocalToWorldTransform(prim)).T
        vertices.append(points @ world[:3, :3].T + world[:3, 3])
        triangles.append(fan_triangles(sizes, corners) + start)
        start += len(points)
    if not vertices:
        raise FormatError(f"{path} holds no surface; expected a mesh. Export it with one.")
    return Mesh(np.concatenate(vertices), np.concatenate(triangles).astype(np.int32))


def _stage(path: Path) -> tuple[Pxr, Any]:
    pxr = Pxr()
    with open_input(path, at_most=MAX_BYTES):  # of a size that can be meant, and no device
        pass
    try:
        layer = pxr.Sdf.Layer.OpenAsAnonymous(str(path))
        stage = pxr.Usd.Stage.Open(layer, load=pxr.Usd.Stage.LoadNone) if layer else None
    except pxr.Tf.ErrorException as error:
        raise FormatError(
            f"{path} cannot be read as USD ({_said(error)}). It is damaged or another kind of "
            f"file; export it again."
        ) from error
    if stage is None:
        raise FormatError(f"{path} cannot be read as USD. It is damaged or another kind of file.")
    return pxr, stage


def _said(error: Exception) -> str:
    """USD's own words, which repeat bytes of the file as they are."""
    try:
        return str(error).strip().splitlines()[0][:200]
    except (UnicodeDecodeError, IndexError):
        return "it is no text"


def _place(pxr: Pxr, stage: Any) -> Float[NumpyArray, "4 4"]:
    """From the stage's unit and axes into metres, y up."""
    matrix = np.eye(4)
    up = "+z" if pxr.UsdGeom.GetStageUpAxis(stage) == pxr.UsdGeom.Tokens.z else "+y"
    metres = float(pxr.UsdGeom.GetStageMetersPerUnit(stage))
    matrix[:3, :3] = metres * axis_rotation(up, "-y" if up == "+z" else "+z")
    return matrix


def _skeleton(
    path: Path, pxr: Pxr, stage: Any
) -> tuple[Any, tuple[str, ...], tuple[int, ...], list[int]]:
    """The query of the first skeleton, its joints' names and parents, and their places in it."""
    cache = pxr.UsdSkel.Cache()
    for prim in stage.Traverse():
        if not prim.IsA(pxr.UsdSkel.Skeleton):
            continue
        root = pxr.UsdSkel.Root.Find(prim)
        if root:
            cache.Populate(root, pxr.Usd.PrimDefaultPredicate)
        query = cache.GetSkelQuery(pxr.UsdSkel.Skeleton(prim))
        topology = query.GetTopology()
        joints = [str(token) for token in query.GetJointOrder()]
        parents = [int(topology.GetParent(joint)) for joint in range(len(joints))]
        order, names, tree = one_tree([joint.split("/")[-1] for joint in joints], parents)
        require_frames(path, 1, len(order))
        return query, names, tree, order
    raise FormatError(f"{path} holds no skeleton; expected a UsdSkel one. Export the rig.")


def _matrices(rows: Any) -> Float[NumpyArray, "n 4 4"]:
    """USD's matrices act on rows; ours on columns."""
    return np.swapaxes(np.array(rows, np.float64).reshape(-1, 4, 4), -1, -2)
