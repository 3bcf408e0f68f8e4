"""Taking things away: files of what is on screen, made in a process of its own."""

import secrets
from collections.abc import Callable
from pathlib import Path

from corporeal.errors import InputError
from corporeal.viewer.job_process import Job
from corporeal.viewer.packets import Packet
from corporeal.viewer.session import Action, Session

FORMATS = ("glb", "fbx", "usd", "usda", "abc", "npz", "mp4", "png", "html")
"""Suffixes of what can be made of a moving body."""
_MOST_KEPT = 12
"""Exports of a tab; the oldest goes."""


def make(session: Session, packet: Packet) -> None:
    """Make a file of a view's body; the page hears `made` when it is there."""
    from corporeal.viewer.jobs.export import Order, export, reexport

    suffix, number = str(packet.fields["format"]), int(packet.fields["view"])
    if suffix not in FORMATS:
        raise InputError(f"no file is made as .{suffix}; there are {', '.join(FORMATS)}.")
    if not 0 <= number < len(session.document.views):
        raise InputError(f"body {number} was asked for; there are {len(session.document.views)}.")
    motion, view = session.document.motion.name, session.document.views[number]
    if view.deformer.startswith("take:"):
        take = view.deformer.removeprefix("take:")
        out = place_for(session, f"{Path(take).stem}.{suffix}")
        job = Job(reexport, (str(session.uploads.paths[take]), str(out)), alone=True)
    else:
        out = place_for(session, f"{Path(motion).stem}-{view.deformer}.{suffix}")
        source = session.uploads.motion_source(motion)
        order = Order(session.document, number, str(out), source, session.body_file)
        job = Job(export, (order,), alone=True)
    session.background.spawn(out.name, job, made_at(session, out))
    session.tell_busy()


def make_body(session: Session, packet: Packet) -> None:
    """Make a file of the person at rest, as commands take it."""
    from corporeal.viewer.jobs.export import person

    out = place_for(session, "body.npz")
    arguments = (session.document, session.body_file, str(out))
    session.background.spawn(out.name, Job(person, arguments), made_at(session, out))
    session.tell_busy()


def made_at(session: Session, out: Path) -> Callable[[Packet], None]:
    """Tells the page where a made file is."""

    def done(answer: Packet) -> None:
        if not out.is_file():
            raise InputError(f"{out.name} was not written.")
        place = out.relative_to(session.folder).as_posix()
        fields = {"name": out.name, "place": place, "bytes": out.stat().st_size}
        session.send(Packet("made", {**answer.fields, **fields}))

    return done


def place_for(session: Session, name: str) -> Path:
    """A new folder for a file; its name cannot be guessed, and the oldest of many goes."""
    home = session.folder / "out"
    home.mkdir(parents=True, exist_ok=True)
    folders = sorted(home.iterdir(), key=lambda folder: folder.stat().st_mtime)
    for folder in folders[: max(0, len(folders) - _MOST_KEPT + 1)]:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    folder = home / secrets.token_urlsafe(9)
    folder.mkdir()
    return folder / name


ACTIONS: dict[str, Action] = {"make": make, "make body": make_body}
