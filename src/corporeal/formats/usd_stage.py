"""What a USD stage holds, by `usd-core`, as arrays; called in a process of its own (`apart`).

Only the file itself is opened: a stage that refers to other layers or payloads is read without
them. Places come in metres, y up.
"""

from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import FormatError
from corporeal.formats.bvh_units import axis_rotation
from corporeal.formats.named_errors import says_the_file
from corporeal.formats.polygons import fan_triangles
from corporeal.formats.rig_motion import one_tree, require_frames
from corporeal.formats.usd import Pxr

# Before the process is limited: what an import takes is not the file's.
pxr = Pxr()


@says_the_file
def read_motion(path: str | Path) -> dict[str, NumpyArray]:
    """The first skeleton's `names`, `parents`, `rest` (J, 4, 4), `world` (N, J, 4, 4) and `fps`."""
    stage = _stage(Path(path))
    place = _place(stage)
    query, names, parents, order = _skeleton(Path(path), stage)
    samples = query.GetAnimQuery().GetJointTransformTimeSamples() if query.GetAnimQuery() else []
    if not samples:
        raise FormatError(f"{path} has a skeleton and no animation of it; expected joint tracks.")
    first, last = float(min(samples)), float(max(samples))
    if not np.isfinite(last - first):
        raise FormatError(f"{path} has joint tracks that never end. It is damaged.")
    require_frames(Path(path), int(last - first) + 1, len(order))
    codes = np.arange(first, last + 0.5) if last - first >= 1 else np.array([first])
    cache = pxr.UsdGeom.XformCache()
    world = np.empty((len(codes), len(order), 4, 4))
    for frame, code in enumerate(codes):
        cache.SetTime(pxr.Usd.TimeCode(float(code)))
        matrices = query.ComputeJointWorldTransforms(cache)
        world[frame] = _matrices(matrices)[order]
    rest = _matrices(query.GetJointWorldBindTransforms())[order]
    if not np.isfinite(np.linalg.det(rest[:, :3, :3])).all() or not np.any(rest[:, :3, 3]):
        rest = world[0]
    return {
        "names": np.array(names, np.str_),
        "parents": np.array(parents),
        "rest": place @ rest,
        "world": place @ world,
        "fps": np.array(float(stage.GetTimeCodesPerSecond())),
    }


@says_the_file
def read_skeleton(path: str | Path) -> dict[str, NumpyArray]:
    """`names`, `parents` and `joints` (J, 3) of the first skeleton, as it was bound."""
    stage = _stage(Path(path))
    query, names, parents, order = _skeleton(Path(path), stage)
    rest = _place(stage) @ _matrices(query.GetJointWorldBindTransforms())[order]
    return {
        "names": np.array(names, np.str_),
        "parents": np.array(parents),
        "joints": rest[:, :3, 3],
    }


@says_the_file
def read_mesh(path: str | Path) -> dict[str, NumpyArray]:
    """`vertices` and `triangles` of all surfaces, at rest."""
    stage = _stage(Path(path))
    place = _place(stage)
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
    return {"vertices": np.concatenate(vertices), "triangles": np.concatenate(triangles)}


def _stage(path: Path) -> Any:
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
    return stage


def _said(error: Exception) -> str:
    """USD's own words, without its places in its sources; they repeat bytes as they are."""
    try:
        line = str(error).strip().splitlines()[0]
    except (UnicodeDecodeError, IndexError):
        return "it is no text"
    return line.rpartition(" : ")[2].strip("' ")[:200]


def _place(stage: Any) -> Float[NumpyArray, "4 4"]:
    """From the stage's unit and axes into metres, y up."""
    matrix = np.eye(4)
    up = "+z" if pxr.UsdGeom.GetStageUpAxis(stage) == pxr.UsdGeom.Tokens.z else "+y"
    metres = float(pxr.UsdGeom.GetStageMetersPerUnit(stage))
    matrix[:3, :3] = metres * axis_rotation(up, "-y" if up == "+z" else "+z")
    return matrix


def _skeleton(path: Path, stage: Any) -> tuple[Any, tuple[str, ...], tuple[int, ...], list[int]]:
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
