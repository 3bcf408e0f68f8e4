"""From forces to movement: the step rules, and the state that goes from step to step.

Both rules have the form z = z̃ + τ v, v = ṽ + τ M⁻¹ f(z), with what they remember in (z̃, ṽ):

=============== ======================= ====== ================================================
rule            z̃ (and ṽ likewise)      τ
=============== ======================= ====== ================================================
implicit-euler  z_t                     h      Komaritzan 2022 (2.6); damps, ∝ h
bdf2            4/3 z_t − 1/3 z_{t−1}   2/3 h  second order: almost no damping of its own
=============== ======================= ====== ================================================

Damping is Rayleigh's, against the velocity c of what carries the vertices, and implicit: drag
−d M (v − c), and viscosity β ḟ with the elastic force f, whose rate is (f(z) − f(ẑ))/h from where
vertices get when they are carried, ẑ = z_t + h c. To first order that is −β K (v − c) with the
stiffness K = −∂f/∂z of the moment: what turns with its bones is not damped. The step then minimises
κ/2 ‖M^½ (z − y)‖² + s Σ W_i(z) + (s − 1) f(ẑ)ᵀ z with κ = (1 + dτ)/τ² and s = 1 + β/h.
`damping` finds d and β.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.physics.contact.touching import Touching
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@dataclass(frozen=True)
class Patience:
    """When a step that may take more iterations than its rule says ends."""

    settled: float
    """Metres, root mean square over free vertices: once an iteration changes them by less, all
    that follows it included, the next one is the last."""
    most: int
    """Iterations at most."""

    def is_last(self, iteration: int, least: int, change: float) -> bool:
        """Whether an `iteration` (from 0) is the last of a step that has at `least` so many; the
        one before changed vertices by `change`.

        That is what is left between one iteration's end and the next one's, after elements were
        opened: how far a global step moves them says little, since what was opened closes again.
        """
        done = iteration + 1
        return done >= max(least, self.most) or (done >= least and change < self.settled)


def is_carried(carried: Float64[NumpyArray, "V 3"] | None) -> bool:
    """Whether bones move, as the velocities say that they carry vertices with (m/s)."""
    return carried is not None and bool(carried.any())


def changed(
    positions: Float64[NumpyArray, "f 3"], before: Float64[NumpyArray, "f 3"] | None
) -> float:
    """Root mean square of how far vertices went, metres; ∞ where nothing is known from before."""
    if before is None:
        return math.inf
    apart = positions - before
    return float(np.sqrt(np.einsum("ni,ni->", apart, apart) / max(1, len(apart))))


@dataclass(frozen=True)
class StepRule:
    """How one step is taken."""

    step: float
    """Seconds."""
    iterations: int = 10
    """Local–global iterations a step."""
    damping: float = 0.0
    """Drag d, 1/s."""
    integrator: Literal["bdf2", "implicit-euler", "static"] = "bdf2"
    """`static` leaves the mass terms out: the shape that balances the forces."""
    viscosity: float = 0.0
    """β: how much of the rate of the elastic forces damps, s."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.step) and self.step > 0):
            raise InputError(f"step is {self.step} s; expected a finite number above 0.")
        if self.iterations < 1:
            raise InputError(f"iterations are {self.iterations}; expected at least 1.")
        if not (math.isfinite(self.damping) and self.damping >= 0):
            raise InputError(f"damping is {self.damping} 1/s; expected a finite number from 0.")
        if not (math.isfinite(self.viscosity) and self.viscosity >= 0):
            raise InputError(f"viscosity is {self.viscosity} s; expected a finite number from 0.")

    @property
    def moving(self) -> bool:
        """Whether flesh has momentum."""
        return self.integrator != "static"

    @property
    def reach(self) -> float:
        """τ, seconds."""
        return self.step * (2.0 / 3.0 if self.integrator == "bdf2" else 1.0)

    @property
    def blend(self) -> tuple[float, float]:
        """How much of now, and less of a step before, z̃ and ṽ are."""
        return (4.0 / 3.0, 1.0 / 3.0) if self.integrator == "bdf2" else (1.0, 0.0)

    @property
    def inertia(self) -> float:
        """κ, 1/s²."""
        if self.integrator == "static":
            return 0.0
        return (1.0 + self.damping * self.reach) / self.reach**2

    @property
    def stiffening(self) -> float:
        """s = 1 + β/h: elastic forces of a step with viscosity over those without."""
        return 1.0 + self.viscosity / self.step if self.moving else 1.0


