"""Whether what was fitted is a person: how much of the scan lies on the body, how much of the body
on the scan, and how unusual the body and its pose would have to be."""

from dataclasses import dataclass

import numpy as np

from corporeal.errors import InputError
from corporeal.registration.coupled_stage import matches
from corporeal.registration.model_stage import ModelFit
from corporeal.registration.person_model import PersonModel
from corporeal.registration.scan_surface import ScanSurface

NEAR = 0.02
"""Metres from the model within which a point of the scan lies on it."""
LEAST_COVERED = 0.82
"""Share of the scan that must lie on the body."""
LEAST_FOUND = 0.22
"""Share of the body that must lie on the scan."""
UNLIKELY_FOUND = 0.2
"""The same, a unit of `Plausibility.unlikely`: of a body that would be odd, in an odd pose, more
must be shown (a chair's would be 3.3 and lie on it with a quarter; whole people's are 0.5 to 1)."""
LEAST_HOPE = 0.5
"""Share of the scan that must lie within `ROUGHLY` of the model after its first stage."""
ROUGHLY = 0.05
"""Metres."""
CLEAR_FOUND = 0.6
"""Share of the body that must lie on the scan where the scan shows other things, too."""
CLEAR_DISTANCE = 0.008
"""Median distance of what is left from the body then, at most, metres."""
MOST_UNUSUAL = 3.0
"""Root mean square of the shape's coefficients, standard deviations."""


@dataclass(frozen=True)
class Plausibility:
    """Figures that tell a person from something else."""

    covered: float
    """Share of the scan that lies on the body and faces the same way."""
    found: float
    """Share of the body's vertices that lie on the scan."""
    distance: float
    """Median distance of the scan from the body, metres."""
    unusual: float
    """Root mean square of the first shape coefficients, standard deviations."""
    strained: float
    """Energy of the pose's prior, a joint."""

    @property
    def unlikely(self) -> float:
        """How odd body and pose are together: both are means of squares of deviations."""
        return self.unusual**2 + self.strained

    @property
    def least_found(self) -> float:
        """Share of the body that must lie on the scan."""
        return min(max(LEAST_FOUND, UNLIKELY_FOUND * self.unlikely), CLEAR_FOUND)


def plausibility(model: PersonModel, surface: ScanSurface, fit: ModelFit) -> Plausibility:
    """Measure a model fit."""
    from scipy.spatial import KDTree

    some = surface.some(8000, 5)
    found = matches(fit.posed.vertices, np.asarray(model.template.mesh.triangles), some.points)
    distance = np.linalg.norm(some.points - found.feet, axis=1)
    facing = np.sum(found.normals * some.normals, axis=1) > 0.3
    vertices = np.arange(0, len(fit.posed.vertices), 3)
    reach, which = KDTree(some.points).query(fit.posed.vertices[vertices])
    alike = np.sum(fit.posed.normals[vertices] * some.normals[which], axis=1) > 0.2
    prior = model.prior
    return Plausibility(
        float(((distance < NEAR) & facing).mean()),
        float(((reach < 1.5 * NEAR) & alike).mean()),
        float(np.median(distance)),
        float(np.sqrt(np.mean(fit.state.shape[:40] ** 2))),
        prior.energy(fit.state.pose) / model.joint_count,
    )


def require_hope(model: PersonModel, surface: ScanSurface, fit: ModelFit) -> None:
    """Raise `InputError` where the first stage's body lies so far off that no further stage would
    help."""
    some = surface.some(4000, 5)
    found = matches(fit.posed.vertices, np.asarray(model.template.mesh.triangles), some.points)
    away = np.linalg.norm(some.points - found.feet, axis=1)
    facing = np.sum(found.normals * some.normals, axis=1) > 0.3
    covered = float(((away < ROUGHLY) & facing).mean())
    if covered < LEAST_HOPE:
        raise InputError(
            f"the scan does not look like one person: {100 * covered:.0f} % of it lies within "
            f"{100 * ROUGHLY:.0f} cm of the body that fits best (expected "
            f"{100 * LEAST_HOPE:.0f} %). Cut away what is not the person; if it is one, say --up."
        )


def require_human(
    model: PersonModel, surface: ScanSurface, fit: ModelFit, left_out: float = 0.0
) -> Plausibility:
    """Raise `InputError` unless the scan is one of a person.

    Of a scan of which a share was left out as other things, the rest must be a person clearly.
    """
    seen = plausibility(model, surface, fit)
    if left_out > 1.0 - LEAST_COVERED and not (
        seen.found >= CLEAR_FOUND and seen.distance <= CLEAR_DISTANCE
    ):
        raise InputError(
            f"the scan does not look like one person: {100 * left_out:.0f} % of it lies off the "
            f"body that fits best, and the rest shows {100 * seen.found:.0f} % of that body "
            f"(expected {100 * CLEAR_FOUND:.0f} %) at {1e3 * seen.distance:.0f} mm (expected "
            f"{1e3 * CLEAR_DISTANCE:.0f}). Cut away what is not the person; if it is one, say --up."
        )
    least = seen.least_found
    if seen.covered < LEAST_COVERED or seen.found < least:
        raise InputError(
            f"the scan does not look like one person: {100 * seen.covered:.0f} % of it lies on the "
            f"body that fits best (expected {100 * LEAST_COVERED:.0f} %), and "
            f"{100 * seen.found:.0f} % of that body on the scan (expected "
            f"{100 * least:.0f} %). Cut away what is not the person; if it is one, say --up."
        )
    if seen.unusual > MOST_UNUSUAL:
        raise InputError(
            f"the body that fits best would be no person's: its shape is {seen.unusual:.1f} "
            f"standard deviations from the mean in every direction (expected at most "
            f"{MOST_UNUSUAL:g}). If the scan is of a person, check its unit (--unit)."
        )
    return seen
