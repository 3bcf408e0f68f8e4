"""The skeleton surface inside a given skin (equations 4.7 to 4.9).

    E = w_reg E_reg(B, B̄) + w_flesh E_flesh(B, S) + w_coll E_coll(B, S) + w_shape E_shape(B, B̄)

E_shape = Σ A_i ‖x_i − π_B̄(x_i)‖² is not in Komaritzan 2022: vertices slide on the scaled skeleton
surface freely and leave it at a cost, so that flesh ten times as thick as the template's does not
blow up the bones.

Static local–global iteration with the skin as hard constraint. Collisions are looked for in the
converged state and added with growing weights until there are none, or hardly fewer than before.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.anatomy.fit.flesh import flesh_constraint
from corporeal.anatomy.prisms import Prisms, untangle
from corporeal.anatomy.surface_energy import SurfaceEnergy
from corporeal.geometry.surface import triangle_area_vectors
from corporeal.geometry.surface_tree import SurfaceTree

W_REG, W_FLESH, W_COLL = 0.1, 0.001, 50.0
"""Those of Komaritzan 2022 but for w_flesh (0.01), with which thin bones collapse in thick
limbs."""
W_SHAPE = 20000.0
"""Of E_shape, 1/m²."""
DEPTH = 0.0035
"""Bone lies this far beneath the skin, metres: room for 1 mm of muscle and 2 mm of fat and skin."""
ITERATIONS, ROUNDS = 12, 12
"""Local–global steps between looking for collisions, and how often that is done at most."""
ENOUGH, DEEPER = 0.95, 1.4
"""Depth that is left alone, and that collisions are drawn to, against the required one: a penalty
alone never quite gets there."""
FEW = 5
"""Collisions that are put right at the end without another round."""
STUCK = 0.85
"""A round that leaves more than this share of the collisions is the last."""
SETTLED = 2e-4
"""Iterations end when no vertex moves by more, metres."""


@dataclass(frozen=True)
class SkeletonReport:
    """What a fit had to do."""

    rounds: int
    """How often collisions were looked for."""
    collisions: int
    """Vertices that ever were too near to the skin."""
    untangled: float
    """Largest way that putting prisms upright moved a vertex, metres."""


def fit_skeleton(
    skin: Float64[NumpyArray, "V 3"],
    scaled_skin: Float64[NumpyArray, "V 3"],
    scaled_bone: Float64[NumpyArray, "V 3"],
    prisms: Prisms,
    tree: SurfaceTree,
    looseness: Float64[NumpyArray, "F"] | None = None,
    wall: Callable[[Float64[NumpyArray, "V 3"]], Float64[NumpyArray, "V 3"]] | None = None,
) -> tuple[Float64[NumpyArray, "V 3"], SkeletonReport]:
    """B for `skin`; S̄ and B̄ are the scaled template's surfaces.

    `looseness` multiplies the flesh energy of every prism; 1 if None. `wall` is what the surface
    goes through before its prisms are put upright (`breast_wall.spanned_bone`).
    """
    count, layered = len(skin), prisms.layered
    start = np.where(layered[:, None], scaled_bone, skin)
    energy = SurfaceEnergy(start, prisms.triangles, layered)
    flesh = flesh_constraint(scaled_skin, scaled_bone, prisms.triangles)
    inner = csr_array(flesh.matrix[:, count:])
    free_columns = csr_array(inner[:, energy.free])
    fixed = flesh.matrix[:, :count] @ skin + inner[:, energy.fixed] @ skin[energy.fixed]
    hold = W_SHAPE * energy.areas[energy.free]
    each = np.ones(len(prisms.triangles)) if looseness is None else looseness
    held = csr_array(free_columns.T @ diags_array(W_FLESH * np.repeat(each, 3)))
    stiffness = W_REG * energy.bending + held @ free_columns
    stiffness = stiffness + diags_array(hold)
    shape = SurfaceTree(start, prisms.triangles)
    least = required_depth(scaled_skin, scaled_bone)
    weights, targets, bone = np.zeros(count), skin.copy(), start
    surface = start[energy.free]
    ever, rounds, before = np.zeros(count, bool), 0, 0
    while rounds < ROUNDS:
        rounds += 1
        pull = W_COLL * weights[energy.free]
        matrix = csc_array(stiffness + diags_array(pull))
        factor = splu(matrix)
        for iteration in range(ITERATIONS):
            if iteration % 4 == 0:
                surface, _ = shape.closest(bone[energy.free])
            strain = flesh.project(inner @ bone + flesh.matrix[:, :count] @ skin)
            right = W_REG * energy.right_side(bone)
            right += held @ (strain - fixed)
            right += pull[:, None] * targets[energy.free] + hold[:, None] * surface
            moved = factor.solve(right)
            step = np.abs(moved - bone[energy.free]).max()
            bone = bone.copy()
            bone[energy.free] = moved
            if step < SETTLED:
                break
        hit, places = collisions(bone, tree, energy.free, least)
        if len(hit) <= FEW or (rounds > 3 and len(hit) > STUCK * before):
            break
        before = len(hit)
        weights[hit] += 1.0
        targets[hit], ever[hit] = places, True
    bone = _inside(bone, tree, energy.free, least)
    bone = bone if wall is None else wall(bone)
    upright = untangle(prisms, skin, bone)
    moved = float(np.abs(upright - bone).max())
    return upright, SkeletonReport(rounds, int(ever.sum()), moved)


def required_depth(
    skin: Float64[NumpyArray, "V 3"], bone: Float64[NumpyArray, "V 3"]
) -> Float64[NumpyArray, "V"]:
    """How deep bone must lie, metres: `DEPTH`, but less where the template has less."""
    return np.minimum(DEPTH, 0.7 * np.linalg.norm(skin - bone, axis=1))


def collisions(
    bone: Float64[NumpyArray, "V 3"],
    tree: SurfaceTree,
    free: Int[NumpyArray, "f"],
    least: Float64[NumpyArray, "V"],
) -> tuple[Int[NumpyArray, "n"], Float64[NumpyArray, "n 3"]]:
    """Vertices less deep than `least`, and π_S: a place beneath the closest triangle."""
    points = bone[free]
    place, triangle = tree.closest(points)
    away = points - place
    distance = np.linalg.norm(away, axis=1)
    near = np.flatnonzero(distance < 0.06)
    inside = np.ones(len(points), bool)
    inside[near] = tree.winding(points[near]) > 0.5
    depth = np.where(inside, distance, -distance)
    hit = np.flatnonzero(depth < ENOUGH * least[free])
    normal = triangle_area_vectors(tree.vertices, tree.triangles[triangle[hit]])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    index = free[hit]
    return index, place[hit] - DEEPER * least[index, None] * normal


def _inside(
    bone: Float64[NumpyArray, "V 3"],
    tree: SurfaceTree,
    free: Int[NumpyArray, "f"],
    least: Float64[NumpyArray, "V"],
) -> Float64[NumpyArray, "V 3"]:
    """What collisions are left, moved beneath the skin at once."""
    hit, places = collisions(bone, tree, free, least)
    settled = bone.copy()
    settled[hit] = places
    return settled
