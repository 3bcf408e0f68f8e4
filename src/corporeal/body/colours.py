"""Colours: sRGB, linear light, CIELAB (D65), and the angle that skin is typed by."""

import math

import numpy as np

from corporeal._typing import Float, NumpyArray

WHITE_XYZ = np.array([0.95047, 1.0, 1.08883])
"""D65, CIE 1931 observer."""
XYZ_FROM_RGB = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""Linear sRGB to XYZ (IEC 61966-2-1)."""
RGB_FROM_XYZ = np.linalg.inv(XYZ_FROM_RGB)


def linear_from_srgb(signal: Float[NumpyArray, "*n"]) -> Float[NumpyArray, "*n"]:
    """Light, 0 to 1, of an sRGB signal, 0 to 1."""
    low, high = signal / 12.92, ((np.maximum(signal, 0) + 0.055) / 1.055) ** 2.4
    return np.where(signal <= 0.04045, low, high)


def srgb_from_linear(light: Float[NumpyArray, "*n"]) -> Float[NumpyArray, "*n"]:
    """sRGB signal, 0 to 1, of light, which is cut to 0 … 1."""
    light = np.clip(light, 0, 1)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def linear_from_lab(lab: Float[NumpyArray, "*n 3"]) -> Float[NumpyArray, "*n 3"]:
    """Linear RGB of CIELAB coordinates (D65); may lie outside 0 … 1."""
    lab = np.asarray(lab, np.float64)
    level = (lab[..., 0] + 16) / 116
    f = np.stack([level + lab[..., 1] / 500, level, level - lab[..., 2] / 200], axis=-1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * WHITE_XYZ
    return xyz @ RGB_FROM_XYZ.T


def lab_from_linear(rgb: Float[NumpyArray, "*n 3"]) -> Float[NumpyArray, "*n 3"]:
    """CIELAB (D65) of linear RGB."""
    t = np.asarray(rgb, np.float64) @ XYZ_FROM_RGB.T / WHITE_XYZ
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack(
        [116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])],
        axis=-1,
    )


def typology_angle_deg(lab: Float[NumpyArray, "3"]) -> float:
    """Individual typology angle of a skin colour, ITA° = arctan((L* − 50)/b*) (Chardon 1991)."""
    return math.degrees(math.atan2(float(lab[0]) - 50.0, float(lab[2])))
