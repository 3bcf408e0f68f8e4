"""What the solver may change: macro sliders and local modifiers, left and right tied.

At fixed gender and age a shape is base + directions · c(θ). Coefficients of macro targets are
products of weights that are affine in each slider between its anchors, so a difference that stays
between two anchors is their exact derivative; a local modifier is affine on either side of 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.parameter import Parameter
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.models.phenotype.modifiers import Modifier

SLIDERS: Final = ("muscle", "weight", "height", "proportions", "cup", "firmness")
LEFT_ALONE: Final = (
    # posture and detail, which change no dimension
    "trans-forward",
    "trans-out",
    "foot-trans",
    "navel-out",
    "fingers-diameter",
    "fingers-distance",
    "valgus",
    "bulge",
    "breast-dist",
    "breast-point",
    "pelvis-tone",
    "neck-double",
    "frontchest",
    # doubles of others, which could only work against them
    "arm-scale-depth",
    "arm-scale-horiz",
    "leg-scale",
    "neck-scale-depth",
    "neck-scale-horiz",
    "neck-back-scale",
    "foot-scale-depth",
    "foot-scale-vert",
    "legs-height",
    "measure-upperarm-circ",
    "measure-thigh-circ",
    "measure-calf-circ",
)
"""Parts of the names of modifiers that the solver does not move."""
NARROWER: Final = {
    "weight": (0.0, 0.65),
    "cup": (0.0, 0.9),
    "firmness": (0.4, 1.0),
    "hip-scale-horiz": (-0.35, 1.0),
    "buttocks-volume": (-1.0, 0.25),
    "measure-hips-circ": (0.0, 1.0),
    "open-creases": (0.9, 1.0),
    "gauntness": (0.0, 1.0),
    "belly-apron": (0.0, 1.0),
}
"""Bounds of what breaks the surface before its own bounds (the groin folds, the cleft meets itself,
a slack breast meets the chest) and of what keeps it whole. Beyond that weight, adiposity makes
bodies heavier."""
_STEP: Final = 1e-3


@dataclass(frozen=True, eq=False)
class Unknown:
    """One number that the solver finds."""

    name: str
    """Of a macro slider, or of the modifiers that share it."""
    low: float
    """Smallest value, a slider's or modifier's coefficient."""
    high: float
    """Largest value."""
    modifiers: tuple[Modifier, ...] = ()
    """Modifiers that take its value, one a side; none for a macro slider."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A zero-pose body, metres."""

    vertices: Float[NumpyArray, "V 3"]
    """Skin, metres."""
    joints: Float[NumpyArray, "J 3"]
    """Joint centres, metres."""


def unknowns_of(model: PhenotypeModel) -> tuple[Unknown, ...]:
    """Sliders, then modifiers; those of the left and right side are one unknown."""
    sliders = {p.name: p for p in model.parameters}
    tied: dict[str, list[Modifier]] = {}
    for modifier in model.modifiers:
        name = modifier.parameter.name
        if not any(part in name for part in LEFT_ALONE):
            tied.setdefault(name.removeprefix("l-").removeprefix("r-"), []).append(modifier)
    return (
        *(_slider(sliders[name]) for name in SLIDERS),
        *(_tied(name, tuple(members)) for name, members in tied.items()),
    )


def _slider(parameter: Parameter) -> Unknown:
    low, high = NARROWER.get(parameter.name, (parameter.low, parameter.high))
    return Unknown(parameter.name, low, high)


def _tied(name: str, members: tuple[Modifier, ...]) -> Unknown:
    parameter = members[0].parameter
    low, high = NARROWER.get(name, (parameter.low, parameter.high))
    return Unknown(name, low, high, members)


