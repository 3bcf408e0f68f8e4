"""How dimensions go together in people: a joint Gaussian of their logarithms, fitted to ANSUR II.

For each sex, z = (log dimensions, age) ~ N(μ, Σ). Given some of z, the others follow

    E[z_o | z_g] = μ_o + Σ_og Σ_gg⁻¹ (z_g − μ_g),   Cov = Σ_oo − Σ_og Σ_gg⁻¹ Σ_go,

which is linear regression in logarithms: powers, so that ratios stay sensible far from the mean.
Bodies fitted to such people tell how the solver's unknowns follow from the dimensions. Only fitted
coefficients ship (`data/population.npz`, made by `tools/fit_population.py`). This is what the
solver expects of one person; `corporeal.population` draws many.
"""

from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.anthropometry.definitions import NAMES
from corporeal.errors import AssetError

AGES: Final = (17.0, 58.0)
"""Ages in the survey, years; others count as the nearer end."""
ASSET: Final = "data/population.npz"
UNFITTED_SPREAD: Final = 0.4
"""Prior spread of an unknown that no fitted body had."""
FOLLOWING: Final = {"gauntness": 0.03, "belly-apron": 0.03}
"""Prior spread of unknowns that change no dimension to speak of: they follow from the body mass
index (`companions.with_build`)."""


@dataclass(frozen=True, eq=False)
class Population:
    """People of one sex, or a mixture; log dimensions in the order of `NAMES`, then age."""

    mean: Float[NumpyArray, "Z"]
    """Of (log dimensions, age): metres, kilograms, years."""
    covariance: Float[NumpyArray, "Z Z"]
    """Of (log dimensions, age)."""
    shape_mean: Float[NumpyArray, "K"]
    """Unknowns of the body fitted to the mean person, in the order of `unknown_names`."""
    shape_slopes: Float[NumpyArray, "K Z"]
    """Change of the unknowns with (log dimensions, age)."""
    shape_covariance: Float[NumpyArray, "K K"]
    """Of the unknowns about that."""

    def mixed(self, other: "Population", share: float) -> "Population":
        """This population and `share` of another; all moments are mixed linearly."""
        parts = {
            field.name: (1 - share) * getattr(self, field.name) + share * getattr(other, field.name)
            for field in fields(self)
        }
        return Population(**parts)

    def conditional(
        self, given: Bool[NumpyArray, "Z"], values: Float[NumpyArray, "g"]
    ) -> tuple[Float[NumpyArray, "o"], Float[NumpyArray, "o o"]]:
        """Mean and covariance of what is not given; `values` are the given z."""
        g, o = np.flatnonzero(given), np.flatnonzero(~given)
        across = self.covariance[np.ix_(g, o)]
        gain = np.linalg.solve(self.covariance[np.ix_(g, g)], across).T
        mean = self.mean[o] + gain @ (values - self.mean[g])
        return mean, self.covariance[np.ix_(o, o)] - gain @ across

    def shape(self, dimensions: Float[NumpyArray, "Z"]) -> Float[NumpyArray, "K"]:
        """Unknowns that bodies of these (log dimensions, age) have on average."""
        return self.shape_mean + self.shape_slopes @ (dimensions - self.mean)


def people(gender: float, unknowns: tuple[str, ...]) -> Population:
    """People of gender 0 (female) … 1 (male), for a solver with these unknowns.

    An unknown that was not there when the bodies were fitted starts at 0, loosely.
    """
    names, female, male = _load()
    mixed = female.mixed(male, gender)
    kept = [i for i, name in enumerate(unknowns) if name in names]
    source = [names.index(unknowns[i]) for i in kept]
    mean, slopes = np.zeros(len(unknowns)), np.zeros((len(unknowns), len(mixed.mean)))
    covariance = np.diag([FOLLOWING.get(name, UNFITTED_SPREAD) ** 2 for name in unknowns])
    mean[kept], slopes[kept] = mixed.shape_mean[source], mixed.shape_slopes[source]
    covariance[np.ix_(kept, kept)] = mixed.shape_covariance[np.ix_(source, source)]
    return replace(mixed, shape_mean=mean, shape_slopes=slopes, shape_covariance=covariance)


@cache
def _load() -> tuple[tuple[str, ...], Population, Population]:
    source = files("corporeal.anthropometry").joinpath(ASSET)
    if not source.is_file():
        raise AssetError(f"{ASSET} is missing from the installed package; install corporeal again.")
    with np.load(BytesIO(source.read_bytes()), allow_pickle=False) as stored:
        if tuple(str(name) for name in stored["names"]) != NAMES:
            raise AssetError(
                f"{ASSET} was fitted for other measurements than this version has; "
                f"run tools/fit_population.py."
            )
        unknowns = tuple(str(name) for name in stored["unknown_names"])
        return unknowns, _population(stored, "female"), _population(stored, "male")


def _population(stored: "np.lib.npyio.NpzFile", sex: str) -> Population:
    arrays = {f.name: stored[f"{sex}_{f.name}"].astype(np.float64) for f in fields(Population)}
    return Population(**arrays)
