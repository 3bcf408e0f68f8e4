"""Layers fitted into bodies: closed forms of each step, and whole fits."""

import numpy as np
import pytest

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.balance import (
    FAT_DENSITY,
    MUSCLE_DENSITY,
    TRUNK_SHARES,
    Corrections,
    FatBalance,
    best_fat_layer,
    trunk_fat_share,
)
from corporeal.anatomy.fit.flesh import STRETCH, flesh_constraint
from corporeal.anatomy.fit.layers import fit_layers, scale_template, trunk_region
from corporeal.anatomy.nesting import check_nesting
from corporeal.anatomy.scaling import bone_ends, damped_scale, stretch_along_bones
from corporeal.anatomy.template import LayeredTemplate, layered_template
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.realise import realise
from corporeal.population.sampling import sample_people


@pytest.fixture(scope="module", params=["female", "male"])
def template(request) -> LayeredTemplate:
    return layered_template(request.param)


def test_the_template_is_nested_and_upright(template):
    from corporeal.body.layers import Layers

    layers = Layers(
        template.skin, template.muscle, template.bone, template.triangles, template.layered
    )
    found = check_nesting(layers)
    assert found.sound
    assert found.inverted_tetrahedra == 0


def test_bones_lie_inside_the_bone_surface_where_there_are_layers(template):
    """All but what the skin's clearance cuts off: a hundredth, by millimetres."""
    from corporeal.geometry.surface_tree import SurfaceTree

    tree = SurfaceTree(template.bone, template.triangles)
    wanted = ("l_femur", "l_tibia", "humerus_l", "l_pelvis", "torso_geom_13_ribcage_s")
    points = np.concatenate([bone.vertices for bone in template.bones if bone.name in wanted])
    outside = tree.signed_distance(points)
    assert (outside > 0.002).mean() < 0.05
    assert outside.max() < 0.012


def test_half_of_the_difference_in_height_goes_into_thickness():
    assert damped_scale(2.04, 1.7) == pytest.approx(1.1)


def test_moving_all_joints_moves_every_vertex_as_much(template):
    body, way = template.body, np.array([0.1, -0.2, 0.3])
    moved = stretch_along_bones(
        template.skin, body.weights, body.skeleton, template.joints, template.joints + way
    )
    np.testing.assert_allclose(moved, template.skin + way, atol=1e-6)


def test_a_longer_thigh_stretches_along_itself_and_keeps_its_thickness(template):
    """A knee moved along the bone moves no vertex across it."""
    body, skeleton = template.body, template.body.skeleton
    hip, knee = skeleton.index("left_hip"), skeleton.index("left_knee")
    along = template.joints[knee] - template.joints[hip]
    targets = template.joints.copy()
    below = [knee]
    for joint, parent in enumerate(skeleton.parents):
        if parent in below:
            below.append(joint)
    targets[below] += 0.1 * along
    moved = stretch_along_bones(template.skin, body.weights, skeleton, template.joints, targets)
    across = moved - template.skin
    along = along / np.linalg.norm(along)
    across = across - np.outer(across @ along, along)
    assert np.abs(across).max() < 1e-9
    assert bone_ends(skeleton)[hip] == knee


def test_strain_limits_leave_free_stretch_along_the_normal_alone(template):
    """A turned prism that is twice as thick costs nothing; six times as thick costs (6 − 5)²."""
    triangles = np.array([[0, 1, 2]])
    outer = np.array([[0.0, 0, 0.02], [0.02, 0, 0.02], [0, 0.02, 0.02]])
    inner = outer * [1, 1, 0]
    flesh = flesh_constraint(outer, inner, triangles)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    for thickness, energy in ((2.0, 0.0), (STRETCH[1] + 1, 1.0), (0.1, (STRETCH[0] - 0.1) ** 2)):
        now = np.concatenate([outer, inner]) * [1, 1, thickness] @ turn.T
        values = flesh.matrix @ now
        np.testing.assert_allclose(((values - flesh.project(values)) ** 2).sum(), energy, atol=1e-9)


def test_the_best_fat_layer_misses_both_masses_least():
    """(4.14) is the minimum of (FM − FM*)² + (MM − MM*)² over m_FL with V_ST constant."""
    known, soft = Corrections(1.0, 2.5, 0.2, 3.0, 1.2, 4.0, 1.5), 0.05
    wanted = Composition(20.0, 28.0)

    def miss(fat_layer: float) -> float:
        muscle_layer = (soft - fat_layer / FAT_DENSITY) * MUSCLE_DENSITY
        fat, muscle = known.fat_mass(fat_layer), known.muscle_mass(muscle_layer)
        return (fat - wanted.fat_mass) ** 2 + (muscle - wanted.muscle_mass) ** 2

    best = best_fat_layer(wanted, soft, known)
    assert miss(best) < min(miss(best - 1e-3), miss(best + 1e-3))


