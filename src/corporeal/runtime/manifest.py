"""The paper that goes with every result: how it was made, from what, and by which versions.

`anna.npz` is accompanied by `anna.npz.manifest.json`. The manifest holds the verb's whole config,
so that the run can be repeated, and the hashes of what went in and came out, so that a batch can
tell what is already done. The manifests of inputs are kept inside it: provenance survives even
where a result takes its input's name.
"""

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

import corporeal
from corporeal.errors import FormatError, InputError
from corporeal.runtime.files import file_sha256, write_bytes
from corporeal.runtime.input_files import read_input, require_input

SUFFIX = ".manifest.json"
_MAX_BYTES = 64 * 1024**2
_PACKAGES = ("numpy", "scipy", "jax", "jaxlib", "numba", "pillow", "imageio-ffmpeg")

Json = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A run that has begun: its inputs are hashed before anything can overwrite them."""

    verb: str
    """Name of the command."""
    config: Json
    """All settings, as JSON."""
    inputs: tuple[Json, ...]
    """Path, size and hash of every file that is read, and its manifest where there is one."""
    started: str
    """Time of the start, ISO 8601, UTC."""


def manifest_path(output: str | Path) -> Path:
    """Where the manifest of a result lies."""
    return Path(output).with_name(Path(output).name + SUFFIX)


def start_run(verb: str, config: Any, inputs: Iterable[str | Path] = ()) -> Run:
    """Note a verb, its config (a dataclass or a mapping) and the files that it reads."""
    return Run(verb, to_json(config), tuple(_input(Path(p)) for p in inputs), _now())


def finish_run(
    run: Run, outputs: Sequence[str | Path], report: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write a manifest beside every output; `report` is what the run has to say in numbers."""
    content = {
        "corporeal": corporeal.__version__,
        "verb": run.verb,
        "config": run.config,
        "inputs": list(run.inputs),
        "outputs": [_described(Path(output)) for output in outputs],
        "report": to_json(report or {}),
        "versions": package_versions(),
        "platform": {"system": platform.platform(), "machine": platform.machine()},
        "started": run.started,
        "ended": _now(),
    }
    text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")  # a name that is no text: JSON's own escape
    paths = [manifest_path(output) for output in outputs]
    for path in paths:
        write_bytes(path, data)
    return paths


def read_manifest(path: str | Path) -> Json:
    """A manifest's content; `FormatError` for anything else."""
    path = Path(path)
    data = read_input(path, at_most=_MAX_BYTES)
    try:
        content = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not a corporeal manifest: {error}.") from error
    wanted = {"corporeal": str, "verb": str, "config": dict, "inputs": list, "outputs": list}
    if not isinstance(content, dict) or any(
        not isinstance(content.get(name), kind) for name, kind in wanted.items()
    ):
        raise FormatError(f"{path} is not a corporeal manifest; expected {', '.join(wanted)}.")
    return content


def require_verb(content: Json, verb: str) -> None:
    """Raise `InputError` unless a manifest is of a run of `verb`."""
    if content["verb"] != verb:
        raise InputError(
            f"the manifest is of a run of 'corporeal {content['verb']}'; expected one of "
            f"'corporeal {verb}'."
        )


def require_known(content: Json, kind: type) -> None:
    """Raise `FormatError` for a manifest whose config is not one of the dataclass `kind`.

    Names that it has not were written by another version, whose run is not repeated half; values
    of another type, and a lack of what has no default, by hand.
    """
    known = {f.name for f in fields(kind)}
    if unknown := sorted(set(content["config"]) - known):
        raise FormatError(
            f"the manifest was written by corporeal {content['corporeal']} and has "
            f"{', '.join(unknown)}, which corporeal {corporeal.__version__} does not know. Repeat "
            f"the run with that version, or give its flags anew."
        )
    hints = get_type_hints(kind)
    for f in fields(kind):
        if f.name in content["config"]:
            value = content["config"][f.name]
            if value is not None and not _fits(value, hints[f.name]):
                raise FormatError(
                    f"the manifest has {f.name} = {json.dumps(value)[:60]}; expected "
                    f"{_in_words(hints[f.name])}. Correct it, or give the flags anew."
                )
        elif f.default is MISSING and f.default_factory is MISSING:
            raise FormatError(
                f"the manifest's config has no {f.name!r}, without which the run cannot be "
                f"repeated. Give the flags anew."
            )


def _fits(value: Any, hint: Any) -> bool:
    """Whether a JSON value is what a field of this type is written as."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _fits(value, parts[0])
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin in (tuple, list) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        inner = [part for part in parts if part is not Ellipsis] or [Any]
        return isinstance(value, list) and all(any(_fits(v, p) for p in inner) for v in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(_fits(v, parts[-1]) for v in value.values())
    if is_dataclass(hint):
        return isinstance(value, dict)
    if hint is float:
        return type(value) in (int, float)
    if hint in (bool, int, str):
        return type(value) is hint
    if isinstance(hint, type) and issubclass(hint, Path):
        return isinstance(value, str) and value != ""
    return hint is not NoneType or value is None


def _in_words(hint: Any) -> str:
    """A type as people say it."""
    words = {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_in_words(part) for part in parts if part is not NoneType)
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if isinstance(origin, type):
        return "a table of names" if issubclass(origin, Mapping) else "a list"
    return words.get(hint, "a path" if hint is Path else "another kind of value")


def is_current(output: str | Path, run: Run) -> bool:
    """Whether `output` was already made by the same version, config and inputs, and is unharmed."""
    output = Path(output)
    if not output.is_file() or not manifest_path(output).is_file():
        return False
    try:
        content = read_manifest(manifest_path(output))
    except InputError:
        return False
    return (
        content["corporeal"] == corporeal.__version__
        and content["verb"] == run.verb
        and content["config"] == run.config
        and [i.get("sha256") for i in content["inputs"]] == [i["sha256"] for i in run.inputs]
        and _described(output) in content["outputs"]
    )


def package_versions() -> dict[str, str | None]:
    """Python and the packages that can change a result; None for one that is not installed."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def to_json(value: Any) -> Any:
    """Dataclasses, paths, tuples and NumPy numbers as plain JSON values."""
    if is_dataclass(value):
        return {f.name: to_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise InputError(f"a manifest cannot hold {value!r}; expected numbers, text, lists, mappings.")


def _input(path: Path) -> Json:
    require_input(path)
    described = _described(path) | {"path": str(path)}
    if manifest_path(path).is_file():
        described["manifest"] = read_manifest(manifest_path(path))
    return described


def _described(path: Path) -> Json:
    return {"path": path.name, "sha256": file_sha256(path), "bytes": path.stat().st_size}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def given_again(content: Json, verb: str, kind: type) -> dict[str, Any]:
    """Fields of the dataclass `kind` as a manifest of `verb` has them, paths as paths."""
    require_verb(content, verb)
    require_known(content, kind)
    kinds = {f.name: f.type for f in fields(kind)}

    def given(name: str, value: Any) -> Any:
        if kinds[name] is not Path and Path not in get_args(kinds[name]):
            return value
        return tuple(map(Path, value)) if isinstance(value, list) else Path(value)

    return {
        name: given(name, value)
        for name, value in content["config"].items()
        if name in kinds and value is not None
    }
