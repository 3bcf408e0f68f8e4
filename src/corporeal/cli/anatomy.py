"""`corporeal anatomy`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from corporeal.cli.speech import print_json, say
from corporeal.pipelines.anatomy import (
    AnatomyMade,
    FitConfig,
    GrowConfig,
    fit_anatomy,
    grow_anatomy,
)

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
    """Whose layers; the body's own unless told."""
    age: float | None = None
    """Years; the body's own unless told."""
    fat_mass: float | None = None
    """All fat, kg; predicted unless told."""
    muscle_mass: float | None = None
    """Skeletal muscle, kg; predicted unless told."""
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
    """Put part of the belly's new fat behind its muscles."""
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


@dataclass(frozen=True)
class Anatomy:
    """Bones, muscles and fat inside a body: fit them, grow them, share them.

    Examples:
      corporeal anatomy fit anna.npz --out anna_layers.npz
      corporeal anatomy fit anna.npz --age 34 --fat-mass 25 --out anna_layers.npz
      corporeal anatomy grow anna_layers.npz --mass +15 --region belly,hips --out anna_heavier.npz
      corporeal anatomy grow anna_layers.npz --mass -2 --tissue muscle --out anna_weaker.npz
      corporeal anatomy transfer-fat --from ben_layers.npz --to anna_layers.npz --mass +20

    Masses are in kilograms. What cannot be (−40 kg from a person of 50) is refused.
    """

    what: (
        Annotated[Fit, tyro.conf.subcommand("fit")]
        | Annotated[Grow, tyro.conf.subcommand("grow")]
        | Annotated[TransferFat, tyro.conf.subcommand("transfer-fat")]
    )
    """What to do."""

    def run(self) -> int:
        """Do what was asked."""
        return self.what.run()


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
