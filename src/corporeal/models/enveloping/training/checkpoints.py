"""What training has reached, written after every stage: one file, replaced as a whole."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from corporeal.errors import InputError
from corporeal.formats.npz import NpzReader, open_npz, write_npz
from corporeal.models.enveloping.equations import Variances
from corporeal.models.enveloping.training.problem import Estimate

_SHAPES = {
    "rotations": ("N", "J", 3, 3), "translations": ("N", 3), "x": ("B", "s"),
    "dress": ("m", "V", 3), "bones": ("m", "b"), "weights": ("V", "L"),
}  # fmt: skip
History = list[tuple[str, float]]
_MAX_BYTES = 8 * 1024**3


@dataclass(frozen=True)
class Reached:
    """How far a training has come."""

    done: int
    """Stages that are finished."""
    single: Estimate | None
    """The person with the most poses alone."""
    everybody: Estimate | None
    """All people."""
    history: History
    """Stages and their root mean square distances, metres."""


@dataclass(frozen=True)
class Checkpoints:
    """A file beside the result, for one set of data and settings."""

    path: Path
    """The file."""
    identifier: str
    """Of data, template and settings: a file of other ones is not gone on with."""

    def latest(self) -> Reached:
        """What the file holds; nothing where there is none."""
        if not self.path.exists():
            return Reached(0, None, None, [])
        with open_npz(self.path, max_bytes=_MAX_BYTES) as file:
            if file.text("identifier") != self.identifier:
                raise InputError(
                    "belongs to training with other data or settings; expected this "
                    "run's. Remove it to start anew, or give another --out."
                )
            history = [(str(s), float(e)) for s, e in json.loads(file.text("history"))]
            return Reached(
                int(file.array("done", "i", ())),
                _estimate(file, "single"),
                _estimate(file, "everybody"),
                history,
            )

    def keep(self, reached: Reached) -> None:
        """Write what is reached."""
        arrays = {
            "identifier": np.array(self.identifier),
            "done": np.array(reached.done),
            "history": np.array(json.dumps(reached.history)),
        }
        for name in ("single", "everybody"):
            estimate = getattr(reached, name)
            arrays[f"{name}_drivers"] = np.array(-1 if estimate is None else len(estimate.offsets))
            if estimate is not None:
                arrays |= {f"{name}_{field}": getattr(estimate, field) for field in _SHAPES}
                arrays |= {f"{name}_offsets_{d}": k for d, k in enumerate(estimate.offsets)}
                arrays[f"{name}_variances"] = np.array(list(asdict(estimate.variances).values()))
        write_npz(self.path, arrays)


def _estimate(file: NpzReader, name: str) -> Estimate | None:
    count = int(file.array(f"{name}_drivers", "i", ()))
    if count < 0:
        return None
    # one person and everybody have other numbers of scans and people: lengths of their own
    arrays = {
        field: file.array(
            f"{name}_{field}", "f", tuple(f"{name} {n}" if isinstance(n, str) else n for n in shape)
        )
        for field, shape in _SHAPES.items()
    }
    offsets = tuple(
        file.array(f"{name}_offsets_{d}", "f", (f"{name} n{d}", f"k{d}", f"v{d}", 3))
        for d in range(count)
    )
    variances = Variances(*file.array(f"{name}_variances", "f", (4,)).tolist())
    return Estimate(
        arrays["rotations"], arrays["translations"], arrays["x"], arrays["dress"],
        arrays["bones"], arrays["weights"], offsets, variances,
    )  # fmt: skip
