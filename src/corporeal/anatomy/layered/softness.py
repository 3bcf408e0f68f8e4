"""How soft fat is where: that of breast and buttock is softer than beneath the skin elsewhere.

Thickness needs no map here, since the layers have their own; moduli are those of `physics.tissue`.
"""

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.physics.tissue import BREAST, bare_name, blended, breast_fullness, part_tissue


def fat_softness(
    template: Template, surface: Mesh, labels: Int[NumpyArray, "V"]
) -> Float64[NumpyArray, "V"]:
    """Factor on the modulus of fat at every vertex of the simulated skin, whose parts are `labels`.

    A breast is one as far as it stands out from the chest.
    """
    names = np.array([bare_name(name) for name in template.part_names])[labels]
    modulus = {name: part_tissue(name).modulus for name in np.unique(names).tolist()}
    values, breast = np.log([modulus[name] for name in names]), names == BREAST
    full = np.where(breast, breast_fullness(surface, breast), 1.0)
    return np.exp(blended(surface, full * values))
