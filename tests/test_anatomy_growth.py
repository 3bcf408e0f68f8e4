"""Growth: mass in, mass out; regions; refusals."""

import numpy as np
import pytest

from corporeal.anatomy.fit.balance import FAT_DENSITY, MUSCLE_DENSITY
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.growth.fat import grow_fat
from corporeal.anatomy.growth.muscle import grow_muscle
from corporeal.anatomy.growth.regions import REGIONS, growth_field
from corporeal.anatomy.nesting import check_nesting
from corporeal.anatomy.prisms import Prisms
from corporeal.anatomy.template import layered_template
from corporeal.anthropometry.solve import solve_measurements
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.body.tissues import LIPID_SHARE
from corporeal.errors import InputError


@pytest.fixture(scope="module")
def woman() -> Layers:
    template = layered_template("female")
    return Layers(
        template.skin,
        template.muscle,
        template.bone,
        template.triangles,
        template.layered,
        Composition(13.0, 15.0),
    )


def masses(layers: Layers) -> tuple[float, float]:
    """Fat and muscle layer, kg."""
    prisms = Prisms(layers.triangles, layers.layered)
    fat = prisms.volumes(layers.skin, layers.muscle).sum()
    return FAT_DENSITY * fat, MUSCLE_DENSITY * prisms.volumes(layers.muscle, layers.bone).sum()


@pytest.mark.parametrize(
    ("mass", "regions"), [(15.0, ()), (6.0, ("belly", "hips")), (-4.0, ()), (-1.0, ("belly",))]
)
def test_fat_asked_for_is_fat_grown(woman, mass, regions):
    """The fat layer changes by the asked mass within 2 %, muscle not at all, layers stay nested."""
    grown = grow_fat(woman, layered_template("female").body, mass, regions, visceral=False)
    before, after = masses(woman), masses(grown)
    assert after[0] - before[0] == pytest.approx(mass, rel=0.02)
    assert after[1] == pytest.approx(before[1], rel=1e-4)
    assert check_nesting(grown).sound


def enclosed(surface, triangles) -> float:
    """Divergence theorem: Σ x₁ · (x₂ × x₃) / 6, m³."""
    a, b, c = (surface[triangles[:, k]] for k in range(3))
    return float(np.einsum("fd,fd->", a, np.cross(b, c))) / 6


@pytest.fixture(scope="module")
def man() -> Layers:
    identity = solve_measurements({"stature": 1.76, "mass": 24 * 1.76**2}, "male", 40.0).identity
    return fit_layers(identity, "male", Composition(16.5, 28.9))


CHANGES = [(10.0, ()), (-5.0, ()), (10.0, ("belly",)), (-1.0, ("belly",))] + [
    (mass, (region,))
    for region, gain, loss in [
        ("back", 3.0, -0.5),
        ("chest", 2.0, -0.5),
        ("hips", 4.0, -1.0),
        ("thighs", 4.0, -1.5),
        ("legs", 5.0, -2.0),
        ("arms", 2.0, -0.5),
        ("neck", 0.5, -0.1),
    ]
    for mass in (gain, loss)
]


@pytest.mark.parametrize(("mass", "regions"), CHANGES)
def test_every_option_weighs_what_was_asked_and_leaves_stature(man, mass, regions):
    """Fat before and behind the wall has one density, so the change of what the skin encloses, by
    the divergence theorem, is the asked mass: within 2 %. Stature stays to a tenth of a millimetre;
    before, +10 kg everywhere made 2 to 5 mm of it."""
    grown = grow_fat(man, layered_template("male").body, mass, regions, visceral=not regions)
    more = enclosed(grown.skin, man.triangles) - enclosed(man.skin, man.triangles)
    assert FAT_DENSITY * more == pytest.approx(mass, rel=0.02)
    assert np.ptp(grown.skin[:, 1]) == pytest.approx(np.ptp(man.skin[:, 1]), abs=1e-4)
    assert check_nesting(grown).sound


