"""What scans leave open: told in words, or refused where nothing can be learned."""

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.enveloping.training.problem import Estimate, Problem, Scans, squared_errors

_LEAST_DENSE = 6
"""Poses that somebody must have been scanned in, for key angles to be learned."""
_CONTRADICTS = 4.0
"""Times the median distance of scans from the model, beyond which one contradicts the others."""
_NEAR = 5e-3
"""Metres within which none does."""


def told_of(scans: Scans, names: tuple[str, ...]) -> tuple[str, ...]:
    """What is missing before training, in words; raise `InputError` where nobody has many poses."""
    counts = np.bincount(scans.people)
    if counts.max() < _LEAST_DENSE:
        raise InputError(
            f"nobody was scanned in more than {counts.max()} poses; expected at least one person "
            f"in {_LEAST_DENSE}, or what poses do cannot be told from what people are. Add scans "
            f"of somebody in many poses."
        )
    notes = []
    if (counts == 1).any():
        few = [name for name, count in zip(names, counts, strict=True) if count == 1]
        notes.append(
            f"{', '.join(few[:5])} came in one pose alone ({len(few)} people): they tell "
            f"shape, and their joints by landmarks only"
        )
    seen = float(scans.confidence.mean())
    if seen < 0.999:
        notes.append(f"{100 * seen:.0f} % of the surface was seen; holes count for nothing")
    return tuple(notes)


def doubts(problem: Problem, estimate: Estimate, scans: Scans, names: list[str]) -> tuple[str, ...]:
    """What the scans leave open, in words: vertices that nobody saw, and scans that stay far from
    what all others say."""
    notes = []
    seen: NumpyArray = scans.confidence.max(axis=0) > 0
    if problem.mirror is not None:
        seen = seen | seen[problem.mirror]
    if not seen.all():
        notes.append(
            f"{int((~seen).sum())} vertices are in no scan, nor their mirror images: they stay as "
            f"the template has them"
        )
    squares, counts = squared_errors(problem, estimate, scans)
    off = np.sqrt(squares / np.maximum(counts, 1.0))
    far = np.flatnonzero(off > max(_CONTRADICTS * float(np.median(off)), _NEAR))
    if len(far):
        worst = far[np.argsort(-off[far], kind="stable")]
        told = ", ".join(f"{names[n]} ({1e3 * off[n]:.0f} mm)" for n in worst[:5].tolist())
        notes.append(
            f"{told} stayed far from the model, others {1e3 * float(np.median(off)):.1f} mm in the "
            f"middle ({len(far)} scans): their correspondences contradict the others'. Look at "
            f"them, or leave them out"
        )
    return tuple(notes)


def require_bent(problem: Problem, template: Template) -> None:
    """Raise `InputError` where a joint that corrections depend on is the same in all scans."""
    names = template.skeleton.names
    still = sorted({names[driver.joint] for driver in problem.drivers if driver.key_count == 0})
    if not problem.drivers:
        still = ["any joint"]
    if still:
        raise InputError(
            f"no scan bends {', '.join(still)}; expected poses in which every joint bends, or what "
            f"its skin does then cannot be told. Add scans in other poses."
        )
