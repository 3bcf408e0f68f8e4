"""Skin, nails, lips, brows and painted clothes of the default body, as pictures for its texture.

Layers are laid one over the other on the texels that lie on the body: the tone on the scale of
`skin_tone`, mottled as skin is; blood where it shows; palms, nails, lips; freckles and age spots;
stubble and body hair; brows; clothes, whose hem is where a field over the vertices is zero, found
for every texel.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance import face_paint
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.hair_colours import CLOTH
from corporeal.appearance.noise import lattice_noise, step
from corporeal.appearance.regions import (
    FACE_CHART,
    MIDDLE_LINE,
    MOUTH_CHART,
    regions,
    scalp_field,
    vertex_uv,
)
from corporeal.appearance.resolving import ResolvedLook, Wearer
from corporeal.appearance.skin_tone import skin_colour
from corporeal.appearance.texels import Texels, body_texels, eight_bits, tangent_normals
from corporeal.appearance.wardrobe import garments
from corporeal.assets.default_body import load_default_body
from corporeal.assets.looks import masks
from corporeal.body.colours import srgb_from_linear
from corporeal.body.material import Material
from corporeal.errors import InputError

TEXTURE_SIZES = (512, 1024, 2048)
"""Texels along an edge that a skin may have."""

Field = Float[NumpyArray, "n"]


class Canvas:
    """Colour, roughness and height of the texels under the brush."""

    def __init__(self, texels: Texels, colour: Float[NumpyArray, "3"]) -> None:
        self.texels = texels
        count = len(texels.rows)
        self.colour = np.tile(np.asarray(colour, np.float32), (count, 1))
        self.roughness = np.full(count, 0.56, np.float32)
        self.height = np.zeros(count, np.float32)

    def lay(self, mask: Field, colour: NumpyArray | tuple[float, ...]) -> None:
        """Cover by a linear RGB colour (one, or one a texel), as far as `mask` says."""
        used = np.flatnonzero(mask > 1e-3)
        paint = np.asarray(colour, np.float32)
        paint = paint[used] if paint.ndim == 2 else paint
        share = mask[used, None].astype(np.float32)
        self.colour[used] += share * (paint - self.colour[used])

    def tint(self, mask: Field, factor: tuple[float, float, float]) -> None:
        """Multiply by a colour, as far as `mask` says."""
        used = np.flatnonzero(np.abs(mask) > 1e-3)
        change = np.asarray(factor, np.float32) - 1
        self.colour[used] *= 1 + mask[used, None].astype(np.float32) * change

    def polish(self, mask: Field, roughness: float) -> None:
        """Bring the roughness to another, as far as `mask` says."""
        self.roughness += mask.astype(np.float32) * (roughness - self.roughness)


_PAINTED = (
    "skin", "undertone", "freckles", "blush", "lips", "nails", "body_hair", "beard", "lashes",
    "cloth_colour", "seed",
)  # fmt: skip
"""What of an appearance paint depends on, beside what `ResolvedLook` has decided."""


def paint_of(look: ResolvedLook) -> ResolvedLook:
    """The look with all that paint does not depend on at its defaults: two looks with the same
    paint, such as two expressions, are one."""
    kept = {name: getattr(look.appearance, name) for name in _PAINTED}
    wearer = Wearer(1.0 if look.wearer.is_male else 0.0)
    return replace(look, appearance=Appearance(**kept), wearer=wearer, age=round(look.age, 1))


def skin_material(look: ResolvedLook, size: int = 1024) -> Material:
    """The default body's skin with painted clothes."""
    if size not in TEXTURE_SIZES:
        raise InputError(f"texture of {size} texels; expected one of {TEXTURE_SIZES}.")
    return _skin_material(paint_of(look), size)


@lru_cache(maxsize=12)
def _skin_material(look: ResolvedLook, size: int) -> Material:
    texels = body_texels(size)
    canvas = Canvas(texels, skin_colour(look.appearance.skin, look.appearance.undertone))
    random = np.random.default_rng([look.appearance.seed, 23])
    _mottle(canvas, look, random)
    _blood(canvas, look)
    _marks(canvas, look, random)
    _hair(canvas, look, random)
    _mouth(canvas, look)
    _nails(canvas, look)
    _age(canvas, look, random)
    _face(canvas, look, random)
    _clothes(canvas, look, random)
    return _material(canvas, look)


