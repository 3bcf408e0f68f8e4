"""`corporeal anatomy`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import tyro
from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.anatomy import (
    AnatomyMade,
    FitConfig,
    GrowConfig,
    fit_anatomy,
    grow_anatomy,
)
from corporeal.pipelines.anatomy_picture import PictureConfig, make_picture
from corporeal.pipelines.anatomy_template import TemplateConfig, make_template
from corporeal.runtime.manifest import require_known, require_verb

_WORTH_SAYING = 2.0
"""Kilograms by which layers may miss what was asked without a remark."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Fit bones, muscles and fat into a body, from its surface alone.

    Fat and muscle mass are predicted from stature, mass, waist, age and sex unless they are given.
    The file that is written also serves as a --body.
    """

    body: Positional[Path]
    """Body file (.npz)."""
    out: Path
    """Layers file to write (.npz)."""
    sex: Literal["female", "male"] | None = None
    """Whose layers; the body's own by default."""
    age: float | None = None
    """Years; the body's own by default."""
    fat_mass: float | None = None
    """All fat, kg; predicted by default."""
    muscle_mass: float | None = None
    """Skeletal muscle, kg; predicted by default."""
    template: Path | None = None
    """Layered template of your own (.npz), as `template` writes it; the shipped one by default."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Fit, and say what the layers hold."""
        say(f"fitting bones, muscles and fat into {self.body}")
        made = fit_anatomy(
            FitConfig(
                body=self.body,
                out=self.out,
                sex=self.sex,
                age=self.age,
                fat_mass=self.fat_mass,
                muscle_mass=self.muscle_mass,
                template=self.template,
            )
        )
        for name in ("fat", "muscle"):
            off = made.after[name] - made.before[name]
            if abs(off) > _WORTH_SAYING:
                say(
                    f"{self.body}: asked for {made.before[name]:.1f} kg of {name}; its surface "
                    f"has room for {made.after[name]:.1f} kg"
                )
        return _tell(made, ("asked", "held"), self.json)


@dataclass(frozen=True, kw_only=True)
class Grow:
    """Let a person gain or lose fat or muscle, by kilograms and by region."""

    layers: Positional[Path]
    """Layers file (.npz), as `fit` writes it."""
    mass: float
    """Kilograms of tissue to gain, or, if negative, to lose."""
    out: Path
    """Layers file to write (.npz)."""
    region: Annotated[str, tyro.conf.arg(metavar="A,B")] = ""
    """Where, with commas: belly, back, chest, hips, thighs, legs, arms, neck; else everywhere."""
    tissue: Literal["fat", "muscle"] = "fat"
    """What grows or shrinks."""
    visceral: bool = False
    """Where regions are named: let part of the belly's fat come or go behind its muscles too."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Grow, and compare before and after."""
        config = GrowConfig(
            layers=self.layers,
            out=self.out,
            mass=self.mass,
            regions=_regions(self.region),
            tissue=self.tissue,
            visceral=self.visceral,
        )
        say(f"giving {self.layers} {self.mass:+g} kg of {self.tissue}{_where(config)}")
        return _tell(grow_anatomy(config), ("before", "after"), self.json)


@dataclass(frozen=True, kw_only=True)
class TransferFat:
    """Let a person gain or lose fat where another person has it."""

    donor: Annotated[Path, tyro.conf.arg(name="from")]
    """Layers file of the person whose distribution is taken."""
    to: Path
    """Layers file of the person who gains."""
    mass: float
    """Kilograms of fat to gain, or, if negative, to lose."""
    out: Path | None = None
    """Layers file to write; else beside --to, as anna_layers-like-ben_layers.npz."""
    region: Annotated[str, tyro.conf.arg(metavar="A,B")] = ""
    """Where, with commas: belly, back, chest, hips, thighs, legs, arms, neck; else everywhere."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Grow, and compare before and after."""
        out = self.out or self.to.with_name(f"{self.to.stem}-like-{self.donor.stem}.npz")
        config = GrowConfig(
            layers=self.to,
            out=out,
            mass=self.mass,
            regions=_regions(self.region),
            donor=self.donor,
        )
        say(f"giving {self.to} {self.mass:+g} kg of fat as {self.donor} has it{_where(config)}")
        return _tell(grow_anatomy(config), ("before", "after"), self.json)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Draw what is inside: bones and muscle through the skin, and a cut across the body."""

    layers: Positional[tuple[Path, ...]]
    """Layers files (.npz), one a person, at most six."""
    out: Path
    """Picture to write (.png)."""
    style: Literal["both", "see-through", "cut"] = "both"
    """How people are shown."""
    template: Path | None = None
    """Layered template of your own whose bones are shown; the shipped one by default."""
    width: int = 1600
    """Pixels."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Draw, and say where it is."""
        say(f"drawing {', '.join(map(str, self.layers))}")
        config = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "json"}
        made = make_picture(PictureConfig(**config))
        if self.json:
            print_json(made)
        else:
            print(f"wrote {made.out}\nand   {made.manifest}\n\nlook:  open {made.out}")
        return 0


