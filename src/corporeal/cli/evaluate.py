"""`corporeal evaluate`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tyro.conf import Positional

from corporeal.cli.console import say, tell_made
from corporeal.errors import InputError
from corporeal.pipelines.evaluate_models import (
    EvaluatedModels,
    EvaluateModelsConfig,
    evaluate_models,
)
from corporeal.runtime.manifest import require_known, require_verb


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Compare body models on people and poses that they have not seen.

    Examples:
      corporeal evaluate models my_smpl.npz --test test.zarr --report report
      corporeal evaluate models my_smpl.npz my_dqs.npz --test test.zarr --report report
      corporeal evaluate models smpl smpl-sparse --test test.zarr --counts 1,5,10 --report report

    Pose and shape are fitted to every test registration, and the shape of one to all others of the
    same person. The report is one HTML file. The first model is also tried without its pose blend
    shapes.
    """

    what: Positional[Literal["models"]]
    """What to compare."""
    models: Positional[tuple[Path, ...]]
    """Model files with SMPL's keys (.npz, .pkl), or smpl and smpl-sparse, which ship."""
    test: Path
    """Test registrations: Zarr store, .hdf5 file or folder of .ply files."""
    report: Path
    """Folder to write the report into."""
    counts: Annotated[str, tyro.conf.arg(metavar="N,N")] = ""
    """Numbers of shape coefficients to try, with commas; a few up to all by default."""
    most: int = EvaluateModelsConfig.most
    """Registrations a person at most."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "Evaluate":
        """The same run again, from its manifest."""
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
