"""Which kind of array to compute with: NumPy, JAX or PyTorch."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np

from corporeal._typing import Array
from corporeal.errors import InputError

_NUMPY_LIKE = (np.ndarray, np.generic, float, int)


def namespace_of(*arrays: Array) -> Any:
    """The array-API namespace to compute in: JAX or PyTorch if any array is theirs, else NumPy.

    NumPy arrays and Python numbers join whatever they meet; JAX and PyTorch do not mix.
    """
    foreign = [a for a in arrays if not isinstance(a, _NUMPY_LIKE)]
    if not foreign:
        return array_api_compat.numpy
    try:
        return array_api_compat.array_namespace(*foreign)
    except TypeError as error:
        kinds = sorted({type(a).__module__.split(".")[0] for a in foreign})
        raise InputError(
            f"arrays come from {', '.join(kinds)}; expected one kind (NumPy joins any). "
            f"Convert them first."
        ) from error


def is_numpy(namespace: Any) -> bool:
    """Whether `namespace` computes with NumPy arrays."""
    return namespace is array_api_compat.numpy


def as_kind_of(like: Array, array: Array) -> Array:
    """`array` as the kind, dtype and device of `like`; unchanged where it already is."""
    xp = namespace_of(like)
    if array_api_compat.is_torch_namespace(xp):
        return xp.asarray(array, dtype=like.dtype, device=like.device)
    return xp.asarray(array, dtype=like.dtype)


def as_one_kind(first: Array, *others: Array) -> tuple[Array, ...]:
    """All arrays as one kind (JAX or PyTorch if any is, else NumPy), in the first one's dtype."""
    xp = namespace_of(first, *others)
    if array_api_compat.is_torch_namespace(xp):
        device = next(a.device for a in (first, *others) if not isinstance(a, _NUMPY_LIKE))
        tensors = [xp.as_tensor(array, device=device) for array in (first, *others)]
        return tuple(tensor.to(tensors[0].dtype) for tensor in tensors)
    first = xp.asarray(first)
    return first, *(xp.asarray(array, dtype=first.dtype) for array in others)


def dtype_name(array: Array) -> str:
    """Name of an array's dtype, such as "float32", for any kind of array."""
    return str(array.dtype).rpartition(".")[2]


@contextmanager
def full_precision(namespace: Any) -> Iterator[None]:
    """Matrix products in the arrays' own precision.

    JAX on a GPU would multiply float32 with 10-bit mantissas, which is millimetres on a body.
    """
    if not array_api_compat.is_jax_namespace(namespace):
        yield
        return
    import jax

    with jax.default_matmul_precision("highest"):
        yield
