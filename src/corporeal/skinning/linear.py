"""Linear blend skinning: every vertex moves by the weighted mean of its joints' motions."""

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.template import Template
from corporeal.runtime.arrays import as_one_kind, dtype_name, full_precision, namespace_of
from corporeal.skinning.geometric import GeometricSkinning
from corporeal.skinning.prepared import SkinKernel


def blend_linear(
    world_from_rest: Float[Array, "*batch J 4 4"], weights: Float[Array, "V J"]
) -> Float[Array, "*batch V 3 4"]:
    """Blended motion of every vertex: T_v = Σ_j w_vj A_j (Magnenat-Thalmann et al. 1988).

    A product with the dense weights: on JAX and PyTorch it and its gradient are far faster than
    gathering four matrices a vertex.
    """
    xp = namespace_of(world_from_rest, weights)
    batch, (vertex_count, joint_count) = world_from_rest.shape[:-3], weights.shape
    rows = xp.reshape(world_from_rest[..., :3, :], (*batch, joint_count, 12))
    with full_precision(xp):
        blended = xp.matmul(weights, rows)
    return xp.reshape(blended, (*batch, vertex_count, 3, 4))


class LinearBlendSkinning(GeometricSkinning):
    """Deformer `lbs`: fast and exact for rigid motions; loses volume where joints twist."""

    name = "lbs"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self._dense: dict[str, NumpyArray] = {}

    def blend(self, world_from_rest: Float[Array, "*batch J 4 4"]) -> Float[Array, "*batch V 3 4"]:
        """Motion of every vertex: the weighted mean of its joints' motions."""
        weights = self._dense_weights(dtype_name(world_from_rest))
        return blend_linear(*as_one_kind(world_from_rest, weights))

    def _dense_weights(self, dtype: str) -> Float[NumpyArray, "V J"]:
        if dtype not in self._dense:
            self._dense[dtype] = self.template.weights.dense().astype(dtype)
        return self._dense[dtype]

    def _kernel(self) -> SkinKernel:
        from corporeal.skinning.linear_cpu import pose_and_skin_linear

        return pose_and_skin_linear
