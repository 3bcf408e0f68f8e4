"""`corporeal register`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.register import RegisterConfig, TakeRegistered, register


@dataclass(frozen=True, kw_only=True)
class RegisterVerb(RegisterConfig):
    """Register scans of people to the default body: one topology, as trainers take it.

    Examples:
      corporeal register scan.obj --out registered.zarr --report report
      corporeal register scans/ --same-person --out registered.zarr
      corporeal register capture.zarr --sequence --out tracked.zarr --jobs 2

    Takes a scan, a folder of scans, or a store with raw scans (corporeal capture --scans). Takes
    that are registered already are kept; a stopped run goes on where it was.
    """

    scans: Positional[Path]
    """Scan, folder of scans, or store of raw scans."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Worker processes; one a core by default."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask scheduler to run on instead."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Register all takes, and say how well."""
        say(f"registering {self.scans}")
        config = {f.name: getattr(self, f.name) for f in fields(RegisterConfig)}
        report = register(RegisterConfig(**config), self.jobs, self.scheduler)
        failed = {name: failure.message for name, failure in report.failed.items()}
        if self.json:
            print_json({"done": report.done, "skipped": report.skipped, "failed": failed})
        else:
            for made in report.done.values():
                print(_row(made))
            for name, message in failed.items():
                print(f"{name}: {message}")
            print(f"{len(report.done)} registered, {len(report.skipped)} were there already, "
                  f"{len(failed)} failed: {self.out}")  # fmt: skip
        error = report.error()
        if error is None:
            return 0
        say(f"corporeal: {error}")
        return error.exit_code


def _row(made: TakeRegistered) -> str:
    """One take in words."""
    frames = "1 frame" if made.frames == 1 else f"{made.frames} frames"
    rest = f", {made.recovered} begun again, {made.lost} lost" if made.recovered + made.lost else ""
    return (
        f"{made.subject} {made.sequence}: {frames}, median {made.median_mm:.2f} mm, worst frame "
        f"{made.worst_mm:.2f} mm{rest}"
    )
