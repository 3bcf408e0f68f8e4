"""A skinned surface of a glTF scene, with its animation, as a character.

glTF joints may have any axes at rest; a character's have the world's. With the way from the mesh
to a joint at rest, B_j, and the joint's place in the world, W_j(t), glTF moves a vertex by
A_j(t) = W_j(t) B_j. The character's joint frame is then A_j(t) shifted to the joint's rest place.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.attachment import Attachment
from corporeal.body.character import ENGINE_INFLUENCES, Character
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import FormatError, InputError
from corporeal.formats.gltf_scene import GltfScene
from corporeal.formats.gltf_surface import JoinedSurface, join_surface
from corporeal.formats.gltf_tracks import Tracks, key_times, sample, world_matrices
from corporeal.geometry.tracks import local_rotation_tracks
from corporeal.runtime.names import repeated

DEFAULT_FPS = 30.0
_MAX_MATRICES = 4_000_000
"""Joint matrices that one file may ask for: 1 000 joints at 4 000 frames."""

_RIGID = 2e-3
"""A joint's motion may be off a rotation with one common scale by this much."""

_STRETCH_M = 1e-3
"""A joint may leave its rest distance from its parent by this much, metres."""


@dataclass(frozen=True)
class _Joints:
    """Joints in tree order."""

    nodes: list[int]
    slots: Int[NumpyArray, "J"]
    """Place of every joint in the skin's own list."""
    skeleton: Skeleton
    """Rest places in metres: the file's, times the scale of the rig."""
    world_from_joint: Float64[NumpyArray, "N J 4 4"]
    scale: float
    """Metres a unit of the mesh."""


def rig_character(
    scene: GltfScene,
    node: int,
    name: str,
    tracks: Tracks,
    fps: float | None,
    noted: tuple[float, int] | None = None,
) -> Character:
    """The character that the skinned `node` is; `FormatError` where it cannot be one.

    `noted` are the frames a second and the frames that the file says its thinned tracks have.
    """
    times, rate = _frame_times(tracks, fps, noted)
    mesh, skin = scene.nodes[node].mesh, scene.nodes[node].skin
    assert mesh is not None
    assert skin is not None
    surface = join_surface(scene.meshes[mesh])
    joints = _joints(scene, skin, tracks, times)
    weights = _morph_weights(tracks, node, scene.meshes[mesh].morph_weights, times)
    world = joints.world_from_joint
    return Character(
        name=name,
        fps=rate,
        template=_template(surface, joints),
        joint_rotations_wxyz=local_rotation_tracks(world, joints.skeleton.parents),
        root_translation=world[:, 0, :3, 3] - joints.skeleton.joints[0],
        morph_names=scene.meshes[mesh].morph_names,
        morph_offsets=joints.scale * surface.morph_offsets,
        morph_weights=weights,
        morph_normals=surface.morph_normals,
        attachments=_attachments(scene, skin, joints),
        vertex_colours=surface.colours,
    )


def _frame_times(
    tracks: Tracks, fps: float | None, noted: tuple[float, int] | None
) -> tuple[Float64[NumpyArray, "N"], float]:
    if not tracks:
        return np.zeros(1), fps or DEFAULT_FPS
    if fps is None and noted is not None and noted[1] < _MAX_MATRICES:
        exact = np.arange(noted[1]) / noted[0]
        return exact.astype(np.float32).astype(np.float64), noted[0]  # as keys are written
    times, rate = key_times(tracks)
    if fps is None and rate is not None:
        return times, rate
    fps = fps or DEFAULT_FPS
    count = (times[-1] - times[0]) * fps
    if not count < _MAX_MATRICES:
        raise FormatError(f"its animation lasts {times[-1] - times[0]:.3g} s, too long to resample")
    return times[0] + np.arange(int(count + 1e-6) + 1) / fps, fps


def _morph_weights(
    tracks: Tracks, node: int, still: Float64[NumpyArray, "B"], times: Float64[NumpyArray, "N"]
) -> Float64[NumpyArray, "N B"]:
    for track in tracks:
        if track.node == node and track.path == "weights":
            return sample(track, times)
    return np.tile(still, (len(times), 1))


def _joints(
    scene: GltfScene, skin: int, tracks: Tracks, times: Float64[NumpyArray, "N"]
) -> _Joints:
    slots, parents = _tree(scene, skin)
    own = scene.skins[skin]
    nodes = [own.joints[slot] for slot in slots]
    if len(times) * len(nodes) > _MAX_MATRICES:
        raise FormatError(f"it asks for {len(times)} frames of {len(nodes)} joints, too many")
    world = world_matrices(scene, tracks, nodes, times)
    bind = own.joint_from_mesh[slots]
    world_from_mesh = np.stack([world[node] for node in nodes], axis=1) @ bind
    scale = _common_scale(world_from_mesh)
    frames = world_from_mesh.copy()
    frames[..., :3, :3] = _rotations(world_from_mesh[..., :3, :3] / scale)
    try:
        rest = scale * np.linalg.inv(bind)[:, :3, 3]
    except np.linalg.LinAlgError as error:
        raise FormatError("a bind matrix has no inverse") from error
    # W'_j = A_j · (I, x_j)
    frames[..., :3, 3] += np.einsum("njab,jb->nja", frames[..., :3, :3], rest)
    skeleton = Skeleton(_names(scene, nodes), parents, rest)
    _require_steady_bones(skeleton, frames)
    return _Joints(nodes, slots, skeleton, frames, scale)


