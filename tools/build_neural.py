"""Trains the neural soft tissue that ships, on the codes of a packed set, and packs it.

    python tools/build_neural.py dyna.packed.npz
    python tools/build_neural.py dyna.packed.npz --settings chosen.json
    python tools/build_neural.py dyna.packed.npz --networks whole.npz --share share.npy

The set's own codes are offsets carried by dual quaternions; linear blending, which moves them
later, differs from that only where it shears the skin. People and motions that are left out in turn
say how much linear predictors and how much networks count. Networks that were trained before, on
another machine (`benchmarks/neural_splits.py train`: the last four of the file), are joined with
linear predictors of all takes by a share that is given. Writes `neural.npz.xz` and the manifest
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
from corporeal.dynamics.control_vector import driving_names
from corporeal.dynamics.neural.training.hybrid import (
    Build,
    HybridTraining,
    TrainedHybrid,
    coded_samples,
    joined,
    linear_predictors,
)
from corporeal.dynamics.neural.training.load_predictors import Loads
from corporeal.dynamics.neural.training.recurrent import TrainedNetwork
from corporeal.dynamics.skin_loads import skin_loads
from corporeal.dynamics.training import DynamicsTraining
from corporeal.evaluation.dynamics_cases import chosen_settings
from corporeal.pipelines.dynamics_bench import Bench
from corporeal.pipelines.evaluate_neural import bench_samples, mirrored_samples, train_on


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("takes", type=Path, help="packed movements with twins (.packed.npz)")
    parser.add_argument("--count", type=int, default=60, help="dynamic coefficients")
    parser.add_argument("--steps", type=int, help="updates of the weights")
    parser.add_argument("--members", type=int, help="networks of which the mean is taken")
    parser.add_argument("--settings", type=Path, help="settings of networks (JSON)")
    parser.add_argument("--networks", type=Path, help="trained networks (.npz)")
    parser.add_argument("--share", type=Path, help="the linear half's part by coefficient (.npy)")
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
    if arguments.networks is not None:
        join(arguments.takes, arguments.networks, np.load(arguments.share), arguments.out, linear)
        return
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
    report: dict[str, Any] = {
        "not_explained_of_left_out": told.get("left_out", {}),
        "members": settings.members,
        "settings": asdict(settings.network),
        "linear": {key: told[key] for key in ("ridge", "kernel_width")},
    }
    write(takes, out, bench, trained, report)


def join(
    takes: Path,
    networks: Path,
    share: np.ndarray,
    out: Path,
    linear: DynamicsTraining | None = None,
) -> None:
    """Linear predictors of all takes, and networks of the same takes that were trained before."""
    bench = Bench.everything(takes, len(share))
    samples = bench_samples(bench)
    every = [*samples, *mirrored_samples(bench, samples)]
    names = driving_names(bench.static.template.skeleton, "bones")
    if linear is None:
        usual = DynamicsTraining(count=len(share), ridge=Ridge(2))
        linear, _ = chosen_settings(coded_samples(every), names, bench.people, usual)
    loads = Loads(skin_loads(bench.static.template, bench.shapes, bench.bodies))
    build = Build(bench.people.indices, bench.people.genders, loads)
    settings = HybridTraining(linear=linear)
    found = linear_predictors(every, build, names, settings)
    members = [padded(one, len(share)) for one in read_networks(networks)[-settings.members :]]
    trained = joined(members, found, every, share, {})
    told = {"ridge": linear.ridge.strength, "kernel_width": linear.kernel_width}
    write(takes, out, bench, trained, {"members": len(members), "linear": told})


def read_networks(path: Path) -> list[TrainedNetwork]:
    """The networks of a file."""
    with np.load(path) as file:
        stored = {name: file[name] for name in file.files}
    made = []
    for k in range(int(stored["count"])):
        rows = {
            name.partition("/")[2]: np.asarray(value, np.float32)
            for name, value in stored.items()
            if name.startswith(f"{k}/")
        }
        made.append(TrainedNetwork(rows, stored["person_mean"], stored["person_scale"], []))
    return made


def padded(network: TrainedNetwork, count: int) -> TrainedNetwork:
    """With coefficients that it does not predict."""
    rows = dict(network.parameters)
    for name in ("dynamic_out", "read_out"):
        rows[name] = np.pad(rows[name], ((0, 0), (0, count - rows[name].shape[1])))
    return replace(network, parameters=rows)


def write(
    takes: Path, out: Path, bench: Bench, trained: TrainedHybrid, facts: dict[str, Any]
) -> None:
    """The asset and its manifest."""
    network = trained.network
    model = NeuralFlesh(
        network.parameters, bench.shapes, bench.shapes[:0], network.person_mean,
        network.person_scale, trained.experts,
    )  # fmt: skip
    report: dict[str, Any] = {
        "takes": len(bench.takes),
        "frames": sum(take.frame_count for take in bench.takes),
        "people": len(set(trained.subjects)),
        "explained_by_basis": round(bench.explained, 4),
        "mean_linear_share": round(float(np.mean(trained.share)), 3),
        **facts,
    }
    write_asset(
        out, "neural", packed_archive(packed_neural(model)), method="neural",
        title="neural: a recurrent network for soft tissue", tool="build_neural.py",
        source=takes, facts={"training": report},
    )  # fmt: skip


if __name__ == "__main__":
    main()
