"""Corrective enveloping as the protocol of generalisation takes it."""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.enveloping import EnvelopingModel
from corporeal.models.enveloping.fitting import PersonFitter


@dataclass(frozen=True, eq=False)
class FittedCharacter:
    """A person that was found: latent coordinates, and the fitter of the model that has them."""

    x: Float64[NumpyArray, "s"]
    """Latent coordinates."""
    fitter: PersonFitter
    """Of the model with so many coordinates."""


@dataclass(frozen=True, eq=False)
class FittedEnveloping:
    """Poses and latent coordinates by squared distances of vertices."""

    model: EnvelopingModel
    """The model that is fitted."""
    iterations: int = 12
    """Gauss–Newton steps at most."""

    def fit_people(
        self, vertices: Float[NumpyArray, "N V 3"], shape_count: int
    ) -> tuple[list[FittedCharacter], Float[NumpyArray, "N V 3"]]:
        """For each registration, the character that comes closest; all skins, metres."""
        fitter = PersonFitter(fewer_latents(self.model, shape_count))
        found = [fitter.fit(v[None], iterations=self.iterations) for v in vertices]
        people = [FittedCharacter(f.x, fitter) for f in found]
        return people, np.concatenate([f.vertices for f in found])

    def fit_poses(
        self, vertices: Float[NumpyArray, "N V 3"], shape: FittedCharacter
    ) -> Float[NumpyArray, "N V 3"]:
        """The skin of one person in its best pose for each registration, metres."""
        return shape.fitter.fit(vertices, x=shape.x, iterations=self.iterations).vertices


def fewer_latents(model: EnvelopingModel, count: int) -> EnvelopingModel:
    """The model with its first latent coordinates alone."""
    return replace(
        model,
        dress=model.dress[: count + 1],
        bones=model.bones[: count + 1],
        corrections=tuple(replace(d, offsets=d.offsets[: count + 1]) for d in model.corrections),
        latents=model.latents[:, :count],
    )
