"""Line charts as SVG text, for reports that open without a network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from corporeal.errors import InputError

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560.0, 330.0, 62.0, 168.0, 34.0, 48.0
"""Pixels."""
_COLOURS = ("#1f5fa8", "#b0305f", "#2e7d4f", "#c77b16", "#6a4fa3", "#4a4a4a", "#0e8a93", "#8a5a2b")


@dataclass(frozen=True)
class Line:
    """One curve."""

    across: Sequence[float]
    """Values on the horizontal axis."""
    up: Sequence[float]
    """Values on the vertical axis, as many."""


def line_chart(title: str, across: str, up: str, lines: Mapping[str, Line]) -> str:
    """A chart with points, ticks that read well, and names beside the curves' ends."""
    points = [(x, y) for line in lines.values() for x, y in zip(line.across, line.up, strict=True)]
    if not points or not np.isfinite(points).all():
        raise InputError(f"chart {title!r} has no points, or some that are not finite.")
    xs, ys = np.array(points).T
    x_ticks, y_ticks = _ticks(xs.min(), xs.max()), _ticks(min(ys.min(), 0.0), ys.max())
    x_low, x_high = min(xs.min(), x_ticks[0]), max(xs.max(), x_ticks[-1])
    y_low, y_high = y_ticks[0], max(ys.max(), y_ticks[-1])
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _LEFT + (right - _LEFT) * (x - x_low) / ((x_high - x_low) or 1.0),
            bottom - (bottom - _TOP) * (y - y_low) / ((y_high - y_low) or 1.0),
        )

    parts = [_text(_LEFT, 20.0, title, size=14, weight="bold")]
    for tick in y_ticks:
        _, at = place(x_low, tick)
        parts.append(_rule(_LEFT, at, right, at))
        parts.append(_text(_LEFT - 8, at + 4, f"{tick:g}", anchor="end"))
    for tick in x_ticks:
        at, _ = place(tick, y_low)
        parts.append(_rule(at, bottom, at, bottom + 5, "#666"))
        parts.append(_text(at, bottom + 18, f"{tick:g}", anchor="middle"))
    parts.append(_text((_LEFT + right) / 2, _HEIGHT - 10, across, anchor="middle"))
    turned = f'transform="rotate(-90 16 {(_TOP + bottom) / 2:.0f})"'
    parts.append(_text(16.0, (_TOP + bottom) / 2, up, anchor="middle", extra=turned))
    for number, (name, line) in enumerate(lines.items()):
        places = [place(x, y) for x, y in zip(line.across, line.up, strict=True)]
        parts += _curve(places, name, number, right)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" '
        f'width="{_WIDTH:g}" height="{_HEIGHT:g}" font-family="sans-serif" role="img" '
        f'aria-label="{escape(title, quote=True)}">{"".join(parts)}</svg>'
    )


def _curve(
    places: Sequence[tuple[float, float]], name: str, number: int, right: float
) -> list[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    row = _TOP + 8 + 18 * number
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *dots,
        _rule(right + 12, row, right + 30, row, colour, 3.0),
        _text(right + 36, row + 4, name),
    ]


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers from below `low` to above `high`."""
    span = (high - low) or abs(high) or 1.0
    step = 10.0 ** np.floor(np.log10(span / 5))
    step *= next(m for m in (1, 2, 5, 10) if span / (m * step) <= 6)
    first, last = np.floor(low / step), np.ceil(high / step - 1e-9)
    return [round(float(step * n), 12) for n in np.arange(first, last + 1)]


def _rule(
    x1: float, y1: float, x2: float, y2: float, colour: str = "#ddd", width: float = 1.0
) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    size: int = 11,
    weight: str = "normal",
    extra: str = "",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}" fill="#222" {extra}>{escape(words)}</text>'
    )
