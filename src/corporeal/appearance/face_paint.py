"""Brows, beard, lashes' line, wrinkles: masks over the face's texture chart, 0 to 1."""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.noise import lattice_noise, step

Field = Float[NumpyArray, "n"]


def brows(
    across: Field, down: Field, thickness: float, random: np.random.Generator, texel: float
) -> Field:
    """An arch over each eye that thins out towards the temple, of hairs that stand up at its inner
    end and lie along it further out; finer than a `texel` (of the chart) nothing is drawn."""
    along = (across - 0.0135) / 0.047
    inward = np.clip(along, 0, 1)
    centre = 0.8181 - 0.0030 * np.sin(0.5 * np.pi * (inward / 0.62) ** 1.3) + 0.0010 * inward**2
    half = (0.0026 + 0.0028 * thickness) * (1 - 0.62 * inward) * step(along, -0.25, 0.22)
    beside = down - centre + (0.40 - 0.34 * inward) * (across - 0.0135)
    places = np.stack([beside, 0.13 * across, np.zeros_like(across)], axis=1)
    hairs = lattice_noise(places, max(0.0010, 1.2 * texel), random)
    hairs = hairs * np.float32(min(1.0, 0.0010 / texel) ** 1.5)
    edge = half - np.abs(down - centre) + 0.0006 * hairs
    ends = step(along + 0.04 * hairs, -0.10, 0.20) * (1 - step(along, 0.72, 1.04))
    soft = step(edge, -0.0013, 0.0021)
    return ends * soft * np.clip(0.72 + 0.20 * thickness + 0.14 * hairs, 0, 1)


def lash_line(across: Field, down: Field) -> Field:
    """A dark line along the upper lid's edge."""
    along = (across - 0.0345) / 0.0130
    edge = 0.8367 - 0.0022 * np.clip(1 - along**2, 0, 1)
    ends = 1 - step(np.abs(along), 0.7, 1.0)
    return ends * (1 - step(np.abs(down - edge), 0.0008, 0.0022))


def beard(across: Field, down: Field) -> Field:
    """Upper lip, chin, jaw, up to the sideburns; the lips are left out by their mask."""
    reach = [0.0, 0.014, 0.030, 0.045, 0.070, 0.100, 0.118, 0.130]
    line = np.interp(
        across, reach, [0.8935, 0.8925, 0.8985, 0.9060, 0.8980, 0.8760, 0.8500, 0.8400]
    )
    jaw = step(down - line, -0.009, 0.016) * (1 - step(across, 0.104, 0.134))
    end = 1 - step(down, 0.950, 0.992)
    return jaw * end


def crow_feet(across: Field, down: Field) -> Field:
    """Fine rays beside the eyes' outer corners."""
    x, y = across - 0.0540, down - 0.8420
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    rays = np.cos(11 * angle) ** 2
    return rays * step(radius, 0.002, 0.006) * (1 - step(radius, 0.012, 0.021)) * (x > -0.002)


def forehead_lines(across: Field, down: Field) -> Field:
    """Three lines across the forehead."""
    wave = 0.0016 * np.cos(across / 0.016)
    total = np.zeros_like(down)
    for place in (0.778, 0.789, 0.800):
        total = total + np.exp(-(((down - place - wave) / 0.0013) ** 2))
    return total * (1 - step(across, 0.045, 0.075))


def mouth_folds(across: Field, down: Field) -> Field:
    """From the wings of the nose past the corners of the mouth."""
    along = np.clip((down - 0.872) / 0.045, 0, 1)
    curve = 0.0235 + 0.017 * along**0.8
    ends = step(down, 0.868, 0.880) * (1 - step(down, 0.905, 0.922))
    return ends * np.exp(-(((across - curve) / 0.0022) ** 2))


def eye_bags(across: Field, down: Field) -> Field:
    """Below the eyes."""
    along = (across - 0.034) / 0.018
    curve = 0.8515 + 0.0035 * (1 - along**2)
    return np.exp(-(((down - curve) / 0.0035) ** 2)) * (1 - step(np.abs(along), 0.6, 1.1))


def cheeks(across: Field, down: Field) -> Field:
    """Where a face blushes: cheeks and the tip of the nose."""
    cheek = np.exp(-(((across - 0.055) / 0.024) ** 2) - ((down - 0.872) / 0.018) ** 2)
    nose = np.exp(-((across / 0.012) ** 2) - ((down - 0.872) / 0.010) ** 2)
    return np.maximum(cheek, 0.8 * nose)


def freckled(across: Field, down: Field) -> Field:
    """Nose and cheeks, where freckles are thickest; a few elsewhere."""
    return 0.2 + 0.8 * np.exp(-((across / 0.06) ** 2) - ((down - 0.860) / 0.026) ** 2)


def shine_zone(across: Field, down: Field) -> Field:
    """Forehead, nose and chin, which are oilier."""
    nose = np.exp(-((across / 0.014) ** 2)) * step(down, 0.80, 0.83) * (1 - step(down, 0.88, 0.90))
    brow = np.exp(-((across / 0.05) ** 2) - ((down - 0.79) / 0.02) ** 2)
    return np.maximum(nose, 0.7 * brow)
