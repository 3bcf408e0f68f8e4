"""`corporeal dataset`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.dataset import (
    Choice,
    ImportConfig,
    dataset_facts,
    export_dataset,
    import_dataset,
)
from corporeal.pipelines.pack_config import PackConfig


@dataclass(frozen=True, kw_only=True)
class Info:
    """Tell what a set holds."""

    data: Positional[Path]
    """Zarr store, .hdf5 file in DFAUST's layout, or folder of .ply files."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Tell."""
        facts = dataset_facts(self.data)
        if self.json:
            print_json(facts)
            return 0
        state = {True: "finished", False: "not finished: run its command again", None: ""}
        print(
            f"{self.data}  {state[facts.finished]}\n"
            f"  topology   {facts.template}, {facts.vertices} vertices, hash "
            f"{facts.topology_hash[:12]}\n"
            f"  subjects   {facts.subjects}\n"
            f"  takes      {facts.takes}\n"
            f"  frames     {facts.frames}, {facts.seconds:.1f} s of movement"
        )
        for title, counts in (("split", facts.splits), ("sequence", facts.sequences)):
            for name, frames in counts.items():
                print(f"  {title:<10} {name:<24}{frames:>8} frames")
        return 0


@dataclass(frozen=True, kw_only=True)
class Export:
    """Write takes in another format; the suffix decides.

    .hdf5 (DFAUST's layout), .npz, .zarr, .png (contact sheet), .mp4 (film), or a folder of .ply.
    """

    data: Positional[Path]
    """Zarr store, .hdf5 file or folder of .ply files."""
    out: Path
    """File or folder to write."""
    subject: tuple[str, ...] = ()
    """Subjects to take; all by default."""
    sequence: tuple[str, ...] = ()
    """Sequences to take; all by default."""
    split: Literal["", "train", "test"] = ""
    """Which half of an experiment; both by default."""

    def run(self) -> int:
        """Write, and say what the format could not carry."""
        choice = Choice(self.subject, self.sequence, self.split)
        say(f"writing {self.data} as {self.out}")
        lost = export_dataset(self.data, self.out, choice)
        print(f"wrote {self.out}")
        if lost:
            print(f"it does not carry: {'; '.join(lost)}")
        return 0


@dataclass(frozen=True, kw_only=True)
class Import:
    """Bring registrations of other formats into a Zarr store."""

    data: Positional[tuple[Path, ...]]
    """DFAUST or Dyna files (.hdf5, .h5), or folders of .ply files such as FAUST's."""
    out: Path
    """Store to write (.zarr)."""
    template: str = ""
    """Name of the topology, such as smpl; by default after its number of vertices."""
    like: Path | None = None
    """A set whose topology they must have; others are refused."""

    def run(self) -> int:
        """Copy, take by take."""
        say(f"importing {', '.join(map(str, self.data))} into {self.out}")
        config = ImportConfig(
            inputs=self.data, out=self.out, template=self.template, like=self.like
        )
        count = import_dataset(config)
        print(f"wrote {self.out} ({count} takes)")
        return 0


@dataclass(frozen=True, kw_only=True)
class Pack:
    """Pack captures into one small file, with an error that is stated.

    Frames become poses and offsets in the rest pose, told by few coefficients. What reads sets
    reads such files as well; `dataset import` unpacks them into a store. Layers and the records of
    health are not carried: the worst values of every take are.
    """

    data: Positional[Path]
    """Zarr store of captures."""
    out: Path
    """File to write (.packed.npz)."""
    error: float = PackConfig.error
    """Of frames, metres, root mean square."""
    largest: float = PackConfig.largest
    """Of any vertex, metres, about."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes to use; all cores by default."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Pack, and say what was lost."""
        from corporeal.pipelines.pack_dataset import pack_dataset

        config = PackConfig(data=self.data, out=self.out, error=self.error, largest=self.largest)
        made = pack_dataset(config, self.jobs)
        if self.json:
            print_json(made)
            return 0
        print(f"wrote {made.out}: {made.frames} frames in {made.bytes / 1e6:.1f} MB")
        for what, error in made.errors.items():
            print(
                f"  {what:<8} {1e3 * error.rms:.3f} mm rms, one vertex in a hundred beyond "
                f"{1e3 * error.percentile99:.2f} mm, {1e3 * error.largest:.2f} mm at most"
            )
        print("it does not carry: layers, records of health, raw scans")
        return 0


@dataclass(frozen=True, kw_only=True)
class Validate:
    """Check a set: damage, values that are not finite, explosions, collapsed or torn flesh.

    Every frame is read, of takes and of their quasi-static twins, and what was measured on the
    flesh when it was recorded is held against limits: a millilitre inside out, skin stretched 4
    times, 0.6 of a body part's volume, skin 20 mm deep in the body, a solver that still moves by
    5 mm. Of sets without such records the skin alone is judged. Some frames a take are also asked
    how deep skin is inside other skin. The exit code is 1 if a take is broken or cannot be read.
    """

    data: Positional[Path]
    """Zarr store, .hdf5 file or folder of .ply files."""
    thorough: int = 5
    """Frames a take that are asked for penetration; about half a second each."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes to use; all cores by default."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask cluster to use instead of this machine."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Check, and list what was found."""
        from corporeal.capture.checkup import in_words
        from corporeal.pipelines.dataset_check import check_dataset

        found = check_dataset(self.data, self.thorough, self.jobs, self.scheduler)
        if self.json:
            print_json(found)
        else:
            print(f"{found.takes} takes, {found.frames} frames")
            for name, message in found.unreadable.items():
                print(f"  {name}: {message}")
            for name, faults in found.faults.items():
                verdict = "FAILED" if name in found.broken_takes else "worth a look"
                print(f"  {name}: {verdict}: {'; '.join(in_words(faults))}")
            for take in found.left_out:
                print(f"  {take.subject} {take.sequence}: left out by capture")
            if found.without_health:
                print(f"{found.without_health} takes have no health record; their skin was judged")
            print(
                f"{len(found.broken_takes)} takes fail, by {found.broken} faults; skin deeper than "
                f"2 mm in the body in "
                f"{found.counts.get('penetration', 0)} of {found.frames_asked_for_penetration} "
                f"frames asked, {1e3 * found.deepest:.1f} mm at most"
            )
        return 1 if found.broken or found.unreadable else 0


@dataclass(frozen=True)
class Dataset:
    """Sets of registrations: what they hold, other formats in and out, checks.

    Examples:
      corporeal dataset info dyna.zarr
      corporeal dataset export dyna.zarr --subject p00003 --out p00003.mp4
      corporeal dataset import registrations_m.hdf5 registrations_f.hdf5 --out dfaust.zarr
      corporeal dataset import FAUST/training/registrations --out faust.zarr
      corporeal dataset pack dyna.zarr --out dyna.packed.npz
      corporeal dataset import dyna.packed.npz --out unpacked.zarr
      corporeal dataset validate dyna.zarr
    """

    what: (
        Annotated[Info, tyro.conf.subcommand("info")]
        | Annotated[Export, tyro.conf.subcommand("export")]
        | Annotated[Import, tyro.conf.subcommand("import")]
        | Annotated[Pack, tyro.conf.subcommand("pack")]
        | Annotated[Validate, tyro.conf.subcommand("validate")]
    )
    """What to do."""

    def run(self) -> int:
        """Do what was asked."""
        return self.what.run()
