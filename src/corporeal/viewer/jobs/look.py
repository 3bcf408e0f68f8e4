"""Looking at a file that was given: what it is, and what the studio needs of it.

============== ====================================================================================
answer         of
============== ====================================================================================
`motion`       .bvh, AMASS and own .npz: fitted to the person, 60 frames a second
`take`         own animations .npz, skinned .glb: every frame in a file of the tab's folder
`body`         own bodies .npz: sliders and modifiers
`mesh`         .obj .ply .off .stl, .glb without a skin: for the skeleton editor
`skeleton`     .skel and .json
`person`       own bodies .npz that no sliders made, such as registered scans
`session`      .json: the document, not checked yet
`bundle`       .zip: the same with the files that it names, unpacked beside it
============== ====================================================================================
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from corporeal._typing import Float32, NumpyArray
from corporeal.body.body import Body
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.formats.gltf_read import read_glb_character, read_glb_mesh
from corporeal.formats.gltf_scene import read_gltf_scene
from corporeal.formats.native import ANIMATION, BODY, LAYERS, read_animation, read_body
from corporeal.formats.npz import open_npz
from corporeal.formats.registry import read_mesh
from corporeal.formats.skeletons import read_skeleton
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.incoming import motion_for_body
from corporeal.motions.resample import resample
from corporeal.runtime.input_files import read_input
from corporeal.viewer.document import MOST_SIZE, BodyChoice
from corporeal.viewer.jobs.bundle import unpacked
from corporeal.viewer.jobs.person import chosen_body
from corporeal.viewer.packets import Packet
from corporeal.viewer.playhead import FPS

MOST_SECONDS = 600.0
"""Of a motion."""
MOST_TAKE = 2 << 30
"""Bytes of a take's frames, in single precision."""
MOST_VERTICES = 400_000
"""Of a surface on the page."""


def look(path: str, choice: BodyChoice, layers: str | None, frames: str) -> Packet:
    """Look at `path`; motions are fitted to the chosen body, takes are written to `frames`."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix == ".bvh":
        return retarget(path, choice, layers)
    if suffix == ".npz":
        return _archive(file, choice, layers, frames)
    if suffix == ".glb":
        return _scene(file, frames)
    if suffix == ".json":
        return _json(file)
    if suffix == ".skel":
        return skeleton_packet(file)
    if suffix == ".zip":
        return unpacked(file)
    if suffix == ".xyz":
        raise InputError(f"{file.name} is a cloud of points: open it as a scan, in Body.")
    return mesh_packet(read_mesh(file))


def retarget(path: str, choice: BodyChoice, layers: str | None) -> Packet:
    """A motion file, fitted to the chosen body and resampled to what is shown."""
    body = chosen_body(choice, layers)
    came = motion_for_body(path, body.template, body.identity)
    seconds = came.motion.frame_count / came.motion.fps
    if seconds > MOST_SECONDS:
        raise InputError(
            f"the motion lasts {seconds:.0f} s; the studio plays up to {MOST_SECONDS:.0f} s. "
            f"Cut it first."
        )
    report = {"notes": list(came.notes), "frames": came.source.frame_count, "fps": came.source.fps}
    return _motion_packet(came.motion, report)


def _archive(file: Path, choice: BodyChoice, layers: str | None, frames: str) -> Packet:
    with open_npz(file, object_arrays="skip") as archive:
        kind = archive.text("format") if "format" in archive.headers else None
    if kind in (BODY, LAYERS):
        return _body_packet(file, read_body(file))
    if kind != ANIMATION:
        return retarget(str(file), choice, layers)
    animation = read_animation(file)
    _require_size(animation.vertices.shape)
    np.save(frames, np.asarray(animation.vertices, np.float32))
    fields = {"fps": animation.motion.fps, "deformer": animation.deformer}
    body = Body(animation.template, animation.identity, {})
    return _take_packet(fields | _sliders(body), animation.template.mesh, animation.motion)


def _scene(file: Path, frames: str) -> Packet:
    scene = read_gltf_scene(file)
    if not any(node.skin is not None and node.mesh is not None for node in scene.nodes):
        return mesh_packet(read_glb_mesh(file))
    from corporeal.geometry.rotations import axis_angle_from_quaternion
    from corporeal.skinning.playback import character_vertices, frame_chunks

    character = read_glb_character(file)
    mesh = character.template.mesh
    shape = (character.frame_count, mesh.vertex_count, 3)
    _require_size(shape)
    posed = open_memmap(frames, "w+", np.float32, shape)
    for part in frame_chunks(*shape[:2]):
        posed[part] = character_vertices(character, np.arange(shape[0])[part])
    posed.flush()
    motion = Motion(
        character.name,
        character.fps,
        axis_angle_from_quaternion(character.joint_rotations_wxyz.astype(np.float64)),
        character.root_translation.astype(np.float64),
        character.template.skeleton,
    )
    return _take_packet({"fps": character.fps, "deformer": "glTF"}, mesh, motion)


def _json(file: Path) -> Packet:
    content = read_input(file, at_most=MOST_SIZE)
    try:
        plain = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{file.name} is no JSON ({str(error)[:80]}).") from error
    if isinstance(plain, dict) and "joints" in plain:
        return skeleton_packet(file)
    return Packet("session", {"document": plain})


def skeleton_packet(file: Path) -> Packet:
    """A skeleton in its file's unit."""
    read = read_skeleton(file)
    tree = read.skeleton
    joints = np.asarray(tree.joints, np.float64).tolist()
    return Packet(
        "skeleton",
        {"names": list(tree.names), "parents": list(tree.parents), "joints": joints},
    )


