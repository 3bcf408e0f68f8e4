"""Projective Dynamics as written: algorithm 2.1 with hard anchors (2.2.3), in float64.

The matrix κ M_f + K_f + s Q_fᵀ W Q_f, K being the attachments, is sparse, symmetric positive
definite, and constant while topology, masses, stiffness, damping and step are; it is factored once.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.solver.calming import calm_vertices, calmed, neighbours_in
from corporeal.physics.solver.constraints.constraint import energy
from corporeal.physics.solver.integration import (
    Patience,
    State,
    StepRule,
    advanced,
    changed,
    first_guess,
    is_carried,
    predicted,
    remembered,
)
from corporeal.physics.solver.reference_contacts import ContactStep
from corporeal.physics.solver.system import System
from corporeal.physics.untangling.reference import MOST_PUSHES, most_pushes, untangling_of
from corporeal.physics.volume_preservation.reference import PressureStep


class ReferenceSolver:
    """Any constraints, singular values in every local step, a direct solve in every global one."""

    def __init__(self, system: System, rule: StepRule) -> None:
        self.system = system
        self.rule = rule
        self._free, self._fixed = system.free, np.flatnonzero(system.anchored)
        matrix, weights = csc_array(system.constraint_matrix()), system.row_weights()
        self._matrix_free, self._matrix_fixed = matrix[:, self._free], matrix[:, self._fixed]
        self._weights = weights[:, None]
        self._factor = splu(system.matrix(rule.inertia, rule.stiffening))
        self._creasing = system.creasing(rule.stiffening)
        self._untangling = untangling_of(system)
        self._loose = system.loose
        preservation = system.volume_preservation
        self._gain = (
            None if preservation is None else preservation.gain(self._free, self._factor.solve)
        )

    def step(
        self,
        state: State,
        anchors: Float64[NumpyArray, "b 3"],
        forces: Float64[NumpyArray, "V 3"] | None = None,
        carried: Float64[NumpyArray, "V 3"] | None = None,
        contacts: Contacts | None = None,
        targets: Float64[NumpyArray, "V 3"] | None = None,
        patience: Patience | None = None,
    ) -> State:
        """Algorithm 2.1: predict, alternate local and global steps, take the velocity. With
        `patience`, more often than the rule says, until it settles."""
        past = remembered(state, self.rule)
        y = predicted(state, self.rule, past, carried)
        f = self.system.attachment_pull(targets)
        f = f if forces is None else f + forces[self._free]
        z = first_guess(state, self.rule, y, carried)
        z[self._fixed] = anchors
        f = f - self._held_back(z)
        if self._creasing is not None:
            f = f + self._creasing @ z[self._free]
        if targets is not None:
            z[self._loose] = targets[self._loose]
        touching = self._touching(contacts, state.positions)
        pressing, pushes = self._pressing(state), most_pushes(self.rule.moving)
        watched: NumpyArray | None = None
        patience, iteration, last = patience or Patience(np.inf, 1), 0, False
        change, before = np.inf, None
        in_turn = self.rule.moving and is_carried(carried)
        limits = self._limits(state)
        while not last:
            p = self._project_constraints(z)
            pushed = 0.0 if pressing is None else pressing.forces(z, iteration)[self._free]
            z[self._free] = self._solve_global(y, p, anchors, f + pushed)
            if touching is not None:
                z[self._free] += touching.correction(z)
            last = patience.is_last(iteration, self.rule.iterations, change)
            if self._untangling is not None:
                budget = MOST_PUSHES if last else pushes
                if iteration == 0:
                    watched = self._untangling.watched(z)
                among = None if last or iteration == 0 else watched
                pushes = self._untangling.untangle(
                    z, last, budget, contacts, among, in_turn, limits
                )
            iteration += 1
            if patience.most > iteration >= self.rule.iterations - 1:
                change, before = changed(z[self._free], before), z[self._free]
        if contacts is not None:
            self._calm(contacts, state, carried, z, in_turn, limits)
        pressures = None if pressing is None else pressing.pressures
        return replace(advanced(state, self.rule, past, z), pressures=pressures)

    def _calm(
        self,
        contacts: Contacts,
        state: State,
        carried: Float64[NumpyArray, "V 3"] | None,
        z: Float64[NumpyArray, "V 3"],
        in_turn: bool,
        limits: Float64[NumpyArray, "E"] | None,
    ) -> None:
        """Slow down what lies around sleeping contacts, in place, and push open what that made
        small."""
        calm, parts = calm_vertices(contacts, self._near, ~self.system.anchored)
        if len(calm) == 0:
            return
        moved = 0.0 if carried is None else self.rule.step * carried[calm]
        z[calm] = calmed(z[calm], state.positions[calm] + moved, parts)
        if self._untangling is not None:
            self._untangling.untangle(z, in_turn, MOST_PUSHES, contacts, None, in_turn, limits)

    def _limits(self, state: State) -> Float64[NumpyArray, "E"] | None:
        """How long skin edges may be at the end of a step; None where it does not move."""
        if self._untangling is None or not self.rule.moving:
            return None
        return self._untangling.limits_after(state.positions, self.rule.step)

    @cached_property
    def _near(self) -> csr_array:
        return neighbours_in(self.system)

    def _pressing(self, state: State) -> PressureStep | None:
        preservation, gain = self.system.volume_preservation, self._gain
        if preservation is None or gain is None:
            return None
        return PressureStep(preservation, gain, state.pressures, self.rule.moving)

    def _touching(
        self, contacts: Contacts | None, positions: Float64[NumpyArray, "V 3"]
    ) -> ContactStep | None:
        if contacts is None or len(contacts) == 0:
            return None
        return ContactStep(contacts, self._free, positions, self._factor.solve)

    def energy(self, positions: Float64[NumpyArray, "V 3"]) -> float:
        """Σ W_i(z), joules."""
        return sum(energy(constraint, positions) for constraint in self.system.constraints)

    def _project_constraints(self, z: NumpyArray) -> Float64[NumpyArray, "rows 3"]:
        """Local step: p_i, the closest allowed state of every constraint."""
        return np.concatenate([c.project(c.matrix @ z) for c in self.system.constraints])

    def _held_back(self, carried: NumpyArray) -> Float64[NumpyArray, "f 3"] | float:
        """(s − 1) f(ẑ), the elastic force (newtons) of vertices that are `carried` to ẑ (metres):
        what viscosity does not oppose."""
        if self.rule.viscosity == 0.0 or not self.rule.moving:
            return 0.0
        strained = self.system.constraint_matrix() @ carried
        pulls = self._weights * (self._project_constraints(carried) - strained)
        return (self.rule.stiffening - 1.0) * (self._matrix_free.T @ pulls)

    def _solve_global(
        self, y: NumpyArray, p: NumpyArray, anchors: NumpyArray, f: NumpyArray | float
    ) -> Float64[NumpyArray, "f 3"]:
        """(κ M_f + s Q_fᵀ W Q_f) z_f = κ M_f y_f + f_ext + s Q_fᵀ W (p − Q_b z_b).

        Komaritzan 2022 has f_ext inside y, which is the same, but leaves massless vertices without
        it.
        """
        momentum = self.rule.inertia * self.system.masses[self._free, None] * y[self._free]
        internal = self._matrix_free.T @ (self._weights * (p - self._matrix_fixed @ anchors))
        return self._factor.solve(momentum + f + self.rule.stiffening * internal)
