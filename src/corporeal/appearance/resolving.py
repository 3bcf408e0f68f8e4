"""A look as it is worn by one person: what was left open is decided by sex and age."""

from dataclasses import dataclass

import numpy as np

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.hair_colours import GREY, HAIR, Colour, mixed
from corporeal.appearance.wardrobe import TOP_BELOW_GENDER, Outfit
from corporeal.body.identity import Identity

_USUAL_AGE = 30.0


@dataclass(frozen=True)
class Wearer:
    """What a look asks of the person that has it."""

    gender: float | None = None
    """0 female … 1 male; None where it is not known."""
    age: float = _USUAL_AGE
    """Years."""

    @property
    def is_male(self) -> bool:
        """Whether the phenotype is clearly male; unknown counts as not."""
        return self.gender is not None and self.gender >= TOP_BELOW_GENDER


@dataclass(frozen=True)
class ResolvedLook:
    """A look with nothing left open."""

    appearance: Appearance
    """What was asked for."""
    wearer: Wearer
    """Whose look it is."""
    age: float
    """Years that the skin shows."""
    hair_style: str
    """One of the styles, not `auto`."""
    hair_colour: Colour
    """Linear RGB, greyed by age."""
    brow_colour: Colour
    """Linear RGB of brows and beard, which grey later."""
    recession: float
    """How far the hairline goes back beside the middle of the forehead, metres."""
    brow_thickness: float
    """0 to 1; women's are thinner for the same slider."""
    outfit: Outfit
    """What is worn."""


def wearer_of(identity: Identity) -> Wearer:
    """Sex and age of a body, where its parameters tell them."""
    found: dict[str, float] = {}
    for name in ("gender", "age"):
        value = identity.parameters.get(name)
        if value is not None and np.size(value) == 1:
            found[name] = float(np.asarray(value).reshape(()))
    return Wearer(found.get("gender"), found.get("age", _USUAL_AGE))


def resolve(appearance: Appearance, wearer: Wearer) -> ResolvedLook:
    """Decide what the appearance leaves to sex and age."""
    age = appearance.age or wearer.age
    style = appearance.hair
    if style == "auto":
        style = "short" if wearer.is_male else "bun" if wearer.gender is None else "long"
    outfit: Outfit
    if appearance.clothes == "auto":
        outfit = "briefs" if wearer.is_male else "underwear"
    else:
        outfit = appearance.clothes
    grey = (
        appearance.grey if appearance.grey >= 0 else float(np.clip((age - 38) / 44, 0, 0.95)) ** 1.8
    )
    colour = HAIR[appearance.hair_colour]
    return ResolvedLook(
        appearance=appearance,
        wearer=wearer,
        age=age,
        hair_style=style,
        hair_colour=mixed(colour, GREY, grey),
        brow_colour=mixed(mixed(colour, HAIR["dark-brown"], 0.35), GREY, 0.4 * grey),
        recession=_recession(appearance, wearer, age),
        brow_thickness=(1.0 if wearer.is_male else 0.45) * appearance.brows,
        outfit=outfit,
    )


def _recession(appearance: Appearance, wearer: Wearer, age: float) -> float:
    """Of the hairline, metres: a few millimetres, and more with the age of some men."""
    if not wearer.is_male:
        return 0.007
    inclined = float(np.random.default_rng([appearance.seed, 13]).uniform(0.2, 1.0))
    return 0.009 + 0.016 * inclined * float(np.clip((age - 22) / 40, 0, 1))
