"""Projective Dynamics on a device: the equations of `reference`, float32, for B characters at once.

An iteration is two programs: residual (local step and right-hand side in one gather,
`solver.gpu.elements`) and correction (dense products, `solver.gpu.inverse`). State is free vertices
alone, in structures of arrays (3, f, B); anchored ones come with every step.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.solver.gpu.anderson import History, accelerated, no_history
from corporeal.physics.solver.gpu.contact_kernels import kernel_contacts
from corporeal.physics.solver.gpu.contacts import (
    ContactRows,
    contact_forces,
    free_places,
    moved_by,
    row_places,
)
from corporeal.physics.solver.gpu.creasing import creasing_forces
from corporeal.physics.solver.gpu.elements import (
    DeviceFlesh,
    strain_forces,
)
from corporeal.physics.solver.gpu.inverse import (
    Inverse,
    correction,
)
from corporeal.physics.solver.gpu.local_step_kernels import kernel_forces
from corporeal.physics.solver.gpu.skin import skin_forces
from corporeal.physics.solver.gpu.springs import Springs, spring_forces
from corporeal.physics.solver.integration import Patience, StepRule
from corporeal.physics.untangling.gpu import limits_after, swept, untangle
from corporeal.physics.untangling.gpu_kernels import kernel_swept
from corporeal.physics.volume_preservation.gpu import (
    DevicePreservation,
    corrected,
    pressure_forces,
)


class SolverState(NamedTuple):
    """The free vertices of B characters, now and one step before."""

    positions: Float[Array, "3 f B"]
    """Metres, from the origin of the moment."""
    velocities: Float[Array, "3 f B"]
    """m/s."""
    earlier_positions: Float[Array, "3 f B"]
    """One step before, metres, from the origin of the moment."""
    earlier_velocities: Float[Array, "3 f B"]
    """One step before, m/s."""
    pressures: Float[Array, "P K B"]
    """That keep the volume of regions, Pa; of no region where volume is not kept."""


class StepInputs(NamedTuple):
    """What a step is given."""

    anchors: Float[Array, "3 b B"]
    """New places of the anchored vertices, metres."""
    forces: Float[Array, "3 f B"]
    """External forces, newtons."""
    carried: Float[Array, "3 f B"] | None
    """Velocities of what carries the free vertices, which drag draws towards, m/s."""
    earlier_anchors: Float[Array, "3 b B"]
    """Where the anchored vertices are when the step begins, metres."""
    targets: Float[Array, "3 f B"] | None = None
    """Where the attachments draw the free vertices, metres; None where there are none."""


class SolverOptions(NamedTuple):
    """How the iterations are run."""

    accelerated: bool = True
    """Combine the last three iterates, as the CPU simulation does."""
    kernels: bool = False
    """Take local step and contacts with the kernels for GPUs; gradients do not go through them."""
    rounds: int = 4
    """Of the search for contact forces in every iteration."""
    people: int = 1
    """Parts of equal size that are accelerated each on its own."""
    untangled: bool = False
    """Push elements open after every iteration (`untangling.gpu`)."""
    unrolled: int = 5
    """Iterations written out in the program: 1 compiles sooner, 5 runs a tenth faster."""
    patience: Patience | None = None
    """Go on, every character on its own, until it settles; None for as many iterations as the rule
    says. Not for several people in one character."""


class Contact(NamedTuple):
    """What one character touches in a step."""

    rows: ContactRows
    """What the rows ask, and how they answer to forces."""
    begun: Float[Array, "3 C"]
    """Where the rows are when the step begins, or what slip is measured from, metres."""
    calm: Float[Array, "f"] | None = None
    """Part of the way that free vertices go from where bones carry them; None for all of it."""


def take_step(
    flesh: DeviceFlesh,
    inverse: Inverse,
    rule: StepRule,
    solver_state: SolverState,
    inputs: StepInputs,
    options: SolverOptions,
    contact: Contact | None = None,
    preservation: DevicePreservation | None = None,
    springs: Springs | None = None,
) -> tuple[SolverState, Float[Array, "B"]]:
    """Algorithm 2.1: predict, alternate local and global steps, take the velocity. And ‖δ‖² of the
    last iteration, m²: over the number of free vertices, the square of the residual that
    `CpuSolver` tells.

    The `inverse` is that of the matrix with the `springs`.
    """
    given, before = (
        (flesh, inverse, rule, inputs, options, contact, preservation, springs),
        solver_state.pressures,
    )
    if rule.integrator == "static":
        start = solver_state.positions
        iteration = _Iteration(start, *given)
        found, pressures, squares = iteration.passed(start, before)
        found = iteration.calmed(start, found)
        still = jnp.zeros_like(found)
        return SolverState(found, still, found, still, pressures), squares
    now, earlier = rule.blend
    drag = rule.damping * rule.reach
    place = now * solver_state.positions - earlier * solver_state.earlier_positions
    speed = now * solver_state.velocities - earlier * solver_state.earlier_velocities
    if inputs.carried is None:
        start = predicted = place + (rule.reach / (1.0 + drag)) * speed
        if rule.viscosity > 0.0:
            start = solver_state.positions
    else:
        predicted = place + (rule.reach / (1.0 + drag)) * (speed + drag * inputs.carried)
        start = solver_state.positions + rule.step * inputs.carried
    limits = None
    if options.untangled:
        begun = jnp.concatenate([solver_state.positions, inputs.earlier_anchors], axis=1)
        limits = limits_after(flesh, begun, rule.step)
    iteration = _Iteration(predicted, *given, limits=limits)
    found, pressures, squares = iteration.passed(start, before)
    carried = 0.0 if inputs.carried is None else rule.step * inputs.carried
    found = iteration.calmed(solver_state.positions + carried, found)
    velocities = (found - place) / rule.reach
    after = SolverState(
        found, velocities, solver_state.positions, solver_state.velocities, pressures
    )
    return after, squares


class _Progress(NamedTuple):
    """What goes from one iteration to the next."""

    z: Array
    forces: Array
    """Of contacts, newtons."""
    history: History | None
    pressures: Array
    push: Array | float
    """Of the pressures on the free vertices, newtons."""
    squares: Array
    """‖δ‖² of the last iteration of every character, m²."""


class _Settling(NamedTuple):
    """What goes from one iteration to the next where steps go on until they settle."""

    at: _Progress
    taken: Int[Array, "B"]
    """Iterations so far."""
    change: Float[Array, "B"]
    """How far the latest one changed vertices, as `solver.integration.changed`, metres."""


class _Iteration(NamedTuple):
    """The local–global iterations of one step whose free vertices are `predicted`."""

    predicted: Array
    flesh: DeviceFlesh
    inverse: Inverse
    rule: StepRule
    inputs: StepInputs
    options: SolverOptions
    contact: Contact | None
    preservation: DevicePreservation | None
    springs: Springs | None
    guess: Array | None = None
    """ẑ, against which creases are damped; None before it is known."""
    limits: Array | None = None
    """How long skin edges may be when the step ends, metres; None of skin that is held."""

    def passed(
        self, start: Float[Array, "3 f B"], pressures: Float[Array, "P K B"]
    ) -> tuple[Array, Array, Array]:
        """The free vertices, the pressures and ‖δ‖² after the rule's iterations from a `start`.

        Pressures are corrected in odd iterations, and push in the next as well. Where something
        touches, the last iterate is a plain one: nothing overlaps.
        """
        contact, options = self.contact, self.options
        count = self.rule.iterations if contact is None else self.rule.iterations - 1
        at = _Progress(
            start,
            jnp.zeros((3, 0)) if contact is None else jnp.zeros_like(contact.begun),
            no_history(self.predicted, options.people) if options.accelerated else None,
            pressures,
            0.0 if self.preservation is None else jnp.zeros_like(self.predicted),
            jnp.zeros(start.shape[2], start.dtype),
        )
        if self.attachments is not None:
            springs, targets = self.attachments
            loose = (springs > 0) & (self.flesh.masses == 0)  # as `System.loose`
            at = at._replace(z=jnp.where(loose[:, None], targets, start))
        held = self.held_back(start) if self.rule.stiffening > 1.0 else self
        held = held._replace(guess=start)
        if options.patience is not None:
            return held.settled(at, options.patience)
        return held.iterated(at, count)

    def held_back(self, carried: Float[Array, "3 f B"]) -> "_Iteration":
        """The same step with (s − 1) f(ẑ) taken from what drives it: what viscosity does not oppose
        where vertices are `carried` to ẑ."""
        held = (1.0 - 1.0 / self.rule.stiffening) * self.elastic(carried)
        return self._replace(inputs=self.inputs._replace(forces=self.inputs.forces - held))

    def iterated(self, at: _Progress, count: int) -> tuple[Array, Array, Array]:
        """`count` iterations, and the plain one where something touches."""
        contact, options = self.contact, self.options
        if count > 0:
            at = self.once(self.pressed(at))

        def pair(at: _Progress, _: None) -> tuple[_Progress, None]:
            return self.once(self.once(self.pressed(self.corrected(at)))), None

        pairs, single = divmod(max(count - 1, 0), 2)
        at, _ = lax.scan(
            pair, at, length=pairs, unroll=min(-(-options.unrolled // 2), max(pairs, 1))
        )
        if single:
            at = self.once(self.pressed(self.corrected(at)))
        if contact is None:
            return self.untangled(at.z, last=True), at.pressures, at.squares
        if count % 2 == 1:
            at = self.pressed(self.corrected(at))
        moved = self.delta(at)[0]
        return self.untangled(at.z + moved, last=True), at.pressures, _squares(moved)

    def settled(self, at: _Progress, patience: Patience) -> tuple[Array, Array, Array]:
        """As `iterated`, in as many iterations as every character's `patience` says: what has only
        its last one left waits for the others."""
        least, most = self.rule.iterations, max(self.rule.iterations, patience.most)
        known = self.flesh.masses > 0  # what fills up a body has no mass and no springs
        if self.flesh.springs is not None:
            known |= self.flesh.springs > 0
        count = jnp.maximum(jnp.sum(known), 1)

        def next_is_last(now: _Settling) -> Array:
            done = now.taken + 1
            return (done >= most) | ((done >= least) & (now.change < patience.settled))

        def go(now: _Settling) -> _Settling:
            waits = next_is_last(now)
            at = self.once(self.corrected_in(now.at, now.taken, waits))
            squares = jnp.sum((at.z - now.at.z) ** 2, axis=(0, 1))
            taken = now.taken + 1
            change = jnp.where(taken >= least, jnp.sqrt(squares / count), jnp.inf)
            return _Settling(
                _chosen(waits, now.at, at),
                jnp.where(waits, now.taken, taken),
                jnp.where(waits, now.change, change),
            )

        size = at.z.shape[2]
        begun = _Settling(
            self.pressed(at), jnp.zeros(size, jnp.int32), jnp.full(size, jnp.inf, at.z.dtype)
        )
        now = lax.while_loop(lambda now: ~jnp.all(next_is_last(now)), go, begun)
        at = self.corrected_in(now.at, now.taken, jnp.zeros(size, bool))
        if self.contact is None:
            at = self.once(at)
            return self.untangled(at.z, last=True), at.pressures, at.squares
        moved = self.delta(at)[0]
        return self.untangled(at.z + moved, last=True), at.pressures, _squares(moved)

    def corrected_in(
        self, at: _Progress, taken: Int[Array, "B"], waits: Bool[Array, "B"]
    ) -> _Progress:
        """Pressures and what they push with in the iteration after those `taken`: they change in
        odd ones, but not of what `waits`."""
        if self.preservation is None:
            return at
        same = waits | (taken % 2 == 0)

        def change(at: _Progress) -> _Progress:
            return _chosen(same, at, self.pressed(self.corrected(at)))

        return lax.cond(jnp.all(same), lambda at: at, change, at)

    def calmed(
        self, carried: Float[Array, "3 f B"], found: Float[Array, "3 f B"]
    ) -> Float[Array, "3 f B"]:
        """What contacts slow down, a part of the way from where it was `carried`; what that made
        small is pushed open."""
        contact = self.contact
        if contact is None or contact.calm is None:
            return found
        parts = contact.calm[:, None]
        return self.untangled(jnp.where(parts < 1.0, carried + parts * (found - carried), found))

    @property
    def attachments(self) -> tuple[Array, Array] | None:
        """Stiffness, N/m, and where they draw the free vertices, metres; None where none are."""
        if self.flesh.springs is None or self.inputs.targets is None:
            return None
        return self.flesh.springs, self.inputs.targets

    def corrected(self, at: _Progress) -> _Progress:
        """Pressures for the volumes that the regions have now."""
        if self.preservation is None:
            return at
        history = at.history
        if history is not None:  # it led to another fixed point
            history = history._replace(known=jnp.zeros_like(history.known))
        now, moving = self.everything(at.z), self.rule.moving
        pressures = corrected(self.preservation, at.pressures, now, moving)
        return at._replace(pressures=pressures, history=history)

    def pressed(self, at: _Progress) -> _Progress:
        """What the pressures push with now."""
        if self.preservation is None:
            return at
        push = pressure_forces(self.preservation.volume, at.pressures, self.everything(at.z))
        return at._replace(push=push)

    def once(self, at: _Progress) -> _Progress:
        """One local–global iteration."""
        moved, forces = self.delta(at)
        if at.history is None:
            z = self.untangled(at.z + moved)
            return at._replace(z=z, forces=forces, squares=_squares(moved))
        z, history = accelerated(at.z, moved, at.history, self.options.people)
        squares = jnp.sum(history.norm, axis=0)
        return at._replace(z=self.untangled(z), forces=forces, history=history, squares=squares)

    def untangled(self, z: Array, last: bool = False) -> Array:
        """The free vertices with elements pushed open, where that is asked for; `last` ends a
        step."""
        if not self.options.untangled:
            return z
        sweep = kernel_swept if self.options.kernels and z.shape[2] == 1 else swept
        rows = None if self.contact is None else self.contact.rows
        return untangle(self.flesh, z, self.inputs.anchors, last, sweep, rows, self.limits)

    def delta(self, at: _Progress) -> tuple[Array, Array]:
        """The correction of the free vertices, metres, and the contact forces after it."""
        z, contact, rounds = at.z, self.contact, self.options.rounds
        inertia = self.rule.inertia * self.flesh.masses[:, None]
        pull = inertia * (self.predicted - z) + self.inputs.forces + at.push
        if self.attachments is not None:
            springs, targets = self.attachments
            pull = pull + springs[:, None] * (targets - z)
        if self.springs is not None:
            pull = pull + spring_forces(self.springs, self.everything(z), z.shape[1])
        pull = pull + self.creasing(z)
        moved = correction(self.inverse, pull + self.elastic(z))
        if contact is None:
            return moved, at.forces
        held = row_places(contact.rows, self.everything(jnp.zeros_like(z)))
        if self.options.kernels:
            push, forces = kernel_contacts(
                contact.rows, held, contact.begun, z + moved, at.forces, rounds
            )
            return moved + push, forces
        ahead = held + free_places(contact.rows, z + moved)
        forces = contact_forces(contact.rows, ahead, contact.begun, at.forces, rounds)
        return moved + moved_by(contact.rows, forces), forces

    def creasing(self, z: Array) -> Array | float:
        """What damps creases pulls the free vertices with, newtons."""
        if self.guess is None or self.rule.stiffening == 1.0 or self.flesh.creasing is None:
            return 0.0
        return (self.rule.stiffening - 1.0) * creasing_forces(self.flesh, z - self.guess)

    def elastic(self, z: Array) -> Array:
        """s f(z): what strain and skin pull the free vertices with, newtons."""
        strain = kernel_forces if self.options.kernels else strain_forces
        positions, stiffening = self.everything(z), self.rule.stiffening
        forces = strain(self.flesh, positions)
        if self.flesh.skin is not None:
            forces = forces + skin_forces(self.flesh.skin, positions)
        return forces if stiffening == 1.0 else stiffening * forces

    def everything(self, z: Array) -> Array:
        """Free vertices, then anchored ones."""
        return jnp.concatenate([z, self.inputs.anchors], axis=1)


def _chosen(first: Bool[Array, "B"], one: _Progress, other: _Progress) -> _Progress:
    """One progress of the characters for which that is said, the other of all else. Forces of
    contacts are those of one character, or of none."""
    forces = other.forces
    if forces.size > 0:
        forces = jnp.where(first, one.forces, other.forces)
    one = one._replace(forces=forces)
    return jax.tree.map(
        lambda a, b: b if a is b else jnp.where(first, a, b), one, other._replace(forces=forces)
    )


def _squares(moved: Float[Array, "3 f B"]) -> Float[Array, "B"]:
    """‖δ‖² of every character, m²."""
    return jnp.sum(moved * moved, axis=(0, 1))