def _material(canvas: Canvas, look: ResolvedLook) -> Material:
    texels = canvas.texels
    tone = skin_colour(look.appearance.skin, look.appearance.undertone)
    rgb = texels.picture(canvas.colour, tone.astype(np.float32))
    colour = np.full((*rgb.shape[:2], 4), 255, np.uint8)
    colour[..., :3] = eight_bits(srgb_from_linear(rgb))
    roughness = eight_bits(texels.picture(canvas.roughness, 0.5))
    height = texels.picture(canvas.height, 0.0)
    # heights are in units of a texel of 1024
    normal = tangent_normals(height, texels.size / 1024)
    return Material("skin", "skin", colour, roughness, normal)


@lru_cache(maxsize=2)
def _positions(texels: Texels) -> Float[NumpyArray, "n 3"]:
    return texels.values(np.asarray(load_default_body().template.mesh.vertices))


def _blotches(texels: Texels, random: np.random.Generator, size: float) -> Field:
    """Noise over the body, smooth over `size` metres, drawn on its vertices: no seam shows it."""
    vertices = np.asarray(load_default_body().template.mesh.vertices)
    return texels.values(lattice_noise(vertices, size, random))


def _grain(texels: Texels, random: np.random.Generator, blur: float) -> Field:
    """Fine noise in texture space, deviation 1, smooth over `blur` texels of 1024."""
    from scipy.ndimage import gaussian_filter

    size = texels.size
    white = random.standard_normal((size, size)).astype(np.float32)
    soft = gaussian_filter(white, blur * size / 1024, mode="wrap", truncate=2.5)
    return (soft / soft.std())[texels.rows, texels.columns]


def _mottle(canvas: Canvas, look: ResolvedLook, random: np.random.Generator) -> None:
    """Blotches of more and less blood and pigment, and a fine grain."""
    wide = _blotches(canvas.texels, random, 0.035)
    small = 0.6 * _grain(canvas.texels, random, 3.5)
    grain = _grain(canvas.texels, random, 0.9)
    old = np.clip((look.age - 30) / 50, 0, 1)
    canvas.tint(0.35 * wide + 0.22 * small, (1.015, 0.955, 0.945))
    canvas.tint((0.35 + 0.4 * old) * (0.6 * wide - 0.5 * small), (0.96, 0.965, 0.975))
    canvas.tint(0.5 * grain, (0.975, 0.972, 0.970))
    canvas.height += 0.026 * grain + (0.004 + 0.03 * old) * small
    canvas.roughness += 0.012 * grain + 0.02 * small


def _blood(canvas: Canvas, look: ResolvedLook) -> None:
    """Cheeks, nose, ears, knuckles; pale palms and soles."""
    where, texels = regions(), canvas.texels
    tone = skin_colour(look.appearance.skin, look.appearance.undertone)
    palms = texels.values(where.palms)
    dark = np.clip((30 - look.appearance.skin) / 80, 0, 1)
    canvas.lay((0.35 + 0.5 * dark) * palms, tone**0.62 * (0.80, 0.66, 0.58))
    blush = look.appearance.blush
    on_face, across, down = _face_places(texels)
    red = np.zeros(len(palms), np.float32)
    red[on_face] = face_paint.cheeks(across, down)
    ears = texels.sampled(masks()["ears"])
    mask = np.maximum(0.75 * red, np.maximum(0.8 * ears, 0.55 * texels.values(where.joints)))
    canvas.tint(1.4 * blush * mask, (1.02, 0.80, 0.79))
    lids = texels.sampled(masks()["eyelids"])
    canvas.tint(0.55 * lids, (0.90, 0.80, 0.80))
    aureolae = texels.sampled(masks()["aureolae"])
    canvas.lay(0.8 * aureolae, tone * (0.66, 0.46, 0.44))
    zone = np.zeros(len(palms), np.float32)
    zone[on_face] = face_paint.shine_zone(across, down)
    canvas.polish(0.8 * zone, 0.47)


def _face_places(texels: Texels) -> tuple[NumpyArray, Field, Field]:
    """Which texels lie on the face's chart, and where: across and down."""
    u, v = texels.u, texels.v
    box = (u > FACE_CHART[0]) & (v > FACE_CHART[1]) & (v < FACE_CHART[3])
    on_face = np.flatnonzero(box)
    return on_face, np.abs(v[on_face] - MIDDLE_LINE), u[on_face]


