"""A body file in, the same person with another weight or height out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal.anthropometry.measure import measure
from corporeal.body.body import Body
from corporeal.errors import InputError
from corporeal.formats.native import read_body
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.results import require_body_output, write_body_result
from corporeal.population.reshape import reshape_body
from corporeal.runtime.manifest import finish_run, manifest_path, start_run


@dataclass(frozen=True)
class ReshapeConfig:
    """Whom to change, how, and where to put the result."""

    body: Path
    """Body file to read."""
    out: Path
    """Body file to write."""
    gain: float = 0.0
    """Kilograms to gain; negative to lose."""
    taller: float = 0.0
    """Metres to grow; negative to shrink."""
    gender: float | None = None
    """0 female … 1 male; the body's own if None."""


@dataclass(frozen=True)
class ReshapedBody:
    """What came of it."""

    out: Path
    """The body file."""
    manifest: Path
    """Its manifest."""
    before: Mapping[str, float]
    """Measurements, SI units."""
    after: Mapping[str, float]
    """Measurements of the new body, SI units."""


def make_reshaped(config: ReshapeConfig) -> ReshapedBody:
    """Change a body file's weight or height as a population's bodies differ, and write it."""
    require_body_output(config.out)
    run = start_run("reshape", config, [config.body])
    body = read_body(config.body)
    gender = gender_of(body, str(config.body)) if config.gender is None else config.gender
    before = measure(body.identity, PhenotypeModel().template).values
    new = reshaped_body(body, config.gain, config.taller, gender)
    after = dict(new.measurements)
    report = write_body_result(config.out, new) | {"before": dict(before), "after": after}
    finish_run(run, [config.out], report)
    return ReshapedBody(config.out, manifest_path(config.out), dict(before), after)


def reshaped_body(body: Body, gain: float, taller: float, gender: float) -> Body:
    """The body heavier by `gain` kg and taller by `taller` metres, in memory; measured again.

    `gender` (0 female … 1 male) says how fat settles.
    """
    model = PhenotypeModel()
    changed = reshape_body(model, body.identity, gender, gain, taller)
    return Body(
        body.template, changed.identity, dict(measure(changed.identity, model.template).values)
    )


def gender_of(body: Body, name: str = "the body") -> float:
    """0 female … 1 male, as the body says; `InputError` for one that does not."""
    if "gender" not in body.identity.parameters:
        raise InputError(
            f"{name} does not say whether it is a woman or a man, and fat settles differently. "
            f"Pass --gender female, male or a number from 0 to 1 (in Python, gender=)."
        )
    return float(np.asarray(body.identity.parameters["gender"]))