@pytest.mark.parametrize("sex", ["female", "male"])
def test_a_wider_waist_puts_more_of_the_same_fat_on_the_trunk(sex):
    """Over all waists at which such people live, and never more or less than people have."""
    index = np.linspace(3.0, 22.0, 12)
    waists = 1.7 * np.linspace(0.38, 0.9, 27)
    shares = np.array([[trunk_fat_share(sex, x * 1.7**2, 1.7, w) for w in waists] for x in index])
    assert (np.diff(shares, axis=1) >= 0).all()
    assert (shares >= TRUNK_SHARES[sex][0]).all()
    assert (shares <= TRUNK_SHARES[sex][1]).all()
    assert (np.ptp(shares, axis=1) > 0.1).all()


@pytest.mark.parametrize("sex", ["female", "male"])
def test_the_old_have_more_of_the_same_fat_on_the_trunk(sex):
    """By 0.042 and 0.069 kg/m² a decade, up to the oldest who were scanned."""
    young, middle, old, oldest = (
        trunk_fat_share(sex, 25.0, 1.65, 0.9, age) for age in (20.0, 40.0, 60.0, 80.0)
    )
    decade = {"female": 0.04205, "male": 0.06863}[sex] * 1.65**2 / 25.0
    assert middle - young == pytest.approx(2 * decade)
    assert old - middle == pytest.approx(2 * decade)
    assert oldest == old


def test_no_layer_is_lost_beside_a_narrow_toe():
    """A thin old woman whose bone surface had no volume beside her little toe lost two layered
    vertices there: they had to be opened together, with room made by their neighbours."""
    drawn = sample_people(61, 1, 17, "even")
    sex, age = drawn.sexes[0], float(drawn.ages[0])
    identity = realise(PhenotypeModel(), drawn).identity(0)
    wanted = predict_composition(identity, age, sex).composition
    layers = fit_layers(identity, sex, wanted, age=age)
    np.testing.assert_array_equal(layers.layered, layered_template(sex).layered)
    assert check_nesting(layers).sound


def test_bisection_meets_both_regions_within_reach_and_makes_up_for_the_other(template):
    """The whole fat layer is met to the bisection's width, the trunk's part as well; what the trunk
    cannot hold goes to the limbs, and at the ends both stop."""
    prisms, skin, bone = template.prisms(), template.skin, template.bone
    low, high = np.full(len(skin), 0.3), np.full(len(skin), 0.7)
    balance = FatBalance(prisms, skin, bone, (low, high), trunk_region(template))
    fat = balance.fat(*balance.met(20.0, 0.4))
    assert sum(fat) == pytest.approx(20.0, abs=0.01)
    assert fat[0] == pytest.approx(0.4 * 20.0, rel=0.02)  # regions share the prisms between them
    assert sum(balance.fat(*balance.met(20.0, 0.9))) == pytest.approx(20.0, abs=0.01)
    assert balance.met(1e3, 0.5) == (0.0, 0.0)
    assert balance.met(0.0, 0.5) == (1.0, 1.0)


def test_the_scaled_template_of_itself_is_itself(template):
    scaled = scale_template(template, template.skin, template.joints)
    np.testing.assert_allclose(scaled.bone, template.bone, atol=1e-6)


@pytest.mark.parametrize(
    ("sex", "sliders", "local", "wanted"),
    [
        ("male", {"weight": 0.0, "muscle": 0.2}, {}, (6.0, 22.0)),
        ("female", {"weight": 1.0, "height": 0.8}, {"adiposity-belly": 0.8}, (32.0, 22.0)),
        ("male", {"weight": 1.0}, {}, (16.0, 27.0)),  # his skin crosses itself in the groin
    ],
)
def test_layers_of_thin_and_stout_people_are_sound(sex, sliders, local, wanted):
    model = PhenotypeModel()
    identity = model.prepare({"gender": float(sex == "male"), **sliders}, local)
    layers = fit_layers(identity, sex, Composition(*wanted))
    found = check_nesting(layers)
    assert found.sound, found
    assert found.without_thickness == 0
    assert (layered_template(sex).layered & ~layers.layered).sum() <= 16  # in the groin
    np.testing.assert_allclose(layers.skin, identity.rest_vertices, atol=1e-6)


def test_more_muscle_asked_is_more_muscle_held():
    identity = PhenotypeModel().prepare({"gender": 1.0})
    held = [
        fit_layers(identity, "male", Composition(fat, muscle)).composition
        for fat, muscle in ((14.0, 24.0), (11.0, 27.0))
    ]
    assert held[0] is not None
    assert held[1] is not None
    assert held[1].muscle_mass > held[0].muscle_mass + 1
    assert held[1].fat_mass < held[0].fat_mass - 1


