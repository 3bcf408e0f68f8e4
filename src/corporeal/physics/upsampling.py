"""From the simulated surface back to the full skin.

Seed: layered characters, section 3.2.4: quadratic moving least squares with geodesic distances for
positions, linear ones for normals.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.geometry.surface import vertex_normals
from corporeal.physics.moving_least_squares import kernel_weights, moving_least_squares
from corporeal.physics.simulation_mesh import SimulationMesh
from corporeal.runtime.nouns import noun

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NEIGHBOURS = 20
"""Simulated vertices that every skin vertex is combined from."""


@noun(static=("coarse_count",))
class Upsampler:
    """Fixed weights that turn V simulated vertices into W skin vertices."""

    neighbours: Int[NumpyArray, "W k"]
    """Simulated vertices each skin vertex is combined from."""
    weights: Float[NumpyArray, "W k"]
    """N_ij; every row sums to one."""
    normal_weights: Float[NumpyArray, "W k"]
    """Ñ_ij, for normals."""
    degrees: Int[NumpyArray, "W"]
    """What polynomials a row of `weights` reproduces: 2, or 1 and 0 where it had to fall back."""
    coarse_count: int

    def check(self) -> None:
        require_indices("upsampling neighbours", self.neighbours, self.coarse_count)

    def upsample(self, coarse: Float[Array, "*batch V 3"]) -> Float[NumpyArray, "*batch W 3"]:
        """Skin vertices of simulated ones: x_j = Σ_i N_ij x_i (3.9), in the unit given."""
        return self._apply(self._position_matrix, coarse)

    def upsample_normals(
        self, coarse: Float[Array, "*batch V 3"]
    ) -> Float[NumpyArray, "*batch W 3"]:
        """Unit normals of the skin from those of the simulated surface."""
        normals = self._apply(self._normal_matrix, coarse)
        length = np.linalg.norm(normals, axis=-1, keepdims=True)
        return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)

    @cached_property
    def _position_matrix(self) -> "csr_array":
        return self._matrix(self.weights)

    @cached_property
    def _normal_matrix(self) -> "csr_array":
        return self._matrix(self.normal_weights)

    def _matrix(self, weights: Float[NumpyArray, "W k"]) -> "csr_array":
        from scipy.sparse import csr_array

        count, width = weights.shape
        starts = np.arange(count + 1) * width
        return csr_array(
            (weights.ravel(), self.neighbours.ravel(), starts), shape=(count, self.coarse_count)
        )

    def _apply(self, matrix: "csr_array", coarse: Array) -> NumpyArray:
        values = np.asarray(coarse)
        if values.shape[-2] != self.coarse_count:
            raise InputError(
                f"upsampling got {values.shape[-2]} simulated vertices; expected "
                f"{self.coarse_count}."
            )
        frames = values.reshape(-1, *values.shape[-2:])
        fine = np.stack([matrix @ frame for frame in frames])
        return fine.reshape(*values.shape[:-2], -1, 3).astype(values.dtype, copy=False)


def build_upsampler(
    mesh: Mesh, simulation: SimulationMesh, neighbours: int = NEIGHBOURS
) -> Upsampler:
    """Weights for the full `mesh`, at rest, from its simulation mesh."""
    from corporeal.physics.geodesics_cpu import geodesic_neighbours

    vertices = np.ascontiguousarray(mesh.vertices, np.float64)
    triangles = np.ascontiguousarray(mesh.triangles, np.int64)
    marked = np.zeros(len(vertices), bool)
    marked[simulation.vertex_indices] = True
    sources = np.ascontiguousarray(simulation.vertex_indices, np.int64)
    near, distances, radii = geodesic_neighbours(vertices, triangles, sources, neighbours)
    _require_reached(near)
    near = np.where(near >= 0, near, near[:, :1])
    kernel = kernel_weights(distances, radii)
    weights, degrees = moving_least_squares(vertices[near], vertices, kernel, 2)
    coarse_place = np.cumsum(marked) - 1
    normals = vertex_normals(vertices, triangles)
    coarse_normals = vertex_normals(vertices[simulation.vertex_indices], simulation.triangles)
    normal_weights, _ = moving_least_squares(coarse_normals[coarse_place[near]], normals, kernel, 1)
    return Upsampler(coarse_place[near], weights, normal_weights, degrees, simulation.vertex_count)


def _require_reached(neighbours: Int[NumpyArray, "W k"]) -> None:
    lost = int((neighbours[:, 0] < 0).sum())
    if lost:
        raise InputError(
            f"{lost} of {len(neighbours)} vertices are joined to no simulated vertex by the "
            f"surface; keep at least one of every connected part when decimating."
        )
