"""A mesh and a skeleton of the user's own become a body: seams, loose parts, skin weights.

A deformer moves the *skin*: the connected parts that hold the skeleton, with open seams closed.
All else (eyes, teeth, clothes) follows it. Vertices keep the order and number that the file has.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.mesh_units import place_mesh, place_skeleton
from corporeal.formats.registry import read_mesh
from corporeal.formats.skeletons import SkeletonReading, read_skeleton
from corporeal.geometry.components import closed_seams, connected_parts
from corporeal.geometry.orientation import turned_over
from corporeal.geometry.surface import triangle_areas
from corporeal.pipelines.custom_weights import (
    coarse_skin,
    rig_of,
    weights_for_skin,
    weights_of_rig,
)
from corporeal.pipelines.options import MeshOptions
from corporeal.skinning.followers import Follower, bind_follower

Component = Literal["auto", "largest", "all"]
"""Connected parts that are flesh: those that hold the skeleton, the largest, or all."""

_PARTS = ("skin",)
"""Part names of custom meshes, which tell them from other bodies in a file."""
_LEAST_AREA = 0.01
"""Smaller parts, as a share of the whole surface, hold no skeleton."""
_SMALL = 0.08
"""Loose parts smaller than this share of the mesh's size stay rigid."""
_LEAST_INSIDE = 0.3
"""Share of the joints that must lie inside the skin."""
_ONE_PLACE = 1e-4
"""Joints this close together, as a share of the skeleton's size, are in one place."""


@dataclass(frozen=True)
class CustomBody:
    """A body from files, and the skin in it that a deformer moves."""

    body: Body
    """All of the mesh."""
    skin: Body
    """What a deformer moves."""
    skin_vertices: Int[NumpyArray, "V"]
    """Skin vertex that every vertex is; −1 for loose parts."""
    follower: Follower | None
    """What carries the loose parts."""
    notes: tuple[str, ...]
    """What was closed, left loose or guessed, in words."""

    def to_skin(self, values: Float[NumpyArray, "V"]) -> Float[NumpyArray, "n"]:
        """Values a vertex of the mesh as values a vertex of the skin."""
        skin = np.ones(self.skin.template.mesh.vertex_count)
        held = self.skin_vertices >= 0
        skin[self.skin_vertices[held]] = values[held]
        return skin

    def whole(self, animation: Animation) -> Animation:
        """The animation of all of the mesh, from that of its skin."""
        skin = np.asarray(animation.vertices)
        vertices = skin[:, np.maximum(self.skin_vertices, 0)]
        if self.follower is not None:
            vertices[:, self.skin_vertices < 0] = self.follower.follow(skin)
        return Animation(
            animation.deformer,
            self.body.template,
            self.body.identity,
            animation.motion,
            vertices,
            animation.world_from_joint,
            notes=animation.notes,
        )


def load_custom_body(options: MeshOptions) -> CustomBody:
    """Read a mesh and a skeleton, and make a body of them."""
    mesh_path, skeleton_path = _paths(options)
    rig = rig_of(mesh_path) if mesh_path == skeleton_path else None
    return placed_custom_body(read_mesh(mesh_path), read_skeleton(skeleton_path), options, rig)


def placed_custom_body(
    mesh: Mesh, skeleton: SkeletonReading, options: MeshOptions, rig: Template | None = None
) -> CustomBody:
    """A body of a mesh and a skeleton, brought to metres, y up, facing +z as `options` say.

    `rig` is the skin that the file itself has on its skeleton; its weights are kept.
    """
    mesh, metres, notes = place_mesh(mesh, options.mesh_unit, options.mesh_up, options.mesh_front)
    placed, more = place_skeleton(mesh, skeleton, metres, options.mesh_up, options.mesh_front)
    skinned = None
    if rig is not None:
        surface = place_mesh(rig.mesh, str(metres), options.mesh_up, options.mesh_front)[0]
        skinned = replace(rig, mesh=surface)
    own = custom_body(mesh, placed, options.component, skinned)
    return replace(own, notes=(*notes, *more, *own.notes))


def custom_body_again(body: Body, component: Component) -> CustomBody | None:
    """The custom mesh in a body file; None for other bodies."""
    if body.template.part_names != _PARTS:
        return None
    mesh = replace(body.template.mesh, vertices=body.identity.rest_vertices)
    return custom_body(
        mesh, replace(body.template.skeleton, joints=body.identity.joints), component
    )


