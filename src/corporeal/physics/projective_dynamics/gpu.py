"""Projective Dynamics on a device: the equations of `reference`, float32, for B characters at once.

An iteration is two programs: residual (local step and right-hand side in one gather, `gpu_flesh`)
and correction (dense products, `gpu_inverse`). State is free vertices alone, in structures of
arrays (3, f, B); anchored ones come with every step.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corporeal._typing import Array, Float, Float64, Int, NumpyArray
from corporeal.physics.projective_dynamics.gpu_anderson import History, accelerated, no_history
from corporeal.physics.projective_dynamics.gpu_contact_kernels import kernel_contacts
from corporeal.physics.projective_dynamics.gpu_contacts import (
    ContactRows,
    contact_forces,
    free_places,
    moved_by,
    row_places,
)
from corporeal.physics.projective_dynamics.gpu_flesh import (
    Flesh,
    elements_of,
    flesh_of,
    strain_forces,
    system_matrix,
)
from corporeal.physics.projective_dynamics.gpu_inverse import (
    Inverse,
    cluster_order,
    correction,
    global_step,
)
from corporeal.physics.projective_dynamics.gpu_kernels import kernel_forces
from corporeal.physics.projective_dynamics.integration import State, StepRule, rebased, resting
from corporeal.physics.projective_dynamics.system import System


class Moving(NamedTuple):
    """The free vertices of B characters, now and one step before."""

    positions: Float[Array, "3 f B"]
    """Metres, from the origin of the moment."""
    velocities: Float[Array, "3 f B"]
    """m/s."""
    earlier_positions: Float[Array, "3 f B"]
    earlier_velocities: Float[Array, "3 f B"]


class Drive(NamedTuple):
    """What a step is given."""

    anchors: Float[Array, "3 b B"]
    """New places of the anchored vertices, metres."""
    forces: Float[Array, "3 f B"]
    """External forces, newtons."""
    carried: Float[Array, "3 f B"]
    """Velocities that drag draws towards, m/s."""
    earlier_anchors: Float[Array, "3 b B"]
    """Where the anchored vertices are when the step begins, metres."""


class Way(NamedTuple):
    """How the iterations are run."""

    accelerated: bool = True
    """Combine the last three iterates, as the CPU simulation does."""
    kernels: bool = False
    """Take local step and contacts with the kernels for GPUs; gradients do not go through them."""
    rounds: int = 3
    """Of the search for contact forces in every iteration but the last."""
    last_rounds: int = 8
    """The same in the last iteration of a step: what it leaves is shown."""
    people: int = 1
    """Parts of equal size that are accelerated each on its own."""
    unrolled: int = 5
    """Iterations written out in the program: 1 compiles sooner, 5 runs a tenth faster."""


class Contact(NamedTuple):
    """What one character touches in a step."""

    rows: ContactRows
    begun: Float[Array, "3 C"]
    """Where the rows are when the step begins, metres."""


def take_step(
    flesh: Flesh,
    inverse: Inverse,
    rule: StepRule,
    moving: Moving,
    drive: Drive,
    way: Way,
    contact: Contact | None = None,
) -> Moving:
    """Algorithm 2.1: predict, alternate local and global steps, take the velocity."""
    if rule.integrator == "static":
        found = iterated(flesh, inverse, rule, moving.positions, drive, way, contact)
        still = jnp.zeros_like(found)
        return Moving(found, still, found, still)
    now, earlier = rule.blend
    drag = rule.damping * rule.reach
    place = now * moving.positions - earlier * moving.earlier_positions
    speed = now * moving.velocities - earlier * moving.earlier_velocities
    predicted = place + (rule.reach / (1.0 + drag)) * (speed + drag * drive.carried)
    found = iterated(flesh, inverse, rule, predicted, drive, way, contact)
    return Moving(found, (found - place) / rule.reach, moving.positions, moving.velocities)


def iterated(
    flesh: Flesh,
    inverse: Inverse,
    rule: StepRule,
    predicted: Float[Array, "3 f B"],
    drive: Drive,
    way: Way,
    contact: Contact | None = None,
) -> Float[Array, "3 f B"]:
    """The free vertices after the rule's iterations from where they were `predicted`."""
    inertia = rule.inertia * flesh.masses[:, None]

    still = jnp.concatenate([jnp.zeros_like(predicted), drive.anchors], axis=1)
    held = None if contact is None else row_places(contact.rows, still)

    def delta(z: Array, forces: Array, rounds: int) -> tuple[Array, Array]:
        everything = jnp.concatenate([z, drive.anchors], axis=1)
        pull = inertia * (predicted - z) + drive.forces
        strain = kernel_forces if way.kernels else strain_forces
        moved = correction(inverse, pull + strain(flesh, everything))
        if contact is None:
            return moved, forces
        if way.kernels:
            push, forces = kernel_contacts(
                contact.rows, held, contact.begun, z + moved, forces, rounds
            )
            return moved + push, forces
        ahead = held + free_places(contact.rows, z + moved)
        forces = contact_forces(contact.rows, ahead, contact.begun, forces, rounds)
        return moved + moved_by(contact.rows, forces), forces

    def plain(carry: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        moved, forces = delta(*carry, way.rounds)
        return (carry[0] + moved, forces), None

    def fast(carry: tuple[Array, Array, History], _: None) -> tuple[tuple, None]:
        moved, forces = delta(*carry[:2], way.rounds)
        z, history = accelerated(carry[0], moved, carry[2], way.people)
        return (z, forces, history), None

    # Where something touches, the last iterate is a plain one: nothing overlaps.
    count = rule.iterations if contact is None else rule.iterations - 1
    unroll = min(way.unrolled, max(count, 1))
    z, forces = predicted, jnp.zeros((3, 0)) if contact is None else jnp.zeros_like(contact.begun)
    if way.accelerated:
        whole = (z, forces, no_history(predicted, way.people))
        (z, forces, _), _ = lax.scan(fast, whole, length=count, unroll=unroll)
    else:
        (z, forces), _ = lax.scan(plain, (z, forces), length=count, unroll=unroll)
    return z if contact is None else z + delta(z, forces, way.last_rounds)[0]


class GpuSolver:
    """The steps of `ReferenceSolver` for one system, on JAX's default device.

    Step by step for comparison and live use; whole clips go through `projective.gpu_clip`.
    """

    def __init__(
        self,
        system: System,
        rule: StepRule,
        places: Float64[NumpyArray, "V 3"],
        accelerated: bool = False,
        dense: bool = False,
    ) -> None:
        """`places` of the vertices at rest (metres) tell which are neighbours; `dense` keeps the
        whole inverse even where most of it is negligible."""
        self.system = system
        self.rule = rule
        self.order = device_order(system, places)
        elements = elements_of(system, self.order)
        self.flesh = flesh_of(elements)
        matrix = system_matrix(elements, rule.inertia, len(places))
        self.inverse = global_step(matrix, dense)
        self._way = Way(accelerated)
        self._steps = jax.jit(_steps_taken, static_argnums=(2, 5))

    def step(
        self,
        state: State,
        anchors: Float64[NumpyArray, "b 3"],
        forces: Float64[NumpyArray, "V 3"] | None = None,
        carried: Float64[NumpyArray, "V 3"] | None = None,
    ) -> State:
        """The state one step later; see `Solver`."""
        path = None if carried is None else carried[None]
        return self.steps(state, anchors[None], forces, path)[0]

    def steps(
        self,
        state: State,
        anchors: Float64[NumpyArray, "k b 3"],
        forces: Float64[NumpyArray, "V 3"] | None = None,
        carried: Float64[NumpyArray, "k V 3"] | None = None,
    ) -> tuple[State, Float64[NumpyArray, "k V 3"]]:
        """The state k steps later, and the positions after each: one program, one way there and
        back. Arguments are those of `step` for every step; `forces` are the same in all."""
        past = rebased(state, self.rule.step)
        free, fixed = np.split(self.order, [len(self.flesh.masses)])
        origin, count = np.round(np.mean(past.positions, axis=0)), len(anchors)
        moving = Moving(
            _laid_out(past.positions[free] - origin),
            _laid_out(past.velocities[free]),
            _laid_out(past.earlier_positions[free] - origin),
            _laid_out(past.earlier_velocities[free]),
        )
        path = np.empty((count, *past.positions.shape))
        path[:, self.system.anchored] = anchors
        before = np.concatenate([past.positions[None, fixed], path[:-1, fixed]])
        nothing = np.zeros_like(past.positions)
        pull = (nothing if forces is None else forces)[free]
        drives = Drive(
            _laid_out(path[:, fixed] - origin),
            _laid_out(np.broadcast_to(pull, (count, *pull.shape))),
            _laid_out(
                (np.broadcast_to(nothing, path.shape) if carried is None else carried)[:, free]
            ),
            _laid_out(before - origin),
        )
        after, found = self._steps(self.flesh, self.inverse, self.rule, moving, drives, self._way)
        path[:, free] = _in_rows(found) + origin
        return self._ended(past, path, after, free, fixed), path

    def _ended(
        self,
        past: State,
        path: Float64[NumpyArray, "k V 3"],
        after: Moving,
        free: Int[NumpyArray, "f"],
        fixed: Int[NumpyArray, "b"],
    ) -> State:
        """The state at the end of a path; anchors get the velocities that the rule gives them."""
        if self.rule.integrator == "static":
            return resting(path[-1].copy(), self.rule.step)
        places = np.concatenate([past.earlier_positions[None], past.positions[None], path])
        now, earlier = self.rule.blend
        pair = np.stack([past.velocities, past.velocities])  # a step before, now
        for number in (len(path) - 1, len(path)):
            if number > 0:
                place = now * places[number, fixed] - earlier * places[number - 1, fixed]
                speed = (places[number + 1, fixed] - place) / self.rule.reach
                pair[number - len(path) + 1, fixed] = speed
        pair[1, free] = _in_rows(after.velocities)
        pair[0, free] = _in_rows(after.earlier_velocities)
        return State(places[-1], pair[1], places[-2], pair[0], self.rule.step)


def _steps_taken(
    flesh: Flesh, inverse: Inverse, rule: StepRule, moving: Moving, drives: Drive, way: Way
) -> tuple[Moving, Float[Array, "k 3 f B"]]:
    """Steps one after the other; what each is given lies along the first axis."""

    def go(moving: Moving, drive: Drive) -> tuple[Moving, Array]:
        moving = take_step(flesh, inverse, rule, moving, drive, way)
        return moving, moving.positions

    return lax.scan(go, moving, drives)


def device_order(system: System, places: Float64[NumpyArray, "V 3"]) -> Int[NumpyArray, "V"]:
    """Free vertices first, neighbours together; then anchored ones."""
    free = system.free
    return np.concatenate([free[cluster_order(places[free])], np.flatnonzero(system.anchored)])


def _laid_out(rows: Float64[NumpyArray, "*k m 3"]) -> Float[NumpyArray, "*k 3 m 1"]:
    return np.ascontiguousarray(np.swapaxes(rows, -1, -2)[..., None], np.float32)


def _in_rows(values: Float[Array, "*k 3 m 1"]) -> Float64[NumpyArray, "*k m 3"]:
    return np.swapaxes(np.asarray(values, np.float64)[..., 0], -1, -2)
