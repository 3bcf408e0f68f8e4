"""Work beside the show: threads and processes that prepare things while frames go on being sent.

Work is started under a name. Starting the same name again drops the earlier work's result, so the
newest wish wins; cancelling drops it, too. Results are handed over by `poll`, in the session's own
thread, so nothing else needs a lock.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeVar

from corporeal.errors import CorporealError, InputError
from corporeal.viewer.faults import FAULTS, GONE, told
from corporeal.viewer.job_process import REFUSED, Job, JobProcess
from corporeal.viewer.packets import Packet

Result = TypeVar("Result")
Done = Callable[[Any], None]
"""Takes what work gave."""


MOST_PROCESSES = 2
"""Jobs of a tab at a time; others wait."""
MOST_WAITING = 80
"""Jobs of a tab that wait; more are refused."""


@dataclass(frozen=True)
class _Ready:
    """Work that has ended."""

    result: Callable[[], Any]
    """What it gave; raises a `CorporealError` where it gave nothing."""
    done: Done


class Background:
    """Threads in three lanes, `quick` for answers within a second, `looks` for paint and `slow` for
    the rest, one each; and a process for every job, a few at a time."""

    def __init__(self, refused: Callable[[str, str], None]) -> None:
        """`refused` is told the name of work that failed, and why."""
        self._refused = refused
        self._lanes = {
            lane: ThreadPoolExecutor(1, thread_name_prefix=lane)
            for lane in ("quick", "looks", "slow")
        }
        self._threads: dict[str, tuple[Future[Any], Done]] = {}
        self._processes: dict[str, tuple[JobProcess, Done]] = {}
        self._waiting: deque[tuple[str, Job, Done]] = deque()
        self._gate = Event()
        self._gate.set()

    def hold(self) -> None:
        """Let what is started in threads wait for `release`: it would take turns with the caller,
        who then is slower by as many as there are lanes."""
        self._gate.clear()

    def release(self) -> None:
        """Let the threads begin."""
        self._gate.set()

    def _at_the_gate(self, work: Callable[[], Result]) -> Result:
        self._gate.wait()
        return work()

    def start(
        self,
        name: str,
        work: Callable[[], Result],
        done: Callable[[Result], None],
        lane: str = "quick",
    ) -> None:
        """Do `work` in a thread, then `done` with what it gave in the session's."""
        self.cancel(name)
        self._threads[name] = (self._lanes[lane].submit(self._at_the_gate, work), done)

    def spawn(self, name: str, job: Job, done: Callable[[Packet], None]) -> None:
        """Do a job in a process of its own, then `done` with its answer in the session's.

        Raises `InputError` where too many wait already.
        """
        self.cancel(name)
        if len(self._waiting) >= MOST_WAITING:
            raise InputError(
                f"{len(self._waiting)} jobs wait already; {name} is not begun. Try again when some "
                f"are done."
            )
        self._waiting.append((name, job, done))
        self._begin_waiting()

    def _begin_waiting(self) -> None:
        while self._waiting and len(self._processes) < MOST_PROCESSES:
            name, job, done = self._waiting.popleft()
            self._processes[name] = (JobProcess(job), done)

    @property
    def process_count(self) -> int:
        """Processes that run."""
        return len(self._processes)

    @property
    def wants_all(self) -> bool:
        """Whether a job is under way that is to be alone."""
        return any(job.alone for job, _ in self._processes.values())

    def cancel(self, name: str) -> None:
        """Forget work: a process ends at once; what a thread has begun runs out, unheard."""
        if name in self._processes:
            self._processes.pop(name)[0].kill()
        if name in self._threads:
            self._threads.pop(name)[0].cancel()
        self._waiting = deque(row for row in self._waiting if row[0] != name)

    @property
    def busy(self) -> tuple[str, ...]:
        """Names of what is not done yet."""
        return (*self._threads, *self._processes, *(row[0] for row in self._waiting))

    @property
    def progress(self) -> dict[str, str]:
        """What jobs say of how far they are, by name."""
        return {name: job.progress for name, (job, _) in self._processes.items() if job.progress}

    def poll(self) -> bool:
        """Hand over what is done; True if there was any."""
        ready = self._from_threads() | self._from_processes()
        for name, ended in ready.items():
            try:
                ended.done(ended.result())
            except CorporealError as refusal:
                self._refused(name, str(refusal))
            except GONE:
                raise
            except FAULTS as error:
                self._refused(name, told(error, f"using {name}"))
        self._begin_waiting()
        return bool(ready)

    def _from_threads(self) -> dict[str, _Ready]:
        names = [name for name, (future, _) in self._threads.items() if future.done()]
        ended = {name: self._threads.pop(name) for name in names}
        return {n: _Ready(_thread_result(future), done) for n, (future, done) in ended.items()}

    def _from_processes(self) -> dict[str, _Ready]:
        answers = {name: job.poll() for name, (job, _) in self._processes.items()}
        return {
            name: _Ready(_process_result(answer), self._processes.pop(name)[1])
            for name, answer in answers.items()
            if answer is not None
        }

    def close(self) -> None:
        """Wait for nothing."""
        self._waiting.clear()
        for name in self.busy:
            self.cancel(name)
        for lane in self._lanes.values():
            lane.shutdown(wait=False, cancel_futures=True)
        self._gate.set()


def _thread_result(future: Future[Any]) -> Callable[[], Any]:
    def result() -> Any:
        error = future.exception()
        if error is not None and not isinstance(error, CorporealError):
            raise CorporealError(told(error, "preparing")) from error
        return future.result()

    return result


def _process_result(answer: Packet) -> Callable[[], Packet]:
    def result() -> Packet:
        if answer.kind == REFUSED:
            raise InputError(str(answer.fields["why"]))
        return answer

    return result
