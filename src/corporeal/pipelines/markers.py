"""Optical markers in, one body and a motion out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal.anthropometry.measure import measure
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.formats.c3d import MarkerClip, read_c3d
from corporeal.formats.native import write_body, write_motion
from corporeal.formats.registry import format_to_write
from corporeal.registration.marker_fit import MarkerFit, fit_markers
from corporeal.registration.marker_sets import marker_vertices
from corporeal.registration.person_model import person_model
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run


@dataclass(frozen=True, kw_only=True)
class MarkersConfig:
    """One clip in, a motion and a body out."""

    clip: Path
    """C3D file to read."""
    out: Path
    """Motion file to write."""
    body: Path | None = None
    """Body file to write beside; none by default."""
    markers: Path | None = None
    """JSON table of markers, label: vertex or label of a built-in set; built-in sets by default."""


@dataclass(frozen=True)
class MarkersMade:
    """What came of it."""

    out: Path
    """The motion file."""
    manifest: Path
    """Its manifest."""
    body: Path | None
    """The body file; None where none was asked for."""
    frames: int
    """Number of frames."""
    fps: float
    """Frames a second."""
    used: tuple[str, ...]
    """Markers that were used."""
    unknown: tuple[str, ...]
    """Labels that no table knows."""
    gaps: float
    """Share of the used markers' places that are missing."""
    residual_mm: float
    """Root mean square of the markers' distances, over all frames."""
    stature: float
    """Of the body, metres."""


def make_motion_from_markers(config: MarkersConfig) -> MarkersMade:
    """Fit one body and a motion to a clip, and write them."""
    format_to_write(config.out, "motion")
    require_writable(config.out)
    given = [config.clip] + ([config.markers] if config.markers else [])
    run = start_run("markers", config, given)
    motion, fit, clip = motion_of(config.clip, config.markers)
    model = person_model()
    write_motion(config.out, motion)
    gender = 1.0 if model.space.maleness(fit.shape) >= 0.5 else 0.0
    identity = Identity(
        fit.identity.rest_vertices.astype(np.float32),
        fit.identity.joints.astype(np.float32),
        {"gender": np.asarray(gender)},
    )
    values = {name: float(value) for name, value in measure(identity).values.items()}
    written = [config.out]
    if config.body is not None:
        write_body(config.body, Body(model.template, identity, values))
        written.append(config.body)
    used = [clip.labels.index(label) for label in fit.labels]
    made = MarkersMade(
        config.out,
        manifest_path(config.out),
        config.body,
        len(clip.places),
        clip.fps,
        fit.labels,
        tuple(label for label in clip.labels if label not in fit.labels),
        float((~np.isfinite(clip.places[:, used]).all(axis=2)).mean()),
        float(1e3 * np.sqrt(np.nanmean(fit.residuals**2))),
        values.get("stature", float(np.ptp(fit.identity.rest_vertices[:, 1]))),
    )
    figures = {"residual_mm": made.residual_mm, "stature": made.stature, "used": list(made.used)}
    finish_run(run, written, figures)
    return made


def motion_of(path: Path, table: Path | None = None) -> tuple[Motion, MarkerFit, MarkerClip]:
    """The motion of a clip, the body behind it, and the clip itself."""
    clip, model = read_c3d(path), person_model()
    space, skeleton = model.space, model.template.skeleton
    vertices = marker_vertices(clip.labels, skeleton, space.mean_vertices, space.mean_joints, table)
    fit = fit_markers(clip.labels, clip.places, vertices, fps=clip.fps)
    motion = Motion(
        path.stem,
        clip.fps,
        np.asarray(fit.poses.joint_rotations, np.float32),
        np.asarray(fit.poses.root_translation, np.float32),
        skeleton,
    )
    return motion, fit, clip
