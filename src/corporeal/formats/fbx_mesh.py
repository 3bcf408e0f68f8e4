"""FBX geometry: surfaces, skins and morph targets. All positions in centimetres."""

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.character import Character
from corporeal.body.material import Material
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights
from corporeal.formats.fbx_document import COLOUR, FbxDocument, add_property
from corporeal.formats.fbx_nodes import FbxNode, Int64
from corporeal.formats.pictures import colour_picture, normal_picture
from corporeal.formats.polygons import authored_faces, authored_uv
from corporeal.geometry.surface import vertex_normals

FULL_WEIGHT = 100.0
"""FBX counts morph weights in percent."""


def add_geometry(
    document: FbxDocument,
    name: str,
    mesh: Mesh,
    places: Float64[NumpyArray, "V 3"],
    colours: NumpyArray | None,
) -> Int64:
    """A surface at `places`; quads stay quads. `colours` are linear RGB, one a vertex."""
    number, node = document.add("Geometry", name, "Geometry", "Mesh")
    corners, corner_uv = authored_faces(mesh), authored_uv(mesh)
    node.add("GeometryVersion", 124)
    node.add("Vertices", places.ravel())
    node.add("PolygonVertexIndex", _polygon_ends(corners))
    kinds = ["LayerElementNormal", "LayerElementMaterial"]
    _add_normals(node, vertex_normals(places, mesh.triangles)[corners.ravel()])
    if mesh.uv is not None and corner_uv is not None:
        _add_uv(node, mesh.uv.astype(np.float64), corner_uv.ravel())
        kinds.append("LayerElementUV")
    if colours is not None:
        _add_colours(node, np.asarray(colours, np.float64), corners.ravel())
        kinds.append("LayerElementColor")
    material = _layer_element(node, "LayerElementMaterial", "AllSame", "IndexToDirect")
    material.add("Materials", np.zeros(1, np.int32))
    layer = node.add("Layer", 0)
    layer.add("Version", 100)
    for kind in kinds:
        entry = layer.add("LayerElement")
        entry.add("Type", kind)
        entry.add("TypedIndex", 0)
    return number


def add_material(document: FbxDocument, name: str, model: Int64, colour: tuple[float, ...]) -> None:
    """A plain matte material on a model; `colour` is linear RGB."""
    number, node = document.add("Material", name, "Material", "")
    node.add("Version", 102)
    node.add("ShadingModel", "lambert")
    node.add("MultiLayer", 0)
    table = node.add("Properties70")
    add_property(table, "DiffuseColor", COLOUR, *(float(c) for c in colour))
    document.link(number, model)


def add_textured_material(document: FbxDocument, material: Material, model: Int64) -> None:
    """A material with its pictures inside the file: base colour and normals."""
    number, node = document.add("Material", material.name, "Material", "")
    node.add("Version", 102)
    node.add("ShadingModel", "phong")
    node.add("MultiLayer", 0)
    table = node.add("Properties70")
    add_property(table, "DiffuseColor", COLOUR, 1.0, 1.0, 1.0)
    add_property(table, "SpecularColor", COLOUR, 0.04, 0.04, 0.04)
    document.link(number, model)
    pictures = {"DiffuseColor": colour_picture(material), "NormalMap": normal_picture(material)}
    for channel, picture in pictures.items():
        if picture is not None:
            _add_texture(document, material, number, channel, *picture)
    if material.cutout:
        _add_texture(document, material, number, "TransparentColor", *colour_picture(material))


def _add_texture(
    document: FbxDocument,
    material: Material,
    owner: Int64,
    channel: str,
    data: bytes,
    suffix: str,
) -> None:
    name = f"{material.name}_{channel}"
    file = f"{name}{suffix}"
    video, node = document.add("Video", name, "Video", "Clip")
    node.add("Type", "Clip")
    add_property(node.add("Properties70"), "Path", ("KString", "XRefUrl", ""), file)
    node.add("UseMipMap", 0)
    node.add("Filename", file)
    node.add("RelativeFilename", file)
    node.add("Content", data)
    texture, node = document.add("Texture", name, "Texture", "")
    node.add("Type", "TextureVideoClip")
    node.add("Version", 202)
    node.add("TextureName", f"{name}\x00\x01Texture")
    node.add("Media", f"{name}\x00\x01Video")
    node.add("FileName", file)
    node.add("RelativeFilename", file)
    document.link(video, texture)
    document.link(texture, owner, channel)


