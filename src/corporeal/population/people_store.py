"""People on the disk: a Zarr store whose parts are groups of people, whole or not at all.

What survives: rest vertices and joints (float32, a chunk a person), sliders and modifiers,
measurements, what was asked for, sex, age, composition and names; in the attributes what made it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

import corporeal
from corporeal._typing import Float, Int, NumpyArray
from corporeal.anthropometry.definitions import NAMES
from corporeal.assets.default_body import load_default_body
from corporeal.body.body import Body
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.measurements import Measurements
from corporeal.errors import FormatError, InputError
from corporeal.formats.zarr_groups import GroupReader
from corporeal.formats.zarr_store import ZarrStore
from corporeal.runtime.manifest import package_versions
from corporeal.runtime.pytree_dataclass import pytree_dataclass

KIND: Final = "corporeal-people"
FOLDER: Final = "groups"
MEASURED: Final = (*NAMES, "volume", "surface_area", "bmi")
"""Columns of the measurements: metres, kilograms, m³, m², kg/m²."""


@pytree_dataclass(static=("names", "sexes", "splits"))
class PeopleGroup:
    """Some people with their bodies, as one part of the store holds them."""

    names: tuple[str, ...]
    """Unique within the store."""
    sexes: tuple[str, ...]
    """"female" or "male", one a person."""
    ages: Float[NumpyArray, "n"]
    """Years."""
    rest_vertices: Float[NumpyArray, "n V 3"]
    """Metres, zero pose."""
    joints: Float[NumpyArray, "n J 3"]
    """Metres."""
    parameters: Float[NumpyArray, "n p"]
    """Sliders and modifiers, in the order that the store names them."""
    measurements: Float[NumpyArray, "n m"]
    """In the order of `MEASURED`."""
    asked: Float[NumpyArray, "n M"]
    """Dimensions that the body was realised for, in the order of `NAMES`, metres and kilograms."""
    compositions: Float[NumpyArray, "n 2"]
    """Fat and muscle mass, kg."""
    flaws: Int[NumpyArray, "n 2"]
    """Sharp folds and contacts of skin that the average body of this sex and age has not."""
    splits: tuple[str, ...] = ()
    """ "train" or "test", one a person, where a table said so; else empty."""

    def array(self, name: str) -> NumpyArray:
        """All rows of one of the arrays."""
        return getattr(self, name)

    def row(self, name: str, row: int) -> NumpyArray:
        """One person's row of one of the arrays."""
        return self.array(name)[row]


_ARRAYS: Final = {
    "ages": ("f", ()),
    "rest_vertices": ("f", (None, 3)),
    "joints": ("f", (None, 3)),
    "parameters": ("f", (None,)),
    "measurements": ("f", (len(MEASURED),)),
    "asked": ("f", (len(NAMES),)),
    "compositions": ("f", (2,)),
    "flaws": ("i", (2,)),
}
"""Kind and shape, after the axis of people, of every array of a part."""
_SINGLE: Final = ("rest_vertices", "joints")
"""Arrays that are float32, and chunked by person."""


def create_people(
    path: str | Path,
    run: Mapping[str, Any],
    parameter_names: tuple[str, ...],
    template_hash: str,
    count: int,
) -> ZarrStore:
    """Make a store for `count` people, or take up one that the same `run` began."""
    about = {
        "parameter_names": list(parameter_names),
        "measurement_names": list(MEASURED),
        "template_hash": template_hash,
        "count": count,
        "units": "metres, kilograms, years; y up, +z front, +x the subject's left",
        "corporeal": corporeal.__version__,
        "versions": package_versions(),
    }
    return ZarrStore.create(path, KIND, run, (FOLDER,), attributes=about)


def write_group(store: ZarrStore, number: int, group: PeopleGroup) -> None:
    """Write one group of people; from any process, whole or not at all."""
    with store.writing(FOLDER, group_name(number)) as part:
        part.attributes = {"names": list(group.names), "sexes": list(group.sexes)}
        if group.splits:
            part.attributes["splits"] = list(group.splits)
        for name in _ARRAYS:
            array = getattr(group, name)
            if name in _SINGLE:
                part.add(name, array.astype(np.float32), chunk_rows=1)
            else:
                part.add(name, array)


