"""The neural flesh by five splits of one set, and the networks that ship, from one small file.

    python benchmarks/neural_splits.py codes dyna.packed.npz --codes dyna_codes.npz
    python benchmarks/neural_splits.py train --codes dyna_codes.npz --out splits --seconds 240
    python benchmarks/neural_splits.py judge dyna.packed.npz --out splits

`codes` writes movement (8 bits, by the root of its size), poses (every fourth frame) and 48
coefficients of every take; a network learns from these alone. Every split leaves out two people, a
woman and a man, two or three motions, and one take in five of what is left, so that every person
and every motion is new once (the four cases of Pons-Moll 2015, 6.1). `train` trains, side by side,
two networks a split, four on everything, and those of figure 7 of Casas 2018, as far as time goes.
`judge` fits the linear predictors of every split, joins and evaluates; the network's share is found
on the other four splits.
"""

import argparse
import lzma
import time
from pathlib import Path
from typing import Any

import numpy as np

MOTIONS = (
    ("one-leg-jump", "shake-hips", "punching"),
    ("running-on-spot", "jiggle-on-toes", "chicken-wings"),
    ("jumping-jacks", "hips", "shake-arms"),
    ("light-hopping-loose", "light-hopping-stiff", "knees"),
    ("shake-shoulders", "one-leg-loose"),
)
"""What every split leaves out."""
SEQUENCES = ("jumping-jacks", "light-hopping-loose", "shake-hips")
"""Left out in turn in figure 7."""
KEPT = 48
EVERY = 4


def main() -> None:
    parser = argparse.ArgumentParser(description="neural flesh by five splits")
    parser.add_argument("stage", choices=["codes", "train", "judge"])
    parser.add_argument("takes", type=Path, nargs="?", help="packed movements with twins")
    parser.add_argument("--codes", type=Path, default=Path("dyna_codes.npz"))
    parser.add_argument("--seconds", type=float, default=240.0, help="for all of the training")
    parser.add_argument("--steps", type=int, default=1500, help="updates of the networks")
    parser.add_argument("--out", type=Path, default=Path("splits"))
    arguments = parser.parse_args()
    if arguments.stage == "codes":
        write_codes(arguments.takes, arguments.codes)
    elif arguments.stage == "train":
        arguments.out.mkdir(parents=True, exist_ok=True)
        train(arguments)
    else:
        from neural_splits_judged import judge

        judge(arguments.takes, arguments.out)


def write_codes(takes: Path, path: Path) -> None:
    """Samples of a set in some five megabytes."""
    from corporeal.pipelines.dynamics_bench import Bench
    from corporeal.pipelines.evaluate_neural import bench_samples

    bench = Bench.everything(takes, KEPT)
    samples = bench_samples(bench)
    genders = bench.people.genders or {}
    arrays: dict[str, Any] = {
        "subject": np.array([s.subject for s in samples]),
        "sequence": np.array([s.sequence for s in samples]),
        "length": np.array([len(s.pose) for s in samples]),
        "person": np.stack([s.person for s in samples]),
        "bmi": np.array([bench.people.indices[s.subject] for s in samples]),
        "gender": np.array([genders[s.subject] for s in samples]),
        "parity": bench.parity,
    }
    parts: dict[str, list[Any]] = {"movement": [], "dynamic": [], "pose": []}
    scales: dict[str, list[Any]] = {"movement": [], "dynamic": []}
    for sample in samples:
        for name, power in (("movement", 0.5), ("dynamic", 1.0)):
            rows = getattr(sample, name).astype(np.float64)
            scale = np.abs(rows).max(axis=0) + 1e-12
            whole = np.round(127 * np.sign(rows) * np.abs(rows / scale) ** power)
            parts[name].append(whole.astype(np.int8))
            scales[name].append(scale.astype(np.float32))
        slow = np.round(100 * sample.pose[::EVERY]).astype(np.int16)
        parts["pose"].append(np.diff(slow, axis=0, prepend=0 * slow[:1]))
    for name, rows in parts.items():
        whole = np.ascontiguousarray(np.concatenate(rows).T)
        packed = lzma.compress(whole.tobytes(), preset=6)
        arrays[name] = np.frombuffer(packed, np.uint8)
        arrays[f"{name}_columns"] = whole.shape[0]
    arrays |= {f"{name}_scale": np.stack(rows) for name, rows in scales.items()}
    np.savez(path, **arrays)
    print(f"{len(samples)} takes in {path.stat().st_size / 1e6:.2f} MB", flush=True)


