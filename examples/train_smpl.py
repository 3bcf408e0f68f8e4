"""Train an SMPL from captures made here, judge it on people it has not seen, and move it.

    python examples/train_smpl.py --out smpl

Draws people, records some in many poses and all of them standing (layered flesh in static balance),
learns shape space, joints, weights and pose blend shapes, and compares with blending alone on
people who were left out. Leaves `my_smpl.npz`, `SMPL_NEUTRAL.pkl` (for `smplx`), `report` and
`punching.png`. The model is as small as its training: for one worth using see docs/methods/smpl.md.
`--small` takes blended captures of few people.
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
    count, posed, poses = (8, 2, 4) if given.small else (40, 4, 12)
    flesh = "dqs" if given.small else "layered"

    # Three of eight people are kept for tests; who they are depends on the seed alone.
    people = cp.sample_people(count, seed=3)
    many = cp.capture_people(
        people, out / "poses.zarr", "poses", split="train", women=posed // 2, men=posed // 2,
        poses=poses, deformer=flesh,
    )  # fmt: skip
    stands = cp.capture_people(people, out / "stands.zarr", "shapes", split="train", deformer=flesh)
    test = cp.capture_people(
        people, out / "test.zarr", "poses", split="test", women=1, men=0, poses=3, deformer=flesh
    )
    print(f"{many.frame_count} poses, {stands.frame_count} people; {test.frame_count} for the test")

    model, report = cp.train_smpl(many, stands, shape_count=5)
    print(f"share of shape that five numbers explain: {report['explained'][4]:.3f}")
    cp.save(model, out / "my_smpl.npz")
    for_smplx = ["convert", "--model", f"{out}/my_smpl.npz", "--out", f"{out}/SMPL_NEUTRAL.pkl"]
    assert corporeal([*for_smplx, "--quiet"]) == 0

    # Pose and shape are fitted to every test registration; the model is also tried without its
    # pose blend shapes.
    judged = ["evaluate", "models", f"{out}/my_smpl.npz", "--test", f"{out}/test.zarr"]
    assert corporeal([*judged, "--counts", "5", "--report", f"{out}/report"]) == 0

    take = cp.animate(model, "punching", shape=[1.5, -1.0], end=0.3 if given.small else 4)
    cp.save(take, out / "punching.png")
    print(f"left in {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")


if __name__ == "__main__":
    main()