def _marks(canvas: Canvas, look: ResolvedLook, random: np.random.Generator) -> None:
    """Freckles, a few moles, age spots."""
    texels = canvas.texels
    sun = texels.values(regions().sun)
    amount = look.appearance.freckles
    if amount > 0:
        spots = _grain(texels, random, 0.85) + 0.4 * _blotches(texels, random, 0.02)
        mask = step(spots, 1.7 - 0.8 * amount, 2.7 - 0.8 * amount) * sun
        on_face, across, down = _face_places(texels)
        mask[on_face] *= face_paint.freckled(across, down)
        canvas.tint(0.55 * mask * (0.5 + 0.5 * amount), (0.78, 0.62, 0.52))
    moles = step(_grain(texels, random, 1.1), 4.25, 4.45)
    canvas.tint(0.7 * moles, (0.50, 0.38, 0.34))
    old = np.clip((look.age - 50) / 35, 0, 1)
    if old > 0:
        spots = 0.8 * _grain(texels, random, 1.5) + 0.5 * _blotches(texels, random, 0.02)
        canvas.tint(0.4 * old * step(spots, 1.7, 2.6) * sun, (0.84, 0.75, 0.68))


def _hair(canvas: Canvas, look: ResolvedLook, random: np.random.Generator) -> None:
    """The scalp under the hair, stubble, hair on chest and limbs."""
    texels, where = canvas.texels, regions()
    hair = np.asarray(look.brow_colour)
    grain = _grain(texels, random, 0.75)
    mesh = load_default_body().template.mesh
    # far below the line nothing more is told: beside charts, values are continued along triangles
    above = np.maximum(scalp_field(mesh.vertices, vertex_uv(mesh), look.recession), -0.05)
    scalp = texels.values(above)
    bare = look.hair_style == "bald"
    # single hairs grow below the hairline: roots thin out over a finger's breadth
    roots = step(scalp + 0.0020 * grain, -0.011, 0.007) ** 1.5
    roots *= 1 - texels.sampled(masks()["ears"])
    cover = 0.10 if bare else 0.97
    canvas.lay(cover * roots * np.clip(0.97 + 0.03 * grain, 0, 1), np.asarray(look.hair_colour))
    canvas.polish(0.9 * roots, 0.50 if bare else 0.75)
    if look.wearer.is_male:
        on_face, across, down = _face_places(texels)
        mask = np.zeros(len(scalp), np.float32)
        mask[on_face] = face_paint.beard(across, down)
        mask *= 1 - texels.sampled(masks()["lips"])
        # hairs are finer than texels: what is seen is how dense they are
        dense = np.clip(0.85 + 0.20 * grain + 0.25 * _blotches(texels, random, 0.012), 0.3, 1.4)
        canvas.lay(np.clip(0.52 * look.appearance.beard * mask * dense, 0, 0.85), hair)
        canvas.polish(0.5 * look.appearance.beard * mask, 0.65)
        share = look.appearance.body_hair
        body = np.maximum(texels.values(where.chest_hair), 0.55 * texels.values(where.limb_hair))
        canvas.lay(0.26 * share * body * np.clip(0.55 + 0.35 * grain, 0, 1.3), hair)
    else:
        body = 0.05 * look.appearance.body_hair * texels.values(where.limb_hair)
        canvas.lay(body, hair)


def _mouth(canvas: Canvas, look: ResolvedLook) -> None:
    """Lips and what lies behind them."""
    texels = canvas.texels
    inside = texels.sampled(masks()["inside_mouth"])
    u, v = texels.u, texels.v
    inside *= (u > MOUTH_CHART[0]) & (v < MOUTH_CHART[3])
    canvas.lay(inside, (0.17, 0.035, 0.035))
    canvas.polish(inside, 0.3)
    lips = texels.sampled(masks()["lips"])
    tone = skin_colour(look.appearance.skin, look.appearance.undertone)
    red = look.appearance.lips
    colour = tone * (0.86 - 0.10 * red, 0.60 - 0.28 * red, 0.62 - 0.26 * red)
    canvas.lay(0.82 * lips, colour)
    canvas.polish(0.9 * lips, 0.36)
    seam = np.zeros(len(lips), np.float32)
    on_face, across, down = _face_places(texels)
    seam[on_face] = np.exp(-(((down - 0.9090) / 0.0010) ** 2)) * (1 - step(across, 0.017, 0.025))
    canvas.tint(0.5 * seam, (0.55, 0.40, 0.40))


