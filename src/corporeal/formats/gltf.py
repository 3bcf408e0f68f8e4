"""glTF 2.0 (`.glb`): a character that a game engine takes as it is.

================== ========================================================================
survives           triangles, normals, texture coordinates, vertex colours, skeleton, the four
                   largest weights a vertex, joint animation, rigid attachments (eyeballs)
does not           quads (split), part labels, mirror map, deformers other than linear
                   blending: an engine plays the same joints with linear blend skinning
================== ========================================================================

Units and axes are glTF's own: metres, y up, facing +z. A vertex on a texture seam is split: copies
are appended after the V originals, which keep their indices, and the mesh's
`extras.source_vertices` names the original of every copy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Array, Float, Float64, Int, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.formats.glb import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, GlbDocument
from corporeal.geometry.rotations import quaternion_from_matrix
from corporeal.geometry.surface import vertex_normals

ENGINE_INFLUENCES = 4
"""Weights a vertex that every engine reads."""

_SKIN_COLOUR = (0.61, 0.36, 0.26)
"""Linear RGB, where no vertex colours are given."""

_STILL_M = 1e-6
"""A joint that stays within this distance of its rest place needs no translation track, metres."""


@dataclass(frozen=True)
class Surface:
    """A mesh as an engine wants it: one texture coordinate a vertex."""

    source: Int[NumpyArray, "v"]
    """Original vertex of every vertex; the first V are 0 … V−1."""
    triangles: Int[NumpyArray, "F 3"]
    uv: Float[NumpyArray, "v 2"] | None
    """Texture coordinates, v down."""


def write_glb(
    path: str | Path,
    template: Template,
    identity: Identity,
    *,
    animation: Animation | None = None,
    attachments: Sequence[Attachment] = (),
    vertex_colours: Float[NumpyArray, "V 3"] | None = None,
) -> None:
    """Write one skinned character, moving if an `animation` is given.

    `vertex_colours` are linear RGB, 0 to 1. Attachments follow their joints.
    """
    if np.ndim(identity.rest_vertices) != 2:
        raise InputError(
            f"identity has shape {np.shape(identity.rest_vertices)}; a .glb holds one person "
            f"(V, 3). Write a batch one by one."
        )
    document = GlbDocument()
    joint_nodes = _add_joints(document, template, identity)
    mesh = _add_body_mesh(document, template, identity, vertex_colours)
    skin = _add_skin(document, identity, joint_nodes)
    body_node = document.add("nodes", {"name": "body", "mesh": mesh, "skin": skin})
    for attachment in attachments:
        _add_attachment(document, attachment, identity, joint_nodes)
    if animation is not None:
        _add_animation(document, animation, joint_nodes)
    document.add("scenes", {"nodes": [joint_nodes[0], body_node]})
    document.content["scene"] = 0  # pyright: ignore[reportArgumentType]
    document.write(path)


def split_seams(mesh: Mesh) -> Surface:
    """Give every vertex one texture coordinate, by appending copies for further ones."""
    count = mesh.vertex_count
    if mesh.uv is None or mesh.uv_triangles is None:
        return Surface(np.arange(count), mesh.triangles, None)
    corners = np.stack([mesh.triangles.ravel(), mesh.uv_triangles.ravel()], axis=1)
    pairs, corner_pair = np.unique(corners, axis=0, return_inverse=True)
    first = np.r_[True, pairs[1:, 0] != pairs[:-1, 0]]
    slot = np.where(first, pairs[:, 0], count + np.cumsum(~first) - 1)
    source = np.r_[np.arange(count), pairs[~first, 0]]
    uv = np.zeros((len(source), 2), np.float32)
    uv[slot] = mesh.uv[pairs[:, 1]] * [1, -1] + [0, 1]
    return Surface(source, slot[corner_pair].reshape(-1, 3), uv)


def engine_weights(
    template: Template,
) -> tuple[Int[NumpyArray, "V 4"], Float[NumpyArray, "V 4"]]:
    """Four joints and weights a vertex, largest first, ties by joint order; unused joints are 0."""
    weights = template.weights
    order = np.argsort(-weights.values, axis=1, kind="stable")[:, :ENGINE_INFLUENCES]
    values = np.take_along_axis(weights.values, order, axis=1).astype(np.float64)
    joints = np.where(values > 0, np.take_along_axis(weights.joint_indices, order, axis=1), 0)
    missing = ((0, 0), (0, ENGINE_INFLUENCES - order.shape[1]))
    values = values / values.sum(axis=1, keepdims=True)
    return np.pad(joints, missing), np.pad(values, missing).astype(np.float32)


def _add_joints(document: GlbDocument, template: Template, identity: Identity) -> list[int]:
    joints = np.asarray(identity.joints, np.float64)
    parents = template.skeleton.parents
    nodes: list[int] = []
    for joint, parent in enumerate(parents):
        offset = joints[joint] - (joints[parent] if parent >= 0 else 0)
        node = {"name": template.skeleton.names[joint], "translation": offset.tolist()}
        nodes.append(document.add("nodes", node))
    for joint, parent in enumerate(parents):
        if parent >= 0:
            siblings = document.content["nodes"][nodes[parent]].setdefault("children", [])
            siblings.append(nodes[joint])
    return nodes


def _add_body_mesh(
    document: GlbDocument,
    template: Template,
    identity: Identity,
    vertex_colours: Float[NumpyArray, "V 3"] | None,
) -> int:
    surface = split_seams(template.mesh)
    joints, weights = engine_weights(template)
    attributes = _surface_attributes(
        document, surface, np.asarray(identity.rest_vertices), template.mesh, vertex_colours
    )
    joint_type = np.uint16 if template.skeleton.joint_count > 256 else np.uint8
    attributes["JOINTS_0"] = document.add_accessor(
        joints[surface.source].astype(joint_type), "VEC4", target=ARRAY_BUFFER
    )
    attributes["WEIGHTS_0"] = document.add_accessor(
        weights[surface.source], "VEC4", target=ARRAY_BUFFER
    )
    extras = {"source_vertices": surface.source[template.mesh.vertex_count :].tolist()}
    return _add_mesh(document, "body", surface, attributes, vertex_colours is not None, extras)


def _add_mesh(
    document: GlbDocument,
    name: str,
    surface: Surface,
    attributes: dict[str, int],
    coloured: bool,
    extras: dict[str, Any],
) -> int:
    indices = document.add_accessor(
        surface.triangles.astype(np.uint32).ravel(), "SCALAR", target=ELEMENT_ARRAY_BUFFER
    )
    material = document.add(
        "materials",
        {
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorFactor": [1, 1, 1, 1] if coloured else [*_SKIN_COLOUR, 1],
                "metallicFactor": 0,
                "roughnessFactor": 0.6,
            },
        },
    )
    primitive = {"attributes": attributes, "indices": indices, "material": material}
    return document.add("meshes", {"name": name, "primitives": [primitive], "extras": extras})


def _surface_attributes(
    document: GlbDocument,
    surface: Surface,
    vertices: Float[NumpyArray, "V 3"],
    mesh: Mesh,
    vertex_colours: Float[NumpyArray, "V 3"] | None,
) -> dict[str, int]:
    def vector(values: NumpyArray, *, bounds: bool = False) -> int:
        rows = values.astype(np.float32)[surface.source]
        return document.add_accessor(rows, "VEC3", target=ARRAY_BUFFER, bounds=bounds)

    attributes = {
        "POSITION": vector(vertices, bounds=True),
        "NORMAL": vector(_unit_normals(vertices, mesh)),
    }
    if surface.uv is not None:
        attributes["TEXCOORD_0"] = document.add_accessor(surface.uv, "VEC2", target=ARRAY_BUFFER)
    if vertex_colours is not None:
        attributes["COLOR_0"] = vector(np.clip(vertex_colours, 0, 1))
    return attributes


def _unit_normals(vertices: Float[NumpyArray, "V 3"], mesh: Mesh) -> Float[NumpyArray, "V 3"]:
    """Normals of length 1 also where a vertex has no face, as glTF asks."""
    normals = np.asarray(vertex_normals(vertices, mesh.triangles), np.float64)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(lengths > 0, normals / np.where(lengths > 0, lengths, 1), [0.0, 1.0, 0.0])


def _add_skin(document: GlbDocument, identity: Identity, joint_nodes: list[int]) -> int:
    joints = np.asarray(identity.joints, np.float64)
    joint_from_world = np.tile(np.eye(4), (len(joints), 1, 1))
    joint_from_world[:, :3, 3] = -joints
    columns = joint_from_world.transpose(0, 2, 1).reshape(-1, 16).astype(np.float32)
    return document.add(
        "skins",
        {
            "inverseBindMatrices": document.add_accessor(columns, "MAT4"),
            "joints": joint_nodes,
            "skeleton": joint_nodes[0],
        },
    )


def _add_attachment(
    document: GlbDocument, attachment: Attachment, identity: Identity, joint_nodes: list[int]
) -> None:
    surface = split_seams(attachment.mesh)
    local = np.asarray(attachment.mesh.vertices) - np.asarray(identity.joints)[attachment.joint]
    attributes = _surface_attributes(
        document, surface, local, attachment.mesh, attachment.vertex_colours
    )
    mesh = _add_mesh(document, attachment.name, surface, attributes, True, {})
    node = document.add("nodes", {"name": attachment.name, "mesh": mesh})
    parent = document.content["nodes"][joint_nodes[attachment.joint]]
    parent.setdefault("children", []).append(node)


def _add_animation(document: GlbDocument, animation: Animation, joint_nodes: list[int]) -> None:
    parents = animation.template.skeleton.parents
    rest = np.asarray(animation.identity.joints, np.float64)
    parent_from_joint = _local_frames(animation.world_from_joint, parents)
    times = np.arange(len(parent_from_joint)) / animation.motion.fps
    input_accessor = document.add_accessor(times.astype(np.float32), "SCALAR", bounds=True)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def add_track(joint: int, path: str, output: int) -> None:
        target = {"node": joint_nodes[joint], "path": path}
        channels.append({"sampler": len(samplers), "target": target})
        samplers.append({"input": input_accessor, "output": output, "interpolation": "LINEAR"})

    for joint, parent in enumerate(parents):
        turns_xyzw = _quaternions_xyzw(parent_from_joint[:, joint, :3, :3]).astype(np.float32)
        add_track(joint, "rotation", document.add_accessor(turns_xyzw, "VEC4"))
        places = parent_from_joint[:, joint, :3, 3]
        home = rest[joint] - (rest[parent] if parent >= 0 else 0)
        if parent < 0 or np.abs(places - home).max() > _STILL_M:
            output = document.add_accessor(places.astype(np.float32), "VEC3")
            add_track(joint, "translation", output)
    document.add(
        "animations",
        {"name": animation.motion.name, "samplers": samplers, "channels": channels},
    )


def _local_frames(
    world_from_joint: Float[Array, "N J 4 4"], parents: tuple[int, ...]
) -> Float64[NumpyArray, "N J 4 4"]:
    """Every joint's rigid frame relative to its parent's."""
    world = np.asarray(world_from_joint, np.float64)
    local = world.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            parent_turn = world[:, parent, :3, :3].transpose(0, 2, 1)
            local[:, joint, :3, :3] = parent_turn @ world[:, joint, :3, :3]
            apart = world[:, joint, :3, 3] - world[:, parent, :3, 3]
            local[:, joint, :3, 3] = np.einsum("nab,nb->na", parent_turn, apart)
    return local


def _quaternions_xyzw(rotations: Float64[NumpyArray, "N 3 3"]) -> Float64[NumpyArray, "N 4"]:
    """Unit quaternions that never jump to the other hemisphere from one frame to the next."""
    turns = quaternion_from_matrix(rotations)[:, [1, 2, 3, 0]]
    flips = np.sum(turns[1:] * turns[:-1], axis=1) < 0
    signs = np.r_[1, np.where(np.cumsum(flips) % 2, -1, 1)]
    return turns * signs[:, None]
