"""How bodies change with weight and height, and weight and height from a body's shape.

With features f = (w^⅓, h), mass w in kg and stature h in metres, and shape coefficients β = Uᵀ(x −
x̄) on the principal components U of people of one sex (`dyna-2015`, section 6.3; `correlated-
identity-pose-2006`, figure 6),

    x_new = x_old + U A (f_new − f_old)                                                     (1)
    f̂ = f̄ + C β                                                                            (2)

A and C are least squares over a population. Every principal component is a mixture of the body's
shape targets, so U is stored as the few coefficients of that mixture.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.errors import AssetError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.distribution import SEXES

ASSET: Final = "data/weight_map.npz"
COMPONENTS: Final = 30
"""Principal components kept: with these the masses of women left out are told to 0.9 %, with ten
to 3.1."""


@dataclass(frozen=True, eq=False)
class WeightMap:
    """Regressions of one sex."""

    mean_mixture: Float[NumpyArray, "S"]
    """Target coefficients of the mean body x̄."""
    mixtures: Float[NumpyArray, "S k"]
    """Target coefficients of the principal components U (unit length in the space of skins)."""
    mean_features: Float[NumpyArray, "2"]
    """f̄: cube root of kilograms, metres."""
    shape_by_features: Float[NumpyArray, "k 2"]
    """A."""
    features_by_shape: Float[NumpyArray, "2 k"]
    """C."""


def feature_offsets(
    model: PhenotypeModel, gender: float
) -> tuple[Float[NumpyArray, "V 3 2"], Float[NumpyArray, "J 3 2"]]:
    """U A: change of skin and joints, metres, a unit of w^⅓ (kg^⅓) and of h (metres)."""
    maps = load_weight_maps()
    mixtures = [maps[sex].mixtures @ maps[sex].shape_by_features for sex in SEXES]
    mixture = (1 - gender) * mixtures[0] + gender * mixtures[1]
    return _mixed_targets(model, mixture)


def predicted_features(model: PhenotypeModel, identity: Identity, sex: str) -> tuple[float, float]:
    """Equation (2): mass, kg, and stature, metres, told from the shape of the skin alone."""
    found = load_weight_maps()[sex]
    components, _ = _mixed_targets(model, found.mixtures)
    mean = np.asarray(model.base_vertices, np.float64) + np.tensordot(
        np.asarray(model.vertex_offsets, np.float64), found.mean_mixture, (0, 0)
    )
    skin = np.asarray(identity.rest_vertices, np.float64)
    skin = skin - [0.0, skin[:, 1].min() - mean[:, 1].min(), 0.0]
    # β_k = Σ_vi U_vik (x_vi − x̄_vi)
    shape = np.einsum("vik,vi->k", components, skin - mean)
    root, stature = found.mean_features + found.features_by_shape @ shape
    return float(root**3), float(stature)


def _mixed_targets(
    model: PhenotypeModel, mixture: Float[NumpyArray, "S k"]
) -> tuple[Float[NumpyArray, "V 3 k"], Float[NumpyArray, "J 3 k"]]:
    used = np.flatnonzero(np.any(mixture != 0, axis=1))
    weights = mixture[used].astype(np.float64)
    # d_vik = Σ_s D_svi W_sk
    return tuple(  # pyright: ignore[reportReturnType]
        np.tensordot(np.asarray(offsets[used], np.float64), weights, (0, 0))
        for offsets in (model.vertex_offsets, model.joint_offsets)
    )


def target_fingerprint(model: PhenotypeModel) -> str:
    """Which targets the mixtures are of."""
    return sha256("\n".join(model.body.targets.names).encode()).hexdigest()


def stored_form(found: WeightMap, sex: str) -> dict[str, NumpyArray]:
    """The arrays of one sex, as the asset has them."""
    return {f"{sex}_{f.name}": getattr(found, f.name).astype(np.float32) for f in fields(found)}


@cache
def load_weight_maps() -> Mapping[str, WeightMap]:
    """The shipped map of each sex, made by `tools/fit_weight_map.py`."""
    source = files("corporeal.population").joinpath(ASSET)
    if not source.is_file():
        raise AssetError(f"{ASSET} is missing from the installed package; install corporeal again.")
    with np.load(BytesIO(source.read_bytes()), allow_pickle=False) as stored:
        if str(stored["targets"]) != target_fingerprint(PhenotypeModel()):
            raise AssetError(
                f"{ASSET} was fitted for other shape targets than this version has; "
                f"run tools/fit_weight_map.py."
            )
        return {
            sex: WeightMap(
                *(stored[f"{sex}_{f.name}"].astype(np.float64) for f in fields(WeightMap))
            )
            for sex in SEXES
        }
