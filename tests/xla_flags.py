"""Which flags the installed compiler behind JAX knows: it would not start with another one."""

from collections.abc import Iterable
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from pathlib import Path


def known_flags(names: Iterable[str]) -> list[str]:
    """Those of `names` that jaxlib's largest library has as a flag."""
    (folder,) = find_spec("jaxlib").submodule_search_locations  # type: ignore[union-attr]
    libraries = sorted(Path(folder).glob("*.so"), key=lambda path: path.stat().st_size)
    return flags_in(libraries[-1], names) if libraries else []


def flags_in(library: Path, names: Iterable[str]) -> list[str]:
    """Names that stand in a library as a text of their own, between zero bytes.

    A flag that was taken out is still told there as a reserved name, among others (jaxlib 0.12).
    """
    with library.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
        return [name for name in names if text.find(b"\0" + name.encode() + b"\0") >= 0]
