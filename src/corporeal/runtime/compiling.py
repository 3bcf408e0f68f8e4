"""Less work for numba's compiler; what it makes is the same.

Three things that cost a third of the time of compiling this package's kernels.
"""

import gc
from typing import Any
from weakref import WeakKeyDictionary

from numba import types
from numba.core import event

Signatures = dict[tuple[Any, ...], Any]


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


def remember_operators() -> None:
    """Let numba remember which types an operator gives for which.

    For every `a[i]` and `x + y` it tries the up to eighteen templates of the operator anew, most of
    which raise an error; that is a seventh of compiling. An answer holds for one object of
    operator, one typing context, and as long as nobody adds a template.
    """
    inferred = types.Function.get_call_type
    if inferred.__module__ == __name__:
        return
    known: WeakKeyDictionary[types.Function, Signatures] = WeakKeyDictionary()

    def get_call_type(self: types.Function, context: Any, args: Any, kws: Any) -> Any:
        if kws or getattr(self.typing_key, "__module__", "") != "_operator":
            return inferred(self, context, args, kws)
        signatures = known.setdefault(self, {})
        asked = (id(context), len(self.templates), tuple(args))
        if asked not in signatures:
            signatures[asked] = inferred(self, context, args, kws)
        return signatures[asked]

    types.Function.get_call_type = get_call_type


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
