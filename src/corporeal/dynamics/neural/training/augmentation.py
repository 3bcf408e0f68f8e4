"""Batches of movements, and more of them from few: what other bodies would have done.

Elastic flesh of s² times the modulus does s times faster just what the softer flesh does (gravity,
which the quasi-static twin holds, aside): offsets are the same, accelerations s² times as large.
Small swings are as large as what drives them. Both hold for any person. Batches are drawn on the
device that trains.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from corporeal.dynamics.neural.person import SHAPE_COUNT

_STIFFNESS = SHAPE_COUNT
"""Place of the logarithm of stiffness among a person's numbers."""
WARM = 60
"""Frames before those that count: they warm the memory up, or the body is at rest."""


class Takes(NamedTuple):
    """Takes in arrays of the longest one's length; what comes after a take's end is 0."""

    movement: Any
    """n × N × m, see `features`."""
    pose: Any
    """n × N × p."""
    person: Any
    """n × q, standardised."""
    dynamic: Any
    """n × N × d, the truth."""
    static: Any
    """n × N × s, likewise."""
    length: Any
    """n: frames."""
    worth: Any
    """n: what an error counts."""


def drawn(key: Any, takes: Takes, chance: Any, stiffness_scale: Any, settings: Any) -> Any:
    """A batch (movement, pose, person, dynamic, static, worth of every frame).

    `chance` says how likely every take is. Each is played from a random frame on at another speed,
    louder or softer, by a person slightly unlike the own.
    """
    keys = jax.random.split(key, 5)
    count = settings.batch
    chosen = jax.random.categorical(keys[0], jnp.log(chance + 1e-30), shape=(count,))
    speed = jnp.exp(jax.random.uniform(keys[1], (count,), minval=-1, maxval=1) * settings.stretch)
    loud = jnp.exp(jax.random.uniform(keys[2], (count,), minval=-1, maxval=1) * settings.loudness)
    length = takes.length[chosen].astype(jnp.float32)
    span = WARM + settings.frames
    latest = jnp.maximum(length - 1 - speed * span, -WARM * speed)
    first = jax.random.uniform(keys[3], (count,)) * (latest + WARM * speed) - WARM * speed
    at = first[:, None] + speed[:, None] * jnp.arange(span)
    inside = (at >= 0) & (at <= length[:, None] - 1)
    low = jnp.clip(jnp.floor(at), 0, length[:, None] - 1).astype(jnp.int32)
    high = jnp.minimum(low + 1, (length[:, None] - 1).astype(jnp.int32))
    part = jnp.clip(at - low, 0.0, 1.0)[..., None]

    def played(rows: Any) -> Any:
        return rows[chosen[:, None], low] * (1 - part) + rows[chosen[:, None], high] * part

    still = inside[..., None].astype(jnp.float32)
    movement = played(takes.movement) * still * (speed**2 * loud)[:, None, None]
    dynamic = played(takes.dynamic) * loud[:, None, None]
    person = takes.person[chosen]
    person = person + settings.person_noise * jax.random.normal(keys[4], person.shape)
    person = person.at[:, _STIFFNESS].add(2 * jnp.log(speed) / stiffness_scale)
    worth = inside & (jnp.arange(span) >= WARM)
    worth = worth * (takes.worth[chosen] / loud)[:, None]
    return movement, played(takes.pose), person, dynamic, played(takes.static), worth
