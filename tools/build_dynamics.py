"""Builds the dynamics models that ship with the package, from trained ones.

    python tools/build_dynamics.py --blendscape blendscape.npz --dyna dyna.npz --dmpl dmpl.npz

Keeps as many components as fit into 8 MB (`--most`), as whole steps of 16 bits (DMPL) or 8 bits
(triangle deformations), and says what share of the variance of a frame that leaves. Writes
`dmpl.npz.xz`, `dyna.npz.xz`, `blendscape.npz.xz` and the manifests that vouch for them.
"""

import argparse
import hashlib
import io
import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.assets.learned_dynamics import packed_steps, predictor_arrays
from corporeal.body.dynamics import Predictors
from corporeal.formats.blendscape import read_blendscape, triangle_arrays
from corporeal.formats.dmpl import read_dmpl
from corporeal.formats.dyna import read_dyna
from corporeal.runtime.manifest import manifest_path

PACKAGE_DATA = Path(__file__).parents[1] / "src/corporeal/assets/data"
MOST = 8_000_000
"""Bytes of an asset."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dmpl", type=Path, help="trained DMPL (.npz)")
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
) -> None:
    """Write as many components as fit."""
    count = len(rows)
    while True:
        whole, steps = packed_steps(rows[:count], bits)
        arrays = {
            key: whole,
            f"{key}_step": steps,
            "mean": np.asarray(mean, np.float32),
            **predictor_arrays(first(predictors, count)),
        }
        data = packed(arrays)
        if len(data) <= arguments.most or count <= 1:
            break
        count = max(1, min(count - 1, int(count * 0.98 * arguments.most / len(data))))
    report: dict[str, Any] = {"components": count, "of": len(rows)}
    deviations = trained_by(source).get("deviations")
    if deviations:
        square = np.square(deviations)
        share = float(square[:count].sum() / square.sum()) * trained_by(source)["explained"]
        report["variance_explained"] = round(share, 4)
    write(arguments.out, name, data, source, report)


def build_blendscape(source: Path, out: Path) -> None:
    """Write pose deformations and shapes; weights as they are."""
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
    write(out, "blendscape", packed(arrays), source, {"shapes": model.shape_count})


def first(predictors: Predictors, count: int) -> Predictors:
    """Those of the first coefficients."""
    return replace(
        predictors,
        inputs=predictors.inputs[:, :count],
        history=predictors.history[:, :, :count],
        constants=predictors.constants[:, :count],
    )


def packed(arrays: dict[str, np.ndarray]) -> bytes:
    """An xz-packed npz."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return lzma.compress(file.getvalue(), preset=6)


def trained_by(source: Path) -> dict[str, Any]:
    """The report of a training, where its manifest lies beside the model."""
    path = manifest_path(source)
    return json.loads(path.read_text()).get("report", {}) if path.is_file() else {}


def write(folder: Path, name: str, data: bytes, source: Path, report: dict[str, Any]) -> None:
    """The archive, and the manifest that vouches for it."""
    training: dict[str, Any] = {}
    if manifest_path(source).is_file():
        content = json.loads(manifest_path(source).read_text())
        config = {
            key: Path(value).name if isinstance(value, str) and "/" in value else value
            for key, value in content["config"].items()
        }
        training = {"verb": content["verb"], "config": config}
    manifest = {
        "title": f"corporeal {name}: learned dynamics, reduced",
        "licence": "Apache-2.0, as the package",
        "origin": "trained on captures of the virtual 4D scanner; see docs/methods/dynamics.md",
        "built_by": "tools/build_dynamics.py",
        "trained_by": training,
        "reduction": report,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_sha256": {source.name: hashlib.sha256(source.read_bytes()).hexdigest()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.npz.xz").write_bytes(data)
    (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"wrote {name}.npz.xz: {len(data) / 1e6:.2f} MB; {report}")


if __name__ == "__main__":
    main()
