"""Projective Dynamics on the CPU: compiled local steps and a Cholesky factor made once.

Every iteration solves for the correction,
(κ M_f + s Q_fᵀ W Q_f) δ = κ M_f (y − z) + f + s Q_fᵀ W (p − Q z) and z ← z + δ. In exact arithmetic
that is the reference's global step; in float32 it keeps the digits of z. The matrix is sparse,
symmetric positive definite, and constant while topology, masses, stiffness, damping and step are;
it is factored once, and solved for three columns at a time. With viscosity the iteration begins at
ẑ, so that its first local step finds f(ẑ) as well.
"""

from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.numerics.cholesky import CholeskyFactor
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.solver.calming import calm_vertices, calmed, neighbours_in
from corporeal.physics.solver.constraints.constraint import Constraint
from corporeal.physics.solver.constraints.skin_tension import SkinTension
from corporeal.physics.solver.constraints.strain import StrainConstraint
from corporeal.physics.solver.cpu.contacts import CompiledContacts, LocalInverse
from corporeal.physics.solver.cpu.strip_blocks import LANES, QUAD, StripBlocks, pack_tetrahedra
from corporeal.physics.solver.integration import (
    Patience,
    State,
    StepRule,
    changed,
    is_carried,
    rebased,
    resting,
)
from corporeal.physics.solver.system import System, required_targets
from corporeal.physics.untangling.cpu import CompiledUntangling
from corporeal.physics.untangling.reference import MOST_PUSHES, most_pushes, untangling_of
from corporeal.physics.volume_preservation.cpu import CompiledPressure
from corporeal.runtime.threads import over_slices, thread_count

_PARTS = 2
"""Partial residuals that are added up. A constant, and not the number of threads, so that sums are
rounded alike, to the last bit, on any number of threads."""
_BLOCKS_A_PART = 64
"""Below this a second part, and a second thread, costs more than it brings."""


