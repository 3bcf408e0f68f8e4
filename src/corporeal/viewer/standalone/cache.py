"""Every vertex of every frame in few bytes: quantised, predicted from the frames before, deflated.

    q_n = round((x_n − o) / s)                    whole steps s from the origin o
    r_0 = q_0 of a vertex − q_0 of the one before
    r_1 = q_1 − q_0
    r_n = q_n − 2 q_{n−1} + q_{n−2}               what steady motion does not foretell

Residuals are zigzag-coded to 16 bits, their low bytes and high bytes laid apart, and deflated in
chunks of frames. What comes back is q, exactly; positions are off by at most half a step a number.
"""

import zlib
from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import UInt16

from corporeal._typing import Float, NumpyArray
from corporeal.errors import InputError

STEP = 1e-4
"""Metres; positions are off by at most half of it."""
CHUNK = 32
"""Frames that are deflated together."""
_MOST = 65535


@dataclass(frozen=True, eq=False)
class VertexCache:
    """Frames of one surface."""

    origin: tuple[float, float, float]
    """o, metres."""
    step: float
    """s, metres; larger than asked where the surface goes further than 65 535 of them."""
    frames: int
    """How many."""
    vertices: int
    """Of each."""
    chunks: tuple[bytes, ...]
    """Deflated residuals of `CHUNK` frames each."""

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(map(len, self.chunks))


def encoded(positions: Float[NumpyArray, "N V 3"], step: float = STEP) -> VertexCache:
    """Positions (metres) in steps of `step` metres."""
    if not np.isfinite(positions).all():
        raise InputError("the take holds positions that are not finite numbers.")
    low = positions.min(axis=(0, 1)).astype(np.float64)
    extent = float((positions.max(axis=(0, 1)) - low).max())
    step = max(step, extent / (_MOST - 1))
    whole = np.rint((positions - low) / step).astype(np.int32).transpose(0, 2, 1)
    residual = whole.copy()
    residual[0, :, 1:] -= whole[0, :, :-1]
    residual[1:2] -= whole[:1]
    residual[2:] -= 2 * whole[1:-1] - whole[:-2]
    residual = (residual + 32768) % 65536 - 32768  # sums are taken modulo 2¹⁶ on the way back
    zigzag = np.where(residual < 0, -2 * residual - 1, 2 * residual).astype(np.uint16)
    chunks = [
        zlib.compress(_planes(zigzag[start : start + CHUNK]), 9)
        for start in range(0, len(zigzag), CHUNK)
    ]
    x, y, z = (float(value) for value in low)
    return VertexCache((x, y, z), step, len(positions), positions.shape[1], tuple(chunks))


def decoded(cache: VertexCache) -> Float[NumpyArray, "N V 3"]:
    """Positions, metres: what the page makes of it, in the same whole numbers."""
    size = 3 * cache.vertices
    rows = []
    for chunk in cache.chunks:
        planes = np.frombuffer(zlib.decompress(chunk), np.uint8)
        low, high = planes.reshape(2, -1).astype(np.int64)
        rows.append((low + 256 * high).reshape(-1, 3, cache.vertices))
    zigzag = np.concatenate(rows).reshape(-1, size // cache.vertices, cache.vertices)
    residual = np.where(zigzag % 2 == 1, -(zigzag + 1) // 2, zigzag // 2)
    whole = np.empty_like(residual)
    whole[0] = np.cumsum(residual[0], axis=1)
    for n in range(1, cache.frames):
        foretold = whole[0] if n == 1 else 2 * whole[n - 1] - whole[n - 2]
        whole[n] = foretold + residual[n]
    numbers = cast(UInt16[NumpyArray, "N 3 V"], (whole % 65536).astype(np.uint16))
    return np.asarray(cache.origin) + cache.step * numbers.transpose(0, 2, 1)


def _planes(numbers: UInt16[NumpyArray, "n 3 V"]) -> bytes:
    return (numbers & 255).astype(np.uint8).tobytes() + (numbers >> 8).astype(np.uint8).tobytes()