def group_name(number: int) -> str:
    """Name of a part."""
    return f"{number:05d}"


def read_people(path: str | Path) -> "People":
    """Open a finished store; bodies are read when they are asked for."""
    store = ZarrStore.open(path, KIND)
    store.require_finished()
    return People(store.run, store.common.attributes, store)


def held_people(
    groups: Sequence[PeopleGroup],
    run: Mapping[str, Any],
    parameter_names: tuple[str, ...],
    template_hash: str,
) -> "People":
    """People in memory, in groups; `run` is what decides who they are."""
    count = sum(len(group.names) for group in groups)
    about = {
        "parameter_names": list(parameter_names),
        "template_hash": template_hash,
        "count": count,
    }
    return People(run, about, None, tuple(groups))


def write_people(path: str | Path, people: "People") -> None:
    """Write people as a finished store, group by group."""
    names = tuple(people.parameter_names)
    store = create_people(path, people.run, names, people.template_hash, people.count)
    for number, group in enumerate(people.groups()):
        write_group(store, number, group)
    store.finish()


@dataclass(frozen=True, eq=False)
class StoredGroup:
    """A group of people on the disk, read when asked for."""

    part: GroupReader
    """Where its arrays lie."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the people of the group."""
        return tuple(_texts(self.part, "names"))

    @cached_property
    def sexes(self) -> tuple[str, ...]:
        """ "female" or "male", one a person."""
        return tuple(_texts(self.part, "sexes"))

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """ "train" or "test", one a person, where a table said so; else empty."""
        if "splits" not in self.part.attributes:
            return ()
        splits = tuple(_texts(self.part, "splits"))
        if len(splits) != len(self.names) or not set(splits) <= {"train", "test"}:
            raise FormatError(f"{self.part.path} does not have train or test for everybody.")
        return splits

    def array(self, name: str) -> NumpyArray:
        """All rows of an array of `PeopleGroup`."""
        kind, shape = _ARRAYS[name]
        return self.part.array(name, kind, (len(self.names), *shape))

    def row(self, name: str, row: int) -> NumpyArray:
        """One person's row of an array of `PeopleGroup`."""
        kind, shape = _ARRAYS[name]
        return self.part.rows(name, kind, (len(self.names), *shape))[row : row + 1][0]

    def whole(self) -> PeopleGroup:
        """All of it, in memory."""
        arrays = (self.array(name) for name in _ARRAYS)
        return PeopleGroup(self.names, self.sexes, *arrays, splits=self.splits)


