"""A take and a body in, the body with the take's dynamics out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.dynamics.transfer import transferred
from corporeal.errors import InputError
from corporeal.formats.native import read_animation, read_body
from corporeal.pipelines.offsets import offsets_by_cause
from corporeal.pipelines.results import require_animation_output, write_animation_result
from corporeal.runtime.manifest import finish_run, manifest_path, start_run


@dataclass(frozen=True, kw_only=True)
class TransferDynamicsConfig:
    """Whose dynamics, to whom, and where to put the result."""

    take: Path
    """Animation (.npz) whose dynamics are taken."""
    to: Path
    """Body (.npz) of the same topology that gets them."""
    out: Path
    """File to write; its suffix decides what."""
    static: Path | None = None
    """The same take without dynamics (--static), for takes that do not hold theirs."""
    exaggeration: float = 1.0
    """How many times as far flesh swings."""


@dataclass(frozen=True)
class TransferredTake:
    """What came of it."""

    out: Path
    """The file."""
    manifest: Path
    """Its manifest."""
    frames: int
    """Number of frames."""
    largest_mm: float
    """Largest dynamic displacement, millimetres."""


def transfer_dynamics(config: TransferDynamicsConfig) -> TransferredTake:
    """Put a take's dynamics on another body and write it, with its manifest."""
    require_animation_output(config.out, None)
    files = [config.take, config.to] + ([] if config.static is None else [config.static])
    run = start_run("transfer-dynamics", config, files)
    source = read_animation(config.take)
    static = None if config.static is None else read_animation(config.static)
    offsets = recorded_dynamics(source, static, config.take)
    body = read_body(config.to)
    made = transferred(source, offsets, body.template, body.identity, config.exaggeration)
    largest = 1e3 * float(np.linalg.norm(np.asarray(made.dynamic_offsets), axis=-1).max())
    report: dict[str, Any] = {"largest_mm": round(largest, 2)}
    report |= write_animation_result(config.out, made, body.measurements)
    finish_run(run, [config.out], report)
    frames = made.motion.frame_count
    return TransferredTake(config.out, manifest_path(config.out), frames, round(largest, 2))


def recorded_dynamics(
    take: Animation, static: Animation | None, path: Path
) -> Float[NumpyArray, "N V 3"]:
    """Rest-pose dynamics of a take: those it holds, or what it differs from its static twin by."""
    if static is not None:
        return offsets_by_cause(take, static).dynamic
    if take.dynamic_offsets is None:
        raise InputError(
            f"{path} was made with {take.deformer!r} and does not hold its dynamics apart. Make "
            f"the same take with --static, and pass it as --static."
        )
    return np.asarray(take.dynamic_offsets)
