"""A population in, a store of bodies out: drawn or given persons, realised in groups.

A group is one item of the jobs seam and one part of the store. Groups are always realised whole, so
that a person's body does not depend, to the last bit, on how many were asked for.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.anatomy.composition.predict import predict_from_tape
from corporeal.anatomy.composition.waist import crest_waist
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.solve import GENDERS
from corporeal.anthropometry.validity import Baseline, baseline, sharp_folds, validity_beside
from corporeal.body.identity import Identity
from corporeal.body.topology import topology_hash
from corporeal.errors import InputError
from corporeal.formats.zarr_store import ZarrStore
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.people_table import read_persons
from corporeal.population.people_store import (
    FOLDER,
    KIND,
    MEASURED,
    People,
    PeopleGroup,
    create_people,
    group_name,
    held_people,
    write_group,
)
from corporeal.population.realise import Realised, parameter_names, realise
from corporeal.population.sampling import Crowd, Persons, sample_people
from corporeal.runtime.files import file_sha256
from corporeal.runtime.input_files import resolved
from corporeal.runtime.jobs import JobReport, run_jobs

GROUP: Final = 40
"""People in an item of work."""
_BASE_AGES: Final = (20.0, 35.0, 50.0, 65.0, 80.0)
"""Ages of the average bodies that contacts are compared with, years."""


@dataclass(frozen=True)
class PeopleConfig:
    """Which people, and where to put them."""

    out: Path | None = None
    """Store to write (.zarr); None for people in memory."""
    count: int = 0
    """How many to draw; 0 with a table."""
    seed: int = 0
    """Random seed of those drawn."""
    crowd: Crowd = "adults"
    """Whose ages and sizes are drawn: `adults` or `soldiers`."""
    women: float = 0.5
    """Share of women among those drawn."""
    table: Path | None = None
    """Given persons instead: a table of measurements, or a file of ANSUR II."""


@dataclass(frozen=True)
class GroupTask:
    """One group of people to make."""

    out: Path | None
    """The store."""
    number: int
    """Of the group."""
    count: int
    """How many of the group are wanted."""
    config: PeopleConfig
    """Settings of the whole run."""
    persons: Persons | None
    """Given persons; None for drawn ones."""


def make_people(
    config: PeopleConfig,
    workers: int | None = None,
    scheduler: str | None = None,
    in_process: bool = False,
) -> JobReport[int]:
    """Fill the store; takes up where a stopped run ended. The report counts people by group."""
    if config.out is None:
        raise InputError("a store of people came without its path; expected a name with .zarr.")
    count, tasks = _planned(config)
    store = create_people(config.out, _run(config, count), *_about(), count)
    report = run_jobs(
        make_group,
        tasks,
        workers=workers,
        scheduler=scheduler,
        in_process=in_process,
        is_done=is_made,
        label="groups of people",
    )
    if not report.failed:
        store.finish()
    return report


def people_in_memory(
    config: PeopleConfig,
    workers: int | None = None,
    scheduler: str | None = None,
    in_process: bool = False,
) -> People:
    """The people that `make_people` would store, in memory; `JobError` if any cannot be made."""
    count, tasks = _planned(config)
    report = run_jobs(
        made_group,
        tasks,
        workers=workers,
        scheduler=scheduler,
        in_process=in_process,
        label="groups of people",
    )
    if (error := report.error()) is not None:
        raise error
    return held_people(tuple(report.done.values()), _run(config, count), *_about())


def _planned(config: PeopleConfig) -> tuple[int, dict[str, GroupTask]]:
    """How many people, and the groups to make them in, by name; refuses what cannot be drawn."""
    given = None if config.table is None else read_persons(config.table)
    count = config.count if given is None else given.count
    if count < 1:
        raise InputError(f"asked for {count} people; expected at least 1, or a table of them.")
    if given is None:
        sample_people(0, 1, config.seed, config.crowd, config.women)
    return count, {group_name(t.number): t for t in _tasks(config, count, given)}


def _tasks(config: PeopleConfig, count: int, given: Persons | None) -> list[GroupTask]:
    out = None if config.out is None else resolved(config.out)
    return [
        GroupTask(
            out,
            number,
            min(GROUP, count - number * GROUP),
            config,
            None if given is None else given.only(slice(number * GROUP, (number + 1) * GROUP)),
        )
        for number in range(-(-count // GROUP))
    ]


def _run(config: PeopleConfig, count: int) -> dict[str, Any]:
    """What decides the content."""
    if config.table is not None:
        return {"count": count, "table_sha256": file_sha256(config.table)}
    return {
        "count": count,
        "seed": config.seed,
        "crowd": config.crowd,
        "women": config.women,
    }


def _about() -> tuple[tuple[str, ...], str]:
    """Names of the parameters, and the hash of the surface."""
    mesh = _model().template.mesh
    return parameter_names(_model()), topology_hash(np.asarray(mesh.triangles), mesh.vertex_count)


def is_made(task: GroupTask) -> bool:
    """Whether the group lies in the store already."""
    return _store(task).has(FOLDER, group_name(task.number))


def make_group(task: GroupTask) -> int:
    """Make a group of people and write it; gives their number."""
    write_group(_store(task), task.number, made_group(task))
    return task.count


def made_group(task: GroupTask) -> PeopleGroup:
    """Draw or take the persons of a group, realise and examine them."""
    config = task.config
    persons = task.persons
    if persons is None:
        first = task.number * GROUP
        persons = sample_people(first, GROUP, config.seed, config.crowd, config.women)
    bodies = realise(_model(), persons)
    return _group(persons.only(slice(0, task.count)), bodies)


def _store(task: GroupTask) -> ZarrStore:
    if task.out is None:
        raise InputError("a group of people in memory has no store to be written to.")
    return ZarrStore.open(task.out, KIND)


def _group(persons: Persons, bodies: Realised) -> PeopleGroup:
    """The first of the bodies, as many as there are persons."""
    count = persons.count
    folded = _average_folds(persons, bodies.parameters[:count, bodies.names.index("height")])
    examined = [
        _examined(bodies.identity(i), sex, float(age), folds)
        for i, (sex, age, folds) in enumerate(zip(persons.sexes, persons.ages, folded, strict=True))
    ]
    return PeopleGroup(
        persons.names,
        persons.sexes,
        persons.ages,
        bodies.rest_vertices[:count],
        bodies.joints[:count],
        bodies.parameters[:count],
        np.array([e.measured for e in examined]),
        persons.dimensions,
        np.array([e.composition for e in examined]),
        np.array([e.flaws for e in examined]),
        persons.splits,
    )


@dataclass(frozen=True, eq=False)
class _Examined:
    """What is found out about one body."""

    measured: Float[NumpyArray, "m"]
    """In the order of `MEASURED`."""
    composition: tuple[float, float]
    """Fat and muscle mass, kg."""
    flaws: tuple[int, int]
    """New sharp folds and contacts."""


def _examined(
    body: Identity, sex: str, age: float, average_folds: Bool[NumpyArray, "E"]
) -> _Examined:
    template, share = _model().template, GENDERS[sex]
    measured = measure(body, template)
    waist = crest_waist(body, share, template)
    made_of = predict_from_tape(measured.stature, measured.mass, waist, age, share).composition
    skin = np.asarray(body.rest_vertices, np.float64)
    nearest = min(_BASE_AGES, key=lambda years: abs(years - age))
    usual = Baseline(average_folds, _contacts(share, nearest))
    found = validity_beside(skin, usual, template)
    return _Examined(
        np.array([measured[name] for name in MEASURED]),
        (made_of.fat_mass, made_of.muscle_mass),
        (len(found.new_folds), len(found.new_contacts)),
    )


def _average_folds(
    persons: Persons, heights: Float[NumpyArray, "n"]
) -> list[Bool[NumpyArray, "E"]]:
    """Edges that fold in the average body of every person's sex, age and height slider."""
    genders = np.array([GENDERS[sex] for sex in persons.sexes])
    averages = _model().prepare({"gender": genders, "age": persons.ages, "height": heights})
    skins = np.asarray(averages.rest_vertices, np.float64)
    return [sharp_folds(skin, _model().template) for skin in skins]


@lru_cache
def _contacts(gender: float, age: float) -> frozenset[tuple[int, int]]:
    """Pairs of triangles that meet in the average body of a sex and age."""
    average = _model().prepare({"gender": gender, "age": age})
    return baseline(np.asarray(average.rest_vertices, np.float64), _model().template).contacts


@lru_cache(maxsize=1)
def _model() -> PhenotypeModel:
    return PhenotypeModel()
