"""Less work for numba's compiler, for kernels of this package; what it makes is the same.

Three things that cost a third of the time of compiling this package's kernels.
"""

import gc
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

from numba import types
from numba.core import event

Signatures = dict[tuple[Any, ...], Any]

_METHOD = "get_call_type"


class CollectorRest(event.Listener):
    """Python's garbage collector rests while numba compiles, which then takes a fifth less: the
    compiler makes objects by the million, and none of them is garbage before it is done."""

    def __init__(self) -> None:
        self._depth, self._resumes = 0, False

    def on_start(self, event: event.Event) -> None:
        """A kernel is being compiled; perhaps one that another one calls."""
        if self._depth == 0:
            self._resumes = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """It is compiled, or was refused."""
        self._depth -= 1
        if self._depth == 0 and self._resumes:
            gc.enable()


class OperatorMemory:
    """While it is entered, numba remembers which types an operator gives for which.

    For every `a[i]` and `x + y` it tries the up to eighteen templates of the operator anew, most of
    which raise an error; that is a seventh of compiling. An answer holds for one object of
    operator, one typing context, and as long as nobody adds a template. Numba is as it was once the
    last thread has left; where it has no such method any more, nothing is remembered.
    """

    def __init__(self) -> None:
        self._lock, self._depth = RLock(), 0
        self._inferred = getattr(types.Function, _METHOD, None)
        self._known: WeakKeyDictionary[types.Function, Signatures] = WeakKeyDictionary()

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            inferred, known = self._inferred, self._known
            if self._depth > 1 or inferred is None:
                return

            def get_call_type(function: types.Function, context: Any, args: Any, kws: Any) -> Any:
                if kws or getattr(function.typing_key, "__module__", "") != "_operator":
                    return inferred(function, context, args, kws)
                signatures = known.setdefault(function, {})
                asked = (id(context), len(function.templates), tuple(args))
                if asked not in signatures:
                    signatures[asked] = inferred(function, context, args, kws)
                return signatures[asked]

            setattr(types.Function, _METHOD, get_call_type)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._inferred is not None:
                setattr(types.Function, _METHOD, self._inferred)


OPERATORS = OperatorMemory()
"""The one that all kernels share."""


def remember_operators(dispatcher: Any) -> Any:
    """Compile a kernel, and what it calls, with the memory of operators."""
    compiled = dispatcher.compile

    def compile_it(signature: Any) -> Any:
        with OPERATORS:
            return compiled(signature)

    dispatcher.compile = compile_it
    return dispatcher


def widen_literals(dispatcher: Any) -> Any:
    """Compile a kernel once for a number that is written out and for one that is not.

    Numba types a variable that begins as 0 as that very zero first, compiles what it is given to,
    then finds that the variable changes, and compiles it again for any integer.
    """
    template = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        wide = {name: types.unliteral(kind) for name, kind in kws.items()}
        return template(tuple(types.unliteral(kind) for kind in args), wide)

    dispatcher.get_call_template = get_call_template
    return dispatcher
