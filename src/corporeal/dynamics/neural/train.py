"""Training of neural soft tissue on takes of many people: `NeuralTrainer(...).fit(takes)`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.body.registrations import Registrations, Take
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.dynamics.control_vector import driving_names
from corporeal.dynamics.known_takes import known_genders, known_people
from corporeal.dynamics.neural.training.hybrid import (
    Build,
    HybridTraining,
    TrainedHybrid,
    predict_hybrid,
    train_hybrid,
)
from corporeal.dynamics.neural.training.load_predictors import Loads
from corporeal.dynamics.neural.training.recurrent import RecurrentTraining
from corporeal.dynamics.neural.training.samples import Sample, offset_blocks, take_features
from corporeal.dynamics.skin_loads import skin_loads
from corporeal.dynamics.training import DynamicsTraining
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning

Say = Callable[[str], None]
"""Is told what was done, in words."""


@dataclass(frozen=True)
class Basis:
    """Orthonormal directions of offsets; no coefficients are no offset."""

    rows: NumpyArray
    """c × 3V, metres for a coefficient of one."""
    explained: float
    """Share of the mean square that is kept."""

    def coefficients(self, offsets: NumpyArray) -> NumpyArray:
        """Of offsets N × V × 3."""
        return offsets.reshape(len(offsets), -1) @ self.rows.T


@dataclass(frozen=True, kw_only=True)
class NeuralTrainer:
    """Settings of a training."""

    dynamic_count: int = 48
    """Coefficients of the movement's offsets."""
    static_count: int = 24
    """Coefficients of the pose's offsets beyond the base's correctives; 0 for none."""
    basis_frames: int = 3000
    """Frames that the two bases are found from, drawn from all takes."""
    network: RecurrentTraining = field(default_factory=RecurrentTraining)
    """Of the networks themselves."""
    linear: DynamicsTraining = field(default_factory=DynamicsTraining)
    """Of the linear predictors that they are joined with."""
    members: int = HybridTraining.members
    """Networks, of which the mean is taken."""
    folds: int = HybridTraining.folds
    """Groups of people and motions that are left out in turn to weigh both halves."""

    def fit(
        self,
        takes: Registrations,
        base: CorrectedSkinning,
        held_out: Callable[[Take], bool],
        say: Say | None = None,
    ) -> tuple[NeuralFlesh, dict[str, Any]]:
        """A model of these takes, and a report with its error on those `held_out`.

        Held-out takes take part in nothing: neither in the bases nor in the weights.
        """
        tell = say or (lambda words: None)
        learned = tuple(take for take in takes.takes if not held_out(take))
        if not learned:
            raise InputError("all takes are held out; learning needs at least one.")
        bases = self._bases(learned, takes, base)
        tell(
            f"bases explain {100 * bases[0].explained:.1f} % of movement and "
            f"{100 * bases[1].explained:.1f} % of what the pose does beyond its correctives"
        )
        samples = [_sample(take, takes, base, bases) for take in learned]
        others = [_sample(t, takes, base, bases) for t in takes.takes if held_out(t)]
        skeleton, triangles = base.template.skeleton, np.asarray(base.template.mesh.triangles)
        people = known_people(takes)
        shapes = _spatial(bases[0].rows, base)
        bodies = {take.subject: people[take.subject] for take in learned}
        build = Build(
            {name: body_mass_index(who, triangles) for name, who in people.items()},
            known_genders(takes),
            Loads(skin_loads(base.template, shapes, bodies)),
        )
        settings = HybridTraining(
            network=self.network, members=self.members, folds=self.folds,
            linear=replace(self.linear, count=self.dynamic_count),
        )  # fmt: skip
        names = driving_names(skeleton, "bones")
        trained = train_hybrid(samples, build, names, settings, tell)
        report = _report(samples, others, bases, trained)
        if others:
            report["left"] = _left(others, predict_hybrid(trained, others, build))
        return _model(trained, bases, base), report

    def _bases(
        self, takes: Sequence[Take], held: Registrations, base: CorrectedSkinning
    ) -> tuple[Basis, Basis]:
        total = sum(take.frame_count for take in takes)
        every = max(1, total // self.basis_frames)
        moved, posed = [], []
        for take in takes:
            for _, s, q in offset_blocks(take, held, base):
                moved.append(s[::every].copy())
                posed.append(q[::every].copy())
        dynamic = find_basis(np.concatenate(moved), self.dynamic_count)
        static = find_basis(np.concatenate(posed), self.static_count)
        return dynamic, static


def find_basis(offsets: NumpyArray, count: int) -> Basis:
    """Principal directions of offsets N × V × 3 about 0, by the frames' Gram matrix."""
    flat = offsets.reshape(len(offsets), -1)
    gram = np.asarray(flat @ flat.T, np.float64)
    values, vectors = np.linalg.eigh(gram)
    order = np.argsort(values)[::-1][:count]
    kept = values[order]
    whole = float(np.trace(gram))
    rows = (vectors[:, order] / np.sqrt(np.maximum(kept, 1e-30))).T.astype(np.float32) @ flat
    rows[kept <= 1e-12 * max(whole, 1e-30)] = 0.0
    return Basis(rows, float(kept.sum()) / max(whole, 1e-30))


def _sample(
    take: Take, held: Registrations, base: CorrectedSkinning, bases: tuple[Basis, Basis]
) -> Sample:
    movement, pose, person = take_features(take, held, base)
    parts = [
        (bases[0].coefficients(s), bases[1].coefficients(q))
        for _, s, q in offset_blocks(take, held, base)
    ]
    dynamic, static = (np.concatenate(part).astype(np.float32) for part in zip(*parts, strict=True))
    return Sample(take.subject, take.sequence, take.fps, movement, pose, person, dynamic, static)


def _model(
    trained: TrainedHybrid, bases: tuple[Basis, Basis], base: CorrectedSkinning
) -> NeuralFlesh:
    network = trained.network
    return NeuralFlesh(
        network.parameters,
        _spatial(bases[0].rows, base),
        _spatial(bases[1].rows, base),
        network.person_mean,
        network.person_scale,
        trained.experts,
    )


def _spatial(rows: NumpyArray, base: CorrectedSkinning) -> NumpyArray:
    """c × V × 3, metres."""
    return rows.reshape(-1, base.template.mesh.vertex_count, 3).astype(np.float32)


def _left(samples: Sequence[Sample], found: Sequence[NumpyArray]) -> float:
    """Share of the mean square of takes that is not explained."""
    off = sum(
        float(np.sum((s.dynamic - rows) ** 2)) for s, rows in zip(samples, found, strict=True)
    )
    return off / max(sum(float(np.sum(s.dynamic**2)) for s in samples), 1e-30)


def _report(
    samples: Sequence[Sample],
    others: Sequence[Sample],
    bases: tuple[Basis, Basis],
    trained: TrainedHybrid,
) -> dict[str, Any]:
    return {
        "takes": len(samples),
        "frames": sum(len(sample.pose) for sample in samples),
        "people": sorted({sample.subject for sample in samples}),
        "held_out": sorted({f"{s.subject} {s.sequence}" for s in others}),
        "explained": {"dynamic": bases[0].explained, "static": bases[1].explained},
        "curve": [list(row) for row in trained.network.curve],
        **trained.report,
    }
