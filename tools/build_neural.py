"""Trains the neural soft tissue that ships, on the codes of a packed set, and packs it.

    python tools/build_neural.py dyna.packed.npz

The set's own codes are offsets carried by dual quaternions; linear blending, which moves them
later, differs from that only where it shears the skin. A tenth of the takes, drawn, says when to
stop. Writes `neural.npz.xz` and the manifest that vouches for it.
"""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from provenance import PACKAGE_DATA, packed_archive, write_asset

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_neural import packed_neural
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.body.registrations import Registrations
from corporeal.dynamics.neural.training.recurrent import RecurrentTraining, train_recurrent
from corporeal.dynamics.neural.training.samples import Sample, take_features
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.pipelines.packed_dataset import read_packed_dataset
from corporeal.pipelines.packed_offsets import packed_offsets, principal_directions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("takes", type=Path, help="packed movements with twins (.packed.npz)")
    parser.add_argument("--count", type=int, default=40, help="dynamic coefficients")
    parser.add_argument("--steps", type=int, default=1500, help="updates of the weights")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    held = read_packed_dataset(arguments.takes)
    samples, basis, explained = coded_samples(held, arguments.count)
    order = np.random.default_rng(0).permutation(len(samples))
    stop = set(order[: len(samples) // 10].tolist())
    settings = RecurrentTraining(
        steps=arguments.steps, width=96, oscillators=64, hidden=96, batch=12, weight_decay=3e-2
    )
    trained = train_recurrent(
        [s for n, s in enumerate(samples) if n not in stop],
        [s for n, s in enumerate(samples) if n in stop],
        settings,
        lambda step, here, there: print(step, here["dynamic"], there["dynamic"], flush=True),
    )
    model = NeuralFlesh(
        trained.parameters, basis, basis[:0], trained.person_mean, trained.person_scale
    )
    report: dict[str, Any] = {
        "takes": len(samples),
        "frames": sum(len(s.pose) for s in samples),
        "people": len({s.subject for s in samples}),
        "held_out_takes": len(stop),
        "explained_by_basis": round(explained, 4),
        "not_explained_of_held_out": round(min(row[2]["dynamic"] for row in trained.curve), 3),
        "settings": asdict(settings),
    }
    write_asset(
        arguments.out, "neural", packed_archive(packed_neural(model)), method="neural",
        title="neural: a recurrent network for soft tissue", tool="build_neural.py",
        source=arguments.takes, facts={"training": report},
    )  # fmt: skip


def coded_samples(held: Registrations, count: int) -> tuple[list[Sample], np.ndarray, float]:
    """Every take with coefficients of the main directions of all dynamic offsets, about 0."""
    base = SmplSkinning(load_default_body().template)
    offsets = packed_offsets(held)
    basis, explained = principal_directions(offsets.coordinates, count)
    samples = []
    for take, coordinates in zip(offsets.takes, offsets.coordinates, strict=True):
        movement, pose, person = take_features(take, held, base)
        own = (coordinates @ basis).astype(np.float32)
        no_static = np.zeros((len(own), 0), np.float32)
        samples.append(
            Sample(take.subject, take.sequence, take.fps, movement, pose, person, own, no_static)
        )
    return samples, offsets.directions(basis), explained


if __name__ == "__main__":
    main()
