"""Train DMPL, Dyna and neural flesh on the same captures, and compare them.

    python examples/train_dynamics.py --out dynamics

Records a few people in movements by the virtual 4D scanner, each with its quasi-static twin, learns
dynamic blend shapes (DMPL), dynamic triangle deformations (Dyna) and a recurrent network from
them, tries autoregression and network on people and motions that were left out, and moves one
body by all three. Leaves the captures, three models, a report and a picture of each. `--small`
records one motion of two people: enough to see the chain run and for nothing else.
"""

import argparse
from pathlib import Path

import corporeal as cp
from corporeal.cli.main import main as corporeal


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("dynamics"))
    parser.add_argument("--small", action="store_true", help="two people in one motion")
    given = parser.parse_args()
    out = given.out
    out.mkdir(parents=True, exist_ok=True)
    motions = ["one-leg-jump"] if given.small else ["one-leg-jump", "running-on-spot"]
    women, men = (1, 1) if given.small else (2, 1)

    # Every movement with its quasi-static twin: what differs between the two is dynamics alone.
    people = cp.sample_people(40, seed=5)
    takes = out / "takes.zarr"
    record = cp.capture_people(
        people, takes, "dyna", women=women, men=men, split="train",
        motions=motions, duration=2, jobs=None,
    )  # fmt: skip
    print(f"{record.frame_count} frames of {len(record.subjects)} people")

    steps = "20" if given.small else "200"
    learned = {
        "dmpl": ["--count", "8" if given.small else "20"],
        "dyna": ["--count", "8" if given.small else "20"],
        "neural": ["--count", "8" if given.small else "20", "--steps", steps, "--members", "1"],
    }
    for name, settings in learned.items():
        line = ["train", name, "--takes", str(takes), *settings]
        assert corporeal([*line, "--out", str(out / f"{name}.npz")]) == 0

    # Learned anew from a part and tried on the rest: single takes, motions, people.
    packed = out / "takes.packed.npz"
    assert corporeal(["dataset", "pack", str(takes), "--out", str(packed)]) == 0
    if not given.small:
        line = ["evaluate", "dynamics", "--test", str(packed), "--motions", motions[-1]]
        line += ["--people", next(iter(record.subjects)), "--steps", "60"]
        assert corporeal([*line, "--report", str(out / "report")]) == 0

    woman = cp.make_body(gender="female", stature=1.68, mass=85)
    for name in learned:
        take = cp.animate(
            woman, "jumping-jacks", deformer=name, trained=out / f"{name}.npz",
            end=0.3 if given.small else 3,
        )  # fmt: skip
        cp.save(take, out / f"{name}.png")
    print(f"left in {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")


if __name__ == "__main__":
    main()
