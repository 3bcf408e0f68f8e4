"""`corporeal transfer-dynamics`."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.transfer_dynamics import TransferDynamicsConfig, transfer_dynamics


@dataclass(frozen=True, kw_only=True)
class TransferDynamics:
    """Give a body the soft-tissue dynamics of somebody else's take.

    Examples:
      corporeal transfer-dynamics heavy_take.npz --to slim.npz --out slim_jiggle.glb
      corporeal transfer-dynamics take.npz --static still.npz --to ogre.npz --out ogre.mp4

    Both have one topology. Takes of dmpl hold their dynamics; for others make the same take with
    --static as well.
    """

    take: Positional[Path]
    """Animation (.npz) whose dynamics are taken."""
    to: Path
    """Body (.npz) of the same topology that gets them."""
    out: Path
    """File to write; its suffix decides what, as for animate."""
    static: Path | None = None
    """The same take without dynamics, where the take does not hold them."""
    exaggeration: float = 1.0
    """How many times as far flesh swings."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Transfer, and say how far flesh swings."""
        say(f"giving {self.to} the dynamics of {self.take}")
        made = transfer_dynamics(
            TransferDynamicsConfig(
                take=self.take,
                to=self.to,
                out=self.out,
                static=self.static,
                exaggeration=self.exaggeration,
            )
        )
        if self.json:
            print_json(made)
            return 0
        print(
            f"wrote {made.out} ({made.frames} frames; flesh swings {made.largest_mm:.0f} mm)"
            f"\nand   {made.manifest}"
        )
        return 0
