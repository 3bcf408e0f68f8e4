"""A population with real statistics, and captures of it such as trainers take.

    python examples/population.py --out population

Draws people whose measurements go together as those of a survey do, records two of them standing
by the virtual 4D scanner, and reads the registrations back with their truth. Leaves `people.zarr`,
`people.png` and `stands.zarr`. `--small` draws few.
"""

import argparse
from pathlib import Path

import numpy as np

import corporeal as cp
from corporeal.cli.main import main as corporeal


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("population"))
    parser.add_argument("--small", action="store_true", help="few people")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    count = 2 if given.small else 24

    # Person i depends on the random seed and on i alone: more people are the same people, and more.
    store = given.out / "people.zarr"
    line = ["people", "--count", str(count), "--seed", "7", "--out", str(store), "--jobs", "1"]
    line += [] if given.small else ["--picture", str(given.out / "people.png")]
    assert corporeal([*line, "--quiet"]) == 0
    people = cp.load(store)
    table = [cp.measure(people[i]) for i in range(min(count, 6))]
    for i, person in enumerate(table):
        print(f"person {i}: {person.stature:.2f} m, {person.mass:.0f} kg, BMI {person.bmi:.0f}")
    print(f"mean stature of these: {np.mean([person.stature for person in table]):.3f} m")

    # One standing scan each: blended skin here, since nobody moves. For flesh: deformer="layered".
    men = 0 if given.small else 1
    stands = cp.capture_people(
        people, given.out / "stands.zarr", "shapes", deformer="dqs", women=1, men=men
    )
    for take in stands.takes:
        print(
            f"recorded {take.subject}: {take.frame_count} frame, {take.vertices.shape[1]} vertices"
        )


if __name__ == "__main__":
    main()
