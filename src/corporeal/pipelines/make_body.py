"""Sliders or measurements in, a body file out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.body import Body
from corporeal.errors import InputError
from corporeal.pipelines.presentation import looks_from
from corporeal.pipelines.results import require_body_output, write_body_result
from corporeal.runtime.manifest import Run, finish_run, is_current, manifest_path, start_run

FIXED_WITH_MEASUREMENTS = ("gender", "age")
"""Sliders that measurements leave alone; the others follow from what was measured."""


@dataclass(frozen=True)
class MakeBodyConfig:
    """One person, and where to put it."""

    out: Path
    """Body file to write."""
    sliders: Mapping[str, float] = field(default_factory=dict)
    """Phenotype by name; see `PhenotypeModel.parameters`."""
    measurements: Mapping[str, float] = field(default_factory=dict)
    """What was measured, SI units, by full name; see `anthropometry.definitions`."""
    looks: Mapping[str, Any] = field(default_factory=dict)
    """How the person looks in pictures and engine files; see `presentation.LookOptions`."""


@dataclass(frozen=True)
class MadeBody:
    """What came of it; small enough to travel between processes."""

    out: Path
    """The body file."""
    manifest: Path
    """Its manifest."""
    parameters: Mapping[str, float]
    """Phenotype sliders and local modifiers, by name."""
    measurements: Mapping[str, float]
    """SI units."""
    solver: Mapping[str, Any] | None
    """How well the asked measurements were met; None for a body from sliders."""


def make_body(config: MakeBodyConfig) -> MadeBody:
    """Shape a person, measure it and write it, with its manifest."""
    run = _run(config)
    require_body_output(config.out)
    presentation = looks_from(config.looks).presentation()
    body, solver = _shaped(config.sliders, config.measurements)
    written = write_body_result(config.out, body, presentation)
    report = written | {"measurements": body.measurements, "solver": solver}
    finish_run(run, [config.out], report)
    return MadeBody(
        out=config.out,
        manifest=manifest_path(config.out),
        parameters={k: float(np.asarray(v)) for k, v in body.identity.parameters.items()},
        measurements=body.measurements,
        solver=solver,
    )


def is_made(config: MakeBodyConfig) -> bool:
    """Whether the very same body lies there already, whole."""
    return is_current(config.out, _run(config))


def _run(config: MakeBodyConfig) -> Run:
    return start_run("body", config)


def shaped_body(
    sliders: Mapping[str, float] | None = None, measurements: Mapping[str, float] | None = None
) -> Body:
    """A body from sliders or from measurements (SI units), in memory; the average adult of none."""
    return _shaped(sliders or {}, measurements or {})[0]


def _shaped(
    sliders: Mapping[str, float], measurements: Mapping[str, float]
) -> tuple[Body, dict[str, Any] | None]:
    """The body, and how well it meets what was measured."""
    from corporeal.anthropometry.measure import measure
    from corporeal.models.phenotype.model import PhenotypeModel

    model = PhenotypeModel()
    if not measurements:
        identity = model.prepare(sliders)
        return Body(model.template, identity, _floats(measure(identity).values)), None
    others = [name for name in sliders if name not in FIXED_WITH_MEASUREMENTS]
    if others:
        raise InputError(
            f"measurements ({', '.join(measurements)}) came together with the sliders "
            f"{', '.join(others)}; expected one or the other, since measurements decide the "
            f"sliders. Only gender and age go with both."
        )
    from corporeal.anthropometry.solve import solve_measurements

    defaults = {parameter.name: parameter.default for parameter in model.parameters}
    fixed = defaults | dict(sliders)
    solved = solve_measurements(measurements, fixed["gender"], fixed["age"], model)
    body = Body(model.template, solved.identity, _floats(solved.measurements.values))
    return body, {"status": solved.status, "residuals": _floats(solved.residuals)}


def _floats(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}