def add_skin(
    document: FbxDocument,
    character: Character,
    geometry: Int64,
    joints: list[Int64],
    weights: SkinWeights | None = None,
) -> None:
    """The weights, the character's unless others are given: one cluster for every joint that moves
    a vertex."""
    number, node = document.add("Deformer", "skin", "Deformer", "Skin")
    node.add("Version", 101)
    node.add("Link_DeformAcuracy", 50.0)
    node.add("SkinningType", "Linear")
    document.link(number, geometry)
    weights = character.template.weights if weights is None else weights
    for joint, rest in enumerate(rest_matrices(character)):
        rows, slots = np.nonzero((weights.joint_indices == joint) & (weights.values > 0))
        if not len(rows):
            continue
        name = character.template.skeleton.names[joint]
        cluster, item = document.add("Deformer", name, "SubDeformer", "Cluster")
        item.add("Version", 100)
        item.add("UserData", "", "")
        item.add("Indexes", rows.astype(np.int32))
        item.add("Weights", weights.values[rows, slots].astype(np.float64))
        item.add("Transform", np.linalg.inv(rest).ravel())
        item.add("TransformLink", rest.ravel())
        document.link(cluster, number)
        document.link(joints[joint], cluster)


def add_morphs(document: FbxDocument, character: Character, geometry: Int64) -> list[Int64]:
    """The morph targets, every vertex that moves; gives back the channels that carry weights."""
    if not character.morph_count:
        return []
    number, node = document.add("Deformer", "morphs", "Deformer", "BlendShape")
    node.add("Version", 100)
    document.link(number, geometry)
    channels: list[Int64] = []
    for index, name in enumerate(character.morph_names):
        channel, item = document.add("Deformer", name, "SubDeformer", "BlendShapeChannel")
        percent = FULL_WEIGHT * float(character.morph_weights[0, index])
        item.add("Version", 100)
        item.add("DeformPercent", percent)
        item.add("FullWeights", np.array([FULL_WEIGHT]))
        add_property(item.add("Properties70"), "DeformPercent", ("Number", "", "A"), percent)
        document.link(channel, number)
        document.link(_add_shape(document, character, index), channel)
        channels.append(channel)
    return channels


def rest_matrices(character: Character) -> Float64[NumpyArray, "J 4 4"]:
    """Rest frame of every joint as FBX stores matrices: transposed, in centimetres."""
    joints = centimetres(character.template.skeleton.joints)
    matrices = np.tile(np.eye(4), (len(joints), 1, 1))
    matrices[:, 3, :3] = joints
    return matrices


def centimetres(metres: NumpyArray) -> NumpyArray:
    """Positions for the file: the one conversion of units; the axes are FBX's already."""
    return 100.0 * np.asarray(metres, np.float64)


def _add_shape(document: FbxDocument, character: Character, index: int) -> Int64:
    offsets = character.morph_offsets[index]
    moved = np.flatnonzero(np.any(offsets != 0, axis=1))
    shape, node = document.add("Geometry", character.morph_names[index], "Geometry", "Shape")
    node.add("Version", 100)
    node.add("Indexes", moved.astype(np.int32))
    node.add("Vertices", centimetres(offsets[moved]).ravel())
    if character.morph_normals is not None:
        normals = character.morph_normals[index, moved].astype(np.float64)
        node.add("Normals", normals.ravel())
    return shape


def _polygon_ends(corners: Int[NumpyArray, "n c"]) -> NumpyArray:
    """Corner indices; the last of every polygon is stored as its complement."""
    marked = corners.astype(np.int32)
    marked[:, -1] = ~marked[:, -1]
    return marked.ravel()


def _layer_element(node: FbxNode, kind: str, mapping: str, reference: str) -> FbxNode:
    element = node.add(kind, 0)
    element.add("Version", 101)
    element.add("Name", "")
    element.add("MappingInformationType", mapping)
    element.add("ReferenceInformationType", reference)
    return element


def _add_normals(node: FbxNode, corner_normals: Float64[NumpyArray, "n 3"]) -> None:
    element = _layer_element(node, "LayerElementNormal", "ByPolygonVertex", "Direct")
    element.add("Normals", corner_normals.ravel())


def _add_uv(node: FbxNode, uv: Float64[NumpyArray, "U 2"], corner_uv: NumpyArray) -> None:
    element = _layer_element(node, "LayerElementUV", "ByPolygonVertex", "IndexToDirect")
    element.add("UV", uv.ravel())
    element.add("UVIndex", corner_uv.astype(np.int32))


def _add_colours(node: FbxNode, colours: Float64[NumpyArray, "V 3"], corners: NumpyArray) -> None:
    element = _layer_element(node, "LayerElementColor", "ByPolygonVertex", "IndexToDirect")
    element.add("Colors", np.c_[colours, np.ones(len(colours))].ravel())
    element.add("ColorIndex", corners.astype(np.int32))
