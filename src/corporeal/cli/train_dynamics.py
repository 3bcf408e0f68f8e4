"""`corporeal train blendscape`, `train dyna`, `train dmpl` and `train neural`."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from tyro.conf import Positional

from corporeal.cli.console import say, tell_made
from corporeal.pipelines.train_dynamics import (
    TrainBlendScapeConfig,
    TrainDmplConfig,
    TrainDynaConfig,
    TrainedDynamicsFile,
    train_blendscape,
    train_dmpl,
    train_dyna,
)
from corporeal.pipelines.train_neural import TrainNeuralConfig, train_neural
from corporeal.runtime.manifest import given_again


@dataclass(frozen=True, kw_only=True)
class TrainDmpl(TrainDmplConfig):
    """Learn dynamic blend shapes from movements: SMPL whose flesh swings (DMPL).

    Examples:
      corporeal train dmpl --takes dyna.zarr --out dmpl.npz
      corporeal train dmpl --takes dyna.zarr --model my_smpl.npz --count 300 --out dmpl.npz

    Takes that are marked as kept for tests are left out. The file has DMPL's public layout.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    method: Positional[Literal["dmpl"]] = "dmpl"
    """Which model."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "TrainDmpl":
        """The same run again, from its manifest."""
        return TrainDmpl(**given_again(content, "train dmpl", TrainDmplConfig))

    def run(self) -> int:
        """Train, telling every stage, and say what was reached."""
        say(f"training dynamic blend shapes on {self.takes}")
        made = train_dmpl(TrainDmplConfig(**_config(self, TrainDmplConfig)), callback=_tell)
        tell_made(made, made.notes, _summary(made, "dmpl"), as_json=self.json)
        return 0


@dataclass(frozen=True, kw_only=True)
class TrainDyna(TrainDynaConfig):
    """Learn dynamic triangle deformations from movements, on a BlendSCAPE (Dyna).

    Examples:
      corporeal train dyna --takes dyna.zarr --out dyna.npz
      corporeal train dyna --takes dyna.zarr --model blendscape.npz --out dyna.npz

    Takes that are marked as kept for tests are left out.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    method: Positional[Literal["dyna"]] = "dyna"
    """Which model."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "TrainDyna":
        """The same run again, from its manifest."""
        return TrainDyna(**given_again(content, "train dyna", TrainDynaConfig))

    def run(self) -> int:
        """Train, telling every stage, and say what was reached."""
        say(f"training dynamic deformations on {self.takes} and {self.model}")
        made = train_dyna(TrainDynaConfig(**_config(self, TrainDynaConfig)), callback=_tell)
        tell_made(made, made.notes, _summary(made, "dyna"), as_json=self.json)
        return 0


@dataclass(frozen=True, kw_only=True)
class TrainBlendScape(TrainBlendScapeConfig):
    """Learn a BlendSCAPE: pose deformations from many poses, shapes from many people.

    Examples:
      corporeal train blendscape --poses multipose.zarr --shapes multishape.zarr --out bs.npz

    Takes that are marked as kept for tests are left out.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    method: Positional[Literal["blendscape"]] = "blendscape"
    """Which model."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "TrainBlendScape":
        """The same run again, from its manifest."""
        return TrainBlendScape(**given_again(content, "train blendscape", TrainBlendScapeConfig))

    def run(self) -> int:
        """Train and say what was reached."""
        say(f"training on {self.poses} (poses) and {self.shapes} (shapes)")
        made = train_blendscape(TrainBlendScapeConfig(**_config(self, TrainBlendScapeConfig)))
        data = made.report["data"]
        words = (
            f"  {data['registrations']} registrations of {len(data['subjects'])} people, shapes of "
            f"{data['people']}; {100 * made.report['explained'][-1]:.1f} % of shape explained\n\n"
            f"{_written(made, 'blendscape')}"
        )
        tell_made(made, made.notes, words, as_json=self.json)
        return 0


@dataclass(frozen=True, kw_only=True)
class TrainNeural(TrainNeuralConfig):
    """Learn soft tissue from movements by a recurrent network (after Casas 2018).

    Examples:
      corporeal train neural --takes dyna.zarr --out neural.npz
      corporeal train neural --takes dyna.zarr --subject S01 --out s01_neural.npz
      corporeal train neural --takes dyna.zarr --leave-out running-on-spot --out n.npz

    Takes that are marked as kept for tests are left out.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    method: Positional[Literal["neural"]] = "neural"
    """Which model."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "TrainNeural":
        """The same run again, from its manifest."""
        return TrainNeural(**given_again(content, "train neural", TrainNeuralConfig))

    def run(self) -> int:
        """Train, telling how it goes, and say what was reached."""
        say(f"training a network on {self.takes}")
        made = train_neural(TrainNeuralConfig(**_config(self, TrainNeuralConfig)), say)
        left = made.report["left"]
        words = (
            f"  {made.report['takes']} takes, {made.report['frames']} frames of "
            f"{len(made.report['people'])} people; of held-out takes "
            f"{100 * (1 - left):.0f} % of the dynamics explained\n\n"
            f"{_written(made, 'neural')}"
        )
        tell_made(made, made.notes, words, as_json=self.json)
        return 0


METHODS: dict[str, type] = {
    "dmpl": TrainDmpl,
    "dyna": TrainDyna,
    "blendscape": TrainBlendScape,
    "neural": TrainNeural,
}
"""Verbs beside `train smpl`."""


def _config(verb: Any, kind: type) -> dict[str, Any]:
    return {f.name: getattr(verb, f.name) for f in fields(kind)}


def _tell(stage: str, value: float) -> None:
    words = {
        "components": f"{100 * value:.1f} % of the dynamics explained",
        "coefficients": f"{value:.0f} frames",
        "predictors": f"{value:.0f} people",
    }
    say(f"  {stage}: {words.get(stage, f'{value:g}')}")


def _summary(made: TrainedDynamicsFile, name: str) -> str:
    data = made.report["data"]
    return (
        f"  {data['takes']} takes, {data['frames']} frames of {len(data['subjects'])} people, body "
        f"mass index {min(data['body_mass_indices']):.0f} to "
        f"{max(data['body_mass_indices']):.0f}\n\n{_written(made, name)}"
    )


def _written(made: TrainedDynamicsFile, name: str) -> str:
    return (
        f"wrote {made.out}\nand   {made.manifest}\n\n"
        f"move a body with it:  corporeal animate --motion jumping-jacks --deformer {name} "
        f"--trained {made.out} --out a.glb"
    )
