"""A loose part that goes with a body: rigidly with one joint, or as the skin below it does."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.material import Material
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class SkinBinding:
    """How a soft part, such as a shirt, goes with the body that wears it."""

    weights: SkinWeights
    """Joints that carry each vertex of the part."""
    carriers: Int[NumpyArray, "n k"]
    """Skin vertices whose flesh each vertex of the part lies on."""
    shares: Float[NumpyArray, "n k"]
    """How much of their displacement it takes; rows sum to at most 1."""

    def carried(self, offsets: Float[NumpyArray, "*b V 3"]) -> Float[NumpyArray, "*b n 3"]:
        """Displacements of the part's vertices under those of the skin, metres."""
        # d_n = Σ_k s_nk o_c(n,k)
        return np.einsum("nk,...nki->...ni", self.shares, offsets[..., self.carriers, :])


@pytree_dataclass(static=("name", "joint"))
class Attachment:
    """A part in the zero pose of one identity: rigid, unless it has a `binding`."""

    name: str
    """Such as `left_eye`; names nodes in files."""
    mesh: Mesh
    """In the identity's rest space, metres."""
    vertex_colours: Float[NumpyArray, "V 3"]
    """Linear RGB, 0 to 1."""
    joint: int
    """Index of the joint whose frame it follows; of a soft part, the one that moves it most."""
    material: Material | None = None
    """Paint in the mesh's texture space, instead of `vertex_colours`; None for those."""
    binding: SkinBinding | None = None
    """How it follows the skin; None for a rigid part."""

    def check(self) -> None:
        """Raise `InputError` unless every vertex has a colour, and a row of the binding."""
        count = self.mesh.vertex_count
        if len(self.vertex_colours) != count:
            raise InputError(
                f"attachment {self.name!r} has {count} vertices and "
                f"{len(self.vertex_colours)} colours; expected one a vertex."
            )
        if self.material is not None and self.mesh.uv is None:
            raise InputError(
                f"attachment {self.name!r} has pictures and no texture coordinates; expected both."
            )
        if self.binding is not None:
            rows = (len(self.binding.weights.values), len(self.binding.carriers))
            if rows != (count, count) or self.binding.shares.shape != self.binding.carriers.shape:
                raise InputError(
                    f"attachment {self.name!r} has {count} vertices and a binding of {rows[0]} "
                    f"weights and {rows[1]} carriers; expected one each."
                )
