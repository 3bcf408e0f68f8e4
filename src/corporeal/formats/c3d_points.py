"""Points of a C3D file by `ezc3d`, as arrays; called in a process of its own (`apart`)."""

from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.runtime.extras import import_extra

# Before the process is limited: what an import takes is not the file's.
ezc3d = import_extra("ezc3d", "markers", "reading C3D files")


def read_points(path: Path) -> dict[str, NumpyArray]:
    """`points` (3, markers, frames) in the file's unit, `labels`, `unit` and `rate`."""
    content = ezc3d.c3d(str(path))
    table = content["parameters"]["POINT"]
    return {
        "points": np.asarray(content["data"]["points"], np.float64)[:3],
        "labels": np.array([str(label) for label in table["LABELS"]["value"]], np.str_),
        "unit": np.array(str(table["UNITS"]["value"][0]) if "UNITS" in table else "mm"),
        "rate": np.array(float(np.asarray(table["RATE"]["value"]).reshape(-1)[0])),
    }
