"""The ground is y = 0, and the pelvis low enough that planted feet can be reached."""

from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray

_HALF_WINDOW_S: Final = 0.12
"""The pelvis starts to sink this long before a leg would be too short, seconds."""


def ground_offset(
    soles: list[Float[NumpyArray, "N 2 3"]], planted: list[Bool[NumpyArray, "N 2"]]
) -> float:
    """How far the whole motion is to be raised so that planted soles lie on y = 0, metres.

    `soles` has heel and ball of each foot; `planted` tells when they are.
    """
    heights = np.concatenate(
        [sole[..., 1][mask] for sole, mask in zip(soles, planted, strict=True)]
    )
    if len(heights) == 0:  # never on its feet: the lowest part of the soles touches the ground
        return -float(min(np.quantile(sole[..., 1].min(axis=1), 0.02) for sole in soles))
    return -float(np.median(heights))


def sinking(
    hips: list[Float[NumpyArray, "N 3"]],
    ankles: list[Float[NumpyArray, "N 3"]],
    reaches: list[Float[NumpyArray, "N"]],
    planted: list[Bool[NumpyArray, "N"]],
    fps: float,
) -> Float[NumpyArray, "N"]:
    """How far the pelvis has to sink, metres ≥ 0, so that no planted leg is too short.

    A smooth curve above what every single frame needs.
    """
    needed = np.zeros(len(hips[0]))
    for hip, ankle, reach, mask in zip(hips, ankles, reaches, planted, strict=True):
        across = ankle - hip
        height = np.sqrt(np.maximum(reach**2 - across[:, 0] ** 2 - across[:, 2] ** 2, 0.0))
        drop = np.maximum(-across[:, 1] - height, 0.0)
        needed = np.maximum(needed, np.where(mask, drop, 0.0))
    return upper_envelope(needed, max(round(_HALF_WINDOW_S * fps), 1))


def upper_envelope(values: Float[NumpyArray, "N"], half: int) -> Float[NumpyArray, "N"]:
    """A smooth curve that is nowhere below `values`: their running maximum, averaged.

    Both windows reach `half` samples to each side, so every averaged maximum covers the sample.
    """
    padded = np.pad(values, 2 * half, mode="edge")
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).max(axis=1)
    kernel = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(highest, kernel / kernel.sum(), mode="valid")
