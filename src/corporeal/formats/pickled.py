"""Pickles of plain arrays, read without running code.

Files of body models are often pickled by Python 2 and name classes of packages that need not be
here (chumpy, old SciPy). The unpickler below looks up a short list of names alone, and each is a
stand-in that only keeps what it is given: nothing is imported, called or allocated that the bytes
of the file do not hold. Every other name is refused.
"""

import io
import math
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError, InputError
from corporeal.runtime.input_files import read_input

MAX_BYTES = 2 * 1024**3
"""Most bytes that one file may have."""

_PLAIN = "biufSU"
_DAMAGE = (
    pickle.UnpicklingError, EOFError, AttributeError, ValueError, TypeError, IndexError, KeyError,
    UnicodeError, OverflowError, MemoryError, RecursionError,
)  # fmt: skip


class _Sealed(type):
    """Keeps a file from changing the stand-ins themselves."""

    def __setattr__(cls, name: str, value: Any) -> None:
        raise pickle.UnpicklingError(f"an attempt to change {cls.__name__}.{name}")


class _Dtype(metaclass=_Sealed):
    """Stands in for numpy.dtype: a code such as "f8", and its byte order."""

    def __init__(self, code: Any = "", *_: Any) -> None:
        self.code = code.decode("ascii") if isinstance(code, bytes) else str(code)
        self.order = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order = state[1]
        self.order = order.decode("ascii") if isinstance(order, bytes) else str(order)

    def numpy(self) -> np.dtype[Any]:
        kind = np.dtype(self.code)
        if kind.kind not in _PLAIN or kind.subdtype is not None or kind.names is not None:
            raise pickle.UnpicklingError(f"an array of {self.code!r}, which is not plain numbers")
        return kind if self.order not in "<>" else np.dtype(self.order + kind.str[1:])


class _Ndarray(metaclass=_Sealed):
    """Stands in for numpy.ndarray: allocates only when its bytes are there."""

    array: NumpyArray | None = None
    """None for an array of Python objects."""

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, is_fortran, raw = state
        if not isinstance(dtype, _Dtype) or not isinstance(raw, str | bytes):
            return
        raw = raw.encode("latin1") if isinstance(raw, str) else raw
        kind = dtype.numpy()
        if any(not isinstance(n, int) or n < 0 for n in shape):
            raise pickle.UnpicklingError(f"an array of shape {shape}")
        expected = kind.itemsize * math.prod(shape)
        if expected != len(raw):
            raise pickle.UnpicklingError(
                f"an array of shape {tuple(shape)} with {len(raw)} bytes instead of {expected}"
            )
        order = "F" if is_fortran else "C"
        self.array = np.frombuffer(raw, kind).reshape(shape, order=order)


class _Scalar(metaclass=_Sealed):
    """Stands in for the function that makes a NumPy number of its bytes."""

    def __init__(self, dtype: Any, raw: Any = b"") -> None:
        raw = raw.encode("latin1") if isinstance(raw, str) else raw
        if not isinstance(dtype, _Dtype) or len(raw) != dtype.numpy().itemsize:
            raise pickle.UnpicklingError("a number without its bytes")
        self.array = np.frombuffer(raw, dtype.numpy())[0]


class _Bytes(metaclass=_Sealed):
    """Stands in for _codecs.encode, by which Python 3 pickles bytes for Python 2."""

    def __new__(cls, text: str, *_: Any) -> Any:
        return text.encode("latin1")


class _Object(metaclass=_Sealed):
    """Stands in for `object`, the base that Python 2's pickles name."""


class _Instance(metaclass=_Sealed):
    """Stands in for an object of a known class: its attributes, and nothing of its code."""

    state: Mapping[str, Any] = {}
    layout = ""

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        parts = state if isinstance(state, tuple) else (state,)
        self.state = {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}


class _Chumpy(_Instance):
    """chumpy.ch.Ch: its array is `x`."""


class _Columns(_Instance):
    """A SciPy matrix in compressed columns: data, indices, indptr, shape."""

    layout = "csc"


