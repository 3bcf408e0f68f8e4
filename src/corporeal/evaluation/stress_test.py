"""Stress test: treat a character badly, leave it alone, and see whether it returns to rest.

The violence is faster than any body moves: metres, and half turns of joints, in 1/30 s. It comes in
two ways. *Dragged*, as by default, flesh feels all of it and is torn along: a test of the solver,
which must neither fail nor lose the shape. *Cut* (`cuts=True`), as users meet it, a simulation
takes such jumps for cuts and starts flesh anew (`motions.cuts`): a test of that, in which flesh
must never leave its bones; the shakes alone, between cuts, still move it.
"""

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.pose import Pose
from corporeal.errors import CorporealError
from corporeal.evaluation.random_characters import RandomCharacter
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    SimulationState,
)
from corporeal.units import GRAVITY

FPS = 30.0
"""Simulated frames a second."""
VIOLENT_FRAMES = 24
"""Frames of teleports, flips and shakes."""
QUIET_FRAMES = 180
"""At most, until the skin is at rest."""
AT_REST = 1e-3
"""Metres: how near to its rest shape the skin must come."""
_SHAKE_HZ = 5.0


@dataclass(frozen=True)
class Outcome:
    """What became of a character."""

    seed: int
    """Random seed of the character."""
    kind: str
    """`body` or `creature`."""
    damages: tuple[str, ...]
    """Kinds of damage done to it, in order (`evaluation.damage.DAMAGES`)."""
    refused: str = ""
    """Words of a named refusal, empty if it was simulated; the rest is then unknown."""
    vertices: int = 0
    """Number of simulated skin vertices."""
    tetrahedra: int = 0
    """Number of simulated tetrahedra."""
    finite: bool = False
    """All numbers of all frames."""
    furthest: float = 0.0
    """Metres that the skin flew out of the box of its bones during the violence; of the flesh's
    thickness where jumps are cuts."""
    left: float = float("inf")
    """Largest distance from rest at the end, metres: from the shape that was drawn or, if that is
    too heavy to stand, from how it stands by itself."""
    sag: float = 0.0
    """Metres between the shape that was drawn and how it stands; sought only if it matters."""
    quiet_frames: int = 0
    """Frames until it was within `AT_REST`."""

    @property
    def is_refused(self) -> bool:
        """Whether the character was refused by a named error before it was simulated."""
        return bool(self.refused)

    @property
    def is_well(self) -> bool:
        """Whether it was simulated, all numbers are finite and it is back at rest.

        A refusal is not well: it says nothing of how the simulation holds. Count it by itself.
        """
        return not self.is_refused and self.finite and self.left <= AT_REST

    def row(self) -> dict[str, Any]:
        """Plain values, lengths in millimetres, for a report."""
        values = asdict(self)
        values["furthest_mm"] = round(1e3 * values.pop("furthest"), 1)
        values["sag_mm"] = round(1e3 * values.pop("sag"), 3)
        values["left_mm"] = round(1e3 * values.pop("left"), 4) if np.isfinite(self.left) else None
        return values | {"is_refused": self.is_refused, "is_well": self.is_well}


def stress_test(
    character: RandomCharacter, settings: ProjectiveControls | None = None, *, cuts: bool = False
) -> Outcome:
    """Teleports, joints flipped by half a turn and 20 g shakes, then rest.

    With `cuts` these are taken for cuts, as elsewhere; without, they drag flesh along. Warnings of
    arithmetic (overflow, invalid values) count as errors. Anything but a named refusal is raised.
    """
    who = (character.seed, character.kind, character.damages)
    preparations = Preparations(character.template, character.vertex_count)
    simulation = ProjectiveSimulation(
        character.template, settings, preparations=preparations, cuts=cuts
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            state = simulation.start(character.identity)
        except CorporealError as refusal:
            return Outcome(*who, refused=f"{type(refusal).__name__}: {refusal}")
        return _outcome(simulation, state, character, Outcome(*who))


def _outcome(
    simulation: ProjectiveSimulation,
    state: SimulationState,
    character: RandomCharacter,
    begun: Outcome,
) -> Outcome:
    body = simulation.body(character.identity)
    rest = np.asarray(character.identity.rest_vertices)
    random = np.random.default_rng(character.seed)
    finite, furthest = True, 0.0
    for frame in range(VIOLENT_FRAMES):
        state = simulation.step(state, violent_pose(random, frame, len(body.joints)), 1 / FPS)
        skin = simulation.skin(state)
        finite &= bool(np.isfinite(skin).all())
        inner = state.flesh.positions[body.model.vertex_count :]
        furthest = max(furthest, _outside(skin, inner))
    still, left, quiet = Pose(np.zeros((len(body.joints), 3)), np.zeros(3)), np.inf, 0
    while finite and left > AT_REST and quiet < QUIET_FRAMES:
        state, quiet = simulation.step(state, still, 1 / FPS), quiet + 1
        left = float(np.linalg.norm(simulation.skin(state) - rest, axis=1).max())
        finite = bool(np.isfinite(left))
    sag = 0.0
    if finite and left > AT_REST:
        standing = _standing(simulation, character)
        sag = float(np.linalg.norm(standing - rest, axis=1).max())
        left = float(np.linalg.norm(simulation.skin(state) - standing, axis=1).max())
    return Outcome(
        begun.seed,
        begun.kind,
        begun.damages,
        vertices=body.model.vertex_count,
        tetrahedra=len(body.model.tetrahedra),
        finite=finite,
        furthest=furthest,
        left=left,
        sag=sag,
        quiet_frames=quiet,
    )


def _standing(simulation: ProjectiveSimulation, character: RandomCharacter) -> NumpyArray:
    """The skin after standing untouched, metres."""
    state = simulation.start(character.identity)
    for _ in range(QUIET_FRAMES):
        state = simulation.step(state, state.pose, 1 / FPS)
    return simulation.skin(state)


def violent_pose(random: np.random.Generator, frame: int, joint_count: int) -> Pose:
    """Half turns of random joints about random axes, in eight frames of each: jumps of metres, a
    shake of 20 g along y, both."""
    rotations = np.zeros((joint_count, 3))
    flipped = random.uniform(size=joint_count) < 0.5
    axes = random.normal(size=(joint_count, 3))
    rotations[flipped] = np.pi * (axes / np.linalg.norm(axes, axis=1, keepdims=True))[flipped]
    phase, place = frame // 8, np.zeros(3)
    if phase != 1:
        place = random.normal(scale=3.0, size=3)
    if phase != 0:
        pulsation = 2 * np.pi * _SHAKE_HZ
        place[1] += 20 * GRAVITY / pulsation**2 * np.sin(pulsation * frame / FPS)
    return Pose(rotations, place)


def _outside(skin: NumpyArray, inner: NumpyArray) -> float:
    """How far the skin lies outside the box of its inner copy on the bones, metres."""
    low, high = inner.min(axis=0), inner.max(axis=0)
    return float(np.maximum(low - skin, skin - high).max(initial=0.0))
