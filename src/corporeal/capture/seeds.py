"""Seeds that are said, not drawn: one for every person, sequence and purpose."""

import hashlib

import numpy as np


def seed_of(*words: int | str) -> int:
    """A seed below 2³² that depends on these words alone, whatever else a run holds."""
    content = "\x1f".join(f"{type(word).__name__}:{word}" for word in words)
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:4], "little")


def generator(*words: int | str) -> np.random.Generator:
    """The random numbers of these words."""
    return np.random.default_rng(seed_of(*words))
