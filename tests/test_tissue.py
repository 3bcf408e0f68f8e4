"""Tissue by part and depth: equal swings for equal soft layers, smooth maps, refusals."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic
from flesh import bar
from limbs import limb

from corporeal.assets.default_body import read_default_body
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.surface import unique_edges
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses
from corporeal.physics.tissue import (
    TISSUES,
    has_known_parts,
    part_factors,
    part_tissue,
    plain_factors,
    skeleton_scale,
    tissue_factors,
)
from corporeal.physics.volumetric_mesh.model import VolumetricModel, build_volumetric_model


def labelled(names: tuple[str, str], rings: int = 12) -> Template:
    """The synthetic arm with two other part names."""
    plain = synthetic.arm_template(rings)
    return Template(plain.mesh, plain.skeleton, plain.weights, names, plain.part_labels)


def thickened(factor: float) -> VolumetricModel:
    """A limb whose skin is `factor` times as far from the axis, on bones of the same radius."""
    mesh, skeleton = limb()
    skin = np.asarray(mesh.vertices) * [factor, 1.0, factor]
    radii = np.full(skeleton.joint_count, 0.02)
    return build_volumetric_model(Mesh(skin, mesh.triangles), skeleton, radii=radii)


def shrunk(template: Template) -> VolumetricModel:
    """The volumetric model of a template's own body."""
    return build_volumetric_model(template.mesh, template.skeleton)


def middle(model: VolumetricModel) -> np.ndarray:
    """Skin vertices away from both ends."""
    return np.abs(model.skin[:, 1] - 0.5) < 0.2


def test_a_share_of_the_column_swings_like_a_thin_layer() -> None:
    """E_L = E (L/t)² with t = s L on the reference body itself: modulus/s², on every vertex."""
    template = labelled(("belly", "belly"))
    shape = shrunk(template)
    found = tissue_factors(template, template.part_labels, shape, shape, 1.0)
    belly = TISSUES["belly"]
    np.testing.assert_allclose(found, belly.modulus / belly.soft_share**2, rtol=1e-9)


def test_more_flesh_is_softer_in_depth() -> None:
    """On columns longer by fat alone, t = s L₀ + g (L − L₀); on a body twice as large in all,
    nothing changes."""
    thin, thick = thickened(1.0), thickened(1.6)
    usual = np.linalg.norm(thin.skin - thin.inner, axis=1)
    column = np.linalg.norm(thick.skin - thick.inner, axis=1)
    chest = TISSUES["chest"]
    soft = chest.soft_share * usual + chest.growth * (column - usual)
    names = labelled(("chest", "chest"))
    labels = np.zeros(len(thin.skin), np.int64)
    found = tissue_factors(names, labels, thick, thin, 1.0)
    inside = middle(thick)
    expected = (chest.modulus * (column / soft) ** 2)[inside]
    np.testing.assert_allclose(found[inside], expected, rtol=0.05)
    assert found[inside].max() < 0.95 * chest.modulus / chest.soft_share**2
    larger = Mesh(2.0 * np.asarray(limb()[0].vertices), limb()[0].triangles)
    bones = Skeleton(("root", "middle", "last"), (-1, 0, 1), 2.0 * np.asarray(limb()[1].joints))
    twice = build_volumetric_model(larger, bones, radii=np.full(3, 0.04))
    assert skeleton_scale(bones, limb()[1]) == pytest.approx(2.0)
    np.testing.assert_allclose(
        tissue_factors(names, labels, twice, thin, 2.0),
        tissue_factors(names, labels, thin, thin, 1.0),
        rtol=1e-3,
    )


def test_depth_keeps_sag_and_frequency() -> None:
    """The claim itself, on bars that stand out from a wall: a layer of thickness t and modulus E,
    and a column three times as thick with E (L/t)², sag alike at their free face."""
    sags = []
    for length, modulus in ((0.02, 1.0), (0.06, 9.0)):
        rest, tetrahedra = bar((6, 4, 4), (length, 0.4, 0.4))
        anchored = rest[:, 0] == 0.0
        strain = strain_constraint(rest, tetrahedra, np.full(len(tetrahedra), 2e4 * modulus))
        masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
        solver = ReferenceSolver(
            System(masses, anchored, (strain,)), StepRule(1.0, 60, 0.0, "static")
        )
        weight = masses[:, None] * np.array([0.0, -9.81, 0.0])
        held = solver.step(resting(rest, 1.0), rest[anchored], weight).positions
        face = rest[:, 0] == length
        sags.append(float((rest - held)[face, 1].mean()))
    # ρ g t²/(2G), G = E/2
    assert sags[0] == pytest.approx(1000 * 9.81 * 0.02**2 / 2e4, rel=0.1)
    assert sags[1] == pytest.approx(sags[0], rel=0.1)


