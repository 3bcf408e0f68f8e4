"""AMASS-like clips whose `dmpls` are filled: a motion and a DMPL in, coefficients out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_dynamics import learned_dmpl
from corporeal.body.dynamics import DynamicBlendShapes
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.errors import FormatError, InputError
from corporeal.formats.amass import MAX_BYTES, read_amass
from corporeal.formats.dmpl import read_dmpl
from corporeal.formats.npz import open_npz, write_npz
from corporeal.pipelines.animate import load_body
from corporeal.runtime.files import require_writable

DMPLS = 8
"""Coefficients that loaders of AMASS read."""


@dataclass(frozen=True, kw_only=True)
class FillDmplsConfig:
    """A clip, a model, a file."""

    clip: Path
    """AMASS-like clip (.npz)."""
    out: Path
    """The same clip with `dmpls` (.npz)."""
    model: Path | None = None
    """DMPL that predicts (.npz); the one that ships if None."""
    onto: Path | None = None
    """DMPL file on whose vectors coefficients are given (.npz); the model's own if None."""
    body: Path | None = None
    """Whose flesh it is; the average adult if None."""
    count: int = DMPLS
    """Coefficients a frame."""


@dataclass(frozen=True)
class FilledClip:
    """What came of it."""

    out: Path
    """The clip."""
    frames: int
    """Number of frames."""
    fps: float
    """Frames a second."""
    kept: float
    """Share of the predicted displacement that the coefficients hold (of its mean square)."""
    notes: tuple[str, ...]
    """What was left out or converted, in words."""


def fill_dmpls(config: FillDmplsConfig) -> FilledClip:
    """Predict the clip's dynamics and write it with `dmpls`, every other array as it was."""
    if config.out.suffix.lower() != ".npz":
        raise InputError(f"cannot write a clip as {config.out}; expected .npz.")
    require_writable(config.out)
    model = learned_dmpl() if config.model is None else read_dmpl(config.model)
    body = load_body(config.body)
    reading = read_amass(config.clip, load_default_body().template.skeleton)
    deformer = DmplSkinning(body.template, model)
    deltas = deformer.coefficients(body.identity, reading.motion)
    vectors = model if config.onto is None else read_dmpl(config.onto)
    dmpls, kept = projected(deltas, model, vectors, config.count)
    arrays: dict[str, NumpyArray] = {}
    with open_npz(config.clip, max_bytes=MAX_BYTES, object_arrays="skip") as file:
        for name, header in file.headers.items():
            kind = {"u": "i", "b": "i"}.get(header.dtype.kind, header.dtype.kind)
            if kind not in "fiUS":
                raise FormatError(f"{config.clip}: array {name!r} is {header.dtype}.")
            if name != "dmpls":
                arrays[name] = file.array(name, kind, header.shape)
    arrays["dmpls"] = dmpls
    write_npz(config.out, arrays)
    motion = reading.motion
    return FilledClip(config.out, motion.frame_count, motion.fps, kept, reading.notes)


def projected(
    deltas: Float64[NumpyArray, "N D"],
    model: DynamicBlendShapes,
    vectors: DynamicBlendShapes,
    count: int,
) -> tuple[Float64[NumpyArray, "N d"], float]:
    """Coefficients of the first vectors of a file that come closest to predicted displacements.

    Least squares over all vertices; also the share of their mean square that is kept.
    """
    if vectors.vertex_count != model.vertex_count:
        raise InputError(
            f"the vectors move {vectors.vertex_count} vertices and the model {model.vertex_count}; "
            f"expected one topology."
        )
    if not 0 < count <= len(vectors.shapes):
        raise InputError(
            f"{count} coefficients were asked for; the file has {len(vectors.shapes)} vectors."
        )
    basis = np.asarray(vectors.shapes[:count], np.float64).reshape(count, -1)
    own = np.asarray(model.shapes, np.float64).reshape(len(model.shapes), -1)
    mean = np.asarray(model.mean, np.float64).ravel()
    gram = basis @ basis.T
    right = deltas @ (own @ basis.T) + mean @ basis.T
    found = np.linalg.solve(gram, right.T).T
    inner = own @ own.T
    whole = np.einsum("nd,de,ne->", deltas, inner, deltas)
    whole += 2 * float(np.sum(deltas @ (own @ mean))) + len(deltas) * float(mean @ mean)
    inside = float(np.sum(found * right))
    return found, inside / whole if whole > 0 else 1.0