def test_hip_centres_lie_in_the_heads_of_the_thigh_bones(template: LayeredTemplate):
    """A ball fitted to the head's surface (|x|² = 2 c·x + k, reweighted) has its centre at the
    rig's hip, within the 4 mm that the placement allows."""
    hip = template.joints[template.body.skeleton.index("left_hip")]
    bone = next(bone for bone in template.bones if bone.name == "l_femur")
    head = bone.vertices[np.linalg.norm(bone.vertices - hip, axis=1) < 0.032]
    weights, ball = np.ones(len(head)), np.zeros(4)
    for _ in range(15):
        rows = np.column_stack([2 * head, np.ones(len(head))])
        squares = (head**2).sum(axis=1)
        ball = np.linalg.lstsq(weights[:, None] * rows, weights * squares, rcond=None)[0]
        radius = np.sqrt(ball[3] + ball[:3] @ ball[:3])
        off = np.abs(np.linalg.norm(head - ball[:3], axis=1) - radius)
        weights = 1e-3 / np.maximum(off, 1e-3)
    assert np.linalg.norm(ball[:3] - hip) < 0.004


class TestRefusals:
    """Bad input is refused in words."""

    identity = PhenotypeModel().prepare({"gender": 1.0})
    wanted = Composition(12.0, 28.0)

    def refused(self, skin: np.ndarray, joints: np.ndarray, match: str) -> None:
        with pytest.raises(InputError, match=match):
            fit_layers(Identity(skin, joints, {}), "male", self.wanted)

    def test_another_topology(self):
        self.refused(self.identity.rest_vertices[:-1], self.identity.joints, "topology")

    def test_centimetres(self):
        self.refused(100 * self.identity.rest_vertices, 100 * self.identity.joints, "m high")

    def test_another_pose(self):
        joints = np.array(self.identity.joints)
        skeleton = PhenotypeModel().template.skeleton
        wrist, elbow = skeleton.index("left_wrist"), skeleton.index("left_elbow")
        joints[wrist] = joints[elbow] - [0, 0.25, 0]
        self.refused(self.identity.rest_vertices, joints, "T-pose")

    def test_a_missing_limb(self):
        joints = np.array(self.identity.joints)
        skeleton = PhenotypeModel().template.skeleton
        knee, ankle = skeleton.index("left_knee"), skeleton.index("left_ankle")
        joints[ankle] = joints[knee] + 0.2 * (joints[ankle] - joints[knee])
        self.refused(self.identity.rest_vertices, joints, "missing limb")

    def test_a_skin_without_a_hand(self):
        skin = np.array(self.identity.rest_vertices)
        hand = PhenotypeModel().template.part("right_hand")
        skin[hand] = skin[hand].mean(axis=0) + 0.1 * (skin[hand] - skin[hand].mean(axis=0))
        self.refused(skin, np.asarray(self.identity.joints), "right_hand has 0.1")

    def test_a_skin_that_left_its_bones(self):
        skin = np.array(self.identity.rest_vertices)
        shin = PhenotypeModel().template.part("left_shin")
        skin[shin] += [0.0, 0.0, 0.3]
        self.refused(skin, np.asarray(self.identity.joints), "skin of left_shin")

    def test_a_template_of_the_other_sex(self):
        with pytest.raises(InputError, match="template is female and the body male"):
            fit_layers(self.identity, "male", self.wanted, template=layered_template("female"))

    def test_an_unknown_sex(self):
        with pytest.raises(InputError, match="female and male"):
            fit_layers(self.identity, "other", self.wanted)


def test_layers_without_thickness_are_not_sound(template):
    """One vertex where muscle lies on the skin, or bone on the muscle, is found."""
    from corporeal.body.layers import Layers

    chosen = np.flatnonzero(template.layered)[100]
    for outer, inner in (("skin", "muscle"), ("muscle", "bone")):
        surfaces = {name: getattr(template, name).copy() for name in ("skin", "muscle", "bone")}
        surfaces[inner][chosen] = surfaces[outer][chosen]
        layers = Layers(**surfaces, triangles=template.triangles, layered=template.layered)
        found = check_nesting(layers)
        assert found.without_thickness == 1
        assert not found.sound


def test_the_trunk_goes_with_the_back_not_with_the_joints(template):
    """A body whose spine joints lie 2 cm farther forwards within the same skin keeps its ribs. Bone
    surface at the middle of the back goes 2 cm with the joints alone; with the back's skin less
    than a quarter of that at the median, and less than 13 mm where pelvis and spine share it."""
    names = template.body.skeleton.names
    joints = template.joints.copy()
    joints[[names.index(name) for name in ("spine1", "spine2", "spine3")], 2] += 0.02
    plain = scale_template(template, template.skin, template.joints)
    moved = scale_template(template, template.skin, joints)
    ribs = np.abs(plain.bone[:, 1] - template.joints[names.index("spine2"), 1]) < 0.03
    ribs &= template.layered & (np.abs(plain.bone[:, 0]) < 0.1)
    gone = np.abs(moved.bone - plain.bone)[ribs, 2]
    assert np.median(gone) < 0.005
    assert gone.max() < 0.013
