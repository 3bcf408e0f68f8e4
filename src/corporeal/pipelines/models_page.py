"""The report of `evaluate models`: one HTML file with everything in it, to be opened offline.

Its figures are those of the SMPL paper (Loper et al. 2015) on the given data: cumulative variance
(9), model generalisation (11), pose generalisation (12), time against coefficients (14).
"""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.motion import Motion
from corporeal.evaluation.generalisation import Generalisation
from corporeal.models.smpl.model import SmplModel
from corporeal.runtime.files import write_bytes
from corporeal.scene.charts import Line, line_chart

_PICTURE = (900, 560)
"""Width and height, pixels."""
_WORST_SHARE = 99.0
"""Percentile of the errors that gets the brightest colour."""
_PICTURES_A_ROW = 4

_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:1180px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.35em .9em;text-align:right;"
    "border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}"
    ".best{font-weight:bold}.note{color:#8a3b00}figure{display:inline-block;margin:0 1em 1em 0}"
    "figcaption{max-width:560px;color:#555;font-size:13px}img{max-width:100%}"
)


@dataclass(frozen=True, eq=False)
class ModelScores:
    """One model, and what was found about it."""

    name: str
    """As it is shown."""
    model: LinearBodyModel
    """The model itself."""
    found: Generalisation
    """Its errors on the test registrations."""
    explained: Float64[NumpyArray, "S"] | None
    """Cumulative share of the variance of the people it was trained on."""
    milliseconds: tuple[float, ...]
    """Time of one person in one pose, by the numbers of coefficients of `found`."""


def write_page(
    path: Path,
    scores: Sequence[ModelScores],
    people: Mapping[str, NumpyArray],
    notes: Sequence[str],
) -> None:
    """Write the report."""
    count = sum(map(len, people.values()))
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Body models compared</title>",
        f"<style>{_STYLE}</style><h1>Body models compared</h1>",
        f"<p>{len(people)} test people, {count} registrations. Errors are mean distances of "
        "vertices. <b>Model generalisation</b>: pose and shape are fitted to every registration by "
        "itself. <b>Pose generalisation</b>: each person's shape is fitted to its first "
        "registration, then only the pose to the others. LBS and DQS are the first model without "
        "its pose blend shapes. People of one shape space flatter the errors of shape.</p>",
        *(f"<p class='note'>{escape(note)}</p>" for note in notes),
        _table(scores),
        "<h2>Figures</h2>",
        *_figures(scores),
        "<h2>Where the errors are</h2>",
        _error_picture(scores),
    ]
    write_bytes(path, "\n".join(parts).encode())


def _table(scores: Sequence[ModelScores]) -> str:
    """A row a model, all coefficients used."""
    rows = []
    model = [1e3 * score.found.mean_model[-1] for score in scores]
    pose = [1e3 * score.found.mean_pose[-1] for score in scores]
    for score, shape_error, pose_error in zip(scores, model, pose, strict=True):
        cells = [
            f"<td>{escape(score.name)}</td>",
            f"<td>{score.model.blending}</td><td>{score.found.shape_counts[-1]}</td>",
            _cell(shape_error, min(model)),
            _cell(pose_error, min(pose)),
            f"<td>{100 * pose_error / pose[0]:.0f} %</td>",
            f"<td>{1e3 * np.percentile(score.found.by_vertex, 95):.2f}</td>",
            f"<td>{score.milliseconds[-1]:.2f}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = (
        "model", "blending", "coefficients", "model generalisation, mm", "pose generalisation, mm",
        "of LBS", "95 % of vertices below, mm", "time, ms",
    )  # fmt: skip
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _cell(value: float, best: float) -> str:
    kind = " class='best'" if value <= best else ""
    return f"<td{kind}>{value:.2f}</td>"


def _figures(scores: Sequence[ModelScores]) -> list[str]:
    across = "shape coefficients"
    counts = [list(map(float, score.found.shape_counts)) for score in scores]
    pairs = list(zip(scores, counts, strict=True))
    figures = [
        (
            "Model generalisation (figure 11)",
            "mean error, mm",
            {s.name: Line(c, (1e3 * s.found.mean_model).tolist()) for s, c in pairs},
            "Pose and shape are fitted to every test registration.",
        ),
        (
            "Pose generalisation (figure 12)",
            "mean error, mm",
            {s.name: Line(c, (1e3 * s.found.mean_pose).tolist()) for s, c in pairs},
            "A shape that was fitted to one registration, in other poses of the same person.",
        ),
        (
            "Time (figure 14)",
            "milliseconds",
            {s.name: Line(c, list(s.milliseconds)) for s, c in pairs},
            "One person is made from coefficients and posed, on this machine.",
        ),
    ]
    explained = {
        s.name: Line([float(n + 1) for n in range(len(s.explained))], (100 * s.explained).tolist())
        for s in scores
        if s.explained is not None
    }
    if explained:
        title = "Cumulative variance (figure 9)"
        caption = "Share of the variance of the training people's vertices in the zero pose."
        figures.insert(0, (title, "per cent", explained, caption))
    return [
        f"<figure>{line_chart(title, across, up, lines)}<figcaption>{caption}</figcaption></figure>"
        for title, up, lines, caption in figures
    ]


def _error_picture(scores: Sequence[ModelScores]) -> str:
    """Every model's mean person, coloured by pose generalisation error."""
    from PIL import Image

    from corporeal.scene.colour_map import ColourScale
    from corporeal.scene.film import film_frames
    from corporeal.scene.performances import perform

    high = max(1e3 * np.percentile(score.found.by_vertex, _WORST_SHARE) for score in scores)
    scale = ColourScale(0.0, float(high), "pose generalisation error", "mm")
    pictures = []
    for first in range(0, len(scores), _PICTURES_A_ROW):
        some = scores[first : first + _PICTURES_A_ROW]
        animations = [_standing(score.model) for score in some]
        values = [1e3 * score.found.by_vertex[None].astype(np.float32) for score in some]
        labels = [score.name for score in some]
        shown = perform(animations, None, labels, "light", values, scale)
        pixels = next(film_frames(shown, 1.0, *_PICTURE))
        packed = io.BytesIO()
        Image.fromarray(pixels).save(packed, format="PNG")
        data = base64.b64encode(packed.getvalue()).decode()
        pictures.append(f"<img alt='errors by vertex' src='data:image/png;base64,{data}'>")
    return "\n".join(pictures)


def _standing(model: LinearBodyModel) -> Animation:
    """One frame of the mean person in the zero pose."""
    posed = SmplModel(model)
    made = posed.prepare()
    identity = Identity(
        np.asarray(made.rest_vertices, np.float32), np.asarray(made.joints, np.float32), {}
    )
    still = np.zeros((1, model.joint_count, 3), np.float32)
    motion = Motion("rest", 1.0, still, np.zeros((1, 3), np.float32), posed.template.skeleton)
    return posed.animate(identity, motion)