def read_codes(path: Path) -> tuple[list[Any], Any, dict[str, float], dict[str, float]]:
    """Samples, the parity of coefficients, body mass and gender of everybody."""
    from corporeal.dynamics.neural.training.samples import Sample

    with np.load(path) as file:
        stored = {name: file[name] for name in file.files}
    lengths = stored["length"]
    rows = {}
    for name, kind in (("movement", np.int8), ("dynamic", np.int8), ("pose", np.int16)):
        flat = np.frombuffer(lzma.decompress(stored[name].tobytes()), kind)
        count = lengths if name != "pose" else -(-lengths // EVERY)
        whole = flat.reshape(int(stored[f"{name}_columns"]), -1).T
        rows[name] = np.split(whole, np.cumsum(count)[:-1])
    samples = []
    for n, length in enumerate(lengths):
        moved = rows["movement"][n].astype(np.float32) / 127
        moved = np.sign(moved) * moved**2 * stored["movement_scale"][n]
        shown = rows["dynamic"][n].astype(np.float32) / 127 * stored["dynamic_scale"][n]
        slow = np.cumsum(rows["pose"][n], axis=0) / 100
        at = np.minimum(np.arange(length) / EVERY, len(slow) - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, len(slow) - 1)
        pose = slow[low] + (at - low)[:, None] * (slow[high] - slow[low])
        samples.append(
            Sample(
                str(stored["subject"][n]), str(stored["sequence"][n]), 60.0, moved,
                pose.astype(np.float32), stored["person"][n], shown.astype(np.float32),
                np.zeros((int(length), 0), np.float32),
            )
        )  # fmt: skip
    named = [str(name) for name in stored["subject"]]
    indices = dict(zip(named, stored["bmi"].tolist(), strict=True))
    genders = dict(zip(named, stored["gender"].tolist(), strict=True))
    return samples, stored["parity"], indices, genders


def split_cases(
    names: list[tuple[str, str]], indices: dict[str, float], genders: dict[str, float]
) -> list[list[int]]:
    """The case of every take in every split."""
    from corporeal.evaluation.dynamics_cases import case_of_takes

    women, men = (
        sorted((p for p in indices if (genders[p] < 0.5) == female), key=indices.__getitem__)
        for female in (True, False)
    )
    return [
        case_of_takes(names, (women[k % len(women)], men[(k + 2) % len(men)]),
                      [m for m in motions if m in {motion for _, motion in names}])
        for k, motions in enumerate(MOTIONS)
    ]  # fmt: skip


def train(arguments: argparse.Namespace) -> None:
    """All networks, one group after the other; what is there already is left."""
    from corporeal.dynamics.neural.training.recurrent import RecurrentTraining, train_members

    begun = time.monotonic()
    samples, parity, indices, genders = read_codes(arguments.codes)
    every = [*samples, *mirrored(samples, parity)]
    names = [(s.subject, s.sequence) for s in samples]
    cases = np.array(split_cases(names, indices, genders))
    known = np.tile(cases == 0, (1, 2))
    everything = np.ones((4, len(every)), bool)
    whole = np.concatenate([np.repeat(known, 2, axis=0), everything])
    alone = left_out_sequences(names, indices)
    groups = [
        ("whole", whole, {}, False),
        ("figure7", alone, {"batch": 8, "person_noise": 0.0, "steps": 800}, False),
        ("poses", alone, {"batch": 8, "stretch": 0.0, "loudness": 0.0, "steps": 800}, True),
        ("decay", whole, {"weight_decay": 0.1}, False),
        ("long", whole, {"steps": 3 * arguments.steps}, False),
    ]
    took = 0.0
    for name, learned, changes, swapped in groups:
        path = arguments.out / f"{name}.npz"
        left = arguments.seconds - (time.monotonic() - begun)
        if path.is_file() or left < took * (3.2 if name == "long" else 1.1):
            continue
        first = time.monotonic()
        settings = RecurrentTraining(**({"steps": arguments.steps} | changes))
        takes = [posed(s) for s in every] if swapped else every
        found = train_members(
            takes, learned, np.zeros_like(learned), settings,
            lambda step, here, _: print(step, here, flush=True),
        )  # fmt: skip
        took = time.monotonic() - first
        save(path, found, took)
        print(f"{name}: {len(found)} networks in {took:.0f} s", flush=True)


def posed(sample: Any) -> Any:
    """What moves told by poses alone, as the static half of a network is."""
    from dataclasses import replace

    return replace(sample, dynamic=sample.static, static=sample.dynamic)


def save(path: Path, found: list[Any], seconds: float) -> None:
    """Weights of networks in half precision, and the people's mean and deviations."""
    arrays: dict[str, Any] = {
        f"{k}/{name}": np.asarray(value, np.float16)
        for k, one in enumerate(found)
        for name, value in one.parameters.items()
    }
    first = found[0]
    curve = [[step, *here.values()] for step, here, _ in first.curve]
    arrays |= {"person_mean": first.person_mean, "person_scale": first.person_scale,
               "curve": np.array(curve), "seconds": seconds, "count": len(found)}  # fmt: skip
    np.savez_compressed(path, **arrays)


def load(path: Path) -> list[Any]:
    """The networks of a file."""
    from corporeal.dynamics.neural.training.recurrent import TrainedNetwork

    with np.load(path) as file:
        stored = {name: file[name] for name in file.files}
    return [
        TrainedNetwork(
            {
                name.partition("/")[2]: np.asarray(value, np.float32)
                for name, value in stored.items()
                if name.startswith(f"{k}/")
            },
            stored["person_mean"], stored["person_scale"], [],
        )
        for k in range(int(stored["count"]))
    ]  # fmt: skip


def left_out_sequences(names: list[tuple[str, str]], indices: dict[str, float]) -> Any:
    """For three people, of low, middle and high body mass, and three sequences: the others."""
    order = sorted(indices, key=indices.__getitem__)
    people = [order[0], order[len(order) // 2], order[-1]]
    rows = [
        [s == person and q != sequence for s, q in names]
        for person in people
        for sequence in SEQUENCES
    ]
    return np.tile(np.array(rows), (1, 2))


def mirrored(samples: list[Any], parity: Any) -> list[Any]:
    """With left and right exchanged."""
    from dataclasses import replace

    from corporeal.assets.default_body import load_default_body
    from corporeal.dynamics.mirror import mirrored_movement, mirrored_posture

    names = load_default_body().template.skeleton.names
    movement, posture = mirrored_movement(names), mirrored_posture(names)
    return [
        replace(
            s, movement=movement.of(s.movement), pose=posture.of(s.pose),
            dynamic=(s.dynamic * parity).astype(np.float32),
        )
        for s in samples
    ]  # fmt: skip


if __name__ == "__main__":
    main()
