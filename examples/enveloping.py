"""Learn enveloping whose corrections know the person, from a few poses of a few people.

    python examples/enveloping.py --out enveloping

Two poses each of several people and many of two, as Allen 2006 had: who somebody is and how they
bend are learned together. Leaves `enveloping.npz`, `slim.png` and `heavy.png`: the same punches by
a slim and by a heavy person, with corrections that follow from who they are. `--small` takes
blended captures.
"""

import argparse
from pathlib import Path

import corporeal as cp
from corporeal.cli.main import main as corporeal


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("enveloping"))
    parser.add_argument("--small", action="store_true", help="few poses, blended captures")
    given = parser.parse_args()
    out = given.out
    out.mkdir(parents=True, exist_ok=True)
    flesh = "dqs" if given.small else "layered"
    many, few, poses = (1, 2, 10) if given.small else (2, 6, 14)

    people = cp.sample_people(40, seed=5)
    dense = {"women": (many + 1) // 2, "men": many // 2, "poses": poses}
    sparse = {"women": few // 2, "men": few // 2, "poses": 2}
    for name, who in (("dense", dense), ("sparse", sparse)):
        record = cp.capture_people(
            people, out / f"{name}.zarr", "poses", split="train", deformer=flesh, **who
        )
        print(f"{name}: {record.frame_count} scans of {len(record.subjects)} people")

    scans = [str(out / "dense.zarr"), str(out / "sparse.zarr")]
    settings = ["--latent-count", "2" if given.small else "5", "--offset-count", "1"]
    settings += ["--rounds", "1"] if given.small else []
    line = ["train", "enveloping", "--scans", *scans, *settings]
    assert corporeal([*line, "--out", str(out / "enveloping.npz")]) == 0

    slim = cp.make_body(gender="female", stature=1.68, mass=55)
    heavy = cp.reshape(slim, gain=35)
    for name, person in (("slim", slim), ("heavy", heavy)):
        take = cp.animate(
            person, "punching", deformer="enveloping", trained=out / "enveloping.npz",
            end=0.3 if given.small else 4,
        )  # fmt: skip
        cp.save(take, out / f"{name}.png")
    print(f"left in {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")


if __name__ == "__main__":
    main()
