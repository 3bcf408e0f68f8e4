"""The muscle surface between bone and skin (equations 4.10 and 4.11), and how far it can go.

    E(M) = w_reg E_reg(M, M̄) + w_line E_line(M, B, S),   E_line = ½ Σ ‖x_i − π_L(x_i)‖²

Every vertex ends on its line from bone to skin. In the belly it may not come nearer to the bone
than the template's share β_min: visceral fat pushes the muscles out with the skin.
"""

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.anatomy.lines import on_lines, share_bounds, shares, upright_shares
from corporeal.anatomy.prisms import Prisms
from corporeal.anatomy.surface_energy import SurfaceEnergy
from corporeal.anatomy.template import GROUPS, LayeredTemplate

W_REG, W_LINE, FALL = 0.01, 1.0, 0.25
"""First w_reg, w_line, and the factor between one w_reg and the next."""
NEAR_LINE = 2e-4
"""Largest distance from the lines that is left, metres."""
LEVELS, ITERATIONS = 10, 5
MOST_GROWTH, MOST_LOSS = 0.8, 0.75
"""A muscle's thickness grows and shrinks by this share of it at most."""
CROWDED = 0.25
"""Growth stops when this share of a group's thick part has come to the skin."""


def average_muscle(
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    scaled: tuple[NumpyArray, NumpyArray, NumpyArray],
    prisms: Prisms,
    belly: Bool[NumpyArray, "V"],
) -> Float64[NumpyArray, "V"]:
    """β of the template's muscle surface in this body; `scaled` is (S̄, M̄, B̄)."""
    layered = prisms.layered
    template = shares(scaled[1], scaled[0], scaled[2])
    low, high = share_bounds(skin, bone)
    low = np.where(belly, np.clip(template, low, high), low)
    muscle = np.where(layered[:, None], scaled[1], skin)
    energy = SurfaceEnergy(muscle, prisms.triangles, layered)
    w_reg = W_REG
    for _ in range(LEVELS):
        solver = energy.solver(w_reg, W_LINE / energy.areas)
        for _ in range(ITERATIONS):
            targets = _on_own_lines(muscle, skin, bone, low, high, layered)
            muscle = solver.step(muscle, targets)
        gap = np.linalg.norm(muscle - _on_own_lines(muscle, skin, bone, low, high, layered), axis=1)
        if gap[layered].max(initial=0.0) < NEAR_LINE:
            break
        energy.set_rest(muscle)
        w_reg *= FALL
    return upright_shares(prisms, np.clip(shares(muscle, skin, bone), low, high), skin, bone)


def _on_own_lines(
    muscle: Float64[NumpyArray, "V 3"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    low: Float64[NumpyArray, "V"],
    high: Float64[NumpyArray, "V"],
    layered: Bool[NumpyArray, "V"],
) -> Float64[NumpyArray, "V 3"]:
    """π_L: the nearest allowed point of every line."""
    return on_lines(np.clip(shares(muscle, skin, bone), low, high), skin, bone, layered)


def muscle_limits(
    beta: Float64[NumpyArray, "V"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    template: LayeredTemplate,
    prisms: Prisms,
) -> tuple[Float64[NumpyArray, "V"], Float64[NumpyArray, "V"]]:
    """β of the minimum and the maximum muscle surface.

    Each group moves along its lines in proportion to its muscle thickness, until its thick part
    comes to the skin (or the bone) or the group's limit is reached.
    """
    length = np.maximum(np.linalg.norm(skin - bone, axis=1), 1e-9)
    low, high = share_bounds(skin, bone)
    thickness = np.minimum(template.muscle_thickness, beta * length)
    smallest, largest = beta.copy(), beta.copy()
    for group in range(len(GROUPS)):
        member = template.group_of == group
        thick = member & (thickness > 0.5 * np.quantile(thickness[member], 0.9))
        potential = np.maximum(thickness[thick], 1e-6)
        room_out = np.maximum(high - beta, 0)[thick] * length[thick] / potential
        room_in = np.maximum(beta - low, 0)[thick] * length[thick] / potential
        growth = min(MOST_GROWTH, float(np.quantile(room_out, CROWDED)))
        loss = min(MOST_LOSS, float(np.quantile(room_in, CROWDED)))
        largest[member] += (growth * thickness / length)[member]
        smallest[member] -= (loss * thickness / length)[member]
    both = [np.clip(limit, low, high) for limit in (smallest, largest)]
    energy = SurfaceEnergy(
        on_lines(beta, skin, bone, prisms.layered), prisms.triangles, prisms.layered
    )
    limits = [_regularised(energy, limit, skin, bone, prisms) for limit in both]
    return np.minimum(limits[0], beta), np.maximum(limits[1], beta)


def _regularised(
    energy: SurfaceEnergy,
    beta: Float64[NumpyArray, "V"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    prisms: Prisms,
) -> Float64[NumpyArray, "V"]:
    """New places as targets of equation 4.3, with equation 4.2 against distortion."""
    targets = on_lines(beta, skin, bone, prisms.layered)
    solver, muscle = energy.solver(1e-7, np.ones(len(skin))), targets
    for _ in range(4):
        muscle = solver.step(muscle, targets)
    return upright_shares(prisms, shares(muscle, skin, bone), skin, bone)
