"""The volumetric model: skin, its shrunken copy on the bones, and the tetrahedra between them.

Komaritzan 2022, section 3.2.1 (model), section 3.3 (parts that are not simulated) and
section 3.4.1 (virtual bones).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.geometry.components import connected_parts
from corporeal.physics.volumetric_mesh.base_points import (
    BasePoints,
    closest_base_points,
    smooth_base_points,
)
from corporeal.physics.volumetric_mesh.bones import VolumetricSkeleton, inflate_skeleton
from corporeal.physics.volumetric_mesh.carried_parts import followers
from corporeal.physics.volumetric_mesh.intersections import NO_HIT, ON_JOINT, Hits, shrink_lines
from corporeal.physics.volumetric_mesh.mirrored_bones import MirroredBones, mirrored_bones
from corporeal.physics.volumetric_mesh.prisms import (
    degenerate_elements,
    signed_volumes,
    split_prisms,
)
from corporeal.runtime.pytree_dataclass import pytree_dataclass

SUM_TO_ONE = 1e-6
"""How far the shares of the joints that carry a vertex may be from 1 together."""


@dataclass(frozen=True)
class VolumeReport:
    """What was found while a volumetric model was built, and what was done about it."""

    smoothing_rounds: int
    """Rounds until the base points settled."""
    carried_tetrahedra: int
    """Left out: joints carry all three skin corners."""
    inverted_tetrahedra: int
    """Kept with two corners swapped: they overlap others, but their strain is as well defined."""
    degenerate_tetrahedra: int
    """Dropped: thinner than 2 % of an edge."""
    unsupported_vertices: int
    """Made rigid: skin vertices of no kept tetrahedron, of some that only hinge on the bones, and
    of parts too small for their distance to the bones."""
    free_inner_vertices: int
    """Inner vertices on no bone or joint: free and massless."""
    buried_vertices: int
    """Skin vertices inside a bone or joint, whose inner copy is their base point."""


@pytree_dataclass(static=("report",))
class VolumetricModel:
    """Flesh between a skin and its skeleton. Vertices 0 … V−1 are the skin, V … 2V−1 its copy."""

    skin: Float[NumpyArray, "V 3"]
    """Rest positions, metres."""
    inner: Float[NumpyArray, "V 3"]
    """Rest positions of the shrunken copy, metres."""
    triangles: Int[NumpyArray, "F 3"]
    """Of the skin, counter-clockwise seen from outside."""
    tetrahedra: Int[NumpyArray, "T 4"]
    """Corners among the 2V vertices; every rest volume is positive."""
    tetrahedron_triangles: Int[NumpyArray, "T"]
    """Skin triangle whose prism a tetrahedron is part of."""
    base_points: Float[NumpyArray, "V 3"]
    """Points on the bone lines that the skin was shrunk towards, metres."""
    inner_bones: Int[NumpyArray, "V"]
    """Bone that an inner vertex lies on or next to."""
    inner_nodes: Int[NumpyArray, "V"]
    """Joint sphere (node) that an inner vertex lies on; −1 elsewhere."""
    free_inner: Bool[NumpyArray, "V"]
    """Inner vertices on no bone or joint."""
    carried: Bool[NumpyArray, "V"]
    """Skin vertices that joints carry, instead of being simulated."""
    carriers: csr_array
    """Shares (V × J) of those joints, 1 together; none for simulated vertices."""
    bones: VolumetricSkeleton
    """Spheres and capsules that the inner copy lies on."""
    report: VolumeReport
    """What was found and repaired while it was built."""
    mirror: Int[NumpyArray, "V"] | None = None
    """Skin vertex on the other side of the plane x = 0, where the surface is its own image."""

    @property
    def vertex_count(self) -> int:
        """Number V of skin vertices."""
        return len(self.skin)

    @property
    def vertices(self) -> Float[NumpyArray, "n 3"]:
        """All 2V rest positions: skin, then inner (metres)."""
        return np.concatenate([self.skin, self.inner])

    def check(self) -> None:
        """Raise `InputError` unless every tetrahedron's rest volume is positive."""
        require_indices("tetrahedra", self.tetrahedra, 2 * len(self.skin))
        volumes = signed_volumes(self.vertices, self.tetrahedra)
        if (volumes <= 0).any():
            raise InputError(
                f"{int((volumes <= 0).sum())} of {len(volumes)} tetrahedra have no positive rest "
                f"volume; expected all. Use build_volumetric_model."
            )


