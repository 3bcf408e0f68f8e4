"""A person with what is under the skin."""

from dataclasses import dataclass

from corporeal.body.body import Body
from corporeal.body.layers import Layers


@dataclass(frozen=True)
class LayeredBody:
    """A body and the bones, muscles and fat inside it; what a layers file holds."""

    body: Body
    """The person; its rest vertices are the skin of `layers`."""
    layers: Layers
    """Skin, muscle and bone surfaces in the zero pose, metres, and their masses, kg."""
