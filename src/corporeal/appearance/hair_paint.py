"""Strands as a picture: streaks of lighter and darker hair along v, with ragged ends."""

from functools import lru_cache
from typing import Literal

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.appearance.noise import step
from corporeal.appearance.texels import eight_bits, tangent_normals
from corporeal.body.colours import srgb_from_linear
from corporeal.body.material import Material

WIDTH, HEIGHT = 1024, 512
Kind = Literal["cap", "cropped", "coil", "ends", "wisps"]
_BEND = 7.0
"""How far strands wander sideways, texels (half a millimetre each on a head)."""


@lru_cache(maxsize=16)
def hair_material(colour: tuple[float, float, float], kind: Kind, seed: int) -> Material:
    """Hair of a linear RGB colour. `cap` and `cropped` end in a ragged hairline (v = 0), `ends`
    hang down with strands of different length, a `coil` is whole; `wisps` are single strands that
    lie over a cap."""
    from scipy.ndimage import gaussian_filter

    random = np.random.default_rng([seed, 3])
    shape = (HEIGHT, WIDTH)
    cropped = kind == "cropped"
    along = 9.0 if cropped else 52.0
    fine, wide = _streaks(random, along, 1.0), _streaks(random, 2.2 * along, 6.0)
    if not cropped:
        fine, wide = _waved((fine, wide), random)
    tips = gaussian_filter(random.standard_normal((1, WIDTH)), (0, 0.55), mode="wrap")
    locks = gaussian_filter(random.standard_normal((1, WIDTH)), (0, 9.0), mode="wrap")
    fine, wide, tips, locks = (field / field.std() for field in (fine, wide, tips, locks))
    v = (np.arange(HEIGHT) + 0.5)[:, None] / HEIGHT
    strength = 0.8 if cropped else 1.0
    # pale hair scatters light from strand to strand, and shows fewer shadows between them
    strength *= 1 - 0.35 * min(max(colour) / 0.4, 1.0)
    light = np.clip(1 + strength * (0.17 * fine + 0.10 * wide), 0.45, 1.7)
    root = 0.88 + 0.12 * step(v, 0.0, 0.6)
    rgb = np.asarray(colour) * (light * root)[..., None]
    rgb = rgb * (1 + 0.04 * strength * wide[..., None] * np.array([1.0, 0.2, -0.4]))
    pixels = np.full((*shape, 4), 255, np.uint8)
    pixels[..., :3] = eight_bits(srgb_from_linear(np.clip(rgb, 0.002, 1)))
    opacity = _opacity(kind, v, tips, locks, fine)
    # one roughness, and few steps of opacity: noise that nobody sees is half of a file
    roughness = np.full(shape, 190 if cropped else 168, np.uint8)
    pixels[..., 3] = eight_bits(np.round(16 * opacity) / 16)
    normal = None
    if kind == "wisps":
        pixels[..., :3] = np.round(pixels[..., :3].mean(axis=(0, 1)))
    else:
        bumps = 0.25 * fine if cropped else 0.42 * fine + 0.45 * wide
        normal = tangent_normals(bumps.astype(np.float32), 0.8)
    whole = kind == "coil"
    return Material(
        f"hair_{kind}", "hair", pixels, roughness, normal, double_sided=True, cutout=not whole
    )


def _streaks(random: np.random.Generator, along: float, across: float) -> NumpyArray:
    """Noise that is smooth over so many texels along the strands and across them; where it is
    smooth over many, it is drawn on fewer rows and interpolated."""
    from scipy.ndimage import gaussian_filter1d

    every = 2 ** max(0, int(np.log2(max(along, 4.0) / 4.0)))
    rows = HEIGHT // every + 1
    coarse = random.standard_normal((rows, WIDTH))
    soft = gaussian_filter1d(coarse, across, axis=1, mode="wrap")
    soft = gaussian_filter1d(soft, along / every, axis=0, mode="nearest")
    places = np.arange(HEIGHT) / every
    low = np.minimum(places.astype(int), rows - 2)
    share = (places - low)[:, None]
    return (1 - share) * soft[low] + share * soft[low + 1]


def _waved(fields: tuple[NumpyArray, ...], random: np.random.Generator) -> tuple[NumpyArray, ...]:
    """Fields whose columns wander sideways on their way down: strands are never parallel."""
    from scipy.ndimage import gaussian_filter, map_coordinates

    soft = gaussian_filter(random.standard_normal((HEIGHT, WIDTH)), (60, 26), mode="wrap")
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    places = [rows, columns + _BEND * soft / soft.std()]
    return tuple(map_coordinates(field, places, order=1, mode="grid-wrap") for field in fields)


def _opacity(
    kind: Kind, v: NumpyArray, tips: NumpyArray, locks: NumpyArray, fine: NumpyArray
) -> NumpyArray:
    """1 where there is hair, falling to 0 within a strand's width; v goes down. Every strand has a
    length of its own, so that ends are points and not a line."""
    if kind == "coil":
        return np.ones((HEIGHT, WIDTH))
    if kind == "wisps":
        ends = 0.90 + 0.05 * np.roll(tips, 31, axis=1)
        return np.clip(0.5 + (fine - 1.0 - 0.6 * step(v, ends - 0.12, ends)) / 0.5, 0, 1)
    if kind in ("cap", "cropped"):
        ends = 0.962 + (0.006 if kind == "cropped" else 0.012) * tips + 0.004 * locks
        return np.clip(0.5 + (np.minimum(ends, 0.995) - v) / 0.012, 0, 1)
    ends = 0.93 + 0.012 * tips + 0.016 * locks
    across = np.arange(WIDTH)
    sides = np.minimum(across, across[::-1])[None] / WIDTH
    rim = 0.012 + 0.004 * np.abs(tips) * step(v, 0.1, 0.4)
    whole = np.clip(0.5 + (ends - v) / 0.02, 0, 1)
    return whole * np.where(v > 0.2, np.clip(0.5 + (sides - rim) / 0.004, 0, 1), 1)
