"""What sizes of colliders must be."""

import math

from corporeal.errors import InputError


def require_lengths(what: str, *lengths: float) -> None:
    """Raise `InputError` unless every length is finite and above 0 m."""
    if not all(math.isfinite(length) and length > 0.0 for length in lengths):
        raise InputError(f"{what} came as {lengths} m; expected finite numbers above 0.")
