"""Learn character vectors from scans of people, in the order of Allen 2006, section 4.2.3."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.enveloping import EnvelopingModel, KeyedOffsets
from corporeal.body.registrations import Registrations
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.models.enveloping.equations import Variances, variance_of
from corporeal.models.enveloping.training.checkpoints import Checkpoints, Reached
from corporeal.models.enveloping.training.doubts import doubts, require_bent, told_of
from corporeal.models.enveloping.training.given import Given
from corporeal.models.enveloping.training.held import HeldBodies
from corporeal.models.enveloping.training.latents import principal, whitened
from corporeal.models.enveloping.training.linear import LinearSolve, with_linear_parts
from corporeal.models.enveloping.training.people import with_people
from corporeal.models.enveloping.training.problem import (
    Estimate,
    Problem,
    Scans,
    squared_errors,
)
from corporeal.models.enveloping.training.scans import (
    Confidence,
    require_same_side_out,
    scans_of,
)
from corporeal.models.enveloping.training.skeleton import skeleton_squares, with_bones
from corporeal.models.enveloping.training.start import (
    Beginning,
    KeySettings,
    begin,
    bone_latents,
    first_estimate,
    require_near,
)
from corporeal.models.enveloping.training.weights import with_weights

ProgressCallback = Callable[[str, float], None]
"""Is told what was done, and the root mean square distance of vertices after it, metres."""
_LEAST_OFFSETS = (2e-3) ** 2
"""σ_k², m², that eq. 12 may not fall below: the most probable offsets are smaller than likely ones,
so that again and again re-estimated they would vanish (docs/design/enveloping.md)."""
INFLUENCES = 4
"""Influences a vertex has in the end: what engines take."""


@dataclass(frozen=True)
class TrainedEnveloping:
    """A model, and how it came to be."""

    model: EnvelopingModel
    """The new model."""
    report: Mapping[str, Any]
    """Settings, data, errors after every stage (metres), variances; JSON values."""
    notes: tuple[str, ...]
    """What was assumed, in words."""
    single: EnvelopingModel
    """The person with the most poses alone: one character, without latent coordinates."""
    problem: Problem
    """What training did not change."""
    estimate: Estimate
    """All that was looked for, with the poses of all scans."""


@dataclass(frozen=True)
class EnvelopingTrainer:
    """Settings of one training; `fit` gives back a new model and changes nothing."""

    latent_count: int = 9
    """Components of the character vector."""
    offset_count: int = 3
    """How many of them the offsets depend on."""
    keys: KeySettings = field(default_factory=KeySettings)
    """How key angles are chosen."""
    rounds: int = 2
    """Rounds of all variables, for one person and for all."""
    pose_iterations: int = 2
    """Gauss–Newton steps of poses in every round."""
    pose_vertices: int = 1500
    """Vertices, about, that poses and latents are found from."""
    linear: LinearSolve = field(default_factory=LinearSolve)
    """How dress shapes and offsets are solved for."""
    free_poses: bool = True
    """Whether poses follow while offsets are solved for, instead of in turns alone."""

    def __post_init__(self) -> None:
        for name, least in (("latent_count", 1), ("offset_count", 0), ("rounds", 1)):
            if (given := getattr(self, name)) < least:
                raise InputError(f"{name} is {given}; expected at least {least}.")

    def fit(
        self,
        registrations: Registrations,
        template: Template,
        *,
        regressor: Float[NumpyArray, "J V"] | None = None,
        confidence: Confidence | None = None,
        vertex_confidence: Float[NumpyArray, "V"] | None = None,
        callback: ProgressCallback | None = None,
        checkpoint: Path | None = None,
        given: Given | None = None,
    ) -> TrainedEnveloping:
        """Learn from registrations of the template's topology: a few poses of many people, many
        poses of a few, in any mixture. Vertices that are NaN were not seen; `confidence` weighs the
        others, `vertex_confidence` those of all scans alike, such as fingers that no joint moves.
        `regressor` tells joints from the surface (rings of the template's parts if None). Bodies
        and poses that are `given` are held, and offsets and weights alone are looked for.
        """
        scans, names = scans_of(registrations, template, confidence)
        notes = told_of(scans, names)
        if vertex_confidence is not None:
            seen = scans.confidence * np.asarray(vertex_confidence, np.float32)
            scans = replace(scans, confidence=seen)
        kept = None
        if checkpoint is not None:
            kept = Checkpoints(checkpoint, _identifier(self, scans, template, given))
        run = _Run(self, scans, template, callback, given)
        run.begin(regressor, names)
        single, estimate = run.finished(kept)
        problem = run.beginning.problem
        notes += doubts(problem, estimate, scans, run.who)
        known = registrations.subjects
        facts = [known[name].facts if name in known else {} for name in names]
        model = model_of(problem, estimate, template, facts)
        report = {
            "settings": asdict(self),
            "bodies_and_poses": "found" if given is None else "held",
            "data": {
                "registrations": len(scans.people),
                "people": list(names),
                "poses": np.bincount(scans.people).tolist(),
                "seen": float(scans.confidence.mean()),
                "hash": hashlib.sha256(np.ascontiguousarray(scans.vertices).data).hexdigest(),
            },
            "keys": [d.key_count for d in problem.drivers],
            "stages": [{"stage": s, "rms": e} for s, e in run.history],
            "variances": asdict(estimate.variances),
            "training_rms": run.history[-1][1],
        }
        alone = model_of(problem, single, template, [{}])
        return TrainedEnveloping(model, report, notes, alone, problem, estimate)


def _identifier(
    trainer: EnvelopingTrainer, scans: Scans, template: Template, given: Given | None
) -> str:
    """What decides the result, as one word: data, template and settings."""
    digest = hashlib.sha256(repr(asdict(trainer)).encode())
    known = ()
    if given is not None:
        poses = given.poses
        known = (given.own.dress, given.own.joints, poses.rotations, poses.translation)
    for array in (
        scans.vertices, scans.confidence, scans.people, np.asarray(template.mesh.triangles),
        np.asarray(template.mesh.vertices), *known,
    ):  # fmt: skip
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class _Run:
    """One training: data, problem, what was reached."""

    def __init__(
        self,
        settings: EnvelopingTrainer,
        scans: Scans,
        template: Template,
        callback: ProgressCallback | None,
        given: Given | None = None,
    ) -> None:
        self.given = given
        self.settings, self.scans, self.template = settings, scans, template
        self.callback, self.history = callback, []
        self.latent_count = min(settings.latent_count, max(scans.person_count - 1, 0))
        self.rows = 1 + min(settings.offset_count, self.latent_count)
        self.densest = int(np.bincount(scans.people).argmax())
        which = scans.of_person(self.densest)
        self.dense = Scans(
            scans.vertices[which], scans.confidence[which], np.zeros(len(which), np.int64),
            np.flatnonzero(which == scans.standing[self.densest]),
        )  # fmt: skip

    def begin(self, regressor: NumpyArray | None, names: tuple[str, ...]) -> None:
        """First poses, joints and key angles of all scans."""
        s, mesh = self.settings, self.template.mesh
        self.who = [
            f"scan {int(np.sum(self.scans.people[:n] == p))} of {names[p]}"
            for n, p in enumerate(self.scans.people)
        ]
        require_same_side_out(
            self.scans, np.asarray(mesh.triangles), np.asarray(mesh.vertices), self.who
        )
        self.beginning: Beginning = begin(
            self.scans, self.template, regressor, s.keys, s.pose_vertices, self.given
        )
        require_bent(self.beginning.problem, self.template)
        everyone = first_estimate(
            self.beginning, self.template, np.arange(len(self.scans.people)),
            self.beginning.bones.mean(axis=0)[None], np.zeros((len(names), 0)),
        )  # fmt: skip
        everyone = replace(everyone, own=None if self.given is None else self.given.own)
        squares, seen = squared_errors(self.beginning.problem, everyone, self.scans)
        require_near(squares, seen, self.who)
        self.told("first poses", squares, seen)
        self._hold()

    def _hold(self) -> None:
        """The person with the most poses and everybody, where bodies and poses are known."""
        self.held_one = self.held_all = None
        if self.given is None:
            return
        s, own = self.settings, self.given.of_person(
            self.densest, self.scans.of_person(self.densest)
        )  # fmt: skip
        self.held_one, self.held_all = (
            HeldBodies(self.beginning, self.template, scans, given, s.linear, s.latent_count)
            for scans, given in ((self.dense, own), (self.scans, self.given))
        )

    def told(self, stage: str, squares: NumpyArray, seen: NumpyArray) -> None:
        rms = float(np.sqrt(squares.sum() / max(seen.sum(), 1.0)))
        self.history.append((stage, rms))
        if self.callback is not None:
            self.callback(stage, rms)

    def measured(self, stage: str, scans: Scans, estimate: Estimate) -> Estimate:
        """Tell how far it is, and re-estimate variances (eq. 12) once offsets are there."""
        squares, seen = squared_errors(self.beginning.problem, estimate, scans)
        self.told(stage, squares, seen)
        found = _variances(self.beginning.problem, scans, estimate, squares, seen)
        return replace(estimate, variances=found)

    def finished(self, kept: Checkpoints | None) -> tuple[Estimate, Estimate]:
        """One person and everybody, after all stages; goes on where a run before was stopped."""
        reached = Reached(0, None, None, []) if kept is None else kept.latest()
        if reached.done:
            self.history = list(reached.history)
        single, everybody = reached.single, reached.everybody
        if self.held_one is not None and self.held_all is not None:
            single, everybody = self.held_one.kept(single), self.held_all.kept(everybody)
        plan = self._plan() if self.given is None else self._held_plan()
        for number, (stage, solve) in enumerate(plan[reached.done :], start=reached.done):
            if stage.startswith("one"):
                single = self.measured(stage, self.dense, solve(single))
            else:
                before = single if everybody is None else everybody
                scans = self.scans if self.scans.person_count > 1 else self.dense
                everybody = self.measured(stage, scans, solve(before))
            if kept is not None:
                kept.keep(Reached(number + 1, single, everybody, self.history))
        assert single is not None
        assert everybody is not None
        return single, everybody

    def _plan(self) -> list[tuple[str, Callable[[Any], Estimate]]]:
        """Stages by name, where everything is looked for (4.2.3)."""
        many, rounds = self.scans.person_count > 1, self.settings.rounds
        return [
            ("one person: poses, dress shape", self._single_start),
            ("one person: weights, bones", self._single_rig),
            *[("one person: offsets", self._single_round)] * rounds,
            *[("everybody: dress shapes", self._everybody_start)] * many,
            *[("everybody: all", self._everybody_round)] * (rounds * many),
            ("four influences", self._last),
        ]

    def _held_plan(self) -> list[tuple[str, Callable[[Any], Estimate]]]:
        """Stages by name, where bodies and poses are known."""
        many, rounds = self.scans.person_count > 1, self.settings.rounds
        one, all_ = self.held_one, self.held_all
        assert one is not None
        assert all_ is not None
        rows = self.rows if many else 1
        return [
            ("one person: weights", lambda before: one.with_weights(one.begun(before))),
            *[
                ("one person: offsets", lambda e: one.with_weights(one.with_offsets(e, 1)))
            ] * rounds,
            *[("everybody: dress shapes", lambda e: all_.with_offsets(all_.begun(e), 1))] * many,
            *[
                ("everybody: offsets", lambda e: all_.with_offsets(all_.with_weights(e), rows))
            ] * (rounds * many),
            ("four influences", lambda e: (all_ if many else one).with_offsets(
                replace(e, weights=four_influences(e.weights)), rows)),
        ]  # fmt: skip

    def _single_start(self, before: Estimate | None) -> Estimate:
        """The person with the most poses, alone: q and v̄ (4.1)."""
        bones = self.beginning.bones[self.densest][None]
        which = self.scans.of_person(self.densest)
        estimate = first_estimate(self.beginning, self.template, which, bones, np.zeros((1, 0)))
        for _ in range(2):
            estimate = self.dressed(self.dense, estimate, 0)
            estimate = self.posed(self.dense, estimate, latent=False)
        return estimate

    def _single_rig(self, estimate: Estimate) -> Estimate:
        """Then s and b."""
        problem = self.beginning.problem
        for _ in range(2):
            estimate = with_weights(problem, self.dense, estimate)
            estimate = with_bones(problem, self.dense, estimate)
            estimate = self.dressed(self.dense, estimate, 0)
            estimate = self.posed(self.dense, estimate, latent=False)
        return estimate

    def _single_round(self, estimate: Estimate) -> Estimate:
        """Then k."""
        estimate = self.dressed(self.dense, estimate, 1)
        estimate = with_weights(self.beginning.problem, self.dense, estimate)
        return self.posed(self.dense, estimate, latent=False)

    def _everybody_start(self, single: Estimate) -> Estimate:
        """All people: c = W x + c̄, begun with principal components of b (4.2)."""
        problem, scans = self.beginning.problem, self.scans
        x, bones = bone_latents(self.beginning.bones, self.latent_count)
        estimate = replace(
            first_estimate(self.beginning, self.template, np.arange(len(scans.people)), bones, x),
            weights=single.weights, offsets=single.offsets, variances=single.variances,
        )  # fmt: skip
        for _ in range(2):
            estimate = self.dressed(scans, estimate, 1)
            estimate = self.posed(scans, estimate, latent=False)
            estimate = with_bones(problem, scans, estimate)
        for _ in range(2):
            estimate = self.dressed(scans, estimate, 1)
            estimate = whitened(self.posed(scans, estimate, latent=True))
        return principal(self.dressed(scans, estimate, 1))

    def _everybody_round(self, estimate: Estimate) -> Estimate:
        problem, scans = self.beginning.problem, self.scans
        estimate = self.dressed(scans, estimate, self.rows)
        estimate = with_weights(problem, scans, estimate)
        estimate = with_bones(problem, scans, estimate)
        return whitened(self.posed(scans, estimate, latent=True))

    def _last(self, estimate: Estimate) -> Estimate:
        """As engines take it: four influences a vertex, and what follows from that."""
        many = estimate.x.shape[1] > 0
        scans = self.scans if many else self.dense
        estimate = replace(estimate, weights=four_influences(estimate.weights))
        estimate = self.dressed(scans, estimate, self.rows if many else 1)
        return self.posed(scans, estimate, latent=False)

    def dressed(self, scans: Scans, estimate: Estimate, rows: int) -> Estimate:
        free = self.settings.free_poses and rows > 0
        return with_linear_parts(
            self.beginning.problem, scans, estimate, rows, self.settings.linear, free=free
        )

    def posed(self, scans: Scans, estimate: Estimate, *, latent: bool) -> Estimate:
        return with_people(
            self.beginning.problem, scans, estimate,
            iterations=self.settings.pose_iterations, latent=latent,
        )  # fmt: skip


def _variances(
    problem: Problem, scans: Scans, estimate: Estimate, squares: NumpyArray, seen: NumpyArray
) -> Variances:
    """Eq. 12 for all four."""
    bent = problem.umbrella @ (problem.umbrella @ estimate.weights)
    held = seams = 0.0
    for driver, laplacian, rows in zip(
        problem.drivers, problem.driver_laplacians, estimate.offsets, strict=True
    ):
        flat = np.moveaxis(np.asarray(rows, np.float64), 2, 0).reshape(len(driver.region), -1)
        held += float(np.sum(flat * (laplacian @ flat)))
        seams += laplacian.diagonal().sum() / 2 * rows.shape[0] * rows.shape[1]
    now = estimate.variances
    joints = scans.person_count * problem.rig.joint_count
    return Variances(
        max(variance_of(float(squares.sum()), int(seen.sum()), 3), 1e-10),
        max(variance_of(skeleton_squares(problem, scans, estimate), joints, 3), 1e-10),
        max(variance_of(float(np.sum(bent**2)), int(problem.allowed.sum()), 1), 1e-10),
        max(variance_of(held, int(seams), 3), _LEAST_OFFSETS) if held > 0 else now.offsets,
    )


def four_influences(weights: Float64[NumpyArray, "V L"]) -> Float64[NumpyArray, "V L"]:
    """The four largest of every row, scaled to sum to one."""
    order: Int[NumpyArray, "V n"] = np.argsort(weights, axis=1, kind="stable")[:, :-INFLUENCES]
    kept = weights.copy()
    np.put_along_axis(kept, order, 0.0, axis=1)
    return kept / kept.sum(axis=1, keepdims=True)


def model_of(
    problem: Problem,
    estimate: Estimate,
    template: Template,
    facts: list[Mapping[str, Any]],
) -> EnvelopingModel:
    """What training found, as files have it."""
    rig = problem.rig
    corrections = tuple(
        KeyedOffsets(d.joint, d.kind, d.basis.keys, d.region, np.asarray(rows, np.float32))
        for d, rows in zip(problem.drivers, estimate.offsets, strict=True)
    )

    def known(name: str) -> NumpyArray:
        return np.array([float(f.get(name, np.nan)) for f in facts])

    return EnvelopingModel(
        np.asarray(template.mesh.triangles, np.int64), rig.layout.names, rig.layout.parents,
        np.asarray(rig.layout.joints, np.float64), rig.helper_joints, rig.helper_shares,
        SkinWeights.from_dense(estimate.weights, INFLUENCES),
        np.asarray(estimate.dress, np.float32), estimate.bones, corrections,
        problem.drivers[0].basis.softness if problem.drivers else 0.2,
        estimate.x, known("stature"), known("mass"),
    )  # fmt: skip
