"""What trainers of Dyna and DMPL share: from takes to components, coefficients and predictors.

A representation says what a frame's dynamics are, as one long row: rest-pose offsets of vertices,
or deformations of triangles. The rest is the same: principal components of the rows of takes,
streamed; coefficients of all frames; an autoregression for every person, biased to the person by
the weighted risk (eq. 24).
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from os import cpu_count
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.body.dynamics import ControlKind, Differences, Predictors
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.registrations import Take
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.autoregression import Fitted, Ridge, fit, summed, take_moments
from corporeal.dynamics.control_vector import FPS, bone_controls, control_vectors, driving_names
from corporeal.dynamics.equations import risk_weights
from corporeal.dynamics.free_running import CodedTake, fit_free_running
from corporeal.dynamics.pole_search import PoleMoments, search_poles
from corporeal.errors import InputError
from corporeal.numerics.streamed_pca import PrincipalComponents, principal_components

Risk = Literal["weighted", "single", "pooled"]
"""Whose frames a person's predictor is fitted to: everybody's with a bias to the person's own, the
person's own, or everybody's alike."""
Fitting = Literal["free-run", "one-ahead"]
"""What predictors are fitted for: to run free, with everybody's swings made alike in size, or one
frame ahead of the truth, as the paper does."""
Against = Literal["twin", "model"]
"""What dynamics are the difference to: the take's quasi-static twin, or the static model."""
ProgressCallback = Callable[[str, float], None]

_PIECE = 256
"""Rows of the components' data at a time."""
_MEMORY = 1024**3
"""Bytes of rows that are kept in memory; more go to a temporary file."""


@dataclass(frozen=True)
class DynamicsTraining:
    """Settings of one training."""

    count: int = 100
    """Dynamic coefficients; 300 in the paper."""
    ridge: Ridge = field(default_factory=Ridge)
    """How autoregressions are fitted."""
    controls: ControlKind = "bones"
    """What drives: accelerations of bones, or the paper's control vector of joints."""
    fitting: Fitting = "free-run"
    """What predictors are fitted for."""
    risk: Risk = "weighted"
    """Whose frames count."""
    other_sex: float = 0.2
    """Weight of people of the other sex, of that of the same; only of fits for the free run."""
    free_running: int = 0
    """Rounds of refining poles for the free run by Steiglitz and McBride's method."""
    kernel_width: float = 2.0
    """τ, kg/m²."""
    against: Against = "twin"
    """What dynamics are the difference to."""
    differences: Differences = "causal"
    """How velocities are taken."""
    gravity: bool = False
    """Whether predictors feel the specific force instead of the acceleration."""
    reach: float = 1.5
    """How far beyond the largest input of the training the answer still grows."""
    most_rows: int = 20000
    """Frames that components are found from, spread evenly over all."""
    seed: int = 0
    """Of the components' random sketch."""

    def __post_init__(self) -> None:
        if self.controls == "bones" and (self.gravity or self.differences != "causal"):
            raise InputError(
                "bones drive by their accelerations, looking back; --gravity and --differences "
                "forward are of joints. Add --controls joints."
            )


@runtime_checkable
class Representation(Protocol):
    """What a frame's dynamics are, as a row of numbers."""

    @property
    def size(self) -> int:
        """Numbers of a row."""
        ...

    def rows(self, take: Take, frames: NumpyArray) -> Float32[NumpyArray, "n s"]:
        """The dynamics of some frames of a take, in order."""
        ...


@dataclass(frozen=True)
class Learned:
    """What training finds."""

    components: PrincipalComponents
    """Of the rows."""
    predictors: Predictors
    """From motion to coefficients."""
    takes: tuple[CodedTake, ...]
    """Every training take as control vectors and coefficients."""
    explained: float
    """Share of the rows' variance within the components."""


