"""One split of captured movements for all learned dynamics, with the training takes' components.

Training people and test people come from one packed set or from two. Errors of predictions are
exact from coefficients and a few sums (`packed_offsets.Regional`), whole and by region.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float32, Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.registrations import Take
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.dynamics.known_takes import known_genders, known_people
from corporeal.errors import InputError
from corporeal.evaluation.dynamics_cases import CASES, People, case_of_takes
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.pipelines.packed_dataset import read_packed_dataset
from corporeal.pipelines.packed_offsets import (
    PackedOffsets,
    Regional,
    joined_regional,
    packed_offsets,
    regional,
    symmetric_directions,
)

REGIONS = {
    "soft": ("belly", "left_breast", "right_breast", "left_buttock", "right_buttock",
             "left_thigh", "right_thigh"),
    "belly": ("belly",),
    "breasts": ("left_breast", "right_breast"),
    "buttocks": ("left_buttock", "right_buttock"),
    "thighs": ("left_thigh", "right_thigh"),
}  # fmt: skip
"""Parts of the body that swing most, together and apart."""
GROUPS = (("below 25", 0.0, 25.0), ("25 to 30", 25.0, 30.0), ("30 and more", 30.0, 1000.0))
"""Body mass index, kg/m²."""
Predictions = dict[int, Float64[NumpyArray, "N D"]]
"""δ̂ of takes, by their number."""


@dataclass(frozen=True, eq=False)
class Bench:
    """Takes, their cases, and their truth in terms of components of the training's takes."""

    takes: tuple[Take, ...]
    """Of all people."""
    cases: list[int]
    """Of every take."""
    test_people: tuple[str, ...]
    """Whom nothing has seen."""
    shapes: Float32[NumpyArray, "D V 3"]
    """Components, orthonormal."""
    parity: Float64[NumpyArray, "D"]
    """What mirrored coefficients are multiplied by."""
    explained: float
    """The components' share of the training's squares."""
    bodies: Mapping[str, Identity]
    """Everybody at rest."""
    static: SmplSkinning
    """What dynamics are added to."""
    people: People
    """Who they are."""
    whole: Regional
    """All vertices."""
    regions: Mapping[str, Regional]
    """Those of `REGIONS`."""

    @staticmethod
    def read(
        test: Path, learn: Path | None, people: Sequence[str], motions: Sequence[str], count: int
    ) -> "Bench":
        """Read the sets and find components of what is not held out; all people of `test` are test
        people where there is a set to `learn` from."""
        static = SmplSkinning(load_default_body().template)
        sets = [read_packed_dataset(path) for path in ((test,) if learn is None else (learn, test))]
        parts = [packed_offsets(held) for held in sets]
        bodies: dict[str, Identity] = {}
        for held in sets:
            own = known_people(held)
            if shared := sorted(own.keys() & bodies.keys()):
                raise InputError(
                    f"{', '.join(shared[:3])} are in both sets; expected test people of their own."
                )
            bodies |= own
        told = [known_genders(held) for held in sets]
        genders = None if None in told else {k: v for one in told if one for k, v in one.items()}
        triangles = np.asarray(static.template.mesh.triangles)
        indices = {name: body_mass_index(who, triangles) for name, who in bodies.items()}
        takes = tuple(take for part in parts for take in part.takes)
        if learn is not None:
            people = tuple(dict.fromkeys(take.subject for take in parts[-1].takes))
        tests = tuple(people) or second_of_each(indices, genders)
        cases = case_of_takes([(t.subject, t.sequence) for t in takes], tests, motions)
        return Bench.of(parts, takes, cases, tests, static, bodies, People(indices, genders), count)

    @staticmethod
    def everything(path: Path, count: int) -> "Bench":
        """A set all of which is learned from."""
        static = SmplSkinning(load_default_body().template)
        held = read_packed_dataset(path)
        part, bodies = packed_offsets(held), known_people(held)
        triangles = np.asarray(static.template.mesh.triangles)
        indices = {name: body_mass_index(who, triangles) for name, who in bodies.items()}
        cases = [0] * len(part.takes)
        people = People(indices, known_genders(held))
        return Bench.of([part], part.takes, cases, (), static, bodies, people, count)

    @staticmethod
    def of(
        parts: Sequence[PackedOffsets],
        takes: tuple[Take, ...],
        cases: list[int],
        tests: tuple[str, ...],
        static: SmplSkinning,
        bodies: Mapping[str, Identity],
        people: People,
        count: int,
    ) -> "Bench":
        """Components of the takes of case 0, which must be of the first set."""
        mirror = static.template.mesh.mirror
        assert mirror is not None
        learned = [y for y, c in zip(parts[0].coordinates, cases, strict=False) if c == 0]
        basis = symmetric_directions(parts[0], learned, np.asarray(mirror), count)
        labels, names = np.asarray(static.template.part_labels), static.template.part_names
        regions = {
            name: np.isin(labels, [names.index(part) for part in wanted])
            for name, wanted in REGIONS.items()
        }
        return Bench(
            takes, cases, tests, basis.shapes, basis.parity, basis.explained, bodies, static,
            people, joined_regional([regional(part, basis.shapes) for part in parts]),
            {
                name: joined_regional([regional(part, basis.shapes, some) for part in parts])
                for name, some in regions.items()
            },
        )  # fmt: skip

    @property
    def learned(self) -> list[int]:
        """Takes that may be learned from."""
        return [n for n, case in enumerate(self.cases) if case == 0]

    @property
    def tested(self) -> list[int]:
        """All others."""
        return [n for n, case in enumerate(self.cases) if case]

    def deltas(self, n: int) -> Float64[NumpyArray, "N D"]:
        """True coefficients of a take."""
        return self.whole.deltas[n]

    def errors(self, n: int, found: NumpyArray | None, region: str = "") -> NumpyArray:
        """Static, oracle and model error of a take in a region (all if empty), millimetres."""
        part = self.regions[region] if region else self.whole
        rows = (part.rms(n, None), part.rms(n, self.deltas(n)), part.rms(n, found))
        return 1e3 * np.array([row.mean() for row in rows])

    def summary(self, found: Mapping[int, NumpyArray]) -> dict[str, Any]:
        """Errors of every case: all vertices, by region, by group of body mass, and by take."""
        made: dict[str, Any] = {}
        for case in range(1, len(CASES)):
            which = [n for n, c in enumerate(self.cases) if c == case]
            if not which:
                continue
            rows = np.array([self.errors(n, found.get(n)) for n in which])
            masses = np.array([self.people.indices[self.takes[n].subject] for n in which])
            made[str(case)] = {
                "takes": len(which),
                "all": _closed(rows),
                **{
                    name: _closed(np.array([self.errors(n, found.get(n), name) for n in which]))
                    for name in self.regions
                },
                "by_bmi": {
                    name: {"takes": int(some.sum()), **_closed(rows[some])}
                    for name, low, high in GROUPS
                    if (some := (masses >= low) & (masses < high)).any()
                },
                "by_take_mm": {self.name(n): round(float(r[2]), 3)
                               for n, r in zip(which, rows, strict=True)},
            }  # fmt: skip
        return made

    def closed(self, found: Mapping[int, NumpyArray]) -> str:
        """Share of the way from static to oracle of every case, in words."""
        words = []
        for case in range(1, len(CASES)):
            which = [n for n, c in enumerate(self.cases) if c == case]
            if which:
                rows = np.array([self.errors(n, found.get(n)) for n in which])
                words.append(f"{case}: {100 * _closed(rows)['closed']:.1f} %")
        return ", ".join(words)

    def name(self, n: int) -> str:
        """A take in words."""
        return f"{self.takes[n].subject} {self.takes[n].sequence}"


def _closed(rows: NumpyArray) -> dict[str, float]:
    """Means over takes, and the share of the way from static to oracle."""
    static, oracle, model = (float(value) for value in rows.mean(axis=0))
    return {
        "static_mm": round(static, 3),
        "oracle_mm": round(oracle, 3),
        "model_mm": round(model, 3),
        "closed": round((static - model) / max(static - oracle, 1e-9), 4),
    }


def second_of_each(
    indices: Mapping[str, float], genders: Mapping[str, float] | None
) -> tuple[str, ...]:
    """Of the women and of the men the one next above the middle by body mass."""
    groups = [list(indices)]
    if genders is not None:
        groups = [[p for p in indices if genders[p] == g] for g in (0.0, 1.0)]
    ordered = [sorted(group, key=lambda p: indices[p]) for group in groups if len(group) > 2]
    return tuple(group[len(group) // 2 if len(group) % 2 else len(group) // 2 - 1]
                 for group in ordered)  # fmt: skip
