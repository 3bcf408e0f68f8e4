"""A population in, a store of bodies out: drawn or given persons, realised in groups.

A group is one item of the jobs seam and one part of the store. Groups are always realised whole, so
that a person's body does not depend, to the last bit, on how many were asked for.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal._typing import Float, NumpyArray
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
    PeopleGroup,
    create_people,
    group_name,
    write_group,
)
from corporeal.population.realise import Realised, parameter_names, realise
from corporeal.population.sampling import Crowd, Persons, sample_people
from corporeal.runtime.files import file_sha256
from corporeal.runtime.jobs import JobReport, run_jobs

GROUP: Final = 40
"""People in an item of work."""
_BASE_AGES: Final = (20.0, 35.0, 50.0, 65.0, 80.0)
"""Ages of the average bodies that contacts are compared with, years."""


@dataclass(frozen=True)
class PeopleConfig:
    """Which people, and where to put them."""

    out: Path
    count: int = 0
    """How many to draw; 0 with a table."""
    seed: int = 0
    crowd: Crowd = "adults"
    women: float = 0.5
    """Share of women among those drawn."""
    table: Path | None = None
    """Given persons instead: a table of measurements, or a file of ANSUR II."""


@dataclass(frozen=True)
class GroupTask:
    """One group of people to make."""

    out: Path
    number: int
    count: int
    """How many of the group are wanted."""
    config: PeopleConfig
    persons: Persons | None
    """Given persons; None for drawn ones."""


def make_people(
    config: PeopleConfig, workers: int | None = None, scheduler: str | None = None
) -> JobReport[int]:
    """Fill the store; takes up where a stopped run ended. The report counts people by group."""
    given = None if config.table is None else read_persons(config.table)
    count = config.count if given is None else given.count
    if count < 1:
        raise InputError(f"asked for {count} people; expected at least 1, or a table of them.")
    if given is None:  # what cannot be drawn is refused before anything is written
        sample_people(0, 1, config.seed, config.crowd, config.women)
    tasks = {group_name(t.number): t for t in _tasks(config, count, given)}
    store = create_people(config.out, _run(config, count), *_about(), count)
    report = run_jobs(
        make_group,
        tasks,
        workers=workers,
        scheduler=scheduler,
        is_done=is_made,
        label="groups of people",
    )
    if not report.failed:
        store.finish()
    return report


def _tasks(config: PeopleConfig, count: int, given: Persons | None) -> list[GroupTask]:
    out = config.out.resolve()
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
    return ZarrStore.open(task.out, KIND).has(FOLDER, group_name(task.number))


def make_group(task: GroupTask) -> int:
    """Draw or take the persons of a group, realise, examine and write them; gives their number."""
    config = task.config
    persons = task.persons
    if persons is None:
        first = task.number * GROUP
        persons = sample_people(first, GROUP, config.seed, config.crowd, config.women)
    bodies = realise(_model(), persons)
    group = _group(persons.only(slice(0, task.count)), bodies)
    write_group(ZarrStore.open(task.out, KIND), task.number, group)
    return task.count


def _group(persons: Persons, bodies: Realised) -> PeopleGroup:
    """The first of the bodies, as many as there are persons."""
    examined = [
        _examined(bodies.identity(i), sex, float(age))
        for i, (sex, age) in enumerate(zip(persons.sexes, persons.ages, strict=True))
    ]
    count = persons.count
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


def _examined(body: Identity, sex: str, age: float) -> _Examined:
    template, share = _model().template, GENDERS[sex]
    measured = measure(body, template)
    waist = crest_waist(body, share, template)
    made_of = predict_from_tape(measured.stature, measured.mass, waist, age, share).composition
    skin = np.asarray(body.rest_vertices, np.float64)
    found = validity_beside(skin, _baseline(share, age, float(body.parameters["height"])), template)
    return _Examined(
        np.array([measured[name] for name in MEASURED]),
        (made_of.fat_mass, made_of.muscle_mass),
        (len(found.new_folds), len(found.new_contacts)),
    )


def _baseline(gender: float, age: float, height: float) -> Baseline:
    """What the average body of a sex, age and height has by nature."""
    average = _model().prepare({"gender": gender, "age": age, "height": height})
    nearest = min(_BASE_AGES, key=lambda years: abs(years - age))
    folded = sharp_folds(np.asarray(average.rest_vertices, np.float64), _model().template)
    return Baseline(folded, _contacts(gender, nearest))


@lru_cache
def _contacts(gender: float, age: float) -> frozenset[tuple[int, int]]:
    """Pairs of triangles that meet in the average body of a sex and age."""
    average = _model().prepare({"gender": gender, "age": age})
    return baseline(np.asarray(average.rest_vertices, np.float64), _model().template).contacts


@lru_cache(maxsize=1)
def _model() -> PhenotypeModel:
    return PhenotypeModel()
