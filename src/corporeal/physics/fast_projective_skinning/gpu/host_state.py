"""The state of a device as the CPU has it."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.gpu.contacts import Touched, host_touching
from corporeal.physics.solver.gpu.step import SolverState
from corporeal.physics.solver.integration import State, StepRule


def host_state(
    prepared: DeviceBody,
    body: SimulatedBody,
    solver_state: SolverState,
    touched: Touched | None,
    path: Float64[NumpyArray, "k J 4 4"],
    origin: Float64[NumpyArray, "3"],
    rule: StepRule,
) -> State:
    """The state of all vertices after a `path`; anchored ones are where their bones carried them.

    `solver_state` may be that of the `prepared` body filled up (`gpu.padding`): what was added is
    left away.
    """
    earlier, now = body.carriers(path[-2:])
    speed = (now - earlier) / rule.step
    free = np.asarray(prepared.order)[: prepared.free_count]
    rows = [np.asarray(part, np.float64)[:, : len(free), 0].T for part in solver_state[:4]]
    arrays = [now.copy(), speed.copy(), earlier.copy(), speed.copy()]
    for array, row, offset in zip(arrays, rows, (origin, 0.0, origin, 0.0), strict=True):
        array[free] = row + offset
    pressures = None
    if prepared.volume is not None:
        regions = prepared.volume.volumes.shape[1]
        pressures = np.asarray(solver_state.pressures, np.float64)[0, :regions, 0]
    touching = None
    if touched is not None and touched.touching is not None:
        touching = host_touching(prepared, touched.touching)
    positions, velocities, before, velocities_before = arrays
    return State(positions, velocities, before, velocities_before, rule.step, touching, pressures)
