"""Body mass: the index of any static body, and the maps between shape and weight (eq. 26).

Weight is linear in volume, so its cube root is close to linear in shape coefficients: f = (w^⅓, h).
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.errors import InputError
from corporeal.geometry.volume import enclosed_volume
from corporeal.units import BODY_DENSITY


def weight_and_height(
    vertices: Float[NumpyArray, "V 3"], triangles: NumpyArray
) -> tuple[float, float]:
    """Mass (kg) and height (m) of a closed skin in the zero pose: volume, and its vertical span."""
    points = np.asarray(vertices, np.float64)
    mass = BODY_DENSITY * abs(float(enclosed_volume(points, triangles)))
    return mass, float(np.ptp(points[:, 1]))


def body_mass_index(identity: Identity, triangles: NumpyArray) -> float:
    """kg/m² of a body in the zero pose."""
    mass, height = weight_and_height(np.asarray(identity.rest_vertices), triangles)
    if not height > 0:
        raise InputError(f"a body is {height} m high; expected a height above 0.")
    return mass / height**2


@dataclass(frozen=True)
class WeightMaps:
    """Linear maps between shape coefficients and f = (w^⅓, h), with their means."""

    mean_features: Float64[NumpyArray, "2"]
    """kg^⅓ and m, where all shape coefficients are 0."""
    features_from_shape: Float64[NumpyArray, "2 S"]
    """C: f̂ = f̄ + C β."""
    shape_from_features: Float64[NumpyArray, "S 2"]
    """A: the mean change of β with f."""

    def features(self, betas: Float64[NumpyArray, "S"]) -> Float64[NumpyArray, "2"]:
        """(w^⅓, h) of a shape."""
        return self.mean_features + self.features_from_shape @ betas

    def index(self, betas: Float64[NumpyArray, "S"]) -> float:
        """Body mass index w/h² of a shape, kg/m²."""
        root, height = self.features(betas)
        return float(root**3 / height**2)

    def reshaped(
        self, betas: Float64[NumpyArray, "S"], weight_change: float
    ) -> Float64[NumpyArray, "S"]:
        """β of the person with so many kg more, of the same height (eq. 26)."""
        old = self.features(betas)
        weight = old[0] ** 3 + weight_change
        if not weight > 0:
            raise InputError(
                f"a person of {old[0] ** 3:.1f} kg cannot change by {weight_change} kg; expected "
                f"some weight to be left."
            )
        return betas + self.shape_from_features @ (np.array([np.cbrt(weight), old[1]]) - old)


def fit_weight_maps(
    betas: Float64[NumpyArray, "n S"],
    masses: Float64[NumpyArray, "n"],
    heights: Float64[NumpyArray, "n"],
    ridge: float = 1e-3,
) -> WeightMaps:
    """Both maps by ridge regression on people whose weight (kg) and height (m) are known."""
    if len(betas) < 3:
        raise InputError(f"{len(betas)} people came; expected at least three to learn weight from.")
    features = np.stack([np.cbrt(masses), heights], axis=1)
    mean = features.mean(axis=0)
    about = features - mean
    return WeightMaps(mean, _regression(betas, about, ridge).T, _regression(about, betas, 1e-9).T)


def _regression(inputs: NumpyArray, outputs: NumpyArray, ridge: float) -> NumpyArray:
    square = inputs.T @ inputs
    strength = ridge * max(float(np.trace(square)) / len(square), 1e-300)
    return np.linalg.solve(square + strength * np.eye(len(square)), inputs.T @ outputs)
