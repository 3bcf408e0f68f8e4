"""A loose part that follows one joint rigidly, such as an eyeball."""

from corporeal._typing import Float, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("name", "joint"))
class Attachment:
    """A rigid part in the zero pose of one identity."""

    name: str
    """Such as `left_eye`; names nodes in files."""
    mesh: Mesh
    """In the identity's rest space, metres."""
    vertex_colours: Float[NumpyArray, "V 3"]
    """Linear RGB, 0 to 1."""
    joint: int
    """Index of the joint whose frame it follows."""

    def check(self) -> None:
        """Raise `InputError` unless every vertex has a colour."""
        if len(self.vertex_colours) != self.mesh.vertex_count:
            raise InputError(
                f"attachment {self.name!r} has {self.mesh.vertex_count} vertices and "
                f"{len(self.vertex_colours)} colours; expected one a vertex."
            )
