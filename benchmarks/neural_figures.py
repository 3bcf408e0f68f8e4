"""Casas 2018's figures 5 and 7 on a packed set: autoencoders against components, and one left out.

    python benchmarks/neural_figures.py dyna.packed.npz --out results/neural_figures.json
    python benchmarks/neural_figures.py dyna.packed.npz --figures 7 --limit 3
    python benchmarks/neural_figures.py dyna.packed.npz --device gpu

Figure 5: for three people and three sequences each, AE-k and PCA-k are found from the person's
other sequences, and the left-out one is encoded and decoded; an inner sequence says when the
autoencoder is best. Figure 7: a network of one person, without one sequence, predicts it; the same
with poses alone. Errors are root mean squares over vertices, of all and of soft regions. Jobs that
the file of results holds already are left out: a run that was stopped goes on.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from provenance import commit

SIZES = (5, 10, 20, 50, 100)
SEQUENCES = ("jumping-jacks", "light-hopping-loose", "shake-shoulders", "shake-hips", "punching",
             "knees", "one-leg-jump")  # fmt: skip
RANK = 300
"""Components of a person's frames within which figure 5 is trained."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("takes", type=Path, help="packed movements with twins (.packed.npz)")
    parser.add_argument("--figures", nargs="*", default=["5", "7"], choices=["5", "7"])
    parser.add_argument("--people", nargs="*", default=[], help="three of low to high BMI if none")
    parser.add_argument("--limit", type=int, default=0, help="jobs at most; 0 for all")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin no job after; 0 for all")
    parser.add_argument("--steps", type=int, default=1500, help="updates of a network")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--out", type=Path, default=Path("neural_figures.json"))
    arguments = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cuda" if arguments.device == "gpu" else "cpu")
    run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """All jobs that are not done yet."""
    from corporeal.pipelines.packed_dataset import read_packed_dataset
    from corporeal.pipelines.packed_offsets import packed_offsets

    begun, done = time.monotonic(), {}
    if arguments.out.is_file():
        done = json.loads(arguments.out.read_text())["jobs"]
    held = read_packed_dataset(arguments.takes)
    offsets = packed_offsets(held)
    world = World(held, offsets)
    people = arguments.people or world.three_people()
    count = 0
    for name, job in jobs(world, people, arguments):
        late = arguments.minutes and time.monotonic() - begun > 60 * arguments.minutes
        if name in done or late or (arguments.limit and count >= arguments.limit):
            continue
        first = time.process_time()
        done[name] = job()
        done[name]["cpu_s"] = round(time.process_time() - first, 1)
        count += 1
        print(name, json.dumps(done[name]), flush=True)
        record = {"commit": commit(), "device": arguments.device, "steps": arguments.steps,
                  "jobs": done}  # fmt: skip
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{count} jobs done, {len(done)} in all; {arguments.out}")


