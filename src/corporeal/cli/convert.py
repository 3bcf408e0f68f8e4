"""`corporeal convert`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from corporeal.cli.speech import print_json, say
from corporeal.pipelines.convert import ConvertConfig, convert


@dataclass(frozen=True)
class Convert:
    """Write what one file holds in another format.

    Examples:
      corporeal convert anna.glb anna.fbx
      corporeal convert anna.npz anna.usdc
      corporeal convert anna_layers.npz anna_layers.usd
      corporeal convert scan.stl scan.ply
      corporeal convert anna.glb anna.obj --frame 30

    Reads .npz (bodies, animations, layers), .glb (characters, surfaces), .obj, .ply, .off and .stl.
    Vertices keep their order and are never merged.
    """

    source: Positional[Path]
    """File to read."""
    out: Positional[Path]
    """File to write; its suffix decides the format."""
    frame: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """The one frame to write as a surface; negative ones count from the end."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Convert, and say what became of it."""
        say(f"converting {self.source} to {self.out}")
        made = convert(ConvertConfig(self.source, self.out, self.frame))
        if self.json:
            print_json(made)
        else:
            told = ", ".join(f"{name} {value}" for name, value in made.report.items())
            print(f"wrote {made.out} (from {made.kind}{': ' + told if told else ''})")
            print(f"and   {made.manifest}")
        return 0
