"""FBX (binary 7.4): a character with morph targets, written without the vendor's kit.

================== ========================================================================
survives           vertices and their order, quads, normals, texture coordinates with their
                   seams, vertex colours, skeleton, weights, joint animation, morph targets
                   with normals and animated weights, materials with base colour and normals,
                   attachments (rigid eyeballs; soft clothes, without morph targets)
does not           roughness, part labels, mirror map; numbers of curves are rounded to float32
================== ========================================================================

Centimetres, y up, facing +z, morph weights in percent: what the vendor's own programs write.
"""

from pathlib import Path

import numpy as np

from corporeal.body.attachment import Attachment
from corporeal.body.character import Character, shown_mesh, unsigned_weights
from corporeal.formats.fbx_animation import add_animation
from corporeal.formats.fbx_document import INTEGER, FbxDocument, add_property
from corporeal.formats.fbx_mesh import (
    add_geometry,
    add_material,
    add_morphs,
    add_skin,
    add_textured_material,
    centimetres,
    rest_matrices,
)
from corporeal.formats.fbx_nodes import Int64, encode_document
from corporeal.runtime.files import write_bytes

_SKIN_COLOUR = (0.61, 0.36, 0.26)
_WHITE = (1.0, 1.0, 1.0)
_ROOT = Int64(0)


def write_fbx(path: str | Path, character: Character) -> None:
    """Write a character with its take; morph weights run from 0 to 100 percent."""
    character = unsigned_weights(character)
    document = FbxDocument()
    joints = _add_joints(document, character)
    mesh = shown_mesh(character)
    places = centimetres(mesh.vertices)
    colours = None if character.material is not None else character.vertex_colours
    geometry = add_geometry(document, "body", mesh, places, colours)
    body = _add_model(document, "body", "Mesh", np.zeros(3), _ROOT)
    document.link(geometry, body)
    if character.material is not None:
        add_textured_material(document, character.material, body)
    else:
        add_material(document, "body", body, _SKIN_COLOUR if colours is None else _WHITE)
    channels = add_morphs(document, character, geometry)
    add_skin(document, character, geometry, joints)
    _add_bind_pose(document, character, body, joints)
    for attachment in character.attachments:
        _add_attachment(document, character, attachment, joints)
    add_animation(document, character, joints, channels)
    tree = document.nodes(character.fps, character.frame_count, character.name)
    write_bytes(path, encode_document(tree))


def _add_model(
    document: FbxDocument, name: str, kind: str, place: np.ndarray, parent: Int64
) -> Int64:
    """A node of the scene at `place`, centimetres from its parent."""
    number, node = document.add("Model", name, "Model", kind)
    node.add("Version", 232)
    table = node.add("Properties70")
    add_property(table, "InheritType", ("enum", "", ""), 1)
    add_property(table, "DefaultAttributeIndex", INTEGER, 0)  # or Autodesk's reader sees no mesh
    add_property(table, "Lcl Translation", ("Lcl Translation", "", "A"), *map(float, place))
    add_property(table, "Lcl Rotation", ("Lcl Rotation", "", "A"), 0.0, 0.0, 0.0)
    add_property(table, "Lcl Scaling", ("Lcl Scaling", "", "A"), 1.0, 1.0, 1.0)
    node.add("Shading", True)
    node.add("Culling", "CullingOff")
    document.link(number, parent)
    return number


def _add_joints(document: FbxDocument, character: Character) -> list[Int64]:
    skeleton, joints = character.template.skeleton, []
    for joint, place in enumerate(centimetres(character.joint_places)):
        parent = skeleton.parents[joint]
        name, above = skeleton.names[joint], joints[parent] if parent >= 0 else _ROOT
        joints.append(_add_model(document, name, "LimbNode", place, above))
        attribute, node = document.add("NodeAttribute", name, "NodeAttribute", "LimbNode")
        node.add("TypeFlags", "Skeleton")
        document.link(attribute, joints[-1])
    return joints


def _add_bind_pose(
    document: FbxDocument, character: Character, body: Int64, joints: list[Int64]
) -> None:
    _, node = document.add("Pose", "bind", "Pose", "BindPose")
    node.add("Type", "BindPose")
    node.add("Version", 100)
    node.add("NbPoseNodes", 1 + len(joints))
    matrices = np.concatenate([np.eye(4)[None], rest_matrices(character)])
    for number, matrix in zip([body, *joints], matrices, strict=True):
        entry = node.add("PoseNode")
        entry.add("Node", number)
        entry.add("Matrix", matrix.ravel())


def _add_attachment(
    document: FbxDocument, character: Character, attachment: Attachment, joints: list[Int64]
) -> None:
    """A rigid part, stored relative to the joint that it follows; or a soft one, skinned as the
    body is."""
    mesh, binding = attachment.mesh, attachment.binding
    colours = None if attachment.material is not None else attachment.vertex_colours
    shift = 0 if binding is not None else character.template.skeleton.joints[attachment.joint]
    local = centimetres(np.asarray(mesh.vertices) - shift)
    geometry = add_geometry(document, attachment.name, mesh, local, colours)
    parent = _ROOT if binding is not None else joints[attachment.joint]
    model = _add_model(document, attachment.name, "Mesh", np.zeros(3), parent)
    document.link(geometry, model)
    if binding is not None:
        add_skin(document, character, geometry, joints, binding.weights)
    if attachment.material is not None:
        add_textured_material(document, attachment.material, model)
    else:
        add_material(document, attachment.name, model, _WHITE)