@dataclass(frozen=True, eq=False)
class Binding:
    """Where on which bones a skin belongs: found in one pose, and the same in others."""

    bones: VolumetricSkeleton
    """In the pose that a model is built in."""
    nearest: BasePoints
    """Nearest to the skin."""
    base: BasePoints
    """Smoothed; the skin is shrunk towards them."""
    rounds: int
    """Of smoothing."""


def bind_skin(
    mesh: Mesh,
    skeleton: Skeleton,
    *,
    radii: Float[NumpyArray, "J"] | None = None,
    radius_factor: float = 1.0,
    virtual_bones: tuple[str, ...] = (),
) -> Binding:
    """Bones with volume (`inflate_skeleton`), and the base points of the skin on them."""
    skin = np.asarray(mesh.vertices, np.float64)
    bones = inflate_skeleton(
        mesh, skeleton, radii=radii, radius_factor=radius_factor, virtual_bones=virtual_bones
    )
    mirrored = mirrored_bones(skin, mesh.mirror, bones.nodes, bones.bones)
    nearest = closest_base_points(skin, bones, mirrored)
    triangles = np.asarray(mesh.triangles, np.int64)
    base, rounds = smooth_base_points(nearest, bones, skin, triangles, mirrored)
    return Binding(bones, nearest, base, rounds)


def build_volumetric_model(
    mesh: Mesh,
    skeleton: Skeleton,
    *,
    radii: Float[NumpyArray, "J"] | None = None,
    radius_factor: float = 1.0,
    carriers: csr_array | None = None,
    virtual_bones: tuple[str, ...] = (),
    binding: Binding | None = None,
) -> VolumetricModel:
    """Shrink a skin onto its bones and fill the space between with tetrahedra.

    The skin may have holes, noise and self-intersections. `radii` (metres), `radius_factor` and
    `virtual_bones` are those of `inflate_skeleton`; `carriers` are the shares (V × J) of the
    joints that carry a vertex (`carried_parts`), none for vertices that are simulated (all of them,
    if None). A `binding` found in another pose, its bones moved to that of `mesh`, takes the place
    of radii and virtual bones.
    """
    skin = np.asarray(mesh.vertices, np.float64)
    triangles = np.asarray(mesh.triangles, np.int64)
    if len(triangles) == 0:
        raise InputError("skin mesh has no triangles; a volumetric model needs a surface.")
    carriers = _checked_carriers(carriers, len(skin), skeleton.joint_count)
    carried = np.diff(carriers.indptr) > 0
    binding = binding or bind_skin(
        mesh, skeleton, radii=radii, radius_factor=radius_factor, virtual_bones=virtual_bones
    )
    bones, base = binding.bones, binding.base
    mirrored = mirrored_bones(skin, mesh.mirror, bones.nodes, bones.bones)
    base_points = base.positions(bones.nodes, bones.bones)
    hits = shrink_lines(skin, base_points, bones)
    inner = _along(skin, base_points, hits.distances)
    inner_bones, inner_nodes = _bindings(base, hits, bones)
    if mirrored is not None:
        inner_bones, inner_nodes = _mirrored_bindings(
            mirrored, inner, base, bones, inner_bones, inner_nodes
        )
    free = _on_virtual(inner_bones, inner_nodes, bones)
    tetrahedra, owners, counts = _elements(skin, inner, triangles, carried, mesh.mirror)
    held = _held(tetrahedra, carried, free)
    unsupported = ~carried & (~held | _loose(skin, inner, triangles))
    _require_flesh(carried, unsupported, len(triangles))
    own = np.where(unsupported, bones.bone_joints[binding.nearest.bones], -1)
    carriers = csr_array(carriers + followers(own, skeleton.joint_count))
    report = VolumeReport(
        binding.rounds,
        *counts,
        int(unsupported.sum()),
        int(free.sum()),
        int((hits.kinds == NO_HIT).sum()),
    )
    return VolumetricModel(
        skin,
        inner,
        triangles,
        tetrahedra,
        owners,
        base_points,
        inner_bones,
        inner_nodes,
        free,
        carried | unsupported,
        carriers,
        bones,
        report,
        mesh.mirror,
    )


