"""`corporeal body`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from corporeal.cli.console import measurement_table, print_json, say, tell_batch
from corporeal.cli.flags import (
    MeasurementFlags,
    PhenotypeFlags,
    given,
    measurement_flags,
    slider_flags,
)
from corporeal.errors import InputError
from corporeal.pipelines.make_body import MakeBodyConfig, is_made, make_body
from corporeal.pipelines.people_table import parse_gender, parse_number, read_people_table
from corporeal.pipelines.presentation import LookOptions, look_values, looks_from
from corporeal.runtime.input_files import resolved
from corporeal.runtime.jobs import Failure, run_jobs
from corporeal.runtime.manifest import require_known, require_verb


@dataclass(frozen=True)
class BodyVerb(LookOptions):
    """Make a body from measurements or from sliders, and report what it measures.

    Measurements are in metres and kilograms; give any of them, and the body meets them while the
    others follow what people of that build have. Sliders set the phenotype directly. Gender and age
    go with both.

    Examples:
      corporeal body --gender female --stature 1.70 --mass 82 --waist 0.88 --out anna.npz
      corporeal body --gender 0.3 --weight 0.8 --muscle 0.4 --out ben.obj --json
      corporeal body --from people.csv --out 'people/{name}.npz' --jobs 4

    The file's suffix decides what is written: .npz (everything), .glb, .obj, .ply or .png.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    out: Annotated[str, tyro.conf.arg(metavar="FILE")]
    """File to write; with --from, a pattern with {name} in it."""
    phenotype: PhenotypeFlags = field(default_factory=PhenotypeFlags)
    """Sliders of the body model."""
    measurements: MeasurementFlags = field(default_factory=MeasurementFlags)
    """What was measured, in metres and kilograms."""
    people: Annotated[Path | None, tyro.conf.arg(name="from", metavar="CSV")] = None
    """Table of people: a column 'name', others named like the flags; one row a person."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes to use with --from; all cores by default."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask cluster to use with --from instead of this machine."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "BodyVerb":
        """The same run again, from its manifest."""
        require_verb(content, "body")
        require_known(content, MakeBodyConfig)
        config = content["config"]
        sliders = PhenotypeFlags(**{k: repr(v) for k, v in config.get("sliders", {}).items()})
        looks = look_values(looks_from(config.get("looks", {})))
        measured = MeasurementFlags(**config.get("measurements", {}))
        return BodyVerb(config["out"], sliders, measured, **looks)

    def run(self) -> int:
        """Make one body, or all of a table."""
        return self._run_one() if self.people is None else self._run_table(self.people)

    def _run_one(self) -> int:
        if self.jobs is not None or self.scheduler is not None:
            raise InputError("--jobs and --scheduler came without --from; one body needs neither.")
        sliders = {name: _slider(name, text) for name, text in given(self.phenotype).items()}
        looks = look_values(self)
        config = MakeBodyConfig(Path(self.out), sliders, given(self.measurements), looks)
        say(f"making {self.out} from {'measurements' if config.measurements else 'sliders'}")
        made = make_body(config)
        if self.json:
            print_json(made)
        else:
            print(measurement_table(made.measurements, tuple(config.measurements)))
            print(f"\nwrote {made.out}\nand   {made.manifest}\n\n{_how_to_look(made.out)}")
        return 0

    def _run_table(self, table: Path) -> int:
        if given(self.phenotype) or given(self.measurements):
            raise InputError("flags of one person came with --from; put them into the table.")
        sliders = {flag.name: flag.full_name for flag in slider_flags()}
        measures = {flag.name: flag.full_name for flag in measurement_flags()}
        measures |= {flag.full_name: flag.full_name for flag in measurement_flags()}
        people = read_people_table(table, self.out, sliders, measures)
        absolute = {
            name: MakeBodyConfig(resolved(c.out), c.sliders, c.measurements, look_values(self))
            for name, c in people.configs.items()
        }
        say(f"making {len(absolute)} bodies of {table}")
        report = run_jobs(
            make_body,
            absolute,
            workers=self.jobs,
            scheduler=self.scheduler,
            is_done=is_made,
            label="bodies",
        )
        report.failed.update({name: Failure(why) for name, why in people.refused.items()})
        return tell_batch(report, as_json=self.json)


def _slider(name: str, text: str) -> float:
    return parse_gender(text) if name == "gender" else parse_number(f"--{name}", text)


def _how_to_look(out: Path) -> str:
    suffix = out.suffix.lower()
    if suffix == ".npz":
        film = out.with_suffix(".mp4").name
        return f"move it:  corporeal animate --body {out} --motion jumping-jacks --out {film}"
    if suffix == ".glb":
        return "look:  Blender, File › Import › glTF 2.0; or drop it into a glTF viewer"
    return f"look:  open {out}"
