"""How much room organs have between muscle and bone surface.

A body weighs what fat, muscle and everything else weigh, so its volume less that of fat and muscle
is the room of everything else: organs take what is left (conservation, no number to be fitted).
What they should need is known apart from that, by name (`body.organs`):

    N = V_organs + V_h + V_f + V_s − V_B − (V_living − V)

========== =================================================================== ================
V_organs   named organs, skeleton, blood of large vessels, air                  `organ_volume`
V_h        muscle without a layer, most of it inside the bone surface           `unlayered`
V_f, V_s   fat and skin of head and hands                                       `unlayered`
V_B        what the bone surface encloses, with head, hands and toes
V_living   of a person of that mass and fat, with air in the lungs (Siri 1961)  `living_volume`
V          of the surface, which has 1 010 kg/m³ whatever it is made of
========== =================================================================== ================

Masses that leave organs more or less than N by `SPREAD` of the body's volume are not believed: then
organs stay at that bound, and fat and muscle are missed.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.fit.balance import FAT_DENSITY, MUSCLE_DENSITY, Corrections
from corporeal.anatomy.template import LayeredTemplate
from corporeal.body.composition import Composition
from corporeal.body.organs import living_volume, organ_volume
from corporeal.body.tissues import HEAD_AND_HAND_FAT, LIPID_SHARE, SKIN_THICKNESS
from corporeal.geometry.surface import triangle_areas
from corporeal.geometry.volume import enclosed_volume
from corporeal.units import BODY_DENSITY

SPREAD = 0.05
"""Of the body's volume: how far people's organs, blood, skeleton and water lie from their means.
Lean mass other than muscle is a third of the body, with a deviation of a tenth or less."""
LIPID_DENSITY = 900.0
"""kg/m³."""


@dataclass(frozen=True)
class OrganRoom:
    """Volumes of organs that a body can be believed to have among its layers, m³."""

    named: float
    """N: what published masses need outside the bone surface, m³; below 0 if it holds them all."""
    spread: float
    """How far from that they may be, m³."""

    @property
    def least(self) -> float:
        """m³."""
        return max(0.0, self.named - self.spread)

    @property
    def most(self) -> float:
        """m³."""
        return max(0.0, self.named + self.spread)

    def held(self, left: float) -> float:
        """What organs take if `left` is what fat and muscle leave, m³."""
        return float(np.clip(left, self.least, self.most))


def organ_room(
    template: LayeredTemplate,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    wanted: Composition,
    known: Corrections,
) -> OrganRoom:
    """Room for the organs of a body with this skin and bone surface."""
    sex, stature = template.sex, float(np.ptp(skin[:, 1]))
    whole, inside = (float(enclosed_volume(s, template.triangles)) for s in (skin, bone))
    mass = BODY_DENSITY * whole
    areas = triangle_areas(skin, template.triangles).sum()
    bare = float(areas - triangle_areas(skin, template.prisms().triangles).sum())
    unlayered = (
        known.unlayered_muscle / MUSCLE_DENSITY
        + HEAD_AND_HAND_FAT / LIPID_DENSITY
        + SKIN_THICKNESS[sex] * bare
    )
    small = living_volume(sex, stature, mass, wanted.fat_mass) - whole
    named = organ_volume(sex, stature, mass) + unlayered - inside - small
    return OrganRoom(named, SPREAD * whole)


def organs_left(wanted: Composition, soft_volume: float, known: Corrections) -> float:
    """What both wanted masses leave between skin and bone surface, m³: neither fat nor muscle.

    `soft_volume` is what lies there, m³; `known` without the abdominal cavity.
    """
    inside = known.visceral - known.skin - known.genital
    fat_layer = (wanted.fat_mass - known.unlayered_fat) / LIPID_SHARE - inside
    muscle_layer = soft_volume * MUSCLE_DENSITY - fat_layer * MUSCLE_DENSITY / FAT_DENSITY
    left = known.muscle_mass(muscle_layer) + known.abdominal - wanted.muscle_mass
    return left / MUSCLE_DENSITY - known.visceral / FAT_DENSITY
