"""Writing files and folders so that a reader never meets half of one.

A result is first written beside its place under a hidden name, flushed to the disk, and then moved
over its place in one step. An error leaves the old file as it was and nothing beside it. A killed
run can leave its hidden file behind, never a half result; the next write to the same place removes
it.
"""

import errno
import hashlib
import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corporeal.errors import OutputError
from corporeal.runtime.input_files import named, open_input

_MARK = ".part"
_STALE_AFTER_S = 24 * 3600.0
"""A hidden file of another machine is taken for abandoned after this many seconds."""

_ADVICE = {
    errno.ENOSPC: "the disk is full. Free some space, or choose another disk",
    errno.EDQUOT: "your disk quota is used up. Free some space, or choose another disk",
    errno.EFBIG: "the file is larger than the file system or the process limit allows",
    errno.EACCES: "you may not write there. Choose another folder, or change its permissions",
    errno.EPERM: "you may not write there. Choose another folder, or change its permissions",
    errno.EROFS: "the file system is read-only. Choose another folder",
    errno.ENAMETOOLONG: "the name is too long. Choose a shorter one",
    errno.EIO: "the disk reported an error. Choose another disk",
}


@contextmanager
def atomic_write(path: str | Path, *, inside: str | Path | None = None) -> Iterator[Path]:
    """Give a temporary path to write to; move it over `path` when the block ends well.

    The temporary lies in the same folder and has the same suffix, so writers that go by the suffix
    work. With `inside`, a path that leads out of that folder is refused, which keeps names that
    come from data (`../../etc/passwd`) at home. Raises `OutputError` for what the system refuses.
    """
    target = require_writable(path, inside=inside)
    _remove_stale(target)
    temporary = _temporary_beside(target)
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        _flush(temporary)
        temporary.replace(target)
        _flush(target.parent)
    except OSError as error:
        if isinstance(error, OutputError) or not _is_about(error, temporary, target):
            raise
        raise _output_error(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Give an empty hidden folder to fill; move it to `path` in one step when the block ends well.

    A folder that is there already stays as it is, and the new one is dropped: of two writers of
    the same thing the first wins. Raises `OutputError` for what the system refuses.
    """
    target = _resolved(path)
    make_folder(target.parent)
    _remove_stale(target)
    temporary = _temporary_beside(target)
    try:
        temporary.mkdir()
        yield temporary
        for item in (*temporary.rglob("*"), temporary):
            _flush(item)
        try:
            temporary.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not target.is_dir():
                raise
        _flush(target.parent)
    except OSError as error:
        inside = error.filename is not None and Path(error.filename).is_relative_to(temporary)
        if isinstance(error, OutputError) or not (inside or _is_about(error, temporary, target)):
            raise
        raise _output_error(target, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_bytes(path: str | Path, content: bytes, *, inside: str | Path | None = None) -> None:
    """Write `content` to `path`, wholly or not at all."""
    with atomic_write(path, inside=inside) as temporary, temporary.open("wb") as file:
        file.write(content)


def require_writable(path: str | Path, *, inside: str | Path | None = None) -> Path:
    """The resolved path, if a file can be written there; else `OutputError` says what to do.

    Long work calls this first, so that a typing mistake costs a second and not an hour.
    """
    try:
        target = _resolved(path)
        folder = target.parent
        if inside is not None and not target.is_relative_to(_resolved(inside)):
            raise OutputError(
                f"cannot write {path}: it leads out of the folder {inside}. "
                f"Give a plain name that stays inside it."
            )
        if target.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder. Give a file name inside it.")
        if target.exists() and not target.is_file():
            raise OutputError(
                f"cannot write {named(path)}: it is not a plain file. Choose another name."
            )
        if not folder.is_dir():
            what = "is not a folder" if folder.exists() else "does not exist"
            raise OutputError(
                f"cannot write {path}: {folder} {what}. Create it, or choose another."
            )
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise _output_error(Path(path), error) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _output_error(target, OSError(errno.EACCES, os.strerror(errno.EACCES)))
    return target


def require_room(path: str | Path, size: int) -> None:
    """Refuse to begin a file of `size` bytes that the disk cannot take.

    For libraries that end the whole program, or tell nothing, when a disk is full.
    """
    try:
        free = shutil.disk_usage(Path(path).parent).free
    except OSError:
        return  # whoever writes will say why
    if free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path))


def make_folder(path: str | Path) -> Path:
    """Create a folder, and those above it, unless it is there; `OutputError` where it cannot be."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise OutputError(
            f"cannot create the folder {path}: a file has that name. Choose another name."
        ) from error
    except OSError as error:
        raise _output_error(Path(path), error) from error
    return Path(path)


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with open_input(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _resolved(path: str | Path) -> Path:
    """The absolute path; links that lead to each other and null bytes are refused by name."""
    try:
        return Path(path).resolve()
    except (RuntimeError, ValueError) as error:  # pathlib's words for a loop, and for a null byte
        raise OutputError(f"cannot write {named(path)}: {error}. Choose another place.") from error


def _temporary_beside(target: Path) -> Path:
    token = f"{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
    return target.with_name(f"{_prefix(target)}{token}{_MARK}{target.suffix}")


def _prefix(target: Path) -> str:
    """Start of the hidden names that belong to one target, and to no other in its folder."""
    return f".{target.stem[:40]}-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}-"


def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _remove_stale(target: Path) -> None:
    prefix = _prefix(target)
    for leftover in target.parent.iterdir():
        if leftover.name.startswith(prefix) and _MARK in leftover.name:
            machine, _, rest = leftover.name[len(prefix) :].partition("-")
            if not _is_abandoned(leftover, machine, rest.partition("-")[0]):
                continue
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)


def _is_abandoned(leftover: Path, machine: str, pid: str) -> bool:
    known = machine == _machine() and pid.isascii() and pid.isdigit() and 0 < len(pid) < 10
    if known and not _is_running(int(pid)):
        return True
    try:
        return time.time() - leftover.lstat().st_mtime > _STALE_AFTER_S
    except OSError:
        return False  # its writer has just finished, or it is not ours to judge


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return True  # no signal 0 there: leave it to its age
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _flush(path: Path) -> None:
    """Ask the system to put a file, or a folder's list of names, on the disk."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_about(error: OSError, temporary: Path, target: Path) -> bool:
    """Whether the error came from the result itself, not from another file read meanwhile."""
    if error.errno is None:
        return False
    names = {os.fspath(temporary), os.fspath(target), os.fspath(target.parent)}
    return error.filename is None or os.fspath(error.filename) in names


def _output_error(target: Path, error: OSError) -> OutputError:
    why = _ADVICE.get(error.errno or 0, f"{error.strerror or error}. Choose another place")
    return OutputError(f"cannot write {named(target)}: {why}. Nothing was left behind.")