@dataclass(frozen=True, eq=False)
class People:
    """A population: a finished store, or people in memory; `people[3]` is the body of one.

    A store holds no open file: workers may open it by `path` again.
    """

    run: Mapping[str, Any]
    """What decides who they are: count, seed, crowd, share of women; or the hash of a table."""
    about: Mapping[str, Any]
    """Names of the parameters, hash of the surface, number of people."""
    store: ZarrStore | None = None
    """None for people in memory."""
    held: tuple[PeopleGroup, ...] = ()
    """Groups in memory; empty where they lie in a store."""

    @property
    def path(self) -> Path | None:
        """Where the store lies; None for people in memory."""
        return None if self.store is None else self.store.path

    @cached_property
    def _parts(self) -> tuple[StoredGroup | PeopleGroup, ...]:
        if self.store is None:
            return self.held
        names = self.store.parts(FOLDER)
        return tuple(StoredGroup(self.store.part(FOLDER, name)) for name in names)

    @cached_property
    def _places(self) -> tuple[tuple[int, int], ...]:
        """Part and row of every person."""
        lengths = [len(part.names) for part in self._parts]
        found = tuple((g, row) for g, length in enumerate(lengths) for row in range(length))
        promised = self.about.get("count")
        if len(found) != promised:
            raise FormatError(
                f"{self.path} holds {len(found)} people and promises {promised}; it is damaged. "
                f"Make it again."
            )
        return found

    @property
    def count(self) -> int:
        """Number of people."""
        return len(self._places)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, person: int) -> Body:
        """One person's body, with its measurements; negative numbers count from the end."""
        number = person + self.count if person < 0 else person
        template = load_default_body().template
        return Body(template, self.identity(number), dict(self.measurements(number).values))

    def __iter__(self) -> Iterator[Body]:
        return (self[person] for person in range(self.count))

    def groups(self) -> Iterator[PeopleGroup]:
        """All people with their bodies, some at a time."""
        for part in self._parts:
            yield part if isinstance(part, PeopleGroup) else part.whole()

    @property
    def seed(self) -> int | None:
        """Seed of a drawn population; None for given persons."""
        return self.run.get("seed")

    @property
    def template_hash(self) -> str:
        """`body.topology.topology_hash` of the surface."""
        return str(self.about.get("template_hash", ""))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Sliders and modifiers that every body has, in the order of their columns."""
        names = self.about.get("parameter_names")
        if not isinstance(names, list):
            raise FormatError(f"{self.path} does not name its parameters; it is damaged.")
        return tuple(map(str, names))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all people, in order."""
        return tuple(name for part in self._parts for name in part.names)

    @cached_property
    def sex(self) -> tuple[str, ...]:
        """ "female" or "male"."""
        return tuple(sex for part in self._parts for sex in part.sexes)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """ "train" or "test" of all people, in order; "" for those of whom nobody has said."""
        return tuple(
            split for part in self._parts for split in part.splits or ("",) * len(part.names)
        )

    @cached_property
    def age(self) -> Float[NumpyArray, "n"]:
        """Years."""
        return self._table("ages")

    @cached_property
    def measured(self) -> Float[NumpyArray, "n m"]:
        """What every body measures, in the order of `MEASURED`."""
        return self._table("measurements")

    @cached_property
    def asked(self) -> Float[NumpyArray, "n M"]:
        """Dimensions that every body was realised for, in the order of `NAMES`."""
        return self._table("asked")

    @cached_property
    def flaws(self) -> Int[NumpyArray, "n 2"]:
        """Sharp folds and contacts of skin that the average body of this sex and age has not."""
        return self._table("flaws")

    @cached_property
    def _compositions(self) -> Float[NumpyArray, "n 2"]:
        return self._table("compositions")

    @property
    def mass(self) -> Float[NumpyArray, "n"]:
        """Kilograms."""
        return self.measured[:, MEASURED.index("mass")]

    @property
    def bmi(self) -> Float[NumpyArray, "n"]:
        """kg/m²."""
        return self.measured[:, MEASURED.index("bmi")]

    def composition(self, person: int) -> Composition:
        """Fat and muscle."""
        self._place(person)
        fat, muscle = self._compositions[person]
        return Composition(float(fat), float(muscle))

    def measurements(self, person: int) -> Measurements:
        """All that a body measures."""
        self._place(person)
        row = self.measured[person]
        return Measurements({n: float(v) for n, v in zip(MEASURED, row, strict=True)})

    def identity(self, person: int) -> Identity:
        """One body's shape, read from the disk where that is where it lies."""
        part, row = self._place(person)
        values = part.array("parameters")[row]
        if len(self.parameter_names) != len(values):
            raise FormatError(f"{self.path} does not name its parameters; it is damaged.")
        named = zip(self.parameter_names, values, strict=True)
        return Identity(
            part.row("rest_vertices", row),
            part.row("joints", row),
            {name: np.asarray(value) for name, value in named},
        )

    def _place(self, person: int) -> tuple[StoredGroup | PeopleGroup, int]:
        if not 0 <= person < self.count:
            whose = "the population" if self.path is None else str(self.path)
            raise InputError(
                f"there is no person {person}; {whose} has {self.count}, counted from 0."
            )
        group, row = self._places[person]
        return self._parts[group], row

    def _table(self, name: str) -> NumpyArray:
        return np.concatenate([part.array(name) for part in self._parts])


def _texts(part: GroupReader, name: str) -> list[str]:
    found = part.attributes.get(name)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise FormatError(f"{part.path} has no list {name!r}; it is damaged.")
    return found
