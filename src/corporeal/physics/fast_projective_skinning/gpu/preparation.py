"""From a simulated body on the CPU to arrays for a device."""

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.contact.blending_reference import CARRIERS
from corporeal.physics.contact.gpu.detection import DeviceSkin
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.coupling.blended import BlendedCarrier
from corporeal.physics.coupling.blended_gpu import DeviceBlend
from corporeal.physics.coupling.coupling import Coupling
from corporeal.physics.coupling.gpu import DeviceCoupling
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.parts import Carrier
from corporeal.physics.solver.gpu.elements import elements_of, flesh_of
from corporeal.physics.solver.gpu.solver import device_order
from corporeal.physics.upsampling.gpu import DeviceSurface, DeviceUpsampler
from corporeal.physics.upsampling.upsampling import Upsampler
from corporeal.physics.volume_preservation.gpu import device_volume
from corporeal.physics.volumetric_mesh.model import VolumetricModel

_CELL = np.array([1.5, 1.5, 0.25])
"""Sides of a cell of the detection, in mean edges; z is the way along rows."""


def device_body(body: SimulatedBody) -> DeviceBody:
    """Everything that a device needs of a body, float32."""
    system, surface, coupling = body.system, body.surface, body.coupling
    order = device_order(system, body.rest)
    place, free = np.argsort(order), len(system.free)
    elements, preservation = elements_of(system, order), system.volume_preservation
    carrier, sources = _carrier(coupling)
    return DeviceBody(
        order.astype(np.int32),
        sources[order],
        place[: surface.vertex_count].astype(np.int32),
        elements,
        body.weight[order[:free]].T.astype(np.float32),
        carrier,
        device_upsampler(body.upsampler, surface.vertex_count),
        device_surface(np.asarray(surface.triangles), surface.vertex_count),
        np.asarray(body.rest, np.float64),
        flesh_of(elements),
        None if preservation is None else device_volume(preservation, place, free),
    )


def _carrier(
    coupling: Carrier,
) -> tuple[DeviceCoupling | DeviceBlend, Int[NumpyArray, "n"]]:
    """How bones carry vertices, and which of what they carry each vertex goes with."""
    if isinstance(coupling, BlendedCarrier):
        return device_blend(coupling), np.arange(len(coupling.rest), dtype=np.int32)
    if isinstance(coupling, Coupling):
        return device_coupling(coupling), _sources(coupling)
    raise InputError(
        f"bones carry this flesh by a {type(coupling).__name__}; the GPU knows Coupling and "
        f"BlendedCarrier. Simulate it on the CPU."
    )


def _sources(coupling: Coupling) -> Int[NumpyArray, "n"]:
    """Inner vertices carry themselves and the skin above; carried skin goes with its joints."""
    count = coupling.model.vertex_count
    sources = np.tile(np.arange(count, dtype=np.int32), 2)
    sources[coupling.carried_vertices] = count + np.arange(len(coupling.carried_vertices))
    return sources


def device_coupling(coupling: Coupling) -> DeviceCoupling:
    """The arrays of a coupling, float32."""
    if coupling.twisting.any():
        raise InputError(
            "the coupling spreads the twist of some joints along their bones, which the GPU does "
            "not offer; leave `twisting` empty, or simulate on the CPU."
        )
    model, bones, bindings = coupling.model, coupling.model.bones, coupling.bindings
    joints = np.asarray(coupling.skeleton.joints, np.float64)
    parents = np.asarray(coupling.skeleton.parents, np.int32)
    return DeviceCoupling(
        np.where(parents < 0, np.arange(len(parents)), parents).astype(np.int32),
        bones.node_joints.astype(np.int32),
        (bones.nodes - joints[bones.node_joints]).astype(np.float32),
        bones.node_radii.astype(np.float32),
        bones.node_bones().astype(np.int32),
        bones.bones.astype(np.int32),
        (bones.nodes[bones.bones[:, 1]] - bones.nodes[bones.bones[:, 0]]).astype(np.float32),
        bones.bone_radii.astype(np.float32),
        bones.capsule_places().astype(np.float32),
        bindings.nodes.astype(np.int32),
        bindings.bones.astype(np.int32),
        bindings.bone_shares.astype(np.float32),
        coupling.anchor_points[0].astype(np.float32),
        coupling.anchor_points[1].astype(np.float32),
        coupling.anchor_points[2].astype(np.float32),
        np.broadcast_to(coupling.projected, len(model.inner)).copy(),
        coupling.allowed.astype(np.float32),
        device_blend(coupling.skin_carrier),
    )


