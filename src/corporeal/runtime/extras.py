"""Optional packages: imported when a feature needs them, and named when they are missing."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from corporeal.errors import MissingDependencyError


def require_extra(module: str, extra: str, purpose: str) -> None:
    """Raise `MissingDependencyError` unless `module` can be found; nothing is imported."""
    if find_spec(module.partition(".")[0]) is None:
        raise MissingDependencyError(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed. "
            f"Install it with: pip install 'corporeal[{extra}]'"
        )


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import `module`, which the optional extra `extra` installs; `purpose` says what for."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{purpose} needs the package {module.partition('.')[0]!r} ({error}). Install it with: "
            f"pip install 'corporeal[{extra}]'"
        ) from error
