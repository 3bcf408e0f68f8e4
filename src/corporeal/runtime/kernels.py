"""The one way to compile a CPU kernel.

Kernels live in modules that only the CPU path imports (named `cpu.py`, `*_cpu.py`, `cpu_*.py`, or
in a folder `cpu/`), so that numba is never needed to import the package or to run on a GPU machine.
"""

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numba
from numba.core import event
from numba.core.errors import NumbaError
from numba.core.sigutils import normalize_signature

from corporeal.runtime.compiling_cpu import CollectorRest, remember_operators, widen_literals

Decorator = Callable[[Callable[..., Any]], Any]


event.register("numba:compile", CollectorRest())


def kernel(*, parallel: bool = False, fastmath: bool = False) -> Decorator:
    """Compile with numba, cached on disk; `parallel` allows `numba.prange`.

    Where no folder takes a cache, kernels are compiled anew in every process; NUMBA_CACHE_DIR names
    another folder.

    `fastmath` may reorder sums and leaves out the test for division by zero, without which loops
    that divide do not reach the vector units.

    A kernel whose name begins with an underscore is called by other kernels alone: its wrapper for
    Python is left out, as is every kernel's wrapper for C, which saves a tenth of compiling.

    The function is unwrapped first: in the tests every function carries a run-time type check,
    which numba could not compile.
    """

    def compile_later(function: Callable[..., Any]) -> Any:
        plain = inspect.unwrap(function)
        options = {
            "nogil": True,
            "parallel": parallel,
            "fastmath": fastmath,
            "error_model": "numpy" if fastmath else "python",
            "no_cfunc_wrapper": True,
            "no_cpython_wrapper": plain.__name__.startswith("_"),
        }
        try:
            compiled = numba.njit(cache=True, **options)(plain)
        except RuntimeError:  # neither the package nor the home folder can be written
            compiled = numba.njit(**options)(plain)
        return remember_operators(widen_literals(compiled))

    return compile_later


def compile_ahead(kernels: Iterable[str], is_needless: Callable[[], bool]) -> int:
    """Compile kernels into the cache before they are called; gives back how many there were.

    Each is `module:function(types)`, the types in numba's words. `is_needless` is asked before each
    whether it has become pointless. A kernel that is not there, or takes other types by now, is
    passed over: whoever calls it compiles it.
    """
    done = 0
    for line in kernels:
        if is_needless():
            break
        module, function, types = named_kernel(line)
        try:
            getattr(import_module(module), function).compile(types)
        except (ImportError, AttributeError, TypeError, NumbaError):
            continue
        done += 1
    return done


def named_kernel(line: str) -> tuple[str, str, tuple[Any, ...]]:
    """Module, function and numba types of `module:function(types)`."""
    where, _, types = line.partition("(")
    module, _, function = where.partition(":")
    return module, function, normalize_signature(f"({types[:-1]},)")[0]
