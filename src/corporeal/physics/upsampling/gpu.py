"""From simulated vertices to the full skin and its normals, on a device; see `upsampling`."""

import jax.numpy as jnp

from corporeal._typing import Array, Float, Int
from corporeal.runtime.pytree_dataclass import pytree_dataclass

_TINY = 1e-20


@pytree_dataclass()
class DeviceUpsampler:
    """Weights of W skin vertices over u of the V simulated ones."""

    neighbours: Int[Array, "W u"]
    """Simulated vertices each skin vertex is combined from."""
    weights: Float[Array, "W u"]
    """N_ij; every row sums to one."""
    normal_weights: Float[Array, "W u"]
    """Ñ_ij, for normals."""


@pytree_dataclass()
class DeviceSurface:
    """Triangles of the simulated surface, seen from their corners."""

    triangles: Int[Array, "F 3"]
    """Corner indices among the simulated vertices."""
    vertex_triangles: Int[Array, "V t"]
    """Triangles around every vertex; F (none) behind the last."""


def full_skin(upsampler: DeviceUpsampler, simulated: Float[Array, "3 V"]) -> Float[Array, "W 3"]:
    """Skin vertices x_j = Σ_i N_ij x_i (3.9), metres."""
    return _combined(upsampler.neighbours, upsampler.weights, simulated)


def full_normals(
    upsampler: DeviceUpsampler, surface: DeviceSurface, simulated: Float[Array, "3 V"]
) -> Float[Array, "W 3"]:
    """Unit normals of the skin, from those of the simulated surface."""
    coarse = surface_normals(surface, simulated)
    return _unit(_combined(upsampler.neighbours, upsampler.normal_weights, coarse), 1)


def surface_normals(surface: DeviceSurface, simulated: Float[Array, "3 V"]) -> Float[Array, "3 V"]:
    """Unit normals of the simulated surface, triangles weighted by area."""
    corners = simulated[:, surface.triangles]
    u, v = corners[..., 1] - corners[..., 0], corners[..., 2] - corners[..., 0]
    faces = jnp.cross(u, v, axis=0)
    faces = jnp.concatenate([faces, jnp.zeros((3, 1), faces.dtype)], axis=1)
    # n_v = Σ over the triangles around v of twice their area times their normal
    return _unit(jnp.sum(faces[:, surface.vertex_triangles], axis=2), 0)


def _combined(
    neighbours: Int[Array, "W u"], weights: Float[Array, "W u"], values: Float[Array, "3 V"]
) -> Float[Array, "W 3"]:
    return jnp.stack([jnp.sum(weights * row[neighbours], axis=1) for row in values], axis=1)


def _unit(vectors: Array, axis: int) -> Array:
    length = jnp.sqrt(jnp.sum(vectors * vectors, axis=axis, keepdims=True))
    return vectors / jnp.maximum(length, _TINY)
