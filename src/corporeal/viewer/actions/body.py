"""The body panel: measurements, somebody else, presets."""

from collections.abc import Callable
from dataclasses import replace

from corporeal.errors import InputError
from corporeal.viewer.catalogue import PRESETS
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.packets import Packet
from corporeal.viewer.person import drawn, mirrored, solved
from corporeal.viewer.session import Action, Session


def measure(session: Session, packet: Packet) -> None:
    """Find the body with these measurements, SI."""
    targets = {str(name): float(value) for name, value in packet.fields["targets"].items()}
    model, choice = session.model, session.document.body
    _later(session, lambda: solved(model, targets, choice))


def somebody(session: Session, packet: Packet) -> None:
    """Draw somebody of the adult population."""
    model, seed = session.model, int(packet.fields["seed"])
    _later(session, lambda: drawn(model, seed))


def preset(session: Session, packet: Packet) -> None:
    """A body by name."""
    if packet.fields["name"] not in PRESETS:
        raise InputError(f"there is no preset {packet.fields['name']!r:.60}.")
    model, choice = session.model, PRESETS[packet.fields["name"]]
    if choice.measured:
        _later(session, lambda: solved(model, choice.measured, choice))
    else:
        session.apply(replace(session.document, body=choice))


def mirror(session: Session, packet: Packet) -> None:
    """Let left and right change places."""
    session.apply(replace(session.document, body=mirrored(session.document.body)))


def _later(session: Session, find: Callable[[], BodyChoice]) -> None:
    session.background.start(
        "body", find, lambda body: session.apply(replace(session.document, body=body))
    )
    session.tell_busy()


ACTIONS: dict[str, Action] = {
    "measure": measure,
    "somebody": somebody,
    "preset": preset,
    "mirror": mirror,
}
