"""Which people are recorded, and which half of an experiment they belong to."""

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.capture.seeds import seed_of
from corporeal.errors import InputError

_TEST_SHARE: Final = (3, 8)
"""Three of eight people are kept for tests, as 6 of 16."""
_ENDS: Final = (2.0, 98.0)
"""Percentiles of the body mass index between which people are chosen evenly."""
Half = Literal["train", "test"]


def half_of(people_seed: int, name: str) -> Half:
    """Train or test: depends on the person alone, so that sets of any size never share a person."""
    return (
        "test" if seed_of("half", people_seed, name) % _TEST_SHARE[1] < _TEST_SHARE[0] else "train"
    )


def spread_over(
    indices: Sequence[int],
    sexes: Sequence[str],
    bmi: Float[NumpyArray, "n"],
    women: int,
    men: int,
) -> list[int]:
    """So many women and men of `indices`, evenly over the range of their body mass index, kg/m².

    `sexes` and `bmi` belong to all people; the result is sorted.
    """
    chosen: list[int] = []
    for sex, count in (("female", women), ("male", men)):
        pool = [index for index in indices if sexes[index] == sex]
        if len(pool) < count:
            raise InputError(
                f"{count} of sex {sex!r} were asked for and {len(pool)} are there to choose from; "
                f"make more people, or ask for fewer."
            )
        chosen += _evenly(pool, bmi, count)
    return sorted(chosen)


def _evenly(pool: list[int], bmi: Float[NumpyArray, "n"], count: int) -> list[int]:
    """The nearest person, not taken yet, to each of `count` even marks."""
    left, taken = dict.fromkeys(pool), []
    if count == 0:
        return taken
    low, high = np.percentile(bmi[pool], _ENDS)
    for mark in low + (high - low) * (np.arange(count) + 0.5) / count:
        nearest = min(left, key=lambda index: abs(bmi[index] - mark))
        taken.append(nearest)
        del left[nearest]
    return taken
