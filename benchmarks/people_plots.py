"""Figures of the benchmark of people, as SVG.

python benchmarks/people_plots.py
"""

import argparse
import json
from math import sqrt
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
ROW, LEFT, PANEL, GAP, TOP = 22, 190, 240, 40, 46
CELL = 15
SEXES = {"female": "women", "male": "men"}


def moment_figure(report: dict[str, Any]) -> str:
    """A row a dimension: mean off in standard deviations, and ratio of standard deviations.

    Bars are what 95 of 100 samples of so many people stay within, were both of one population.
    """
    names = report["matched"]
    height = TOP + ROW * len(names) + 30
    width = LEFT + 2 * PANEL + GAP + 30
    parts = [_text(16, 18, "bodies of 1 000 sampled people against ANSUR II", size=13)]
    panels = (
        ("mean_off_in_sd", "difference of means, in sd of the survey", -0.3, 0.3, 0.0, 1.0),
        ("sd_ratio", "ratio of standard deviations", 0.8, 1.2, 1.0, 0.5),
    )
    for column, (key, title, low, high, ideal, variance) in enumerate(panels):
        start = LEFT + column * (PANEL + GAP)
        at = _scale(start, low, high)
        parts.append(_text(start + PANEL / 2, 36, title, anchor="middle"))
        for tick in (low, (low + ideal) / 2, ideal, (ideal + high) / 2, high):
            parts.append(_line(at(tick), TOP, at(tick), height - 26, tick == ideal))
            parts.append(_text(at(tick), height - 12, f"{tick:g}", anchor="middle", size=9))
        for row, name in enumerate(names):
            for sex, colour, shift in (("female", "#b0305f", -4), ("male", "#1f5fa8", 4)):
                value = report[sex]["moments"][name][key]
                y = TOP + ROW * (row + 0.5) + shift
                chance = 1.96 * sqrt(variance * _shares(report[sex]))
                parts.append(_bar(at(ideal - chance), at(ideal + chance), y, colour))
                parts.append(f'<circle cx="{at(value):.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
    for row, name in enumerate(names):
        parts.append(_text(LEFT - 10, TOP + ROW * (row + 0.5) + 4, _words(name), anchor="end"))
    parts.append(_text(16, height - 12, "● women", colour="#b0305f"))
    parts.append(_text(76, height - 12, "● men", colour="#1f5fa8"))
    parts.append(_text(122, height - 12, "▬ chance", colour="#888888"))
    return _svg(width, height, parts)


def correlation_figure(report: dict[str, Any]) -> str:
    """Correlations of the matched dimensions: survey above the diagonal, bodies below."""
    names = report["matched"]
    side = CELL * len(names)
    width, height = LEFT + 2 * side + 60, TOP + side + 30
    parts = [_text(16, 18, "correlations: survey above the diagonal, bodies below", size=13)]
    for column, sex in enumerate(SEXES):
        start = LEFT + column * (side + 40)
        found = report[sex]["correlations"]
        parts.append(_text(start + side / 2, 36, SEXES[sex], anchor="middle"))
        for i in range(len(names)):
            for j in range(len(names)):
                value = found["survey" if j > i else "bodies"][i][j]
                parts.append(
                    f'<rect x="{start + CELL * j}" y="{TOP + CELL * i}" width="{CELL}" '
                    f'height="{CELL}" fill="{_colour(value)}"/>'
                )
        text = (
            f"largest difference {found['largest_difference']:.3f}, "
            f"rms {found['root_mean_square_difference']:.3f}"
        )
        parts.append(_text(start + side / 2, height - 10, text, anchor="middle"))
    for row, name in enumerate(names):
        parts.append(_text(LEFT - 10, TOP + CELL * (row + 0.5) + 4, _words(name), anchor="end"))
    return _svg(width, height, parts)


def _shares(found: dict[str, Any]) -> float:
    """1/n + 1/N of the people compared."""
    return 1 / found["people"] + 1 / found["survey_people"]


def _bar(x0: float, x1: float, y: float, colour: str) -> str:
    return (
        f'<rect x="{x0:.1f}" y="{y - 2.5:.1f}" width="{x1 - x0:.1f}" height="5" rx="2.5" '
        f'fill="{colour}" fill-opacity="0.18"/>'
    )


def _scale(start: float, low: float, high: float):
    return lambda value: start + PANEL * (min(max(value, low), high) - low) / (high - low)


def _colour(value: float) -> str:
    """White at 0, blue at 1, red at −1."""
    fade = round(255 * (1 - min(abs(value), 1.0)))
    return (
        f"rgb({fade},{round(95 + fade * 160 / 255)},255)"
        if value >= 0
        else f"rgb(255,{fade},{fade})"
    )


def _words(name: str) -> str:
    flexed = " (flexed)" if name in ("biceps_circumference", "forearm_circumference") else ""
    return name.replace("_", " ") + flexed


def _text(
    x: float, y: float, text: str, anchor: str = "start", size: int = 11, colour: str = "black"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}">{text}</text>'
    )


def _line(x0: float, y0: float, x1: float, y1: float, strong: bool) -> str:
    colour = "black" if strong else "#cccccc"
    return f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{colour}"/>'


def _svg(width: float, height: float, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="sans-serif"><rect width="{width:g}" height="{height:g}" fill="white"/>'
        + "".join(parts)
        + "</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "pictures", help="folder for the figures"
    )
    folder = parser.parse_args().out
    report = json.loads((ROOT / "benchmarks" / "results" / "people.json").read_text())
    (folder / "people_moments.svg").write_text(moment_figure(report), encoding="utf-8")
    (folder / "people_correlations.svg").write_text(correlation_figure(report), encoding="utf-8")


if __name__ == "__main__":
    main()
