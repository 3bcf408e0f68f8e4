"""How stiff flesh is where: by body part and by depth.

A column of flesh from bone to skin is one element deep in the simulation, but in a body only its
outer part moves: below the chest's skin lie ribs, below the belly's a wall of muscle. A column of
length L whose soft part has thickness t and modulus E swings like a whole column of modulus

    E_L = E (L/t)²,

which leaves the sag ρ g t²/(2E) and the frequency ∝ √(E/ρ)/t as they are. On a reference body t is
a share s of L by body part. On another body t grows with the flesh it has more,
t = s λ L₀ + g (L − λ L₀) for skeletons λ times as long, so that a heavy body's belly is soft in
depth and a slim one's firm; g is less than 1 where a larger part is also one with larger bones, as
chests are. Breasts are soft as far as they stand out from the chest: flat ones are chest.

Columns longer than any body's, as between bones and skin that lies far outside, would buckle under
their own weight: they swing as shorter ones do, E_L ∝ (L/`DEEPEST`)².

Moduli of fat and muscle at small strain range from 1 to 60 kPa between authors, depth and posture
(Krouskop et al. 1998; Gefen and Dilmoney 2007; Isogai et al. 2022: buttock fat 26 kPa under the
lightest load; Suh et al. 2024: whole breasts 5.0 kPa pulled, 1.0 kPa sheared, which for the energy
here, E = 2G, is 2 to 5 kPa). Shares, and the modulus of breasts, were then set by how far skin
moves in hard landings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.surface import unique_edges
from corporeal.physics.volumetric_mesh.model import VolumetricModel

if TYPE_CHECKING:
    from scipy.sparse import csc_array

BREAST = "breast"
STANDING_OUT = (0.008, 0.02)
"""Metres: what stands out less than the first from the chest is chest, more than the second all
breast."""
BLENDING = 0.02
"""Metres over which the stiffness of one part goes over into its neighbour's."""
_FIRMEST = 0.08
"""Smallest soft share of a column: on a body thinner than the reference."""
DEEPEST = 0.3
"""Metres: longer columns are stiffer; the heaviest belly has 0.25 m to its bone."""
THICKEST = 0.15
"""The same for flesh of unknown parts, which is soft all through."""


@dataclass(frozen=True)
class PartTissue:
    """The flesh of one body part."""

    modulus: float
    """Young's modulus of the soft part, relative to that of the whole body's material."""
    soft_share: float
    """s: its thickness as a share of the way from bone to skin, on the reference body."""
    growth: float = 1.0
    """g: how much of what another body has more there is soft."""


TISSUES: Mapping[str, PartTissue] = {
    "neck": PartTissue(1.0, 0.6),
    "chest": PartTissue(1.0, 0.11, 0.2),
    "back": PartTissue(1.0, 0.16, 0.4),
    "belly": PartTissue(0.9, 0.5),
    "hips": PartTissue(1.0, 0.4),
    "breast": PartTissue(0.065, 1.0),
    "buttock": PartTissue(0.7, 0.8),
    "shoulder": PartTissue(1.0, 0.5, 0.5),
    "upper_arm": PartTissue(0.8, 0.8),
    "forearm": PartTissue(1.0, 0.6),
    "hand": PartTissue(1.0, 0.4),
    "thigh": PartTissue(0.9, 0.75),
    "shin": PartTissue(1.0, 0.6),
    "foot": PartTissue(1.0, 0.4),
}
"""By part, left and right alike; parts not named here are the body's plain material."""


_HELD = 1e-9
"""1/m²: weight that holds vertices where they are, far below a neighbour's. Pieces that nothing
joins to the border of their part then stand out by nothing."""


def tissue_factors(
    template: Template,
    labels: Int[NumpyArray, "V"],
    model: VolumetricModel,
    reference: VolumetricModel,
    scale: float,
) -> Float64[NumpyArray, "V"]:
    """E_L/E at every skin vertex of `model`, blended over the borders of parts.

    `labels` are the vertices' parts, `reference` is the model of the template's own body and
    `scale` is λ, how much longer the skeleton is than the template's.
    """
    names = np.array([bare_name(name) for name in template.part_names])[labels]
    column, usual = _columns(model), scale * _columns(reference)

    def stiffness(parts: NumpyArray) -> Float64[NumpyArray, "V"]:
        """log E_L/E if the vertices belonged to these parts."""
        tissues = {name: part_tissue(name) for name in np.unique(parts).tolist()}
        modulus = np.array([tissues[name].modulus for name in parts])
        share = np.array([tissues[name].soft_share for name in parts])
        growth = np.array([tissues[name].growth for name in parts])
        soft = share * usual + growth * (column - usual)
        softness = np.clip(soft / np.maximum(column, 1e-9), np.minimum(_FIRMEST, share), 1.0)
        return np.log(modulus / softness**2)

    surface, breast = Mesh(model.skin, model.triangles), names == BREAST
    full = breast_fullness(surface, breast)
    flat = stiffness(np.where(breast, "chest", names))
    by_part = np.exp(blended(surface, flat + full * (stiffness(names) - flat)))
    return by_part * _carrying_factors(model, DEEPEST)


