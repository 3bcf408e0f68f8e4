"""A body's looks, ready to be drawn or written: paint, loose parts, a changed face."""

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.attachment import Attachment
from corporeal.body.material import Material
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Looks:
    """What an appearance comes to on one body."""

    material: Material | None = None
    """Paint of the skin in the body's texture space."""
    parts: tuple[Attachment, ...] = ()
    """Eyes, teeth, lashes, hair, clothes, in the rest space of the changed body."""
    offsets: Float[NumpyArray, "V 3"] | None = None
    """What face and expression add to the rest shape, metres; None for nothing."""
    coverage: Float[NumpyArray, "V"] | None = None
    """Signed distance to the hem of painted clothes, about metres; positive under cloth."""
    hidden: Bool[NumpyArray, "F"] | None = None
    """Triangles of the skin that worn things hide; None for none."""
