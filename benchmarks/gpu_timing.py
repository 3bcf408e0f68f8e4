"""What the parts of the GPU benchmark share: prepared bodies, and how time is taken."""

import sys
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from timing import seconds_of

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody, load_device_body
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    SkeletonFrames,
    clip_frames,
    device_state,
)
from corporeal.physics.materials import Material
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.elements import system_matrix
from corporeal.physics.solver.gpu.inverse import (
    DenseInverse,
    inverted,
    local_inverse,
)
from corporeal.physics.solver.gpu.step import SolverState
from corporeal.physics.solver.gpu.two_level import TwoLevelInverse, two_level_inverse
from corporeal.physics.solver.integration import State, resting

ROOT = Path(__file__).parents[1]
SUBJECTS = ROOT / "build" / "gpu"
CLIPS = ("running-on-spot", "shake-hips", "one-leg-jump")
STEP, STEPS, ITERATIONS = 1 / 120, 2, 5
AGREEMENT = 1e-4  # of the body's height, after 120 frames
GPU = jax.default_backend() != "cpu"
ROUNDS = 15 if GPU else 1


def timed(call: Callable[[], object]) -> float:
    """Median seconds of a call that has been compiled."""
    return float(np.median(seconds_of(lambda: jax.block_until_ready(call()), ROUNDS)))


class Subject:
    """A prepared body with its rule and inverses."""

    def __init__(self, name: str, damping_ratio: float = Material.damping_ratio) -> None:
        host = load_device_body(SUBJECTS / name)
        self.rule = damped_rule(STEP, ITERATIONS, damping_ratio)
        inertia, stiffening = self.rule.inertia, self.rule.stiffening
        matrix = system_matrix(host.elements, inertia, len(host.order), stiffening)
        whole = inverted(matrix)
        self.height = float(np.ptp(host.rest[:, 1]))
        self.body: DeviceBody = jax.device_put(host)
        self.local = jax.device_put(local_inverse(whole))
        self.dense = DenseInverse(jnp.asarray(whole, jnp.float32))
        self._matrix = matrix

    def two_level(self) -> TwoLevelInverse:
        return jax.device_put(two_level_inverse(self._matrix))

    def clip(
        self, name: str
    ) -> tuple[SolverState, SkeletonFrames, np.ndarray, dict[str, np.ndarray]]:
        """Start, frames, origins, and what was computed elsewhere."""
        clip = dict(np.load(SUBJECTS / f"clip_{name}.npz"))
        frames, origins = clip_frames(clip["frames"][:, None])
        start = moving_state(clip["positions"], clip["velocities"])
        solver_state = device_state(self.body, [start], origins[0], STEP)
        return jax.device_put(solver_state), jax.device_put(frames), origins[:, 0], clip


def moving_state(positions: np.ndarray, velocities: np.ndarray) -> State:
    return resting(positions, STEP, velocities)


def require(sound: bool, otherwise: str) -> None:
    if not sound:
        raise SystemExit(f"{otherwise}; nothing was reported.")
