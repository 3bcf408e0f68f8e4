"""Scans and markers: registered to the default body."""

from pathlib import Path

from corporeal.body.body import Body
from corporeal.body.motion import Motion
from corporeal.body.raw_scan import RawScan
from corporeal.formats.raw_scans import read_raw_scan
from corporeal.registration.marker_fit import MarkerFit
from corporeal.registration.register import RegisteredScan, register_scan


def register(scan: RawScan | str | Path, *, unit: str = "auto", up: str = "auto") -> RegisteredScan:
    """Register a scan of one person (a file, or points in memory) to the default body's topology.

    `unit` (m, cm, mm, in) and `up` (such as "+z") are found unless given. What is not one person is
    refused, with the reason.
    """
    raw = scan if isinstance(scan, RawScan) else read_raw_scan(scan)
    return register_scan(raw, unit=unit, up=up)


def make_avatar(
    scan: RawScan | str | Path,
    *,
    unit: str = "auto",
    up: str = "auto",
    sex: str | None = None,
    age: float | None = None,
) -> Body:
    """The measured body of a scanned person, for every deformer, `fit_anatomy` and `save`.

    `unit` and `up` as in `register`; `sex` (female, male) is told from the shape unless given, and
    `age` in years is 40.
    """
    from corporeal.pipelines.avatar import body_of

    return body_of(register(scan, unit=unit, up=up), sex, age)[0]


def fit_markers(clip: str | Path, *, markers: str | Path | None = None) -> tuple[Motion, MarkerFit]:
    """One body and its motion from the optical markers of a C3D file.

    `markers` is a JSON table (label: vertex, or label: known label); labels of Plug-in Gait and
    Helen Hayes are known.
    """
    from corporeal.pipelines.markers import motion_of

    return motion_of(Path(clip), None if markers is None else Path(markers))[:2]