def _checked_carriers(carriers: csr_array | None, count: int, joint_count: int) -> csr_array:
    if carriers is None:
        return csr_array((count, joint_count))
    rows, columns = carriers.shape  # pyright: ignore[reportGeneralTypeIssues]
    if (rows, columns) != (count, joint_count):
        raise InputError(
            f"carriers have {rows} × {columns} shares; expected {count} × {joint_count}, one row a "
            f"vertex and one column a joint."
        )
    total = np.asarray(carriers.sum(axis=1)).ravel()[np.diff(carriers.indptr) > 0]
    off = float(np.abs(total - 1.0).max(initial=0.0))
    if not off < SUM_TO_ONE or float(carriers.data.min(initial=0.0)) < 0.0:
        raise InputError(
            f"shares of the joints that carry a vertex sum to 1 ± {off:.3g}, the smallest is "
            f"{carriers.data.min(initial=0.0):.3g}; expected 1, none below 0, or an empty row."
        )
    return csr_array(carriers)


def _along(
    start: Float[NumpyArray, "V 3"],
    end: Float[NumpyArray, "V 3"],
    distances: Float[NumpyArray, "V"],
) -> Float[NumpyArray, "V 3"]:
    line = end - start
    length = np.linalg.norm(line, axis=1)
    share = np.divide(distances, length, out=np.ones_like(length), where=length > 0)
    return start + share[:, None] * line


def _bindings(
    base: BasePoints, hits: Hits, bones: VolumetricSkeleton
) -> tuple[Int[NumpyArray, "V"], Int[NumpyArray, "V"]]:
    """Bone and joint sphere of every inner vertex.

    On a bone or cone it is that bone; on a joint, the base point's bone if it meets the joint, else
    the first that does.
    """
    on_joint = hits.kinds == ON_JOINT
    nodes = np.where(on_joint, hits.elements, -1)
    meets = (bones.bones[base.bones] == nodes[:, None]).any(axis=1)
    some_bone = np.zeros(len(bones.nodes), np.int64)
    reverse = np.arange(len(bones.bones))[::-1]
    some_bone[bones.bones[reverse, 0]] = reverse
    some_bone[bones.bones[reverse, 1]] = reverse
    chosen = np.where((hits.kinds == NO_HIT) | (on_joint & meets), base.bones, hits.elements)
    return np.where(on_joint & ~meets, some_bone[nodes], chosen), nodes


def _mirrored_bindings(
    mirrored: MirroredBones,
    inner: Float[NumpyArray, "V 3"],
    base: BasePoints,
    bones: VolumetricSkeleton,
    inner_bones: Int[NumpyArray, "V"],
    inner_nodes: Int[NumpyArray, "V"],
) -> tuple[Int[NumpyArray, "V"], Int[NumpyArray, "V"]]:
    """The same with mirrored bones and joints for mirror images, and those on the plane for
    vertices there: where a bone beside it was hit, their base point's."""
    image, beside = mirrored.vertices, ~mirrored.middle_bones[inner_bones]
    inner_bones = np.where(mirrored.middle_vertices & beside, base.bones, inner_bones)
    meets = (bones.bones[inner_bones] == inner_nodes[:, None]).any(axis=1)
    inner_nodes = np.where(meets, inner_nodes, -1)
    follows = mirrored.followers(inner)
    images = np.where(inner_nodes >= 0, mirrored.nodes[inner_nodes], -1)
    return (
        np.where(follows, mirrored.bones[inner_bones[image]], inner_bones),
        np.where(follows, images[image], inner_nodes),
    )


