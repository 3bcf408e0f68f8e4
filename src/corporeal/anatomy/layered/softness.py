"""How soft layers are where: breasts softer than fat, all flesh firmer over the ribs.

Factors on one modulus of fat and one of muscle (`body.tissues`). A breast has the modulus of fat
and gland together. On chest and back and wherever ribs lie beneath, strong bands bind fat to the
ribs, and muscles are sheets that are grown onto them all over, not ropes from end to end. Elsewhere
fat is fat: how thick it is, its layer knows.
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
TRUNK = ("chest", "back")
"""Parts whose fat is firm, ribs beneath or not."""


def fat_softness(
    template: Template,
    surface: Mesh,
    labels: Int[NumpyArray, "V"],
    over_ribs: Bool[NumpyArray, "V"],
) -> Float64[NumpyArray, "V"]:
    """Factor on the modulus of fat at every vertex of the simulated skin, whose parts are `labels`.

    A breast is one as far as it stands out from the chest.
    """
    names = np.array([bare_name(name) for name in template.part_names])[labels]
    breast = names == BREAST
    flat = np.log(np.where(np.isin(names, TRUNK) | over_ribs | breast, FIRM_FAT, 1.0))
    soft = np.log(GLAND.modulus / FAT.modulus)
    full = breast_fullness(surface, breast)
    return np.exp(blended(surface, flat + full * (soft - flat)))


def muscle_firmness(surface: Mesh, over_ribs: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """Factor on the modulus of muscle at every vertex of the simulated skin."""
    return np.exp(blended(surface, np.where(over_ribs, np.log(FIRM_MUSCLE), 0.0)))