def breast_fullness(surface: Mesh, breast: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """From 0 for what is chest to 1 for what stands out as breasts do."""
    least, most = STANDING_OUT
    return np.clip((_protrusion(surface, breast) - least) / (most - least), 0.0, 1.0)


def plain_factors(model: VolumetricModel) -> Float64[NumpyArray, "V"]:
    """E_L/E at every skin vertex of a body without known parts: soft all through, but for columns
    that could not carry themselves."""
    return _carrying_factors(model, THICKEST)


def _carrying_factors(model: VolumetricModel, longest: float) -> Float64[NumpyArray, "V"]:
    """(L/longest)² for columns of more than `longest` metres; also at their neighbours, which share
    elements with them."""
    excess = np.maximum(_columns(model) / longest, 1.0)
    around, (start, end) = excess.copy(), unique_edges(model.triangles).T
    np.maximum.at(around, start, excess[end])
    np.maximum.at(around, end, excess[start])
    return around**2


def part_tissue(name: str) -> PartTissue:
    """The tissue of a part by its name, left or right."""
    return TISSUES.get(bare_name(name), PartTissue(1.0, 1.0))


def bare_name(part: str) -> str:
    """A part's name without its side."""
    return part.removeprefix("left_").removeprefix("right_")


def part_factors(template: Template, factors: Mapping[str, float]) -> Float64[NumpyArray, "W"]:
    """A map for the full skin from factors by part name; 1 where no part is named.

    A name without its side, such as `thigh`, means both.
    """
    values = np.ones(len(template.part_names))
    for name, factor in factors.items():
        chosen = [
            index
            for index, part in enumerate(template.part_names)
            if name in (part, bare_name(part))
        ]
        if not chosen:
            raise InputError(
                f"a factor came for {name!r}; the body has {', '.join(template.part_names)}."
            )
        values[chosen] = factor
    return values[template.part_labels]


def has_known_parts(template: Template) -> bool:
    """Whether any of a body's parts has a tissue of its own."""
    return any(part_tissue(name) != PartTissue(1.0, 1.0) for name in template.part_names)


def skeleton_scale(skeleton: Skeleton, reference: Skeleton) -> float:
    """λ: total length of bones against that of another skeleton of the same tree."""

    def length(joints: NumpyArray) -> float:
        bones = joints[1:] - joints[list(skeleton.parents[1:])]
        return float(np.linalg.norm(bones, axis=1).sum())

    return length(np.asarray(skeleton.joints)) / length(np.asarray(reference.joints))


def _columns(model: VolumetricModel) -> Float64[NumpyArray, "V"]:
    """L: from every skin vertex to its inner copy, metres."""
    return np.linalg.norm(np.asarray(model.skin) - np.asarray(model.inner), axis=1)


def _protrusion(surface: Mesh, inside: Bool[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """Metres that vertices stand out from a surface spanned over the border of their region."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import spsolve

    skin = np.asarray(surface.vertices)
    apart = np.zeros(len(skin))
    chosen, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    if len(chosen) and len(others):
        laplacian = _laplacian(surface).tocsr()[chosen]
        held = laplacian[:, chosen] + _HELD * eye_array(len(chosen))
        pull = _HELD * skin[chosen] - laplacian[:, others] @ skin[others]
        spanned = spsolve(held.tocsc(), pull)
        apart[chosen] = np.linalg.norm(skin[chosen] - spanned, axis=1)
    return apart


def blended(surface: Mesh, values: Float64[NumpyArray, "V"]) -> Float64[NumpyArray, "V"]:
    """(1 − ℓ²Δ) u = values over the skin, ℓ = `BLENDING`."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    identity = diags_array(np.ones(len(values)))
    return splu(csc_array(identity + BLENDING**2 * _laplacian(surface))).solve(values)


def _laplacian(surface: Mesh) -> "csc_array":
    """−Δ, 1/m²: Σ_j (u_i − u_j)/l_ij² · 4/degree, which is exact for square and hexagonal nets."""
    from scipy.sparse import csc_array, diags_array

    start, end = unique_edges(surface.triangles).T
    skin, count = np.asarray(surface.vertices), surface.vertex_count
    squared = np.sum((skin[start] - skin[end]) ** 2, axis=1)
    weight = 1.0 / np.maximum(squared, 1e-4 * squared.mean())
    rows, columns = np.concatenate([start, end]), np.concatenate([end, start])
    joined = csc_array((np.tile(weight, 2), (rows, columns)), shape=(count, count))
    degree = np.maximum(np.bincount(rows, minlength=count), 1)
    difference = diags_array(joined.sum(axis=1)) - joined
    return csc_array(diags_array(4.0 / degree) @ difference)
