"""Builds the coefficients of registration's shape space: how people differ, in the body's targets.

    python tools/build_person_space.py

People are drawn from the survey's statistics and from even sliders (`registration.person_space`);
what is kept are the mean and 80 principal directions in the default body's CC0 targets. Writes
`person_space.npz.xz` and its manifest `person_space.json` into the package.
"""

import argparse
from pathlib import Path

import numpy as np
from build_adiposity import PACKAGE_DATA, write_asset

from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.registration.person_space import space_coefficients


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    given = parser.parse_args()
    found = space_coefficients(PhenotypeModel())
    # the sign of a principal component is free; its largest share is made positive
    peaks = found.shares[np.arange(len(found.shares)), np.abs(found.shares).argmax(axis=1)]
    signs = np.where(peaks < 0, -1.0, 1.0)
    arrays = {
        "mean": found.mean.astype(np.float32),
        "shares": (signs[:, None] * found.shares).astype(np.float32),
        "sex_slope": (signs * found.sex_slope).astype(np.float32),
    }
    origin = "principal components of drawn people; see docs/design/registration.md"
    write_asset(given.out, "person_space", arrays, origin)


if __name__ == "__main__":
    main()
