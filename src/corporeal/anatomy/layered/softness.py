"""How soft layers are where: fat softer in breast and buttock, all flesh firmer over the ribs.

Thickness needs no map here, since the layers have their own; moduli are those of `physics.tissue`,
but for chest and back and wherever ribs lie beneath. There strong bands bind fat to the ribs, and
muscles are sheets that are grown onto them all over, not ropes from end to end.
"""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.physics.tissue import BREAST, bare_name, blended, breast_fullness, part_tissue

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
    modulus = {name: part_tissue(name).modulus for name in np.unique(names).tolist()}
    breast = names == BREAST
    firm = np.isin(names, TRUNK) | (over_ribs & ~breast)
    values = np.log(np.where(firm, FIRM_FAT, [modulus[name] for name in names]))
    flat = np.where(breast, np.log(FIRM_FAT), values)
    full = breast_fullness(surface, breast)
    return np.exp(blended(surface, flat + full * (values - flat)))


def muscle_firmness(surface: Mesh, over_ribs: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """Factor on the modulus of muscle at every vertex of the simulated skin."""
    return np.exp(blended(surface, np.where(over_ribs, np.log(FIRM_MUSCLE), 0.0)))
