"""The sheet on which a motion is authored: time, joint turns, and the body's stance."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    compose_axis_angles,
    matrix_from_axis_angle,
)
from corporeal.motions.girdle import collar_turn
from corporeal.motions.posture import SHARES
from corporeal.motions.relaxed_hands import relaxed_hands
from corporeal.motions.standing import SIDES, StandingBody
from corporeal.motions.timing import smooth_step, sway

_AXES: Final = {"x": 0, "y": 1, "z": 2}
Curve = Float[NumpyArray, "N"] | float
"""One value a frame, or one for all."""
Track = tuple[Float[NumpyArray, "N J 3"], Float[NumpyArray, "N 3"]]
"""Joint rotations (axis-angle, radians) and root translation (metres)."""


@dataclass(frozen=True)
class Arms:
    """How both arms are held, radians; a second set of curves may be given to the right one."""

    raised: Curve
    """Upper arm over the horizontal; about −1.2 hangs down."""
    forward: Curve = 0.0
    """Upper arm to the front."""
    turned_in: Curve = 0.0
    """Upper arm about its own length, so that a bent forearm goes inwards."""
    elbow: Curve = 0.2
    """Flexion."""


RELAXED: Final = Arms(raised=-1.28, forward=0.06, turned_in=0.15, elbow=0.22)
A_POSE: Final = Arms(raised=-0.80, forward=0.0, turned_in=0.0, elbow=0.05)
FINGERS: Final = ("index", "middle", "ring", "pinky")
_FIST: Final = (1.18, 1.24, 1.30)
"""Flexion of a closed finger's knuckles, radians."""
_GLANCE: Final = 0.35
"""Seconds from one place that is looked at to the next."""
_HANGING: Final = -1.1
"""Arms below this height (radians, 0 is straight out) hang."""
_ONSET: Final = 0.4
"""Above that, over how many radians arms are turned out ever less."""


def beside_the_flanks(raised: Float[NumpyArray, "N"], clearance: float) -> Float[NumpyArray, "N"]:
    """Hanging arms turned out by `clearance`, arms held out not at all; radians.

    The onset grows with the clearance: an arm that goes down never goes up on the way, which it
    would where the turn grows faster than the arm falls (15/8 clearance > onset).
    """
    onset = max(_ONSET, 2.5 * clearance)
    return raised + clearance * smooth_step((_HANGING + onset - raised) / onset)


