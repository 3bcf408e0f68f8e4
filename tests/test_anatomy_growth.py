"""Growth: mass in, mass out; regions; refusals."""

import numpy as np
import pytest

from corporeal.anatomy.fit.balance import FAT_DENSITY, MUSCLE_DENSITY
from corporeal.anatomy.growth.fat import grow_fat
from corporeal.anatomy.growth.muscle import grow_muscle
from corporeal.anatomy.growth.regions import REGIONS, growth_field
from corporeal.anatomy.nesting import check_nesting
from corporeal.anatomy.prisms import Prisms
from corporeal.anatomy.template import layered_template
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
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
    grown = grow_fat(woman, layered_template("female").body, mass, regions)
    before, after = masses(woman), masses(grown)
    assert after[0] - before[0] == pytest.approx(mass, rel=0.02)
    assert after[1] == before[1]
    assert check_nesting(grown).sound


def test_only_the_named_region_grows(woman):
    template = layered_template("female")
    grown = grow_fat(woman, template.body, 4.0, ("belly",))
    way = np.linalg.norm(grown.skin - woman.skin, axis=1)
    parts = np.array(template.body.part_names)[template.body.part_labels]
    assert way[parts == "belly"].mean() > 0.015
    assert way[np.isin(parts, ("left_shin", "right_forearm", "head"))].max() < 1e-3


def test_a_donor_says_where_fat_goes(woman):
    """The donor's belly is thick: the receiver gains more there than by its own depots."""
    template = layered_template("female")
    donor = grow_fat(woman, template.body, 8.0, ("belly",))
    belly = template.body.part("belly")
    gains = [
        np.linalg.norm((grow_fat(woman, template.body, 5.0, donor=who).skin - woman.skin), axis=1)[
            belly
        ].mean()
        for who in (None, donor)
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


def test_a_grown_belly_pushes_its_muscles_out(woman):
    """Refitting moves fat from before the abdominal wall to behind it; the skin stays."""
    from corporeal.anatomy.growth.visceral import with_visceral_fat

    template = layered_template("female").body
    grown = grow_fat(woman, template, 10.0, ("belly", "back", "hips"))
    refitted = with_visceral_fat(grown, woman, template)
    np.testing.assert_array_equal(refitted.skin, grown.skin)
    fat, muscle = masses(refitted)[0] - masses(grown)[0], masses(refitted)[1] - masses(grown)[1]
    assert fat < -0.3
    assert muscle / MUSCLE_DENSITY == pytest.approx(-fat / FAT_DENSITY, rel=0.02)
    assert check_nesting(refitted).sound
