"""The body panel: measurements, somebody else, presets."""

from collections.abc import Callable
from dataclasses import replace

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.random_looks import random_appearance
from corporeal.appearance.resolving import Wearer, wearer_of
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
    """Draw somebody of the adult population, with a face, skin and hair of their own."""
    model, seed = session.model, int(packet.fields["seed"])
    clothes = session.document.appearance.clothes

    def find() -> tuple[BodyChoice, Appearance]:
        body = drawn(model, seed)
        wearer = Wearer(body.sliders["gender"], body.sliders["age"])
        return body, random_appearance(seed, wearer, clothes=clothes)

    def done(found: tuple[BodyChoice, Appearance]) -> None:
        body, appearance = found
        session.apply(replace(session.document, body=body, appearance=appearance))

    session.background.start("body", find, done)
    session.tell_busy()


def face(session: Session, packet: Packet) -> None:
    """Another random face, skin and hair for the same body."""
    known = wearer_of(session.stage.identity)
    drawn_look = random_appearance(int(packet.fields["seed"]), known)
    kept = {"clothes": session.document.appearance.clothes, "age": session.document.appearance.age}
    session.apply(replace(session.document, appearance=replace(drawn_look, **kept)))


def plain_look(session: Session, packet: Packet) -> None:
    """The average face in light skin again."""
    session.apply(replace(session.document, appearance=Appearance()))


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
    "somebody's look": face,
    "plain look": plain_look,
    "mirror": mirror,
}
