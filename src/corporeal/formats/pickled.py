"""Pickles of plain arrays, read without running code.

Files of body models are often pickled by Python 2 and name classes of packages that need not be
here (chumpy, old SciPy). The unpickler below looks up a short list of names alone, and each is a
stand-in that only keeps what it is given: nothing is imported, called or allocated that the bytes
of the file do not hold. Every other name is refused.
"""

import math
import os
import pickle
import pickletools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError, InputError
from corporeal.runtime.input_files import open_input

MAX_BYTES = 400 * 1024**2
"""Most bytes that one file may have: an SMPL-H of 13 380 vertices and 300 shapes takes 250 MB."""
MAX_DENSE_BYTES = 128 * 1024**2
"""Most bytes that the sparse matrices of one file may take once they are dense."""
_MAX_OPCODES = 1_000_000
_OPCODES = frozenset(
    (
        *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "DUP", "NONE", "NEWTRUE"),
        *("NEWFALSE", "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT"),
        *("BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES"),
        *("BINBYTES8", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "EMPTY_LIST"),
        *("APPEND", "APPENDS", "LIST", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        *("EMPTY_DICT", "DICT", "SETITEM", "SETITEMS", "GET", "BINGET", "LONG_BINGET", "PUT"),
        *("BINPUT", "LONG_BINPUT", "MEMOIZE", "GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"),
        "NEWOBJ",
    )
)
"""What plain data is pickled with; a file that says anything else is refused."""
_CODES = {op.code.encode("latin1"): op for op in pickletools.opcodes if op.name in _OPCODES}
_MEMO = ("PUT", "BINPUT", "LONG_BINPUT")

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
    """Stands in for numpy.ndarray: allocates only when its bytes are there, and asked for."""

    state: tuple[Any, ...] | None = None
    """Shape, type, order and bytes; None for an array of Python objects."""

    def __init__(self, *_: Any) -> None: ...

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, is_fortran, raw = state
        raw = raw.text if isinstance(raw, _Bytes) else raw
        if not isinstance(dtype, _Dtype) or not isinstance(raw, str | bytes):
            return
        kind = dtype.numpy()
        if any(not isinstance(n, int) or n < 0 for n in shape):
            raise pickle.UnpicklingError(f"an array of shape {shape}")
        expected = kind.itemsize * math.prod(shape)
        if expected != len(raw):
            raise pickle.UnpicklingError(
                f"an array of shape {tuple(shape)} with {len(raw)} bytes instead of {expected}"
            )
        self.state = (shape, kind, "F" if is_fortran else "C", raw)

    def array(self, room: "_Room") -> NumpyArray | None:
        """The array, once: a file may use one text as the bytes of many arrays."""
        if self.state is None:
            return None
        shape, kind, order, raw = self.state
        room.take(len(raw))
        raw = raw.encode("latin1") if isinstance(raw, str) else raw
        return np.frombuffer(raw, kind).reshape(shape, order=order)


class _Scalar(metaclass=_Sealed):
    """Stands in for the function that makes a NumPy number of its bytes."""

    def __init__(self, dtype: Any, raw: Any = b"") -> None:
        raw = raw.text if isinstance(raw, _Bytes) else raw
        raw = raw.encode("latin1") if isinstance(raw, str) else raw
        if not isinstance(dtype, _Dtype) or len(raw) != dtype.numpy().itemsize:
            raise pickle.UnpicklingError("a number without its bytes")
        self.array = np.frombuffer(raw, dtype.numpy())[0]


class _Bytes(metaclass=_Sealed):
    """Stands in for _codecs.encode, by which Python 3 pickles bytes for Python 2."""

    def __init__(self, text: Any = "", *_: Any) -> None:
        self.text = text if isinstance(text, str) else ""


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
    try:
        with open_input(path, at_most=MAX_BYTES) as file:
            _require_plain_opcodes(file)
            file.seek(0)
            content = _Reader(file, encoding="latin1").load()
        if not isinstance(content, dict):
            raise pickle.UnpicklingError(f"a {type(content).__name__} instead of a dictionary")
        room = _Room()
        plain = {str(name): _plain(value, room) for name, value in content.items()}
    except _DAMAGE as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(
            f"{path} is not a pickle of plain arrays: it holds {error}. Nothing was run. Only "
            f"numbers, chumpy arrays and sparse matrices are read."
        ) from error
    return {name: value for name, value in plain.items() if value is not None}


