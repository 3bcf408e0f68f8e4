"""Make the neural soft tissue that ships, from a trained file: rounded, packed, with its record.

    python tools/build_neural.py neural.npz --takes dyna.zarr
"""

import argparse
import json
from pathlib import Path

import numpy as np
from provenance import write_asset

from corporeal.assets.learned_neural import packed_neural, read_learned_neural
from corporeal.formats.neural import read_neural
from corporeal.runtime.manifest import manifest_path, read_manifest


def main() -> None:
    """Pack the asset and say what rounding does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="file of `corporeal train neural`")
    parser.add_argument("--out", type=Path, default=Path("src/corporeal/assets/data"))
    options = parser.parse_args()
    trained = read_neural(options.model)
    manifest = read_manifest(manifest_path(options.model))
    write_asset(options.out, "neural", packed_neural(trained), {"training": manifest})
    again = read_learned_neural(options.out)
    for name in ("dynamic_basis", "static_basis"):
        exact, rounded = getattr(trained, name), getattr(again, name)
        print(f"{name}: rounded by {np.abs(exact - rounded).max() / np.abs(exact).max():.1e}")
    size = (options.out / "neural.npz.xz").stat().st_size
    print(json.dumps({"bytes": size}))


if __name__ == "__main__":
    main()