@pytest.mark.parametrize("mass", [10.0, -5.0])
def test_visceral_fat_follows_all_fat_and_is_weighed_as_fat(man, mass):
    """ΔVAT = VAT ((1 + ΔFM/FM)^1.3 − 1) lies behind the muscle surface, at the density of fat; what
    the layers say of themselves gains what was asked."""
    grown = grow_fat(man, layered_template("male").body, mass)
    held, report = man.composition, man.metadata
    assert held is not None
    assert report is not None
    own = float(report["visceral_fat"])
    wanted = own * ((1 + LIPID_SHARE * mass / held.fat_mass) ** 1.3 - 1)
    behind = enclosed(grown.muscle, man.triangles) - enclosed(man.muscle, man.triangles)
    assert FAT_DENSITY * behind == pytest.approx(wanted, rel=0.02)
    said = float((grown.metadata or {})["visceral_fat"]) - own
    assert said == pytest.approx(wanted, rel=0.02)


def test_fat_goes_where_people_have_it(man):
    """Between men of one stature the belly's skin moves most and the shin's least, by a factor of
    three and more; before, it was an even shell (8.0, 6.6 and 5.3 mm)."""
    template = layered_template("male").body
    grown = grow_fat(man, template, 10.0)
    way = np.linalg.norm(grown.skin - man.skin, axis=1)
    belly, thigh, shin = (
        way[template.part(p)].mean() for p in ("belly", "left_thigh", "left_shin")
    )
    assert belly > 1.5 * thigh
    assert thigh > 1.5 * shin


def test_only_the_named_region_grows(woman):
    template = layered_template("female")
    grown = grow_fat(woman, template.body, 4.0, ("belly",))
    way = np.linalg.norm(grown.skin - woman.skin, axis=1)
    parts = np.array(template.body.part_names)[template.body.part_labels]
    assert way[parts == "belly"].mean() > 0.015
    assert way[np.isin(parts, ("left_shin", "right_forearm", "head"))].max() < 1e-3


def test_a_donor_says_where_fat_goes(woman):
    """The donor's belly is thick: the receiver gains more there than with her own depots."""
    template = layered_template("female")
    donor = grow_fat(woman, template.body, 8.0, ("belly",))
    belly = template.body.part("belly")
    gains = [
        np.linalg.norm((grow_fat(woman, template.body, 5.0, donor=who).skin - woman.skin), axis=1)[
            belly
        ].mean()
        for who in (woman, donor)
    ]
    assert gains[1] > 1.2 * gains[0]


@pytest.mark.parametrize("mass", [3.0, -2.0])
def test_muscle_asked_for_is_muscle_grown_and_fat_goes_along(woman, mass):
    grown = grow_muscle(woman, "female", mass)
    before, after = masses(woman), masses(grown)
    assert after[1] - before[1] == pytest.approx(mass, rel=0.02)
    assert after[0] == pytest.approx(before[0], rel=0.02)
    assert check_nesting(grown).sound


def test_impossible_masses_are_refused(woman):
    body = layered_template("female").body
    with pytest.raises(InputError, match="asked to lose 40 kg"):
        grow_fat(woman, body, -40.0)
    with pytest.raises(InputError, match="at most"):
        grow_fat(woman, body, 500.0)
    with pytest.raises(InputError, match="finite"):
        grow_fat(woman, body, float("nan"))
    with pytest.raises(InputError, match="of muscle"):
        grow_muscle(woman, "female", 60.0)


def test_unknown_regions_are_refused_and_known_ones_cover_their_parts(woman):
    body = layered_template("female").body
    with pytest.raises(InputError, match="no region knees"):
        growth_field(body, woman.layered, ("knees",))
    for region, parts in REGIONS.items():
        field = growth_field(body, woman.layered, (region,))
        assert field.max() > 0.5
        chosen = np.isin(np.array(body.part_names)[body.part_labels], parts) & woman.layered
        assert field[chosen].mean() > 3 * field[~chosen].mean()


def test_a_grown_belly_pushes_its_muscles_out(man):
    """With visceral fat the same skin holds less before the wall and as much more behind it."""
    template = layered_template("male").body
    plain, inside = (
        grow_fat(man, template, 10.0, ("belly",), visceral=visceral) for visceral in (False, True)
    )
    corners = man.triangles
    behind = enclosed(inside.muscle, corners) - enclosed(plain.muscle, corners)
    assert FAT_DENSITY * behind > 1.0
    assert enclosed(inside.skin, corners) == pytest.approx(enclosed(plain.skin, corners), rel=1e-3)
    assert check_nesting(inside).sound
