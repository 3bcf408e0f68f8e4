"""Linear blend skinning: every vertex moves by the weighted mean of its joints' motions."""

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.template import Template
from corporeal.runtime.arrays import as_one_kind, dtype_name, namespace_of
from corporeal.skinning.geometric import GeometricSkinning, MotionRows, blend_rows
from corporeal.skinning.prepared import SkinKernel


def blend_linear(
    world_from_rest: Float[Array, "*batch J 4 4"], weights: Float[Array, "V J"]
) -> Float[Array, "*batch V 3 4"]:
    """Blended motion of every vertex: T_v = Σ_j w_vj A_j (Magnenat-Thalmann et al. 1988)."""
    xp = namespace_of(world_from_rest, weights)
    entries = _blend_entries(world_from_rest, weights)
    vertices_first = xp.matrix_transpose(entries)
    return xp.reshape(vertices_first, (*vertices_first.shape[:-1], 3, 4))


def _blend_entries(
    world_from_rest: Float[Array, "*batch J 4 4"], weights: Float[Array, "V J"]
) -> Float[Array, "*batch 12 V"]:
    """The twelve entries of T_v = Σ_j w_vj A_j, each for all vertices."""
    batch, joint_count = world_from_rest.shape[:-3], weights.shape[1]
    xp = namespace_of(world_from_rest, weights)
    entries = xp.reshape(world_from_rest[..., :3, :], (*batch, joint_count, 12))
    return blend_rows(entries, weights)


class LinearBlendSkinning(GeometricSkinning):
    """Deformer `lbs`: fast and exact for rigid motions; loses volume where joints twist."""

    name = "lbs"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self._dense: dict[str, NumpyArray] = {}

    def blend(self, world_from_rest: Float[Array, "*batch J 4 4"]) -> MotionRows:
        """Motion of every vertex: the weighted mean of its joints' motions."""
        dtype = dtype_name(world_from_rest)
        if dtype not in self._dense:
            self._dense[dtype] = self.template.weights.dense().astype(dtype)
        entries = _blend_entries(*as_one_kind(world_from_rest, self._dense[dtype]))
        return tuple(tuple(entries[..., 4 * r + c, :] for c in range(4)) for r in range(3))

    def _kernel(self) -> SkinKernel:
        from corporeal.skinning.linear_cpu import pose_and_skin_linear

        return pose_and_skin_linear