def mesh_packet(mesh: Mesh) -> Packet:
    """A surface in its file's unit and axes."""
    if mesh.vertex_count > MOST_VERTICES:
        raise InputError(
            f"the surface has {mesh.vertex_count} vertices; the studio shows up to "
            f"{MOST_VERTICES}. Thin it out first."
        )
    arrays = {
        "vertices": np.asarray(mesh.vertices, np.float32),
        "triangles": np.asarray(mesh.triangles, np.uint32),
    }
    return Packet("mesh", {}, arrays)


def _body_packet(file: Path, body: Body) -> Packet:
    from corporeal.assets.default_body import load_default_body

    fields = _sliders(body)
    own = load_default_body().template.mesh.triangles
    if not fields and np.array_equal(body.template.mesh.triangles, own):
        return Packet("person")
    if not fields:
        raise InputError(
            f"{file.name} holds a body that no sliders made; the studio shapes bodies by sliders. "
            f"Animate it, and open the animation."
        )
    return Packet("body", fields)


def _sliders(body: Body) -> dict[str, Any]:
    """Sliders and modifiers that made a body; nothing where others than the studio's did."""
    model = PhenotypeModel()
    macro = {row.name for row in model.parameters}
    local = {row.name for row in model.local_parameters}
    found = {name: float(np.asarray(value)) for name, value in body.identity.parameters.items()}
    if not found or not set(found) <= macro | local:
        return {}
    return {
        "sliders": {name: value for name, value in found.items() if name in macro},
        "local": {name: value for name, value in found.items() if name in local and value != 0.0},
    }


def _take_packet(fields: dict[str, Any], mesh: Mesh, motion: Motion) -> Packet:
    """A take; its triangles and motion go along where they are others, or the studio's own."""
    from corporeal.assets.default_body import load_default_body

    template = load_default_body().template
    arrays: dict[str, NumpyArray] = {}
    if not np.array_equal(mesh.triangles, template.mesh.triangles):
        arrays["triangles"] = np.asarray(mesh.triangles, np.uint32)
    own = in_order(motion, template.skeleton)
    if own is not None:
        moved = _motion_packet(own, {})
        fields = fields | {"motion": moved.fields}
        arrays |= moved.arrays
    return Packet("take", fields, arrays)


def in_order(motion: Motion, skeleton: Skeleton) -> Motion | None:
    """A motion of the same joints, in another file's order, with those of `skeleton`; None for
    other joints."""
    theirs = motion.skeleton
    if sorted(theirs.names) != sorted(skeleton.names):
        return None
    order = [theirs.names.index(name) for name in skeleton.names]
    ups = [theirs.parents[joint] for joint in order]
    if tuple(-1 if up < 0 else order.index(up) for up in ups) != skeleton.parents:
        return None
    joints = np.asarray(theirs.joints, np.float64)[order]
    return Motion(
        motion.name,
        motion.fps,
        np.asarray(motion.joint_rotations)[:, order],
        motion.root_translation,
        Skeleton(skeleton.names, skeleton.parents, joints),
    )


def _motion_packet(motion: Motion, report: dict[str, Any]) -> Packet:
    shown = motion if motion.fps == FPS else resample(motion, FPS)
    return Packet(
        "motion",
        report | {"name": shown.name},
        {
            "rotations": _single(shown.joint_rotations),
            "root": _single(shown.root_translation),
            "joints": _single(shown.skeleton.joints),
        },
    )


def _single(array: Any) -> Float32[NumpyArray, "..."]:
    return np.asarray(array, np.float32)


def _require_size(shape: tuple[int, ...]) -> None:
    frames, vertices = shape[:2]
    if 12 * frames * vertices > MOST_TAKE or vertices > MOST_VERTICES:
        raise InputError(
            f"the take has {frames} frames of {vertices} vertices; the studio shows up to "
            f"{MOST_VERTICES} vertices and {MOST_TAKE >> 30} GiB of them. Write a shorter one."
        )
