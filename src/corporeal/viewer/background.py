"""Work beside the show: threads and processes that prepare things while frames go on being sent.

Work is started under a name. Starting the same name again drops the earlier work's result, so the
newest wish wins; cancelling drops it, too. Results are handed over by `poll`, in the session's own
thread, so nothing else needs a lock.
"""

import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from corporeal.errors import CorporealError
from corporeal.viewer.job_process import JobProcesses, Limits, Work
from corporeal.viewer.packets import Packet

Result = TypeVar("Result")


class Background:
    """Two lanes: `quick` for answers within a second, `slow` for the rest; one thread each."""

    def __init__(self, refused: Callable[[str, str], None]) -> None:
        """`refused` is told the name of work that failed, and why."""
        self._refused = refused
        self._lanes = {
            lane: ThreadPoolExecutor(1, thread_name_prefix=lane) for lane in ("quick", "slow")
        }
        self._waiting: dict[str, tuple[Future[Any], Callable[[Any], None]]] = {}
        self._processes = JobProcesses(refused)

    def start(
        self,
        name: str,
        work: Callable[[], Result],
        done: Callable[[Result], None],
        lane: str = "quick",
    ) -> None:
        """Do `work` in a thread, then `done` with what it gave in the session's."""
        self.cancel(name)
        self._waiting[name] = (self._lanes[lane].submit(work), done)

    def spawn(
        self,
        name: str,
        work: Work,
        arguments: tuple[Any, ...],
        done: Callable[[Packet], None],
        limits: Limits,
    ) -> None:
        """Do `work` in a process of its own, then `done` with its answer in the session's."""
        self.cancel(name)
        self._processes.start(name, work, arguments, done, limits)

    def cancel(self, name: str) -> None:
        """Forget work: a process ends at once; what a thread has begun runs out, unheard."""
        self._processes.cancel(name)
        if name in self._waiting:
            self._waiting.pop(name)[0].cancel()

    @property
    def busy(self) -> tuple[str, ...]:
        """Names of what is not done yet."""
        return (*self._waiting, *self._processes.busy)

    def poll(self) -> bool:
        """Hand over what is done; True if there was any."""
        ready = [name for name, (future, _) in self._waiting.items() if future.done()]
        for name in ready:
            future, done = self._waiting.pop(name)
            error = future.exception()
            if error is not None and not isinstance(error, CorporealError):
                traceback.print_exception(error)
                self._refused(name, f"{type(error).__name__}: {error}. This is a bug.")
                continue
            try:
                done(future.result())
            except CorporealError as refusal:
                self._refused(name, str(refusal))
        return self._processes.poll() or bool(ready)

    def close(self) -> None:
        """Wait for nothing."""
        self._processes.close()
        for lane in self._lanes.values():
            lane.shutdown(wait=False, cancel_futures=True)
