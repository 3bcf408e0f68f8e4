"""People of NHANES 2017–2018 whose bodies were scanned by DXA, read from the public file.

The file is not part of the package; it is needed to fit the coefficients
(`tools/fit_composition.py`) and to validate them, never to use them.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.composition.muscle import (
    limb_lean_mass,
    muscle_from_limbs,
    trunk_fat_free,
)
from corporeal.anatomy.composition.tape import Tape
from corporeal.errors import FormatError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

SEXES: Final = ("female", "male")
ADULT: Final = (18.0, 60.0)
"""Years: from, and below."""
_TAPE: Final = ("height_cm", "weight_kg", "waist_cm")
_FAT: Final = ("dxa_total_pct_fat",)
_TRUNK: Final = ("dxa_trunk_fat_g", "dxa_trunk_pct_fat")


@pytree_dataclass(static=("sex", "left_out"))
class ScannedPeople:
    """Adults of one sex with all that a fit of fat needs."""

    sex: str
    """`female` or `male`."""
    tape: Tape
    """Their stature, mass, waist and age; n people."""
    fat_percentage: Float[NumpyArray, "n"]
    """By DXA, per cent."""
    muscle_mass: Float[NumpyArray, "n"]
    """Skeletal muscle by `muscle.muscle_from_limbs`, kg; NaN where the trunk was not scanned."""
    unscanned: Tape
    """Adults with tape but without DXA, whom no fit sees: to tell whether they differ."""
    left_out: Mapping[str, int]
    """How many adults lack what."""

    @property
    def fat_free_mass(self) -> Float[NumpyArray, "n"]:
        """Kilograms."""
        return self.tape.mass * (1 - self.fat_percentage / 100)

    def only(self, rows: NumpyArray) -> "ScannedPeople":
        """Some of these people, by a mask or by indices."""
        return ScannedPeople(
            self.sex,
            self.tape.only(rows),
            self.fat_percentage[rows],
            self.muscle_mass[rows],
            self.unscanned,
            self.left_out,
        )


def read_people(path: Path, sex: str, ages: tuple[float, float] = ADULT) -> ScannedPeople:
    """Adults of one sex ("female" or "male"); whoever lacks tape or DXA is left out and counted.

    `ages` are years: from, and below.
    """
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wanted = {"sex", "age_y", *_TAPE, *_FAT, *_TRUNK}
    missing = sorted(wanted - set(rows[0])) if rows else sorted(wanted)
    if missing:
        raise FormatError(
            f"{path} lacks the columns {', '.join(missing)}; expected the NHANES body and DXA file."
        )
    adults = [row for row in rows if row["sex"].lower() == sex and _within(row["age_y"], ages)]
    column = {name: np.array([_number(row[name]) for row in adults]) for name in wanted - {"sex"}}
    no_tape = np.isnan([column[name] for name in _TAPE]).any(axis=0)
    no_fat = np.isnan(column[_FAT[0]])
    kept = ~(no_tape | no_fat)
    people = {name: values[kept] for name, values in column.items()}
    tape = _tape(people)
    unscanned = _tape({name: values[no_fat & ~no_tape] for name, values in column.items()})
    trunk = trunk_fat_free(people["dxa_trunk_fat_g"] / 1000, people["dxa_trunk_pct_fat"])
    fat_free = tape.mass * (1 - people[_FAT[0]] / 100)
    muscle = muscle_from_limbs(limb_lean_mass(fat_free, trunk, sex), tape.age, sex)
    counts = {
        "adults": len(adults),
        "without tape": int(no_tape.sum()),
        "without whole-body DXA": int((no_fat & ~no_tape).sum()),
        "kept": int(kept.sum()),
        "kept without trunk DXA": int(np.isnan(trunk).sum()),
    }
    return ScannedPeople(sex, tape, people[_FAT[0]], muscle, unscanned, counts)


def _tape(column: Mapping[str, NumpyArray]) -> Tape:
    metres = 0.01
    return Tape(
        metres * column["height_cm"],
        column["weight_kg"],
        metres * column["waist_cm"],
        column["age_y"],
    )


def _within(age: str, ages: tuple[float, float]) -> bool:
    return ages[0] <= _number(age) < ages[1]


def _number(text: str) -> float:
    return float(text) if text.strip() else float("nan")
