"""The volumetric model as a whole, on tubes and on the default body."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from limbs import limb
from scipy.sparse import csr_array

from corporeal.assets.default_body import load_default_body
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.physics.coupling.blended import BlendedCarrier
from corporeal.physics.volumetric_mesh.carried_parts import carried_parts, followers
from corporeal.physics.volumetric_mesh.model import VolumetricModel, build_volumetric_model
from corporeal.physics.volumetric_mesh.prisms import signed_volumes
from corporeal.physics.volumetric_mesh.simulation_mesh import simulation_mesh
from corporeal.skinning.kinematics import forward_kinematics


@cache
def default_model() -> VolumetricModel:
    """The default body's simulation mesh between skin and bones."""
    template = load_default_body().template
    coarse = simulation_mesh(template)
    carriers = csr_array(carried_parts(template)[coarse.vertex_indices])
    surface = coarse.surface(np.asarray(template.mesh.vertices))
    return build_volumetric_model(surface, template.skeleton, carriers=carriers)


def kept_and_dropped(model: VolumetricModel) -> int:
    report = model.report
    return len(model.tetrahedra) + report.degenerate_tetrahedra + report.carried_tetrahedra


def test_hands_are_carried_by_the_weights_of_the_skin():
    """A fist: what is carried there is where linear blend skinning puts it, and no forearm is."""
    template = load_default_body().template
    carriers, skeleton = carried_parts(template), template.skeleton
    assert not np.diff(carriers.indptr)[template.part("left_forearm")].any()
    hand = template.part("left_hand")
    hand = hand[np.diff(carriers.indptr)[hand] > 0]
    assert len(hand) > 0.8 * len(template.part("left_hand"))
    rotations = np.zeros((skeleton.joint_count, 3))
    for finger in ("index", "middle", "ring", "pinky"):
        rotations[[skeleton.index(f"left_{finger}{k}") for k in (1, 2, 3)], 2] = -1.5
    joints = np.asarray(skeleton.joints, float)
    frames = forward_kinematics(rotations, joints, skeleton.parents, np.zeros(3))
    rest = np.asarray(template.mesh.vertices, float)[hand]
    moved = np.einsum("jik,jk->ji", frames[:, :3, :3], -joints) + frames[:, :3, 3]
    blended = np.einsum("vj,jik,vk->vi", template.weights.dense()[hand], frames[:, :3, :3], rest)
    expected = blended + template.weights.dense()[hand] @ moved
    found = BlendedCarrier(csr_array(carriers[hand]), rest, joints).carriers(frames)
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(rest).max())


def test_a_straight_tube_shrinks_onto_its_bones_without_a_fault():
    """Inner vertices at the bones' heights lie on the capsules: 75 % of the way in."""
    mesh, skeleton = limb()
    model = build_volumetric_model(mesh, skeleton)
    assert model.report.inverted_tetrahedra == 0
    assert model.report.unsupported_vertices == model.report.free_inner_vertices == 0
    assert kept_and_dropped(model) == 3 * len(mesh.triangles)
    middle = np.abs(model.skin[:, 1] - 0.3) < 0.05
    radius = np.hypot(model.inner[middle, 0], model.inner[middle, 2])
    np.testing.assert_allclose(radius, model.bones.bone_radii[0], rtol=1e-9)


def test_every_kept_tetrahedron_of_the_default_body_has_volume():
    model = default_model()
    assert (signed_volumes(model.vertices, model.tetrahedra) > 0).all()
    assert kept_and_dropped(model) == 3 * len(model.triangles)


def test_the_default_body_is_about_the_size_that_was_planned():
    """About 4 700 vertices and 22 000 tetrahedra, few of them inverted or degenerate."""
    model = default_model()
    assert abs(model.vertex_count - 4700) < 50
    assert 21_500 < len(model.tetrahedra) < 23_000
    assert model.report.inverted_tetrahedra < 0.03 * len(model.tetrahedra)
    assert model.report.degenerate_tetrahedra < 0.03 * len(model.tetrahedra)


def test_the_flesh_of_the_default_body_and_its_bones_make_the_body():
    """Flesh is the whole body less the head (about a tenth) and thin bones."""
    model = default_model()
    corners = model.skin[model.triangles]
    whole = np.sum(np.cross(corners[:, 0], corners[:, 1]) * corners[:, 2]) / 6
    flesh = signed_volumes(model.vertices, model.tetrahedra).sum()
    assert 0.75 * whole < flesh < whole


