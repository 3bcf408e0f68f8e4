"""Limits beyond which recorded flesh is no truth to learn from.

They were set on captures of two women, a slim and a heavy one, and looked at again on eight people
(`docs/design/capture.md`); counts are for flesh of the default resolution, 43 000
elements of layers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.health_record import FrameFault, HealthRecord


@dataclass(frozen=True)
class HealthLimits:
    """What a frame of sound flesh may have at most."""

    inverted: int = 12
    """Elements inside out, for records that do not know their volume: sound takes have up to 6 in a
    frame, crumpled breasts 15 to 240."""
    inverted_volume: float = 1e-6
    """Volume that lies inside out, m³ (`HealthRecord.inverted_volume`): a millilitre, the size of
    one element of fat, is the least that could be seen. Elements that a bent knee or groin presses
    flat, J down to −0.05, have up to 0.1 together; a slim breast that is mirrored has 150."""
    stretch: float = 4.0
    """Length of a skin edge over that at rest: sound takes have up to 3.8, torn ones 4.5 to 18."""
    volume: float = 0.6
    """Relative change of a body part's volume, either way: movements that look sound have up to
    0.55 (the buttock of a heavy man's raised thigh), crumpled breasts of held poses 0.65 to 1.2;
    one that is inside out has −2."""
    penetration: float = 0.02
    """Depth of skin in the body, metres: contacts leave up to 13 mm for single frames."""
    residual: float = 5e-3
    """Last correction of the solver, root mean square, metres: moving takes have up to 0.3 mm, deep
    folds of held poses 3 mm, an exploding one has any."""

    @staticmethod
    def where_skin_meets_skin(everywhere: bool) -> "HealthLimits":
        """The limits, but on penetration only where contacts are found everywhere."""
        return HealthLimits() if everywhere else HealthLimits(penetration=float("inf"))

    def faults(self, record: HealthRecord) -> list[FrameFault]:
        """All that is beyond the limits, frame by frame."""
        turned = record.inverted_volume
        inside_out = (
            _above("elements inside out", record.inverted, self.inverted)
            if turned is None
            else _above("volume inside out", turned, self.inverted_volume)
        )
        found = [
            *inside_out,
            *_above("stretched skin", record.largest_stretch, self.stretch),
            *_above("solver not settled", record.residual, self.residual),
        ]
        for name, changes in zip(record.parts, record.part_volumes.T, strict=True):
            for frame in np.flatnonzero(np.abs(changes) > self.volume):
                found.append(FrameFault(int(frame), f"volume of {name}", 1, float(changes[frame])))
        asked = record.penetration_frames
        for fault in _above("deep penetration", record.penetration, self.penetration):
            found.append(FrameFault(int(asked[fault.frame]), fault.what, 1, fault.worst))
        return sorted(found, key=lambda fault: fault.frame)


def _above(
    what: str, values: Float[NumpyArray, "N"] | Int[NumpyArray, "N"], limit: float | int
) -> Iterator[FrameFault]:
    """A fault for every value above a limit; counts are told as places."""
    for frame in np.flatnonzero(values > limit):
        value = values[frame]
        count = int(value) if np.issubdtype(values.dtype, np.integer) else 1
        yield FrameFault(int(frame), what, count, float(value))
