"""`corporeal capture`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated

import tyro

from corporeal.body.registrations import LeftOut
from corporeal.capture.scanner.scanner import ScannerSettings
from corporeal.cli.console import say, tell_batch
from corporeal.formats.registrations import RegistrationsStore
from corporeal.pipelines.capture import CaptureConfig, CaptureOptions, capture


@dataclass(frozen=True, kw_only=True)
class Capture(CaptureOptions):
    """Record people with the virtual 4D scanner: physics moves them, registrations come out.

    Protocols: shapes (one standing scan a person), poses (many poses, each in static balance), dyna
    (the fourteen authored motions, flesh in motion), mocap (given clips). Three of eight
    people are kept for tests; who they are depends on the people's seed alone.

    Examples:
      corporeal capture --people people.zarr --protocol poses --out multipose.zarr
      corporeal capture --people people.zarr --protocol dyna --split train --women 5 --men 5 \
--out dyna.zarr
      corporeal capture --people people.zarr --protocol mocap --clips walk.bvh --out walk.zarr
      corporeal capture --people people.zarr --protocol shapes --scans --out scans.zarr
      corporeal capture --people people.zarr --protocol dyna --device gpu --out dyna.zarr

    Every movement comes with its quasi-static twin, every frame with what was measured on its
    flesh. A take beyond the limits of health is tried again in smaller steps; if that does not
    help it is left out, and said so.

    A run that was stopped takes up where it stopped: give the same command again.
    """

    scans: bool = False
    """Also make raw scans, with noise and holes."""
    points: int = 150_000
    """Points a scan, about."""
    landmarks: bool = False
    """Put marks on the skin that scans find."""
    join: bool = False
    """Help a run of the same set on another device, from the other end; takes say which."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes to use; all cores by default, four where a GPU simulates."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask cluster to use instead of this machine."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Record, and say what came of it."""
        config = self.config()
        say(f"recording people of {self.people} ({self.protocol}) into {self.out}")
        report = capture(config, self.jobs, self.scheduler, join=self.join)
        code = tell_batch(report, as_json=self.json)
        tell_left_out(RegistrationsStore.open(self.out).left_out())
        if code == 0 and not self.json:
            sheet = self.out.with_suffix(".png").name
            print(
                f"wrote {self.out}\n\n"
                f"what it holds:  corporeal dataset info {self.out}\n"
                f"look at it:     corporeal dataset export {self.out} --out {sheet}\n"
                f"check it:       corporeal dataset validate {self.out}"
            )
        return code

    def config(self) -> CaptureConfig:
        """What decides the content."""
        shared = {f.name: getattr(self, f.name) for f in fields(CaptureOptions)}
        scanner = ScannerSettings(points=self.points, landmarks=self.landmarks)
        return CaptureConfig(scans=scanner if self.scans else None, **shared)


def tell_left_out(takes: Sequence[LeftOut]) -> None:
    """Name the takes that the set lacks because no attempt made their flesh sound."""
    if takes:
        say(f"{len(takes)} takes were left out, beyond the limits of health in all attempts:")
    for take in takes:
        say(f"  {take.subject} {take.sequence}: {'; '.join(take.reasons)}")
