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
from measured_commit import commit

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
        from corporeal.pipelines.dynamics_bench import REGIONS

        self.held, self.offsets = held, offsets
        self.base = SmplSkinning(load_default_body().template)
        template = self.base.template
        labels = np.asarray(template.part_labels)
        soft = np.isin(labels, [template.part_names.index(part) for part in REGIONS["soft"]])
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

    def bench(self, person: str, sequence: str) -> tuple[Any, int]:
        """A person's takes but one to learn from, and the number of the one."""
        from dataclasses import replace

        from corporeal.dynamics.known_takes import known_genders, known_people
        from corporeal.evaluation.dynamics_cases import People
        from corporeal.pipelines.dynamics_bench import Bench

        own = self.of(person)
        part = replace(
            self.offsets,
            takes=tuple(self.offsets.takes[n] for n in own.values()),
            coordinates=tuple(self.offsets.coordinates[n] for n in own.values()),
        )
        cases = [2 if name == sequence else 0 for name in own]
        people = People(self.indices, known_genders(self.held))
        bodies = {person: known_people(self.held)[person]}
        made = Bench.of([part], part.takes, cases, (), self.base, bodies, people, 48)
        return made, list(own).index(sequence)

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
    from corporeal.dynamics.neural.training.residual_decoder import fit_residual
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
    decoder = fit_residual(list(coded.values()), size)
    better = kept.astype(np.float64) + decoder.correction(kept[:, :size], seen.shape[1])
    return {
        "bmi": round(world.indices[person], 1),
        "static_mm": world.sizes_mm(true),
        "pca_mm": world.sizes_mm(true - kept @ basis.T),
        "ae_mm": world.sizes_mm(true - again @ basis.T),
        "residual_ae_mm": world.sizes_mm(true - better @ basis.T),
        "residual_share": round(decoder.share, 3),
        "best_step": min(curve, key=lambda row: row[2])[0],
    }


def figure7(world: World, person: str, sequence: str, steps: int) -> dict[str, Any]:
    """A person's network without a sequence, on that sequence; and one that sees poses alone."""
    from dataclasses import replace

    from corporeal.dynamics.neural.training.hybrid import (
        Build,
        HybridTraining,
        predict_hybrid,
    )
    from corporeal.dynamics.neural.training.recurrent import (
        RecurrentTraining,
        predict,
        train_recurrent,
    )
    from corporeal.dynamics.neural.training.samples import Sample
    from corporeal.pipelines.evaluate_neural import bench_samples, mirrored_samples, train_on

    bench, test = world.bench(person, sequence)
    samples = bench_samples(bench)
    learned = [samples[n] for n in bench.learned]
    settings = RecurrentTraining(steps=steps, batch=8, person_noise=0.0)
    hybrid = HybridTraining(network=settings, members=2)
    trained, told = train_on(bench, learned, hybrid, lambda _words: None)
    build = Build(bench.people.indices, bench.people.genders)
    rows = predict_hybrid(trained, [samples[test]], build)[0]

    def posed(sample: Sample) -> Sample:
        return replace(sample, dynamic=sample.static, static=sample.dynamic)

    every = [posed(s) for s in (*learned, *mirrored_samples(bench, learned))]
    alone = train_recurrent(every, [], replace(settings, stretch=0.0, loudness=0.0))
    who = np.clip((samples[test].person - alone.person_mean) / alone.person_scale, -3, 3)
    by_pose = predict(
        alone.parameters, samples[test].movement[None], samples[test].pose[None],
        who[None].astype(np.float32), 1 / 60,
    )[1][0]  # fmt: skip
    made: dict[str, Any] = {"bmi": round(world.indices[person], 1)}
    for name, found in (
        ("static_mm", None), ("oracle_mm", bench.deltas(test)), ("model_mm", rows),
        ("pose_only_mm", by_pose),
    ):  # fmt: skip
        shown = None if found is None else np.asarray(found, np.float64)
        made[name] = [
            round(1e3 * float(part.rms(test, shown).mean()), 4)
            for part in (bench.whole, bench.regions["soft"])
        ]
    made["reduction"] = [
        round(1 - model / static, 3)
        for model, static in zip(made["model_mm"], made["static_mm"], strict=True)
    ]
    made["of_the_way"] = [
        round((s - m) / max(s - o, 1e-9), 3)
        for s, m, o in zip(made["static_mm"], made["model_mm"], made["oracle_mm"], strict=True)
    ]
    made["linear_share"] = round(float(np.mean(told.get("share", [0.5]))), 3)
    return made


if __name__ == "__main__":
    main()