def _paths(options: MeshOptions) -> tuple[Path, Path]:
    if options.mesh is None:
        raise InputError("--skeleton came without --mesh; expected both, or a --body.")
    if options.skeleton is not None:
        return options.mesh, options.skeleton
    if options.mesh.suffix.lower() in (".glb", ".fbx", ".usd", ".usda", ".usdc"):
        return options.mesh, options.mesh
    raise InputError(
        f"{options.mesh} came without --skeleton; expected a .skel, .json, .glb or .bvh. For a "
        f"human surface, corporeal skeleton {options.mesh} --out {options.mesh.stem}.skel makes "
        f"one."
    )


def custom_body(
    mesh: Mesh, skeleton: Skeleton, component: Component = "auto", rig: Template | None = None
) -> CustomBody:
    """A body of a mesh and a skeleton, both in metres; `rig` has skin weights of the same."""
    vertices = np.asarray(mesh.vertices, np.float64)
    stand_in = closed_seams(vertices, np.asarray(mesh.triangles))
    triangles, turned = _outwards(vertices, stand_in[np.asarray(mesh.triangles)])
    parts = connected_parts(triangles, len(vertices))[stand_in]
    flesh = _flesh_parts(vertices, triangles, parts, skeleton, component)
    is_skin = flesh[parts]
    is_skin &= np.isin(stand_in, np.unique(triangles))  # vertices of no triangle are loose
    kept = np.unique(stand_in[is_skin])
    place = np.full(len(vertices), -1)
    place[kept] = np.arange(len(kept))
    skin_vertices = np.where(is_skin, place[stand_in], -1)
    faces = place[triangles[flesh[parts[triangles[:, 0]]]]]
    faces = faces[_is_proper(faces)]
    skin_mesh = Mesh(vertices[kept], faces)
    coarse = coarse_skin(skin_mesh)
    notes = _require_inside(coarse.surface(vertices[kept]), skeleton) + _coincident(skeleton)
    weights = None if rig is None else weights_of_rig(skin_mesh, skeleton, rig)
    if weights is None:
        weights = weights_for_skin(skin_mesh, skeleton, coarse)
    else:
        notes = (*notes, "the file's own skin weights are kept")
    follower = _follower(vertices, parts, is_skin, skin_mesh)
    whole_weights = _whole_weights(weights, skin_vertices, follower)
    if turned:
        notes = (
            *notes,
            f"{turned} of {len(triangles)} triangles look inwards; taken the other way",
        )
    closed = int((stand_in != np.arange(len(vertices))).sum())
    if closed:
        notes = (*notes, f"{closed} vertices on open seams move with others in the same place")
    return CustomBody(
        _body(mesh, skeleton, whole_weights),
        _body(skin_mesh, skeleton, weights),
        skin_vertices,
        follower,
        (*notes, *_loose_notes(parts, is_skin)),
    )


