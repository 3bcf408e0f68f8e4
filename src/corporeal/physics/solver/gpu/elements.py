"""Tetrahedra seen from their corners: the local step and its right-hand side in one gather.

Every free vertex lists the tetrahedra it is a corner of (an incidence each). For one incidence,
with x₀ the vertex, x₁ x₂ x₃ the other corners and g_k the gradients of their shape functions,

    F = Σ_k (x_k − x₀) g_kᵀ,    force on the vertex = w (R(F) − F) g₀,    g₀ = −(g₁ + g₂ + g₃),

and the right-hand side is the sum over the vertex's incidences. A tetrahedron is so worked out once
a free corner (twice on flesh one layer thick); in exchange nothing is scattered, nothing between
local step and sum goes through memory, and the order of every sum is fixed: results repeat to the
last bit.

Arrays are structures of arrays, float32, free vertices first, with the characters of a batch
innermost: positions are (3, n, B).
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy.sparse import csc_array, diags_array, vstack

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.solver.constraints.skin_tension import SkinTension
from corporeal.physics.solver.constraints.strain import (
    StrainConstraint,
    gradient_matrix,
)
from corporeal.physics.solver.gpu.polar import closest_rotation
from corporeal.physics.solver.gpu.skin import (
    DeviceSkinTension,
    SkinElements,
    skin_rows,
    tension_of,
)
from corporeal.physics.solver.membrane import Membrane
from corporeal.physics.solver.system import System
from corporeal.runtime.pytree_dataclass import pytree_dataclass

WARP = 32
"""Lists of incidences are as long as a multiple of this."""


@pytree_dataclass()
class Elements:
    """Tetrahedra over n vertices, of which the first f are free."""

    tetrahedra: Int[Array, "T 4"]
    """Corner indices."""
    inverse_edges: Float[Array, "T 3 3"]
    """G: of the unloaded shape, 1/m."""
    weights: Float[Array, "T"]
    """w: stiffness times volume, J."""
    masses: Float[Array, "f"]
    """Of the free vertices, kg."""
    springs: Float[Array, "f"] | None = None
    """Of the attachments of the free vertices, N/m; None where there are none."""
    edges: Int[Array, "E 2"] | None = None
    """Of the skin, whose stretch is limited (`solver.membrane`); None where none is."""
    lengths: Float[Array, "E"] | None = None
    """Of those edges at rest, metres."""
    skin: SkinElements | None = None
    """Whose tension pulls; None where there is none."""
    creasing: Float[Array, "f"] | None = None
    """K of the membrane (`solver.membrane`) at the free vertices, N/m; None where no creases are
    damped."""


@pytree_dataclass()
class DeviceFlesh:
    """f free vertices with up to k incidences each; missing ones weigh nothing."""

    corners: Int[Array, "3 f k"]
    """The other three corners, among all vertices, free ones first."""
    gradients: Float[Array, "9 f k"]
    """g₁, g₂, g₃, 1/m."""
    weights: Float[Array, "f k"]
    """w: stiffness times volume, J."""
    masses: Float[Array, "f"]
    """kg."""
    springs: Float[Array, "f"] | None = None
    """Of the attachments, N/m; None where there are none."""
    ends: Int[Array, "f m"] | None = None
    """Other ends of the skin edges of every free vertex, itself behind the last; None where no
    stretch is limited."""
    lengths: Float[Array, "f m"] | None = None
    """Of those edges at rest, metres; 0 behind the last."""
    skin: DeviceSkinTension | None = None
    """Skin whose tension pulls; None where there is none."""
    creasing: Float[Array, "f"] | None = None
    """K of the membrane (`solver.membrane`), N/m; None where no creases are damped."""


def elements_of(system: System, order: Int[NumpyArray, "n"]) -> Elements:
    """The elements of a system whose vertices are renumbered by `order`, free ones first."""
    strain, skin = _known_constraints(system)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    free, springs = int((~system.anchored).sum()), system.attachments
    membrane = system.membrane if system.untangled else None
    return Elements(
        place[strain.tetrahedra],
        strain.inverse_edges.astype(np.float32),
        strain.weights[::3].astype(np.float32),
        system.masses[order[:free]].astype(np.float32),
        None if springs is None else springs[order[:free]].astype(np.float32),
        None if membrane is None else place[membrane.edges],
        None if membrane is None else membrane.lengths.astype(np.float32),
        None if skin is None else _skin_of(skin, place),
        None if membrane is None else membrane.stiffness[order[:free]].astype(np.float32),
    )


def _known_constraints(system: System) -> tuple[StrainConstraint, SkinTension | None]:
    """Strain, and the skin's tension where there is one; all else is refused."""
    match system.constraints:
        case (StrainConstraint() as strain,):
            return strain, None
        case (StrainConstraint() as strain, SkinTension() as skin):
            return strain, skin
    kinds = ", ".join(type(c).__name__ for c in system.constraints) or "none"
    raise InputError(
        f"the GPU solver was given these constraints: {kinds}; it takes one tetrahedral "
        f"strain, and the tension of a skin behind it. Use the CPU solver for this system."
    )


