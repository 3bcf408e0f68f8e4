"""People on the disk: a Zarr store whose parts are groups of people, whole or not at all.

What survives: rest vertices and joints (float32, a chunk a person), sliders and modifiers,
measurements, what was asked for, sex, age, composition and names; in the attributes what made it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

import corporeal
from corporeal._typing import Float, Int, NumpyArray
from corporeal.anthropometry.definitions import NAMES
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


@pytree_dataclass(static=("names", "sexes"))
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
    return People(store)


@dataclass(frozen=True, eq=False)
class People:
    """A finished store of people. Holds no open file: workers may open it by `path` again."""

    store: ZarrStore
    """The Zarr store itself."""

    @property
    def path(self) -> Path:
        """Folder of the store."""
        return self.store.path

    @cached_property
    def _parts(self) -> tuple[GroupReader, ...]:
        return tuple(self.store.part(FOLDER, name) for name in self.store.parts(FOLDER))

    @cached_property
    def _places(self) -> tuple[tuple[int, int], ...]:
        """Part and row of every person."""
        lengths = [len(_texts(part, "names")) for part in self._parts]
        found = tuple((g, row) for g, length in enumerate(lengths) for row in range(length))
        promised = self._about.get("count")
        if len(found) != promised:
            raise FormatError(
                f"{self.path} holds {len(found)} people and promises {promised}; it is damaged. "
                f"Make it again."
            )
        return found

    @property
    def _about(self) -> Mapping[str, Any]:
        return self.store.common.attributes

    @property
    def count(self) -> int:
        """Number of people."""
        return len(self._places)

    @property
    def seed(self) -> int | None:
        """Seed of a drawn population; None for given persons."""
        return self.store.run.get("seed")

    @property
    def template_hash(self) -> str:
        """`body.topology.topology_hash` of the surface."""
        return str(self._about.get("template_hash", ""))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all people, in order."""
        return tuple(name for part in self._parts for name in _texts(part, "names"))

    @cached_property
    def sex(self) -> tuple[str, ...]:
        """ "female" or "male"."""
        return tuple(sex for part in self._parts for sex in _texts(part, "sexes"))

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
        """One body, read from the disk."""
        part, row = self._place(person)
        names = self._about.get("parameter_names")
        values = self._array(part, "parameters")[row]
        if not isinstance(names, list) or len(names) != len(values):
            raise FormatError(f"{self.path} does not name its parameters; it is damaged.")
        return Identity(
            self._rows(part, "rest_vertices")[row : row + 1][0],
            self._rows(part, "joints")[row : row + 1][0],
            {str(name): np.asarray(value) for name, value in zip(names, values, strict=True)},
        )

    def _place(self, person: int) -> tuple[GroupReader, int]:
        if not 0 <= person < self.count:
            raise InputError(
                f"there is no person {person}; {self.path} has {self.count}, counted from 0."
            )
        group, row = self._places[person]
        return self._parts[group], row

    def _rows(self, part: GroupReader, name: str) -> Any:
        kind, shape = _ARRAYS[name]
        return part.rows(name, kind, (len(_texts(part, "names")), *shape))

    def _array(self, part: GroupReader, name: str) -> NumpyArray:
        kind, shape = _ARRAYS[name]
        return part.array(name, kind, (len(_texts(part, "names")), *shape))

    def _table(self, name: str) -> NumpyArray:
        return np.concatenate([self._array(part, name) for part in self._parts])


def _texts(part: GroupReader, name: str) -> list[str]:
    found = part.attributes.get(name)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise FormatError(f"{part.path} has no list {name!r}; it is damaged.")
    return found
