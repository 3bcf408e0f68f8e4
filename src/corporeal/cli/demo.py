"""`corporeal demo`."""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import tyro

from corporeal.cli.console import measurement_table, print_json, say
from corporeal.runtime.manifest import require_known, require_verb


@dataclass(frozen=True)
class DemoVerb:
    """Make a person, move it through jumping jacks, and leave three files to look at.

    Examples:
      corporeal demo
      corporeal demo --out ./another --seed 7
    """

    out: Path = Path("corporeal-demo")
    """Folder for the files; made if it is missing."""
    seed: int = 0
    """Another seed draws another person."""
    device: Annotated[str, tyro.conf.arg(metavar="cpu|gpu|gpu:N")] = "cpu"
    """Where flesh is simulated."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "DemoVerb":
        """The same run again, from its manifest."""
        from corporeal.pipelines.demo import DemoConfig

        require_verb(content, "demo")
        require_known(content, DemoConfig)
        config = content["config"]
        device = str(config.get("device", "cpu"))
        return DemoVerb(Path(config["out"]), int(config["seed"]), device)

    def run(self) -> int:
        """Make the three files and tell about them."""
        started = perf_counter()
        say("making a person and moving it (the first time, kernels are compiled: half a minute)")
        from corporeal.pipelines.demo import DemoConfig, run_demo

        made = run_demo(DemoConfig(self.out, self.seed, self.device))
        if self.json:
            print_json(made)
            return 0
        folder = self.out
        print(f"a person, with these measurements:\n\n{measurement_table(made.measurements)}\n")
        print(f"left in {folder} after {perf_counter() - started:.0f} s:\n")
        print(f"  {made.png.name}  eight moments, one row a deformer ({', '.join(made.deformers)})")
        print(f"  {made.mp4.name}  the film")
        print(f"  {made.glb.name}  the character, ready for an engine\n")
        print("how to look:\n")
        print(f"  picture and film open with a double click, or: xdg-open {made.png}")
        print("  Blender: File › Import › glTF 2.0; Godot, Unity, Unreal, three.js read it too")
        print(f"  on a server: python -m http.server --directory {folder}, then open port 8000\n")
        print("what next:\n")
        print("  corporeal body --gender female --stature 1.70 --mass 82 --out anna.npz")
        print("  corporeal animate --body anna.npz --motion jumping-jacks --out anna.mp4")
        return 0