def device_blend(carrier: BlendedCarrier) -> DeviceBlend:
    """The joints of every vertex, and its places seen from them, float32."""
    weights = carrier.weights
    joints = np.maximum(_listed(weights.indptr, weights.indices, len(carrier.rest)), 0)
    shares = np.zeros(joints.shape, np.float32)
    row = np.repeat(np.arange(len(shares)), np.diff(weights.indptr))
    slot = np.arange(len(row)) - weights.indptr[row]
    shares[row, slot] = weights.data
    off = carrier.rest[:, None] - carrier.joints[joints]
    each = shares[..., None] * np.concatenate([off, np.ones((*joints.shape, 1))], axis=2)
    return DeviceBlend(joints, each.astype(np.float32))


def device_upsampler(upsampler: Upsampler | None, vertex_count: int) -> DeviceUpsampler:
    """The arrays of an upsampler; none stands for every vertex as it is."""
    if upsampler is None:
        own, one = np.arange(vertex_count, dtype=np.int32), np.ones((vertex_count, 1), np.float32)
        return DeviceUpsampler(own[:, None], one, one)
    return DeviceUpsampler(
        upsampler.neighbours.astype(np.int32),
        upsampler.weights.astype(np.float32),
        upsampler.normal_weights.astype(np.float32),
    )


def device_surface(triangles: Int[NumpyArray, "F 3"], vertex_count: int) -> DeviceSurface:
    """Lists of triangles around every vertex."""
    owner = triangles.ravel()
    entries = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=vertex_count)
    slot = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    around = np.full((vertex_count, max(1, int(counts.max()))), len(triangles), np.int32)
    around[owner[entries], slot] = entries // 3
    return DeviceSurface(triangles.astype(np.int32), around)


def device_skin(
    contacts: SkinContacts,
    model: VolumetricModel,
    chosen: Int[NumpyArray, "k"] | None = None,
) -> DeviceSkin:
    """What collisions need on a device; where vertices are `chosen`, those of local ones."""
    detection, ignored, reference = (
        contacts.detection,
        contacts.ignored,
        contacts.blending_reference,
    )
    fewer = ((0, 0), (0, CARRIERS - reference.carriers.shape[1]))
    triangles, vertices = len(model.triangles), model.vertex_count
    ends, bones = model.bones.bones[detection.base.bones], model.bones
    owners = bones.node_joints[ends]
    if triangles * vertices >= 2**31:
        raise InputError(
            f"a skin of {vertices} vertices and {triangles} triangles came; on a device pairs of "
            f"them are numbered with 31 bits. Simulate a coarser skin, or on the CPU."
        )
    return DeviceSkin(
        detection.prisms,
        detection.kinds,
        owners.astype(np.int32),
        (bones.nodes[ends] - bones.nodes[owners]).astype(np.float32),
        detection.base.places.astype(np.float32),
        _listed(*contacts.near, vertices),
        (ignored if len(ignored) else np.array([-1])).astype(np.int32),
        np.asarray(model.carried, bool),
        np.asarray(model.skin, np.float32),
        (_CELL * detection.mean_edge).astype(np.float32),
        np.pad(reference.carriers, fewer).astype(np.int32),
        np.pad(reference.shares, fewer).astype(np.float32),
        np.asarray(reference.joints, np.float32),
        contacts.owners.astype(np.int32),
        contacts.thickness.astype(np.float32),
        np.float32(contacts.push),
        device_surface(detection.triangles, vertices),
        detection.base.bones.astype(np.int32),
        np.ones(vertices, bool) if chosen is None else np.isin(np.arange(vertices), chosen),
        np.ones_like(contacts.near_bones) if chosen is None else contacts.near_bones,
    )


def _listed(
    starts: Int[NumpyArray, "starts"], items: Int[NumpyArray, "m"], count: int
) -> Int[NumpyArray, "V r"]:
    """Sparse rows as a table, −1 behind the last of each."""
    lengths = np.diff(starts)
    table = np.full((count, int(lengths.max(initial=1))), -1, np.int32)
    slot = np.arange(len(items)) - np.repeat(starts[:-1], lengths)
    table[np.repeat(np.arange(count), lengths), slot] = items
    return table
