"""How the dimensions of people go together: a chain of four anchors, then a copula of the rest.

The anchors of a person are age a, stature h, body mass index b and waist w. A crowd draws them one
after the other, each a regression on those before with a residual of free form:

    v_k = φ_k(v_1 … v_{k−1}) · β_k + Q_k(ξ_k),    ξ_k ~ N(0, 1)                            (1)

All other dimensions d follow from the anchors by powers, with residuals tied by a Gaussian copula:

    log d = B x(a, h, b, w) + Q(L ξ),   ξ ~ N(0, I),   L Lᵀ = R                            (2)

Q is a quantile function of the normal score, tabled at `SCORES` and linear between and beyond. (1)
belongs to a crowd (the soldiers of ANSUR II, the adults of NHANES), (2) to a sex. Mass is b h².
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.definitions import NAMES
from corporeal.errors import AssetError

ASSET: Final = "data/people.npz"
SEXES: Final = ("female", "male")
CROWDS: Final = ("adults", "soldiers")
ANCHORS: Final = ("age", "stature", "bmi", "waist_circumference")
"""Age in years, the others as logarithms of metres and kg/m²."""
OTHERS: Final = tuple(n for n in NAMES if n not in ("stature", "mass", "waist_circumference"))
SCORES: Final = np.linspace(-2.5, 2.5, 21)
"""Normal scores of the tabled quantiles: 0.6 % to 99.4 % of people."""
SURVEY_AGES: Final = (17.0, 58.0)
"""Ages that (2) knows, years; older people count as 58: their waist, stature and mass tell more."""
_CENTRE: Final = np.array([30.0, np.log(1.7), np.log(26.0), np.log(0.9)])
_DECADE: Final = np.array([10.0, 1.0, 1.0, 1.0])


@dataclass(frozen=True, eq=False)
class Chain:
    """Equation (1): how one crowd draws its anchors."""

    slopes: tuple[Float[NumpyArray, "_"], ...]
    """β_k, one vector an anchor."""
    quantiles: Float[NumpyArray, "4 21"]
    """Q_k at `SCORES`."""

    def anchors(
        self, scores: Float[NumpyArray, "n 4"], fixed: Mapping[int, float] | None = None
    ) -> Float[NumpyArray, "n 4"]:
        """Age (years) and log stature, log BMI, log waist from independent normal scores.

        `fixed` sets some anchors, by their place, to a value; those after follow them.
        """
        drawn, residuals = np.zeros_like(scores), quantile(self.quantiles, scores)
        for k, slopes in enumerate(self.slopes):
            drawn[:, k] = chain_features(drawn, k) @ slopes + residuals[:, k]
            if fixed and k in fixed:
                drawn[:, k] = fixed[k]
        return drawn


@dataclass(frozen=True, eq=False)
class Proportions:
    """Equation (2): what people of given anchors have otherwise."""

    slopes: Float[NumpyArray, "5 O"]
    """B."""
    quantiles: Float[NumpyArray, "O 21"]
    """Q at `SCORES`."""
    factor: Float[NumpyArray, "O O"]
    """L, lower triangular: the Cholesky factor of the scores' correlation R."""

    def others(
        self, anchors: Float[NumpyArray, "n 4"], scores: Float[NumpyArray, "n O"]
    ) -> Float[NumpyArray, "n O"]:
        """Logarithms of `OTHERS`, metres, from anchors and independent normal scores."""
        tied = scores @ self.factor.T
        return proportion_features(anchors) @ self.slopes + quantile(self.quantiles, tied)


