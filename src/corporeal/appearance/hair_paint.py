"""Strands as a picture: streaks of lighter and darker hair along v, with ragged ends."""

from functools import lru_cache
from typing import Literal

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.appearance.noise import step
from corporeal.appearance.texels import eight_bits, tangent_normals
from corporeal.body.colours import srgb_from_linear
from corporeal.body.material import Material

WIDTH, HEIGHT = 512, 256


@lru_cache(maxsize=16)
def hair_material(
    colour: tuple[float, float, float], kind: Literal["cap", "cropped", "coil", "ends"], seed: int
) -> Material:
    """Hair of a linear RGB colour. `cap` and `cropped` end in a ragged hairline (v = 0), `ends`
    hang down with strands of different length, a `coil` is whole."""
    from scipy.ndimage import gaussian_filter

    random = np.random.default_rng([seed, 3])
    shape = (HEIGHT, WIDTH)
    cropped = kind == "cropped"
    along = 0.7 if cropped else 26.0
    fine = gaussian_filter(random.standard_normal(shape), (along, 0.7), mode="wrap")
    wide = gaussian_filter(random.standard_normal(shape), (2.2 * along, 3.5), mode="wrap")
    hairs = gaussian_filter(random.standard_normal(shape), (4.0, 0.55), mode="wrap")
    fine, wide, hairs = fine / fine.std(), wide / wide.std(), hairs / hairs.std()
    v = (np.arange(HEIGHT) + 0.5)[:, None] / HEIGHT
    strength = 0.5 if cropped else 1.0
    light = np.clip(1 + strength * (0.20 * fine + 0.10 * wide), 0.4, 1.8)
    root = 0.85 + 0.15 * step(v, 0.0, 0.35)
    rgb = np.asarray(colour) * (light * root)[..., None]
    rgb = rgb * (1 + 0.04 * strength * wide[..., None] * np.array([1.0, 0.2, -0.4]))
    pixels = np.full((*shape, 4), 255, np.uint8)
    pixels[..., :3] = eight_bits(srgb_from_linear(np.clip(rgb, 0.002, 1)))
    pixels[..., 3] = np.where(_gone(kind, v, fine, wide, hairs), 0, 255)
    roughness = eight_bits(np.clip(0.55 + 0.08 * fine, 0.3, 0.95) + (0.25 if cropped else 0.0))
    bumps = 0.25 * fine if cropped else 0.55 * fine + 0.8 * wide
    normal = tangent_normals(bumps.astype(np.float32), 0.8)
    whole = kind == "coil"
    return Material(
        f"hair_{kind}", "hair", pixels, roughness, normal, double_sided=True, cutout=not whole
    )


def _gone(
    kind: str, v: NumpyArray, fine: NumpyArray, wide: NumpyArray, hairs: NumpyArray
) -> NumpyArray:
    """Where there is no hair; v goes down."""
    if kind == "coil":
        return np.zeros(fine.shape, bool)
    if kind in ("cap", "cropped"):
        return (v - 0.968) / 0.03 + 0.45 * hairs + 0.15 * wide[:1] > 0.3
    ragged = 0.90 + 0.05 * wide[:1] + 0.035 * hairs
    across = np.arange(fine.shape[1])
    sides = np.minimum(across, across[::-1])[None] / fine.shape[1]
    rim = (sides < 0.015 + 0.012 * np.abs(fine)) & (v > 0.2)
    gaps = (hairs < -1.5) & (v > 0.84 + 0.05 * wide)
    return (v > ragged) | rim | gaps
