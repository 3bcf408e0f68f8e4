"""Charts are SVG that says what it shows: points in place, round ticks, names escaped."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from corporeal.errors import InputError
from corporeal.scene.charts import Line, line_chart

SVG = "{http://www.w3.org/2000/svg}"


def test_points_keep_their_order_and_ratio() -> None:
    """The middle of three evenly spaced points lies in the middle, and larger values are higher."""
    drawn = ET.fromstring(
        line_chart("t", "n", "mm", {"a": Line([0.0, 5.0, 10.0], [1.0, 2.0, 3.0])})
    )
    places = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in drawn.iter(f"{SVG}circle")]
    (x0, y0), (x1, y1), (x2, y2) = places
    np.testing.assert_allclose([x1, y1], [(x0 + x2) / 2, (y0 + y2) / 2], atol=0.11)
    assert x0 < x1 < x2
    assert y0 > y1 > y2


def test_ticks_are_round_and_start_at_zero() -> None:
    """Values from 1.7 to 3.9 are drawn from 0 to 4 in steps of 1."""
    drawn = ET.fromstring(line_chart("t", "n", "mm", {"a": Line([1.0, 2.0], [1.7, 3.9])}))
    words = [text.text for text in drawn.iter(f"{SVG}text")]
    assert [word for word in words if word in ("0", "1", "2", "3", "4", "5")][:5] == list("01234")


def test_names_stay_text() -> None:
    """A model called `<script>` is a name."""
    text = line_chart("a & b", "n", "mm", {"<script>": Line([1.0, 2.0], [1.0, 1.0])})
    assert "<script>" not in text
    assert "<script>" in [node.text for node in ET.fromstring(text).iter(f"{SVG}text")]


@pytest.mark.parametrize("up", [[], [np.nan]])
def test_nothing_to_draw_is_refused(up: list[float]) -> None:
    with pytest.raises(InputError, match="no points, or some that are not finite"):
        line_chart("t", "n", "mm", {"a": Line([1.0] * len(up), up)})
