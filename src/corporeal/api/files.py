"""Files in and out."""

from pathlib import Path
from typing import Any

from corporeal.formats.registry import FORMATS, Format
from corporeal.pipelines.convert import ConvertConfig
from corporeal.pipelines.convert import convert as convert_file
from corporeal.pipelines.loading import load
from corporeal.pipelines.saving import save

__all__ = ["convert", "list_formats", "load", "save"]


def list_formats() -> tuple[Format, ...]:
    """Every file format: what `load` reads from it, what `save` writes, what survives, what not."""
    return FORMATS


def convert(source: str | Path, out: str | Path, *, frame: int | None = None) -> dict[str, Any]:
    """Write what one file holds in the format of another; gives what there is to tell.

    A manifest is left beside `out`, as `corporeal convert` does. `frame` chooses the one frame that
    a surface file holds.
    """
    return convert_file(ConvertConfig(Path(source), Path(out), frame)).report
