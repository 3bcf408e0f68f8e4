"""What shapes cannot say: finite numbers, indices in range."""

import numpy as np

from corporeal._typing import Array, Int, NumpyArray
from corporeal.errors import InputError


def concrete(values: Array) -> NumpyArray:
    """The numbers of any kind of array, to look at: a PyTorch tensor may carry gradients or be on a
    GPU."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def require_finite(what: str, values: Array) -> None:
    """Raise `InputError` naming the first of `values` that is not finite."""
    array = concrete(values)
    finite = np.isfinite(array)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0])
        count = int(array.size - finite.sum())
        raise InputError(
            f"{what}: {count} of {array.size} values are not finite (first at index {first}: "
            f"{array[first]}). Expected finite numbers; repair or drop them."
        )


def require_within(what: str, values: Array, most: float) -> None:
    """Raise `InputError` naming the first of `values` whose size is above `most`."""
    far = np.abs(concrete(values)) > most
    if far.any():
        first = tuple(int(i) for i in np.argwhere(far)[0])
        raise InputError(
            f"{what}: {int(far.sum())} values are beyond ±{most:g} (first at index {first}: "
            f"{concrete(values)[first]:.3g}). Expected a body's size; scale or repair them."
        )


def require_indices(what: str, indices: Int[NumpyArray, "..."], count: int) -> None:
    """Raise `InputError` unless every index lies in 0 … count−1."""
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise InputError(
            f"{what} hold indices from {indices.min()} to {indices.max()}; "
            f"expected 0 to {count - 1}."
        )
