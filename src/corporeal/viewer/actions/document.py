"""Changing the document, undoing, and moving through time."""

from dataclasses import replace

from corporeal.viewer.document import Document, changed, read_document
from corporeal.viewer.inside import NAME as LAYERS
from corporeal.viewer.packets import Packet
from corporeal.viewer.session import Action, Session

_SHAPES = [["body", name] for name in ("sliders", "local", "learned")]
"""Paths that change what was measured."""


def change(session: Session, packet: Packet) -> None:
    """One value at a path of the document; not `final` while the mouse is still down."""
    final = bool(packet.fields.get("final", True))
    document = changed(session.document, packet.fields["path"], packet.fields.get("value"))
    if packet.fields["path"][:2] in _SHAPES:
        document = replace(document, body=replace(document.body, measured={}, scan=""))
    session.apply(document, final=final)


def undo(session: Session, packet: Packet) -> None:
    """Back to the document before."""
    if session.past:
        session.future.append(session.document)
        session.apply(_at_work(session, session.past.pop()), remember=False)


def redo(session: Session, packet: Packet) -> None:
    """Forth again."""
    if session.future:
        session.past.append(session.document)
        session.apply(_at_work(session, session.future.pop()), remember=False)


def _at_work(session: Session, document: Document) -> Document:
    """Another document that plays or pauses as the present one."""
    return replace(document, playing=session.document.playing)


def seek(session: Session, packet: Packet) -> None:
    """To a place in the motion, in shown frames."""
    session.stage.seek(float(packet.fields["place"]))


def load_session(session: Session, packet: Packet) -> None:
    """Take the document of a session file."""
    session.apply(read_document(packet.arrays["content"].tobytes()))


def cancel(session: Session, packet: Packet) -> None:
    """Give up something that is being prepared."""
    name = str(packet.fields["name"])
    if name not in session.background.busy:
        return
    session.background.cancel(name)
    if name == LAYERS:
        session.inside.give_up(session)
    session.tell_busy()


ACTIONS: dict[str, Action] = {
    "change": change,
    "undo": undo,
    "redo": redo,
    "seek": seek,
    "load session": load_session,
    "cancel": cancel,
}
