"""What this machine can do at best: copying and multiplying matrices, in the run of a benchmark.

Both on as many threads as the kernels use. `copy` counts each number once as read and once as
written, though a cache that fetches a line before it is written to moves a third more; into memory
that is held already, and into new memory, whose pages are handed out and cleared while it is
written. `sgemm` is NumPy's product in float32, two operations a multiplication and addition.
"""

from collections.abc import Callable

import numpy as np
from timing import seconds_of

from corporeal.runtime.threads import over_slices

_ROUNDS = 15


def copy_rate(byte_count: int, fresh: bool) -> float:
    """Bytes read and written a second, the best of some rounds, by a copy of so many bytes."""
    source = np.ones(byte_count, np.uint8)
    held = np.zeros_like(source)

    def copy() -> None:
        target = np.empty_like(source) if fresh else held

        def work(first: int, last: int) -> None:
            np.copyto(target[first:last], source[first:last])

        over_slices(work, byte_count, 1 << 20)

    return 2 * byte_count / _best(copy)


def sgemm_rate(rows: int, inner: int, columns: int) -> float:
    """Operations a second, the best of some rounds, of rows × inner times inner × columns."""
    random = np.random.default_rng(0)
    left = random.random((rows, inner), np.float32)
    right = random.random((inner, columns), np.float32)
    out = np.empty((rows, columns), np.float32)
    return 2 * rows * inner * columns / _best(lambda: np.matmul(left, right, out=out))


def _best(call: Callable[[], object]) -> float:
    """The least seconds that a call took."""
    return min(seconds_of(call, _ROUNDS))
