"""More movements from few: what physics says another body would have done.

Elastic flesh of s² times the modulus does s times faster just what the softer flesh does (gravity,
which the quasi-static twin holds, aside): offsets are the same, accelerations s² times as
large. Small swings are as large as what drives them. Both hold for any
person.
"""

from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.dynamics.neural.person import SHAPE_COUNT

_STIFFNESS = SHAPE_COUNT
"""Place of the logarithm of stiffness among a person's numbers."""

Batch = tuple[NumpyArray, ...]
"""Movement, pose, person, dynamic, static, mask."""


def varied(batch: Batch, settings: Any, scale: NumpyArray, draw: np.random.Generator) -> Batch:
    """A batch played at another speed, louder or softer, by people slightly unlike themselves.

    `scale` are the deviations by which a person's numbers were divided.
    """
    movement, pose, person, dynamic, static, mask = batch
    speed = float(np.exp(draw.uniform(-settings.stretch, settings.stretch)))
    if settings.stretch:
        movement, pose, dynamic, static, mask = (
            at_speed(part, speed) for part in (movement, pose, dynamic, static, mask[..., None])
        )
        movement = movement * np.float32(speed**2)
        mask = (mask[..., 0] > 0.999).astype(np.float32)
        mask[:, -1] = np.maximum(mask[:, -1], 1e-6)
        person = person.copy()
        person[:, _STIFFNESS] += 2 * np.log(speed) / scale[_STIFFNESS]
    if settings.loudness:
        size = draw.uniform(-settings.loudness, settings.loudness, (len(movement), 1, 1))
        size = np.exp(size).astype(np.float32)
        movement, dynamic = movement * size, dynamic * size
    if settings.person_noise:
        noise = settings.person_noise * draw.standard_normal(person.shape)
        person = (person + noise).astype(np.float32)
    return movement.astype(np.float32), pose, person, dynamic.astype(np.float32), static, mask


def at_speed(rows: NumpyArray, speed: float) -> NumpyArray:
    """B × N × … frames played `speed` times as fast, from the end of what there is backwards: the
    frames before the first are 0."""
    count = rows.shape[1]
    at = (count - 1) - speed * np.arange(count - 1, -1, -1.0)
    first = np.clip(np.floor(at).astype(int), 0, max(count - 2, 0))
    share = (at - first).astype(np.float32).reshape(1, -1, *(1,) * (rows.ndim - 2))
    found = rows[:, first] * (1 - share) + rows[:, np.minimum(first + 1, count - 1)] * share
    found[:, at < 0] = 0.0
    return found.astype(np.float32)
