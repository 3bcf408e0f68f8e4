"""Anderson acceleration of the local–global iteration on the device; see `solver.cpu.anderson`."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Float, Int

_GROWTH = 4.0
"""A δ whose square grew by more than this forgets what came before."""


class History(NamedTuple):
    """The last two iterates: where they led (g), their corrections (δ), and how many count."""

    reached: tuple[Float[Array, "3 f B"], Float[Array, "3 f B"]]
    """g of the last iterate and of the one before, metres."""
    steps: tuple[Float[Array, "3 f B"], Float[Array, "3 f B"]]
    """δ of the last iterate and of the one before, metres."""
    norm: Float[Array, "P B"]
    """‖δ‖² of the last."""
    known: Int[Array, "P B"]
    """How many of them count: 0, 1 or 2."""


def no_history(positions: Float[Array, "3 f B"], people: int = 1) -> History:
    """Before the first iteration."""
    nothing, shape = jnp.zeros_like(positions), (people, positions.shape[2])
    return History(
        (nothing, nothing),
        (nothing, nothing),
        jnp.zeros(shape, positions.dtype),
        jnp.zeros(shape, jnp.int32),
    )


def accelerated(
    positions: Float[Array, "3 f B"],
    delta: Float[Array, "3 f B"],
    history: History,
    people: int = 1,
) -> tuple[Float[Array, "3 f B"], History]:
    """The best combination of the newest three g(z), of every character on its own.

    Besides the batch, the free vertices may be those of several `people`, as many of each.
    """
    reached = positions + delta
    u, v = delta - history.steps[0], delta - history.steps[1]
    products = (delta * delta, u * u, u * v, v * v, u * delta, v * delta)
    norm, a11, a12, a22, b1, b2 = _sums(products, people)
    kept = (history.known == 0) | (norm <= _GROWTH * history.norm)
    known = jnp.minimum(jnp.where(kept, history.known, 0) + 1, 3)
    first, second = (
        jnp.repeat(share, positions.shape[1] // people, axis=0)
        for share in _shares(a11, a12, a22, b1, b2, known)
    )
    following = (
        reached - first * (reached - history.reached[0]) - second * (reached - history.reached[1])
    )
    return following, History((reached, history.reached[0]), (delta, history.steps[0]), norm, known)


def _sums(products: tuple[Array, ...], people: int) -> tuple[Float[Array, "P B"], ...]:
    """Sums over all coordinates of every character, in one pass."""
    zero = jnp.zeros((), products[0].dtype)
    parts = tuple(each.reshape(3, people, -1, each.shape[2]) for each in products)
    return tuple(lax.reduce(parts, (zero,) * len(parts), _add, (0, 2)))


def _add(left: tuple[Array, ...], right: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _shares(
    a11: Array, a12: Array, a22: Array, b1: Array, b2: Array, known: Int[Array, "P B"]
) -> tuple[Float[Array, "P B"], Float[Array, "P B"]]:
    """θ₁, θ₂ of min ‖f₀ − θ₁ (f₀ − f₁) − θ₂ (f₀ − f₂)‖²; zero where they are not determined."""
    slight = 1e-10 * (a11 + a22)
    determinant = (a11 + slight) * (a22 + slight) - a12 * a12
    both = (known >= 3) & (determinant > 1e-14 * a11 * a22) & (determinant > 0.0)
    safe = jnp.where(both, determinant, 1.0)
    alone = jnp.where((known >= 2) & (a11 > 0.0), b1 / jnp.where(a11 > 0.0, a11, 1.0), 0.0)
    first = jnp.where(both, ((a22 + slight) * b1 - a12 * b2) / safe, alone)
    second = jnp.where(both, ((a11 + slight) * b2 - a12 * b1) / safe, 0.0)
    return first, second