class World:
    """A set with its coordinates, and what the soft regions are."""

    def __init__(self, held: Any, offsets: Any) -> None:
        from corporeal.assets.default_body import load_default_body
        from corporeal.dynamics.body_mass import body_mass_index
        from corporeal.models.smpl.shipped import SmplSkinning
        from corporeal.pipelines.evaluate_dynamics import SOFT

        self.held, self.offsets = held, offsets
        self.base = SmplSkinning(load_default_body().template)
        template = self.base.template
        labels = np.asarray(template.part_labels)
        soft = np.isin(labels, [template.part_names.index(part) for part in SOFT])
        self.soft, self.soft_count = offsets.gram(soft), int(soft.sum())
        triangles = np.asarray(template.mesh.triangles)
        self.indices = {
            name: body_mass_index(subject.identity, triangles)
            for name, subject in held.subjects.items()
        }

    def of(self, person: str) -> dict[str, int]:
        """Sequence → number of the take."""
        return {t.sequence: n for n, t in enumerate(self.offsets.takes) if t.subject == person}

    def three_people(self) -> list[str]:
        """The lightest, the middle and the heaviest of those with eight takes or more."""
        names = sorted(
            (p for p in self.indices if len(self.of(p)) >= 8), key=self.indices.__getitem__
        )
        return [names[0], names[len(names) // 2], names[-1]]

    def sizes_mm(self, rest: np.ndarray) -> list[float]:
        """Mean over frames of the root mean square over all vertices, and over soft ones."""
        whole = np.sqrt(np.sum(rest**2, axis=1) / self.offsets.vertex_count)
        square = np.maximum(np.sum((rest @ self.soft) * rest, axis=1), 0.0)
        return [round(1e3 * float(part.mean()), 4) for part in
                (whole, np.sqrt(square / self.soft_count))]  # fmt: skip


def jobs(world: World, people: list[str], arguments: argparse.Namespace) -> Any:
    """(name, what to do) of everything that was asked for."""
    for person in people:
        own = world.of(person)
        chosen = [name for name in SEQUENCES if name in own][:3]
        if "7" in arguments.figures:
            for name in chosen:
                yield (f"7 {person} {name}",
                       lambda p=person, s=name: figure7(world, p, s, arguments.steps))  # fmt: skip
    for person in people:
        chosen = [name for name in SEQUENCES if name in world.of(person)][:3]
        if "5" in arguments.figures:
            for name in chosen:
                for size in SIZES:
                    yield (f"5 {person} {name} {size}",
                           lambda p=person, s=name, k=size: figure5(world, p, s, k,
                                                                    arguments.steps))  # fmt: skip


def figure5(world: World, person: str, sequence: str, size: int, steps: int) -> dict[str, Any]:
    """PCA-k and AE-k of a person without a sequence, on that sequence, millimetres."""
    from corporeal.dynamics.neural.equations import decode, encode
    from corporeal.dynamics.neural.training.reference import ReferenceTraining, train_autoencoder
    from corporeal.pipelines.packed_offsets import principal_directions

    own = world.of(person)
    test = own.pop(sequence)
    rows = {name: world.offsets.coordinates[n] for name, n in own.items()}
    basis, _ = principal_directions(list(rows.values()), RANK)
    inner = sorted(rows)[len(rows) // 2]
    coded = {name: (part @ basis).astype(np.float32) for name, part in rows.items()}
    train = np.concatenate([part for name, part in coded.items() if name != inner])
    settings = ReferenceTraining(latent=size, steps=steps, wide=256, narrow=max(128, size))
    network, curve = train_autoencoder(train, coded[inner], settings)
    true = world.offsets.coordinates[test].astype(np.float64)
    seen = (true @ basis).astype(np.float32)
    again = np.asarray(decode(network, encode(network, seen)), np.float64)
    kept = seen.copy()
    kept[:, size:] = 0
    return {
        "bmi": round(world.indices[person], 1),
        "static_mm": world.sizes_mm(true),
        "pca_mm": world.sizes_mm(true - kept @ basis.T),
        "ae_mm": world.sizes_mm(true - again @ basis.T),
        "best_step": min(curve, key=lambda row: row[2])[0],
    }


def figure7(world: World, person: str, sequence: str, steps: int) -> dict[str, Any]:
    """A person's network without a sequence, on that sequence; and one that sees poses alone."""
    from corporeal.dynamics.neural.training.recurrent import (
        RecurrentTraining,
        predict,
        predict_samples,
        train_recurrent,
    )
    from corporeal.dynamics.neural.training.samples import Sample, take_features
    from corporeal.pipelines.packed_offsets import principal_directions

    own = world.of(person)
    test = own.pop(sequence)
    basis, _ = principal_directions([world.offsets.coordinates[n] for n in own.values()], 48)
    inner = sorted(own)[len(own) // 2]

    def sample(n: int, *, pose_only: bool) -> Sample:
        take = world.offsets.takes[n]
        movement, pose, who = take_features(take, world.held, world.base)
        numbers = (world.offsets.coordinates[n] @ basis).astype(np.float32)
        none = numbers[:, :0]
        parts = (none, numbers) if pose_only else (numbers, none)
        return Sample(person, take.sequence, take.fps, movement, pose, who, *parts)

    settings = RecurrentTraining(
        steps=steps, width=64, oscillators=48, hidden=64, batch=8, check_every=max(1, steps // 20),
        person_noise=0.0,
    )  # fmt: skip
    true = world.offsets.coordinates[test].astype(np.float64)
    made: dict[str, Any] = {
        "bmi": round(world.indices[person], 1),
        "static_mm": world.sizes_mm(true),
        "oracle_mm": world.sizes_mm(true - (true @ basis) @ basis.T),
    }
    for name, pose_only in (("model_mm", False), ("pose_only_mm", True)):
        samples = {s: sample(n, pose_only=pose_only) for s, n in own.items()}
        trained = train_recurrent(
            [part for s, part in samples.items() if s != inner], [samples[inner]], settings
        )
        new = sample(test, pose_only=pose_only)
        if pose_only:
            who = (new.person - trained.person_mean) / trained.person_scale
            rows = predict(trained.parameters, new.movement[None], new.pose[None],
                           who[None].astype(np.float32), 1 / 60)[1][0]  # fmt: skip
        else:
            rows = predict_samples(trained, [new])[0]
        made[name] = world.sizes_mm(true - np.asarray(rows, np.float64) @ basis.T)
    made["reduction"] = [
        round(1 - model / static, 3)
        for model, static in zip(made["model_mm"], made["static_mm"], strict=True)
    ]
    return made


if __name__ == "__main__":
    main()
