"""Builds the adiposity targets from the default body: fat by region, for bodies up to BMI 48.

    python tools/build_adiposity.py

Uses nothing but the CC0 default body that ships with the package and geometry, so the result is
CC0 as well. Writes `adiposity.npz.xz` and its manifest `adiposity.json` into the package.
"""

import argparse
import hashlib
import io
import json
import lzma
from pathlib import Path

import numpy as np
from adiposity_contacts import keep_apart, trial_bodies
from adiposity_fields import REGIONS, Anatomy, Fields, adiposity_fields

from corporeal.assets.adiposity import METRES_PER_STEP
from corporeal.assets.default_body import read_default_body

PACKAGE_DATA = Path(__file__).parents[1] / "src/corporeal/assets/data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    origin = (
        "the default body's stoutness targets, smoothed, split by region and held clear of "
        "contacts; see docs/methods/adiposity.md"
    )
    write_asset(arguments.out, "adiposity", asset_arrays(contact_free_fields()), origin)


def contact_free_fields() -> Fields:
    """The fields of all regions, held clear of the middle plane on every trial body."""
    body = read_default_body()
    return keep_apart(adiposity_fields(body), Anatomy(body), trial_bodies(body))


def asset_arrays(fields: Fields) -> dict[str, np.ndarray]:
    """Skin offsets as whole steps, component by component, which packs best."""
    steps = np.round(fields.vertices / METRES_PER_STEP)
    if np.abs(steps).max() > np.iinfo(np.int16).max:
        raise ValueError(f"an offset of {np.abs(fields.vertices).max():.3f} m does not fit 16 bits")
    return {
        "names": np.array([f"adiposity/adiposity-{region}" for region in REGIONS]),
        "vertex_steps": np.ascontiguousarray(steps.astype(np.int16).transpose(0, 2, 1)),
        "joint_offsets": fields.joints.astype(np.float32),
    }


def write_asset(folder: Path, name: str, arrays: dict[str, np.ndarray], origin: str) -> None:
    """Write the arrays as an xz-packed npz, and the manifest that vouches for it."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    data = lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    source = json.loads((PACKAGE_DATA / "default_body.json").read_text())
    manifest = {
        "title": f"corporeal {name} targets",
        "licence": "CC0-1.0, see LICENSE-CC0.md",
        "origin": origin,
        "built_by": f"tools/build_{name}.py",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_sha256": {"default_body.npz.xz": source["sha256"]},
    }
    (folder / f"{name}.npz.xz").write_bytes(data)
    (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"wrote {folder / f'{name}.npz.xz'}: {len(data) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
