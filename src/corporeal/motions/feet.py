"""What the feet of an authored motion do."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.legs import Leg

UPRIGHT: Final = 0.994
"""Share of its full reach that a standing leg spans: the knee is never locked."""
SPRINGY: Final = 0.955
"""The same at the moment of leaving or meeting the ground in a jump."""


@dataclass(frozen=True)
class FootTrack:
    """The track of one foot, a value a frame."""

    ball: Float[NumpyArray, "N 3"]
    """Ball of the foot: x and z on the ground, y the lift over standing, metres, in the world."""
    carried: Float[NumpyArray, "N"]
    """0: `ball` is where it says; 1: it goes along with the pelvis, as a free leg does."""
    stretch: Float[NumpyArray, "N"]
    """On the ground: how straight the leg would be in an upright stand, as a share of its reach."""
    hanging: Bool[NumpyArray, "N"]
    """True in a jump: the height of the foot follows from the body's, by `extension`."""
    extension: Float[NumpyArray, "N"]
    """While hanging: distance from hip to ankle, as a share of the leg's reach."""
    load: Float[NumpyArray, "N"]
    """Share of the body's weight that this foot bears, or would bear."""
    heel_pitch: Float[NumpyArray, "N"]
    """How far the heel is raised about the ball, radians."""
    toe_out: Float[NumpyArray, "N"]
    """How far the toes turn outwards, radians."""
    knee_out: Float[NumpyArray, "N"]
    """How far the knee points outwards, radians."""

    @staticmethod
    def planted(
        place: Float[NumpyArray, "2"],
        frames: int,
        *,
        toe_out: float = 0.12,
        load: float = 0.5,
    ) -> "FootTrack":
        """A foot that stands at `place` (x, z) all the time; `dataclasses.replace` the rest."""
        still = np.zeros(frames)
        return FootTrack(
            ball=np.tile([place[0], 0.0, place[1]], (frames, 1)),
            carried=still,
            stretch=np.full(frames, UPRIGHT),
            hanging=np.zeros(frames, bool),
            extension=np.full(frames, SPRINGY),
            load=np.full(frames, load),
            heel_pitch=still,
            toe_out=np.full(frames, toe_out),
            knee_out=np.full(frames, 0.6 * toe_out),
        )

    def orientation(self, sign: float) -> Float[NumpyArray, "N 3 3"]:
        """World rotation of the foot, toes out about y, then heel up about x; sign +1 is left."""
        turn, pitch = np.zeros_like(self.ball), np.zeros_like(self.ball)
        turn[:, 1] = sign * self.toe_out
        pitch[:, 0] = self.heel_pitch
        return matrix_from_axis_angle(turn) @ matrix_from_axis_angle(pitch)

    def ankle(
        self,
        leg: Leg,
        sign: float,
        root: Float[NumpyArray, "N 3"],
        pelvis: Float[NumpyArray, "N 3 3"],
    ) -> Float[NumpyArray, "N 3"]:
        """World position of the ankle, for the pelvis joint at `root` and turned by `pelvis`."""
        moved = root - root[:1]
        ball = self.ball + self.carried[:, None] * moved
        ball[:, 1] += leg.ball_height
        ankle = ball - self.orientation(sign) @ leg.foot
        hip = root + pelvis @ leg.hip
        across = ankle - hip
        span = (self.extension * leg.reach) ** 2 - across[:, 0] ** 2 - across[:, 2] ** 2
        hung = np.maximum(hip[:, 1] - np.sqrt(np.maximum(span, 0.0)), ankle[:, 1])
        ankle[:, 1] = np.where(self.hanging, hung, ankle[:, 1])
        return ankle
