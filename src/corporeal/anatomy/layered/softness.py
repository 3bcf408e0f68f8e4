"""How soft fat is where: softer in breast and buttock than elsewhere, firmer on chest and back.

Thickness needs no map here, since the layers have their own; moduli are those of `physics.tissue`,
but for chest and back, whose fat is bound to the ribs by strong bands beneath the body's thickest
skin.
"""

from collections.abc import Mapping

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.physics.tissue import BREAST, bare_name, blended, breast_fullness, part_tissue

FIRM: Mapping[str, float] = {"chest": 2.0, "back": 2.0}
"""Set so that skin over the ribs moves in a landing as that of two-layer flesh with its tissue
map."""


def fat_softness(
    template: Template, surface: Mesh, labels: Int[NumpyArray, "V"]
) -> Float64[NumpyArray, "V"]:
    """Factor on the modulus of fat at every vertex of the simulated skin, whose parts are `labels`.

    A breast is one as far as it stands out from the chest.
    """
    names = np.array([bare_name(name) for name in template.part_names])[labels]
    modulus = {
        name: FIRM.get(name, part_tissue(name).modulus) for name in np.unique(names).tolist()
    }
    values, breast = np.log([modulus[name] for name in names]), names == BREAST
    flat = np.where(breast, np.log(FIRM["chest"]), values)
    full = breast_fullness(surface, breast)
    return np.exp(blended(surface, flat + full * (values - flat)))