@dataclass(frozen=True, kw_only=True)
class TemplateVerb:
    """Make a layered template from an atlas of your own: bones and muscles as meshes.

    Bones go onto the template's by their shape, so the atlas may stand in any usual pose. Names
    such as "left femur" or "third lumbar vertebra" say which is which; a table (columns part, kind,
    bone) says it for others. What the atlas lacks stays the package's own. Takes a few minutes.
    """

    bones: Path
    """Folder of bone meshes (.obj, .ply, .off, .stl, .glb)."""
    muscles: Path
    """Folder of muscle meshes."""
    out: Path
    """Template to write (.npz), for `fit --template`."""
    sex: Literal["female", "male"] = "male"
    """Whose default body the atlas goes into."""
    table: Path | None = None
    """Table of parts (.csv): part, kind (bone, muscle, none), bone."""
    unit: str = "m"
    """Unit of the meshes: m, cm, mm, in."""
    up: str = "+y"
    """Upward axis of the meshes."""
    front: str = "+z"
    """Axis that the person faces."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Build, and say what became of the parts."""
        say(f"building a template from {self.bones} and {self.muscles}")
        config = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "json"}
        made = make_template(TemplateConfig(**config))
        if self.json:
            print_json(made)
            return 0
        report = made.report
        print(
            f"  {len(report.bones_placed)} of the template's bones replaced, "
            f"{1e3 * report.mean_distance:.1f} mm from them on average "
            f"({report.worst_bone}: {1e3 * report.worst_distance:.1f} mm)\n"
            f"  {report.muscles} muscles; {100 * report.met:.0f} % of the lines from skin to bone "
            f"meet one, the others keep the package's envelope\n"
            f"  {len(report.left_out)} parts left out"
        )
        print(f"\nwrote {made.out}\nand   {made.manifest}\n")
        print(f"use it:  corporeal anatomy fit anna.npz --template {made.out} --out layers.npz")
        return 0


@dataclass(frozen=True)
class Anatomy:
    """Bones, muscles and fat inside a body: fit them, grow them, share them.

    Examples:
      corporeal anatomy fit anna.npz --out anna_layers.npz
      corporeal anatomy fit anna.npz --age 34 --fat-mass 25 --out anna_layers.npz
      corporeal anatomy grow anna_layers.npz --mass +15 --region belly,hips --out anna_heavier.npz
      corporeal anatomy grow anna_layers.npz --mass -2 --tissue muscle --out anna_weaker.npz
      corporeal anatomy transfer-fat --from ben_layers.npz --to anna_layers.npz --mass +20
      corporeal anatomy picture anna_layers.npz --out anna.png
      corporeal anatomy template --bones bones/ --muscles muscles/ --unit mm --out own.npz

    Masses are in kilograms. What cannot be (−40 kg from a person of 50) is refused.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    what: (
        Annotated[Fit, tyro.conf.subcommand("fit")]
        | Annotated[Grow, tyro.conf.subcommand("grow")]
        | Annotated[TransferFat, tyro.conf.subcommand("transfer-fat")]
        | Annotated[Picture, tyro.conf.subcommand("picture")]
        | Annotated[TemplateVerb, tyro.conf.subcommand("template")]
    )
    """What to do."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "Anatomy":
        """The same run again, from its manifest."""
        verb, config = content["verb"], dict(content["config"])
        kinds: dict[str, tuple[type, type]] = {
            "anatomy fit": (Fit, FitConfig),
            "anatomy grow": (Grow, GrowConfig),
            "anatomy transfer-fat": (TransferFat, GrowConfig),
            "anatomy picture": (Picture, PictureConfig),
            "anatomy template": (TemplateVerb, TemplateConfig),
        }
        if verb not in kinds:
            require_verb(content, "anatomy")
        flags, known = kinds[verb]
        require_known(content, known)
        return Anatomy(flags(**_flags(flags, config)))

    def run(self) -> int:
        """Do what was asked."""
        return self.what.run()


def _flags(kind: type, config: dict[str, Any]) -> dict[str, Any]:
    """A manifest's config under the names of a verb's flags."""
    if kind is TransferFat:
        config["to"] = config["layers"]
    if "regions" in config:
        config["region"] = ",".join(config["regions"])
    kept = {f.name: f.type for f in fields(kind) if config.get(f.name) is not None}
    return {name: _as_type(config[name], hint) for name, hint in kept.items()}


def _as_type(value: Any, hint: Any) -> Any:
    """A manifest's value as a flag has it: JSON knows neither paths nor tuples."""
    if isinstance(value, list):
        return tuple(map(Path, value))
    return Path(value) if hint is Path or Path in get_args(hint) else value


def _regions(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _where(config: GrowConfig) -> str:
    return f" in {', '.join(config.regions)}" if config.regions else ""


def _tell(made: AnatomyMade, columns: tuple[str, str], as_json: bool) -> int:
    if as_json:
        print_json(made)
        return 0
    print(f"  {'kg':<8}{columns[0]:>9}{columns[1]:>9}")
    for name in made.after:
        before = f"{made.before[name]:.2f}" if name in made.before else "–"
        print(f"  {name:<8}{before:>9}{made.after[name]:>9.2f}")
    print(f"\nwrote {made.out}\nand   {made.manifest}\n")
    film = made.out.with_suffix(".mp4").name
    print(
        f"move it:  corporeal animate --body {made.out} --motion jumping-jacks --deformer layered "
        f"--out {film}"
    )
    return 0