@dataclass(frozen=True)
class Sketch:
    """An empty sheet for one motion of one body; methods write turns into `rotations`."""

    body: StandingBody
    """Whose motion it is."""
    time: Float[NumpyArray, "N"]
    """Seconds."""
    rotations: Float[NumpyArray, "N J 3"]
    """Axis-angle, radians; filled in place by the methods below."""
    generator: np.random.Generator
    """Source of everything that varies between takes."""
    a_pose: bool
    """Start in an A-pose instead of a relaxed stand."""
    clearance: float
    """How much farther out hanging arms are held, to clear a wide body, radians."""
    girdle: bool = True
    """Collars go with the arms by the scapulohumeral rhythm; else by a smaller rise."""
    least_stance: float = 0.0
    """Half the distance of feet that thighs leave room for, metres (`motions.thighs`)."""
    stoop: float = 0.0
    """How round the back is, radians (`motions.posture`)."""

    @staticmethod
    def empty(
        skeleton: Skeleton,
        fps: float,
        duration: float,
        generator: np.random.Generator,
        a_pose: bool,
        clearance: float = 0.0,
        girdle: bool = True,
        least_stance: float = 0.0,
        stoop: float = 0.0,
    ) -> "Sketch":
        """A sheet of `duration` seconds at `fps` frames a second with all rotations 0, but for the
        stoop's."""
        time = np.arange(int(np.floor(duration * fps + 1e-9)) + 1) / fps
        rotations = np.zeros((len(time), skeleton.joint_count, 3))
        body = StandingBody.from_skeleton(skeleton)
        for joint, share in SHARES.items():
            rotations[:, skeleton.index(joint), 0] = share * stoop
        return Sketch(
            body, time, rotations, generator, a_pose, clearance, girdle, least_stance, stoop
        )

    def stance(self, width: float) -> float:
        """Distance of either foot from the middle, `width` hip breadths apart or as far as thighs
        need, metres."""
        return max(width * self.body.hip_half_width, self.least_stance)

    @property
    def end(self) -> float:
        """Time of the last frame, seconds."""
        return float(self.time[-1])

    @property
    def pace(self) -> float:
        """How much slower than an average body this one moves: a pendulum's √(leg / 0.85 m)."""
        return float(np.sqrt(self.body.leg_length / 0.85))

    def envelope(self, rise: float = 0.6, fall: float = 0.6) -> Float[NumpyArray, "N"]:
        """0 at both ends, 1 between: everything that moves is multiplied by it."""
        wait = 0.1
        up = smooth_step((self.time - wait) / rise)
        return up * (1 - smooth_step((self.time - self.end + fall + wait) / fall))

    def wave(self, frequency: float, phase: float = 0.0) -> Float[NumpyArray, "N"]:
        """A sine at `frequency` Hz; `phase` in turns."""
        return np.sin(2 * np.pi * (frequency * self.time + phase))

    def drift(self, size: float) -> Float[NumpyArray, "N"]:
        """A slow aimless curve of root mean square `size`."""
        return size * sway(self.time, self.generator)

    def turn(self, joint: str, axis: str, angle: Curve) -> None:
        """Turn one joint further about a world axis of its rest frame."""
        self.rotations[:, self.body.skeleton.index(joint), _AXES[axis]] += angle

    def mirrored(self, joint: str, axis: str, angle: Curve) -> None:
        """Turn a left joint and, mirrored in the plane x = 0, its right twin."""
        self.turn(f"left_{joint}", axis, angle)
        self.turn(f"right_{joint}", axis, angle if axis == "x" else -np.asarray(angle))

    def bend(self, forward: Curve = 0.0, sideways: Curve = 0.0, twist: Curve = 0.0) -> None:
        """Bend the trunk, shared out over the spine; the head keeps looking ahead by half."""
        for joint, share in (("spine1", 0.35), ("spine2", 0.35), ("spine3", 0.3), ("neck", -0.5)):
            self.turn(joint, "x", share * np.asarray(forward))
            self.turn(joint, "z", share * np.asarray(sideways))
            self.turn(joint, "y", share * np.asarray(twist))

    def arms(self, left: Arms, right: Arms | None = None) -> None:
        """Hold the arms; the collar bones rise with them, and the fingers curl a little and never
        rest."""
        for (side, sign), arms in zip(SIDES, (left, right or left), strict=True):
            raised = np.broadcast_to(arms.raised, self.time.shape)
            raised = beside_the_flanks(raised, self.clearance)
            lift, swing, roll = (np.zeros((len(self.time), 3)) for _ in range(3))
            swing[:, 1] = -sign * np.asarray(arms.forward)
            roll[:, 0] = arms.turned_in
            if self.girdle:
                lift[:, 2] = sign * raised
                collar = _rhythm(side, sign, compose_axis_angles(lift, swing))
                self.rotations[:, self.body.skeleton.index(f"{side}_collar")] += collar
                lift = compose_axis_angles(-collar, lift)
            else:
                rise = 0.30 * smooth_step((raised + 0.6) / 1.8) - 0.06
                self.turn(f"{side}_collar", "z", sign * rise)
                lift[:, 2] = sign * (raised - rise)
            turned = compose_axis_angles(lift, compose_axis_angles(swing, roll))
            if self.stoop:  # arms hang from a chest that leans as from an upright one
                turned = compose_axis_angles(np.array([[-self.stoop, 0.0, 0.0]]), turned)
            self.rotations[:, self.body.skeleton.index(f"{side}_shoulder")] += turned
            self.turn(f"{side}_elbow", "y", -sign * np.asarray(arms.elbow))
        self._curl_fingers()

    def eased(self, arms: Arms, envelope: Float[NumpyArray, "N"]) -> Arms:
        """`arms` where the envelope is 1, the resting arms where it is 0."""
        first = A_POSE if self.a_pose else RELAXED
        early = self.time < 0.5 * self.end

        def ease(wanted: Curve, start: Curve, end: Curve) -> Float[NumpyArray, "N"]:
            still = np.where(early, start, end)
            return still + envelope * (wanted - still)

        return Arms(
            raised=ease(arms.raised, first.raised, RELAXED.raised),
            forward=ease(arms.forward, first.forward, RELAXED.forward),
            turned_in=ease(arms.turned_in, first.turned_in, RELAXED.turned_in),
            elbow=ease(arms.elbow, first.elbow, RELAXED.elbow),
        )

    def fists(self, closed: Curve) -> None:
        """Close both hands: 1 is a fist, 0 leaves them at rest; fingers spread and the thumb goes
        out as they close, so that they have room."""
        relaxed = relaxed_hands(self.body.skeleton)
        self.rotations[:] -= np.multiply.outer(np.broadcast_to(closed, self.time.shape), relaxed)
        for finger in FINGERS:
            for knuckle, angle in enumerate(_FIST, start=1):
                self.mirrored(f"{finger}{knuckle}", "z", -angle * np.asarray(closed))

    def look_about(self, down: Curve = 0.0) -> None:
        """Gaze and trunk of somebody alive: glances to either side, `down` by radians, and a slow
        sway of the trunk; all of it within the envelope."""
        env = self.envelope()
        side, height = self._glances(0.45), self._glances(0.12)
        for joint, share in (("neck", 0.4), ("head", 0.6)):
            self.turn(joint, "y", share * env * side)
            self.turn(joint, "x", share * env * (height + np.asarray(down)))
        self.bend(
            forward=env * self.drift(0.025),
            sideways=env * self.drift(0.02),
            twist=env * self.drift(0.035),
        )

    def _glances(self, size: float) -> Float[NumpyArray, "N"]:
        """From one place to the next within `size` radians, each looked at for a second or so."""
        angle, last, start = np.zeros_like(self.time), 0.0, 0.3
        while start < self.end - 0.5:
            target = float(self.generator.uniform(-size, size))
            angle += (target - last) * smooth_step((self.time - start) / _GLANCE)
            last, start = target, start + float(self.generator.uniform(0.6, 1.4))
        return angle

    def _curl_fingers(self) -> None:
        """At rest, each finger of each hand closing and opening a little by itself."""
        env = self.envelope()
        self.rotations[:] += relaxed_hands(self.body.skeleton)
        for side, sign in SIDES:
            for finger in FINGERS:
                more = env * self.drift(0.08)
                for knuckle in (1, 2, 3):
                    self.turn(f"{side}_{finger}{knuckle}", "z", -sign * more)


def _rhythm(side: str, sign: float, arm: Float[NumpyArray, "N 3"]) -> Float[NumpyArray, "N 3"]:
    """Turn of a collar under an arm that has turned by `arm` from straight out; radians."""
    along = matrix_from_axis_angle(arm) @ np.array([sign, 0.0, 0.0])
    return axis_angle_from_matrix(collar_turn(along, side))
