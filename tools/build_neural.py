"""Trains the neural soft tissue that ships, on the codes of a packed set, and packs it.

    python tools/build_neural.py dyna.packed.npz
    python tools/build_neural.py dyna.packed.npz --settings chosen.json

The set's own codes are offsets carried by dual quaternions; linear blending, which moves them
later, differs from that only where it shears the skin. People and motions that are left out in turn
say how much linear predictors and how much networks count. Writes `neural.npz.xz` and the manifest
that vouches for it.
"""

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from provenance import PACKAGE_DATA, packed_archive, write_asset

from corporeal.assets.learned_neural import packed_neural
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.dynamics.autoregression import Ridge
from corporeal.dynamics.neural.training.hybrid import HybridTraining
from corporeal.dynamics.training import DynamicsTraining
from corporeal.pipelines.dynamics_bench import Bench
from corporeal.pipelines.evaluate_neural import bench_samples, train_on


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("takes", type=Path, help="packed movements with twins (.packed.npz)")
    parser.add_argument("--count", type=int, default=60, help="dynamic coefficients")
    parser.add_argument("--steps", type=int, help="updates of the weights")
    parser.add_argument("--members", type=int, help="networks of which the mean is taken")
    parser.add_argument("--settings", type=Path, help="settings of networks (JSON)")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    settings, linear = HybridTraining(), None
    if arguments.settings is not None:
        given = json.loads(arguments.settings.read_text())
        if chosen := given.pop("linear", None):
            ridge = Ridge(2, chosen["ridge"])
            width = chosen["kernel_width"]
            linear = DynamicsTraining(count=arguments.count, ridge=ridge, kernel_width=width)
        settings = replace(settings, network=replace(settings.network, **given))
    if arguments.steps:
        settings = replace(settings, network=replace(settings.network, steps=arguments.steps))
    if arguments.members:
        settings = replace(settings, members=arguments.members)
    build(arguments.takes, arguments.count, settings, arguments.out, linear)


def build(
    takes: Path,
    count: int,
    settings: HybridTraining,
    out: Path,
    linear: DynamicsTraining | None = None,
) -> None:
    """Train on all takes, join both halves and write the asset."""
    bench = Bench.everything(takes, count)
    samples = bench_samples(bench)
    trained, told = train_on(
        bench, samples, settings, lambda words: print(words, flush=True), linear
    )
    network = trained.network
    model = NeuralFlesh(
        network.parameters, bench.shapes, bench.shapes[:0], network.person_mean,
        network.person_scale, trained.experts,
    )  # fmt: skip
    report: dict[str, Any] = {
        "takes": len(samples),
        "frames": sum(len(s.pose) for s in samples),
        "people": len(trained.subjects),
        "explained_by_basis": round(bench.explained, 4),
        "mean_linear_share": round(float(np.mean(trained.share)), 3),
        "not_explained_of_left_out": told.get("left_out", {}),
        "members": settings.members,
        "settings": asdict(settings.network),
        "linear": {key: told[key] for key in ("ridge", "kernel_width")},
    }
    write_asset(
        out, "neural", packed_archive(packed_neural(model)), method="neural",
        title="neural: a recurrent network for soft tissue", tool="build_neural.py",
        source=takes, facts={"training": report},
    )  # fmt: skip


if __name__ == "__main__":
    main()
