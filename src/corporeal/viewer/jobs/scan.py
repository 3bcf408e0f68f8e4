"""A scan becomes a person: the registration of `corporeal avatar`, which says how far it is."""

from pathlib import Path

from corporeal.formats.native import write_body
from corporeal.formats.raw_scans import read_raw_scan
from corporeal.pipelines.avatar import body_of
from corporeal.registration.register import register_scan
from corporeal.viewer.job_process import report
from corporeal.viewer.packets import Packet


def register(path: str, out: str) -> Packet:
    """Register the scan of one person and write the body, `out`."""
    report("reading the scan")
    raw = read_raw_scan(Path(path), None)
    found = register_scan(raw, say=report)
    body, sex = body_of(found)
    write_body(Path(out), body)
    fit = found.registered
    words = [
        f"a {sex} body, {100 * body.measurements.get('stature', 0.0):.1f} cm tall",
        f"{1e3 * fit.quality.mean:.1f} mm from the scan on average",
    ]
    return Packet("person", {"remarks": words})