def _skin_of(skin: SkinTension, place: Int[NumpyArray, "n"]) -> SkinElements:
    """The triangles among renumbered vertices, float32."""
    return SkinElements(
        place[skin.triangles],
        skin.inverse_edges.astype(np.float32),
        skin.weights[::2].astype(np.float32),
    )


def system_matrix(
    elements: Elements, inertia: float, vertex_count: int, stiffening: float = 1.0
) -> csc_array:
    """κ M_f + K_f + s Q_fᵀ W Q_f in float64, for `inertia` κ in 1/s² and `stiffening` s, and what
    damps creases."""
    free = len(elements.masses)
    rows = gradient_matrix(
        np.asarray(elements.inverse_edges, np.float64),
        np.asarray(elements.tetrahedra),
        vertex_count,
    )
    weights = np.repeat(np.asarray(elements.weights, np.float64), 3)
    if elements.skin is not None:
        inverse, triangles, more = skin_rows(elements.skin)
        rows = vstack([rows, gradient_matrix(inverse, triangles, vertex_count)])
        weights = np.concatenate([weights, more])
    columns, weights = csc_array(rows)[:, :free], stiffening * weights
    diagonal = inertia * np.asarray(elements.masses, np.float64)
    if elements.springs is not None:
        diagonal += np.asarray(elements.springs, np.float64)
    stiffness = columns.T @ diags_array(weights) @ columns
    if elements.creasing is not None and elements.edges is not None and stiffening > 1.0:
        each = np.zeros(vertex_count)
        each[:free] = elements.creasing
        lengths = np.asarray(elements.lengths, np.float64)
        membrane = Membrane(np.asarray(elements.edges), lengths, each)
        stiffness = stiffness + (stiffening - 1.0) * membrane.damping(np.arange(free))
    return csc_array(stiffness + diags_array(diagonal))


def flesh_of(elements: Elements) -> DeviceFlesh:
    """The elements seen from their free corners."""
    tetrahedra, free = np.asarray(elements.tetrahedra), len(elements.masses)
    owners, sides = incidences(tetrahedra, free)
    listed, some = np.maximum(owners, 0), owners >= 0
    # The other corners, in any order: F does not depend on it.
    others = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])[np.maximum(sides, 0)]
    corners = np.take_along_axis(tetrahedra[listed], others, axis=2)
    inverse = np.asarray(elements.inverse_edges)
    # Column c of (−Σ G | G) is the gradient of corner c.
    shapes = np.concatenate([-inverse.sum(axis=2, keepdims=True), inverse], axis=2)
    gradients = np.take_along_axis(shapes.transpose(0, 2, 1)[listed], others[..., None], axis=2)
    own = np.arange(free)[:, None, None]
    return DeviceFlesh(
        np.ascontiguousarray(np.where(some[..., None], corners, own).transpose(2, 0, 1), np.int32),
        np.ascontiguousarray(gradients.reshape(*owners.shape, 9).transpose(2, 0, 1), np.float32),
        (np.asarray(elements.weights)[listed] * some).astype(np.float32),
        np.asarray(elements.masses, np.float32),
        None if elements.springs is None else np.asarray(elements.springs, np.float32),
        *_edges_of(elements, free),
        None if elements.skin is None else tension_of(elements.skin, free),
        None if elements.creasing is None else np.asarray(elements.creasing, np.float32),
    )


