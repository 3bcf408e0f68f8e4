"""Linear predictors and networks, joined: z = s ⊙ linear + (1 − s) ⊙ networks.

Linear predictors (those of DMPL, driven by the same movement) carry over to new people and motions
by what they cannot learn; networks know what poses and large swings change. Their errors are partly
independent, so a mixture has less than either (stacked regressions: Breiman 1996). The share s of
every coefficient is a least-squares fit on people and motions that neither half has seen, group
after group of them left out; then both halves are trained on everything.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.body.neural_flesh import Experts
from corporeal.dynamics.autoregression import Fitted, free_run
from corporeal.dynamics.free_running import CodedTake
from corporeal.dynamics.mixture import people_shares
from corporeal.dynamics.neural.ensemble import joined_members
from corporeal.dynamics.neural.experts import TISSUE, expert_parameters
from corporeal.dynamics.neural.training.load_predictors import Loads, LoadTraining, with_loads
from corporeal.dynamics.neural.training.recurrent import (
    RecurrentTraining,
    TrainedNetwork,
    predict_samples,
    train_members,
)
from corporeal.dynamics.neural.training.samples import Sample
from corporeal.dynamics.training import DynamicsTraining, learn_predictors

Say = Callable[[str], None]
"""Is told what was done, in words."""
_TOWARDS = 0.5
"""The share that little evidence leaves."""


@dataclass(frozen=True, kw_only=True)
class HybridTraining:
    """How both halves are trained."""

    network: RecurrentTraining = field(default_factory=RecurrentTraining)
    """Of every network."""
    linear: DynamicsTraining = field(default_factory=DynamicsTraining)
    """Of the linear predictors."""
    loads: LoadTraining = field(default_factory=LoadTraining)
    """Of those from what pushes flesh, where the blend shapes' loads are known."""
    members: int = 4
    """Networks, of which the mean is taken."""
    folds: int = 3
    """Groups of people and motions that are left out in turn to find the share."""
    shrinkage: float = 0.1
    """How strongly shares are drawn to a half, in parts of a coefficient's own square."""


@dataclass(frozen=True)
class Build:
    """What mixtures over people go by."""

    indices: Mapping[str, float]
    """Body mass by name, kg/m²."""
    genders: Mapping[str, float] | None
    """0 female to 1 male; None unless everybody's is known."""
    loads: Loads | None = None
    """Of the blend shapes that coefficients are of; None for predictors from all bones alone."""


@dataclass(frozen=True)
class TrainedHybrid:
    """Both halves in one network."""

    network: TrainedNetwork
    """All arrays, experts' too."""
    experts: Experts
    """The people of the linear predictors, in their order."""
    subjects: tuple[str, ...]
    """Their names, one after the other for every block of predictors."""
    share: Float64[NumpyArray, "D"]
    """The linear predictors' part in every coefficient."""
    report: dict[str, Any]
    """What was left out and how well it was predicted; JSON values."""


def train_hybrid(
    samples: Sequence[Sample],
    build: Build,
    joint_names: tuple[str, ...],
    settings: HybridTraining,
    say: Say | None = None,
) -> TrainedHybrid:
    """Find the share on what is left out in turn, then learn from all samples."""
    tell = say or (lambda _words: None)
    share, report = found_share(samples, build, joint_names, settings, tell)
    everything = np.ones((settings.members, len(samples)), bool)
    members = train_members(
        samples, everything, ~everything, settings.network,
        lambda step, here, _: tell(f"  {step}: {here['dynamic']:.3f} not explained in training"),
    )  # fmt: skip
    linear = linear_predictors(samples, build, joint_names, settings)
    return joined(members, linear, samples, share, report)


def linear_predictors(
    samples: Sequence[Sample],
    build: Build,
    joint_names: tuple[str, ...],
    settings: HybridTraining,
) -> Predictors:
    """One or several blocks of one for every person of the samples, driven by their movement."""
    found = learn_predictors(
        coded_samples(samples), joint_names, build.indices, settings.linear, build.genders
    )
    if build.loads is None or not settings.loads.part:
        return found
    return with_loads(found, samples, build.loads, settings.loads)