def _outwards(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> tuple[Int[NumpyArray, "F 3"], int]:
    """The triangles with those reversed that look inwards, and how many these are."""
    turned = turned_over(vertices, triangles)
    return np.where(turned[:, None], triangles[:, ::-1], triangles), int(turned.sum())


def _flesh_parts(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    parts: Int[NumpyArray, "V"],
    skeleton: Skeleton,
    component: Component,
) -> Bool[NumpyArray, "p"]:
    """Which connected parts are flesh.

    By default the largest, and every further one that bones run through where no larger one is.
    """
    count = int(parts.max()) + 1
    owner = parts[triangles[:, 0]]
    area = np.bincount(owner, triangle_areas(vertices, triangles), count)
    if component == "all":
        return area > 0
    order = np.argsort(-area, kind="stable")
    flesh = np.zeros(count, bool)
    flesh[order[0]] = True
    if component == "largest":
        return flesh
    free = _bone_points(skeleton)
    large = order[area[order] >= _LEAST_AREA * area.sum()]
    if len(large) == 1:
        return flesh
    for part in large:
        faces = triangles[owner == part]
        inside = _inside(free, Mesh(vertices, faces))
        if flesh[part] or inside.sum() >= 2:
            flesh[part] = True
            free = free[~inside]
        if len(free) < 2:
            break
    return flesh


def _bone_points(skeleton: Skeleton) -> Float[NumpyArray, "n 3"]:
    """Points along all bones, five a bone."""
    joints = np.asarray(skeleton.joints, np.float64)
    if len(joints) == 1:
        return joints
    start, end = joints[list(skeleton.parents[1:])], joints[1:]
    shares = np.linspace(0.0, 1.0, 5)[:, None, None]
    return (start + shares * (end - start)).reshape(-1, 3)


def _inside(points: Float[NumpyArray, "n 3"], surface: Mesh) -> Bool[NumpyArray, "n"]:
    from corporeal.geometry.surface_tree import SurfaceTree

    winding = SurfaceTree(np.asarray(surface.vertices), surface.triangles).winding(points)
    return np.abs(winding) > 0.5  # a surface may be inside out


def _require_inside(skin: Mesh, skeleton: Skeleton) -> tuple[str, ...]:
    inside = _inside(np.asarray(skeleton.joints, np.float64), skin)
    outside = [name for name, held in zip(skeleton.names, inside, strict=True) if not held]
    text = f"{len(outside)} of {len(inside)} joints lie outside the skin"
    some = f"({', '.join(outside[:4])}{', …' if len(outside) > 4 else ''})"
    if inside.mean() < _LEAST_INSIDE:
        raise InputError(
            f"{text} {some}; expected most of them inside. Check the skeleton's unit, axes and "
            f"place, or fit one with corporeal skeleton."
        )
    return (f"{text} {some}",) if outside else ()


def _coincident(skeleton: Skeleton) -> tuple[str, ...]:
    """Which joints lie where their parent lies, in words: the bone between has no direction."""
    joints = np.asarray(skeleton.joints, np.float64)
    above = np.asarray(skeleton.parents[1:], np.int64)
    near = _ONE_PLACE * float(np.ptp(joints, axis=0).max())
    short = np.flatnonzero(np.linalg.norm(joints[1:] - joints[above], axis=1) <= near)
    names = skeleton.names
    pairs = [f"{names[above[bone]]} and {names[bone + 1]}" for bone in short]
    some = f"{'; '.join(pairs[:4])}{'; …' if len(pairs) > 4 else ''}"
    return (f"{some} lie in one place: a bone without length",) if pairs else ()


def _is_proper(faces: Int[NumpyArray, "F 3"]) -> Bool[NumpyArray, "F"]:
    a, b, c = faces.T
    return (a != b) & (b != c) & (c != a)


def _follower(
    vertices: Float[NumpyArray, "V 3"],
    parts: Int[NumpyArray, "V"],
    is_skin: Bool[NumpyArray, "V"],
    skin: Mesh,
) -> Follower | None:
    loose = np.flatnonzero(~is_skin)
    if len(loose) == 0:
        return None
    size = float(np.ptp(vertices, axis=0).max())
    numbers, group = np.unique(parts[loose], return_inverse=True)
    group = group.reshape(-1)
    low, high = np.full((len(numbers), 3), np.inf), np.full((len(numbers), 3), -np.inf)
    np.minimum.at(low, group, vertices[loose])
    np.maximum.at(high, group, vertices[loose])
    rigid = (high - low).max(axis=1) < _SMALL * size
    rigid &= np.bincount(group) > 2
    number = np.where(rigid, np.cumsum(rigid) - 1, -1)
    return bind_follower(vertices[loose], number[group], np.asarray(skin.vertices), skin.triangles)


def _whole_weights(
    weights: SkinWeights, skin_vertices: Int[NumpyArray, "V"], follower: Follower | None
) -> SkinWeights:
    """Weights of all vertices; a loose one has those of the skin under it."""
    source = skin_vertices.copy()
    if follower is not None:
        source[skin_vertices < 0] = follower.triangles[:, 0, 0]
    return SkinWeights(weights.joint_indices[source], weights.values[source], weights.joint_count)


def _body(mesh: Mesh, skeleton: Skeleton, weights: SkinWeights) -> Body:
    labels = np.zeros(mesh.vertex_count, np.int32)
    template = Template(mesh, skeleton, weights, _PARTS, labels)
    identity = Identity(np.asarray(mesh.vertices), np.asarray(skeleton.joints), {})
    return Body(template, identity, {})


def _loose_notes(parts: Int[NumpyArray, "V"], is_skin: Bool[NumpyArray, "V"]) -> tuple[str, ...]:
    loose = len(np.unique(parts[~is_skin]))
    if not loose:
        return ()
    return (
        f"{loose} loose part{'s' if loose > 1 else ''} of {int((~is_skin).sum())} vertices "
        f"follow{'s' if loose == 1 else ''} the skin (--component all makes them flesh)",
    )
