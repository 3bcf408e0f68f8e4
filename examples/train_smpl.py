"""Train an SMPL of your own on captures, and see what it knows that blending does not.

    python examples/train_smpl.py --out smpl

Records people in many poses and one stand each of others by the virtual 4D scanner, trains the
model of Loper 2015 on them, compares it on people it has not seen with plain linear blending, and
moves it. Leaves the captures, `my_smpl.npz`, a report and `my_smpl.png`. `--small` takes few
blended captures, which is enough to see the chain run and for nothing else.
"""

import argparse
from pathlib import Path

import corporeal as cp
from corporeal.cli.main import main as corporeal


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("smpl"))
    parser.add_argument("--small", action="store_true", help="few people, blended captures")
    given = parser.parse_args()
    out = given.out
    out.mkdir(parents=True, exist_ok=True)
    flesh = "dqs" if given.small else "layered"
    each, poses, stands = (3, 12, 2) if given.small else (2, 30, 12)

    # Many poses of a few people teach how skin bends; one stand each of many teaches who they are.
    people = cp.sample_people(60, seed=5)
    sets = {
        "poses": {"women": each, "men": each, "poses": poses, "split": "train", "deformer": flesh},
        "shapes": {"women": stands, "men": stands, "split": "train", "deformer": "dqs"},
        "test": {
            "women": 1,
            "men": 1,
            "poses": max(3, poses // 4),
            "split": "test",
            "deformer": flesh,
        },
    }
    for name, asked in sets.items():
        protocol = "shapes" if name == "shapes" else "poses"
        record = cp.capture_people(people, out / f"{name}.zarr", protocol, jobs=None, **asked)
        print(f"{name}: {record.frame_count} scans of {len(record.subjects)} people")

    model = out / "my_smpl.npz"
    sets_given = ["--poses", str(out / "poses.zarr"), "--shapes", str(out / "shapes.zarr")]
    line = ["train", "smpl", *sets_given, "--shape-count", "4" if given.small else "10"]
    assert corporeal([*line, "--out", str(model)]) == 0

    # People of the test split are in neither set above. The report also tries plain linear and dual
    # quaternion skinning, and the model without its pose blend shapes.
    line = ["evaluate", "models", str(model), "--test", str(out / "test.zarr")]
    assert corporeal([*line, "--report", str(out / "report")]) == 0

    woman = cp.make_body(gender="female", stature=1.68, mass=75)
    take = cp.animate(
        woman, "jumping-jacks", deformer="smpl", trained=model, end=0.3 if given.small else 3
    )
    cp.save(take, out / "my_smpl.png")
    print(f"left in {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")


if __name__ == "__main__":
    main()
