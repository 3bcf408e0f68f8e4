"""Times of a fit and of the detail transfer.

    python benchmarks/anatomy_detail.py

Writes `benchmarks/results/anatomy_detail.json`: the fit of one body, the first and later ones;
transfer of 100 000 vertices, and how closely the warp follows the bone surface between its centres.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from pathlib import Path

import numpy as np

from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.nesting import check_nesting
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.warp import bone_warp
from corporeal.body.composition import Composition
from corporeal.models.phenotype.model import PhenotypeModel

RESULTS = Path(__file__).parent / "results" / "anatomy_detail.json"
POINTS = 100_000
FITS = 4


def fits() -> dict[str, float]:
    """Seconds of fits of one body: the first, which loads kernels and template, and the rest."""
    identity = PhenotypeModel().prepare({"gender": 1.0, "weight": 0.6})
    clock, busy = [], []
    for _ in range(FITS):
        start, processor = time.perf_counter(), time.process_time()
        layers = fit_layers(identity, "male", Composition(18.0, 32.0))
        clock.append(time.perf_counter() - start)
        busy.append(time.process_time() - processor)
        if not check_nesting(layers).sound:
            raise SystemExit("the layers are not nested; nothing is reported")
    return {
        "first_s": clock[0],
        "median_s": float(np.median(clock[1:])),
        "median_processor_s": float(np.median(busy[1:])),
    }


def detail() -> dict[str, float]:
    """Seconds of a transfer, and the warp's error between its centres."""
    template = layered_template("male")
    start = time.perf_counter()
    warp, chosen = bone_warp(template)
    made = time.perf_counter() - start
    identity = PhenotypeModel().prepare({"gender": 1.0, "weight": 1.0, "height": 0.8})
    layers = fit_layers(identity, "male", Composition(22.0, 32.0))
    bone = np.concatenate([mesh.vertices for mesh in template.bones])
    points = np.resize(bone, (POINTS, 3))
    warp.warped(points[:10], warp.coefficients(np.zeros_like(warp.centres)))
    start = time.perf_counter()
    found = warp.coefficients(layers.bone[chosen] - template.bone[chosen])
    warp.warped(points, found)
    moved = time.perf_counter() - start
    region = template.layered
    miss = np.linalg.norm(warp.warped(template.bone[region], found) - layers.bone[region], axis=1)
    return {
        "centres": len(chosen),
        "factor_s": made,
        "transfer_100000_s": moved,
        "between_centres_mm_median": 1e3 * float(np.median(miss)),
        "between_centres_mm_99": 1e3 * float(np.quantile(miss, 0.99)),
    }


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    report = {
        "commit": commit.stdout.strip(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "load": os.getloadavg()[0],
        "fit": fits(),
        "detail": detail(),
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
