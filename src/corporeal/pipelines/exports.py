"""Engine files by their suffix: characters in and out, and exact caches."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from corporeal._typing import Float, NumpyArray
from corporeal.body.character import Character
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.runtime.files import require_writable

CHARACTER_WRITERS = {
    ".glb": "corporeal.formats.gltf:write_glb_character",
    ".fbx": "corporeal.formats.fbx:write_fbx",
    ".usd": "corporeal.formats.usd:write_usd",
    ".usdc": "corporeal.formats.usd:write_usd",
    ".usda": "corporeal.formats.usd:write_usd",
}
"""Suffix → module and function, imported when asked for."""

CHARACTER_READERS = {".glb": "corporeal.formats.gltf_read:read_glb_character"}
CACHE_SUFFIXES = (".abc", ".pc2", ".usd", ".usdc", ".usda")


def write_character(path: str | Path, character: Character) -> None:
    """Write a baked character as `.glb`, `.fbx`, `.usd`, `.usdc` or `.usda`."""
    write = _found(path, "write a character as", CHARACTER_WRITERS)
    write(require_writable(path), character)


def read_character(path: str | Path) -> Character:
    """Read a character from `.glb`."""
    return _found(path, "read a character from", CHARACTER_READERS)(path)


def convert_character(source: str | Path, target: str | Path) -> Character:
    """Read a character, write it in the format that the target's suffix names, give it back."""
    write = _found(target, "write a character as", CHARACTER_WRITERS)
    target = require_writable(target)
    character = read_character(source)
    write(target, character)
    return character


def write_cache(
    path: str | Path, mesh: Mesh, vertices: Float[NumpyArray, "N V 3"], fps: float
) -> tuple[Path, ...]:
    """Write a moving surface (metres) frame by frame; gives back the files that were written.

    A `.pc2` holds positions alone, so the surface that it moves is written beside it as `.obj`.
    """
    path = require_writable(path)
    suffix = path.suffix.lower()
    if suffix == ".abc":
        from corporeal.formats.alembic import write_alembic

        write_alembic(path, mesh, vertices, fps)
    elif suffix == ".pc2":
        from corporeal.formats.obj import write_obj
        from corporeal.formats.pc2 import write_pc2

        write_obj(path.with_suffix(".obj"), mesh)
        write_pc2(path, vertices)
        return path, path.with_suffix(".obj")
    elif suffix in CACHE_SUFFIXES:
        from corporeal.formats.usd import write_usd_cache

        write_usd_cache(path, mesh, vertices, fps)
    else:
        raise InputError(
            f"cannot write a cache as {path}; expected the suffix {', '.join(CACHE_SUFFIXES)}."
        )
    return (path,)


def _found(path: str | Path, verb: str, known: dict[str, str]) -> Callable[..., Any]:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise InputError(f"cannot {verb} {path}; expected the suffix {', '.join(known)}.")
    module, name = known[suffix].split(":")
    return getattr(import_module(module), name)
