"""Joins the network and the DMPL that were trained on the same takes into the network that ships.

    python tools/join_neural.py network.npz

Their components are the same, so the mean of both predictions is one network whose linear
predictors are the DMPL's (`dynamics.neural.experts`), in equal parts; components that the network
does not have are the DMPL's alone. `network.npz` is the network by itself (`corporeal train
neural`), the DMPL the one that ships.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from provenance import PACKAGE_DATA, packed_archive, write_asset

from corporeal.assets.learned_dynamics import learned_dmpl
from corporeal.assets.learned_neural import packed_neural
from corporeal.body.dynamics import DynamicBlendShapes
from corporeal.body.neural_flesh import Experts, NeuralFlesh
from corporeal.dynamics.neural.ensemble import joined_members
from corporeal.dynamics.neural.experts import TISSUE, expert_parameters
from corporeal.dynamics.neural.features import UNITS
from corporeal.errors import InputError
from corporeal.formats.neural import read_neural

SHARE = 0.5
"""The linear predictors' part where both predict."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", type=Path, help="a network without linear predictors (.npz)")
    parser.add_argument("--trained", default="", help="how it was trained, in words")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    dmpl = learned_dmpl()
    model = joined(read_neural(arguments.network), dmpl)
    facts: dict[str, Any] = {
        "coefficients": len(model.dynamic_basis),
        "of_the_network": int(np.sum(model.parameters["expert_share"] < 1)),
        "linear_share": SHARE,
        "people": len(np.asarray(dmpl.predictors.body_mass_indices)) if dmpl.predictors else 0,
        "network": arguments.trained,
    }
    write_asset(
        arguments.out, "neural", packed_archive(packed_neural(model)), method="neural",
        title="neural: a recurrent network for soft tissue", tool="join_neural.py",
        source=arguments.network, facts={"training": facts},
    )  # fmt: skip


def joined(network: NeuralFlesh, dmpl: DynamicBlendShapes) -> NeuralFlesh:
    """Half of each, over the DMPL's components."""
    if network.experts is not None or dmpl.predictors is None or len(network.static_basis):
        raise InputError(
            "a network with linear predictors or a part for poses came, or a DMPL without "
            "predictors; expected a plain network and a DMPL of the same takes."
        )
    shapes = np.asarray(dmpl.shapes, np.float32)
    count, own = len(shapes), len(network.dynamic_basis)
    rows = shapes.reshape(count, -1)[:own]
    other = np.asarray(network.dynamic_basis).reshape(own, -1)
    alike = np.sum(rows * other, axis=1) / np.linalg.norm(rows, axis=1)
    if count < own or alike.min() < 0.99:
        raise InputError(
            f"components of the network and of the DMPL differ (products down to {alike.min():.3f})"
            f"; expected models of the same takes."
        )
    parameters = dict(network.parameters)
    for name in ("dynamic_out", "read_out"):
        parameters[name] = np.pad(parameters[name], ((0, 0), (0, count - own)))
    share = np.where(np.arange(count) < own, SHARE, 1.0)
    driven = in_movement(dmpl)
    scale = np.asarray(network.person_scale)[list(TISSUE)]
    people = np.asarray(driven.predictors.body_mass_indices, np.float64)
    made = joined_members([parameters], 1.0 - share) | expert_parameters(
        driven.predictors, np.zeros((len(people), 2)), scale, share
    )
    genders = driven.predictors.genders
    experts = Experts(
        people, None if genders is None else np.asarray(genders, np.float64),
        driven.predictors.kernel_width, driven.predictors.amplitude,
    )  # fmt: skip
    return NeuralFlesh(made, shapes, shapes[:0], network.person_mean, network.person_scale, experts)


def in_movement(dmpl: DynamicBlendShapes) -> Any:
    """The DMPL with predictors driven by what the network feels: bone by bone, in usual sizes."""
    predictors = dmpl.predictors
    assert predictors is not None
    bones = len(predictors.joint_names)
    order = np.arange(6 * bones).reshape(2, bones, 3).swapaxes(0, 1).ravel()
    units = np.tile(np.repeat(UNITS, 3), bones)
    inputs = np.asarray(predictors.inputs)[:, :, order] * units
    limits = np.asarray(predictors.limits)[order] / units
    return replace(dmpl, predictors=replace(predictors, inputs=inputs, limits=limits))


if __name__ == "__main__":
    main()