@dataclass(frozen=True, eq=False)
class PeopleModel:
    """One sex."""

    chains: Mapping[str, Chain]
    """By crowd."""
    proportions: Proportions
    """All other dimensions, given the anchors."""

    def dimensions(
        self, anchors: Float[NumpyArray, "n 4"], scores: Float[NumpyArray, "n O"]
    ) -> Float[NumpyArray, "n M"]:
        """All dimensions in the order of `NAMES`, metres and kilograms."""
        found = dict(zip(OTHERS, self.proportions.others(anchors, scores).T, strict=True))
        _, stature, bmi, waist = anchors.T
        found |= {"stature": stature, "mass": bmi + 2 * stature, "waist_circumference": waist}
        return np.exp(np.stack([found[name] for name in NAMES], axis=-1))


def quantile(
    tables: Float[NumpyArray, "k 21"], scores: Float[NumpyArray, "n k"]
) -> Float[NumpyArray, "n k"]:
    """Q_k(ξ_k): piecewise linear in the normal score; the end pieces go on."""
    step = SCORES[1] - SCORES[0]
    piece = np.clip(((scores - SCORES[0]) // step).astype(int), 0, len(SCORES) - 2)
    share = (scores - SCORES[piece]) / step
    which = np.arange(len(tables))
    start, end = tables[which, piece], tables[which, piece + 1]
    return start + share * (end - start)


def chain_features(anchors: Float[NumpyArray, "n 4"], k: int) -> Float[NumpyArray, "n f"]:
    """φ_k: of the anchors before the k-th, squares of age and BMI among them."""
    age, stature, bmi, _ = ((anchors - _CENTRE) / _DECADE).T
    one = np.ones(len(anchors))
    columns = {
        0: [one],
        1: [one, age, age**2],
        2: [one, age, age**2, stature],
        3: [one, age, age**2, stature, bmi, bmi**2],
    }[k]
    return np.stack(columns, axis=-1)


def proportion_features(anchors: Float[NumpyArray, "n 4"]) -> Float[NumpyArray, "n 5"]:
    """x: 1 and the centred anchors, age within `SURVEY_AGES`."""
    known = anchors.copy()
    known[:, 0] = np.clip(known[:, 0], *SURVEY_AGES)
    return np.column_stack([np.ones(len(anchors)), (known - _CENTRE) / _DECADE])


def stored_form(model: PeopleModel, sex: str) -> dict[str, NumpyArray]:
    """The arrays of one sex, as the asset has them."""
    arrays = {
        f"{sex}_slopes": model.proportions.slopes,
        f"{sex}_quantiles": model.proportions.quantiles,
        f"{sex}_factor": model.proportions.factor,
    }
    for crowd, chain in model.chains.items():
        arrays[f"{sex}_{crowd}_quantiles"] = chain.quantiles
        for anchor, slopes in zip(ANCHORS, chain.slopes, strict=True):
            arrays[f"{sex}_{crowd}_{anchor}_slopes"] = slopes
    return {name: array.astype(np.float32) for name, array in arrays.items()}


@cache
def load_people() -> Mapping[str, PeopleModel]:
    """The shipped model of each sex, made by `tools/fit_people.py`."""
    source = files("corporeal.population").joinpath(ASSET)
    if not source.is_file():
        raise AssetError(f"{ASSET} is missing from the installed package; install corporeal again.")
    with np.load(BytesIO(source.read_bytes()), allow_pickle=False) as stored:
        if tuple(str(name) for name in stored["others"]) != OTHERS:
            raise AssetError(
                f"{ASSET} was fitted for other measurements than this version has; "
                f"run tools/fit_people.py."
            )
        arrays = {name: stored[name].astype(np.float64) for name in stored if name != "others"}
    return {sex: _model(arrays, sex) for sex in SEXES}


def _model(arrays: Mapping[str, NumpyArray], sex: str) -> PeopleModel:
    chains = {
        crowd: Chain(
            tuple(arrays[f"{sex}_{crowd}_{anchor}_slopes"] for anchor in ANCHORS),
            arrays[f"{sex}_{crowd}_quantiles"],
        )
        for crowd in CROWDS
    }
    named = (arrays[f"{sex}_{name}"] for name in ("slopes", "quantiles", "factor"))
    return PeopleModel(chains, Proportions(*named))
