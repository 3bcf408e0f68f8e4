"""`corporeal train enveloping`."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from tyro.conf import Positional

from corporeal.cli.console import say, tell_made
from corporeal.pipelines.train_enveloping import TrainEnvelopingConfig, train_enveloping
from corporeal.runtime.manifest import given_again


@dataclass(frozen=True, kw_only=True)
class TrainEnveloping(TrainEnvelopingConfig):
    """Learn corrective enveloping that depends on the person (Allen 2006): dress shapes, bones and
    pose corrections of people from sparse, incomplete scans.

    Examples:
      corporeal train enveloping --scans sparse.zarr --out enveloping.npz
      corporeal train enveloping --scans sparse.zarr --sex female --out women.npz
      corporeal train enveloping --scans two.zarr dense.zarr single.zarr --out enveloping.npz

    Takes that are marked as kept for tests are left out. A run that was stopped goes on when the
    same command is given again.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    method: Positional[Literal["enveloping"]] = "enveloping"
    """Which model."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "TrainEnveloping":
        """The same run again, from its manifest."""
        again = given_again(content, "train enveloping", TrainEnvelopingConfig)
        return TrainEnveloping(**again)

    def run(self) -> int:
        """Train, telling every stage, and say what was reached."""
        say(f"training corrective enveloping on {', '.join(str(path) for path in self.scans)}")
        config = {f.name: getattr(self, f.name) for f in fields(TrainEnvelopingConfig)}
        made = train_enveloping(
            TrainEnvelopingConfig(**config),
            callback=lambda stage, rms: say(f"  {stage}: {1e3 * rms:.2f} mm"),
        )
        data = made.report["data"]
        words = (
            f"  {data['registrations']} scans of {len(data['people'])} people, "
            f"{sum(made.report['keys'])} key angles; root mean square distance "
            f"{1e3 * made.report['training_rms']:.2f} mm\n\n"
            f"wrote {made.out}\nand   {made.manifest}\n\n"
            f"a person of it:       corporeal animate --model {made.out} --shape 1.0,-0.5 "
            f"--motion jumping-jacks --out a.glb\n"
            f"move a body with it:  corporeal animate --motion jumping-jacks --deformer "
            f"enveloping --trained {made.out} --out a.glb"
        )
        tell_made(made, made.notes, words, as_json=self.json)
        return 0
