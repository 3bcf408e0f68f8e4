"""`corporeal reshape`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.people_table import parse_gender
from corporeal.pipelines.reshape import ReshapeConfig, make_reshaped
from corporeal.units import reading_unit

_SHOWN = ("mass", "stature", "bmi", "waist_circumference", "buttock_circumference")


@dataclass(frozen=True, kw_only=True)
class Reshape:
    """Give a body more or less weight or height, as people of different weight and height differ.

    Examples:
      corporeal reshape anna.npz --gain 30 --out heavier.npz
      corporeal reshape anna.npz --gain -15 --taller 0.03 --out slim.glb

    Everything else about the person stays; weight alone leaves the stature as it is.
    """

    body: Positional[Path]
    """Body file (.npz) with the default body's topology."""
    out: Path
    """File to write: .npz, .glb, .obj, .ply or .png."""
    gain: Annotated[float, tyro.conf.arg(metavar="KG")] = 0.0
    """Kilograms to gain; negative to lose."""
    taller: Annotated[float, tyro.conf.arg(metavar="M")] = 0.0
    """Metres to grow; negative to shrink."""
    gender: str | None = None
    """female, male or 0 to 1; the body's own by default."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Change the body, and compare before and after."""
        gender = None if self.gender is None else parse_gender(self.gender)
        say(f"giving {self.body} {self.gain:+g} kg and {100 * self.taller:+g} cm")
        made = make_reshaped(ReshapeConfig(self.body, self.out, self.gain, self.taller, gender))
        if self.json:
            print_json(made)
            return 0
        for name in _SHOWN:
            factor, unit, _ = reading_unit(name)
            label = "BMI" if name == "bmi" else name.replace("_", " ").capitalize()
            before, after = factor * made.before[name], factor * made.after[name]
            print(f"  {label:<22} {before:>7.1f} → {after:>6.1f} {unit}")
        print(f"\nwrote {made.out}\nand   {made.manifest}")
        return 0
