"""Builds the corrective enveloping that ships with the package, from a trained one.

    corporeal train enveloping --scans multipose.packed.npz --out enveloping.npz
    python tools/build_enveloping.py --model enveloping.npz

Dress shapes and offsets become whole steps, skin weights whole shares. Measures how far the average
person and one of each latent coordinate are from the model's in random poses. Writes
`enveloping.npz.xz` and the manifest that vouches for it, with the command that made the model, into
the package.
"""

import argparse
import hashlib
import io
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.assets.default_body import WEIGHT_STEPS, load_default_body
from corporeal.assets.learned_enveloping import METRES_PER_STEP, model_from_arrays
from corporeal.body.enveloping import EnvelopingModel
from corporeal.body.pose import Pose
from corporeal.formats.enveloping import enveloping_arrays, read_enveloping
from corporeal.models.enveloping.model import EnvelopingSkinning
from corporeal.runtime.manifest import manifest_path

PACKAGE_DATA = Path(__file__).parents[1] / "src/corporeal/assets/data"
TESTED = 12
"""Poses on which rounding is measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="trained model (.npz)")
    parser.add_argument("--made-by", default="", help="command that made it, if it has no manifest")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    given = parser.parse_args()
    model = read_enveloping(given.model)
    arrays = packed(model)
    write_asset(given.out, arrays, given.model, given.made_by, distances(model, arrays))


def packed(model: EnvelopingModel) -> dict[str, np.ndarray]:
    """All arrays as they ship; components one after another, which packs best."""
    plain = enveloping_arrays(model)
    whole = np.floor(plain["weights"] * WEIGHT_STEPS).astype(np.int64)
    whole[:, 0] += WEIGHT_STEPS - whole.sum(axis=1)
    parts = [
        steps(np.moveaxis(np.asarray(d.offsets, np.float64), 3, 2)).reshape(-1)
        for d in model.corrections
    ]
    names = (
        "joint_names", "parents", "helper_joints", "helper_shares", "layout_joints", "bones",
        "softness", "latents", "statures", "masses", "driver_joints", "driver_kinds", "driver_keys",
        "driver_vertices", "offset_rows", "keys",
    )  # fmt: skip
    return {
        **{name: plain[name] for name in names},
        "regions": plain["regions"].astype(np.uint16),
        "skin_indices": plain["joint_indices"].astype(np.uint8),
        "skin_weights": whole.astype(np.uint16),
        "dress_steps": steps(np.moveaxis(np.asarray(model.dress, np.float64), 2, 1)),
        "offset_steps": np.concatenate(parts),
    }


def steps(values: np.ndarray) -> np.ndarray:
    """Metres as whole steps, in 16 bits where they fit."""
    whole = np.round(values / METRES_PER_STEP)
    fits = np.abs(whole).max(initial=0) <= np.iinfo(np.int16).max
    return whole.astype(np.int16 if fits else np.int32)


def distances(model: EnvelopingModel, arrays: dict[str, np.ndarray]) -> dict[str, float]:
    """How far people of what ships are from the model's, millimetres."""
    template = load_default_body().smpl_view()
    exact, kept = (EnvelopingSkinning(template, m) for m in (model, model_from_arrays(arrays)))
    turns = np.random.default_rng(0).normal(0, 0.3, (TESTED, template.skeleton.joint_count, 3))
    pose = Pose(turns.astype(np.float32), np.zeros((TESTED, 3), np.float32))
    apart = []
    for x in (np.zeros(1), *2 * np.eye(model.latent_count)[:3]):
        off = exact.vertices(exact.prepare(x), pose) - kept.vertices(kept.prepare(x), pose)
        apart.append(1e3 * np.linalg.norm(off, axis=-1))
    return {
        "mean_mm": round(float(np.mean(apart)), 4),
        "p99_mm": round(float(np.percentile(apart, 99)), 4),
        "max_mm": round(float(np.max(apart)), 4),
    }


def write_asset(
    folder: Path, arrays: dict[str, np.ndarray], source: Path, made_by: str, off: dict[str, float]
) -> None:
    """Write the arrays as an xz-packed npz, and the manifest that vouches for it."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    data = lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    path = folder / "enveloping.npz.xz"
    path.write_bytes(data)
    beside = manifest_path(source)
    training: dict[str, Any] = {"command": made_by}
    if beside.is_file():
        content = json.loads(beside.read_text())
        named = {name: _file_name(value) for name, value in content["config"].items()}
        training = {"verb": content["verb"], "config": named}
    manifest = {
        "title": "corporeal enveloping: a trained corrective enveloping",
        "licence": "Apache-2.0, as the package",
        "origin": "trained on captures of the virtual 4D scanner; see docs/methods/enveloping.md",
        "built_by": "tools/build_enveloping.py",
        "trained_by": training,
        "rounding": off,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_sha256": {source.name: hashlib.sha256(source.read_bytes()).hexdigest()},
    }
    (folder / "enveloping.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"wrote {path.name}: {len(data) / 1e6:.2f} MB; {off}")


def _file_name(value: Any) -> Any:
    """A path without its folder: where files lay is nobody's concern."""
    if isinstance(value, list):
        return [_file_name(one) for one in value]
    return Path(value).name if isinstance(value, str) and "/" in value else value


if __name__ == "__main__":
    main()
