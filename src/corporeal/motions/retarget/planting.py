"""Feet that stay where they were put.

A foot has two places that can be planted, heel and ball, each with its own stretches of contact.
Every stretch gets one anchor on the ground. Where heel and ball are down together the sole is flat
with one heading, and that ties their anchors to each other: so a step from heel strike over the
flat sole to toe-off rolls without a jump. What has to be added to the foot's path is known while it
is planted and fades smoothly to nothing, or to what the next step needs, while it swings.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.motions.retarget.alignment import about_vertical, heading
from corporeal.motions.retarget.contacts import FootContacts, runs
from corporeal.motions.retarget.feet import Foot
from corporeal.motions.retarget.ground import upper_envelope
from corporeal.motions.timing import smooth_step

FADE_S: Final = 0.25
"""How long before and after a contact its correction fades, seconds."""
_LIFT_S: Final = 0.025
"""Half width of the window over which a foot is raised before it would touch, seconds."""
_TOE_LIMIT: Final = 1.0
"""How far toes bend up to stay out of the ground, radians."""
_TILT_LIMIT: Final = np.deg2rad(25.0)
"""Largest constant error of a sole's tilt that is taken out."""
_LEVEL: Final = np.array([1.0, 0.0, 1.0])


@dataclass(frozen=True)
class FootPath:
    """Where a foot is: the ankle, the orientation of the foot and that of its toes."""

    ankle: Float[NumpyArray, "N 3"]
    """Metres."""
    foot: Float[NumpyArray, "N 3 3"]
    """World rotation of the ankle's frame."""
    toes: Float[NumpyArray, "N 3 3"]
    """World rotation of the frame at the base of the toes."""

    def turned(self, orientation: Float[NumpyArray, "N 3 3"]) -> "FootPath":
        """Another orientation of the foot; the toes stay bent as they are."""
        bent = np.swapaxes(self.foot, -1, -2) @ self.toes
        return FootPath(self.ankle, orientation, orientation @ bent)

    def sole(self, foot: Foot) -> Float[NumpyArray, "N 2 3"]:
        """Heel and ball on the ground side of the foot, metres."""
        return self.ankle[:, None] + np.stack(
            [self.foot @ foot.to_heel, self.foot @ foot.to_ball], axis=1
        )

    def lowest(self, foot: Foot) -> Float[NumpyArray, "N"]:
        """Height of the lowest point of foot and toes, metres."""
        joint = self.ankle[:, 1] + self.foot[:, 1] @ foot.to_ball_joint
        rear = self.ankle[:, 1] + (self.foot[:, 1] @ foot.rear.T).min(axis=1)
        return np.minimum(rear, joint + (self.toes[:, 1] @ foot.front.T).min(axis=1))


def plant(path: FootPath, foot: Foot, contacts: FootContacts, fps: float) -> FootPath:
    """The path with every contact pinned to the ground y = 0."""
    if not (contacts.heel.any() or contacts.ball.any()):
        return above_ground(path, foot, fps)
    orientation = _with_flat_soles(path.foot, foot, contacts, fps)
    pinned = path.turned(orientation)
    anchors = _anchors(pinned, foot, contacts)
    # On the ball the foot pivots about the joint of the toes, at its own height; on the heel the
    # ankle stays over one place, as high as the heel's tip on the ground allows.
    up = np.array([0.0, 1.0, 0.0])
    on_ball = anchors[1] + foot.ball_height * up - orientation @ foot.to_ball_joint
    on_heel = anchors[0] - (orientation @ foot.to_heel) * up
    wanted = np.where(contacts.ball[:, None], on_ball, on_heel)
    # A foot that lies on its back keeps its height and its toes.
    wanted[:, 1] = np.where(contacts.looks_down, wanted[:, 1], path.ankle[:, 1])
    shift = faded(wanted - path.ankle, contacts.heel | contacts.ball, fps)
    on_toes = contacts.ball & contacts.looks_down
    toes = _with_flat_toes(pinned.toes, orientation, on_toes, fps)
    return above_ground(FootPath(path.ankle + shift, orientation, toes), foot, fps)


