"""Things of a household, drawn: none of them is a person, and none must be registered as one.

Every number draws one thing: a chair, a stool, an armchair, a plant in a pot, a heap of balls, a
heap of cloth, a floor lamp, a coat stand; sizes, shapes and which way they face are drawn too. One
row of JSON each, as `registration_refusals.py` writes them, with the figures that the judgement
rests on.

    python benchmarks/registration_things.py --first 100 --count 24 --workers 16
"""

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit
from registration_refusals import ellipsoid

RESULTS = Path(__file__).parent / "results"
SEED = 20_997
POINTS = 40_000
Random = np.random.Generator


def tube(random: Random, count: int, start, end, radius: float, taper: float = 1.0):
    """Points on a round rod from one place to another, the end `taper` times as thick."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = (end - start) / np.linalg.norm(end - start)
    aside = np.cross(along, [1.0, 0.0, 0.0] if abs(along[0]) < 0.8 else [0.0, 0.0, 1.0])
    aside /= np.linalg.norm(aside)
    share, turn = random.uniform(0, 1, count), random.uniform(0, 2 * np.pi, count)
    ring = np.cos(turn)[:, None] * aside + np.sin(turn)[:, None] * np.cross(along, aside)
    thick = radius * (1.0 + (taper - 1.0) * share)
    return start + share[:, None] * (end - start) + thick[:, None] * ring


def legs(random: Random, count: int, width: float, depth: float, high: float, splay: float):
    """Four legs of a seat."""
    thick = random.uniform(0.012, 0.03)
    return [
        tube(
            random, count, (x * width / 2, high, z * depth / 2),
            (x * (width / 2 + splay), 0.0, z * (depth / 2 + splay)), thick, 0.8,
        )
        for x in (-1, 1) for z in (-1, 1)
    ]  # fmt: skip


def chair(random: Random) -> list[np.ndarray]:
    """Legs, a padded seat, a back of a frame and a pad."""
    width, high = random.uniform(0.38, 0.55), random.uniform(0.4, 0.5)
    back, lean = random.uniform(0.35, 0.8), random.uniform(0.0, 0.15)
    pad = random.uniform(0.02, 0.06)
    parts = legs(random, 1500, width, width, high, random.uniform(0.0, 0.08))
    parts.append(ellipsoid(random, 9000, (0, high, 0), (0.56 * width, pad, 0.56 * width)))
    for side in (-1, 1):
        foot = (side * width / 2, high, -width / 2)
        parts.append(tube(random, 1200, foot, (foot[0], high + back, -width / 2 - lean), 0.015))
    middle = (0, high + 0.7 * back, -width / 2 - 0.7 * lean)
    parts.append(ellipsoid(random, 6000, middle, (0.5 * width, 0.3 * back, 0.03)))
    return parts


def stool(random: Random) -> list[np.ndarray]:
    """A round seat, a column, a foot of five arms."""
    high, wide = random.uniform(0.45, 0.85), random.uniform(0.15, 0.24)
    parts = [ellipsoid(random, 9000, (0, high, 0), (wide, random.uniform(0.03, 0.08), wide))]
    parts.append(tube(random, 3000, (0, 0.08, 0), (0, high, 0), random.uniform(0.02, 0.05)))
    for turn in 2 * np.pi * np.arange(5) / 5:
        end = (0.3 * np.cos(turn), 0.03, 0.3 * np.sin(turn))
        parts.append(tube(random, 1200, (0, 0.1, 0), end, 0.025, 0.7))
    return parts


def armchair(random: Random) -> list[np.ndarray]:
    """Swollen cushions: seat, back, two arms."""
    width, high = random.uniform(0.6, 0.85), random.uniform(0.38, 0.45)
    back = random.uniform(0.4, 0.7)
    parts = [ellipsoid(random, 9000, (0, high / 2, 0), (width / 2, high / 2, 0.38))]
    parts.append(
        ellipsoid(random, 9000, (0, high + back / 2, -0.33), (width / 2, 0.6 * back, 0.12))
    )
    for side in (-1, 1):
        middle = (side * width / 2, high, 0.05)
        parts.append(ellipsoid(random, 4500, middle, (0.1, random.uniform(0.15, 0.25), 0.4)))
    return parts


def plant(random: Random) -> list[np.ndarray]:
    """A pot, a stem, and leaves on branches."""
    high = random.uniform(0.9, 1.9)
    parts = [tube(random, 5000, (0, 0, 0), (0, 0.3, 0), 0.12, 1.3)]
    parts.append(tube(random, 2500, (0, 0.3, 0), (0, high, 0), random.uniform(0.01, 0.04), 0.5))
    for _ in range(random.integers(6, 16)):
        start = (0.0, random.uniform(0.45, high), 0.0)
        turn, reach = random.uniform(0, 2 * np.pi), random.uniform(0.15, 0.5)
        end = np.array([reach * np.cos(turn), start[1] + random.uniform(-0.1, 0.35), 0.0])
        end[2] = reach * np.sin(turn)
        parts.append(tube(random, 500, start, end, 0.008))
        parts.append(ellipsoid(random, 1500, end, random.uniform(0.03, 0.14, 3)))
    return parts


def balls(random: Random) -> list[np.ndarray]:
    """A heap of balls, the upper ones smaller."""
    parts, high = [], 0.0
    for _ in range(random.integers(3, 8)):
        radius = random.uniform(0.1, 0.35)
        middle = (*random.uniform(-0.2, 0.2, 1), high + 0.8 * radius, *random.uniform(-0.2, 0.2, 1))
        parts.append(ellipsoid(random, 6000, middle, (radius, radius, radius)))
        high += 1.5 * radius
    return parts


def cloth(random: Random) -> list[np.ndarray]:
    """A heap of cloth: a hill with folds, or a coat over a hidden thing."""
    turn, rise = random.uniform(0, 2 * np.pi, 30_000), random.uniform(0, 1, 30_000)
    high, wide = random.uniform(0.5, 1.7), random.uniform(0.25, 0.5)
    folds = sum(
        random.uniform(0.02, 0.08) * np.cos(n * turn + random.uniform(0, 6) + 3 * rise)
        for n in (2, 3, 5, 8)
    )
    out = wide * (1.0 - rise ** random.uniform(0.8, 3.0)) + folds * (1.0 - rise)
    return [np.stack([out * np.cos(turn), high * rise, out * np.sin(turn)], axis=1)]


def lamp(random: Random) -> list[np.ndarray]:
    """A floor lamp: a round foot, a pole, a shade."""
    high = random.uniform(1.3, 1.8)
    parts = [ellipsoid(random, 5000, (0, 0.02, 0), (0.16, 0.02, 0.16))]
    parts.append(tube(random, 4000, (0, 0, 0), (0, high, 0), random.uniform(0.012, 0.03)))
    shade = random.uniform(0.12, 0.3)
    low = high - random.uniform(0.2, 0.4)
    parts.append(tube(random, 9000, (0, low, 0), (0, high, 0), shade, random.uniform(0.4, 1.0)))
    return parts


def stand(random: Random) -> list[np.ndarray]:
    """A coat stand: a pole with feet and hooks, and coats that hang from some."""
    high = random.uniform(1.6, 1.95)
    parts = [tube(random, 4000, (0, 0, 0), (0, high, 0), 0.03)]
    for turn in random.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(4) / 4:
        way = np.array([np.cos(turn), 0.0, np.sin(turn)])
        parts.append(tube(random, 1000, (0, 0.2, 0), 0.3 * way, 0.02))
        parts.append(tube(random, 800, (0, high - 0.2, 0), 0.2 * way + [0, high, 0], 0.012))
        if random.uniform() < 0.6:
            long = random.uniform(0.5, 0.9)
            middle = 0.2 * way + [0, high - 0.1 - long / 2, 0]
            parts.append(ellipsoid(random, 6000, middle, (0.14, long / 2, 0.14)))
    return parts


KINDS: tuple[Callable[[Random], list[np.ndarray]], ...] = (
    chair, stool, armchair, plant, balls, cloth, lamp, stand,
)  # fmt: skip


def thing(number: int) -> tuple[str, np.ndarray]:
    """The name and the points of one thing, metres, y up."""
    random = np.random.default_rng([SEED, number])
    made = KINDS[number % len(KINDS)]
    points = np.concatenate(made(random))
    turn = random.uniform(0, 2 * np.pi)
    points = points @ [[np.cos(turn), 0, -np.sin(turn)], [0, 1, 0], [np.sin(turn), 0, np.cos(turn)]]
    points = points[random.permutation(len(points))[:POINTS]]
    return made.__name__, points + random.normal(0.0, 4e-4, points.shape)


def one(number: int) -> dict[str, Any]:
    """Try one thing; a row."""
    from corporeal.body.raw_scan import RawScan
    from corporeal.errors import CorporealError
    from corporeal.registration.register import register_scan

    name, points = thing(number)
    cpu, reason = time.process_time(), None
    try:
        register_scan(RawScan(points), unit="m")
    except CorporealError as error:
        reason = str(error)
    return {
        "number": number,
        "shape": name,
        "refused": reason is not None,
        "reason": reason,
        "cpu_s": round(time.process_time() - cpu, 2),
    }


def main() -> None:
    """Try the things that are asked for and not tried yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--first", type=int, default=100, help="number of the first thing")
    parser.add_argument("--count", type=int, default=24, help="things")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "registration_things.jsonl")
    given, version = parser.parse_args(), commit()
    out = given.out
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.is_file() else []
    done = {row["number"] for row in rows}
    asked = [n for n in range(given.first, given.first + given.count) if n not in done]
    with ProcessPoolExecutor(given.workers) as pool:
        for row in pool.map(one, asked):
            row |= {"commit": version}
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            rows.append(row)
            print(json.dumps(row), flush=True)
    print(f"{sum(row['refused'] for row in rows)} of {len(rows)} refused")


if __name__ == "__main__":
    main()
