"""corporeal's own `.npz` files: bodies, motions and animations, without pickles.

==================== =========== ====== ========= ========================================
array                body        motion animation unit, meaning
==================== =========== ====== ========= ========================================
`format`             text        text   text      `corporeal-body`, `-motion`, `-animation`
`rest_vertices`      (V,3)       –      (V,3)     metres, zero pose
`rest_joints`        (J,3)       –      (J,3)     metres, zero pose
`parameter/<name>`   any         –      any       what made the identity
`measurement/<name>` ()          –      ()        SI units
`template/…`         yes         –      yes       rigged surface: topology, weights, parts, repose
`faces`              (F,3)       –      (F,3)     triangles
`joint_names`        (J,)        (J,)   (J,)      text
`joint_parents`      (J,)        (J,)   (J,)      −1 for the root
`skeleton_joints`    –           (J,3)  (J,3)     metres, skeleton the motion was made for
`fps`                –           ()     ()        frames a second
`joint_rotations`    –           (N,J,3) (N,J,3)  axis-angle, radians
`root_translation`   –           (N,3)  (N,3)     metres
`vertices`           –           –      (N,V,3)   metres, float32
`joints`             –           –      (N,J,3)   metres
`world_from_joint`   –           –      (N,J,4,4) rigid frames
`pose_offsets`       –           –      (N,V,3)   metres, where the deformer knows them
`dynamic_offsets`    –           –      (N,V,3)   metres, where the deformer knows them
`offset_skinning`    –           –      text      what they are relative to: `lbs`, `dqs`
==================== =========== ====== ========= ========================================

Everything survives the round trip. An animation file holds its body, so it also serves wherever a
body file is asked for.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.repose import Repose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import FormatError, InputError
from corporeal.formats.npz import NpzReader, open_npz, write_npz

BODY, MOTION, ANIMATION = "corporeal-body", "corporeal-motion", "corporeal-animation"
LAYERS = "corporeal-layers"
VERSION = 1

Arrays = dict[str, NumpyArray]


def write_body(path: str | Path, body: Body) -> None:
    """Write a body file."""
    write_npz(path, head_arrays(BODY) | body_arrays(body))


def read_body(path: str | Path) -> Body:
    """Read a body file, or the body inside an animation or layers file."""
    with open_npz(path) as file:
        require_format(file, BODY, ANIMATION, LAYERS)
        return body_from(file)


def write_motion(path: str | Path, motion: Motion) -> None:
    """Write a motion file."""
    write_npz(path, head_arrays(MOTION) | _motion_arrays(motion))


def read_motion(path: str | Path) -> Motion:
    """Read a motion file, or the motion inside an animation file."""
    with open_npz(path) as file:
        require_format(file, MOTION, ANIMATION)
        return _motion(file)


def write_animation(
    path: str | Path, animation: Animation, measurements: Mapping[str, float]
) -> None:
    """Write an animation file, with the body's `measurements` (SI units)."""
    body = Body(animation.template, animation.identity, measurements)
    arrays = head_arrays(ANIMATION) | {
        "vertices": np.asarray(animation.vertices, np.float32),
        "joints": np.asarray(animation.joints),
        "world_from_joint": np.asarray(animation.world_from_joint),
        "deformer": np.asarray(animation.deformer),
    }
    for name in ("pose_offsets", "dynamic_offsets"):
        if (offsets := getattr(animation, name)) is not None:
            arrays[name] = np.asarray(offsets)
    if animation.offset_skinning:
        arrays["offset_skinning"] = np.asarray(animation.offset_skinning)
    write_npz(path, arrays | _motion_arrays(animation.motion) | body_arrays(body))


def read_animation(path: str | Path) -> Animation:
    """Read an animation file."""
    with open_npz(path) as file:
        require_format(file, ANIMATION)
        body = body_from(file)
        motion = _motion(file)
        optional = {
            name: file.array(name, "f", ("N", "V", 3)) if name in file.headers else None
            for name in ("pose_offsets", "dynamic_offsets")
        }
        return Animation(
            deformer=file.text("deformer"),
            template=body.template,
            identity=body.identity,
            motion=motion,
            vertices=file.array("vertices", "f", ("N", "V", 3)),
            world_from_joint=file.array("world_from_joint", "f", ("N", "J", 4, 4)),
            pose_offsets=optional["pose_offsets"],
            dynamic_offsets=optional["dynamic_offsets"],
            offset_skinning=file.text(name) if (name := "offset_skinning") in file.headers else "",
            measurements=body.measurements,
        )


def head_arrays(kind: str) -> Arrays:
    """What every file begins with."""
    return {"format": np.asarray(kind), "format_version": np.asarray(VERSION)}


def require_format(file: NpzReader, *kinds: str) -> None:
    """Raise `FormatError` unless the file is one of `kinds`, in a version known here."""
    found = file.text("format") if "format" in file.headers else None
    if found not in kinds:
        what = f"a {found} file" if found else "no corporeal file (it has no array 'format')"
        raise FormatError(f"{file.path} is {what}; expected {' or '.join(kinds)}.")
    version = int(file.array("format_version", "i", ()))
    if version > VERSION:
        raise FormatError(
            f"{file.path} has format version {version}; this corporeal reads up to {VERSION}. "
            f"Install a newer corporeal."
        )