class _Rows(_Instance):
    """A SciPy matrix in compressed rows."""

    layout = "csr"


class _Rebuilt(metaclass=_Sealed):
    """Stands in for copyreg._reconstructor, which makes an object without its constructor."""

    def __new__(cls, kind: Any, *_: Any) -> Any:
        if kind not in (_Chumpy, _Columns, _Rows):
            raise pickle.UnpicklingError("an object of a class that is not known")
        return kind()


_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _Ndarray,
    ("numpy._core.multiarray", "_reconstruct"): _Ndarray,
    ("numpy.core.multiarray", "scalar"): _Scalar,
    ("numpy._core.multiarray", "scalar"): _Scalar,
    ("copy_reg", "_reconstructor"): _Rebuilt,
    ("copyreg", "_reconstructor"): _Rebuilt,
    ("__builtin__", "object"): _Object,
    ("builtins", "object"): _Object,
    ("_codecs", "encode"): _Bytes,
    ("chumpy.ch", "Ch"): _Chumpy,
    ("scipy.sparse.csc", "csc_matrix"): _Columns,
    ("scipy.sparse._csc", "csc_matrix"): _Columns,
    ("scipy.sparse.csr", "csr_matrix"): _Rows,
    ("scipy.sparse._csr", "csr_matrix"): _Rows,
}
"""What a file may name: everything else is refused."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"{module}.{name}, which is none of the names allowed")
        return _KNOWN[module, name]

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("a reference to something outside")


def read_pickled_arrays(path: str | Path) -> dict[str, NumpyArray | str]:
    """The arrays and texts of a pickled dictionary, by name; what is neither is left out.

    Sparse matrices come back dense.
    """
    path = Path(path)
    data = read_input(path, at_most=MAX_BYTES)
    try:
        content = _Reader(io.BytesIO(data), encoding="latin1").load()
        if not isinstance(content, dict):
            raise pickle.UnpicklingError(f"a {type(content).__name__} instead of a dictionary")
        plain = {str(name): _plain(value) for name, value in content.items()}
    except _DAMAGE as error:
        raise FormatError(
            f"{path} is not a pickle of plain arrays: it holds {error}. Nothing was run. Only "
            f"numbers, chumpy arrays and sparse matrices are read."
        ) from error
    return {name: value for name, value in plain.items() if value is not None}


def _plain(value: Any) -> NumpyArray | str | None:
    if isinstance(value, _Ndarray):
        return value.array
    if isinstance(value, _Scalar):
        return np.asarray(value.array)
    if isinstance(value, _Chumpy):
        return _plain(value.state.get("x"))
    if isinstance(value, _Columns | _Rows):
        return _dense(value)
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return np.asarray(value)
    return None


def _dense(matrix: _Instance) -> NumpyArray:
    import scipy.sparse

    parts = [_plain(matrix.state.get(name)) for name in ("data", "indices", "indptr")]
    shape = matrix.state.get("_shape")
    if not all(isinstance(part, np.ndarray) for part in parts) or not isinstance(shape, tuple):
        raise pickle.UnpicklingError("a sparse matrix without its parts")
    rows, columns = (int(n) for n in shape)
    if rows * columns > MAX_BYTES // 8:
        raise pickle.UnpicklingError(f"a sparse matrix of {rows} by {columns}")
    make = scipy.sparse.csc_array if matrix.layout == "csc" else scipy.sparse.csr_array
    made = make(tuple(parts), shape=(rows, columns))
    made.check_format(full_check=True)
    return made.toarray()


def write_pickled_arrays(path: str | Path, arrays: Mapping[str, NumpyArray | str]) -> None:
    """Write plain arrays and texts as the pickled dictionary that other programs load."""
    from corporeal.runtime.files import atomic_write

    for name, array in arrays.items():
        if isinstance(array, np.ndarray) and array.dtype.kind not in _PLAIN:
            raise InputError(f"array {name!r} holds {array.dtype}; expected plain numbers or text.")
    with atomic_write(path) as temporary:
        temporary.write_bytes(pickle.dumps(dict(arrays), protocol=2))
