"""Hands on the skin: grabbing flesh, painting stiffness and exaggeration."""

import math
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.pipelines.deformers import deformers_where, in_words
from corporeal.viewer.document import changed
from corporeal.viewer.hands import take
from corporeal.viewer.packets import Packet
from corporeal.viewer.players import FleshPlayer
from corporeal.viewer.session import Action, Session


def grab(session: Session, packet: Packet) -> None:
    """Take the flesh around a point of a view's skin."""
    number = int(packet.fields["view"])
    if not 0 <= number < len(session.stage.players):
        raise InputError(f"view {number} was touched; there are {len(session.stage.players)}.")
    player = session.stage.players[number]
    if isinstance(player, FleshPlayer) and not player.ready:
        raise InputError("the flesh is still being prepared; wait a moment.")
    if not isinstance(player, FleshPlayer) or not player.can_be_held:
        able = in_words(deformers_where(accepts_environment=True))
        raise InputError(f"only flesh can be grabbed: choose {able} for this body.")
    corners = np.array(packet.fields["vertices"], np.int64)
    hand = take(player.skin, corners, _place(packet.fields["point"]))
    fingers = [k for k, held in enumerate(hand.grabs()) if player.holdable(held)]
    if not fingers:
        raise InputError("skin lies right on the bone here; grab where there is flesh.")
    session.stage.hands[number] = hand.only(fingers)


def drag(session: Session, packet: Packet) -> None:
    """Draw what is held somewhere else."""
    number = int(packet.fields["view"])
    if number in session.stage.hands:
        held = session.stage.hands[number]
        session.stage.hands[number] = held.drawn(_place(packet.fields["target"]))


def release(session: Session, packet: Packet) -> None:
    """Let go."""
    session.stage.hands.pop(int(packet.fields["view"]), None)


_PAINTS = {"stiffness": "painted", "exaggeration": "exaggerated"}
"""Where the document keeps what is painted."""


def paint(session: Session, packet: Packet) -> None:
    """Factors of some vertices, of stiffness or exaggeration; 1 takes the paint off."""
    field = _PAINTS[packet.fields.get("what", "stiffness")]
    vertices, factors = packet.arrays["vertices"], packet.arrays["factors"]
    painted = dict(getattr(session.document, field))
    for vertex, factor in zip(vertices.tolist(), factors.tolist(), strict=True):
        painted.pop(str(vertex), None)
        if abs(factor - 1.0) > 0.01:
            painted[str(vertex)] = round(factor, 3)
    session.apply(changed(session.document, [field], painted))


def unpaint(session: Session, packet: Packet) -> None:
    """Take all paint of a kind off."""
    field = _PAINTS[packet.fields.get("what", "stiffness")]
    session.apply(changed(session.document, [field], {}))


def _place(numbers: Any) -> Float64[NumpyArray, "3"]:
    """A point, metres."""
    x, y, z = (float(number) for number in numbers)
    if not all(map(math.isfinite, (x, y, z))):
        raise InputError(f"the hand is at {numbers}; expected three finite numbers.")
    return np.array([x, y, z])


ACTIONS: dict[str, Action] = {
    "grab": grab,
    "drag": drag,
    "release": release,
    "paint": paint,
    "unpaint": unpaint,
}
