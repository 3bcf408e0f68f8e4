"""Builds the proportion targets from the default body: head, shoulders, palm, foot, hips, heights.

    python tools/build_proportions.py

Uses nothing but the CC0 default body that ships with the package and geometry, so the result is
CC0 as well. Writes `proportions.npz.xz` and its manifest `proportions.json` into the package.
"""

import argparse
from pathlib import Path

import numpy as np
from build_adiposity import PACKAGE_DATA, write_asset
from proportion_fields import proportion_fields

from corporeal.assets.default_body import read_default_body
from corporeal.assets.proportions import METRES_PER_STEP


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    names, fields = proportion_fields(read_default_body())
    steps = np.round(fields.vertices / METRES_PER_STEP).astype(np.int16)
    arrays = {
        "names": np.array([f"proportion/{name}" for name in names]),
        "vertex_steps": np.ascontiguousarray(steps.transpose(0, 2, 1)),
        "joint_offsets": fields.joints.astype(np.float32),
    }
    origin = "smooth fields over the default body; see docs/methods/proportions.md"
    write_asset(parser.parse_args().out, "proportions", arrays, origin)


if __name__ == "__main__":
    main()
