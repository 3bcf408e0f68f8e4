"""A person from a tape measure: what is measured is met, all else follows, and files are made.

    python examples/tape_measure.py --out tape-measure

Leaves `anna.npz` (the body), `anna.png` (from the front, the side and behind), `anna.glb` (for an
engine, moving), and `lighter.png` (the same woman after a diet). `--small` makes it shorter.
"""

import argparse
from pathlib import Path

import corporeal as cp


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("tape-measure"))
    parser.add_argument("--small", action="store_true", help="a shorter clip")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)

    # Metres and kilograms; any subset will do. What is not given follows people of that build.
    anna = cp.make_body(gender="female", age=41, stature=1.70, mass=82, waist=0.88, hips=1.12)
    found = cp.measure(anna)
    waist = found["waist_circumference"]
    print(f"asked: 1.70 m, 82 kg, waist 0.88 m; made: {found.stature:.3f} m, {found.mass:.1f} kg,")
    print(f"waist {waist:.3f} m; and so a BMI of {found.bmi:.1f} kg/m²")

    # What nobody measures is refused, with the nearest body that there is.
    try:
        cp.make_body(gender="female", stature=1.50, mass=250)
    except cp.CorporealError as refused:
        print(f"refused: {str(refused).splitlines()[0]}")

    cp.save(anna, given.out / "anna.npz")
    cp.save(anna, given.out / "anna.png")
    lighter = cp.reshape(anna, gain=-12)
    waist = cp.measure(lighter)["waist_circumference"]
    print(f"twelve kilograms less: waist {waist:.3f} m")
    cp.save(lighter, given.out / "lighter.png")

    end, fps = (0.3, 10) if given.small else (4, 60)
    take = cp.animate(anna, "punching", deformer="dqs", end=end, fps=fps)
    cp.save(take, given.out / "anna.glb")
    print(f"left in {given.out}: {', '.join(sorted(path.name for path in given.out.iterdir()))}")


if __name__ == "__main__":
    main()
