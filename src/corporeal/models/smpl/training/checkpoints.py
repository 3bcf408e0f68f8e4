"""What pose training has reached, written after every stage: one file, replaced as a whole."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from corporeal.body.linear_model import Blending
from corporeal.errors import InputError
from corporeal.formats.npz import open_npz, write_npz
from corporeal.models.smpl.training.estimate import Estimate

_ARRAYS = {
    "rotations": ("rotations", ("N", "J", 3, 3)),
    "translations": ("translations", ("N", 3)),
    "rests": ("rest_shapes", ("I", "V", 3)),
    "joints": ("joints", ("I", "J", 3)),
    "weights": ("weights", ("V", "J")),
    "pose_offsets": ("pose_offsets", ("P", "V", 3)),
}
"""Arrays of the file: the field of `Estimate` that each one holds, and its shape."""

History = list[tuple[str, float]]


@dataclass(frozen=True)
class Checkpoints:
    """A file beside the result, for one set of data and settings."""

    path: Path
    """The file."""
    identifier: str
    """Of data, template and settings: a file of other ones is not gone on with."""

    def latest(self, plan: tuple[str, ...]) -> tuple[int, Estimate | None, History]:
        """How many stages are done, what they reached, and their errors."""
        if not self.path.exists():
            return 0, None, []
        with open_npz(self.path) as archive:
            if archive.text("identifier") != self.identifier:
                raise InputError(
                    f"{self.path} belongs to training with other data or settings; expected this "
                    f"run's. Remove it to start anew, or give another --out."
                )
            done = int(archive.array("done", "i", ()))
            arrays = {
                field: archive.array(name, "f", shape) for name, (field, shape) in _ARRAYS.items()
            }
            parents = tuple(int(p) for p in archive.array("parents", "i", ("J",)))
            blending = archive.text("blending")
            blending = "dqs" if blending == "dqbs" else blending  # its name in older files
            history = [(str(s), float(m)) for s, m in json.loads(archive.text("history"))]
        if not 0 < done <= len(plan):
            raise InputError(f"{self.path} is after stage {done} of {len(plan)}. Remove it.")
        if blending not in get_args(Blending):
            raise InputError(
                f"{self.path} is of {blending!r} blending, which is not known. Remove it."
            )
        estimate = Estimate(**arrays, parents=parents, blending=blending)  # pyright: ignore[reportArgumentType]
        return done, estimate, history

    def keep(self, done: int, estimate: Estimate, history: History) -> None:
        """Write what is reached after `done` stages."""
        arrays = {name: getattr(estimate, field) for name, (field, _) in _ARRAYS.items()}
        write_npz(
            self.path,
            {
                "identifier": np.array(self.identifier),
                "done": np.array(done),
                "parents": np.array(estimate.parents),
                "blending": np.array(estimate.blending),
                "history": np.array(json.dumps(history)),
                **arrays,
            },
        )
