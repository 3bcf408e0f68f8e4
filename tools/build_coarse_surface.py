"""Builds the coarse surface on which the default body's flesh is simulated.

    python tools/build_coarse_surface.py

The decimation of `corporeal.physics.volumetric_mesh.simulation_mesh` with its own settings, and the
vertices that are crowded in poses at the ends of the joints' range. To be run again when the body,
the decimation or the statics of flesh change (`tests/test_simulation_mesh.py` tells). Writes
`coarse_surface.npz.xz` and its manifest `coarse_surface.json` into the package.
"""

import argparse
from pathlib import Path

import numpy as np
from build_adiposity import PACKAGE_DATA, write_asset

from corporeal.assets.default_body import load_default_body
from corporeal.physics.fast_projective_skinning.extreme_shapes import template_extremes
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.volumetric_mesh import simulation_mesh
from corporeal.physics.volumetric_mesh.simulation_mesh import (
    DEFAULT_VERTEX_COUNT,
    decimated_template,
    targets_of,
)


def main() -> None:
    parser = argparse.ArgumentParser(description="The default body's coarse surface.")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    given = parser.parse_args()
    simulation_mesh.coarse_surface_of = lambda template: None  # nothing ships yet
    template = load_default_body().template
    targets = targets_of(template, DEFAULT_VERTEX_COUNT)
    coarse = decimated_template(template, targets)
    assert coarse.mirror is not None
    kept = np.zeros(template.mesh.vertex_count, bool)
    kept[coarse.vertex_indices] = True
    extremes = template_extremes(template, Preparations(template), "sculpted")
    crowded = extremes.crowded(np.tile(np.arange(coarse.vertex_count), 2))
    assert crowded is not None
    arrays = {
        "full_count": np.array(template.mesh.vertex_count),
        "targets": targets.astype(np.int32),
        "kept": np.packbits(kept),
        "triangles": coarse.triangles.astype(np.uint16),
        "mirror": coarse.mirror.astype(np.uint16),
        "crowded": np.packbits(crowded),
    }
    origin = "the default body, decimated by simulation_mesh; see docs/methods/volumetric-model.md"
    write_asset(given.out, "coarse_surface", arrays, origin)


if __name__ == "__main__":
    main()
