"""`corporeal evaluate`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tyro.conf import Positional

from corporeal.cli.console import say, tell_made
from corporeal.errors import InputError
from corporeal.pipelines.evaluate_deformers import (
    EvaluatedDeformers,
    EvaluateDeformersConfig,
    evaluate_deformers,
)
from corporeal.pipelines.evaluate_dynamics import (
    EvaluatedDynamics,
    EvaluateDynamicsConfig,
    evaluate_dynamics,
)
from corporeal.pipelines.evaluate_models import (
    EvaluatedModels,
    EvaluateModelsConfig,
    evaluate_models,
)
from corporeal.runtime.manifest import require_known, require_verb


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Compare body models on people, poses and motions that they have not seen.

    Examples:
      corporeal evaluate models my_smpl.npz --test test.zarr --report report
      corporeal evaluate dynamics --test dyna.packed.npz --report report
      corporeal evaluate dynamics --learn dyna.packed.npz --test others.packed.npz \
                                  --steps 1500 --report report
      corporeal evaluate models my_smpl.npz my_dqs.npz --test test.zarr --report report
      corporeal evaluate models smpl smpl-sparse --test test.zarr --counts 1,5,10 --report report
      corporeal evaluate deformers --test dyna_test.zarr --report report
      corporeal evaluate deformers lbs dmpl --test dyna_test.zarr --every 0 --report report

    Pose and shape are fitted to every test registration, and the shape of one to all others of the
    same person. The report is one HTML file. The first model is also tried without its pose blend
    shapes. Of dynamics, autoregressions and, with --steps, the neural network are learned from one
    part of a packed set and tried on single takes, motions and people that were left out. Deformers
    move the captured people through the captured motions as they are: error by region, what is left
    of the flesh's swing, volume, skin inside skin, and processor time.
    """

    what: Positional[Literal["models", "dynamics", "deformers"]]
    """What to compare."""
    models: Positional[tuple[Path, ...]] = ()
    """Model files with SMPL's keys (.npz, .pkl), or smpl and smpl-sparse, which ship; of deformers
    their names, all that work as they are if left out."""
    test: Path
    """Test registrations: Zarr store, .hdf5 file or folder of .ply files; of dynamics a packed set
    with twins; of deformers captured movements, best with twins."""
    report: Path
    """Folder to write the report into."""
    counts: Annotated[str, tyro.conf.arg(metavar="N,N")] = ""
    """Numbers of shape coefficients to try, with commas; a few up to all by default."""
    most: int = EvaluateModelsConfig.most
    """Registrations a person at most."""
    people: Annotated[str, tyro.conf.arg(metavar="NAME,NAME")] = ""
    """Test people of dynamics, with commas; one of each sex by default."""
    motions: Annotated[str, tyro.conf.arg(metavar="NAME,NAME")] = ",".join(
        EvaluateDynamicsConfig.motions
    )
    """Test motions of dynamics, with commas."""
    learn: Path | None = None
    """Packed set that dynamics are learned from; --test then holds test people alone."""
    steps: int = EvaluateDynamicsConfig.steps
    """Updates of the neural network; 0 leaves it out."""
    every: int = EvaluateDeformersConfig.every
    """Frames from one whose volume and penetration deformers are asked for to the next; 0 for
    none."""
    swings: bool = True
    """Also move deformers that have a memory without it, to tell their swing from the rest; physics
    takes as long again."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "Evaluate":
        """The same run again, from its manifest."""
        if content.get("verb") == "evaluate dynamics":
            return _dynamics_again(content)
        if content.get("verb") == "evaluate deformers":
            return _deformers_again(content)
        require_verb(content, "evaluate models")
        require_known(content, EvaluateModelsConfig)
        config = content["config"]
        return Evaluate(
            what="models",
            models=tuple(map(Path, config["models"])),
            test=Path(config["test"]),
            report=Path(config["report"]),
            counts=",".join(map(str, config["counts"])),
            most=config["most"],
        )

    def run(self) -> int:
        """Compare, and say who came closest."""
        if self.what == "dynamics":
            return self._run_dynamics()
        if self.what == "deformers":
            return self._run_deformers()
        try:
            counts = tuple(int(word) for word in self.counts.split(",") if word.strip())
        except ValueError as error:
            raise InputError(
                f"--counts {self.counts!r}; expected whole numbers with commas, such as 1,5,10."
            ) from error
        shared: dict[str, Any] = {
            f.name: getattr(self, f.name) for f in fields(EvaluateModelsConfig)
        }
        shared["counts"] = counts
        made = evaluate_models(EvaluateModelsConfig(**shared), callback=say)
        tell_made(made, made.notes, _summary(made), as_json=self.json)
        return 0

    def _run_dynamics(self) -> int:
        if self.models:
            raise InputError(
                f"evaluate dynamics came with models ({self.models[0]}, …); it learns its own from "
                f"the set. Leave them out."
            )
        config = EvaluateDynamicsConfig(
            test=self.test,
            report=self.report,
            learn=self.learn,
            people=_words(self.people),
            motions=_words(self.motions),
            steps=self.steps,
        )
        made = evaluate_dynamics(config, callback=say)
        tell_made(made, made.notes, _dynamics_summary(made), as_json=self.json)
        return 0

    def _run_deformers(self) -> int:
        config = EvaluateDeformersConfig(
            test=self.test,
            report=self.report,
            deformers=tuple(map(str, self.models)),
            every=self.every,
            swings=self.swings,
        )
        made = evaluate_deformers(config, callback=say)
        tell_made(made, made.notes, _deformers_summary(made), as_json=self.json)
        return 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _dynamics_again(content: dict[str, Any]) -> Evaluate:
    require_known(content, EvaluateDynamicsConfig)
    config = content["config"]
    return Evaluate(
        what="dynamics",
        test=Path(config["test"]),
        report=Path(config["report"]),
        learn=Path(config["learn"]) if config["learn"] else None,
        people=",".join(config["people"]),
        motions=",".join(config["motions"]),
        steps=config["steps"],
    )


def _deformers_again(content: dict[str, Any]) -> Evaluate:
    require_known(content, EvaluateDeformersConfig)
    config = content["config"]
    return Evaluate(
        what="deformers",
        models=tuple(map(Path, config["deformers"])),
        test=Path(config["test"]),
        report=Path(config["report"]),
        every=config["every"],
        swings=config["swings"],
    )


def _deformers_summary(made: EvaluatedDeformers) -> str:
    found = made.report["deformers"]
    width = max(map(len, found))
    rows = [f"  {'':<{width}}      mm  soft mm  swing left mm  ms a frame"]
    for name, row in found.items():
        swing = row["swing_mm"].get("all")
        left = "      –" if swing is None else f"{swing:7.2f}"
        rows.append(
            f"  {name:<{width}} {row['mm']['all']:7.2f}  {row['mm']['soft']:7.2f}        {left}"
            f"     {row['frame_cpu_ms']:7.2f}"
        )
    return "\n".join([*rows, f"\nwrote {made.page}\nand   {made.manifest}"])


def _dynamics_summary(made: EvaluatedDynamics) -> str:
    models = made.report["models"]
    width = max(map(len, models))
    cases = list(next(iter(models.values())))
    rows = [f"  {'mm left, % closed':<{width}}  " + "  ".join(f"case {c:>8}" for c in cases)]
    for name, found in models.items():
        cells = (f"{f['all']['model_mm']:6.2f} {100 * f['all']['closed']:5.0f} %"
                 for f in found.values())  # fmt: skip
        rows.append(f"  {name:<{width}}  " + "  ".join(cells))
    return "\n".join([*rows, f"\nwrote {made.page}\nand   {made.manifest}"])


def _summary(made: EvaluatedModels) -> str:
    width = max(map(len, made.report))
    rows = [f"  {'mm':<{width}}  coefficients   model    pose"]
    for name, found in made.report.items():
        rows.append(
            f"  {name:<{width}}  {found['shape_counts'][-1]:>12}  {found['model_mm'][-1]:>6.2f}  "
            f"{found['pose_mm'][-1]:>6.2f}"
        )
    return "\n".join(
        [*rows, f"\nwrote {made.page}\nand   {made.manifest}\n\nlook:  open {made.page}"]
    )
