"""More or less fat: by mass, by region, or with another person's distribution (section 4.3.4)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.fit.balance import FAT_DENSITY
from corporeal.anatomy.growth.like_people import USUAL_AGE, like_people
from corporeal.anatomy.growth.regions import growth_field
from corporeal.anatomy.growth.skin import GrowthSettings, SkinSolver
from corporeal.anatomy.lines import UNDER_SKIN
from corporeal.anatomy.prisms import Prisms, raised_between, raised_outer
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.body.tissues import LIPID_SHARE
from corporeal.errors import InputError
from corporeal.geometry.surface import vertex_normals

CLOSE = 0.005
"""Masses are met to this share."""
MOST_LOSS = 0.9
"""Share of the removable fat that may go: the rest keeps skin and muscle apart."""
MOST_GAIN = 80.0
"""kg; more folds the skin onto itself."""
LEFT_OVER = 0.3
"""Of its thickness that every depot gives once what people of the lower mass lack is gone."""


def grow_fat(
    layers: Layers,
    template: Template,
    mass: float,
    regions: tuple[str, ...] = (),
    donor: Layers | None = None,
    settings: GrowthSettings | None = None,
    *,
    sex: str | None = None,
    age: float = USUAL_AGE,
    visceral: bool | None = None,
) -> Layers:
    """The body with `mass` kilograms more fat tissue (less, if negative) in `regions`.

    Skin moves as that of people who differ by so much (`growth.population`), of `sex` (what the
    layers say, if None) and of `age` years; given a `donor` of the same topology, every depot grows
    in proportion to what the donor holds there (4.16 to 4.18; `settings` are for that alone).
    `visceral`: whether part of it lies behind the abdominal wall; None: as in people, where
    everything grows, and not where regions are named. Bone stays. Raises `InputError` for more
    loss than there is fat to lose.
    """
    prisms = Prisms(layers.triangles, layers.layered)
    field = growth_field(template, layers.layered, regions)
    own = prisms.tetrahedron_volumes(layers.skin, layers.muscle)
    least = np.minimum(own, prisms.tetrahedron_volumes(_thinnest(layers), layers.muscle))
    part = field[prisms.tetrahedra % len(field)].mean(axis=1)
    require_possible(mass, FAT_DENSITY * float((part * (own - least)).sum()))
    if donor is not None:
        plan = GrowthSettings() if settings is None else settings
        depots = Depots(own, least, part, np.maximum(_of_donor(layers, donor, prisms), 0.0))
        return _with_skin(layers, _as_donor(layers, prisms, field, depots, mass, plan), mass)
    inside = not regions if visceral is None else visceral
    who = (layers.metadata or {}).get("sex") if sex is None else sex
    who = None if who is None else str(who)
    grown = like_people(layers, template, prisms, field, mass, who, age, inside)
    wall, behind = (layers.muscle, 0.0) if grown.wall is None else grown.wall
    line = layers.skin - layers.muscle
    length = np.linalg.norm(line, axis=1)
    up = line / np.maximum(length, 1e-9)[:, None]
    thin = np.minimum(UNDER_SKIN, length)
    before = float(prisms.volumes(layers.skin, layers.bone).sum())

    def moved(scale: float) -> Float64[NumpyArray, "V 3"]:
        skin = layers.skin + scale * grown.way
        if mass < 0:  # beyond what people of that mass lack, every depot gives of what it has
            skin -= (max(scale - 1.0, 0.0) * LEFT_OVER * field * length)[:, None] * up
        above = np.einsum("vd,vd->v", skin - wall, up)
        skin += np.maximum(thin - above, 0.0)[:, None] * up
        return raised_outer(prisms, np.where(layers.layered[:, None], skin, layers.skin), wall)

    def gained(skin: Float64[NumpyArray, "V 3"]) -> float:
        return FAT_DENSITY * (float(prisms.volumes(skin, layers.bone).sum()) - before)

    skin = met(moved, gained, mass, 1.0)
    muscle, bone = raised_between(prisms, skin, wall, layers.bone)
    return _with_skin(replace(layers, muscle=muscle, bone=bone), skin, mass, behind)


@dataclass(frozen=True, eq=False)
class Depots:
    """Volumes of the tetrahedra of fat, m³, and how much of each takes part."""

    own: Float64[NumpyArray, "T"]
    """As they are, m³."""
    least: Float64[NumpyArray, "T"]
    """As little as may be left, m³."""
    part: Float64[NumpyArray, "T"]
    """Share that takes part, 0 to 1."""
    wished: Float64[NumpyArray, "T"]
    """In proportion to which they grow, m³."""


def _as_donor(
    layers: Layers,
    prisms: Prisms,
    field: Float64[NumpyArray, "V"],
    depots: Depots,
    mass: float,
    plan: GrowthSettings,
) -> Float64[NumpyArray, "V 3"]:
    """Skin over depots that have grown as a donor's are (4.16 to 4.18), metres."""
    solver = SkinSolver(layers.skin, prisms, field, plan)
    normals = vertex_normals(layers.skin, layers.triangles)
    area = float((field * solver.energy.areas).sum())
    own, part = depots.own, depots.part

    def grown(scale: float) -> Float64[NumpyArray, "V 3"]:
        wanted = np.maximum(own + scale * part * depots.wished, depots.least)
        even = float((wanted - own).sum()) / max(area, 1e-9)
        swelling = (even * field)[:, None] * normals if scale > 0 else None
        skin = solver.solve(layers.skin, layers.muscle, wanted, swelling)
        return raised_outer(prisms, skin, layers.muscle)

    def gained(skin: Float64[NumpyArray, "V 3"]) -> float:
        return FAT_DENSITY * float(prisms.volumes(skin, layers.muscle).sum() - own.sum())

    unit = FAT_DENSITY * float((part * depots.wished).sum())
    return met(grown, gained, mass, mass / max(unit, 1e-9))


