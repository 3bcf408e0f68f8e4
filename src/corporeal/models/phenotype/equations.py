"""How sliders become weights of shape targets.

A slider a has anchors x_1 < … < x_n, each with a word, such as `minweight`, `averageweight`,
`maxweight` at 0, ½, 1. Its value p gives every word a piecewise-linear weight,

    h_k(p) = max(0, min((p − x_{k−1}) / (x_k − x_{k−1}), (x_{k+1} − p) / (x_{k+1} − x_k))),

held constant beyond the first and last anchor; the weights of one slider add up to 1. A target's
name is a list of words; its coefficient is the product of their weights,

    c_s = Π_{word ∈ name(s)} h_word,

and a combination that no target names has zero offset. The shape is V = V_base + Σ_s c_s T_s.

======  =====================================  ==========================
symbol  meaning                                code
======  =====================================  ==========================
p       slider value                           `phenotype[name]`
x_k     anchors                                `Axis.anchors`
h_k     weight of a word                       `anchor_weights`
c_s     coefficient of target s                `macro_coefficients`
======  =====================================  ==========================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.parameter import Parameter
from corporeal.errors import InputError
from corporeal.runtime.arrays import namespace_of


@dataclass(frozen=True)
class Axis:
    """One slider, and the words of target names that stand at its anchors."""

    parameter: Parameter
    """Name, range and default of the slider."""
    anchors: tuple[float, ...]
    """Values of the slider at which one target has all the weight, rising."""
    words: tuple[str, ...]
    """Word of the target names at each anchor."""


Rule = tuple[Axis, ...]
"""A blend rule: all sliders."""

SHARED_WORDS: Mapping[str, float] = {"african": 1 / 3, "asian": 1 / 3, "caucasian": 1 / 3}
"""Words with a fixed weight: the three sculpted ancestries enter in equal shares."""

_THIRDS = (0.0, 0.5, 1.0)


def _slider(name: str, meaning: str) -> Parameter:
    return Parameter(name, 0.0, 1.0, 0.5, meaning)


PHENOTYPE_RULE: Rule = (
    Axis(_slider("gender", "0 female … 1 male"), (0.0, 1.0), ("female", "male")),
    Axis(
        Parameter("age", 18.0, 80.0, 30.0, "young to 25, then towards old (90)", unit="years"),
        (25.0, 90.0),
        ("young", "old"),
    ),
    Axis(
        _slider("muscle", "0 slack … 1 athletic"),
        _THIRDS,
        ("minmuscle", "averagemuscle", "maxmuscle"),
    ),
    Axis(
        _slider("weight", "0 thin … 1 stout"), _THIRDS, ("minweight", "averageweight", "maxweight")
    ),
    Axis(_slider("height", "0 short … 1 tall"), _THIRDS, ("minheight", "", "maxheight")),
    Axis(
        _slider("proportions", "0 uncommon … 1 ideal"),
        _THIRDS,
        ("uncommonproportions", "", "idealproportions"),
    ),
    Axis(_slider("cup", "0 small … 1 large breasts"), _THIRDS, ("mincup", "averagecup", "maxcup")),
    Axis(
        _slider("firmness", "0 soft … 1 firm breasts"),
        _THIRDS,
        ("minfirmness", "averagefirmness", "maxfirmness"),
    ),
)
"""Our rule. An empty word is an anchor without a target: average height and proportions are the
shape itself."""


def _two_ends(name: str, first: str, second: str, low: float = 0.0) -> Axis:
    return Axis(Parameter(name, low, 1.0, max(low, 0.5), "as in anny"), (low, 1.0), (first, second))


ANNY_RULE: Rule = (
    _two_ends("gender", "male", "female"),
    _two_ends("age", "young", "old", low=2 / 3),
    *PHENOTYPE_RULE[2:4],
    _two_ends("height", "minheight", "maxheight"),
    _two_ends("proportions", "idealproportions", "uncommonproportions"),
    *PHENOTYPE_RULE[6:],
)
"""The rule of the `anny` package, for adults: gender and proportions run the other way, age is a
share of its own scale, and height and proportions have two anchors, so that their middle is the
mean of both ends. Kept to compare with it."""


@dataclass(frozen=True, eq=False)
class MacroTable:
    """Which word weights are multiplied for every macro target."""

    rule: Rule
    """The axes that are blended, each with its anchors."""
    factors: Int[NumpyArray, "S W"]
    """Columns of the word weights; column 0 is the constant 1."""


def macro_table(names: tuple[str, ...], rule: Rule) -> MacroTable:
    """Read the words of target names, such as `universal-male-old-maxmuscle-minweight`."""
    words = ["universal", *SHARED_WORDS, *(word for axis in rule for word in axis.words)]
    rows = []
    for name in names:
        parts = name.rpartition("/")[2].split("-")
        unknown = [part for part in parts if part not in words]
        if unknown:
            raise InputError(
                f"target {name!r} has the words {unknown}; expected words of the blend rule: "
                f"{', '.join(word for word in words if word)}."
            )
        rows.append([words.index(part) for part in parts if part != "universal"])
    widest = max(len(row) for row in rows)
    return MacroTable(rule, np.array([row + [0] * (widest - len(row)) for row in rows]))


def anchor_weights(value: Float[Array, "*batch"], axis: Axis) -> list[Float[Array, "*batch"]]:
    """Piecewise-linear weight h_k of every anchor of one slider; they add up to 1."""
    xp = namespace_of(value)
    x = axis.anchors
    zero, one = xp.zeros_like(value), xp.ones_like(value)
    # s_k: 0 below x_k, 1 above x_{k+1}, linear between; no bound where the range itself ends, so
    # that the derivative is whole there
    steps = []
    for low, high in pairwise(x):
        step = (value - low) / (high - low)
        step = xp.maximum(step, zero) if axis.parameter.low < low else step
        steps.append(xp.minimum(step, one) if axis.parameter.high > high else step)
    # h_1 = 1 − s_1,  h_k = s_{k−1} − s_k,  h_n = s_{n−1}
    return [before - after for before, after in zip([one, *steps], [*steps, zero], strict=True)]


def macro_coefficients(
    table: MacroTable, phenotype: Mapping[str, Array | float]
) -> Float[Array, "*batch S"]:
    """Coefficient c_s of every macro target; sliders not named are at their defaults."""
    xp = namespace_of(*phenotype.values())
    values = [
        xp.asarray(phenotype.get(axis.parameter.name, axis.parameter.default))
        for axis in table.rule
    ]
    given = [xp.asarray(value) for value in phenotype.values() if hasattr(value, "dtype")]
    dtype = xp.result_type(*given) if given else values[0].dtype
    values = xp.broadcast_arrays(*(xp.astype(value, dtype) for value in values))
    one = xp.ones_like(values[0])
    weights = [one, *(one * share for share in SHARED_WORDS.values())]
    for value, axis in zip(values, table.rule, strict=True):
        weights += anchor_weights(value, axis)
    stacked = xp.stack(weights, axis=-1)
    # c_s = Π_w h_{factor(s, w)}
    coefficients = stacked[..., table.factors[:, 0]]
    for column in table.factors.T[1:]:
        coefficients = coefficients * stacked[..., column]
    return coefficients
