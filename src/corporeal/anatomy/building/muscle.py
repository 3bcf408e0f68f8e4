"""The template's muscle surface M (section 4.2.2, second part).

Where an atlas has muscle meshes, M meets the first muscle on every line from skin to bone. Where it
has none, an envelope of the muscles is given as a surface of the same triangulation (a lean,
muscular body), and the fat outside it is calibrated region by region to known masses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.lines import on_lines, share_bounds, shares, smoothed_shares, upright_shares
from corporeal.anatomy.prisms import Prisms
from corporeal.anatomy.surface_energy import SurfaceEnergy
from corporeal.errors import InputError
from corporeal.geometry.surface_tree import SurfaceTree

BASE_FAT = 0.004
"""Fat that a region's factor works on even where the envelope shows none, metres."""
NO_MUSCLE = 0.1
"""Weight of a line that meets no muscle, against 1."""
ABDOMINAL_WALL, LUMBAR_MUSCLE = 0.018, 0.045
"""Greatest muscle thickness of belly and lower back before organs begin, metres."""


@dataclass(frozen=True, eq=False)
class FatTarget:
    """How much fat a region of the template holds between skin and muscle."""

    vertices: Bool[NumpyArray, "V"]
    """True for the skin vertices of the region."""
    volume: float
    """Of the fat layer, skin included, m³."""


def fitted_to_muscles(
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    muscles: SurfaceTree,
) -> Float64[NumpyArray, "V"]:
    """β of the first muscle on every line from skin to bone; lines without any end at the bone."""
    return muscle_shares(prisms, skin, bone, muscles, share_bounds(skin, bone)[0])[0]


def muscle_shares(
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    muscles: SurfaceTree,
    otherwise: Float64[NumpyArray, "V"],
) -> tuple[Float64[NumpyArray, "V"], Bool[NumpyArray, "V"], Bool[NumpyArray, "V"]]:
    """β of the first muscle on every line from skin to bone; `otherwise` where there is none.

    Also which lines meet a muscle, and which begin inside one: those have all the muscle there is
    room for.
    """
    inside = (muscles.winding(skin) > 0.5) & prisms.layered
    found, distance = first_meeting(muscles, skin, bone)
    length = np.maximum(np.linalg.norm(skin - bone, axis=1), 1e-12)
    beta = np.where(found, 1.0 - distance / length, otherwise)
    beta = np.where(inside, share_bounds(skin, bone)[1], beta)
    met = (found | inside) & prisms.layered
    weight = np.where(met, 1.0, NO_MUSCLE)
    return _regularised(prisms, skin, bone, beta, weight), met, inside


def first_meeting(
    surface: SurfaceTree,
    starts: Float64[NumpyArray, "n 3"],
    ends: Float64[NumpyArray, "n 3"],
    tolerance: float = 3e-4,
) -> tuple[Bool[NumpyArray, "n"], Float64[NumpyArray, "n"]]:
    """Whether the way from start to end meets a surface, and how far along, metres.

    Steps as long as the distance to the surface never pass through it, whether it is closed or not.
    """
    length = np.linalg.norm(ends - starts, axis=1)
    direction = (ends - starts) / np.maximum(length, 1e-12)[:, None]
    gone, met, going = np.zeros(len(starts)), np.zeros(len(starts), bool), length > tolerance
    for _ in range(200):
        index = np.flatnonzero(going)
        if not len(index):
            break
        place = starts[index] + gone[index, None] * direction[index]
        near, _ = surface.closest(place)
        distance = np.linalg.norm(near - place, axis=1)
        hit = distance < tolerance
        met[index[hit]] = True
        gone[index] += np.maximum(distance, tolerance)
        going[index] = ~hit & (gone[index] < length[index])
    return met, np.minimum(gone, length)


