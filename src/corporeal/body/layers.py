"""A body inside its skin: three surfaces of one triangulation."""

from collections.abc import Mapping

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.body.composition import Composition
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Layers:
    """Skin, muscle surface and bone surface in the zero pose; vertex i is one place in all three.

    Fat lies between skin and muscle surface, muscle between muscle and bone surface; behind the
    walls of belly and back also organs and visceral fat (`anatomy.abdominal_wall`). Where `layered`
    is false (head, hands, toes) the three surfaces coincide.
    """

    skin: Float[NumpyArray, "V 3"]
    """Metres."""
    muscle: Float[NumpyArray, "V 3"]
    """Envelope of the muscles, metres."""
    bone: Float[NumpyArray, "V 3"]
    """Envelope of the bones, metres."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices, counter-clockwise seen from outside."""
    layered: Bool[NumpyArray, "V"]
    """Vertices where the three surfaces are apart."""
    composition: Composition | None = None
    """Masses that the layers stand for; None for layers that nobody has weighed."""
    metadata: Mapping[str, float | str] | None = None
    """What made them, by name: sex, stature (m), masses (kg), residuals."""

    def check(self) -> None:
        """Raise `InputError` unless the three surfaces are finite and share one triangulation."""
        count = len(self.skin)
        for name in ("skin", "muscle", "bone"):
            surface = getattr(self, name)
            require_finite(f"{name} layer", surface)
            if len(surface) != count:
                raise InputError(
                    f"{name} layer has {len(surface)} vertices and the skin {count}; expected "
                    f"one triangulation for all layers."
                )
        require_indices("layer triangles", self.triangles, count)
        if len(self.layered) != count:
            raise InputError(
                f"layers have {count} vertices and {len(self.layered)} marks; "
                f"expected one a vertex."
            )
        outside = ~self.layered
        for name in ("muscle", "bone"):
            gap = np.abs(getattr(self, name)[outside] - self.skin[outside]).max(initial=0.0)
            if gap > 1e-6:
                raise InputError(
                    f"{name} layer leaves the skin by {1e3 * gap:.3g} mm outside the layered "
                    f"region; expected the skin itself there."
                )
