"""Sessions that come back: a page after the server was started anew, or a session file with all
that it needs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal.errors import InputError
from corporeal.viewer.actions.out import made_at, place_for
from corporeal.viewer.actions.scan import take_person
from corporeal.viewer.actions.upload import begin_take, look_at, tell_files
from corporeal.viewer.document import Document, as_json, parse
from corporeal.viewer.job_process import READING, Job
from corporeal.viewer.jobs.bundle import written
from corporeal.viewer.packets import Packet
from corporeal.viewer.session import Action, Session
from corporeal.viewer.uploads import motion_in


def keep(session: Session, packet: Packet) -> None:
    """Keep a file that a page still has under the name that it had here."""
    name = str(packet.fields["name"])
    if name in session.uploads.paths:
        return
    content = packet.arrays["content"].astype(np.uint8, copy=False).tobytes()
    kept = session.uploads.keep(name, content)
    if kept != name:
        session.uploads.forget(kept)
        raise InputError(f"{name!r:.60} is no name that a file has here.")


def restore(session: Session, packet: Packet) -> None:
    """Take the document that a page had before; the files that it names are there."""
    bring(session, parse(packet.fields["document"]))


def bring(session: Session, document: Document) -> None:
    """Take a document once all files that it names have been looked at."""
    from corporeal.viewer.jobs.look import look

    needed = [name for name in files_of(document) if not _is_known(session, name)]
    missing = [name for name in needed if name not in session.uploads.paths]
    if missing:
        raise InputError(f"{missing[0]!r:.60} is not here; open its file first.")
    waiting = set(needed)

    def arrived(name: str) -> Callable[[Packet], None]:
        def done(answer: Packet) -> None:
            _take_in(session, name, answer)
            waiting.discard(name)
            if not waiting:
                _apply(session, document)

        return done

    for name in needed:
        path, frames = session.uploads.paths[name], session.uploads.place(name, ".npy")
        arguments = (str(path), session.document.body, session.body_file, str(frames))
        session.background.spawn(name, Job(look, arguments, READING), arrived(name))
    session.tell_busy()
    if not needed:
        _apply(session, document)


def _apply(session: Session, document: Document) -> None:
    tell_files(session)
    session.apply(document)
    if document.rig.mesh:
        look_at(session, document.rig.mesh)


def _take_in(session: Session, name: str, answer: Packet) -> None:
    """Know a file from now on, and show nothing of it yet."""
    if answer.kind == "motion":
        motion = motion_in(answer, session.model.template)
        session.uploads.motions[name] = (session.document.body, motion)
    elif answer.kind == "take":
        begin_take(session, name, answer)
    elif answer.kind == "person":
        take_person(session, name)
    elif answer.kind != "mesh":
        raise InputError(f"{name} is a {answer.kind}; the session names it as something else.")


def files_of(document: Document) -> list[str]:
    """Names of files in a document, as far as it can tell: not those of authored motions."""
    takes = [view.deformer.removeprefix("take:") for view in document.views if _is_take(view)]
    named = [document.motion.name, *takes, document.rig.mesh, document.body.scan]
    return list(dict.fromkeys(name for name in named if "." in name))


def _is_take(view: object) -> bool:
    return str(getattr(view, "deformer", "")).startswith("take:")


def _is_known(session: Session, name: str) -> bool:
    uploads = session.uploads
    is_mesh = name == session.document.rig.mesh
    return (
        name in uploads.motions or name in session.stage.takes or is_mesh or name in session.scanned
    )


def bundle(session: Session, packet: Packet) -> None:
    """Make one file of the session and of all files that it names."""
    out = place_for(session, "session.zip")
    names = [name for name in files_of(session.document) if name in session.uploads.paths]
    files = {name: session.uploads.paths[name] for name in names}
    document = as_json(session.document)

    def work() -> Packet:
        written(out, document, files)
        return Packet("made", {})

    session.background.start(out.name, work, made_at(session, out))
    session.tell_busy()


def open_bundle(session: Session, answer: Packet) -> None:
    """Take a session file with its files, which lie unpacked in the tab's folder."""
    home = Path(str(answer.fields["folder"]))
    names: dict[str, str] = {}
    for name in answer.fields["files"]:
        names[name] = session.uploads.adopt(home / name)
    bring(session, renamed(parse(answer.fields["document"]), names))
    session.tell(f"A session with {len(names)} files is loaded.")


def renamed(document: Document, names: dict[str, str]) -> Document:
    """The document with files under the names that they have here."""

    def new(name: str) -> str:
        return names.get(name, name)

    views = tuple(
        replace(view, deformer=f"take:{new(view.deformer.removeprefix('take:'))}")
        if _is_take(view)
        else view
        for view in document.views
    )
    return replace(
        document,
        views=views,
        motion=replace(document.motion, name=new(document.motion.name)),
        rig=replace(document.rig, mesh=new(document.rig.mesh)),
        body=replace(document.body, scan=new(document.body.scan)),
    )


ACTIONS: dict[str, Action] = {"keep": keep, "restore": restore, "bundle": bundle}
