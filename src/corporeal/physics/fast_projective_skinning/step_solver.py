"""The factored system of a body, made once for all settings that share it."""

from collections.abc import Hashable

from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.lru_cache import LruCache
from corporeal.physics.fast_projective_skinning.parts import Integrator
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.system import System


def kept_solver(
    kept: LruCache,
    made_from: tuple[Hashable, ...],
    system: System,
    settings: ProjectiveControls,
    step: float,
    integrator: Integrator,
) -> CpuSolver:
    """The solver of a `system`, which `made_from` tells from others, for steps of `step` seconds.

    Static shapes are sought with twice the iterations of a moving step.
    """
    iterations = settings.iterations * (2 if integrator == "static" else 1)
    length = round(1e9 * step) if integrator != "static" else 0

    def make() -> CpuSolver:
        rule = damped_rule(step, iterations, settings.damping_ratio, integrator)
        return CpuSolver(system, rule, accelerated=True)

    made_by = (settings.damping_ratio, iterations, integrator, length)
    return kept.get("solver", (*made_from, *made_by), make)
