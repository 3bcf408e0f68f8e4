"""Seeded noise over space: smooth at a stated size, without seams where texture charts meet."""

import numpy as np

from corporeal._typing import Float, NumpyArray

_LATTICE = 64


def lattice_noise(
    points: Float[NumpyArray, "n 3"], size: float, random: np.random.Generator
) -> Float[NumpyArray, "n"]:
    """Numbers around 0 with deviation about 0.6, smooth over `size` metres; the pattern repeats
    after 64 times that."""
    from scipy.ndimage import map_coordinates

    lattice = random.standard_normal((_LATTICE,) * 3).astype(np.float32)
    scaled = np.asarray(points, np.float32).T / np.float32(size)
    places = np.mod(scaled, np.float32(_LATTICE - 1))
    return map_coordinates(lattice, places, order=1, mode="grid-wrap", output=np.float32)


def step(
    field: NumpyArray, start: float | int | NumpyArray, end: float | int | NumpyArray
) -> NumpyArray:
    """Smoothly from 0 at `start` to 1 at `end`."""
    x = np.clip((field - start) / (end - start), 0, 1)
    return x * x * (3 - 2 * x)
