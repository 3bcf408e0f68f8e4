"""Looks drawn by seed, so that a crowd is one: skin, origin, face, hair and eyes go together."""

from typing import Any

import numpy as np

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.resolving import Wearer

_ORIGINS = ("african", "asian", "european")
_TONES_DEG = {"african": (-38.0, 22.0), "asian": (36.0, 14.0), "european": (46.0, 11.0)}
"""Mean and deviation of the typology angle, degrees."""
_HAIR = {
    "african": {"black": 0.85, "dark-brown": 0.15},
    "asian": {"black": 0.75, "dark-brown": 0.25},
    "european": {"dark-brown": 0.32, "brown": 0.3, "blond": 0.2, "auburn": 0.12, "red": 0.06},
}
_EYES = {
    "african": {"dark": 0.7, "brown": 0.3},
    "asian": {"dark": 0.5, "brown": 0.5},
    "european": {"brown": 0.3, "hazel": 0.16, "green": 0.14, "blue": 0.28, "grey": 0.12},
}
_STYLES = {
    True: {"short": 0.5, "cropped": 0.38, "bald": 0.12},
    False: {"long": 0.45, "bun": 0.38, "short": 0.12, "cropped": 0.05},
}
"""By whether the person is male."""


def random_appearance(seed: int, wearer: Wearer, **fixed: Any) -> Appearance:
    """A plausible look for a person: the same for the same seed. `fixed` values are kept."""
    random = np.random.default_rng([seed, 41])
    shares = dict(zip(_ORIGINS, random.dirichlet([0.35] * 3), strict=True))
    main = max(shares, key=lambda name: shares[name])
    mean = sum(shares[name] * _TONES_DEG[name][0] for name in _ORIGINS)
    tone = mean + _TONES_DEG[main][1] * float(np.clip(random.standard_normal(), -1.6, 1.6))
    drawn: dict[str, Any] = {
        "skin": round(float(np.clip(tone, -65, 70)), 1),
        "undertone": round(float(random.uniform(-0.8, 0.8)), 2),
        "freckles": round(float(max(0.0, random.uniform(-1.2, 0.8)) * (main == "european")), 2),
        "blush": round(float(random.uniform(0.2, 0.8)), 2),
        "lips": round(float(random.uniform(0.1, 0.5 if wearer.is_male else 0.8)), 2),
        "brows": round(float(random.uniform(0.25, 0.9)), 2),
        "beard": round(float(random.choice([0.0, 0.15, 0.35, 0.9], p=[0.3, 0.3, 0.25, 0.15])), 2),
        "body_hair": round(float(random.uniform(0.0, 0.8)), 2),
        "hair_colour": _choice(random, _HAIR[main]),
        "eyes": _choice(random, _EYES[main]),
        "hair": _choice(random, _STYLES[wearer.is_male]),
        "smile": round(float(random.uniform(0.2, 0.6)), 2),
        "face_seed": 1 + int(random.integers(2**30)),
        "seed": int(random.integers(2**30)),
        "cloth_colour": str(random.choice(["charcoal", "navy", "teal", "wine"])),
        **{name: round(float(max(share, 0.001)), 3) for name, share in shares.items()},
    }
    return Appearance(**(drawn | fixed))


def _choice(random: np.random.Generator, shares: dict[str, float]) -> str:
    words = list(shares)
    weights = np.array([shares[word] for word in words])
    return str(random.choice(words, p=weights / weights.sum()))
