"""Fit fat and muscle mass to scanned people, and write the coefficients into the package.

    python tools/fit_composition.py "$CORPOREAL_DATA"/nhanes/nhanes_2017_2018_body_dxa.csv

Reads the public NHANES 2017–2018 file (public domain) and writes
`src/corporeal/anatomy/composition/data/composition.json`: coefficients only, nobody's record;
its provenance is written beside it.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from provenance import write_provenance

from corporeal.anatomy.composition.people import SEXES, read_people
from corporeal.anatomy.composition.stored import ASSET, stored_form
from corporeal.anatomy.composition.train import fit_people

PACKAGE = Path(__file__).parents[1] / "src/corporeal/anatomy/composition"
SOURCE = (
    "NHANES 2017-2018 (US CDC/NCHS, public domain): body measures and whole-body DXA; fitted "
    "coefficients only. Muscle by Kim et al. 2002 from limb lean tissue."
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit fat and muscle mass.")
    parser.add_argument("nhanes", type=Path, help="the NHANES body and DXA file (CSV)")
    arguments = parser.parse_args()
    stored: dict[str, object] = {"source": SOURCE, "made_by": "tools/fit_composition.py"}
    for sex in SEXES:
        people = read_people(arguments.nhanes, sex)
        model, fat, muscle_errors = fit_people(people)
        muscle_rmse = float(np.sqrt(np.mean(muscle_errors**2)))
        stored[sex] = {
            "people": dict(people.left_out),
            "leave_one_out_fat_rmse_points": round(fat.rmse, 3),
            "leave_one_out_muscle_rmse_kg": round(muscle_rmse, 3),
            **stored_form(model),
        }
        print(
            f"{sex}: {people.left_out['kept']} people, fat {fat.rmse:.3f} points, muscle "
            f"{muscle_rmse:.2f} kg (leave-one-out)"
        )
    path = PACKAGE / ASSET
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    write_provenance(
        path,
        title="coefficients of fat and muscle mass by age, stature, mass and tape measures",
        licence="Apache-2.0, as the package; the survey is in the public domain",
        origin=f"{SOURCE} See docs/methods/composition.md",
        command="python tools/fit_composition.py "
        "$CORPOREAL_DATA/nhanes/nhanes_2017_2018_body_dxa.csv",
        sources=[arguments.nhanes],
    )
    print(f"wrote {ASSET}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
