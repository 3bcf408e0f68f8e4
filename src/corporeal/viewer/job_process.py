"""Work in a process of its own: limited in time and memory, and ended whenever that is wished.

A thread cannot be stopped, and a damaged file may ask for all memory there is. So whatever reads a
file that was given, or takes long, is done here. The child answers in packets, never in pickles,
and ends by itself when its parent does.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from corporeal.errors import CorporealError, FormatError
from corporeal.viewer.packets import Packet, decode

Work = Callable[..., Packet]
"""A function of a module; its arguments must be small: paths, numbers, choices."""

REFUSED = "refused"
"""Kind of answer that says why there is no other."""
_PATIENCE = 5.0
"""Seconds that a process has to end once it has answered."""


@dataclass(frozen=True)
class Limits:
    """What a process may take."""

    seconds: float
    memory: int
    """Bytes of address space, where the system can limit that."""


READING = Limits(120.0, 6 << 30)
"""For looking at one file."""
MAKING = Limits(3600.0, 24 << 30)
"""For making something that was asked for."""


class JobProcess:
    """One function in one process."""

    def __init__(self, work: Work, arguments: tuple[Any, ...], limits: Limits) -> None:
        context = multiprocessing.get_context("spawn")
        self._limits = limits
        self._until = monotonic() + limits.seconds
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_answer,
            args=(theirs, work, arguments, limits.memory),
            name="corporeal studio job",
            daemon=True,
        )
        self._process.start()
        theirs.close()

    @property
    def process_id(self) -> int | None:
        """Of the child."""
        return self._process.pid

    def poll(self) -> Packet | None:
        """The answer, once it is there; a `refused` one where the child could not."""
        try:
            if self._pipe.poll():
                return self._ended(decode(self._pipe.recv_bytes()))
        except (EOFError, OSError):
            return self._ended(_refusal(self._why()))
        except FormatError as error:
            return self._ended(_refusal(str(error)))
        if monotonic() > self._until:
            self.kill()
            return _refusal(f"it took more than {self._limits.seconds:g} s and was stopped.")
        return None

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _ended(self, answer: Packet) -> Packet:
        self._pipe.close()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        return answer

    def _why(self) -> str:
        self._process.join(_PATIENCE)
        most = self._limits.memory / 2**30
        return (
            f"it stopped without an answer (exit code {self._process.exitcode}); it may take "
            f"{most:g} GiB of memory. Give a smaller file, or ask for less."
        )


class JobProcesses:
    """Processes by name; the newest of a name wins."""

    def __init__(self, refused: Callable[[str, str], None]) -> None:
        """`refused` is told the name of work that failed, and why."""
        self._refused = refused
        self._running: dict[str, tuple[JobProcess, Callable[[Packet], None]]] = {}

    def start(
        self,
        name: str,
        work: Work,
        arguments: tuple[Any, ...],
        done: Callable[[Packet], None],
        limits: Limits,
    ) -> None:
        """Do `work` in a process, then `done` with its answer in the session's thread."""
        self.cancel(name)
        self._running[name] = (JobProcess(work, arguments, limits), done)

    def cancel(self, name: str) -> None:
        """End work at once."""
        if name in self._running:
            self._running.pop(name)[0].kill()

    @property
    def busy(self) -> tuple[str, ...]:
        """Names of what is not done yet."""
        return tuple(self._running)

    def poll(self) -> bool:
        """Hand over what is done; True if there was any."""
        answers = {name: job.poll() for name, (job, _) in self._running.items()}
        ready = {name: answer for name, answer in answers.items() if answer is not None}
        waiting = {name: self._running.pop(name)[1] for name in ready}
        for name, answer in ready.items():
            if answer.kind == REFUSED:
                self._refused(name, str(answer.fields["why"]))
                continue
            try:
                waiting[name](answer)
            except CorporealError as error:
                self._refused(name, str(error))
        return bool(ready)

    def close(self) -> None:
        """End all."""
        for name in self.busy:
            self.cancel(name)


def _answer(pipe: Connection, work: Work, arguments: tuple[Any, ...], memory: int) -> None:
    """What the child does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    _limit_memory(memory)
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    try:
        answer = work(*arguments)
    except CorporealError as error:
        answer = _refusal(str(error))
    except MemoryError:
        answer = _refusal(
            f"it needs more than {memory / 2**30:g} GiB of memory. Give a smaller file."
        )
    pipe.send_bytes(answer.encode())
    os._exit(0)  # nothing is left to be tidied, and threads of libraries may linger


def _end_with(pipe: Connection) -> None:
    """End this process when the other end of its pipe does."""
    try:
        pipe.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _limit_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory if most == resource.RLIM_INFINITY else min(memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _refusal(why: str) -> Packet:
    return Packet(REFUSED, {"why": why})