def _nails(canvas: Canvas, look: ResolvedLook) -> None:
    texels = canvas.texels
    tone = skin_colour(look.appearance.skin, look.appearance.undertone)
    nails = np.maximum(texels.sampled(masks()["fingernails"]), texels.sampled(masks()["toenails"]))
    natural = tone**0.8 * (0.98, 0.78, 0.74)
    polish = np.array([0.42, 0.03, 0.06])
    colour = natural + look.appearance.nails * (polish - natural)
    canvas.lay(0.85 * nails, colour)
    canvas.polish(nails, 0.22)


def _age(canvas: Canvas, look: ResolvedLook, random: np.random.Generator) -> None:
    """Wrinkles as furrows and darker lines, from about 35 years on."""
    old = float(np.clip((look.age - 32) / 40, 0, 1.15))
    if old <= 0:
        return
    texels = canvas.texels
    on_face, across, down = _face_places(texels)
    furrow = np.zeros(len(texels.rows), np.float32)
    wobble = 0.0012 * _grain(texels, random, 6.0)[on_face]
    y = down + wobble
    furrow[on_face] = (
        0.45 * face_paint.forehead_lines(across, y)
        + 0.9 * face_paint.crow_feet(across, y)
        + 1.0 * face_paint.mouth_folds(across, y)
        + 0.6 * face_paint.eye_bags(across, y)
    )
    neck = texels.values(regions().neck)
    height = _positions(texels)[:, 1]
    rings = np.cos(2 * np.pi * (height + 0.002 * _grain(texels, random, 8.0)) / 0.021)
    furrow += 0.22 * neck * np.clip(rings, 0, 1) ** 6
    canvas.height -= 0.9 * old * furrow
    canvas.tint(0.45 * old * furrow, (0.84, 0.74, 0.72))
    canvas.tint(np.full(len(furrow), 0.5 * old, np.float32), (0.97, 0.93, 0.90))


def _face(canvas: Canvas, look: ResolvedLook, random: np.random.Generator) -> None:
    """Brows and the line of the lashes."""
    texels = canvas.texels
    on_face, across, down = _face_places(texels)
    mask = np.zeros(len(texels.rows), np.float32)
    mask[on_face] = face_paint.brows(across, down, look.brow_thickness, random, 1 / texels.size)
    canvas.lay(0.92 * mask, np.asarray(look.brow_colour))
    canvas.polish(mask, 0.8)
    canvas.height += 0.4 * mask
    lash = np.zeros(len(texels.rows), np.float32)
    lash[on_face] = face_paint.lash_line(across, down)
    canvas.lay(0.85 * look.appearance.lashes * lash, 0.5 * np.asarray(look.brow_colour))


def _clothes(canvas: Canvas, look: ResolvedLook, random: np.random.Generator) -> None:
    """Cloth where a garment's field is above zero; a stitched hem along its edge."""
    texels = canvas.texels
    template = load_default_body().template
    cloth = np.asarray(CLOTH[look.appearance.cloth_colour])
    pixel = 2.2 / texels.size  # metres a texel on the trunk, about
    weave = _grain(texels, random, 0.6)
    places, female = _positions(texels), not look.wearer.is_male
    for number, depth in enumerate(garments(template, look.outfit, female, places)):
        mask = np.clip(0.5 + depth / pixel, 0, 1)
        shade = 1.0 if number == 0 else 1.18
        canvas.lay(mask, np.clip(shade * cloth, 0, 1))
        canvas.polish(mask, 0.88)
        canvas.height = np.where(mask > 0.5, 0.05 * weave, canvas.height).astype(np.float32)
        canvas.height += 0.55 * np.exp(-(((depth - 0.006) / 0.004) ** 2))
        hem = np.exp(-(((depth - 0.013) / 0.0016) ** 2))
        canvas.tint(0.5 * hem, (0.72, 0.72, 0.72))
        canvas.tint(0.35 * mask * weave, (0.94, 0.94, 0.94))
