"""Builds the dynamics models that ship with the package, from trained ones.

    python tools/build_dynamics.py --blendscape blendscape.npz --dyna dyna.npz --dmpl dmpl.npz
    python tools/build_dynamics.py --takes dyna.packed.npz --count 60       a DMPL, trained as well

Keeps as many components as fit into 8 MB (`--most`), as whole steps of 16 bits (DMPL) or 8 bits
(triangle deformations), and says what share of the variance of a frame that leaves. Writes
`dmpl.npz.xz`, `dyna.npz.xz`, `blendscape.npz.xz` and the manifests that vouch for them.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from provenance import PACKAGE_DATA, packed_archive, trained_by, write_asset

from corporeal.assets.learned_dynamics import packed_steps, predictor_arrays
from corporeal.body.dynamics import DynamicBlendShapes, Predictors
from corporeal.dynamics.control_vector import driving_names
from corporeal.dynamics.training import DynamicsTraining, learn_predictors
from corporeal.evaluation.dynamics_cases import chosen_settings
from corporeal.formats.blendscape import read_blendscape, triangle_arrays
from corporeal.formats.dmpl import read_dmpl
from corporeal.formats.dyna import read_dyna
from corporeal.pipelines.dynamics_bench import Bench
from corporeal.pipelines.evaluate_dynamics import coded, with_mirrored
from corporeal.runtime.manifest import manifest_path

MOST = 8_000_000
"""Bytes of an asset."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dmpl", type=Path, help="trained DMPL (.npz)")
    parser.add_argument("--takes", type=Path, help="packed movements to train a DMPL on")
    parser.add_argument("--count", type=int, default=60, help="coefficients of that DMPL")
    parser.add_argument("--dyna", type=Path, help="trained Dyna (.npz)")
    parser.add_argument("--blendscape", type=Path, help="trained BlendSCAPE (.npz)")
    parser.add_argument("--most", type=int, default=MOST, help="bytes of an asset at most")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    if arguments.blendscape is not None:
        build_blendscape(arguments.blendscape, arguments.out)
    if arguments.dmpl is not None:
        model = read_dmpl(arguments.dmpl)
        assert model.predictors is not None
        shapes = np.asarray(model.shapes)
        build(arguments.dmpl, "dmpl", "shapes", 16, shapes, model.mean, model.predictors, arguments)
    if arguments.takes is not None:
        model, told = trained_on(arguments.takes, arguments.count)
        assert model.predictors is not None
        build(arguments.takes, "dmpl", "shapes", 16, np.asarray(model.shapes), model.mean,
              model.predictors, arguments, told)  # fmt: skip
    if arguments.dyna is not None:
        dynamic = read_dyna(arguments.dyna).dynamic
        rows, mean = np.asarray(dynamic.deformations), np.asarray(dynamic.mean)
        build(arguments.dyna, "dyna", "deformations", 8, rows, mean, dynamic.predictors, arguments)


def build(
    source: Path,
    name: str,
    key: str,
    bits: int,
    rows: np.ndarray,
    mean: np.ndarray,
    predictors: Predictors,
    arguments: argparse.Namespace,
    told: dict[str, Any] | None = None,
) -> None:
    """Write as many components as fit; `told` is the report of the training, else looked for."""
    count = len(rows)
    while True:
        whole, steps = packed_steps(rows[:count], bits)
        arrays = {
            key: whole,
            f"{key}_step": steps,
            "mean": np.asarray(mean, np.float32),
            **predictor_arrays(first(predictors, count)),
        }
        data = packed_archive(arrays, 6)
        if len(data) <= arguments.most or count <= 1:
            break
        count = max(1, min(count - 1, int(count * 0.98 * arguments.most / len(data))))
    report: dict[str, Any] = {"components": count, "of": len(rows)}
    told = training_report(source) if told is None else told
    if told.get("deviations"):
        square = np.square(told["deviations"])
        share = float(square[:count].sum() / square.sum()) * told["explained"]
        report["variance_explained"] = round(share, 4)
    kept = ("from", "takes", "people", "ridge", "kernel_width", "amplitude")
    report |= {key: told[key] for key in kept if key in told}
    write(arguments.out, name, data, source, report)


def build_blendscape(source: Path, out: Path, told: dict[str, Any] | None = None) -> None:
    """Write pose deformations and shapes; weights as they are. `told` is what was measured."""
    model = read_blendscape(source)
    arrays = triangle_arrays(model)
    by_joint = np.ascontiguousarray(
        np.moveaxis(np.asarray(model.pose_deformations).reshape(-1, 6, 9), 0, 1)
    )
    for key, rows in (
        ("pose_deformations", by_joint),
        ("shape_deformations", np.asarray(model.shape_deformations)),
    ):
        whole, steps = packed_steps(rows, 8 if key == "shape_deformations" else 16)
        arrays |= {key: whole, f"{key}_step": steps}
    arrays["weights"] = arrays["weights"].astype(np.float32)
    arrays["template_vertices"] = arrays["template_vertices"].astype(np.float32)
    arrays["pin"] = arrays["pin"].astype(np.float32)
    arrays["mean_shape"] = arrays["mean_shape"].astype(np.float16)
    arrays["joint_indices"] = arrays["joint_indices"].astype(np.uint8)
    arrays["pose_joints"] = arrays["pose_joints"].astype(np.uint8)
    write(out, "blendscape", packed_archive(arrays, 6), source,
          {"shapes": model.shape_count, **(told or {})})  # fmt: skip


def write(folder: Path, name: str, data: bytes, source: Path, report: dict[str, Any]) -> None:
    """The archive with its manifest."""
    write_asset(
        folder, name, data, title=f"{name}: learned dynamics, reduced", method="dynamics",
        tool="build_dynamics.py", source=source,
        facts={"trained_by": trained_by(source), "reduction": report},
    )  # fmt: skip


def first(predictors: Predictors, count: int) -> Predictors:
    """Those of the first coefficients."""
    return replace(
        predictors,
        inputs=predictors.inputs[:, :count],
        history=predictors.history[:, :, :count],
        constants=predictors.constants[:, :count],
    )


def trained_on(takes: Path, count: int) -> tuple[DynamicBlendShapes, dict[str, Any]]:
    """A DMPL of all takes of a packed set and their mirror images, without unpacking them: offsets
    carried by dual quaternions, which linear blending, that moves them later, differs from where it
    shears. Ridge and kernel width are those that predict people best who are left out."""
    bench = Bench.everything(takes, count)
    settings = DynamicsTraining(count=count)
    training = with_mirrored(bench, coded(bench, settings), settings)
    names = driving_names(bench.static.template.skeleton, settings.controls)
    best, tried = chosen_settings(training, names, bench.people, settings)
    people = bench.people
    predictors = learn_predictors(training, names, people.indices, best, people.genders)
    deviations = np.std(np.concatenate([take.deltas for take in training]), axis=0)
    report = {
        "takes": len(bench.takes),
        "people": len(people.indices),
        "explained": bench.explained,
        "deviations": [float(value) for value in deviations],
        "amplitude": predictors.amplitude,
        "ridge": best.ridge.strength,
        "kernel_width": best.kernel_width,
        "left_out_people": tried,
    }
    still = np.zeros(bench.shapes.shape[1:], np.float32)
    return DynamicBlendShapes(bench.shapes, still, predictors), report


def training_report(source: Path) -> dict[str, Any]:
    """The report of a training, where its manifest lies beside the model."""
    path = manifest_path(source)
    return json.loads(path.read_text()).get("report", {}) if path.is_file() else {}


if __name__ == "__main__":
    main()