def _on_virtual(
    inner_bones: Int[NumpyArray, "V"], inner_nodes: Int[NumpyArray, "V"], bones: VolumetricSkeleton
) -> Bool[NumpyArray, "V"]:
    """Inner vertices on virtual bones, and on joints where only virtual bones meet."""
    real_node = np.zeros(len(bones.nodes), bool)
    real_node[bones.bones[~bones.virtual].ravel()] = True
    on_real_joint = (inner_nodes >= 0) & real_node[inner_nodes]
    return bones.virtual[inner_bones] & ~on_real_joint


def _elements(
    skin: Float[NumpyArray, "V 3"],
    inner: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    carried: Bool[NumpyArray, "V"],
    mirror: Int[NumpyArray, "V"] | None,
) -> tuple[Int[NumpyArray, "T 4"], Int[NumpyArray, "T"], tuple[int, int, int]]:
    """Usable tetrahedra, their triangles, and how many were carried, inverted and degenerate."""
    points = np.concatenate([skin, inner])
    tetrahedra, owners = split_prisms(triangles, len(skin), mirror)
    soft = np.any(~carried[triangles], axis=1)[owners]
    carried_count = int((~soft).sum())
    tetrahedra, owners = tetrahedra[soft], owners[soft]
    degenerate = degenerate_elements(points, tetrahedra, triangles, owners)
    tetrahedra, owners = tetrahedra[~degenerate], owners[~degenerate]
    inverted = signed_volumes(points, tetrahedra) < 0
    tetrahedra[inverted] = tetrahedra[inverted][:, [0, 1, 3, 2]]
    return tetrahedra, owners, (carried_count, int(inverted.sum()), int(degenerate.sum()))


def _require_flesh(
    carried: Bool[NumpyArray, "V"], unsupported: Bool[NumpyArray, "V"], triangle_count: int
) -> None:
    """Refuse a skin of which nothing can be simulated."""
    if (~carried & ~unsupported).any():
        return
    raise InputError(
        f"no vertex of the skin ({len(unsupported)} vertices, {triangle_count} triangles) is held "
        f"by flesh: {int(unsupported.sum())} are in pieces too small or flat for their distance to "
        f"the bones, {int(carried.sum())} are carried by joints. Join the pieces, or "
        f"put the skeleton inside the skin."
    )


def _loose(
    skin: Float[NumpyArray, "V 3"],
    inner: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> Bool[NumpyArray, "V"]:
    """Vertices of connected parts less than twice as large as their distance to the bones.

    Flesh between such a part and the bones would be a column that buckles.
    """
    part = connected_parts(triangles, len(skin))
    count = int(part.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, part, skin)
    np.maximum.at(high, part, skin)
    away = np.bincount(part, np.linalg.norm(skin - inner, axis=1), count) / np.bincount(part)
    return (np.linalg.norm(high - low, axis=1) < 2.0 * away)[part]


def _held(
    tetrahedra: Int[NumpyArray, "T 4"],
    carried: Bool[NumpyArray, "V"],
    free_inner: Bool[NumpyArray, "V"],
) -> Bool[NumpyArray, "V"]:
    """Skin vertices that cannot move without strain.

    Carried skin and inner vertices on bones are held, and so is the fourth corner of a tetrahedron
    with three held ones, and so on. What is not reached hangs on a line or a point, about which its
    weight would turn it. Where inner vertices are free, any tetrahedron holds.
    """
    held = np.concatenate([carried, np.ones(len(carried), bool)])
    open_ones = tetrahedra
    while len(open_ones):
        known = held[open_ones]
        ready = known.sum(axis=1) == 3
        if not ready.any():
            break
        held[open_ones[ready][~known[ready]]] = True
        open_ones = open_ones[~ready & ~known.all(axis=1)]
    hanging_free = np.concatenate([np.zeros(len(carried), bool), free_inner])
    touching = hanging_free[tetrahedra].any(axis=1)
    held[tetrahedra[touching].ravel()] = True
    return held[: len(carried)]