def require_possible(mass: float, removable: float) -> None:
    """Raise `InputError` for masses that are not finite, or not there to be lost."""
    if not np.isfinite(mass):
        raise InputError(f"mass is {mass} kg; expected a finite number.")
    if mass > MOST_GAIN:
        raise InputError(f"mass is +{mass:g} kg; expected at most +{MOST_GAIN:g} kg at once.")
    if -mass > MOST_LOSS * removable:
        raise InputError(
            f"asked to lose {-mass:g} kg where {removable:.1f} kg of fat lie that can go; expected "
            f"at most {MOST_LOSS * removable:.1f} kg. Ask for less, or for more regions."
        )


def met(
    shape: Callable[[float], NumpyArray],
    measure: Callable[[NumpyArray], float],
    wanted: float,
    first: float,
) -> Float64[NumpyArray, "V 3"]:
    """The shape at which `measure` is `wanted`: secants from `first`, held between bounds."""
    scale, skin = first, shape(first)
    below, above = (0.0, 0.0), None
    for _ in range(12):
        value = measure(skin)
        if abs(value - wanted) <= CLOSE * abs(wanted):
            return skin
        if abs(value) < abs(wanted):
            below = (scale, value)
            step = wanted / value if abs(value) > 1e-3 else 2.0
            guess = scale * min(max(step, 1.02), 3.0)
            if above is not None:
                guess = _between(below, above, wanted)
        else:
            above = (scale, value)
            guess = _between(below, above, wanted)
        scale = guess
        skin = shape(scale)
    if abs(measure(skin) - wanted) > 0.02 * abs(wanted):
        raise InputError(
            f"asked for {wanted:+.1f} kg; the skin reaches {measure(skin):+.1f} kg in these "
            f"regions. Ask for less, or for more regions."
        )
    return skin


def _between(low: tuple[float, float], high: tuple[float, float], wanted: float) -> float:
    share = (wanted - low[1]) / (high[1] - low[1])
    return low[0] + min(max(share, 0.05), 0.95) * (high[0] - low[0])


def _thinnest(layers: Layers) -> Float64[NumpyArray, "V 3"]:
    """Skin as near to the muscle as it may come."""
    line = layers.skin - layers.muscle
    length = np.maximum(np.linalg.norm(line, axis=1, keepdims=True), 1e-9)
    return layers.muscle + line * np.minimum(UNDER_SKIN / length, 1.0)


def _of_donor(layers: Layers, donor: Layers, prisms: Prisms) -> Float64[NumpyArray, "T"]:
    """The donor's fat volumes: only how they are spread matters."""
    if donor.skin.shape != layers.skin.shape:
        raise InputError(
            f"donor has {len(donor.skin)} vertices and the body {len(layers.skin)}; expected one "
            f"topology. Fit layers into both first."
        )
    return prisms.tetrahedron_volumes(donor.skin, donor.muscle)


def _with_skin(
    layers: Layers, skin: Float64[NumpyArray, "V 3"], mass: float, behind: float = 0.0
) -> Layers:
    """`layers` under a new skin, with `mass` kg more fat tissue, `behind` kg of it visceral."""
    held = layers.composition
    if held is not None:
        held = Composition(max(0.0, held.fat_mass + LIPID_SHARE * mass), held.muscle_mass)
    report = dict(layers.metadata or {})
    metadata = report | {
        "fat_grown": float(report.get("fat_grown", 0.0)) + mass,
        "visceral_fat": float(report.get("visceral_fat", 0.0)) + behind,
    }
    return replace(layers, skin=skin, composition=held, metadata=metadata)