def test_carried_vertices_are_left_out():
    mesh, skeleton = limb()
    carriers = followers(np.where(mesh.vertices[:, 1] > 0.7, 2, -1), skeleton.joint_count)
    model = build_volumetric_model(mesh, skeleton, carriers=carriers)
    assert model.report.carried_tetrahedra > 0
    np.testing.assert_array_equal(model.carriers.toarray(), carriers.toarray())
    used = np.zeros(len(mesh.vertices), bool)
    used[model.tetrahedra[model.tetrahedra < len(used)]] = True
    assert not used[mesh.vertices[:, 1] > 0.76].any()
    assert used[mesh.vertices[:, 1] < 0.7].all()


def test_flesh_on_virtual_bones_is_free():
    mesh, skeleton = limb()
    model = build_volumetric_model(mesh, skeleton, virtual_bones=("last",))
    height = model.inner[:, 1]
    assert model.report.free_inner_vertices == model.free_inner.sum() > 0
    assert model.free_inner[height > 0.6].all()
    assert not model.free_inner[height < 0.45].any()


def holes(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.triangles[::2])


def flipped(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, mesh.triangles[:, ::-1].copy())


def noisy(mesh: Mesh) -> Mesh:
    noise = np.random.default_rng(0).normal(scale=0.01, size=mesh.vertices.shape)
    return Mesh(mesh.vertices + noise, mesh.triangles)


def doubled(mesh: Mesh) -> Mesh:
    """Every second vertex stands where its neighbour does: slivers without area."""
    vertices = mesh.vertices.copy()
    vertices[1::2] = vertices[0:-1:2]
    return Mesh(vertices, mesh.triangles)


def self_crossing(mesh: Mesh) -> Mesh:
    vertices = mesh.vertices.copy()
    vertices[mesh.vertices[:, 1] > 0.6] *= [-1.0, 1.0, 1.0]
    return Mesh(vertices, mesh.triangles)


def with_a_loose_vertex(mesh: Mesh) -> Mesh:
    return Mesh(np.concatenate([mesh.vertices, [[0.01, 0.4, 0.0]]]), mesh.triangles)


@pytest.mark.parametrize(
    "damage", [holes, flipped, noisy, doubled, self_crossing, with_a_loose_vertex]
)
def test_raw_surfaces_give_usable_elements(damage):
    """Nothing is left that could blow up, and every vertex is held by flesh or by a joint."""
    mesh, skeleton = limb()
    model = build_volumetric_model(damage(mesh), skeleton)
    assert np.isfinite(model.inner).all()
    assert (signed_volumes(model.vertices, model.tetrahedra) > 0).all()
    assert kept_and_dropped(model) == 3 * len(model.triangles)
    used = np.zeros(2 * model.vertex_count, bool)
    used[model.tetrahedra] = True
    assert (used[: model.vertex_count] | model.carried).all()


def test_flipped_skins_are_told():
    mesh, skeleton = limb()
    model = build_volumetric_model(flipped(mesh), skeleton)
    assert model.report.inverted_tetrahedra == len(model.tetrahedra)


@pytest.mark.parametrize("place", [[0.3, 0.5, 0.0], [0.0, 1.4, 0.0], [0.05, 0.5, 0.0]])
def test_a_joint_outside_the_skin_or_on_it_is_survived(place):
    mesh, skeleton = limb()
    joints = np.asarray(skeleton.joints).copy()
    joints[1] = place
    model = build_volumetric_model(mesh, Skeleton(skeleton.names, skeleton.parents, joints))
    assert np.isfinite(model.inner).all()
    assert (signed_volumes(model.vertices, model.tetrahedra) > 0).all()


def test_joints_at_one_place_are_survived():
    mesh, skeleton = limb()
    joints = np.tile([0.0, 0.5, 0.0], (3, 1))
    model = build_volumetric_model(mesh, Skeleton(skeleton.names, skeleton.parents, joints))
    assert np.isfinite(model.inner).all()
    assert len(model.tetrahedra) > 0


def test_what_cannot_be_is_refused():
    mesh, skeleton = limb()
    with pytest.raises(InputError, match="no triangles"):
        build_volumetric_model(Mesh(mesh.vertices, mesh.triangles[:0]), skeleton)
    with pytest.raises(InputError, match="carriers have 2 × 3 shares"):
        build_volumetric_model(mesh, skeleton, carriers=csr_array((2, 3)))
    halved = csr_array(0.5 * followers(np.zeros(len(mesh.vertices), int), 3))
    with pytest.raises(InputError, match=r"sum to 1 ± 0\.5"):
        build_volumetric_model(mesh, skeleton, carriers=halved)
    model = build_volumetric_model(mesh, skeleton)
    with pytest.raises(InputError, match="no positive rest volume"):
        replace(model, tetrahedra=model.tetrahedra[:, [0, 1, 3, 2]])
