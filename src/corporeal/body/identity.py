"""One person's body, prepared once and posed many times."""

from collections.abc import Mapping

from corporeal._typing import Array, Float
from corporeal.body.checks import require_finite
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Identity:
    """A prepared body shape in the zero pose (T-pose)."""

    rest_vertices: Float[Array, "*batch V 3"]
    """Skin, metres."""
    joints: Float[Array, "*batch J 3"]
    """Joint centres, metres."""
    parameters: Mapping[str, Array]
    """What made it, by name, such as phenotype sliders; empty for a foreign mesh."""

    def check(self) -> None:
        """Raise `InputError` unless vertices and joints are finite."""
        require_finite("identity rest vertices", self.rest_vertices)
        require_finite("identity joints", self.joints)
