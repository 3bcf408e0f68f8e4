"""`corporeal capture`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from corporeal.capture.flesh import DeformerName, Touch
from corporeal.capture.scanner.scanner import ScannerSettings
from corporeal.cli.speech import say, tell_batch
from corporeal.motions.library import MOTIONS
from corporeal.pipelines.capture import CaptureConfig, Halves, ProtocolName, capture


@dataclass(frozen=True, kw_only=True)
class Capture:
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

    A run that was stopped takes up where it stopped: give the same command again.
    """

    people: Path
    """Store of people (.zarr), as `corporeal people` writes it."""
    protocol: ProtocolName
    """What people do."""
    out: Path
    """Store of registrations to write (.zarr)."""
    split: Halves = "both"
    """Which people: those for training, those for tests, or both."""
    women: int | None = None
    """How many women, evenly over the body mass index; all people unless told."""
    men: int | None = None
    """How many men."""
    poses: int = 45
    """Poses a person, for the protocol poses."""
    fps: float = 60.0
    """Frames a second, for the protocols dyna and mocap."""
    duration: float = 5.0
    """Seconds a motion, for the protocol dyna."""
    motions: tuple[str, ...] = tuple(MOTIONS)
    """Authored motions, for the protocol dyna."""
    clips: tuple[Path, ...] = ()
    """Motion files (.bvh, .npz), for the protocol mocap."""
    deformer: DeformerName = "layered"
    """What moves the flesh: fat and muscle on bones, or two-layer flesh."""
    touch: Touch = "global"
    """Whether skin meets skin: nowhere, at joints, or anywhere."""
    seed: int = 0
    """Draws poses, motions, tissue and noise."""
    scans: bool = False
    """Also make raw scans, with noise and holes."""
    scan_every: int = 1
    """Scan each so many frames."""
    points: int = 150_000
    """Points a scan, about."""
    landmarks: bool = False
    """Put marks on the skin that scans find."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes to use; all cores unless told."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask cluster to use instead of this machine."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Record, and say what came of it."""
        config = self.config()
        say(f"recording people of {self.people} ({self.protocol}) into {self.out}")
        report = capture(config, self.jobs, self.scheduler)
        code = tell_batch(report, as_json=self.json)
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
        scanner = ScannerSettings(points=self.points, landmarks=self.landmarks)
        return CaptureConfig(
            people=self.people,
            out=self.out,
            protocol=self.protocol,
            split=self.split,
            women=self.women,
            men=self.men,
            poses=self.poses,
            fps=self.fps,
            duration=self.duration,
            motions=self.motions,
            clips=self.clips,
            deformer=self.deformer,
            touch=self.touch,
            seed=self.seed,
            scans=scanner if self.scans else None,
            scan_every=self.scan_every,
        )
