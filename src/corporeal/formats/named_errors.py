"""Whatever is wrong with a file's content is said with the file's name."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from corporeal.errors import CorporealError, FormatError

Rest = ParamSpec("Rest")
Read = TypeVar("Read")


def says_the_file(
    read: Callable[Concatenate[str | Path, Rest], Read],
) -> Callable[Concatenate[str | Path, Rest], Read]:
    """A reader whose errors name the file: also those of nouns, of arithmetic, of a library."""

    @wraps(read)
    def named(path: str | Path, *args: Rest.args, **options: Rest.kwargs) -> Read:
        try:
            return read(path, *args, **options)
        except CorporealError as error:
            if str(path) in str(error):
                raise
            raise FormatError(f"{path}: {error}") from error
        except (np.linalg.LinAlgError, RuntimeError, TypeError) as error:  # values of no known type
            raise FormatError(f"{path} holds what no rig has. It is damaged.") from error

    return named