def laid_foot(path: FootPath, foot: Foot, lying: Bool[NumpyArray, "N"], fps: float) -> FootPath:
    """The path with feet behind lying shanks stretched back as far as they would be in the ground.

    From the captured orientation towards one with the instep down and the toes behind.
    """
    deep = lying & (path.lowest(foot) < 0.0)
    if not deep.any():
        return path
    forward = foot.to_ball_joint * _LEVEL
    back = path.foot @ forward
    laid = about_vertical(heading(back) - heading(forward)) @ matrix_from_axis_angle(
        np.array([0.0, 0.0, np.pi])
    )  # on its back, looking where the toes do
    way = axis_angle_from_matrix(np.swapaxes(path.foot, -1, -2) @ laid)
    share = np.zeros(len(deep))
    for part in np.linspace(1.0, 0.0, 11)[:-1]:
        tried = path.turned(path.foot @ matrix_from_axis_angle(part * way))
        share = np.where(deep & (tried.lowest(foot) >= 0.0), part, share)
    share = np.where(deep & (share == 0.0), 1.0, share)
    smooth = np.minimum(upper_envelope(share, max(round(_LIFT_S * fps), 1)), 1.0)
    return path.turned(path.foot @ matrix_from_axis_angle(smooth[:, None] * way))


def above_ground(path: FootPath, foot: Foot, fps: float) -> FootPath:
    """The path with nothing in the ground: the toes bend up first, then the foot is raised.

    Both follow smooth curves above what each frame needs, so that nothing kicks the knee.
    """
    half = max(round(_LIFT_S * fps), 1)
    bent = _with_bent_toes(path, foot, half)
    lift = upper_envelope(np.maximum(-bent.lowest(foot), 0.0), half)
    return FootPath(bent.ankle + lift[:, None] * np.array([0.0, 1.0, 0.0]), bent.foot, bent.toes)


def _with_bent_toes(path: FootPath, foot: Foot, half: int) -> FootPath:
    """Toes bent up by as much as their tips are deeper in the ground than the rest of the foot.

    Only toes whose upper side looks up: those of a foot on its back would bend into the ground.
    """
    reach = np.linalg.norm(foot.front * _LEVEL, axis=1)
    tips = foot.front[reach > 0.5 * reach.max()]
    joint = path.ankle[:, 1] + path.foot[:, 1] @ foot.to_ball_joint
    deep = np.maximum(-joint - (path.toes[:, 1] @ tips.T).min(axis=1), 0.0)
    base = np.maximum(-path.ankle[:, 1] - (path.foot[:, 1] @ foot.rear.T).min(axis=1), 0.0)
    sine = np.clip((deep - base) / reach.max(), 0.0, np.sin(_TOE_LIMIT))
    looks_up = np.clip(2.0 * path.toes[:, 1, 1], 0.0, 1.0)
    angle = upper_envelope(looks_up * np.arcsin(sine), half)
    turn = np.stack([-angle, np.zeros_like(angle), np.zeros_like(angle)], axis=1)
    return FootPath(path.ankle, path.foot, path.toes @ matrix_from_axis_angle(turn))


def level_soles(
    orientation: Float[NumpyArray, "N 3 3"], foot: Foot, flat: Bool[NumpyArray, "N"]
) -> Float[NumpyArray, "N 3 3"]:
    """The orientations without the constant tilt that flat soles have, as rigs and shoes cause.

    The median tilt over all frames with a flat sole is taken out everywhere.
    """
    if not flat.any():
        return orientation
    level = _level(orientation[flat], foot)
    tilt = axis_angle_from_matrix(np.swapaxes(orientation[flat], -1, -2) @ level)
    middle = np.median(tilt, axis=0)
    size = float(np.linalg.norm(middle))
    return orientation @ matrix_from_axis_angle(middle * min(1.0, _TILT_LIMIT / max(size, 1e-12)))


