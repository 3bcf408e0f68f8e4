"""The one way to compile a CPU kernel.

Kernels live in modules that only the CPU path imports (named `cpu.py`, `*_cpu.py`, `cpu_*.py`, or
in a folder `cpu/`), so that numba is never needed to import the package or to run on a GPU machine.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numba

Decorator = Callable[[Callable[..., Any]], Any]


def kernel(*, parallel: bool = False, fastmath: bool = False) -> Decorator:
    """Compile with numba, cached on disk; `parallel` allows `numba.prange`.

    `fastmath` may reorder sums and leaves out the test for division by zero, without which loops
    that divide do not reach the vector units.

    The function is unwrapped first: in the tests every function carries a run-time type check,
    which numba could not compile.
    """

    def compile_later(function: Callable[..., Any]) -> Any:
        compiler = numba.njit(
            cache=True,
            nogil=True,
            parallel=parallel,
            fastmath=fastmath,
            error_model="numpy" if fastmath else "python",
        )
        return compiler(inspect.unwrap(function))

    return compile_later
