"""More or less muscle: the muscle surface moves along its lines, and fat and skin go with it."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.fit.balance import MUSCLE_DENSITY
from corporeal.anatomy.growth.fat import met
from corporeal.anatomy.growth.regions import growth_field
from corporeal.anatomy.growth.skin import GrowthSettings, SkinSolver
from corporeal.anatomy.lines import OVER_BONE
from corporeal.anatomy.prisms import Prisms, raised_between, raised_outer
from corporeal.anatomy.template import layered_template
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.errors import InputError

MOST_SWELLING, MOST_WASTING = 0.8, 0.6
"""Largest change of a muscle's thickness, as a share of it."""


def grow_muscle(
    layers: Layers,
    sex: str,
    mass: float,
    regions: tuple[str, ...] = (),
    settings: GrowthSettings | None = None,
) -> Layers:
    """The body with `mass` kilograms more muscle (less, if negative) in `regions`.

    Thickness changes in proportion to the template's muscle thickness; every piece of fat keeps its
    volume and moves with the muscle below it. Bone stays.
    """
    if not np.isfinite(mass):
        raise InputError(f"mass is {mass} kg; expected a finite number.")
    template = layered_template(sex)
    prisms = Prisms(layers.triangles, layers.layered)
    field = growth_field(template.body, layers.layered, regions)
    line = layers.muscle - layers.bone
    gap = np.linalg.norm(line, axis=1)
    outward = line / np.maximum(gap, 1e-9)[:, None]
    thickness = field * np.minimum(template.muscle_thickness, np.maximum(gap - OVER_BONE, 0.0))
    before = float(prisms.volumes(layers.muscle, layers.bone).sum())

    def swollen(share: float) -> Float64[NumpyArray, "V 3"]:
        bounded = float(np.clip(share, -MOST_WASTING, MOST_SWELLING))
        return layers.muscle + (bounded * thickness)[:, None] * outward

    def gained(muscle: Float64[NumpyArray, "V 3"]) -> float:
        return MUSCLE_DENSITY * (float(prisms.volumes(muscle, layers.bone).sum()) - before)

    most = gained(swollen(MOST_SWELLING if mass > 0 else -MOST_WASTING))
    if abs(mass) > abs(most):
        raise InputError(
            f"asked for {mass:+g} kg of muscle; these regions take {most:+.1f} kg at most. "
            f"Ask for less, or for more regions."
        )
    muscle = met(swollen, gained, mass, mass / most * (0.8 if mass > 0 else -0.6))
    plan = GrowthSettings() if settings is None else settings
    solver = SkinSolver(layers.skin, prisms, field, plan)
    fat = prisms.tetrahedron_volumes(layers.skin, layers.muscle)
    skin = solver.solve(layers.skin + muscle - layers.muscle, muscle, fat)
    skin = raised_outer(prisms, skin, muscle)
    muscle, bone = raised_between(prisms, skin, muscle, layers.bone)
    held = layers.composition
    if held is not None:
        held = Composition(held.fat_mass, max(0.0, held.muscle_mass + mass))
    report = dict(layers.metadata or {})
    metadata = report | {"muscle_grown": float(report.get("muscle_grown", 0.0)) + mass}
    return Layers(skin, muscle, bone, layers.triangles, layers.layered, held, metadata)
