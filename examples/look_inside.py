"""Look inside a person, and let weight come and go where fat and muscle lie.

    python examples/look_inside.py --out inside

Bones, muscles and fat are fitted into a body from its skin alone. Then fifteen kilograms of fat
come, four of muscle go, and fat is laid where another person has it. Leaves `inside.png` (people
cut across) and layers files (`.npz`, and `.glb` with skin, muscle and bone apart). With `--move`
the heavier person hops, with three layers of flesh. `--small` does the first half.
"""

import argparse
from pathlib import Path

import corporeal as cp
from corporeal.pipelines.anatomy_picture import PictureConfig, make_picture


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("inside"))
    parser.add_argument("--move", action="store_true", help="also simulate the heavier person")
    parser.add_argument("--small", action="store_true", help="less, and small")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)

    anna = cp.fit_anatomy(cp.make_body(gender="female", age=35, stature=1.68, mass=66))
    people = {"anna": anna, "heavier": cp.grow(anna, +15, regions=("belly", "hips", "thighs"))}
    if not given.small:
        ben = cp.fit_anatomy(cp.make_body(gender="male", age=50, stature=1.78, mass=98))
        people["weaker"] = cp.grow(anna, -4, tissue="muscle")
        people["like-ben"] = cp.transfer_fat(ben, anna, +15)
    for name, person in people.items():
        found = cp.measure(person)
        waist = 100 * found["waist_circumference"]
        print(f"{name:9s} {found.mass:6.1f} kg, waist {waist:5.1f} cm")
        cp.save(person, given.out / f"{name}.npz")
    cp.save(people["heavier"], given.out / "heavier.glb")

    make_picture(
        PictureConfig(
            layers=tuple(given.out / f"{name}.npz" for name in people),
            out=given.out / "inside.png",
            style="cut",
            width=200 if given.small else 1200,
        )
    )
    if given.move:
        end, fps = (0.2, 10) if given.small else (3, 60)
        take = cp.animate(people["heavier"], "one-leg-jump", deformer="layered", end=end, fps=fps)
        cp.save(take, given.out / "jump.png")
    print(f"left in {given.out}: {', '.join(sorted(path.name for path in given.out.iterdir()))}")


if __name__ == "__main__":
    main()
