"""Hands on the skin: grabbing flesh, painting stiffness."""

from dataclasses import replace

import numpy as np

from corporeal.errors import InputError
from corporeal.physics.collisions.grabs import Grab
from corporeal.viewer.packets import Packet
from corporeal.viewer.players import FleshPlayer
from corporeal.viewer.session import Action, Session
from corporeal.viewer.stage import kept_grab

_STRENGTH = 900.0
"""N/m."""


def grab(session: Session, packet: Packet) -> None:
    """Take a point between three vertices of the flesh in a view."""
    number = int(packet.fields["view"])
    if not 0 <= number < len(session.stage.players):
        raise InputError(f"view {number} was touched; there are {len(session.stage.players)}.")
    if not isinstance(session.stage.players[number], FleshPlayer):
        raise InputError("only flesh can be grabbed: choose projective or layered for this body.")
    session.stage.grabs[number] = Grab(
        np.array(packet.fields["vertices"], np.int64),
        np.array(packet.fields["shares"], np.float64),
        np.array(packet.fields["target"], np.float64),
        _STRENGTH,
    )


def drag(session: Session, packet: Packet) -> None:
    """Draw what is held somewhere else."""
    number = int(packet.fields["view"])
    if number in session.stage.grabs:
        x, y, z = (float(value) for value in packet.fields["target"])
        session.stage.grabs[number] = kept_grab(session.stage.grabs[number], (x, y, z))


def release(session: Session, packet: Packet) -> None:
    """Let go."""
    session.stage.grabs.pop(int(packet.fields["view"]), None)


def paint(session: Session, packet: Packet) -> None:
    """Stiffness factors of some vertices; 1 takes the paint off."""
    vertices, factors = packet.arrays["vertices"], packet.arrays["factors"]
    painted = dict(session.document.painted)
    for vertex, factor in zip(vertices.tolist(), factors.tolist(), strict=True):
        painted.pop(str(vertex), None)
        if abs(factor - 1.0) > 0.01:
            painted[str(vertex)] = round(factor, 3)
    session.apply(replace(session.document, painted=painted))


def unpaint(session: Session, packet: Packet) -> None:
    """Take all paint off."""
    session.apply(replace(session.document, painted={}))


ACTIONS: dict[str, Action] = {
    "grab": grab,
    "drag": drag,
    "release": release,
    "paint": paint,
    "unpaint": unpaint,
}