def _edges_of(
    elements: Elements, free: int
) -> tuple[Int[NumpyArray, "f m"], Float[NumpyArray, "f m"]] | tuple[None, None]:
    """The skin edges of every free vertex: their other ends, and lengths at rest."""
    if elements.edges is None or elements.lengths is None:
        return None, None
    one, other = np.asarray(elements.edges).T
    own, ends = np.concatenate([one, other]), np.concatenate([other, one])
    lengths = np.tile(np.asarray(elements.lengths), 2)
    entries = np.flatnonzero(own < free)
    entries = entries[np.argsort(own[entries], kind="stable")]
    counts = np.bincount(own[entries], minlength=free)
    slots = np.arange(len(entries)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (free, max(1, int(counts.max(initial=0))))
    table, rest = np.tile(np.arange(free)[:, None], shape[1]), np.zeros(shape, np.float32)
    table[own[entries], slots], rest[own[entries], slots] = ends[entries], lengths[entries]
    return table.astype(np.int32), rest


def incidences(
    tetrahedra: Int[NumpyArray, "T 4"], free: int
) -> tuple[Int[NumpyArray, "f k"], Int[NumpyArray, "f k"]]:
    """Tetrahedron and corner of every incidence of every free vertex; −1 behind the last."""
    vertex = tetrahedra.ravel()
    entries = np.flatnonzero(vertex < free)
    entries = entries[np.argsort(vertex[entries], kind="stable")]
    owner = vertex[entries]
    counts = np.bincount(owner, minlength=free)
    slot = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((free, -(-int(counts.max()) // WARP) * WARP), -1, np.int64)
    table[owner, slot] = entries
    return np.where(table >= 0, table // 4, -1), np.where(table >= 0, table % 4, -1)


def strain_forces(flesh: DeviceFlesh, positions: Float[Array, "3 n B"]) -> Float[Array, "3 f B"]:
    """Q_fᵀ W (p − Q z): what strain pulls the free vertices with, newtons."""
    free = flesh.weights.shape[0]
    own = positions[:, :free, None]
    # (x_k − x₀)_i of all incidences
    edges = [[positions[i][flesh.corners[k]] - own[i] for k in range(3)] for i in range(3)]
    g = [flesh.gradients[j][..., None] for j in range(9)]
    return jnp.stack(sum_together(*incidence_forces(edges, g, flesh.weights[..., None])))


def incidence_forces(
    edges: list[list[Array]], g: list[Array], weights: Array
) -> tuple[Array, Array, Array]:
    """w (R(F) − F) g₀ from (x_k − x₀)_i and the nine entries of g₁, g₂, g₃."""
    # F_ij = Σ_k (x_k − x₀)_i g_kj
    gradient = [
        edges[i][0] * g[j] + edges[i][1] * g[3 + j] + edges[i][2] * g[6 + j]
        for i in range(3)
        for j in range(3)
    ]
    # Where there is no element, F = 1: a derivative that weighs nothing must still be a number.
    missing = (weights <= 0.0).astype(weights.dtype)
    gradient = [f + missing if k % 4 == 0 else f for k, f in enumerate(gradient)]
    rotation = closest_rotation(gradient)
    away = _pulls(weights, g)
    short = [turn - stretch for turn, stretch in zip(rotation, gradient, strict=True)]
    # f_i = Σ_j w (R − F)_ij g₀_j
    x, y, z = (
        short[3 * i] * away[0] + short[3 * i + 1] * away[1] + short[3 * i + 2] * away[2]
        for i in range(3)
    )
    return x, y, z


def stiffness_product(flesh: DeviceFlesh, moved: Float[Array, "3 f B"]) -> Float[Array, "3 f B"]:
    """Q_fᵀ W Q_f u for displacements u of the free vertices, newtons."""
    free = flesh.weights.shape[0]
    g = [flesh.gradients[j][..., None] for j in range(9)]
    away = _pulls(flesh.weights[..., None], g)
    inside = [(flesh.corners[k] < free)[..., None] for k in range(3)]
    there = [jnp.minimum(flesh.corners[k], free - 1) for k in range(3)]
    forces = []
    for i in range(3):
        own = moved[i, :, None]
        edges = [jnp.where(inside[k], moved[i][there[k]], 0.0) - own for k in range(3)]
        # (Σ_k (u_k − u₀) g_kj)_j · w g₀_j
        rows = [edges[0] * g[j] + edges[1] * g[3 + j] + edges[2] * g[6 + j] for j in range(3)]
        forces.append(rows[0] * away[0] + rows[1] * away[1] + rows[2] * away[2])
    return jnp.stack(sum_together(*forces))


def _pulls(weights: Array, g: list[Array]) -> list[Array]:
    """w g₀."""
    return [-weights * (g[j] + g[3 + j] + g[6 + j]) for j in range(3)]


@jax.custom_jvp
def sum_together(x: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
    """Sums of three arrays over their second axis, in one pass over what makes them."""
    zero = jnp.zeros((), x.dtype)
    return tuple(lax.reduce((x, y, z), (zero, zero, zero), _add, (1,)))


def _add(left: tuple[Array, ...], right: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


@sum_together.defjvp
def _summed_slopes(
    parts: tuple[Array, ...], slopes: tuple[Array, ...]
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Forward derivatives; plain sums, so that JAX can turn them round."""
    return sum_together(*parts), tuple(jnp.sum(slope, axis=1) for slope in slopes)