class ShapeSpace:
    """Shapes of one gender and age, as functions of the unknowns θ."""

    def __init__(self, model: PhenotypeModel, gender: float, age: float) -> None:
        self.model = model
        self.fixed = {"gender": gender, "age": age}
        self.unknowns = unknowns_of(model)
        self.names = tuple(u.name for u in self.unknowns)
        self.low = np.array([u.low for u in self.unknowns])
        self.high = np.array([u.high for u in self.unknowns])
        corners = np.meshgrid(*[[0.25, 0.75]] * len(SLIDERS))
        reached = self._macro(np.stack(corners, axis=-1).reshape(-1, len(SLIDERS)))
        self._macro_rows = np.flatnonzero(np.abs(reached).max(axis=0) > 0)
        body = model.body
        self._vertex_count = len(body.base_vertices)
        self._base = np.concatenate([body.base_vertices, body.base_joints]).astype(np.float64)
        macro = [target_offsets(model, row) for row in self._macro_rows.tolist()]
        self._directions = np.ascontiguousarray(np.array([*macro, *local_directions(model)]).T)

    @property
    def vertex_directions(self) -> Float[NumpyArray, "n C"]:
        """Change of every vertex coordinate by every coefficient, 3V × C, metres."""
        return self._directions[: 3 * self._vertex_count]

    @property
    def joint_directions(self) -> Float[NumpyArray, "n C"]:
        """Change of every joint coordinate by every coefficient, 3J × C, metres."""
        return self._directions[3 * self._vertex_count :]

    def coefficients(self, values: Float[NumpyArray, "K"]) -> Float[NumpyArray, "C"]:
        """c(θ): reachable macro targets, then two a modifier (positive, negative)."""
        count = len(SLIDERS)
        macro = self._macro(values[None, :count])[0, self._macro_rows]
        sided = np.stack([np.maximum(values[count:], 0), np.maximum(-values[count:], 0)], axis=1)
        return np.concatenate([macro, sided.reshape(-1)])

    def slopes(self, values: Float[NumpyArray, "K"]) -> Float[NumpyArray, "C K"]:
        """dc/dθ, exact between anchors and on either side of 0."""
        count, total = len(SLIDERS), len(values)
        macro = macro_slopes(self.model, self.fixed, values[None, :count])[0, self._macro_rows]
        slopes = np.zeros((self._directions.shape[1], total))
        slopes[: len(macro), :count] = macro
        for k in range(count, total):
            row = len(macro) + 2 * (k - count)
            if values[k] >= 0:
                slopes[row, k] = 1.0
            else:
                slopes[row + 1, k] = -1.0
        return slopes

    def shape(self, coefficients: Float[NumpyArray, "C"]) -> Shape:
        """Skin and joints in the zero pose, metres; not set on the ground."""
        offset = self._directions @ coefficients.astype(self._directions.dtype)
        points = self._base + offset.reshape(-1, 3)
        return Shape(points[: self._vertex_count], points[self._vertex_count :])

    def phenotype(self, values: Float[NumpyArray, "K"]) -> dict[str, float]:
        """All sliders."""
        found = {name: float(v) for name, v in zip(SLIDERS, values, strict=False)}
        return {**self.fixed, **found}

    def local(self, values: Float[NumpyArray, "K"]) -> dict[str, float]:
        """All modifiers that the solver moves, both sides."""
        return {
            modifier.parameter.name: float(value)
            for unknown, value in zip(self.unknowns, values, strict=True)
            for modifier in unknown.modifiers
        }

    def identity(self, values: Float[NumpyArray, "K"]) -> Identity:
        """The body, on the ground, with its sliders and modifiers as parameters."""
        return self.model.prepare(self.phenotype(values), self.local(values))

    def _macro(self, sliders: Float[NumpyArray, "n k"]) -> Float[NumpyArray, "n S"]:
        return macro_values(self.model, self.fixed, sliders)


def macro_values(
    model: PhenotypeModel,
    fixed: Mapping[str, float | NumpyArray],
    sliders: Float[NumpyArray, "n k"],
) -> Float[NumpyArray, "n S"]:
    """Coefficients of all macro targets; `fixed` holds gender and age, of all or of each."""
    columns: Mapping[str, NumpyArray] = dict(zip(SLIDERS, sliders.T, strict=True))
    others = {name: np.broadcast_to(value, len(sliders)) for name, value in fixed.items()}
    return model.macro_coefficients({**others, **columns})


def macro_slopes(
    model: PhenotypeModel,
    fixed: Mapping[str, float | NumpyArray],
    sliders: Float[NumpyArray, "n k"],
) -> Float[NumpyArray, "n S k"]:
    """Their derivatives by the sliders, exact between anchors."""
    here = macro_values(model, fixed, sliders)
    slopes = np.empty((*here.shape, sliders.shape[1]))
    for k in range(sliders.shape[1]):
        step = np.where(sliders[:, k] > 1 - 2 * _STEP, -_STEP, _STEP)
        moved = sliders.copy()
        moved[:, k] += step
        slopes[:, :, k] = (macro_values(model, fixed, moved) - here) / step[:, None]
    return slopes


def target_offsets(model: PhenotypeModel, row: int) -> Float[NumpyArray, "n"]:
    """Offsets of one target: vertices, then joints, as one vector."""
    targets = model.body.targets
    return np.concatenate(
        [targets.vertex_offsets[row].reshape(-1), targets.joint_offsets[row].reshape(-1)]
    )


@lru_cache(maxsize=2)
def local_directions(model: PhenotypeModel) -> Float[NumpyArray, "n m"]:
    """Rows: offsets of every modifier unknown, positive then negative, both sides added."""
    first = model.body.macro_count
    rows = []
    for unknown in unknowns_of(model):
        if not unknown.modifiers:
            continue
        rows.append(sum(target_offsets(model, first + m.positive) for m in unknown.modifiers))
        negatives = [m.negative for m in unknown.modifiers if m.negative is not None]
        nothing = np.zeros_like(rows[-1])
        rows.append(sum((target_offsets(model, first + n) for n in negatives), nothing))
    return np.array(rows)
