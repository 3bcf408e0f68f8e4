"""Ways of a person's skin and abdominal wall that gains or loses fat as people do."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.fit.balance import FAT_DENSITY
from corporeal.anatomy.growth.population import outward, population_way
from corporeal.anatomy.growth.regions import growth_field
from corporeal.anatomy.growth.visceral import MOST_BEHIND, moved_wall, visceral_change
from corporeal.anatomy.prisms import Prisms
from corporeal.anatomy.surface_energy import SurfaceEnergy
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.body.tissues import LIPID_SHARE
from corporeal.geometry.surface import vertex_normals
from corporeal.geometry.volume import enclosed_volume, volume_gradient
from corporeal.units import BODY_DENSITY

USUAL_AGE = 40.0
"""Years of a person who does not say."""
GENDERS = {"female": 0.0, "male": 1.0}
SMOOTH = 0.03
"""Over which length (ℓ, metres) the ways of a region are smoothed."""
MOST_MORE = 8.0
"""A region's growth is that of people who differ by this many times as much all over, at most."""


@dataclass(frozen=True, eq=False)
class Ways:
    """Where a change leads."""

    way: Float64[NumpyArray, "V 3"]
    """Of the skin, metres, for about the mass that was asked."""
    wall: tuple[Float64[NumpyArray, "V 3"], float] | None
    """The muscle surface with more or less visceral fat behind it, metres, and how much, kg."""


def like_people(
    layers: Layers,
    template: Template,
    prisms: Prisms,
    field: Float64[NumpyArray, "V"],
    mass: float,
    sex: str | None,
    age: float,
    visceral: bool,
) -> Ways:
    """Ways of skin and wall to `mass` kg more fat tissue within `field` (0 to 1 a vertex).

    A region grows as that of people who gained so much all over that the region has its share; who
    has no `sex` grows between both.
    """
    skin = np.asarray(layers.skin, np.float64)
    triangles, gender = layers.triangles, GENDERS.get(sex or "", 0.5)
    stature, sign = float(np.ptp(skin[:, 1])), float(np.sign(mass))
    whole = BODY_DENSITY * float(enclosed_volume(skin, triangles))
    normals, slope = vertex_normals(skin, triangles), volume_gradient(skin, triangles)
    everywhere = growth_field(template, layers.layered)

    def ways(gain: float) -> Float64[NumpyArray, "V 3"]:
        return outward(population_way(gender, age, stature, whole, gain), normals, sign)

    def volume(way: Float64[NumpyArray, "V 3"], part: Float64[NumpyArray, "V"]) -> float:
        return abs(float(np.einsum("v,vd,vd->", part, slope, way)))

    gain = mass * BODY_DENSITY / FAT_DENSITY  # bodies have the volume of one density
    way = ways(gain)
    more = 1.0
    if (field < 0.99 * everywhere).any():
        more = volume(way, everywhere) / max(volume(way, field), 1e-9)
        more = min(more, MOST_MORE)
        way = smoothed(ways(more * gain) * field[:, None], skin, prisms)
    else:
        way = field[:, None] * way
    way *= abs(mass) / FAT_DENSITY / max(volume(way, np.ones(len(field))), 1e-9)
    if not visceral:
        return Ways(way, None)
    held = layers.composition
    tissue = FAT_DENSITY * float(prisms.volumes(layers.skin, layers.muscle).sum())
    fat_mass = LIPID_SHARE * tissue if held is None else held.fat_mass
    own = float((layers.metadata or {}).get("visceral_fat", 0.0))
    change = visceral_change(sex, own, fat_mass, LIPID_SHARE * more * mass)
    change = float(np.clip(change, -MOST_BEHIND * abs(mass), MOST_BEHIND * abs(mass)))
    return Ways(way, _wall(layers, template, prisms, way, change))


def smoothed(
    way: Float64[NumpyArray, "V 3"], skin: Float64[NumpyArray, "V 3"], prisms: Prisms
) -> Float64[NumpyArray, "V 3"]:
    """argmin ∫ |u − way|² + ℓ⁴ |Δu|² over the layered skin: a region's rim without an edge."""
    energy = SurfaceEnergy(skin, prisms.triangles, prisms.layered)
    areas = energy.areas[energy.free]
    matrix = SMOOTH**4 * energy.bending + diags_array(areas)
    found = np.zeros_like(way)
    found[energy.free] = splu(csc_array(matrix)).solve(areas[:, None] * way[energy.free])
    return found


def _wall(
    layers: Layers,
    template: Template,
    prisms: Prisms,
    way: Float64[NumpyArray, "V 3"],
    change: float,
) -> tuple[Float64[NumpyArray, "V 3"], float]:
    """The muscle surface with `change` kg of visceral fat, and how much of it found its place."""
    belly = growth_field(template, layers.layered, ("belly",))
    before = float(prisms.volumes(layers.muscle, layers.bone).sum())
    wall = moved_wall(layers, prisms, belly[:, None] * way, change / FAT_DENSITY)
    return wall, FAT_DENSITY * (float(prisms.volumes(wall, layers.bone).sum()) - before)
