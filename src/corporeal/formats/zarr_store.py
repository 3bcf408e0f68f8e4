"""Zarr stores made of parts: every part appears whole or not at all.

A store is a folder that any Zarr reader opens: a group with attributes, common arrays, and folders
of parts. A part is a group of its own (a sequence, a batch of people); it is written under a hidden
name and moved to its place in one step. So many processes may write at once, a kill at any moment
leaves whole parts only, and a rerun writes those that are missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError, InputError, OutputError
from corporeal.formats.zarr_groups import NAME, GroupReader, GroupWriter
from corporeal.formats.zarr_layout import read_attributes
from corporeal.runtime.files import atomic_folder
from corporeal.runtime.input_files import resolved
from corporeal.runtime.manifest import to_json

_FORMAT, _VERSION, _RUN = "format", "version", "run"
_FINISHED = "finished"
_SUFFIX = ".zarr"


class ZarrStore:
    """A store on this machine's disk. Holds no open files: pass its path between processes."""

    def __init__(self, path: Path, group: GroupReader) -> None:
        self.path, self._group = path, group

    @classmethod
    def create(
        cls,
        path: str | Path,
        kind: str,
        run: Mapping[str, Any],
        folders: Sequence[str],
        arrays: Mapping[str, NumpyArray] | None = None,
        attributes: Mapping[str, Any] | None = None,
        version: int = 1,
    ) -> "ZarrStore":
        """Make a store, or take up one that the same `run` began.

        `run` is what decides the content (JSON values); a store of another run is refused by name.
        `arrays` are common to all parts; `attributes` may differ from run to run.
        """
        target = Path(path)
        if not target.exists():
            _require_place(target)
            with atomic_folder(target) as hidden:
                _write_root(hidden, kind, run, folders, arrays or {}, attributes or {}, version)
        store = cls.open(target, kind, version)
        _require_same_run(target, store.run, to_json(run))
        return store

    @classmethod
    def open(cls, path: str | Path, kind: str, version: int = 1) -> "ZarrStore":
        """Open a store of this kind; nothing but its attributes is read."""
        path = Path(path)
        if path.is_file():
            raise FormatError(f"{path} is a file; expected the folder of a Zarr store.")
        attributes = read_attributes(resolved(path))
        if attributes.get(_FORMAT) != kind:
            raise FormatError(
                f"{path} is a Zarr store of {str(attributes.get(_FORMAT))[:60]!r}; expected "
                f"{kind!r}."
            )
        if attributes.get(_VERSION) != version:
            raise FormatError(
                f"{path} has version {str(attributes.get(_VERSION))[:20]} of {kind!r}; expected "
                f"{version}. Read it with the corporeal that wrote it."
            )
        return cls(resolved(path), GroupReader(resolved(path), attributes))

    @property
    def run(self) -> Mapping[str, Any]:
        """What decides the content."""
        run = self._group.attributes.get(_RUN, {})
        if not isinstance(run, dict):
            raise FormatError(f"{self.path} does not say what made it.")
        return run

    @property
    def common(self) -> GroupReader:
        """Attributes and arrays that belong to no part."""
        return self._group

    def has(self, folder: str, name: str) -> bool:
        """Whether a part is there (then it is whole)."""
        return (self._place(folder, name) / "zarr.json").is_file()

    def parts(self, folder: str) -> list[str]:
        """Names of the parts in a folder, sorted."""
        home = self._folder(folder)
        found = (item.name for item in home.iterdir() if item.is_dir())
        return sorted(name for name in found if NAME.fullmatch(name) and self.has(folder, name))

    def part(self, folder: str, name: str) -> GroupReader:
        """A part, its attributes checked."""
        place = self._place(folder, name)
        return GroupReader(place, read_attributes(place))

    @contextmanager
    def writing(self, folder: str, name: str) -> Iterator[GroupWriter]:
        """Write a part; it appears when the block ends well. One that is there is kept."""
        with atomic_folder(self._place(folder, name)) as hidden:
            writer = GroupWriter(hidden)
            yield writer
            writer.close()

    def finish(self, report: Mapping[str, Any] | None = None) -> None:
        """Mark the store as whole."""
        if not self.is_finished:
            with atomic_folder(self.path / _FINISHED) as hidden:
                writer = GroupWriter(hidden)
                writer.attributes = dict(report or {})
                writer.close()

    @property
    def is_finished(self) -> bool:
        """Whether the store was declared complete."""
        return (self.path / _FINISHED / "zarr.json").is_file()

    def require_finished(self) -> None:
        """Raise `InputError` for a store whose run was stopped."""
        if not self.is_finished:
            raise InputError(
                f"{self.path} is not whole: the run that writes it was stopped, or is still going. "
                f"Run the same command again; it takes up where it stopped."
            )

    def _folder(self, folder: str) -> Path:
        home = self.path / folder
        if not NAME.fullmatch(folder) or home.is_symlink() or not home.is_dir():
            raise FormatError(f"{self.path} has no plain folder {folder!r}; it is damaged.")
        return home

    def _place(self, folder: str, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise InputError(
                f"{name!r} cannot name a part of a store; expected up to 100 letters, digits, "
                f"'_', '-', '.', starting with a letter, digit or '_'."
            )
        return self._folder(folder) / name


def _require_place(target: Path) -> None:
    """Refuse names of other formats, and folders that are not there: both are typing mistakes."""
    if target.suffix.lower() != _SUFFIX:
        raise OutputError(
            f"cannot write a Zarr store as {target}; expected a name that ends in {_SUFFIX}."
        )
    folder = resolved(target).parent
    if not folder.is_dir():
        raise OutputError(
            f"cannot write {target}: {folder} is not a folder. Create it, or choose another."
        )


def _write_root(
    hidden: Path,
    kind: str,
    run: Mapping[str, Any],
    folders: Sequence[str],
    arrays: Mapping[str, NumpyArray],
    attributes: Mapping[str, Any],
    version: int,
) -> None:
    writer = GroupWriter(hidden)
    writer.attributes = {_FORMAT: kind, _VERSION: version, _RUN: run, **attributes}
    for name, array in arrays.items():
        writer.add(name, array)
    for folder in folders:
        GroupWriter(hidden / folder).close()
    writer.close()


def _require_same_run(path: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    for name in sorted({*there, *asked}):
        if there.get(name) != asked.get(name):
            raise OutputError(
                f"{path} was begun with {name} = {str(there.get(name))[:100]}; this run has "
                f"{str(asked.get(name))[:100]}. Give another --out, or remove that folder."
            )