def _require_plain_opcodes(file: IO[bytes]) -> None:
    """Walk through the file once without obeying it: Python's reader takes memory for whatever
    memo index a file names, and a stack of any depth."""
    memo = 0
    for _ in range(_MAX_OPCODES):
        code = file.read(1)
        opcode = _CODES.get(code)
        if opcode is None:
            raise pickle.UnpicklingError(f"the opcode {code!r}, which plain data has not")
        if opcode.name == "STOP":
            return
        number = _skipped_argument(file, opcode)
        if opcode.name in _MEMO:
            memo += 1
            if not 0 <= number <= 2 * memo + 1024:
                raise pickle.UnpicklingError(f"a memo of {number} entries after {memo}")
    raise pickle.UnpicklingError(f"more than {_MAX_OPCODES} opcodes")


def _skipped_argument(file: IO[bytes], opcode: Any) -> int:
    """Go past an opcode's argument; a memo index comes back, 0 for others."""
    if opcode.arg is None:
        return 0
    size = opcode.arg.n
    if size == pickletools.UP_TO_NEWLINE:
        lines = [file.readline() for _ in range(2 if opcode.name == "GLOBAL" else 1)]
        return int(lines[0]) if opcode.name in _MEMO else 0
    if size >= 0:
        if opcode.name in _MEMO:
            return int.from_bytes(file.read(size), "little")
        return _past(file, size)
    width = {
        pickletools.TAKEN_FROM_ARGUMENT1: 1,
        pickletools.TAKEN_FROM_ARGUMENT4: 4,
        pickletools.TAKEN_FROM_ARGUMENT4U: 4,
        pickletools.TAKEN_FROM_ARGUMENT8U: 8,
    }[size]
    return _past(file, int.from_bytes(file.read(width), "little"))


def _past(file: IO[bytes], count: int) -> int:
    """Skip bytes that must be there."""
    if count > os.fstat(file.fileno()).st_size - file.tell():  # some counts cannot be sought
        raise pickle.UnpicklingError(f"{count} bytes less than it says")
    file.seek(count, 1)
    return 0


@dataclass
class _Room:
    """Bytes that the arrays of one file may still take."""

    left: int = MAX_BYTES
    dense: int = MAX_DENSE_BYTES

    def take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise pickle.UnpicklingError(f"arrays of more than {MAX_BYTES} bytes")

    def take_dense(self, rows: int, columns: int) -> None:
        self.dense -= 8 * max(rows, 0) * max(columns, 0)
        if self.dense < 0:
            raise pickle.UnpicklingError(f"a sparse matrix of {rows} by {columns}, which is large")


def _plain(value: Any, room: _Room) -> NumpyArray | str | None:
    if isinstance(value, _Ndarray):
        return value.array(room)
    if isinstance(value, _Scalar):
        return np.asarray(value.array)
    if isinstance(value, _Chumpy):
        return _plain(value.state.get("x"), room)
    if isinstance(value, _Columns | _Rows):
        return _dense(value, room)
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return np.asarray(value)
    return None


def _dense(matrix: _Instance, room: _Room) -> NumpyArray:
    import scipy.sparse

    parts = [_plain(matrix.state.get(name), room) for name in ("data", "indices", "indptr")]
    shape = matrix.state.get("_shape")
    if not all(isinstance(part, np.ndarray) for part in parts) or not isinstance(shape, tuple):
        raise pickle.UnpicklingError("a sparse matrix without its parts")
    rows, columns = (int(n) for n in shape)
    room.take_dense(rows, columns)
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
