"""Captures in, neural soft tissue out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.registrations import Registrations, Take
from corporeal.errors import InputError
from corporeal.formats.neural import write_neural
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.train_dynamics import (
    Sex,
    TrainedDynamicsFile,
    chosen_takes,
    default_template,
)
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run


@dataclass(frozen=True, kw_only=True)
class TrainNeuralConfig:
    """Movements in, a network out."""

    takes: Path
    """Movements with poses and twins: a store of `corporeal capture --protocol dyna`."""
    out: Path
    """Model to write (.npz)."""
    subject: str = ""
    """Learn one person alone, as Casas 2018 do; everybody if left out."""
    leave_out: str = ""
    """Motion that is kept to judge by; a tenth of the takes, drawn, if left out."""
    count: int = 48
    """Dynamic coefficients."""
    static_count: int = 24
    """Coefficients of what poses do beyond SMPL's correctives; 0 for none."""
    steps: int = 4000
    """Updates of the weights."""
    width: int = 48
    """Numbers between layers of a network."""
    members: int = 4
    """Networks, of which the mean is taken, joined with linear predictors."""
    sex: Sex = "both"
    """Whose takes."""
    test_too: bool = False
    """Also learn from takes that are kept for tests."""
    seed: int = 0
    """Of weights, batches and what is held out."""


def train_neural(
    config: TrainNeuralConfig, say: Callable[[str], None] | None = None
) -> TrainedDynamicsFile:
    """Train a network and write it, with its manifest."""
    if config.out.suffix.lower() != ".npz":
        raise InputError(f"cannot write a model as {config.out}; expected .npz.")
    require_writable(config.out)
    from corporeal.dynamics.neural.train import NeuralTrainer

    run = start_run("train neural", config, ())
    notes: list[str] = []
    takes = chosen_takes(read_dataset(config.takes), str(config.takes), config, notes)
    if config.subject:
        takes = _of(takes, config)
    held_out = _held_out(takes, config)
    template = default_template(takes, str(config.takes))
    plain = NeuralTrainer()
    trainer = replace(
        plain,
        dynamic_count=config.count,
        static_count=config.static_count,
        members=config.members,
        network=replace(plain.network, steps=config.steps, width=config.width, seed=config.seed),
    )
    model, report = trainer.fit(takes, SmplSkinning(template), held_out, say)
    write_neural(config.out, model)
    finish_run(run, [config.out], report)
    return TrainedDynamicsFile(config.out, manifest_path(config.out), tuple(notes), report)


def _of(takes: Registrations, config: TrainNeuralConfig) -> Registrations:
    kept = takes.where(lambda take: take.subject == config.subject)
    if not kept.takes:
        known = ", ".join(sorted({take.subject for take in takes.takes})[:12])
        raise InputError(f"{config.takes} has nobody called {config.subject!r}; expected {known}.")
    return kept


def _held_out(takes: Registrations, config: TrainNeuralConfig) -> Callable[[Take], bool]:
    """Which takes the result is judged by."""
    if config.leave_out:
        if not any(take.sequence == config.leave_out for take in takes.takes):
            known = ", ".join(sorted({take.sequence for take in takes.takes}))
            raise InputError(
                f"--leave-out {config.leave_out}: no take is called so; expected one of {known}."
            )
        return lambda take: take.sequence == config.leave_out
    names = [(take.subject, take.sequence) for take in takes.takes]
    count = max(1, len(names) // 10)
    if len(names) < 2:
        raise InputError("one take alone came; expected two at least: one is held out.")
    order = np.random.default_rng(config.seed).permutation(len(names))
    chosen: set[Any] = {names[k] for k in order[:count]}
    return lambda take: (take.subject, take.sequence) in chosen