def calibrated_envelope(
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    envelope: Float64[NumpyArray, "V 3"],
    targets: Sequence[FatTarget],
    kept: Bool[NumpyArray, "V"],
) -> Float64[NumpyArray, "V"]:
    """β with the fat distribution of `envelope` and each region's fat volume as asked.

    Fat over a vertex is f = 2 mm + a (g + 4 mm), g the envelope's own beyond 2 mm, smoothed; the
    factors a are found by bisection, together with the bounds of every line. Where `kept`, the
    envelope holds as it is.
    """
    low, high = share_bounds(skin, bone)
    length = np.maximum(np.linalg.norm(skin - bone, axis=1), 1e-12)
    own = (1.0 - shares(envelope, skin, bone)) * length
    own = smoothed_shares(own, prisms.triangles, prisms.layered, 6)
    grown = np.maximum(own - 0.002, 0.0) + BASE_FAT

    def share(factors: NumpyArray) -> NumpyArray:
        fat = np.where(kept, own, 0.002 + factors * grown)
        return np.clip(1.0 - fat / length, low, high)

    factors = np.ones(len(skin))
    for _ in range(3):  # regions share prisms at their borders
        for target in targets:
            factors[target.vertices] = _bisected(prisms, skin, bone, share, factors, target)
        factors = smoothed_shares(factors, prisms.triangles, prisms.layered, 4)
    return _regularised(prisms, skin, bone, share(factors), np.ones(len(skin)))


def _bisected(
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    share: Callable[[NumpyArray], NumpyArray],
    factors: Float64[NumpyArray, "V"],
    target: FatTarget,
) -> float:
    """The factor of one region at which its fat has the asked volume."""
    low, high, volume = 0.0, 20.0, 0.0
    trial = factors.copy()
    for _ in range(25):
        middle = (low + high) / 2
        trial[target.vertices] = middle
        muscle = on_lines(share(trial), skin, bone, prisms.layered)
        volume = vertex_volumes(prisms, skin, muscle)[target.vertices].sum()
        low, high = (middle, high) if volume < target.volume else (low, middle)
    if low > 19.9:
        raise InputError(
            f"a region cannot hold {1e3 * target.volume:.2f} l of fat between skin and bone; "
            f"it holds {1e3 * volume:.2f} l at most. Lower its target."
        )
    return (low + high) / 2


def vertex_volumes(
    prisms: Prisms, outer: Float64[NumpyArray, "V 3"], inner: Float64[NumpyArray, "V 3"]
) -> Float64[NumpyArray, "V"]:
    """A third of every prism goes to each of its corners, m³."""
    thirds = np.repeat(prisms.volumes(outer, inner) / 3.0, 3)
    return np.bincount(prisms.triangles.ravel(), thirds, minlength=len(outer))


def _regularised(
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    beta: Float64[NumpyArray, "V"],
    weight: Float64[NumpyArray, "V"],
) -> Float64[NumpyArray, "V"]:
    """Equation 4.1 with fixed correspondences, back onto the lines after every w_reg."""
    layered = prisms.layered
    targets = on_lines(np.clip(beta, *share_bounds(skin, bone)), skin, bone, layered)
    muscle = targets.copy()
    energy = SurfaceEnergy(skin, prisms.triangles, layered)
    for w_reg in (1e-6, 1e-7, 1e-8):
        solver = energy.solver(w_reg, weight)
        for _ in range(6):
            muscle = solver.step(muscle, targets)
        muscle = on_lines(shares(muscle, skin, bone), skin, bone, layered)
        energy.set_rest(muscle)
    return upright_shares(prisms, shares(muscle, skin, bone), skin, bone)


def thickness_map(
    muscle: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    layered: Bool[NumpyArray, "V"],
    walls: Sequence[tuple[Bool[NumpyArray, "V"], float]],
) -> Float64[NumpyArray, "V"]:
    """How much of every line is muscle, metres: all of it, or at most a wall's thickness.

    `walls` are regions with the greatest muscle thickness there; behind it lie organs.
    """
    thickness = np.linalg.norm(muscle - bone, axis=1)
    most = np.full(len(muscle), np.inf)
    for vertices, wall in walls:
        most[vertices] = wall
    bounded = np.minimum(thickness, most)
    smooth = smoothed_shares(bounded, triangles, layered, 4)
    return np.where(layered, np.minimum(smooth, thickness), 0.0)