def test_breasts_are_soft_where_they_stand_out() -> None:
    """A patch of a tube, called breast, is as stiff as a chest; with a bump of 5 cm it is soft."""
    mesh, skeleton = limb(81, 48)
    skin = np.asarray(mesh.vertices)
    angle = np.arctan2(skin[:, 0], skin[:, 2])
    patch = (np.abs(angle) < 0.5) & (np.abs(skin[:, 1] - 0.6) < 0.08)
    names, labels = labelled(("chest", "left_breast")), patch.astype(np.int64)
    height = 0.05 * np.cos(np.pi * np.minimum(np.abs(skin[:, 1] - 0.6) / 0.16, 0.5)) ** 2
    out = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
    bump = (
        skin
        + (height * np.cos(np.pi * np.minimum(np.abs(angle), 0.5)))[:, None]
        * out
        * (patch[:, None])
    )
    flat, full = (
        tissue_factors(names, labels, model, model, 1.0)
        for model in (
            build_volumetric_model(Mesh(shape, mesh.triangles), skeleton) for shape in (skin, bump)
        )
    )
    np.testing.assert_allclose(flat, _plain("chest"), rtol=1e-6)
    tip = np.argmax(np.linalg.norm(bump - skin, axis=1))
    assert full[tip] < 0.05 * _plain("chest")
    np.testing.assert_allclose(full[skin[:, 1] < 0.3], _plain("chest"), rtol=0.01)


def test_borders_are_smooth() -> None:
    """From one part to the next no edge of the surface carries the whole step, and far from the
    border the parts' own values stand."""
    template = labelled(("chest", "thigh"), rings=80)
    shape = shrunk(template)
    found = np.log(tissue_factors(template, template.part_labels, shape, shape, 1.0))
    own = np.log([_plain("chest"), _plain("thigh")])
    step = abs(own[0] - own[1])
    start, end = unique_edges(np.asarray(template.mesh.triangles)).T
    assert np.abs(found[start] - found[end]).max() < 0.75 * step
    x = np.asarray(template.mesh.vertices)[:, 0]
    np.testing.assert_allclose(found[x < 0.2], own[0], atol=0.05 * step)
    np.testing.assert_allclose(found[x > 0.8], own[1], atol=0.05 * step)


def _plain(name: str) -> float:
    tissue = part_tissue(name)
    return tissue.modulus / tissue.soft_share**2


def test_bodies_without_known_parts_are_uniform() -> None:
    template = labelled(("upper", "lower"))
    assert not has_known_parts(template)
    preparation = Preparations(template).of(synthetic.identity_of(template), "sculpted")
    np.testing.assert_array_equal(preparation.tissue(ProjectiveControls()), 1.0)


def test_columns_longer_than_any_bodys_carry_themselves() -> None:
    """Skin pulled out to 45 cm from its bone: three times 15 cm, nine times as stiff, with the
    vertices that share elements with it."""
    template = labelled(("upper", "lower"))
    shape = shrunk(template)
    skin, inner, far = np.array(shape.skin), np.asarray(shape.inner), 40
    away = (skin[far] - inner[far]) / np.linalg.norm(skin[far] - inner[far])
    skin[far] = inner[far] + 0.45 * away
    factors = plain_factors(replace(shape, skin=skin))
    edges = unique_edges(np.asarray(template.mesh.triangles))
    near = np.unique(edges[(edges == far).any(axis=1)])
    np.testing.assert_allclose(factors[near], 9.0, rtol=1e-6)
    np.testing.assert_array_equal(np.delete(factors, near), 1.0)


def test_the_control_goes_from_uniform_to_the_map() -> None:
    """Stiffness of every tetrahedron at `tissue` 0 is the material's; at 0.5 the geometric mean."""
    template = labelled(("chest", "thigh"))
    preparation = Preparations(template).of(synthetic.identity_of(template), "sculpted")
    weights = [
        preparation.system(ProjectiveControls(tissue=value)).constraints[0].weights
        for value in (0.0, 0.5, 1.0)
    ]
    np.testing.assert_allclose(weights[1], np.sqrt(weights[0] * weights[2]), rtol=1e-9)
    plain = preparation.system(ProjectiveControls(tissue=0.0, gravity=0.0)).constraints[0]
    shape = preparation.model(ProjectiveControls())
    corners = shape.vertices[shape.tetrahedra]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
    np.testing.assert_allclose(plain.weights[::3], 12e3 * volumes, rtol=1e-6)


def test_factors_by_part_name() -> None:
    """Sides may be left out; unknown parts are refused."""
    template = labelled(("left_thigh", "right_thigh"))
    labels = np.asarray(template.part_labels)
    np.testing.assert_array_equal(part_factors(template, {"thigh": 2.0}), 2.0)
    one = part_factors(template, {"left_thigh": 3.0})
    np.testing.assert_array_equal(one, np.where(labels == 0, 3.0, 1.0))
    with pytest.raises(InputError, match="a factor came for 'tail'"):
        part_factors(template, {"tail": 2.0})


def test_every_part_of_the_default_body_that_is_simulated_has_a_tissue() -> None:
    names = read_default_body().template.part_names
    left_out = ("head", "inner_mouth", "left_eye_socket", "right_eye_socket")
    bare = {name.removeprefix("left_").removeprefix("right_") for name in names}
    known = {*TISSUES, *(n.removeprefix("left_").removeprefix("right_") for n in left_out)}
    assert bare == known
