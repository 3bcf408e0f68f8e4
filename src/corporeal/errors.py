"""The one family of errors.

Every message says what came, what was expected and what to do. The command line prints the message
alone and exits with the class's `exit_code`; anything that is not a `CorporealError` is a bug and
keeps its traceback.
"""


class CorporealError(Exception):
    """The root of the family: catch this to catch everything the package refuses by name."""

    exit_code = 1


class InputError(CorporealError, ValueError):
    """An argument or array does not fit: wrong shape, not finite, unknown name, out of range."""

    exit_code = 2


class FormatError(InputError):
    """A file is not what its name promises, is damaged, or holds what cannot be read safely."""


class AssetError(CorporealError):
    """A file that ships with the package is missing, truncated or altered."""

    exit_code = 3


class OutputError(CorporealError, OSError):
    """A result cannot be written: no permission, no such folder, no space."""

    exit_code = 4


class UnreachableError(InputError):
    """The asked body lies outside what the model makes; says which value, and the nearest body."""


class SolverError(CorporealError):
    """A solver stopped without an answer; its message carries the solver's status in words."""

    exit_code = 5


class CapacityError(SolverError):
    """More contacts came than there is capacity for on a device; says how many fit."""


class MissingDependencyError(CorporealError, ImportError):
    """An optional extra is not installed; says which, and the command that installs it."""

    exit_code = 6


class JobError(CorporealError):
    """Some items of a batch failed; says which, why, and that a rerun takes up where it stopped."""

    exit_code = 7
