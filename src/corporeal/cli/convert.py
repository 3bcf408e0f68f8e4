"""`corporeal convert`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.errors import InputError
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
      corporeal convert dance.fbx dance.bvh
      corporeal convert --model smpl --out SMPL_NEUTRAL.pkl
      corporeal convert --model my_smpl.npz --out SMPLH_NEUTRAL.npz
      corporeal convert --model neural --out neural.onnx

    Reads .npz (bodies, animations, layers, motions), .glb (characters, surfaces, motions), .fbx
    and .usd (surfaces, motions), .bvh (motions), .obj, .ply, .off and .stl.
    Vertices keep their order and are never merged. Body models (--model) are written with SMPL's
    keys: .pkl with 24 joints as smplx.SMPL loads it, .npz with 52 as smplx.SMPLH does. Neural soft
    tissue (neural, or a trained file) is written as .onnx: a frame in, coefficients out.
    """

    files: Positional[tuple[Path, ...]] = ()
    """File to read, and file to write; its suffix decides the format."""
    model: Path | None = None
    """Body model to write instead: a file with SMPL's keys, or smpl or smpl-sparse, which ship; for
    .onnx neural or a trained network."""
    out: Path | None = None
    """File to write."""
    joints: Literal[24, 52] | None = None
    """Joints of a written model: SMPL's 24, or SMPL-H's 52."""
    frame: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """The one frame to write as a surface; negative ones count from the end."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Convert, and say what became of it."""
        config = self._config()
        say(f"converting {config.source} to {config.out}")
        made = convert(config)
        if self.json:
            print_json(made)
        else:
            text = ", ".join(f"{name} {value}" for name, value in made.report.items())
            print(f"wrote {made.out} (from {made.kind}{': ' + text if text else ''})")
            print(f"and   {made.manifest}")
        return 0

    def _config(self) -> ConvertConfig:
        """What to read, and what to write."""
        named = [path for path in (self.model, *self.files, self.out) if path is not None]
        if len(named) != 2:
            came = "no file" if not named else f"{len(named)} file{'s' * (len(named) > 1)}"
            raise InputError(
                f"{came} came; expected one to read and one to write, such as "
                f"corporeal convert anna.glb anna.fbx."
            )
        if self.joints is not None and self.model is None:
            raise InputError("--joints came without --model; expected both.")
        return ConvertConfig(
            named[0], named[1], self.frame, is_model=self.model is not None, joints=self.joints
        )
