"""The step of a device as a solver like the others: NumPy in and out, many steps a program."""

import jax
import numpy as np
from jax import lax

from corporeal._typing import Array, Float, Float64, Int, NumpyArray
from corporeal.physics.solver.gpu.elements import (
    DeviceFlesh,
    elements_of,
    flesh_of,
    system_matrix,
)
from corporeal.physics.solver.gpu.inverse import (
    Inverse,
    cluster_order,
    global_step,
)
from corporeal.physics.solver.gpu.step import (
    SolverOptions,
    SolverState,
    StepInputs,
    take_step,
)
from corporeal.physics.solver.integration import Patience, State, StepRule, rebased, resting
from corporeal.physics.solver.system import System, required_targets
from corporeal.physics.volume_preservation.gpu import (
    DevicePreservation,
    device_volume,
    preservation_with,
)


class GpuSolver:
    """The steps of `ReferenceSolver` for one system, on JAX's default device.

    Step by step for comparison and live use; whole clips go through
    `fast_projective_skinning.gpu.clip`.
    """

    def __init__(
        self,
        system: System,
        rule: StepRule,
        places: Float64[NumpyArray, "V 3"],
        accelerated: bool = False,
        dense: bool = False,
        patience: Patience | None = None,
    ) -> None:
        """`places` of the vertices at rest (metres) tell which are neighbours; `dense` keeps the
        whole inverse even where most of it is negligible. With `patience`, steps take more
        iterations than the rule says, until they settle."""
        self.system = system
        self.rule = rule
        self.order = device_order(system, places)
        elements = elements_of(system, self.order)
        self.flesh = flesh_of(elements)
        matrix = system_matrix(elements, rule.inertia, len(places), rule.stiffening)
        self.inverse = global_step(matrix, dense)
        volume = None
        if system.volume_preservation is not None:
            place = np.argsort(self.order)
            volume = device_volume(system.volume_preservation, place, len(self.flesh.masses))
        self._preservation = None if volume is None else preservation_with(volume, matrix)
        self._options = SolverOptions(accelerated, untangled=system.untangled, patience=patience)
        self._steps = jax.jit(_steps_taken, static_argnums=(2, 5))

    def step(
        self,
        state: State,
        anchors: Float64[NumpyArray, "b 3"],
        forces: Float64[NumpyArray, "V 3"] | None = None,
        carried: Float64[NumpyArray, "V 3"] | None = None,
        targets: Float64[NumpyArray, "V 3"] | None = None,
    ) -> State:
        """The state one step later; see `Solver`."""
        path = None if carried is None else carried[None]
        drawn = None if targets is None else targets[None]
        return self.steps(state, anchors[None], forces, path, drawn)[0]

    def steps(
        self,
        state: State,
        anchors: Float64[NumpyArray, "k b 3"],
        forces: Float64[NumpyArray, "V 3"] | None = None,
        carried: Float64[NumpyArray, "k V 3"] | None = None,
        targets: Float64[NumpyArray, "k V 3"] | None = None,
    ) -> tuple[State, Float64[NumpyArray, "k V 3"]]:
        """The state k steps later, and the positions after each: one program, one way there and
        back. Arguments are those of `step` for every step; `forces` are the same in all."""
        targets = None if self.system.attachments is None else required_targets(targets)
        past = rebased(state, self.rule.step)
        free, fixed = np.split(self.order, [len(self.flesh.masses)])
        origin, count = np.round(np.mean(past.positions, axis=0)), len(anchors)
        solver_state = SolverState(
            _laid_out(past.positions[free] - origin),
            _laid_out(past.velocities[free]),
            _laid_out(past.earlier_positions[free] - origin),
            _laid_out(past.earlier_velocities[free]),
            self._begun(past),
        )
        path = np.empty((count, *past.positions.shape))
        path[:, self.system.anchored] = anchors
        before = np.concatenate([past.positions[None, fixed], path[:-1, fixed]])
        nothing = np.zeros_like(past.positions)
        pull = (nothing if forces is None else forces)[free]
        step_inputs = StepInputs(
            _laid_out(path[:, fixed] - origin),
            _laid_out(np.broadcast_to(pull, (count, *pull.shape))),
            None if carried is None else _laid_out(carried[:, free]),
            _laid_out(before - origin),
            None if targets is None else _laid_out(targets[:, free] - origin),
        )
        after, found = self._steps(
            self.flesh,
            self.inverse,
            self.rule,
            solver_state,
            step_inputs,
            self._options,
            self._preservation,
        )
        path[:, free] = _in_rows(found) + origin
        return self._ended(past, path, after, free, fixed), path

    def _ended(
        self,
        past: State,
        path: Float64[NumpyArray, "k V 3"],
        after: SolverState,
        free: Int[NumpyArray, "f"],
        fixed: Int[NumpyArray, "b"],
    ) -> State:
        """The state at the end of a path; anchors get the velocities that the rule gives them."""
        if self.rule.integrator == "static":
            return resting(path[-1].copy(), self.rule.step, pressures=self._left(after))
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
        pressures = self._left(after)
        step = self.rule.step
        return State(places[-1], pair[1], places[-2], pair[0], step, pressures=pressures)

    def _begun(self, past: State) -> Float[NumpyArray, "1 K 1"]:
        """The pressures that a step begins with, Pa."""
        preservation = self.system.volume_preservation
        pressures = np.zeros(0) if preservation is None else preservation.begun(past.pressures)
        return pressures.astype(np.float32)[None, :, None]

    def _left(self, after: SolverState) -> Float64[NumpyArray, "K"] | None:
        """The pressures that a step ends with, Pa."""
        if self._preservation is None:
            return None
        return np.asarray(after.pressures, np.float64)[0, :, 0]


def _steps_taken(
    flesh: DeviceFlesh,
    inverse: Inverse,
    rule: StepRule,
    solver_state: SolverState,
    step_inputs: StepInputs,
    options: SolverOptions,
    preservation: DevicePreservation | None,
) -> tuple[SolverState, Float[Array, "k 3 f B"]]:
    """Steps one after the other; what each is given lies along the first axis."""

    def go(solver_state: SolverState, inputs: StepInputs) -> tuple[SolverState, Array]:
        solver_state, _ = take_step(
            flesh, inverse, rule, solver_state, inputs, options, preservation=preservation
        )
        return solver_state, solver_state.positions

    return lax.scan(go, solver_state, step_inputs)


def device_order(system: System, places: Float64[NumpyArray, "V 3"]) -> Int[NumpyArray, "V"]:
    """Free vertices first, neighbours together; then anchored ones."""
    free = system.free
    return np.concatenate([free[cluster_order(places[free])], np.flatnonzero(system.anchored)])


def _laid_out(rows: Float64[NumpyArray, "*k m 3"]) -> Float[NumpyArray, "*k 3 m 1"]:
    return np.ascontiguousarray(np.swapaxes(rows, -1, -2)[..., None], np.float32)


def _in_rows(values: Float[Array, "*k 3 m 1"]) -> Float64[NumpyArray, "*k m 3"]:
    return np.swapaxes(np.asarray(values, np.float64)[..., 0], -1, -2)