@pytree_dataclass(static=("step",))
class State:
    """Where the vertices are and how they move: enough to be saved, and gone on from."""

    positions: Float64[NumpyArray, "V 3"]
    """Metres."""
    velocities: Float64[NumpyArray, "V 3"]
    """m/s."""
    earlier_positions: Float64[NumpyArray, "V 3"]
    """One step before, metres."""
    earlier_velocities: Float64[NumpyArray, "V 3"]
    """One step before, m/s."""
    step: float
    """Seconds from earlier to now."""
    touching: Touching | None = None
    """Skin that touches skin."""
    pressures: Float64[NumpyArray, "K"] | None = None
    """In the regions whose volume is kept, Pa; none where none is."""

    def check(self) -> None:
        """Raise `InputError` unless positions and velocities are finite."""
        require_finite("positions", self.positions)
        require_finite("velocities", self.velocities)


def resting(
    positions: Float64[NumpyArray, "V 3"],
    step: float,
    velocities: Float64[NumpyArray, "V 3"] | None = None,
    pressures: Float64[NumpyArray, "K"] | None = None,
) -> State:
    """A state without accelerations: at rest, or moving steadily with `velocities`, m/s."""
    speed = np.zeros_like(positions) if velocities is None else velocities
    return State(positions, speed, positions - step * speed, speed, step, pressures=pressures)


def rebased(state: State, step: float) -> State:
    """The same movement with its past at another distance, `step` seconds: to second order."""
    if math.isclose(state.step, step, rel_tol=1e-9):
        return state
    acceleration = (state.velocities - state.earlier_velocities) / state.step
    return replace(
        state,
        earlier_velocities=state.velocities - step * acceleration,
        earlier_positions=state.positions - step * state.velocities + 0.5 * step**2 * acceleration,
        step=step,
    )


Past: TypeAlias = tuple[NumpyArray, NumpyArray]
"""z̃ and ṽ, metres and m/s."""


def remembered(state: State, rule: StepRule) -> Past:
    """z̃ and ṽ: what the rule keeps of the steps before."""
    (now, earlier), past = rule.blend, rebased(state, rule.step)
    return (
        now * past.positions - earlier * past.earlier_positions,
        now * past.velocities - earlier * past.earlier_velocities,
    )


def predicted(
    state: State,
    rule: StepRule,
    past: Past,
    carried: Float64[NumpyArray, "V 3"] | None = None,
) -> Float64[NumpyArray, "V 3"]:
    """y: where a vertex gets without forces, under drag towards the velocities `carried` (m/s).

    A static step has no momentum: it starts where the last one ended.
    """
    if rule.integrator == "static":
        return state.positions
    position, velocity = past
    reach, drag = rule.reach, rule.damping * rule.reach
    if carried is not None and drag > 0:
        velocity = velocity + drag * carried
    return position + (reach / (1.0 + drag)) * velocity


def first_guess(
    state: State,
    rule: StepRule,
    y: Float64[NumpyArray, "V 3"],
    carried: Float64[NumpyArray, "V 3"] | None = None,
) -> Float64[NumpyArray, "V 3"]:
    """Where the iteration begins: where vertices get with what carries them, if that is known
    (m/s), else the prediction `y`. What the iteration goes to is the same.

    With viscosity it is ẑ, and what is not said to be carried rests (c = 0).
    """
    if rule.integrator == "static" or (carried is None and rule.viscosity == 0.0):
        return y.copy()
    return state.positions + (0.0 if carried is None else rule.step * carried)


def advanced(
    state: State, rule: StepRule, past: Past, positions: Float64[NumpyArray, "V 3"]
) -> State:
    """The state after a step that ended at `positions`."""
    if rule.integrator == "static":
        return resting(positions, rule.step)
    velocities = (positions - past[0]) / rule.reach
    return State(positions, velocities, state.positions, state.velocities, rule.step)
