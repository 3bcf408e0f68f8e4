"""Fat behind the abdominal wall: the muscle surface fitted again under a grown skin."""

import numpy as np

from corporeal.anatomy.fit.muscle import average_muscle
from corporeal.anatomy.growth.regions import growth_field
from corporeal.anatomy.lines import on_lines, shares
from corporeal.anatomy.prisms import Prisms, raised_between
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.errors import InputError


def with_visceral_fat(grown: Layers, before: Layers, template: Template) -> Layers:
    """`grown` with part of the belly's new fat behind its muscles (section 4.3.4).

    Muscle fitting (4.10, 4.11) with the layers from before as template: in the belly the muscle
    surface keeps at least its share of the way to the skin, so that it bulges with it. Skin and
    total volume stay; the composition counts the fat wherever it lies.
    """
    if grown.skin.shape != before.skin.shape:
        raise InputError(
            f"layers have {len(grown.skin)} vertices now and {len(before.skin)} before; expected "
            f"the same body."
        )
    prisms = Prisms(grown.triangles, grown.layered)
    belly = growth_field(template, grown.layered, ("belly",))
    refitted = average_muscle(
        grown.skin,
        grown.bone,
        (before.skin, before.muscle, before.bone),
        prisms,
        belly > 0.5,
    )
    own = shares(grown.muscle, grown.skin, grown.bone)
    beta = own + belly * np.maximum(refitted - own, 0.0)
    outside = on_lines(beta, grown.skin, grown.bone, grown.layered)
    muscle = np.where((belly > 1e-3)[:, None], outside, grown.muscle)
    muscle, bone = raised_between(prisms, grown.skin, muscle, grown.bone)
    return Layers(
        grown.skin,
        muscle,
        bone,
        grown.triangles,
        grown.layered,
        grown.composition,
        grown.metadata,
    )
