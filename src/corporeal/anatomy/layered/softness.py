"""How soft layers are where: breasts softer than fat, all flesh firmer over the ribs.

Factors on one modulus of fat and one of muscle (`body.tissues`). A breast has the modulus of fat,
gland and what holds them together; that grows with its size, as skin and ligaments bear more. On
chest and back and wherever ribs lie beneath, strong bands bind fat to the
ribs, and muscles are sheets that are grown onto them all over, not ropes from end to end. Elsewhere
fat is fat: how thick it is, its layer knows. Skin pulls everywhere but on breasts.
"""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.body.tissues import FAT, GLAND
from corporeal.physics.tissue import BREAST, bare_name, blended, breast_fullness

FIRM_FAT, FIRM_MUSCLE = 2.0, 3.0
"""How many times firmer fat and muscle over the ribs are than elsewhere. Fat: so that skin there
moves in a landing as that of two-layer flesh with its tissue map."""
BREAST_DEPTH = 0.09
"""Metres of fat and gland before the muscle in a breast whose modulus is `GLAND`'s."""
HELD = (0.4, 2.0)
"""Bounds of how much firmer or softer than that other breasts are."""
TRUNK = ("chest", "back")
"""Parts whose fat is firm, ribs beneath or not."""


def fat_softness(
    template: Template,
    surface: Mesh,
    labels: Int[NumpyArray, "V"],
    over_ribs: Bool[NumpyArray, "V"],
    thickness: Float64[NumpyArray, "V"],
) -> Float64[NumpyArray, "V"]:
    """Factor on the modulus of fat at every vertex of the simulated skin, whose parts are `labels`;
    `thickness` of fat there in metres.

    A breast is one as far as it stands out from the chest. One modulus for all of them would let
    breasts swing as the square of their depth; runners' move by about 4 cm (cup A) to 10 (cup G:
    Wood 2012), that is in proportion to it, so modulus is as well (`breast_hold`).
    """
    names = np.array([bare_name(name) for name in template.part_names])[labels]
    breast = names == BREAST
    flat = np.log(np.where(np.isin(names, TRUNK) | over_ribs | breast, FIRM_FAT, 1.0))
    full = breast_fullness(surface, breast)
    deepest = float((thickness * (full > 0)).max())
    soft = np.log(breast_hold(deepest) * GLAND.modulus / FAT.modulus)
    return np.exp(blended(surface, flat + full * (soft - flat)))


def breast_hold(depth: float) -> float:
    """Factor on the modulus of breasts that are `depth` metres deep."""
    return float(np.clip(depth / BREAST_DEPTH, *HELD))


def skin_share(
    template: Template, surface: Mesh, labels: Int[NumpyArray, "V"]
) -> Float64[NumpyArray, "V"]:
    """Share of the skin's tension at every vertex of the simulated skin, whose parts are `labels`:
    none where a breast stands out, whose modulus is that of all of it with its skin (`GLAND`)."""
    names = np.array([bare_name(name) for name in template.part_names])[labels]
    return 1.0 - breast_fullness(surface, names == BREAST)


def muscle_firmness(surface: Mesh, over_ribs: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """Factor on the modulus of muscle at every vertex of the simulated skin."""
    return np.exp(blended(surface, np.where(over_ribs, np.log(FIRM_MUSCLE), 0.0)))
