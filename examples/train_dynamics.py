"""Train DMPL, Dyna and a recurrent network on the same simulated takes, and compare them.

    python examples/train_dynamics.py --out dynamics

A few people hop, shake and punch with layered flesh; each take comes with its quasi-static twin, so
that what swings is known. The three models learn from all takes but one motion's, and are judged on
takes of that motion: how many millimetres of its swing are left. Leaves the models, `compared.json`
and a picture of the same jump by each. So little data makes weak models: figures worth
quoting are in docs/evaluation/dynamics.md. `--small` trains next to nothing.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import corporeal as cp
from corporeal.assets.learned_blendscape import read_learned_blendscape
from corporeal.body.registrations import Take
from corporeal.cli.main import main as corporeal
from corporeal.formats.blendscape import write_blendscape

LEFT_OUT = "shake-hips"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("dynamics"))
    parser.add_argument("--small", action="store_true", help="one person, two motions")
    given = parser.parse_args()
    out = given.out
    out.mkdir(parents=True, exist_ok=True)
    motions = ["jumping-jacks", "light-hopping-loose", "punching", "hips"]
    motions = motions[:1] if given.small else motions
    seconds, fps = (2, 15) if given.small else (2, 60)
    women, men = (1, 0) if given.small else (2, 2)

    people = cp.sample_people(16, seed=3)
    takes = {}
    for name, chosen in (("learn", motions), ("judge", [LEFT_OUT])):
        takes[name] = cp.capture_people(
            people, out / f"{name}.zarr", "dyna", split="train", women=women, men=men,
            motions=chosen, duration=seconds, fps=fps,
        )  # fmt: skip
        print(f"{name}: {len(takes[name].takes)} takes, {takes[name].frame_count} frames")

    # Dyna deforms triangles, on a BlendSCAPE: the one that ships.
    write_blendscape(out / "blendscape.npz", read_learned_blendscape())
    learn = ["--takes", out / "learn.zarr", "--count", "4" if given.small else "20"]
    network = ["--steps", "20" if given.small else "600", "--members", "1", "--static-count", "0"]
    train("dmpl", *learn, "--out", out / "dmpl.npz")
    train("dyna", *learn, "--model", out / "blendscape.npz", "--out", out / "dyna.npz")
    train("neural", *learn, *network, "--out", out / "neural.npz")

    found = {name: {} for name in ("without", "dmpl", "dyna", "neural")}
    for take in takes["judge"].takes:
        person = people[int(take.subject[1:])]
        motion = moved_as(take, person)
        truth = take.vertices[:] - take.twin.vertices[:]
        found["without"][take.subject] = rms_mm(truth)
        for name in ("dmpl", "dyna", "neural"):
            swing = [
                cp.animate(
                    person,
                    motion,
                    deformer=name,
                    trained=out / f"{name}.npz",
                    controls={"dynamics": on},
                ).vertices
                for on in (True, False)
            ]
            found[name][take.subject] = rms_mm(truth - (swing[0] - swing[1]))
    for name, by_person in found.items():
        print(f"{name:8s} {np.mean(list(by_person.values())):6.2f} mm of the swing are left")
    (out / "compared.json").write_text(json.dumps(found, indent=1))
    jumper = people[int(takes["judge"].takes[-1].subject[1:])]
    for name in ("dmpl", "dyna", "neural"):
        shown = cp.animate(
            jumper, "one-leg-jump", deformer=name, trained=out / f"{name}.npz",
            end=0.2 if given.small else 4, fps=fps,
        )  # fmt: skip
        cp.save(shown, out / f"{name}.png")
    print(f"left in {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")


def train(method: str, *words: object) -> None:
    """A line of the command line."""
    assert corporeal(["train", method, *map(str, words), "--quiet"]) == 0, method


def moved_as(take: Take, person: cp.Body) -> cp.Motion:
    """The poses of a capture, which knows them, as a motion."""
    rotations, way = take.truth.joint_rotations[:], take.truth.root_translation[:]
    return cp.Motion(take.sequence, take.fps, rotations, way, person.template.skeleton)


def rms_mm(offsets: np.ndarray) -> float:
    """Root mean square over vertices, mean over frames."""
    return 1e3 * float(np.sqrt(np.mean(np.sum(offsets**2, axis=2), axis=1)).mean())


if __name__ == "__main__":
    main()