def _tree(scene: GltfScene, skin: int) -> tuple[Int[NumpyArray, "J"], tuple[int, ...]]:
    """Slots of the joints with parents before children, and the parent of each in that order."""
    joints = scene.skins[skin].joints
    slot_of = {node: slot for slot, node in enumerate(joints)}
    above: list[int] = []
    depth: list[int] = []
    for node in joints:
        steps, up = 0, scene.nodes[node].parent
        while up >= 0 and up not in slot_of:
            up = scene.nodes[up].parent
        above.append(slot_of.get(up, -1))
        while node >= 0:
            steps, node = steps + 1, scene.nodes[node].parent
        depth.append(steps)
    order = np.argsort(depth, kind="stable")
    if above.count(-1) != 1:
        raise FormatError(f"its skin has {above.count(-1)} root joints; expected one")
    place = {int(slot): index for index, slot in enumerate(order)}
    return order, tuple(place[above[slot]] if above[slot] >= 0 else -1 for slot in order)


def _names(scene: GltfScene, nodes: list[int]) -> tuple[str, ...]:
    names = [scene.nodes[node].name for node in nodes]
    twice = set(repeated(names))
    return tuple(
        f"{name}_{node}" if name in twice else name for name, node in zip(names, nodes, strict=True)
    )


def _common_scale(world_from_mesh: Float64[NumpyArray, "N J 4 4"]) -> float:
    volumes = np.linalg.det(world_from_mesh[..., :3, :3])
    scale = float(np.cbrt(np.median(volumes)))
    if not (np.isfinite(scale) and 1e-6 < scale < 1e6):
        raise FormatError(f"its joints scale the surface by {scale:.3g}")
    return scale


def _rotations(matrices: Float64[NumpyArray, "N J 3 3"]) -> Float64[NumpyArray, "N J 3 3"]:
    """The matrices, made orthonormal; float32 files are off by rounding."""
    products = matrices.swapaxes(-1, -2) @ matrices
    error = np.abs(products - np.eye(3)).max(initial=0)
    if not error < _RIGID:
        raise FormatError(
            f"a joint scales or shears the surface (off a rotation by {error:.3g}); a character's "
            f"joints turn only. Bake the scale into the animation as morph targets"
        )
    left, _, right = np.linalg.svd(matrices)
    return left @ right


def _require_steady_bones(
    skeleton: Skeleton, world_from_joint: Float64[NumpyArray, "N J 4 4"]
) -> None:
    places = world_from_joint[..., :3, 3]
    parents = list(skeleton.parents[1:])
    turns = world_from_joint[:, parents, :3, :3].swapaxes(-1, -2)
    bones = np.einsum("njab,njb->nja", turns, places[:, 1:] - places[:, parents])
    rest = np.asarray(skeleton.joints)
    apart = np.abs(bones - (rest[1:] - rest[parents])).max(axis=(0, 2), initial=0)
    if len(apart) and not apart.max() < _STRETCH_M:
        joint = int(apart.argmax()) + 1
        raise InputError(
            f"joint {skeleton.names[joint]!r} moves {1e3 * apart[joint - 1]:.1f} mm away from its "
            f"rest place on its parent; a character's bones keep their lengths. Export without "
            f"stretching bones"
        )


def _template(surface: JoinedSurface, joints: _Joints) -> Template:
    own, weights = surface.joints, surface.weights
    if own is None or weights is None:
        raise FormatError("its skinned surface has no weights")
    if own.max(initial=0) >= len(joints.slots):
        raise FormatError(f"a vertex names joint {own.max()} of {len(joints.slots)}")
    if weights.min(initial=0) < 0 or not (weights.sum(axis=1) > 0).all():
        raise FormatError("a vertex has weights that are negative or all zero")
    back = np.argsort(joints.slots)
    order = np.argsort(-weights, axis=1, kind="stable")[:, :ENGINE_INFLUENCES]
    values = np.take_along_axis(weights, order, axis=1)
    names = np.take_along_axis(back[own], order, axis=1)
    names = np.where(values > 0, names, names[:, :1]).astype(np.int32)
    values = values / values.sum(axis=1, keepdims=True)
    mesh = surface.mesh
    scaled = Mesh(
        joints.scale * np.asarray(mesh.vertices),
        mesh.triangles,
        uv=mesh.uv,
        uv_triangles=mesh.uv_triangles,
    )
    skin = SkinWeights(names, values, len(joints.slots))
    return Template(scaled, joints.skeleton, skin, ("body",), np.zeros(len(names), np.int64))


def _attachments(scene: GltfScene, skin: int, joints: _Joints) -> tuple[Attachment, ...]:
    """Surfaces that hang under a joint without a skin of their own, in the rest pose."""
    attachments: list[Attachment] = []
    bind = scene.skins[skin].joint_from_mesh[joints.slots]
    for index, node in enumerate(scene.nodes):
        if node.mesh is None or node.skin is not None:
            continue
        up = index
        while up >= 0 and up not in joints.nodes:
            up = scene.nodes[up].parent
        if up < 0:
            continue
        joint = joints.nodes.index(up)
        world = world_matrices(scene, (), [index], np.zeros(1))
        if not np.linalg.det(world[up][0]):
            raise FormatError(f"node {up} is flattened to nothing")
        joint_from_part = np.linalg.inv(world[up][0]) @ world[index][0]
        mesh_from_part = np.linalg.inv(bind[joint]) @ joint_from_part
        surface = join_surface(scene.meshes[node.mesh])
        local = np.asarray(surface.mesh.vertices)
        places = joints.scale * (local @ mesh_from_part[:3, :3].T + mesh_from_part[:3, 3])
        mesh = Mesh(
            places,
            surface.mesh.triangles,
            uv=surface.mesh.uv,
            uv_triangles=surface.mesh.uv_triangles,
        )
        colours = np.ones_like(places) if surface.colours is None else surface.colours
        attachments.append(Attachment(node.name, mesh, colours, joint))
    return tuple(attachments)