def learn(
    takes: Sequence[Take],
    skeleton: Skeleton,
    representation: Representation,
    people: Mapping[str, Identity],
    indices: Mapping[str, float],
    settings: DynamicsTraining,
    callback: ProgressCallback | None = None,
    genders: Mapping[str, float] | None = None,
) -> Learned:
    """Components and predictors of some takes; `people` are their bodies at rest, `indices` their
    body mass, kg/m², `genders` 0 female to 1 male, where everybody's is known."""
    tell = callback or (lambda _stage, _value: None)
    require_takes(takes)
    components = dynamic_components(takes, representation, settings)
    share = float(components.explained[-1])
    tell("components", share)
    coded = coded_takes(takes, skeleton, representation, components, people, settings)
    tell("coefficients", float(sum(len(take.deltas) for take in coded)))
    names = driving_names(skeleton, settings.controls)
    predictors = learn_predictors(coded, names, indices, settings, genders)
    tell("predictors", float(len(predictors.inputs)))
    return Learned(components, predictors, tuple(coded), share)


def require_takes(takes: Sequence[Take]) -> None:
    """Refuse takes that nothing can be learned from, by name."""
    if not takes:
        raise InputError("there is no take to learn from; expected movements.")
    for take in takes:
        name = f"take {take.subject} {take.sequence}"
        if abs(take.fps - FPS) > 1e-6:
            raise InputError(
                f"{name} has {take.fps:g} frames a second; predictors count in {FPS:g}. Record it "
                f"at {FPS:g}, or leave it out."
            )
        if take.truth is None:
            raise InputError(
                f"{name} has no poses; expected the pose of every frame. Register it with a body "
                f"model first, or leave it out."
            )


