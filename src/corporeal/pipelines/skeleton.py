"""A human surface in, a skeleton that fits it out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal.formats.bvh_units import unit_length
from corporeal.formats.registry import format_to_write, read_mesh
from corporeal.formats.skeletons import write_skeleton
from corporeal.registration.skeleton_fit import SkeletonFit, fit_skeleton
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

_PERSON_M = (0.9, 2.4)
"""Statures that tell a unit, metres."""
_UNITS = ("m", "cm", "mm", "in")


@dataclass(frozen=True)
class SkeletonConfig:
    """One surface in, one skeleton out."""

    mesh: Path
    """Surface to read."""
    out: Path
    """Skeleton file to write."""
    up: str = "auto"
    """Upward axis of the mesh; +y and +z are tried by default."""


@dataclass(frozen=True)
class SkeletonMade:
    """What came of it."""

    out: Path
    """The skeleton file."""
    manifest: Path
    """Its manifest."""
    joints: int
    """Number of joints."""
    unit: str | None
    """Unit of the mesh, taken from the stature; None if it is a person's in none."""
    stature: float
    """Metres, or in the mesh's unit where that is not known."""
    surface_distance: float
    """Mean distance of the surface from the fitted body; as the stature."""
    confidence: float
    """Share of surface and fitted body that lie on each other, 0 to 1."""
    up: str
    """Upward axis of the mesh, given or found."""
    heading_deg: float
    """Where the person faces, degrees from the front towards its left."""


def make_skeleton(config: SkeletonConfig) -> SkeletonMade:
    """Fit the default skeleton and write it, in the mesh's own unit and axes."""
    format_to_write(config.out, "skeleton")
    require_writable(config.out)
    run = start_run("skeleton", config, [config.mesh])
    fit = fit_skeleton(read_mesh(config.mesh), config.up)
    unit, metres = _unit(fit)
    write_skeleton(config.out, fit.skeleton, unit)
    made = SkeletonMade(
        config.out,
        manifest_path(config.out),
        fit.skeleton.joint_count,
        unit,
        metres * fit.stature,
        metres * fit.surface_distance,
        fit.confidence,
        fit.up,
        float(np.rad2deg(fit.turn)),
    )
    finish_run(run, [config.out], {"confidence": fit.confidence, "stature": made.stature})
    return made


def _unit(fit: SkeletonFit) -> tuple[str | None, float]:
    """The unit in which the surface is a person's size, and its metres."""
    for unit in _UNITS:
        if _PERSON_M[0] <= fit.stature * unit_length(unit) <= _PERSON_M[1]:
            return unit, unit_length(unit)
    return None, 1.0
