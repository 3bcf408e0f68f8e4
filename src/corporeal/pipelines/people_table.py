"""A table of people (`.csv`): a row a person, columns named like the flags of `corporeal body`."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.definitions import NAMES, SHORT_NAMES
from corporeal.anthropometry.solve import GENDERS
from corporeal.anthropometry.survey import read_survey
from corporeal.errors import FormatError, InputError
from corporeal.pipelines.make_body import MakeBodyConfig
from corporeal.population.given import completed, survey_persons
from corporeal.population.sampling import AGES, Persons
from corporeal.runtime.input_files import read_input
from corporeal.runtime.names import repeated

_SPLIT = "split"
_MAX_BYTES = 8 * 1024**2
"""Some hundred thousand people; ANSUR II's larger file has 2 MB."""
_REFUSED_SHOWN = 20
"""Persons whose faults a message repeats."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")


@dataclass(frozen=True)
class PeopleTable:
    """The rows that can be made, and what is wrong with the others."""

    configs: Mapping[str, MakeBodyConfig]
    """What is to be made, by the name of the row."""
    refused: Mapping[str, str]
    """Row name → why."""


def read_people_table(
    path: str | Path,
    out: str,
    sliders: Mapping[str, str],
    measurements: Mapping[str, str],
    beside: tuple[str, ...] = (),
) -> PeopleTable:
    """Read a table; `{name}` in `out` becomes the row's name.

    `sliders` and `measurements` map column names to the names that the body model uses. A row that
    cannot be read is refused alone; an unknown column refuses the table, one of `beside` does not.
    """
    if "{name}" not in out:
        raise InputError(
            f"--out is {out} for a table of people; expected {{name}} in it, such as "
            f"'people/{{name}}.npz', so that every row has a file of its own."
        )
    header, rows = _rows(Path(path))
    known = ("name", *sliders, *measurements, *beside)
    if "name" not in header or not set(header) <= set(known):
        columns = f"has the columns {', '.join(header)}" if any(header) else "has no columns"
        raise FormatError(f"{path} {columns}; expected 'name' and any of {', '.join(known[1:])}.")
    configs: dict[str, MakeBodyConfig] = {}
    refused: dict[str, str] = {}
    for number, row in enumerate(rows, start=2):
        name = row.get("name") or f"line {number}"
        try:
            if name in configs or name in refused:
                raise InputError(f"the name {name!r} stands twice (line {number}).")
            configs[name] = _config(name, row, out, sliders, measurements)
        except InputError as error:
            refused[f"{name} (line {number})"] = str(error)
    return PeopleTable(configs, refused)


def read_persons(path: str | Path) -> Persons:
    """Persons of a table (name, gender, age, stature, mass and any others), or of ANSUR II's file.

    A person needs to be a woman or a man; whoever cannot be read refuses the whole table. The
    column `split` says whether they are for training or for tests (train, test); people given by
    hand are for training where it says nothing.
    """
    header, rows = _rows(Path(path))
    if "weightkg" in header:
        return _surveyed(Path(path), rows)
    columns = {name: name for name in NAMES} | SHORT_NAMES
    sliders = {"gender": "gender", "age": "age"}
    table = read_people_table(path, "{name}", sliders, columns, (_SPLIT,))
    said = {row["name"]: row.get(_SPLIT, "") for row in rows}
    refused = dict(table.refused)
    persons, splits = {}, []
    for name, config in table.configs.items():
        try:
            persons[name] = _person(config.sliders, config.measurements)
            splits.append(_split(said[name]))
        except InputError as error:
            refused[name] = str(error)
    if refused or not persons:
        text = "; ".join(f"{name}: {why}" for name, why in [*refused.items()][:_REFUSED_SHOWN])
        text += " …" * (len(refused) > _REFUSED_SHOWN)
        raise InputError(f"{path} has {len(refused)} persons that cannot be made: {text}")
    return Persons(
        tuple(persons),
        tuple(sex for sex, _, _ in persons.values()),
        np.array([age for _, age, _ in persons.values()]),
        np.array([dimensions for _, _, dimensions in persons.values()]),
        tuple(splits),
    )


def _split(text: str) -> str:
    """Training or test; training where nothing is said."""
    word = text.strip().lower() or "train"
    if word not in ("train", "test"):
        raise InputError(f"{_SPLIT} is {text.strip()!r}; expected train, test or nothing.")
    return word


def _person(
    sliders: Mapping[str, float], measured: Mapping[str, float]
) -> tuple[str, float, Float[NumpyArray, "M"]]:
    sexes = {share: sex for sex, share in GENDERS.items()}
    gender, age = sliders.get("gender"), sliders.get("age")
    if gender not in sexes or age is None or not AGES[0] <= age <= AGES[1]:
        raise InputError(
            f"gender is {gender} and age {age}; expected female or male, and {AGES[0]:g} to "
            f"{AGES[1]:g} years."
        )
    return sexes[gender], age, completed(sexes[gender], age, measured)


def _surveyed(path: Path, rows: list[dict[str, str]]) -> Persons:
    sexes = sorted({row.get("Gender", "").lower() for row in rows})
    if len(sexes) != 1 or sexes[0] not in GENDERS:
        raise FormatError(
            f"{path} looks like ANSUR II and has the genders {sexes}; expected Female or Male in "
            f"every row, as the survey's two files have."
        )
    return survey_persons(read_survey(path), sexes[0])


def _rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    data = read_input(path, at_most=_MAX_BYTES)
    try:
        text = io.StringIO(data.decode("utf-8-sig"), newline="")
        reader = csv.DictReader(text, restkey="(too many values)", restval="")
        rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} is not a table in UTF-8 text: {error}.") from error
    header = [column.strip() for column in reader.fieldnames or ()]
    if doubled := repeated(header):
        raise FormatError(
            f"{path} has the column {doubled[0]!r} {header.count(doubled[0])} times; expected "
            f"every column once. Remove or rename one."
        )
    return header, [{k.strip(): v for k, v in row.items()} for row in rows]


def _config(
    name: str,
    row: dict[str, str],
    out: str,
    sliders: Mapping[str, str],
    measurements: Mapping[str, str],
) -> MakeBodyConfig:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"the name {name!r} cannot name a file; expected up to 100 letters, digits, '_', '-', "
            f"'.', starting with a letter, digit or '_'."
        )
    if "(too many values)" in row:
        raise InputError("has more values than the header has columns.")
    chosen = {
        full: _number(column, row[column])
        for column, full in sliders.items()
        if row.get(column, "").strip()
    }
    measured = {
        full: _number(column, row[column])
        for column, full in measurements.items()
        if row.get(column, "").strip()
    }
    return MakeBodyConfig(Path(out.replace("{name}", name)), chosen, measured)


def _number(column: str, text: str) -> float:
    return parse_gender(text) if column == "gender" else parse_number(column, text)


def parse_number(name: str, text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise InputError(f"{name} is {text.strip()!r}; expected a finite number.")
    return value


def parse_gender(text: str) -> float:
    """`female` is 0, `male` is 1; numbers between them are allowed."""
    words = {"female": 0.0, "male": 1.0}
    if text.strip().lower() in words:
        return words[text.strip().lower()]
    try:
        return parse_number("gender", text)
    except InputError as error:
        raise InputError(
            f"gender is {text.strip()!r}; expected female, male or a number from 0 to 1."
        ) from error
