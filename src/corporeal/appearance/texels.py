"""A body's texture space: for every texel, the place on the body that it paints."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from corporeal._typing import Float, Int, NumpyArray, UInt8
from corporeal.assets.default_body import load_default_body
from corporeal.body.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Texels:
    """The n texels of a square texture that lie on a surface, or just beside it."""

    size: int
    """Texels along an edge."""
    rows: Int[NumpyArray, "n"]
    """Row of each, from the top."""
    columns: Int[NumpyArray, "n"]
    """Column of each."""
    triangles: Int[NumpyArray, "n"]
    """Triangle of the surface."""
    corners: Int[NumpyArray, "n 3"]
    """Vertices of that triangle."""
    shares: Float[NumpyArray, "n 3"]
    """Barycentric coordinates in it."""

    @property
    def u(self) -> Float[NumpyArray, "n"]:
        """Texture coordinate to the right."""
        return ((self.columns + 0.5) / self.size).astype(np.float32)

    @property
    def v(self) -> Float[NumpyArray, "n"]:
        """Texture coordinate up."""
        return (1 - (self.rows + 0.5) / self.size).astype(np.float32)

    def values(self, field: NumpyArray) -> NumpyArray:
        """A field of the vertices (V or V k), interpolated to the texels."""
        field = np.asarray(field, np.float32)
        # f = Σ_k b_k f_k
        total = None
        for k in range(3):
            share = self.shares[:, k] if field.ndim == 1 else self.shares[:, k, None]
            term = share * field[self.corners[:, k]]
            total = term if total is None else total + term
        return np.asarray(total)

    def sampled(self, picture: Float[NumpyArray, "m m"]) -> Float[NumpyArray, "n"]:
        """A picture of the same texture space (rows down), at the texels."""
        if len(picture) % self.size == 0:
            every = len(picture) // self.size
            return picture[every // 2 :: every, every // 2 :: every][self.rows, self.columns]
        from scipy.ndimage import map_coordinates

        scale = len(picture) / self.size
        places = [(self.rows + 0.5) * scale - 0.5, (self.columns + 0.5) * scale - 0.5]
        found = map_coordinates(picture, places, order=1, mode="nearest")
        return found.astype(np.float32)

    def picture(self, values: NumpyArray, background: NumpyArray | float) -> NumpyArray:
        """Values of the texels as a picture (rows down); `background` elsewhere."""
        shape = (self.size, self.size, *values.shape[1:])
        made = np.empty(shape, np.float32)
        made[:] = background
        made[self.rows, self.columns] = values
        return made


def surface_texels(mesh: Mesh, size: int) -> Texels:
    """The texels of a mesh with texture coordinates."""
    from corporeal.appearance.texels_cpu import cover_texels

    assert mesh.uv is not None
    assert mesh.uv_triangles is not None
    places = np.asarray(mesh.uv, np.float64) * [size, -size] + [0, size]
    owner = np.empty((size, size), np.int32)
    shares = np.zeros((size, size, 3))
    cover_texels(places, mesh.uv_triangles.astype(np.int32), owner, shares, np.empty((size, size)))
    rows, columns = np.nonzero(owner >= 0)
    triangles = owner[rows, columns]
    return Texels(
        size,
        rows.astype(np.int32),
        columns.astype(np.int32),
        triangles,
        np.asarray(mesh.triangles)[triangles].astype(np.int32),
        shares[rows, columns].astype(np.float32),
    )


@lru_cache(maxsize=3)
def body_texels(size: int) -> Texels:
    """The texels of the default body."""
    return surface_texels(load_default_body().template.mesh, size)


def eight_bits(values: NumpyArray) -> UInt8[NumpyArray, "..."]:
    """0 … 1 as 0 … 255."""
    return np.round(255 * np.clip(values, 0, 1)).astype(np.uint8)


def tangent_normals(
    height: Float[NumpyArray, "h w"], strength: float
) -> UInt8[NumpyArray, "h w 3"]:
    """Normals in tangent space of a height map (rows down), coded as pictures have them."""
    # n ∝ (−∂h/∂u, −∂h/∂v, 1); rows go down and v up
    across = np.gradient(height, axis=1) * strength
    up = -np.gradient(height, axis=0) * strength
    length = np.sqrt(across**2 + up**2 + 1)
    normal = np.stack([-across / length, -up / length, 1 / length], axis=-1)
    return eight_bits(0.5 + 0.5 * normal)