def dynamic_components(
    takes: Sequence[Take], representation: Representation, settings: DynamicsTraining
) -> PrincipalComponents:
    """Principal components of frames spread evenly over all takes; about 0 without a constant."""
    total = sum(take.frame_count for take in takes)
    stride = max(1, -(-total // settings.most_rows))
    chosen = [np.arange(n % stride, take.frame_count, stride) for n, take in enumerate(takes)]
    count = sum(len(frames) for frames in chosen)
    if not 0 < settings.count < count:
        raise InputError(
            f"{settings.count} dynamic coefficients were asked for from {count} frames; expected "
            f"fewer than there are frames. Give --count, or more takes."
        )
    with _room(count, representation.size) as room:
        starts = np.cumsum([0, *(len(frames) for frames in chosen)])

        def fill(n: int) -> None:
            room[starts[n] : starts[n + 1]] = _rows_of(representation, takes[n], chosen[n])

        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            list(pool.map(fill, range(len(takes))))
        largest = float(np.abs(room).max())
        if not largest > 0:
            raise InputError("no take has any dynamics: all differences are 0. Check the twins.")

        def pieces() -> Iterator[NumpyArray]:
            for first in range(0, count, _PIECE):
                yield np.asarray(room[first : first + _PIECE])

        return principal_components(
            pieces, settings.count, settings.seed, centred=settings.ridge.constant, single=True
        )


def coded_takes(
    takes: Sequence[Take],
    skeleton: Skeleton,
    representation: Representation,
    components: PrincipalComponents,
    people: Mapping[str, Identity],
    settings: DynamicsTraining,
) -> list[CodedTake]:
    """Every take as control vectors and true coefficients."""
    mean, directions = components.mean.astype(np.float32), components.directions.astype(np.float32)

    def code(take: Take) -> CodedTake:
        controls = take_controls(take, skeleton, people[take.subject], settings)
        parts = []
        for first in range(0, take.frame_count, _PIECE):
            frames = np.arange(first, min(first + _PIECE, take.frame_count))
            parts.append((_rows_of(representation, take, frames) - mean) @ directions.T)
        deltas = np.concatenate(parts).astype(np.float64)
        return CodedTake(take.subject, take.sequence, controls, deltas)

    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        return list(pool.map(code, takes))


def take_controls(
    take: Take, skeleton: Skeleton, who: Identity, settings: DynamicsTraining
) -> NumpyArray:
    """Control vectors of a take, N × c."""
    names, motion = driving_names(skeleton, settings.controls), motion_of(take, skeleton)
    if settings.controls == "bones":
        return bone_controls(motion, names, np.asarray(who.joints, np.float64))
    return control_vectors(motion, names, settings.differences, settings.gravity)


def learn_predictors(
    takes: Sequence[CodedTake],
    joint_names: tuple[str, ...],
    indices: Mapping[str, float],
    settings: DynamicsTraining,
    genders: Mapping[str, float] | None = None,
    kept: PoleMoments | None = None,
) -> Predictors:
    """An autoregression for every person of these takes; with `genders` from those of the same.

    `kept` spares work where the same takes are fitted again and again.
    """
    subjects = list(dict.fromkeys(take.subject for take in takes))
    largest = np.abs(np.concatenate([take.controls for take in takes])).max(axis=0)
    if not largest.any():
        raise InputError("nobody moves in any take; expected movements to learn from.")
    free = settings.fitting == "free-run"
    growth = amplitude_growth(takes, indices) if free else 0.0
    used = list(takes)
    weights = [_weights(name, subjects, used, settings, genders) for name in subjects]
    if free:
        factors = alike_factors(takes, indices, growth)
        first = search_poles(used, weights, settings.ridge, factors, kept)
        if settings.free_running:
            used = [replace(t, controls=u * t.controls, deltas=d * t.deltas)
                    for t, (u, d) in zip(takes, factors, strict=True)]  # fmt: skip
    else:
        first = _one_ahead(used, weights, settings.ridge)
    models = [
        fit_free_running(used, each, model, settings.ridge, settings.free_running)
        for each, model in zip(weights, first, strict=True)
    ]
    sizes = [np.exp(growth * indices[name]) for name in subjects]
    found = stacked_predictors(
        [replace(m, inputs=s * m.inputs) for s, m in zip(sizes, models, strict=True)],
        joint_names,
        [indices[s] for s in subjects],
        largest * settings.reach,
        settings,
    )
    told = None if genders is None else np.array([genders[name] for name in subjects])
    return replace(found, genders=told, amplitude=growth)


def amplitude_growth(takes: Sequence[CodedTake], indices: Mapping[str, float]) -> float:
    """How the logarithm of swings grows with body mass index, m²/kg: least squares over takes, with
    a size of its own for every motion; 0 to 0.15."""
    away: list[tuple[float, float]] = []
    for motion in dict.fromkeys(take.sequence for take in takes):
        rows = [
            (indices[t.subject], 0.5 * np.log(np.mean(t.deltas**2) + 1e-30))
            for t in takes
            if t.sequence == motion
        ]
        mean = np.mean(rows, axis=0)
        away += [(float(i - mean[0]), float(size - mean[1])) for i, size in rows]
    square = sum(i * i for i, _ in away)
    slope = sum(i * size for i, size in away) / square if square > 1e-9 else 0.0
    return float(np.clip(slope, 0.0, 0.15))


def alike_factors(
    takes: Sequence[CodedTake], indices: Mapping[str, float], growth: float
) -> list[tuple[float, float]]:
    """Of control vectors and coefficients of every take, so that swings are as a body of index 0
    would have them, and takes of small ones count as much as those of large ones in errors relative
    to the root of their size: both sides of the regression are divided by its square root."""
    made = []
    for take in takes:
        alike = float(np.exp(-growth * indices[take.subject]))
        share = max(alike**2 * float(np.mean(np.sum(take.deltas**2, axis=1))), 1e-30) ** -0.25
        made.append((share, share * alike))
    largest = max(
        u * float(np.abs(t.controls).max()) for t, (u, _) in zip(takes, made, strict=True)
    )
    return [(u / largest, d / largest) for u, d in made]


def _weights(
    name: str,
    subjects: Sequence[str],
    takes: Sequence[CodedTake],
    settings: DynamicsTraining,
    genders: Mapping[str, float] | None,
) -> dict[str, float]:
    """Weight of a frame of every subject in the risk of one."""
    peers = list(subjects)
    if genders is not None:
        peers = [other for other in subjects if genders[other] == genders[name]]
    counts = {s: float(sum(len(t.deltas) for t in takes if t.subject == s)) for s in subjects}
    own = person_weights(peers.index(name), [counts[p] for p in peers], settings.risk)
    each = dict(zip(peers, own, strict=True))
    if settings.fitting == "free-run" and settings.risk != "single" and len(peers) > 1:
        usual = min(weight * counts[p] for p, weight in each.items())
        each |= {p: settings.other_sex * usual / counts[p] for p in subjects if p not in each}
    return {p: weight for p, weight in each.items() if weight > 0}


def _one_ahead(
    takes: Sequence[CodedTake], weights: Sequence[Mapping[str, float]], settings: Ridge
) -> list[Fitted]:
    """The least of the paper's risk (eq. 23 to 25)."""
    moments = {
        name: summed(take_moments(t.controls, t.deltas) for t in takes if t.subject == name)
        for name in dict.fromkeys(take.subject for take in takes)
    }
    return [
        fit(summed(moments[p].scaled(w) for p, w in each.items()), settings) for each in weights
    ]


def person_weights(person: int, counts: Sequence[float], risk: Risk) -> list[float]:
    """Weight of a frame of every subject in the risk of one (eq. 23 to 25), mean 1 over frames."""
    if risk == "single":
        weights = [1.0 if i == person else 0.0 for i in range(len(counts))]
    elif risk == "pooled":
        weights = [1.0] * len(counts)
    else:
        w = risk_weights(person, len(counts))
        weights = [float(w[i] ** 2 / counts[i]) for i in range(len(counts))]
    total = sum(weight * count for weight, count in zip(weights, counts, strict=True))
    return [weight * sum(counts) / total for weight in weights]


def stacked_predictors(
    models: Sequence[Fitted],
    joint_names: tuple[str, ...],
    indices: Sequence[float],
    limits: Float[NumpyArray, "c"],
    settings: DynamicsTraining,
) -> Predictors:
    """Models of all people in one."""
    return Predictors(
        joint_names,
        np.stack([model.inputs for model in models]),
        np.stack([model.history for model in models]),
        np.stack([model.constants for model in models]),
        np.asarray(indices, np.float64),
        np.asarray(limits, np.float64),
        FPS,
        settings.differences,
        settings.gravity,
        settings.kernel_width,
        controls=settings.controls,
    )


def motion_of(take: Take, skeleton: Skeleton) -> Motion:
    """The movement of a take's joints."""
    assert take.truth is not None
    every = slice(0, take.frame_count)
    turns = np.asarray(take.truth.joint_rotations[every], np.float64)
    root = np.asarray(take.truth.root_translation[every], np.float64)
    if turns.shape[1] != skeleton.joint_count:
        raise InputError(
            f"take {take.subject} {take.sequence} moves {turns.shape[1]} joints and the body has "
            f"{skeleton.joint_count}; expected as many."
        )
    return Motion(take.sequence, take.fps, turns, root, skeleton)


def _rows_of(
    representation: Representation, take: Take, frames: NumpyArray
) -> Float32[NumpyArray, "n s"]:
    rows = representation.rows(take, frames)
    if not np.isfinite(rows).all():
        raise InputError(
            f"take {take.subject} {take.sequence} holds numbers that are not finite; expected "
            f"whole frames. Leave it out (corporeal dataset validate finds such takes)."
        )
    return rows


class _room:
    """An array of rows, in memory or in a temporary file that goes with it."""

    def __init__(self, count: int, size: int) -> None:
        self._shape = (count, size)
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> NumpyArray:
        if 4 * self._shape[0] * self._shape[1] <= _MEMORY:
            return np.empty(self._shape, np.float32)
        self._folder = tempfile.TemporaryDirectory(prefix="corporeal-rows-")
        path = Path(self._folder.name) / "rows"
        return np.memmap(path, np.float32, "w+", shape=self._shape)

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()
