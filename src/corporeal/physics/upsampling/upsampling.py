"""From the simulated surface back to the full skin.

Komaritzan 2022, section 3.2.4: quadratic moving least squares with geodesic distances for
positions, linear ones for normals.
"""

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.geometry.mirror import mirrored_triangles, sides
from corporeal.geometry.moving_least_squares import kernel_weights, moving_least_squares
from corporeal.geometry.surface import vertex_normals
from corporeal.physics.volumetric_mesh.simulation_mesh import SimulationMesh
from corporeal.runtime.pytree_dataclass import pytree_dataclass
from corporeal.runtime.threads import over_slices

NEIGHBOURS = 20
"""Simulated vertices that every skin vertex is combined from."""
_ROWS_A_SLICE = 2048
"""Below this a second thread costs more than it brings."""
_BLOCK = 1 << 15
"""Skin vertices whose weights are computed at a time."""


@pytree_dataclass(static=("coarse_count",))
class Upsampler:
    """Fixed weights that turn V simulated vertices into W skin vertices."""

    neighbours: Int[NumpyArray, "W k"]
    """Simulated vertices each skin vertex is combined from."""
    weights: Float[NumpyArray, "W k"]
    """N_ij; every row sums to one."""
    normal_weights: Float[NumpyArray, "W k"]
    """Ñ_ij, for normals."""
    degrees: Int[NumpyArray, "W"]
    """What polynomials a row of `weights` reproduces: 2, or 1 and 0 where it had to fall back; 0
    only where all simulated vertices lie in a plane that the vertex does not."""
    coarse_count: int
    """Number V of simulated vertices."""

    def check(self) -> None:
        """Raise `InputError` unless neighbours are simulated vertices."""
        require_indices("upsampling neighbours", self.neighbours, self.coarse_count)

    def upsample(self, coarse: Float[Array, "*batch V 3"]) -> Float[NumpyArray, "*batch W 3"]:
        """Skin vertices of simulated ones: x_j = Σ_i N_ij x_i (3.9), in the unit given."""
        return self._apply(self.weights, coarse)

    def upsample_normals(
        self, coarse: Float[Array, "*batch V 3"]
    ) -> Float[NumpyArray, "*batch W 3"]:
        """Unit normals of the skin from those of the simulated surface."""
        normals = self._apply(self.normal_weights, coarse)
        length = np.linalg.norm(normals, axis=-1, keepdims=True)
        return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)

    def _apply(self, weights: Float[NumpyArray, "W k"], coarse: Array) -> NumpyArray:
        from corporeal.physics.upsampling.cpu import combine

        values = np.asarray(coarse)
        if values.shape[-2] != self.coarse_count:
            raise InputError(
                f"upsampling got {values.shape[-2]} simulated vertices; expected "
                f"{self.coarse_count}."
            )
        frames = values.reshape(-1, *values.shape[-2:])
        fine = np.empty((len(frames), len(weights), 3))
        for frame, skin in zip(frames, fine, strict=True):
            sums = (self.neighbours, weights, np.ascontiguousarray(frame, np.float64))

            def work(first: int, last: int, sums=sums, skin=skin) -> None:
                combine(*sums, first, last, skin)

            over_slices(work, len(weights), _ROWS_A_SLICE)
        return fine.reshape(*values.shape[:-2], -1, 3).astype(values.dtype, copy=False)


def build_upsampler(
    mesh: Mesh, simulation: SimulationMesh, neighbours: int = NEIGHBOURS
) -> Upsampler:
    """Weights for the full `mesh`, at rest, from its simulation mesh.

    Ways along the surface are the same on both sides of a mesh with a mirror map.
    """
    from corporeal.geometry.geodesics_cpu import geodesic_neighbours

    vertices = np.ascontiguousarray(mesh.vertices, np.float64)
    triangles = np.ascontiguousarray(mesh.triangles, np.int64)
    if mesh.mirror is not None:
        triangles = mirrored_triangles(triangles, mesh.mirror, sides(vertices, mesh.mirror))
    marked = np.zeros(len(vertices), bool)
    marked[simulation.vertex_indices] = True
    sources = np.ascontiguousarray(simulation.vertex_indices, np.int64)
    joined = triangles if simulation.stand_ins is None else simulation.stand_ins[triangles]
    near, distances, radii = geodesic_neighbours(vertices, joined, sources, neighbours)
    if simulation.stand_ins is not None:
        own = simulation.stand_ins
        near, distances, radii = near[own], distances[own], radii[own]
    _require_reached(near)
    near = np.where(near >= 0, near, near[:, :1])
    kernel = kernel_weights(distances, radii)
    weights, degrees = _in_blocks(vertices, near, vertices, kernel, 2)
    lost = np.flatnonzero(degrees == 0)
    if len(lost):
        near[lost], kernel[lost] = _near_in_space(vertices, sources, lost, near.shape[1])
        weights[lost], degrees[lost] = moving_least_squares(
            vertices[near[lost]], vertices[lost], kernel[lost], 1, np.inf
        )
    coarse_place = np.cumsum(marked) - 1
    normals = vertex_normals(vertices, triangles)
    coarse_normals = vertex_normals(vertices[simulation.vertex_indices], simulation.triangles)
    normal_weights, _ = _in_blocks(coarse_normals, coarse_place[near], normals, kernel, 1)
    return Upsampler(coarse_place[near], weights, normal_weights, degrees, simulation.vertex_count)


def _near_in_space(
    vertices: Float[NumpyArray, "W 3"],
    sources: Int[NumpyArray, "V"],
    lost: Int[NumpyArray, "n"],
    count: int,
) -> tuple[Int[NumpyArray, "n k"], Float[NumpyArray, "n k"]]:
    """Simulated vertices nearest in space, and their weights ω, for vertices whose neighbours along
    the surface do not surround them: the ends of spikes, and small loose bits."""
    from scipy.spatial import KDTree

    wanted = min(count, len(sources))
    distances, places = KDTree(vertices[sources]).query(vertices[lost], k=wanted)
    distances, places = distances.reshape(len(lost), -1), places.reshape(len(lost), -1)
    near, kernel = np.repeat(sources[places[:, :1]], count, axis=1), np.zeros((len(lost), count))
    near[:, :wanted] = sources[places]
    kernel[:, :wanted] = kernel_weights(distances, 1.01 * distances[:, -1])
    return near, kernel


def _in_blocks(
    known: Float[NumpyArray, "n 3"],
    near: Int[NumpyArray, "W k"],
    at: Float[NumpyArray, "W 3"],
    kernel: Float[NumpyArray, "W k"],
    degree: int,
) -> tuple[Float[NumpyArray, "W k"], Int[NumpyArray, "W"]]:
    """`moving_least_squares` of `known[near]`, a block of rows at a time: memory stays bounded."""
    weights, degrees = np.empty_like(kernel), np.empty(len(at), np.int64)
    for start in range(0, len(at), _BLOCK):
        rows = slice(start, start + _BLOCK)
        weights[rows], degrees[rows] = moving_least_squares(
            known[near[rows]], at[rows], kernel[rows], degree
        )
    return weights, degrees


def _require_reached(neighbours: Int[NumpyArray, "W k"]) -> None:
    lost = int((neighbours[:, 0] < 0).sum())
    if lost:
        raise InputError(
            f"{lost} of {len(neighbours)} vertices are joined to no simulated vertex by the "
            f"surface; keep at least one of every connected part when decimating."
        )