class CpuSolver:
    """The steps of `ReferenceSolver`. Strain and the skin's tension are compiled; other constraints
    go through NumPy."""

    def __init__(
        self,
        system: System,
        rule: StepRule,
        polar_tolerance: float = 1e-4,
        accelerated: bool = False,
    ) -> None:
        """`polar_tolerance`: how far from orthonormal a local rotation may be. `accelerated`
        combines the last three iterates, which halves the iterations for the same error; without
        it every iterate is the reference's."""
        from corporeal.physics.solver.cpu.anderson import MEMORY

        self.system = system
        self.rule = rule
        self._tolerance = np.float32(polar_tolerance)
        self._accelerated = accelerated
        self._free, self._fixed = system.free, np.flatnonzero(system.anchored)
        self._order = np.concatenate([self._free, self._fixed])
        self._place = np.argsort(self._order)
        self._blocks = self._pack()
        self._skins = [self._skin(c) for c in system.constraints if isinstance(c, SkinTension)]
        self._others = [
            (c, csc_array(c.matrix)[:, self._order], rule.stiffening * c.weights[:, None])
            for c in system.constraints
            if not isinstance(c, StrainConstraint | SkinTension)
        ]
        count = len(self._blocks.corners)
        parts = min(_PARTS, max(1, count // _BLOCKS_A_PART))
        self._buffers = np.zeros((parts, len(self._free) + 1, QUAD), np.float32)
        self._edges = [count * part // parts for part in range(parts + 1)]
        self._forces: Float32[NumpyArray, "blocks 240"] | None = None
        self._nothing = np.zeros((system.vertex_count, 3))
        free = len(self._free)
        # Scratch of a step, kept: memory that is new every time costs more than what is done in it.
        self._places = (np.empty((system.vertex_count, 3)), np.empty((free, 3)))
        self._sides = (np.empty((free, 3), np.float32), np.zeros((free, 3), np.float32))
        self._memory = (
            np.zeros((MEMORY, 3 * free)),
            np.zeros((MEMORY, 3 * free), np.float32),
            np.zeros(MEMORY),
        )
        self._momentum = rule.inertia * system.masses[self._free]
        self._inertia = self._momentum + system.springs
        self._loose, self._springs = system.loose, system.springs
        self._apart = np.zeros((free, QUAD), np.float32)
        self._factor = CholeskyFactor(system.matrix(rule.inertia, rule.stiffening))
        creasing = system.creasing(rule.stiffening)
        self._creasing = (
            None
            if creasing is None
            else (creasing.indptr, creasing.indices, creasing.data.astype(np.float32))
        )
        self._pressing = self._press()
        untangling = untangling_of(system)
        self._untangling = (
            None if untangling is None else CompiledUntangling(untangling, self._place, free)
        )
        self._inverse: LocalInverse | None = None
        self.iterations_taken = 0
        """Of the latest step."""

    def _pack(self) -> StripBlocks:
        """All strain constraints, over vertices renumbered with the free ones first."""
        strains = [c for c in self.system.constraints if isinstance(c, StrainConstraint)]
        if not strains:
            raise InputError(
                "the CPU solver was given no tetrahedral strain, which is all it speeds up; use "
                "the reference solver for this system."
            )
        tetrahedra = np.concatenate([c.tetrahedra for c in strains])
        inverse = np.concatenate([c.inverse_edges for c in strains])
        weights = self.rule.stiffening * np.concatenate([c.weights[::3] for c in strains])
        # A tetrahedron between anchors alone pulls nothing that moves.
        moving = np.asarray(~self.system.anchored[tetrahedra].all(axis=1))
        place = self._place[tetrahedra[moving]]
        return pack_tetrahedra(place, inverse[moving], weights[moving])

    def _skin(
        self, skin: SkinTension
    ) -> tuple[Int[NumpyArray, "F 3"], Float64[NumpyArray, "F 2 2"], Float64[NumpyArray, "F"]]:
        """Corners among the renumbered vertices, inverse edges and weights of what moves."""
        moving = np.asarray(~self.system.anchored[skin.triangles].all(axis=1))
        corners = self._place[skin.triangles[moving]].astype(np.int64)
        return corners, skin.inverse_edges[moving], self.rule.stiffening * skin.weights[::2][moving]

    def _press(self) -> CompiledPressure | None:
        """What keeps volumes, where the system does."""
        preservation = self.system.volume_preservation
        if preservation is None:
            return None
        free, moving = len(self._free), self.rule.moving
        parts, solve = len(self._buffers), self._factor.solve
        return CompiledPressure(preservation, self._order, free, solve, moving, parts)

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
        if self.rule.integrator == "static":
            state = resting(state.positions, self.rule.step, pressures=state.pressures)
        state = rebased(state, self.rule.step)
        z, pull = self._begin(state, forces, carried)
        guess = z[: len(pull)].copy()
        z[len(pull) :] = anchors
        if self.system.attachments is not None:
            self._draw(z, pull, required_targets(targets))
        touching = self._touching(contacts, state.positions)
        if self._pressing is not None:
            self._pressing.begin(state.pressures)
        in_turn = self.rule.moving and is_carried(carried)
        if self._untangling is not None:
            before = state.positions[self._order] if self.rule.moving else None
            self._untangling.begin(before, self.rule.step)
        self._iterate(z, pull, guess, touching, patience or Patience(np.inf, 1), in_turn)
        if touching is not None:
            self._calm(touching, state, carried, z, in_turn)
        return self._end(state, z)

    @property
    def residual(self) -> float:
        """Fixed-point residual of the latest step: the root mean square over free vertices of how
        far the last of its iterations moved them, metres; 0 in the limit of many iterations."""
        correction = self._sides[1].astype(np.float64)
        return float(
            np.sqrt(np.einsum("ni,ni->", correction, correction) / max(1, len(correction)))
        )

    def _touching(
        self, contacts: Contacts | None, positions: Float64[NumpyArray, "V 3"]
    ) -> CompiledContacts | None:
        """The contacts, compiled."""
        if contacts is None or len(contacts) == 0:
            return None
        calm = calm_vertices(contacts, self._near, ~self.system.anchored)
        touching = CompiledContacts(contacts, self._place, self.expect_contacts(), calm)
        touching.begin(positions[self._order])
        return touching

    def expect_contacts(self) -> LocalInverse:
        """What contacts need of the matrix; made when the first one comes, which then takes some
        tenths of a second, unless it was asked for before."""
        if self._inverse is None:
            self._inverse = LocalInverse(self._factor.solve, len(self._free))
        return self._inverse

    @cached_property
    def _near(self) -> csr_array:
        return neighbours_in(self.system)

    def _calm(
        self,
        touching: CompiledContacts,
        state: State,
        carried: NumpyArray | None,
        z: Float64[NumpyArray, "V 3"],
        in_turn: bool,
    ) -> None:
        """Slow down what lies around sleeping contacts, in place, and push open what that made
        small."""
        vertices, parts = touching.calm
        if len(vertices) == 0:
            return
        before = state.positions[vertices]
        if carried is not None:
            before = before + self.rule.step * carried[vertices]
        places = self._place[vertices]
        z[places] = calmed(z[places], before, parts)
        if self._untangling is not None:
            rows = touching.one_sided
            self._untangling.untangle(z, in_turn, MOST_PUSHES, rows, in_turn=in_turn)

    def _begin(
        self, state: State, forces: NumpyArray | None, carried: NumpyArray | None
    ) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "f 3"]]:
        """The first guess, free vertices first, and κ M y + f."""
        from corporeal.physics.solver.cpu.local_step import begin_step

        rule, nothing = self.rule, self._nothing
        z, pull = self._places
        begin_step(
            state.positions,
            state.velocities,
            state.earlier_positions,
            state.earlier_velocities,
            nothing if carried is None else carried,
            nothing if forces is None else forces,
            self._order,
            rule.blend,
            rule.reach,
            rule.damping * rule.reach,
            self._lead(carried),
            self._momentum,
            z,
            pull,
        )
        return z, pull

    def _lead(self, carried: NumpyArray | None) -> float:
        """For how long vertices are carried to the first guess, s; 0 begins at the prediction."""
        begins_at_prediction = carried is None and self.rule.viscosity == 0.0
        return self.rule.step if self.rule.moving and not begins_at_prediction else 0.0

    def _end(self, state: State, z: Float64[NumpyArray, "V 3"]) -> State:
        """The state at `z`, whose free vertices come first."""
        from corporeal.physics.solver.cpu.local_step import end_step

        rule, positions, velocities = self.rule, np.empty(z.shape), np.empty(z.shape)
        end_step(
            state.positions,
            state.earlier_positions,
            self._order,
            rule.blend,
            rule.reach,
            z,
            positions,
            velocities,
        )
        pressures = None if self._pressing is None else self._pressing.pressures
        if rule.integrator == "static":
            return resting(positions, rule.step, pressures=pressures)
        return State(
            positions,
            velocities,
            state.positions,
            state.velocities,
            rule.step,
            pressures=pressures,
        )

    def _iterate(
        self,
        z: Float64[NumpyArray, "V 3"],
        pull: Float64[NumpyArray, "f 3"],
        guess: Float64[NumpyArray, "f 3"],
        touching: CompiledContacts | None,
        patience: Patience,
        in_turn: bool,
    ) -> None:
        """Local and global steps on `z`, free vertices first, in place; creases are damped against
        the first `guess`."""
        from corporeal.physics.solver.cpu.anderson import accelerate
        from corporeal.physics.solver.cpu.local_step import correct, gather_residual
        from corporeal.physics.solver.cpu.skin_kernels import damp_creases

        free, known, pushes = len(pull), 0, most_pushes(self.rule.moving)
        right, delta = self._sides
        iteration, last, change, before = 0, False, np.inf, None
        while not last:
            self._local_steps(z, iteration)
            if iteration == 0 and self.system.attachments is None:
                self._hold_back(z, pull)
            gather_residual(self._buffers, self._inertia, pull, z, right)
            if self._creasing is not None:
                damp_creases(*self._creasing, guess, z, self._apart, right)
            for constraint, matrix, weights in self._others:
                right += _residual(constraint, matrix, weights, z)[:free]
            if self._pressing is not None and self._pressing.push(right, iteration):
                known = 0  # another fixed point
            if touching is not None:
                touching.push(right)
            self._factor.solve(right, delta)
            if touching is not None:
                touching.resolve(z, delta)
            last = patience.is_last(iteration, self.rule.iterations, change)
            if self._accelerated and not (last and touching is not None):
                known = accelerate(z, delta, *self._memory, iteration, known)
            else:
                correct(z, delta)
            if self._untangling is not None:
                rows = None if touching is None else touching.one_sided
                budget = MOST_PUSHES if last else pushes
                everywhere = last or iteration == 0
                pushes = self._untangling.untangle(z, last, budget, rows, everywhere, in_turn)
            iteration += 1
            if patience.most > iteration >= self.rule.iterations - 1:
                change, before = changed(z[:free], before), z[:free].copy()
        self.iterations_taken = iteration

    def _hold_back(self, z: Float64[NumpyArray, "V 3"], pull: Float64[NumpyArray, "f 3"]) -> None:
        """Take (s − 1) f(ẑ) from the constant part of the right side: the buffers hold s f(ẑ)."""
        from corporeal.physics.solver.cpu.local_step import hold_back

        if self.rule.stiffening == 1.0:
            return
        hold_back(self._buffers, self._held_share, pull)
        self._hold_back_others(z, pull)

    @property
    def _held_share(self) -> float:
        return 1.0 - 1.0 / self.rule.stiffening

    def _hold_back_others(
        self, z: Float64[NumpyArray, "V 3"], pull: Float64[NumpyArray, "f 3"]
    ) -> None:
        for constraint, matrix, weights in self._others:
            pull -= self._held_share * _residual(constraint, matrix, weights, z)[: len(pull)]

    def _draw(
        self,
        z: Float64[NumpyArray, "V 3"],
        pull: Float64[NumpyArray, "f 3"],
        targets: Float64[NumpyArray, "V 3"],
    ) -> None:
        """Begin with loose vertices at their `targets`: where they were, what is pressed would
        creep. Iterations begin elsewhere than at ẑ then, so that f(ẑ) takes a local step more."""
        from corporeal.physics.solver.cpu.local_step import draw

        if self.rule.stiffening > 1.0:
            self._local_steps(z, None)
            self._hold_back_others(z, pull)
        draw(
            self._buffers, self._held_share, self._springs, targets, self._free,
            self._loose, self._place, z, pull,
        )  # fmt: skip

    def _local_steps(self, z: Float64[NumpyArray, "V 3"], iteration: int | None) -> None:
        """Residuals of all tetrahedra into the buffers; prisms are surveyed where the pressures
        ask for it in an `iteration`. More threads than buffers first find the forces, which are
        then added up."""
        from corporeal.physics.solver.cpu.local_step import local_step, scatter_forces
        from corporeal.physics.solver.cpu.skin_kernels import pull_skin

        blocks, edges, pressing = self._blocks, self._edges, self._pressing
        if iteration is None or (pressing is not None and not pressing.surveys(iteration)):
            pressing = None
        forces = self._forces_by_block(z) if thread_count() > len(self._buffers) > 1 else None

        def work(start: int, stop: int) -> None:
            for part in range(start, stop):
                own, ends = self._buffers[part], (edges[part], edges[part + 1])
                if forces is None:
                    local_step(blocks.corners, blocks.rest, z, own, *ends, self._tolerance)
                else:
                    scatter_forces(blocks.corners, forces, own, *ends)
                for corners, inverse, weights in self._skins:
                    count, parts = len(corners), len(self._buffers)
                    ends = (count * part // parts, count * (part + 1) // parts)
                    pull_skin(corners, inverse, weights, z, own, *ends)
                if pressing is not None:
                    pressing.survey(z, part)

        over_slices(work, len(self._buffers))

    def _forces_by_block(self, z: Float64[NumpyArray, "V 3"]) -> Float32[NumpyArray, "blocks 240"]:
        """The pulls on the edges of every block, on all threads, newtons."""
        from corporeal.physics.solver.cpu.local_step import local_forces

        blocks = self._blocks
        if self._forces is None:
            self._forces = np.empty((len(blocks.corners), 15 * LANES), np.float32)
        forces = self._forces

        def work(first: int, last: int) -> None:
            local_forces(blocks.corners, blocks.rest, z, forces, first, last, self._tolerance)

        over_slices(work, len(blocks.corners), _BLOCKS_A_PART)
        return forces


def _residual(
    constraint: Constraint, matrix: csc_array, weights: NumpyArray, z: Float64[NumpyArray, "V 3"]
) -> Float32[NumpyArray, "V 3"]:
    """Qᵀ W (p − Q z) of one constraint."""
    values = matrix @ z
    return (matrix.T @ (weights * (constraint.project(values) - values))).astype(np.float32)
