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
from corporeal.viewer.faults import FAULTS, told
from corporeal.viewer.packets import Packet, decode

Work = Callable[..., Packet]
"""A function of a module, of paths, numbers and choices."""

REFUSED = "refused"
"""Kind of answer that says why there is no other."""
PROGRESS = "progress"
"""Kind of message that says how far it is."""
_PATIENCE = 5.0
"""Seconds that a process has to end once it has answered."""


@dataclass(frozen=True)
class Limits:
    """What a process may take."""

    seconds: float
    """Wall-clock time after which the process is ended."""
    memory: int
    """Bytes of address space, where the system can limit that."""


READING = Limits(120.0, 6 << 30)
"""For looking at one file."""
MAKING = Limits(3600.0, 24 << 30)
"""For making something that was asked for."""


@dataclass(frozen=True)
class Job:
    """Something to be done in a process."""

    work: Work
    """Function that the process calls; importable by name."""
    arguments: tuple[Any, ...]
    """Small ones: more than a pipe holds would block until the child has started."""
    limits: Limits = MAKING
    """Time and memory it may take."""
    alone: bool = False
    """Whether it is to have all cores: the show stands still meanwhile."""


class JobProcess:
    """One function in one process."""

    def __init__(self, job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        self.alone = job.alone
        self.progress = ""
        """What it last said of how far it is."""
        self._limits = job.limits
        self._until = monotonic() + job.limits.seconds
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_answer,
            args=(theirs, job),
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
            while self._pipe.poll():
                packet = decode(self._pipe.recv_bytes())
                if packet.kind != PROGRESS:
                    return self._ended(packet)
                self.progress = str(packet.fields["words"])[:200]
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


_to_parent: list[Connection] = []
"""The child's pipe, in the child."""


def report(words: str) -> None:
    """Say in a job how far it is; nobody hears it where the work is done by others."""
    for pipe in _to_parent:
        pipe.send_bytes(Packet(PROGRESS, {"words": words}).encode())


def _answer(pipe: Connection, job: Job) -> None:
    """What the child does."""
    _to_parent.append(pipe)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    memory = job.limits.memory
    _limit_memory(memory)
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    try:
        answer = job.work(*job.arguments)
    except CorporealError as error:
        answer = _refusal(str(error))
    except MemoryError:
        answer = _refusal(
            f"it needs more than {memory / 2**30:g} GiB of memory. Give a smaller file."
        )
    except FAULTS as error:
        answer = _refusal(told(error, f"doing {job.work.__name__}"))
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
