"""glTF 2.0 (`.glb`): a character that a game engine takes as it is.

================== ========================================================================
survives           triangles, normals, texture coordinates, vertex colours, materials with their
                   pictures, skeleton, the four largest weights a vertex, joint animation,
                   attachments (rigid eyeballs, soft clothes), morph targets with normals and
                   animated weights; `read_glb_character` reads neither pictures nor soft parts
does not           quads (split), part labels, mirror map; of an animation that was not baked,
                   deformers other than linear blending: an engine plays the same joints with
                   linear blend skinning. Bake it, and write the character
================== ========================================================================

Units and axes are glTF's own: metres, y up, facing +z. A vertex on a texture seam is split: copies
are appended after the V originals, which keep their indices, and the mesh's
`extras.source_vertices` names the original of every copy.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.character import ENGINE_INFLUENCES, Character, unsigned_weights
from corporeal.body.identity import Identity
from corporeal.body.looks import Looks
from corporeal.body.material import Material
from corporeal.body.mesh import Mesh
from corporeal.body.seams import EngineSurface, split_seams
from corporeal.body.template import Template
from corporeal.body.track_keys import TrackKeys, every_frame
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.glb import (
    ARRAY_BUFFER,
    ELEMENT_ARRAY_BUFFER,
    GlbDocument,
    Kind,
    Packing,
    quantized,
)
from corporeal.formats.gltf_material import add_material
from corporeal.formats.gltf_take import TakeTracks
from corporeal.geometry.surface import vertex_normals
from corporeal.geometry.tracks import local_rotation_tracks

_SKIN_COLOUR = (0.61, 0.36, 0.26)
"""Linear RGB, where no vertex colours are given."""

_STILL_M = 1e-6
"""A joint that stays within this distance of its rest place needs no translation track, metres."""


def write_glb(
    path: str | Path,
    template: Template,
    identity: Identity,
    *,
    animation: Animation | None = None,
    attachments: Sequence[Attachment] = (),
    vertex_colours: Float[NumpyArray, "V 3"] | None = None,
    looks: Looks | None = None,
) -> None:
    """Write one skinned character, moving if an `animation` is given.

    `vertex_colours` are linear RGB, 0 to 1. Attachments follow their joints. `looks` take the
    place of both; their face is the identity's already.
    """
    if np.ndim(identity.rest_vertices) != 2:
        raise InputError(
            f"identity has shape {np.shape(identity.rest_vertices)}; a .glb holds one person "
            f"(V, 3). Write a batch one by one."
        )
    document = GlbDocument()
    if looks is None:
        looks = Looks(parts=tuple(attachments))
    joint_nodes, _ = _add_rig(document, template, identity, looks, vertex_colours)
    if animation is not None:
        _add_animation(document, animation, joint_nodes)
    document.write(path)


def write_glb_character(
    path: str | Path,
    character: Character,
    *,
    packing: Packing = "none",
    keys: TrackKeys | None = None,
) -> None:
    """Write a baked character: skin, joint tracks, morph targets with weights from 0 to 1.

    `packing` says what readers must know (`none`: nothing); `keys`, which frames of which track
    are written (all, unless given).
    """
    character = unsigned_weights(character)
    document = GlbDocument(packing=packing)
    if packing == "none" and character.morph_count:
        document.begin_with_zeros(len(split_seams(character.template.mesh).source))
    template = character.template
    identity = Identity(template.mesh.vertices, template.skeleton.joints, {})
    looks = Looks(character.material, character.attachments, hidden=character.hidden)
    joint_nodes, body_nodes = _add_rig(
        document, template, identity, looks, character.vertex_colours
    )
    joints = template.skeleton.joint_count
    keys = every_frame(character.frame_count, joints) if keys is None else keys
    tracks = TakeTracks(document, np.arange(character.frame_count) / character.fps)
    for node, joint in zip(joint_nodes, range(joints), strict=True):
        rotations_wxyz = character.joint_rotations_wxyz[:, joint]
        tracks.add(node, "rotation", rotations_wxyz[:, [1, 2, 3, 0]], "VEC4", keys.rotations[joint])
    path_of_root = character.joint_places[0] + character.root_translation
    tracks.add(joint_nodes[0], "translation", path_of_root, "VEC3", keys.root)
    if character.morph_count:
        for node, part in body_nodes:
            _add_morphs(document, character, document.content["nodes"][node]["mesh"], part)
            tracks.add(node, "weights", character.morph_weights, "SCALAR", keys.weights)
    tracks.finish(character.name, character.fps)
    document.write(path)


def engine_weights(
    template: Template,
) -> tuple[Int[NumpyArray, "V 4"], Float[NumpyArray, "V 4"]]:
    """Four joints and weights a vertex, largest first, ties by joint order; unused joints are 0."""
    return _four_weights(template.weights)


def _four_weights(
    weights: SkinWeights,
) -> tuple[Int[NumpyArray, "V 4"], Float[NumpyArray, "V 4"]]:
    order = np.argsort(-weights.values, axis=1, kind="stable")[:, :ENGINE_INFLUENCES]
    values = np.take_along_axis(weights.values, order, axis=1).astype(np.float64)
    joints = np.where(values > 0, np.take_along_axis(weights.joint_indices, order, axis=1), 0)
    missing = ((0, 0), (0, ENGINE_INFLUENCES - order.shape[1]))
    values = values / values.sum(axis=1, keepdims=True)
    return np.pad(joints, missing), np.pad(values, missing).astype(np.float32)


def _add_rig(
    document: GlbDocument,
    template: Template,
    identity: Identity,
    looks: Looks,
    vertex_colours: Float[NumpyArray, "V 3"] | None,
) -> tuple[list[int], list[tuple[int, Attachment | None]]]:
    """The scene at rest; gives back the nodes of the joints, and the skinned nodes: the body, then
    soft parts, each with the part that it is."""
    joint_nodes = _add_joints(document, template, identity)
    mesh = _add_body_mesh(document, template, identity, looks, vertex_colours)
    skin = _add_skin(document, identity, joint_nodes)
    body = document.add("nodes", {"name": "body", "mesh": mesh, "skin": skin})
    skinned: list[tuple[int, Attachment | None]] = [(body, None)]
    for part in looks.parts:
        if part.binding is None:
            _add_attachment(document, part, identity, joint_nodes)
        else:
            surface = _add_soft_part(document, part, template.skeleton.joint_count)
            node = document.add("nodes", {"name": part.name, "mesh": surface, "skin": skin})
            skinned.append((node, part))
    document.add("scenes", {"nodes": [joint_nodes[0], *(node for node, _ in skinned)]})
    document.content["scene"] = 0  # pyright: ignore[reportArgumentType]
    return joint_nodes, skinned


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
    looks: Looks,
    vertex_colours: Float[NumpyArray, "V 3"] | None,
) -> int:
    surface = split_seams(template.mesh)
    if looks.material is not None:
        vertex_colours = None
    attributes = _surface_attributes(
        document, surface, np.asarray(identity.rest_vertices), template.mesh, vertex_colours
    )
    _add_weights(document, attributes, surface, template.weights)
    extras = {"source_vertices": surface.source[template.mesh.vertex_count :].tolist()}
    if looks.hidden is not None:
        surface = replace(surface, triangles=surface.triangles[~looks.hidden])
    paint = _paint(document, "body", looks.material, vertex_colours is not None)
    return _add_mesh(document, "body", surface, attributes, paint, extras)


def _add_soft_part(document: GlbDocument, part: Attachment, joint_count: int) -> int:
    """A part that is skinned as the body is."""
    assert part.binding is not None
    surface = split_seams(part.mesh)
    colours = None if part.material else part.vertex_colours
    attributes = _surface_attributes(
        document, surface, np.asarray(part.mesh.vertices), part.mesh, colours
    )
    _add_weights(document, attributes, surface, part.binding.weights)
    paint = _paint(document, part.name, part.material, True)
    return _add_mesh(document, part.name, surface, attributes, paint, {})


def _add_weights(
    document: GlbDocument,
    attributes: dict[str, int],
    surface: EngineSurface,
    skin: SkinWeights,
) -> None:
    joints, weights = _four_weights(skin)
    joint_type = np.uint16 if skin.joint_count > 256 else np.uint8
    attributes["JOINTS_0"] = document.add_accessor(
        joints[surface.source].astype(joint_type), "VEC4", target=ARRAY_BUFFER
    )
    packed = weights if document.packing == "none" else _whole_weights(weights)
    attributes["WEIGHTS_0"] = document.add_accessor(
        packed[surface.source], "VEC4", target=ARRAY_BUFFER, normalized=document.packing != "none"
    )


def _whole_weights(weights: Float[NumpyArray, "V 4"]) -> NumpyArray:
    """Weights as 16-bit numbers whose sum is exactly 1; the largest takes the rest."""
    whole = np.rint(weights.astype(np.float64) * 65535).astype(np.int64)
    whole[:, 0] += 65535 - whole.sum(axis=1)
    return whole.astype(np.uint16)


def _add_mesh(
    document: GlbDocument,
    name: str,
    surface: EngineSurface,
    attributes: dict[str, int],
    material: int,
    extras: dict[str, Any],
) -> int:
    indices = document.add_accessor(
        surface.triangles.astype(_index_type(document, surface)).ravel(),
        "SCALAR",
        target=ELEMENT_ARRAY_BUFFER,
    )
    primitive = {"attributes": attributes, "indices": indices, "material": material}
    return document.add("meshes", {"name": name, "primitives": [primitive], "extras": extras})


def _paint(document: GlbDocument, name: str, material: Material | None, coloured: bool) -> int:
    """The textured material, or a plain one for vertex colours or none."""
    if material is not None:
        return add_material(document, material)
    plain = {
        "baseColorFactor": [1, 1, 1, 1] if coloured else [*_SKIN_COLOUR, 1],
        "metallicFactor": 0,
        "roughnessFactor": 0.6,
    }
    return document.add("materials", {"name": name, "pbrMetallicRoughness": plain})


def _index_type(document: GlbDocument, surface: EngineSurface) -> type:
    """Two bytes where they do, in files whose readers are not the oldest."""
    short = document.packing != "none" and len(surface.source) < 2**16 - 1
    return np.uint16 if short else np.uint32


def _surface_attributes(
    document: GlbDocument,
    surface: EngineSurface,
    vertices: Float[NumpyArray, "V 3"],
    mesh: Mesh,
    vertex_colours: Float[NumpyArray, "V 3"] | None,
) -> dict[str, int]:
    def vector(values: NumpyArray, *, bounds: bool = False) -> int:
        rows = values.astype(np.float32)[surface.source]
        return document.add_accessor(rows, "VEC3", target=ARRAY_BUFFER, bounds=bounds)

    def whole(values: NumpyArray, dtype: str, kind: Kind) -> int:
        packed = quantized(values, dtype)
        return document.add_accessor(packed, kind, target=ARRAY_BUFFER, normalized=True)

    light = document.packing != "none"
    normals = _unit_normals(vertices, mesh)
    attributes = {
        "POSITION": vector(vertices, bounds=True),
        "NORMAL": whole(normals[surface.source], "int8", "VEC3") if light else vector(normals),
    }
    if surface.uv is not None:
        inside = light and surface.uv.min() >= 0 and surface.uv.max() <= 1
        attributes["TEXCOORD_0"] = (
            whole(surface.uv, "uint16", "VEC2")
            if inside
            else document.add_accessor(surface.uv, "VEC2", target=ARRAY_BUFFER)
        )
    if vertex_colours is not None:
        colours = np.clip(vertex_colours, 0, 1)
        opaque = np.c_[colours, np.ones(len(colours))][surface.source]
        attributes["COLOR_0"] = whole(opaque, "uint16", "VEC4") if light else vector(colours)
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
    colours = None if attachment.material else attachment.vertex_colours
    attributes = _surface_attributes(document, surface, local, attachment.mesh, colours)
    paint = _paint(document, attachment.name, attachment.material, True)
    mesh = _add_mesh(document, attachment.name, surface, attributes, paint, {})
    node = document.add("nodes", {"name": attachment.name, "mesh": mesh})
    parent = document.content["nodes"][joint_nodes[attachment.joint]]
    parent.setdefault("children", []).append(node)


def _add_morphs(
    document: GlbDocument, character: Character, mesh: int, part: Attachment | None
) -> None:
    """Targets, sparse where they are zero in most places; whole numbers in light files. A soft
    part moves as the skin below it does."""
    source = split_seams(part.mesh if part else character.template.mesh).source
    light = document.packing != "none" and _fits_unit(character)
    targets: list[dict[str, int]] = []
    for index, offsets in enumerate(character.morph_offsets):
        if part is not None and part.binding is not None:
            offsets = part.binding.carried(offsets)
        rows = offsets.astype(np.float32)[source]
        rows = quantized(rows, "int16") if light else rows
        target = {"POSITION": document.add_mostly_zero(rows, bounds=True, normalized=light)}
        if character.morph_normals is not None and part is None:
            rows = character.morph_normals[index].astype(np.float32)[source]
            rows = quantized(rows, "int8") if light else rows
            target["NORMAL"] = document.add_mostly_zero(rows, bounds=False, normalized=light)
        targets.append(target)
    item = document.content["meshes"][mesh]
    item["primitives"][0]["targets"] = targets
    item["weights"] = character.morph_weights[0].astype(float).tolist()
    item["extras"]["targetNames"] = list(character.morph_names)


def _fits_unit(character: Character) -> bool:
    """Whether no vertex goes farther than a metre: normalized numbers reach from −1 to 1."""
    return float(np.abs(character.morph_offsets).max(initial=0)) <= 1.0


def _add_animation(document: GlbDocument, animation: Animation, joint_nodes: list[int]) -> None:
    parents = animation.template.skeleton.parents
    rest = np.asarray(animation.identity.joints, np.float64)
    world = np.asarray(animation.world_from_joint, np.float64)
    rotations_wxyz = local_rotation_tracks(world, parents)
    tracks = TakeTracks(document, np.arange(len(world)) / animation.motion.fps)
    for joint, parent in enumerate(parents):
        tracks.add(joint_nodes[joint], "rotation", rotations_wxyz[:, joint, [1, 2, 3, 0]], "VEC4")
        places = _local_places(world, joint, parent)
        home = rest[joint] - (rest[parent] if parent >= 0 else 0)
        if parent < 0 or np.abs(places - home).max() > _STILL_M:
            tracks.add(joint_nodes[joint], "translation", places, "VEC3")
    tracks.finish(animation.motion.name, float(animation.motion.fps))


def _local_places(
    world_from_joint: Float64[NumpyArray, "N J 4 4"], joint: int, parent: int
) -> Float64[NumpyArray, "N 3"]:
    """Where a joint stands in its parent's frame, metres."""
    places = world_from_joint[:, joint, :3, 3]
    if parent < 0:
        return places
    apart = places - world_from_joint[:, parent, :3, 3]
    # p = R_parentᵀ (x_joint − x_parent)
    return np.einsum("nba,nb->na", world_from_joint[:, parent, :3, :3], apart)
