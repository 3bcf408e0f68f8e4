"""Universal Scene Description (`.usd`, `.usdc`, `.usda`): characters, and exact caches.

================== ========================================================================
survives           vertices and their order, quads, normals, texture coordinates with their
                   seams, vertex colours, skeleton, weights, joint animation, morph targets with
                   normals and animated weights, materials whose pictures lie in a folder beside
                   the file, attachments (rigid eyeballs; soft clothes, without morph targets); a
                   cache keeps the surface of every frame (float32)
does not           part labels, mirror map; joint and morph names are made USD identifiers
================== ========================================================================

Metres, y up, stated in the file. Needs the extra `usd`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.attachment import Attachment
from corporeal.body.character import Character, shown_mesh, unsigned_weights
from corporeal.body.checks import require_finite
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError, OutputError
from corporeal.formats.polygons import authored_faces, authored_uv
from corporeal.formats.usd_material import add_materials, pictures_beside
from corporeal.geometry.surface import vertex_normals
from corporeal.runtime.extras import import_extra
from corporeal.runtime.files import atomic_write, require_room

_ROOT = "/character"
_RIG = f"{_ROOT}/rig"
_TAKE = f"{_RIG}/take"
_FULL = 1024**2
"""A disk with less room than this is full: USD does not say why it could not write."""
_FRAMES_AT_ONCE = 16
"""Frames whose normals are made together: they share the work that the topology needs."""


def write_usd(path: str | Path, character: Character) -> None:
    """Write a character with its take: a UsdSkel rig, blend shapes with weights from 0 to 1."""
    character = unsigned_weights(character)
    pxr = Pxr()
    stage = pxr.stage(character.fps, character.frame_count)
    root = pxr.UsdSkel.Root.Define(stage, _ROOT)
    stage.SetDefaultPrim(root.GetPrim())
    joints = _joint_paths(pxr, character)
    _add_skeleton(pxr, stage, character, joints)
    _add_take(pxr, stage, character, joints)
    colours = None if character.material is not None else character.vertex_colours
    body = add_mesh(pxr, stage, f"{_ROOT}/body", shown_mesh(character), colours)
    _bind_body(pxr, stage, character, body)
    painted = {body.GetPath(): (body, character.material)}
    for index, attachment in enumerate(character.attachments):
        prim = _add_attachment(pxr, stage, index, attachment)
        painted[prim.GetPath()] = (prim, attachment.material)
    shown = [pair for pair in painted.values() if pair[1]]
    with pictures_beside(path) as folder:
        add_materials(pxr, stage, _ROOT, shown, folder)
        export_stage(stage, path)


def write_usd_cache(
    path: str | Path,
    mesh: Mesh,
    vertices: Float[NumpyArray, "N V 3"],
    fps: float,
    *,
    normals: bool = True,
) -> None:
    """Write a moving surface (metres) frame by frame, with normals unless they are not wanted."""
    require_finite("cache vertices", vertices)
    if vertices.shape[1] != mesh.vertex_count:
        raise InputError(
            f"cache has {vertices.shape[1]} vertices a frame and the mesh {mesh.vertex_count}; "
            f"expected as many."
        )
    pxr = Pxr()
    stage = pxr.stage(fps, len(vertices))
    prim = add_mesh(pxr, stage, f"{_ROOT}_cache", mesh, None)
    stage.SetDefaultPrim(prim.GetPrim())
    points, turned, extent = (
        prim.GetPointsAttr(),
        prim.GetNormalsAttr(),
        prim.CreateExtentAttr(),
    )
    for start in range(0, len(vertices), _FRAMES_AT_ONCE):
        part = np.asarray(vertices[start : start + _FRAMES_AT_ONCE], np.float32)
        directions = vertex_normals(part, mesh.triangles) if normals else part
        for offset, places in enumerate(part):
            frame = start + offset
            points.Set(pxr.vectors(places), frame)
            extent.Set(pxr.vectors(np.stack([places.min(axis=0), places.max(axis=0)])), frame)
            if normals:
                turned.Set(pxr.vectors(directions[offset]), frame)
    if not normals:
        prim.GetPrim().RemoveProperty("normals")
    export_stage(stage, path)


class Pxr:
    """The modules of the `usd` extra, and numpy arrays in their types."""

    def __init__(self) -> None:
        def module(name: str) -> Any:
            return import_extra(f"pxr.{name}", "usd", "reading or writing USD")

        self.Gf, self.Sdf, self.Tf, self.Vt = (module(n) for n in ("Gf", "Sdf", "Tf", "Vt"))
        self.Usd, self.UsdGeom, self.UsdSkel = (module(n) for n in ("Usd", "UsdGeom", "UsdSkel"))

    def stage(self, fps: float, frame_count: int) -> Any:
        """An empty scene in metres, y up, with one time code a frame."""
        stage = self.Usd.Stage.CreateInMemory()
        self.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        self.UsdGeom.SetStageUpAxis(stage, self.UsdGeom.Tokens.y)
        stage.SetTimeCodesPerSecond(fps)
        stage.SetFramesPerSecond(fps)
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(frame_count - 1)
        return stage

    def vectors(self, rows: NumpyArray) -> Any:
        """Rows of three as `Vec3fArray`, float32."""
        return self.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(rows, np.float32))

    def numbers(self, values: NumpyArray) -> Any:
        """Numbers as `FloatArray`, float32."""
        return self.Vt.FloatArray.FromNumpy(np.ascontiguousarray(values, np.float32))

    def integers(self, values: NumpyArray) -> Any:
        """Whole numbers as `IntArray`, 32 bits."""
        return self.Vt.IntArray.FromNumpy(np.ascontiguousarray(values, np.int32))

    def matrices(self, values: Float64[NumpyArray, "J 4 4"]) -> Any:
        """Matrices as `Matrix4dArray`, transposed: USD multiplies rows."""
        return self.Vt.Matrix4dArray([self.Gf.Matrix4d(value.T.tolist()) for value in values])

    def rotation_vectors(self, wxyz: NumpyArray) -> Any:
        """Unit quaternions, w first, as `QuatfArray`."""
        return self.Vt.QuatfArray([self.Gf.Quatf(*map(float, row)) for row in wxyz])


def export_stage(stage: Any, path: str | Path) -> None:
    """Write a scene as `.usd`, `.usdc` or `.usda`."""
    if Path(path).suffix not in (".usd", ".usda", ".usdc"):
        raise InputError(f"cannot write USD as {path}; expected the suffix .usd, .usdc or .usda.")
    with atomic_write(path) as temporary:
        try:
            stage.GetRootLayer().Export(str(temporary))
        except Pxr().Tf.ErrorException as error:
            require_room(temporary, _FULL)
            raise OutputError(f"cannot write {path}: USD's own writer failed.") from error


def _joint_paths(pxr: Pxr, character: Character) -> list[str]:
    """Joints as USD names them: by their way from the root, in valid and unique words."""
    skeleton = character.template.skeleton
    paths: list[str] = []
    for joint, parent in enumerate(skeleton.parents):
        word = pxr.Tf.MakeValidIdentifier(skeleton.names[joint])
        above = f"{paths[parent]}/" if parent >= 0 else ""
        path = f"{above}{word}"
        paths.append(f"{path}_{joint}" if path in paths else path)
    return paths


def _add_skeleton(pxr: Pxr, stage: Any, character: Character, joints: list[str]) -> None:
    skeleton = pxr.UsdSkel.Skeleton.Define(stage, _RIG)
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateBindTransformsAttr(
        pxr.matrices(_shifts(np.asarray(character.template.skeleton.joints, np.float64)))
    )
    skeleton.CreateRestTransformsAttr(pxr.matrices(_shifts(character.joint_places)))
    binding = pxr.UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([_TAKE])


def _shifts(places: Float64[NumpyArray, "J 3"]) -> Float64[NumpyArray, "J 4 4"]:
    matrices = np.tile(np.eye(4), (len(places), 1, 1))
    matrices[:, :3, 3] = places
    return matrices


def _add_take(pxr: Pxr, stage: Any, character: Character, joints: list[str]) -> None:
    take = pxr.UsdSkel.Animation.Define(stage, _TAKE)
    take.CreateJointsAttr(joints)
    take.CreateScalesAttr(pxr.Vt.Vec3hArray(len(joints), pxr.Gf.Vec3h(1, 1, 1)))
    places = np.tile(character.joint_places, (character.frame_count, 1, 1))
    places[:, 0] += character.root_translation
    translations, rotations = take.CreateTranslationsAttr(), take.CreateRotationsAttr()
    for frame in range(character.frame_count):
        translations.Set(pxr.vectors(places[frame]), frame)
        rotations.Set(pxr.rotation_vectors(character.joint_rotations_wxyz[frame]), frame)
    if character.morph_count:
        take.CreateBlendShapesAttr(_morph_words(character))
        weights = take.CreateBlendShapeWeightsAttr()
        for frame, values in enumerate(character.morph_weights):
            weights.Set(pxr.numbers(values), frame)


def _morph_words(character: Character) -> list[str]:
    """Indexed, because two equal names would switch every blend shape off in silence."""
    return [f"morph_{index}" for index in range(character.morph_count)]


def add_mesh(pxr: Pxr, stage: Any, place: str, mesh: Mesh, colours: NumpyArray | None) -> Any:
    """A polygon surface at rest."""
    prim = pxr.UsdGeom.Mesh.Define(stage, place)
    faces, corner_uv = authored_faces(mesh), authored_uv(mesh)
    vertices = np.asarray(mesh.vertices, np.float64)
    prim.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
    prim.CreatePointsAttr(pxr.vectors(vertices))
    prim.CreateFaceVertexCountsAttr(pxr.integers(np.full(len(faces), faces.shape[1])))
    prim.CreateFaceVertexIndicesAttr(pxr.integers(faces.ravel()))
    prim.CreateExtentAttr(pxr.vectors(np.stack([vertices.min(axis=0), vertices.max(axis=0)])))
    prim.CreateNormalsAttr(pxr.vectors(vertex_normals(vertices, mesh.triangles)))
    prim.SetNormalsInterpolation(pxr.UsdGeom.Tokens.vertex)
    if mesh.uv is not None and corner_uv is not None:
        texture = pxr.UsdGeom.PrimvarsAPI(prim).CreatePrimvar(
            "st", pxr.Sdf.ValueTypeNames.TexCoord2fArray, pxr.UsdGeom.Tokens.faceVarying
        )
        rows = np.ascontiguousarray(mesh.uv, np.float32)
        texture.Set(pxr.Vt.Vec2fArray.FromNumpy(rows))
        texture.SetIndices(pxr.integers(corner_uv.ravel()))
    if colours is not None:
        display = prim.CreateDisplayColorPrimvar(pxr.UsdGeom.Tokens.vertex)
        display.Set(pxr.vectors(colours))
    return prim


def _bind_body(pxr: Pxr, stage: Any, character: Character, body: Any) -> None:
    binding = pxr.UsdSkel.BindingAPI.Apply(body.GetPrim())
    weights = character.template.weights
    influences = weights.values.shape[1]
    binding.CreateJointIndicesPrimvar(False, influences).Set(
        pxr.integers(weights.joint_indices.ravel())
    )
    binding.CreateJointWeightsPrimvar(False, influences).Set(pxr.numbers(weights.values.ravel()))
    binding.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(1))
    binding.CreateSkeletonRel().SetTargets([_RIG])
    if not character.morph_count:
        return
    words = _morph_words(character)
    for index, word in enumerate(words):
        shape = pxr.UsdSkel.BlendShape.Define(stage, f"{_ROOT}/body/{word}")
        shape.CreateOffsetsAttr(pxr.vectors(character.morph_offsets[index]))
        normals = character.morph_normals
        still = np.zeros_like(character.morph_offsets[index])
        shape.CreateNormalOffsetsAttr(pxr.vectors(still if normals is None else normals[index]))
        shape.GetPrim().SetDisplayName(character.morph_names[index])
    binding.CreateBlendShapesAttr(words)
    binding.CreateBlendShapeTargetsRel().SetTargets([f"{_ROOT}/body/{word}" for word in words])


def _add_attachment(pxr: Pxr, stage: Any, index: int, attachment: Attachment) -> Any:
    """A part: of a rigid one, every vertex has one joint with weight 1, which all readers play."""
    word = pxr.Tf.MakeValidIdentifier(attachment.name)
    place = f"{_ROOT}/{word}_{index}"
    colours = None if attachment.material is not None else attachment.vertex_colours
    prim = add_mesh(pxr, stage, place, attachment.mesh, colours)
    binding = pxr.UsdSkel.BindingAPI.Apply(prim.GetPrim())
    count = attachment.mesh.vertex_count
    joints, weights, influences = np.full(count, attachment.joint), np.ones(count), 1
    if attachment.binding is not None:
        soft = attachment.binding.weights
        joints, weights, influences = soft.joint_indices, soft.values, soft.values.shape[1]
    binding.CreateJointIndicesPrimvar(False, influences).Set(pxr.integers(joints.ravel()))
    binding.CreateJointWeightsPrimvar(False, influences).Set(pxr.numbers(weights.ravel()))
    binding.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(1))
    binding.CreateSkeletonRel().SetTargets([_RIG])
    return prim
