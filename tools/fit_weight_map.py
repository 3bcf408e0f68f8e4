"""Fit how bodies change with weight and height, and write it into the package.

    python tools/fit_weight_map.py [--people 200]
    python tools/fit_weight_map.py --carry    # the shipped map, with targets added since left out

Draws people evenly over BMI 16 to 48 and ages 18 to 80, realises them, and writes
`src/corporeal/population/data/weight_map.npz` and its provenance. Needs nothing but the
package.
"""

import argparse
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
from provenance import write_provenance

from corporeal.anthropometry.definitions import NAMES
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.distribution import SEXES
from corporeal.population.realise import realise
from corporeal.population.sampling import sample_people
from corporeal.population.train import fit_weight_map
from corporeal.population.weight_map import ASSET, stored_form, target_fingerprint

SEED = 63
BATCH = 20


def bodies(model: PhenotypeModel, sex: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Target coefficients and dimensions of realised people."""
    local = {parameter.name for parameter in model.local_parameters}
    coefficients, dimensions = [], []
    for first in range(0, count, BATCH):
        people = sample_people(first, BATCH, SEED, "even", float(sex == "female"))
        made = realise(model, people)
        values = dict(zip(made.names, made.parameters.T, strict=True))
        sliders = {name: column for name, column in values.items() if name not in local}
        changes = {name: column for name, column in values.items() if name in local}
        coefficients.append(np.asarray(model.coefficients(sliders, changes), np.float64))
        dimensions.append(people.dimensions)
        print(f"{sex}: {first + BATCH} of {count}", flush=True)
    return np.concatenate(coefficients), np.concatenate(dimensions)


def carried(model: PhenotypeModel, stored: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The map that ships, for targets of which it knows the first ones: others take no part."""
    names = model.body.targets.names
    known = len(stored["female_mixtures"])
    if sha256("\n".join(names[:known]).encode()).hexdigest() != str(stored["targets"]):
        raise SystemExit("targets were not added at the end; fit the map anew without --carry.")
    arrays = dict(stored) | {"targets": np.array(target_fingerprint(model))}
    for name, values in stored.items():
        if name.endswith(("_mixtures", "_mean_mixture")):
            more = np.zeros((len(names) - known, *values.shape[1:]), values.dtype)
            arrays[name] = np.concatenate([values, more])
    return arrays


def fitted(model: PhenotypeModel, count: int) -> dict[str, np.ndarray]:
    """A map from `count` people a sex."""
    arrays = {"targets": np.array(target_fingerprint(model))}
    for sex in SEXES:
        coefficients, dimensions = bodies(model, sex, count)
        mass, stature = (dimensions[:, NAMES.index(name)] for name in ("mass", "stature"))
        arrays |= stored_form(fit_weight_map(model, coefficients, mass, stature), sex)
    return arrays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200, help="of each sex")
    parser.add_argument("--carry", action="store_true", help="keep the shipped map")
    given = parser.parse_args()
    model = PhenotypeModel()
    out = Path(__file__).parents[1] / "src/corporeal/population" / ASSET
    if given.carry:
        with np.load(out, allow_pickle=False) as stored:
            arrays = carried(model, dict(stored))
    else:
        arrays = fitted(model, given.people)
    np.savez_compressed(out, **arrays)
    assets = Path(__file__).parents[1] / "src/corporeal/assets/data"
    write_provenance(
        out,
        title="how shape targets change with weight and height",
        licence="Apache-2.0, as the package",
        origin="regression on realised random people of this package; see docs/methods/people.md",
        command="python tools/fit_weight_map.py "
        + ("--carry" if given.carry else f"--people {given.people}"),
        sources=[
            assets / "default_body.npz.xz",
            assets / "adiposity.npz.xz",
            assets / "proportions.npz.xz",
            out.with_name("people.npz"),
        ],
    )
    print(f"wrote {out.name} ({out.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
