"""Poses of the person's own."""

from dataclasses import replace

from corporeal.viewer.packets import Packet
from corporeal.viewer.posing import POSES, Key, read_keys, taken
from corporeal.viewer.session import Action, Session


def take_pose(session: Session, packet: Packet) -> None:
    """Keep the pose that is shown as one more key, a second after the last, and go there."""
    document = session.document
    turns = taken(session.stage.moment.pose, session.model.template)
    seconds = document.keys[-1].seconds + 1.0 if document.keys else 0.0
    rows = [
        {"seconds": k.seconds, "turns": dict(k.turns)}
        for k in (*document.keys, Key(seconds, turns))
    ]
    motion = replace(document.motion, name=POSES)
    session.apply(replace(document, keys=read_keys(rows), motion=motion, playing=False))


ACTIONS: dict[str, Action] = {"take pose": take_pose}
