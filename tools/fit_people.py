"""Fit the joint distribution from which people are drawn, and write it into the package.

    python tools/fit_people.py "$CORPOREAL_DATA"

Reads the two files of ANSUR II and the one of NHANES, leaves out the people of ANSUR II that the
tests hold back and those whom NHANES codes as 80 years or older, and writes
`src/corporeal/population/data/people.npz`: coefficients and quantiles only, nobody's record; its
provenance is written beside it.
"""

import argparse
from pathlib import Path

import numpy as np
from provenance import write_provenance

from corporeal.anatomy.composition.people import read_people
from corporeal.anatomy.composition.waist import CREST_OVER_NAVEL
from corporeal.anthropometry.survey import read_survey, split
from corporeal.population.distribution import ASSET, OTHERS, SEXES, stored_form
from corporeal.population.sampling import AGES
from corporeal.population.train import fit_people, survey_anchors


def adult_anchors(path: Path, sex: str) -> np.ndarray:
    """Age and log stature, log BMI, log waist at the navel of people of NHANES."""
    found = read_people(path, sex, AGES)
    rows = [
        np.stack([t.age, np.log(t.stature), np.log(t.bmi), np.log(t.waist)], axis=-1)
        for t in (found.tape, found.unscanned)
    ]
    anchors = np.concatenate(rows)
    anchors[:, 3] -= np.log(CREST_OVER_NAVEL[sex])  # NHANES tapes above the crest of the hip bone
    return anchors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with ansur2 and nhanes")
    data = parser.parse_args().data
    nhanes = data / "nhanes/nhanes_2017_2018_body_dxa.csv"
    arrays = {"others": np.array(OTHERS)}
    for sex in SEXES:
        survey = split(read_survey(data / f"ansur2/ansur2_{sex}.csv"))[0]
        adults = adult_anchors(nhanes, sex)
        anchors = {"adults": adults, "soldiers": survey_anchors(survey)}
        arrays |= stored_form(fit_people(survey, anchors), sex)
        print(f"{sex}: {len(survey.ages)} people of ANSUR II, {len(adults)} of NHANES")
    out = Path(__file__).parents[1] / "src/corporeal/population" / ASSET
    out.parent.mkdir(exist_ok=True)
    np.savez_compressed(out, **arrays)
    write_provenance(
        out,
        title="joint distribution of age, stature, BMI, waist and other body dimensions",
        licence="Apache-2.0, as the package; both surveys are in the public domain",
        origin="coefficients and quantiles fitted to ANSUR II (US Army, 2012, public release) and "
        "NHANES 2017-2018 (US CDC/NCHS); see docs/methods/people.md",
        command="python tools/fit_people.py $CORPOREAL_DATA",
        sources=[*(data / f"ansur2/ansur2_{sex}.csv" for sex in SEXES), nhanes],
    )
    print(f"wrote {out.name} ({out.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