def body_arrays(body: Body) -> Arrays:
    """A body as a file holds it."""
    if np.ndim(body.identity.rest_vertices) != 2:
        raise InputError(
            f"identity has shape {np.shape(body.identity.rest_vertices)}; a body file holds one "
            f"person (V, 3). Write a batch one by one."
        )
    arrays = {
        "rest_vertices": np.asarray(body.identity.rest_vertices),
        "rest_joints": np.asarray(body.identity.joints),
    }
    for name, value in body.identity.parameters.items():
        arrays[f"parameter/{name}"] = np.asarray(value, np.float64)
    for name, value in body.measurements.items():
        arrays[f"measurement/{name}"] = np.asarray(value, np.float64)
    return arrays | _template_arrays(body.template)


def body_from(file: NpzReader) -> Body:
    """The body in a file."""
    template = _template(file)
    parameters: dict[str, Any] = {}
    for name in file.names("parameter/"):
        shape = tuple(f"{name} axis {axis}" for axis in range(len(file.headers[name].shape)))
        parameters[name.removeprefix("parameter/")] = file.array(name, "f", shape)
    identity = Identity(
        file.array("rest_vertices", "f", ("V", 3)),
        file.array("rest_joints", "f", ("J", 3)),
        parameters,
    )
    measurements = {
        name.removeprefix("measurement/"): float(file.array(name, "f", ()))
        for name in file.names("measurement/")
    }
    return Body(template, identity, measurements)


def _motion_arrays(motion: Motion) -> Arrays:
    return {
        "motion_name": np.asarray(motion.name),
        "fps": np.asarray(float(motion.fps)),
        "joint_rotations": np.asarray(motion.joint_rotations),
        "root_translation": np.asarray(motion.root_translation),
        "skeleton_joints": np.asarray(motion.skeleton.joints),
    } | _tree_arrays(motion.skeleton)


def _motion(file: NpzReader) -> Motion:
    names, parents = _tree(file)
    return Motion(
        name=file.text("motion_name"),
        fps=float(file.array("fps", "f", ())),
        joint_rotations=file.array("joint_rotations", "f", ("N", "J", 3)),
        root_translation=file.array("root_translation", "f", ("N", 3)),
        skeleton=Skeleton(names, parents, file.array("skeleton_joints", "f", ("J", 3))),
    )


def _tree_arrays(skeleton: Skeleton) -> Arrays:
    return {
        "joint_names": np.asarray(skeleton.names, np.str_),
        "joint_parents": np.asarray(skeleton.parents, np.int32),
    }


def _tree(file: NpzReader) -> tuple[tuple[str, ...], tuple[int, ...]]:
    names = tuple(str(name) for name in file.array("joint_names", "U", ("J",)))
    parents = tuple(int(parent) for parent in file.array("joint_parents", "i", ("J",)))
    return names, parents


_MESH_OPTIONAL = {
    "quads": ("i", ("Q", 4)),
    "uv": ("f", ("U", 2)),
    "uv_triangles": ("i", ("F", 3)),
    "mirror": ("i", ("V",)),
}


_REPOSE = {
    "rotations": ("f", ("repose bones", 3, 3)),
    "parents": ("i", ("repose bones",)),
    "pivots": ("i", ("repose bones",)),
    "bone_indices": ("i", ("V", "bones a vertex")),
    "bone_weights": ("f", ("V", "bones a vertex")),
    "joint_bones": ("i", ("J",)),
}


def _template_arrays(template: Template) -> Arrays:
    mesh, weights = template.mesh, template.weights
    arrays = {
        "faces": np.asarray(mesh.triangles),
        "template/vertices": np.asarray(mesh.vertices),
        "template/joints": np.asarray(template.skeleton.joints),
        "template/weight_joints": weights.joint_indices,
        "template/weights": weights.values,
        "template/part_names": np.asarray(template.part_names, np.str_),
        "template/part_labels": template.part_labels,
    }
    for name in _MESH_OPTIONAL:
        if (array := getattr(mesh, name)) is not None:
            arrays[f"template/{name}"] = np.asarray(array)
    if template.repose is not None:
        for name in _REPOSE:
            arrays[f"template/repose_{name}"] = getattr(template.repose, name)
    return arrays | _tree_arrays(template.skeleton)


def _template(file: NpzReader) -> Template:
    names, parents = _tree(file)
    optional = {
        name: file.array(f"template/{name}", kind, shape)
        if f"template/{name}" in file.headers
        else None
        for name, (kind, shape) in _MESH_OPTIONAL.items()
    }
    mesh = Mesh(
        vertices=file.array("template/vertices", "f", ("V", 3)),
        triangles=file.array("faces", "i", ("F", 3)),
        quads=optional["quads"],
        uv=optional["uv"],
        uv_triangles=optional["uv_triangles"],
        mirror=optional["mirror"],
    )
    weights = SkinWeights(
        joint_indices=file.array("template/weight_joints", "i", ("V", "K")),
        values=file.array("template/weights", "f", ("V", "K")),
        joint_count=len(names),
    )
    return Template(
        mesh=mesh,
        skeleton=Skeleton(names, parents, file.array("template/joints", "f", ("J", 3))),
        weights=weights,
        part_names=tuple(str(n) for n in file.array("template/part_names", "U", ("B",))),
        part_labels=file.array("template/part_labels", "i", ("V",)),
        repose=_repose(file),
    )


def _repose(file: NpzReader) -> Repose | None:
    """None for bodies that came in the zero pose, and in files from before it was kept."""
    if "template/repose_rotations" not in file.headers:
        return None
    return Repose(
        **{
            name: file.array(f"template/repose_{name}", kind, shape)
            for name, (kind, shape) in _REPOSE.items()
        }
    )
