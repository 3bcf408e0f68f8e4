"""A body file in, the same person with another weight or height out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal.anthropometry.measure import measure
from corporeal.errors import InputError
from corporeal.formats.native import Body, read_body
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
    """Change a body's weight or height as a population's bodies differ, and write it."""
    require_body_output(config.out)
    run = start_run("reshape", config, [config.body])
    body, model = read_body(config.body), PhenotypeModel()
    gender = _gender(config, body)
    before = measure(body.identity, model.template).values
    changed = reshape_body(model, body.identity, gender, config.gain, config.taller)
    after = measure(changed.identity, model.template).values
    new = Body(body.template, changed.identity, dict(after))
    report = write_body_result(config.out, new) | {"before": dict(before), "after": dict(after)}
    finish_run(run, [config.out], report)
    return ReshapedBody(config.out, manifest_path(config.out), dict(before), dict(after))


def _gender(config: ReshapeConfig, body: Body) -> float:
    if config.gender is not None:
        return config.gender
    if "gender" not in body.identity.parameters:
        raise InputError(
            f"{config.body} does not say whether it is a woman or a man, and fat settles "
            f"differently. Pass --gender female, male or a number from 0 to 1."
        )
    return float(np.asarray(body.identity.parameters["gender"]))