def faded(
    values: Float[NumpyArray, "N n"], known: Bool[NumpyArray, "N"], fps: float
) -> Float[NumpyArray, "N n"]:
    """`values` where they are `known`; elsewhere a smooth way from the last known to the next.

    The way leads through zero if there is time for it (twice `FADE_S`). Before the first and after
    the last known value it comes from zero and goes to zero.
    """
    result = np.where(known[:, None], values, 0.0)
    fade = FADE_S * fps
    for first, last in runs(~known):
        place = np.arange(1, last - first + 1)
        gap = last - first + 1
        before = values[first - 1] if first > 0 else np.zeros(values.shape[1])
        after = values[last] if last < len(values) else np.zeros(values.shape[1])
        if first > 0 and last < len(values) and gap < 2 * fade:
            weight = smooth_step(place / gap)
            leaving, coming = 1.0 - weight, weight
        else:
            leaving = 1.0 - smooth_step(place / fade)
            coming = 1.0 - smooth_step((gap - place) / fade)
        result[first:last] = leaving[:, None] * before + coming[:, None] * after
    return result


def _level(orientation: Float[NumpyArray, "N 3 3"], foot: Foot) -> Float[NumpyArray, "N 3 3"]:
    """The same headings with flat soles."""
    forward = foot.to_ball_joint * _LEVEL
    return about_vertical(heading(orientation @ forward) - heading(forward))


def _with_flat_soles(
    orientation: Float[NumpyArray, "N 3 3"], foot: Foot, contacts: FootContacts, fps: float
) -> Float[NumpyArray, "N 3 3"]:
    """Flat with one heading over every stretch where heel and ball are down; faded elsewhere.

    The correction is kept in the foot's own axes, so that it fits a foot that spins.
    """
    level = _level(orientation, foot)
    correction = np.zeros((len(orientation), 3))
    for first, last in runs(contacts.flat):
        forward = (level[first:last] @ (foot.to_ball_joint * _LEVEL)).mean(axis=0)
        one = about_vertical(heading(forward) - heading(foot.to_ball_joint * _LEVEL))
        turn = np.swapaxes(orientation[first:last], -1, -2) @ one
        correction[first:last] = axis_angle_from_matrix(turn)
    return orientation @ matrix_from_axis_angle(faded(correction, contacts.flat, fps))


def _with_flat_toes(
    toes: Float[NumpyArray, "N 3 3"],
    foot: Float[NumpyArray, "N 3 3"],
    planted: Bool[NumpyArray, "N"],
    fps: float,
) -> Float[NumpyArray, "N 3 3"]:
    """Toes lie on the ground while the ball is planted, whatever the heel does.

    The foot's side, not its front, gives the heading: a foot on tiptoe points straight down.
    """
    flat = about_vertical(heading(foot[..., :, 0]) - 0.5 * np.pi)
    correction = axis_angle_from_matrix(np.swapaxes(toes, -1, -2) @ flat)
    return toes @ matrix_from_axis_angle(faded(correction, planted, fps))


def _anchors(path: FootPath, foot: Foot, contacts: FootContacts) -> Float[NumpyArray, "2 N 3"]:
    """Ground points under ankle (0) and ball (1) at the frames of their contacts, metres.

    Stretches of heel and ball that overlap form chains; the longest stretch of a chain stands where
    it stood on average, and every next one is tied to its neighbour over their common frames.
    """
    masks = (contacts.heel, contacts.ball)
    stretches = [(kind, *run) for kind in (0, 1) for run in runs(masks[kind])]
    offsets = np.stack([np.zeros(3), foot.to_ball_joint])
    points = path.ankle[:, None] + np.swapaxes(path.foot @ offsets.T, -1, -2)
    places: dict[tuple[int, int, int], NumpyArray] = {}
    for seed in sorted(stretches, key=lambda s: s[1] - s[2]):
        if seed in places:
            continue
        kind, first, last = seed
        places[seed] = points[first:last, kind].mean(axis=0) * _LEVEL
        waiting = [seed]
        while waiting:
            known = waiting.pop()
            for other in stretches:
                start, end = max(known[1], other[1]), min(known[2], other[2])
                if other not in places and other[0] != known[0] and start < end:
                    between = path.foot[start] @ (offsets[other[0]] - offsets[known[0]])
                    places[other] = places[known] + between * _LEVEL
                    waiting.append(other)
    anchors = np.zeros((2, len(points), 3))
    for (kind, first, last), place in places.items():
        anchors[kind, first:last] = place
    return anchors
