"""Coupling on a device: where bones carry inner vertices and carried skin, as `coupling` does.

The half-rotated joint, the mean of two quaternions, is the rotation closest to the sum of the two
matrices: for rotations θ apart that sum is the one halfway times a symmetric matrix.
"""

import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.coupling.blended_gpu import DeviceBlend, blended_positions
from corporeal.physics.solver.gpu.polar import closest_rotation
from corporeal.runtime.pytree_dataclass import pytree_dataclass

ROUNDS = 4
"""Projections in turn, as in `coupling.cpu`."""
_TINY = 1e-20


@pytree_dataclass()
class DeviceCoupling:
    """What a `Coupling` knows, as arrays: m nodes, b bones, V inner vertices."""

    parents: Int[Array, "J"]
    """Parent of every joint; the root is its own."""
    node_joints: Int[Array, "m"]
    """Joint whose frame carries the node."""
    node_offsets: Float[Array, "m 3"]
    """From its joint, at rest, metres."""
    node_radii: Float[Array, "m"]
    """Radius of the node's sphere, metres."""
    node_bones: Int[Array, "m s"]
    """Bones that meet in a node; −1 behind the last."""
    bones: Int[Array, "b 2"]
    """Nodes where a bone starts and ends."""
    bone_vectors: Float[Array, "b 3"]
    """From start to end at rest, metres."""
    bone_radii: Float[Array, "b"]
    """Radius of the bone's capsule, metres."""
    capsule_places: Float[Array, "b 2"]
    """Where on the bone its capsule starts and ends."""
    point_nodes: Int[Array, "V"]
    """Node that takes part in an inner vertex's movement."""
    point_bones: Int[Array, "V"]
    """Bone that takes part in it."""
    bone_shares: Float[Array, "V"]
    """t: 0 moves with the joint, 1 with the bone."""
    from_joint: Float[Array, "V 3"]
    """From the node to p_joint at rest (see `anchors.Bindings`), metres."""
    from_start: Float[Array, "V 3"]
    """From the bone's start to p_bone at rest, metres."""
    places: Float[Array, "V"]
    """Of the vertices along their bones, 0 to 1."""
    projected: Bool[Array, "V"]
    """Which vertices may not sink into bones."""
    allowed: Float[Array, "V"]
    """How deep they may be, 0 or negative, metres."""
    skin: DeviceBlend
    """Skin that joints carry."""


def rigid_moves(
    coupling: DeviceCoupling,
    vertices: Int[Array, "f"],
    displacements: Float[Array, "J 3 4"],
    positions: Float[Array, "3 f"],
) -> Float[Array, "3 f"]:
    """By how much bones move points that go with some inner `vertices`, metres: `Coupling.carry`
    less the points. Joints displace what they carry by `displacements` D."""
    bone_joints = coupling.node_joints[coupling.bones[:, 0]]
    each = displacements[bone_joints[coupling.point_bones[vertices]]]
    return jnp.sum(each[:, :, :3] * positions.T[:, None], axis=2).T + each[:, :, 3].T


def carried_positions(
    coupling: DeviceCoupling, frames: Float[Array, "J 4 4"]
) -> Float[Array, "3 m"]:
    """Inner vertices, then carried skin, while the joints are at `frames` (metres)."""
    rotations, origins = frames[:, :3, :3], frames[:, :3, 3]
    owners = coupling.node_joints
    nodes = origins[owners] + _turned(rotations[owners], coupling.node_offsets)
    halved = _halfway(rotations, rotations[coupling.parents])
    node_rotation_vectors = jnp.concatenate([halved, rotations[owners[len(halved) :]]])
    start, end = nodes[coupling.bones[:, 0]], nodes[coupling.bones[:, 1]]
    bone_rotations = rotations[owners[coupling.bones[:, 0]]]
    stretch = end - start - _turned(bone_rotations, coupling.bone_vectors)
    at, on = coupling.point_nodes, coupling.point_bones
    by_joint = nodes[at] + _turned(node_rotation_vectors[at], coupling.from_joint)
    by_bone = (start[on] + coupling.places[:, None] * stretch[on]) + _turned(
        bone_rotations[on], coupling.from_start
    )
    share = coupling.bone_shares[:, None]
    inner = (1.0 - share) * by_joint + share * by_bone
    low = start + coupling.capsule_places[:, :1] * (end - start)
    high = start + coupling.capsule_places[:, 1:] * (end - start)
    inner = jnp.where(
        coupling.projected[:, None], _outside(coupling, inner, nodes, low, high), inner
    )
    return jnp.concatenate([inner.T, blended_positions(coupling.skin, frames)], axis=1)


def _outside(
    coupling: DeviceCoupling,
    points: Float[Array, "V 3"],
    nodes: Float[Array, "m 3"],
    low: Float[Array, "b 3"],
    high: Float[Array, "b 3"],
) -> Float[Array, "V 3"]:
    """Vertices moved out of the bones and the joint around them, one after the other."""
    at = coupling.point_nodes
    listed = coupling.node_bones[at]
    centre, radius = nodes[at], coupling.node_radii[at]

    def leave_all(_: Array, points: Array) -> Array:
        for slot in range(listed.shape[1]):
            bone = listed[:, slot]
            left = _left(points, low[bone], high[bone], coupling.bone_radii[bone], coupling.allowed)
            points = jnp.where((bone >= 0)[:, None], left, points)
        return _left(points, centre, centre, radius, coupling.allowed)

    return lax.fori_loop(0, ROUNDS, leave_all, points, unroll=True)


def _left(
    points: Float[Array, "V 3"],
    low: Float[Array, "V 3"],
    high: Float[Array, "V 3"],
    radius: Float[Array, "V"],
    allowed: Float[Array, "V"],
) -> Float[Array, "V 3"]:
    """Points deeper in their capsule than `allowed`, moved out to that depth."""
    axis = high - low
    length = jnp.sum(axis * axis, axis=1)
    along = jnp.sum((points - low) * axis, axis=1) / jnp.maximum(length, _TINY)
    foot = low + jnp.clip(along, 0.0, 1.0)[:, None] * axis
    across = points - foot
    distance = jnp.sqrt(jnp.sum(across * across, axis=1) + _TINY)
    deep = (distance - radius < allowed)[:, None]
    return jnp.where(deep, foot + ((radius + allowed) / distance)[:, None] * across, points)


def _halfway(first: Float[Array, "J 3 3"], second: Float[Array, "J 3 3"]) -> Float[Array, "J 3 3"]:
    """The rotation halfway between two."""
    both = (first + second).reshape(-1, 9)
    return jnp.stack(closest_rotation([both[:, k] for k in range(9)]), axis=1).reshape(-1, 3, 3)


def _turned(rotations: Float[Array, "m 3 3"], vectors: Float[Array, "m 3"]) -> Float[Array, "m 3"]:
    # x_i = Σ_j R_ij v_j, without a matrix unit: float32 throughout
    return jnp.sum(rotations * vectors[:, None, :], axis=-1)
