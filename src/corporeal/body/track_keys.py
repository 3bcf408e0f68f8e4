"""Which frames of a take are keyed, track by track: the rest follows on straight lines."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Int, NumpyArray


@dataclass(frozen=True)
class TrackKeys:
    """Rising frame numbers of every track; each begins at frame 0 and ends at the last frame."""

    rotations: tuple[Int[NumpyArray, "_"], ...]
    """One list a joint."""
    root: Int[NumpyArray, "_"]
    """Of the root's path."""
    weights: Int[NumpyArray, "_"]
    """Of all morph weights together: engines key them as one."""


def every_frame(frames: int, joints: int) -> TrackKeys:
    """All frames of all tracks."""
    whole = np.arange(frames)
    return TrackKeys((whole,) * joints, whole, whole)


def fewest_keys(
    values: Float[NumpyArray, "N c"], allowed: float, *, unit: bool = False
) -> Int[NumpyArray, "n"]:
    """Keys from which straight lines stay within `allowed` of every frame's values.

    Douglas and Peucker 1973: split where the line errs most, until it nowhere errs too much. The
    distance is Euclidean; lines between `unit` quaternions are brought back to length 1.
    """
    count = len(values)
    kept = np.zeros(count, bool)
    kept[[0, -1]] = True
    spans = [(0, count - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        inner = np.arange(first + 1, last)
        apart = np.linalg.norm(line(values, first, last, inner, unit) - values[inner], axis=1)
        worst = int(apart.argmax())
        if apart[worst] > allowed:
            kept[inner[worst]] = True
            spans += [(first, int(inner[worst])), (int(inner[worst]), last)]
    keys = np.flatnonzero(kept)
    return keys[:1] if count > 1 and np.ptp(values, axis=0).max(initial=0) == 0 else keys


def line(
    values: Float[NumpyArray, "N c"],
    first: int,
    last: int,
    frames: Int[NumpyArray, "n"],
    unit: bool = False,
) -> Float[NumpyArray, "n c"]:
    """Values at `frames` on the line from frame `first` to frame `last`."""
    share = ((frames - first) / max(last - first, 1))[:, None]
    between = (1 - share) * values[first] + share * values[last]
    return between / np.linalg.norm(between, axis=1, keepdims=True) if unit else between


def played(
    values: Float[NumpyArray, "N c"], keys: Int[NumpyArray, "n"], *, unit: bool = False
) -> Float[NumpyArray, "N c"]:
    """What a player shows at every frame that has only `keys`."""
    shown = np.repeat(values[keys[:1]], len(values), axis=0)
    for first, last in zip(keys[:-1].tolist(), keys[1:].tolist(), strict=True):
        frames = np.arange(first, last + 1)
        shown[frames] = line(values, first, last, frames, unit)
    return shown