def blocks_of(linear: Predictors, samples: Sequence[Sample]) -> tuple[str, ...]:
    """Whose predictor each is."""
    subjects = tuple(dict.fromkeys(sample.subject for sample in samples))
    return subjects * (len(linear.body_mass_indices) // len(subjects))


def coded_samples(samples: Sequence[Sample]) -> list[CodedTake]:
    """Samples as linear predictors learn them."""
    return [
        CodedTake(
            s.subject,
            s.sequence,
            s.movement.astype(np.float64),
            s.dynamic.astype(np.float64),
        )
        for s in samples
    ]


def joined(
    members: Sequence[TrainedNetwork],
    linear: Predictors,
    samples: Sequence[Sample],
    share: Float64[NumpyArray, "D"],
    report: dict[str, Any],
) -> TrainedHybrid:
    """Both halves as one network."""
    first = members[0]
    subjects = blocks_of(linear, samples)
    places = list(TISSUE)
    own = {s.subject: (s.person - first.person_mean) / first.person_scale for s in samples}
    tissue = np.stack([np.clip(own[name][places], -3, 3) for name in subjects])
    parameters = joined_members([member.parameters for member in members], 1.0 - share)
    parameters |= expert_parameters(linear, tissue, first.person_scale[places], share)
    experts = Experts(
        np.asarray(linear.body_mass_indices, np.float64),
        None if linear.genders is None else np.asarray(linear.genders, np.float64),
        linear.kernel_width,
        linear.amplitude,
    )
    whole = TrainedNetwork(parameters, first.person_mean, first.person_scale, first.curve)
    return TrainedHybrid(whole, experts, subjects, share, report)


def told(trained: TrainedHybrid, samples: Sequence[Sample], build: Build) -> NumpyArray:
    """What the joined network is told of everybody: known people are their own experts."""
    rows = []
    for sample in samples:
        numbers = (sample.person - trained.network.person_mean) / trained.network.person_scale
        shares = _shares(trained.experts, trained.subjects, sample.subject, build)
        rows.append(np.concatenate([np.clip(numbers, -3, 3), shares]))
    return np.stack(rows).astype(np.float32)


def predict_hybrid(
    trained: TrainedHybrid, samples: Sequence[Sample], build: Build
) -> list[NumpyArray]:
    """Free-running coefficients of takes, from rest on."""
    return predict_samples(trained.network, samples, told(trained, samples, build))


def found_share(
    samples: Sequence[Sample],
    build: Build,
    joint_names: tuple[str, ...],
    settings: HybridTraining,
    tell: Say,
) -> tuple[Float64[NumpyArray, "D"], dict[str, Any]]:
    """s of every coefficient, and errors of both halves and of the mixture on what was left out."""
    count = samples[0].dynamic.shape[1]
    if settings.folds < 2:
        return np.full(count, _TOWARDS), {}
    judged = left_out(samples, build, settings.folds)
    if len(judged) == 0:
        return np.full(count, _TOWARDS), {}
    members = train_members(samples, ~judged, np.zeros_like(judged), settings.network)
    halves: list[tuple[NumpyArray, NumpyArray, NumpyArray]] = []
    for own, member in zip(judged, members, strict=True):
        known = [s for s, out in zip(samples, own, strict=True) if not out]
        new = [s for s, out in zip(samples, own, strict=True) if out]
        linear = linear_predictors(known, build, joint_names, settings)
        runs = run_linear(linear, known, new, build)
        for sample, one, two in zip(new, runs, predict_samples(member, new), strict=True):
            true = sample.dynamic.astype(np.float64)
            worth = max(float(np.mean(np.sum(true**2, axis=1))), 1e-12) ** -0.25
            halves.append((worth * true, worth * one, worth * two.astype(np.float64)))
    share = least_squares(halves, settings.shrinkage)
    report = _judged_report(halves, share)
    tell(f"  of what was left out not explained: {report}")
    return share, {"left_out": report, "share": [round(float(s), 3) for s in share]}


def left_out(samples: Sequence[Sample], build: Build, folds: int) -> Bool[NumpyArray, "k n"]:
    """Of every group the takes of its people and those of its motions. Groups that leave nothing
    out, or nothing to learn from, are no groups."""

    def order(name: str) -> tuple[float, float]:
        return (0.0 if build.genders is None else build.genders[name], build.indices[name])

    people = sorted({sample.subject for sample in samples}, key=order)
    motions = sorted({sample.sequence for sample in samples})
    who = {name: n % folds for n, name in enumerate(people)} if len(people) > folds else {}
    what = {name: n % folds for n, name in enumerate(motions)}
    rows = np.array(
        [[who.get(s.subject) == k or what[s.sequence] == k for s in samples] for k in range(folds)]
    )
    return rows[rows.any(axis=1) & ~rows.all(axis=1)]


def run_linear(
    linear: Predictors, known: Sequence[Sample], new: Sequence[Sample], build: Build
) -> list[NumpyArray]:
    """Free runs of everybody's mixture of predictors, outputs mixed as in the network."""
    subjects = blocks_of(linear, known)
    experts = Experts(
        np.asarray(linear.body_mass_indices, np.float64),
        None if linear.genders is None else np.asarray(linear.genders, np.float64),
        linear.kernel_width,
        linear.amplitude,
    )
    found = []
    for take in coded_samples(new):
        shares = _shares(experts, subjects, take.subject, build)
        total = np.zeros_like(take.deltas)
        for j in np.flatnonzero(shares > 1e-6):
            one = Fitted(linear.inputs[j], linear.history[j], linear.constants[j])
            controls = np.clip(take.controls, -linear.limits, linear.limits)
            total += shares[j] * free_run(one, controls)
        found.append(total)
    return found


def _shares(experts: Experts, subjects: Sequence[str], name: str, build: Build) -> NumpyArray:
    """Shares of all experts in somebody; known people are their own."""
    if name in subjects:
        own = np.array([subject == name for subject in subjects], np.float64)
        return own / own.sum()
    gender = None if build.genders is None else build.genders[name]
    alpha, sizes = people_shares(
        experts.body_mass_indices, experts.genders, experts.kernel_width, experts.amplitude,
        build.indices[name], gender,
    )  # fmt: skip
    return alpha * sizes


def least_squares(halves: Sequence[tuple[NumpyArray, ...]], shrinkage: float) -> NumpyArray:
    """s within 0 to 1 with the least Σ ‖δ − s l − (1 − s) n‖² + shrinkage ‖δ‖² (s − ½)²."""
    true, linear, networks = (np.concatenate(part) for part in zip(*halves, strict=True))
    apart = linear - networks
    strength = shrinkage * np.sum(true**2, axis=0)
    top = np.sum((true - networks) * apart, axis=0) + _TOWARDS * strength
    return np.clip(top / (np.sum(apart**2, axis=0) + strength + 1e-30), 0.0, 1.0)


def _judged_report(halves: Sequence[tuple[NumpyArray, ...]], share: NumpyArray) -> dict[str, float]:
    """Mean over takes of the root mean square that is left, over that of the static model."""
    parts = {"linear": 1.0, "networks": 0.0, "mean": _TOWARDS, "mixture": share}

    def left(s: Any) -> float:
        rows = [
            np.sqrt(np.sum((t - s * one - (1 - s) * two) ** 2, axis=1)).mean()
            / max(np.sqrt(np.sum(t**2, axis=1)).mean(), 1e-12)
            for t, one, two in halves
        ]
        return round(float(np.mean(rows)), 4)

    return {name: left(s) for name, s in parts.items()}
