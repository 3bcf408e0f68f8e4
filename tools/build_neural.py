"""Trains the neural soft tissue that ships, on the codes of a packed set, and packs it.

    python tools/build_neural.py dyna.packed.npz

The set's own codes are offsets carried by dual quaternions; linear blending, which moves them
later, differs from that only where it shears the skin. A tenth of the takes, drawn, says when to
stop. Writes `neural.npz.xz` and the manifest that vouches for it.
"""

import argparse
import hashlib
import io
import json
import lzma
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_neural import packed_neural
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.body.registrations import Registrations
from corporeal.dynamics.neural.training.recurrent import RecurrentTraining, train_recurrent
from corporeal.dynamics.neural.training.samples import Sample, take_features
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.pipelines.packed_dataset import PackedRows, read_packed_dataset

PACKAGE_DATA = Path(__file__).parents[1] / "src/corporeal/assets/data"


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
    write_asset(arguments.out, packed_neural(model), arguments.takes, report)


def coded_samples(held: Registrations, count: int) -> tuple[list[Sample], np.ndarray, float]:
    """Every take with coefficients of the main directions of all dynamic offsets, about 0."""
    base = SmplSkinning(load_default_body().template)
    moving = [take for take in held.takes if take.twin is not None]
    parts = [dynamic_part(take.vertices) for take in moving]
    code = parts[0][0].code
    whole = parts[0][0].steps
    unit = np.eye(whole.shape[1], dtype=np.int32)
    none = code.decoded(np.zeros((1, whole.shape[1]), np.int32))
    rows = np.concatenate([code.decoded(unit) - none, none]).astype(np.float64)
    root = np.linalg.cholesky(rows @ rows.T + 1e-18 * np.eye(len(rows)))
    told = np.concatenate([whole, np.ones((len(whole), 1))], axis=1) @ root
    left, sizes, right = np.linalg.svd(told, full_matrices=False)
    basis = (right[:count] @ np.linalg.solve(root, rows)).reshape(count, -1, 3)
    numbers = (left[:, :count] * sizes[:count]).astype(np.float32)
    samples = []
    for take, (_, first) in zip(moving, parts, strict=True):
        movement, pose, person = take_features(take, held, base)
        own = numbers[first : first + take.frame_count]
        no_static = np.zeros((len(own), 0), np.float32)
        samples.append(
            Sample(take.subject, take.sequence, take.fps, movement, pose, person, own, no_static)
        )
    explained = float((sizes[:count] ** 2).sum() / (sizes**2).sum())
    return samples, basis.astype(np.float32), explained


def dynamic_part(rows: Any) -> tuple[Any, int]:
    """The code of what dynamics added to a take, and where the take begins in it."""
    assert isinstance(rows, PackedRows)
    return rows.parts[1]


def write_asset(
    folder: Path, arrays: dict[str, np.ndarray], source: Path, report: dict[str, Any]
) -> None:
    """Write the arrays as an xz-packed npz, and the manifest that vouches for it."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    data = lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    manifest = {
        "title": "corporeal neural: a recurrent network for soft tissue",
        "licence": "Apache-2.0, as the package",
        "origin": "trained on captures of the virtual 4D scanner; see docs/methods/neural.md",
        "built_by": "tools/build_neural.py",
        "training": report,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_sha256": {source.name: hashlib.sha256(source.read_bytes()).hexdigest()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "neural.npz.xz").write_bytes(data)
    (folder / "neural.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"wrote neural.npz.xz: {len(data) / 1e6:.2f} MB; {report}")


if __name__ == "__main__":
    main()
