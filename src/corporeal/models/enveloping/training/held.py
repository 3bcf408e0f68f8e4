"""Training with known bodies and poses: weights s and offsets k alone are found."""

from dataclasses import dataclass, replace

import numpy as np

from corporeal.body.template import Template
from corporeal.models.enveloping.training.given import Given, principal_bodies
from corporeal.models.enveloping.training.linear import LinearSolve, with_linear_parts
from corporeal.models.enveloping.training.problem import Estimate, Scans
from corporeal.models.enveloping.training.start import Beginning, first_estimate
from corporeal.models.enveloping.training.weights import with_weights


@dataclass(frozen=True)
class HeldBodies:
    """Some scans of people whose bodies and poses are held."""

    beginning: Beginning
    """Problem and first weights."""
    template: Template
    """Surface and joints."""
    scans: Scans
    """To learn from."""
    given: Given
    """Bodies and poses of these scans."""
    linear: LinearSolve
    """How offsets are solved for."""
    latent_count: int
    """Latent coordinates at most."""

    def begun(self, before: Estimate | None) -> Estimate:
        """x, dress shapes and bones of new people by principal components; weights, offsets and
        variances as before, or the first ones."""
        own, problem = self.given.own, self.beginning.problem
        count = min(self.latent_count, len(own.dress) - 1)
        x, dress, bones = principal_bodies(own, problem.rig.layout, problem.mirror, count)
        every = np.arange(len(self.scans.people))
        made = first_estimate(self.beginning, self.template, every, bones, x)
        poses = self.given.poses
        made = replace(
            made, dress=dress, own=own, rotations=np.asarray(poses.rotations, np.float64),
            translations=np.asarray(poses.translation, np.float64),
        )  # fmt: skip
        if before is None:
            return made
        return replace(
            made, weights=before.weights, offsets=before.offsets, variances=before.variances
        )

    def kept(self, estimate: Estimate | None) -> Estimate | None:
        """An estimate from a file, which does not hold bodies."""
        return None if estimate is None else replace(estimate, own=self.given.own)

    def with_weights(self, estimate: Estimate) -> Estimate:
        """Better s."""
        return with_weights(self.beginning.problem, self.scans, estimate)

    def with_offsets(self, estimate: Estimate, rows: int) -> Estimate:
        """Better k: those of the mean character, and of the latent coordinates they depend on."""
        return with_linear_parts(self.beginning.problem, self.scans, estimate, rows, self.linear)
