"""`corporeal train`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from tyro.conf import Positional

from corporeal.cli.console import say, tell_made
from corporeal.cli.train_dynamics import METHODS
from corporeal.cli.train_enveloping import TrainEnveloping
from corporeal.pipelines.train_smpl import TrainedFile, TrainSmplConfig, train_smpl
from corporeal.runtime.manifest import given_again


@dataclass(frozen=True, kw_only=True)
class Train(TrainSmplConfig):
    """Learn a body model from registrations: shapes, joints, skin weights, pose blend shapes.

    Other methods: enveloping, blendscape, dyna, dmpl, neural (corporeal train dmpl --help).

    Examples:
      corporeal train smpl --poses multipose.zarr --shapes multishape.zarr --out my_smpl.npz
      corporeal train smpl --poses p.zarr --shapes s.zarr --skinning dqs --out my_dqs.npz
      corporeal train smpl --poses p.zarr --shapes s.zarr --sparse --sex female --out women.npz
      corporeal train smpl --poses dfaust.zarr --shapes faust.zarr --template SMPL.pkl --out a.npz

    Takes that are marked as kept for tests are left out. A run that was stopped goes on when the
    same command is given again.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    method: Positional[Literal["smpl"]] = "smpl"
    """Which model."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @classmethod
    def for_flags(cls, flags: Sequence[str]) -> type:
        """The verb of the method that flags name first."""
        named = next((flag for flag in flags if not flag.startswith("-")), "smpl")
        methods = {**METHODS, "enveloping": TrainEnveloping}
        if flags and flags[0] == named and named in methods:
            return methods[named]
        return cls

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "Train":
        """The same run again, from its manifest."""
        return Train(**given_again(content, "train smpl", TrainSmplConfig))

    def run(self) -> int:
        """Train, telling every stage, and say what was reached."""
        say(f"training on {self.poses} (poses) and {self.shapes} (shapes)")
        config = {f.name: getattr(self, f.name) for f in fields(TrainSmplConfig)}
        made = train_smpl(TrainSmplConfig(**config), callback=_tell)
        tell_made(made, made.notes, _summary(made), as_json=self.json)
        return 0


def _tell(stage: str, value: float) -> None:
    """A line a stage: its mean distance, or, for the shape space, the share it explains."""
    callback = (
        f"{100 * value:.1f} % explained" if stage == "shape space" else f"{1e3 * value:.2f} mm"
    )
    say(f"  {stage}: {callback}")


def _summary(made: TrainedFile) -> str:
    data = made.report["data"]
    return (
        f"  {data['registrations']} registrations of {len(data['subjects'])} people, shapes of "
        f"{data['people']}\n"
        f"  mean distance of vertices {1e3 * made.report['training_distance']:.2f} mm, "
        f"{100 * made.report['explained'][-1]:.1f} % of shape explained\n\n"
        f"wrote {made.out}\nand   {made.manifest}\n\n"
        f"move it:  corporeal animate --model {made.out} --motion jumping-jacks --out a.glb\n"
        f"try it:   corporeal evaluate models {made.out} --test test.zarr --report report"
    )
