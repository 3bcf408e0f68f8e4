"""How much of a fitted body a scan must show: the more, the odder the body and its pose are."""

import pytest

from corporeal.registration.plausible import CLEAR_FOUND, LEAST_FOUND, UNLIKELY_FOUND, Plausibility


def _fitted(unusual: float, strained: float, found: float = 0.3) -> Plausibility:
    return Plausibility(0.9, found, 3e-3, unusual, strained)


def test_likely_people_may_be_shown_in_part() -> None:
    """Of a body as people are, half a back is enough."""
    assert _fitted(0.6, 0.15).least_found == LEAST_FOUND
    assert _fitted(0.0, 0.0).least_found == LEAST_FOUND


def test_odd_bodies_must_be_shown() -> None:
    """Linear in both means of squares, up to what a person among other things must show."""
    odd = _fitted(1.0, 0.5)
    assert odd.unlikely == pytest.approx(1.5)
    assert odd.least_found == pytest.approx(1.5 * UNLIKELY_FOUND)
    assert _fitted(5.0, 5.0).least_found == CLEAR_FOUND


def test_a_chair_is_far_from_a_person() -> None:
    """What the model made of a chair: a quarter of a body was found, over half is asked for."""
    chair = _fitted(1.447, 1.187, 0.245)
    assert chair.found < 0.5 * chair.least_found
