"""Scaling plots of the GPU benchmark, as SVG.

python benchmarks/gpu_plots.py
"""

import argparse
import json
import math
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT, LEFT, BOTTOM = 420, 260, 60, 40


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / "pictures", help="folder for the figures"
    )
    folder = parser.parse_args().out
    report = json.loads((ROOT / "benchmarks" / "results" / "gpu.json").read_text())
    sizes = {int(k): v["ms"] for k, v in report["sizes"].items() if k.isdigit()}
    rates = {int(k): v for k, v in report["crowd"]["character_frames_per_s"].items()}
    plots = {
        "gpu_vertices.svg": ("simulated skin vertices", "ms a frame", sizes),
        "gpu_characters.svg": ("characters that share a body", "character-frames a second", rates),
    }
    for name, (across, up, points) in plots.items():
        (folder / name).write_text(plot(across, up, points))


def plot(across: str, up: str, points: dict[int, float]) -> str:
    """A line through points, the first axis logarithmic, the second from zero."""
    low, high = math.log(min(points)), math.log(max(points))
    top = 1.1 * max(points.values())
    places = [
        (
            LEFT + 25 + (WIDTH - LEFT - 50) * (math.log(x) - low) / (high - low),
            HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 20) * y / top,
            x,
            y,
        )
        for x, y in sorted(points.items())
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in places)
    marks = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
        f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{name}</text>'
        f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{written(value)}</text>'
        for x, y, name, value in places
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="11">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
        f'<path d="M{LEFT} 15V{HEIGHT - BOTTOM}H{WIDTH - 10}" fill="none" stroke="black"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f5fa8" stroke-width="2"/>{marks}'
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{across}</text>'
        f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{up}</text>'
        f"</svg>\n"
    )


def written(value: float) -> str:
    """Three digits of what is below one, whole numbers otherwise."""
    return f"{value:.3f}" if value < 1 else f"{value:.0f}"


if __name__ == "__main__":
    main()
