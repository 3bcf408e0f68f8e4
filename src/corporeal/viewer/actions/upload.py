"""Files that are dropped on the page: looked at beside the show, then used as what they are."""

from dataclasses import replace
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import InputError
from corporeal.viewer.document import MOST_VIEWS, BodyChoice, View, changed, parse
from corporeal.viewer.job_process import READING, Job
from corporeal.viewer.messages import require_plain
from corporeal.viewer.packets import Packet
from corporeal.viewer.players import TakePlayer
from corporeal.viewer.rig import Rig
from corporeal.viewer.session import Action, Session
from corporeal.viewer.uploads import motion_in


def upload(session: Session, packet: Packet) -> None:
    """Keep a file and look at what it is, or register it as a scan."""
    from corporeal.viewer.actions.scan import look_at_scan

    given = str(packet.fields["name"])
    content = packet.arrays["content"].astype(np.uint8, copy=False).tobytes()
    name = session.uploads.keep(given, content)
    session.send(Packet("kept", {"given": given, "name": name}))
    (look_at_scan if packet.fields.get("as") == "scan" else look_at)(session, name)


def look_at(session: Session, name: str) -> None:
    """Have a process look at one of the tab's files."""
    from corporeal.viewer.jobs.look import look

    path = session.uploads.paths[name]
    frames = session.uploads.place(name, ".npy")
    arguments = (str(path), session.document.body, session.body_file, str(frames))
    body = session.document.body

    def done(answer: Packet) -> None:
        if answer.kind not in _USES:
            raise InputError(f"{name} is a {answer.kind}, which the studio has no use for.")
        _USES[answer.kind](session, name, body, answer)

    session.background.spawn(name, Job(look, arguments, READING), done)
    session.tell_busy()


def forget(session: Session, packet: Packet) -> None:
    """Take a file away that nothing shows."""
    name = str(packet.fields["name"])
    used = {view.deformer for view in session.document.views}
    document = session.document
    if name in (document.motion.name, document.body.scan) or f"take:{name}" in used:
        raise InputError(f"{name} is in use; choose another motion or body first.")
    session.stage.takes.pop(name, None)
    session.surfaces.pop(name, None)
    session.uploads.forget(name)
    tell_files(session)


def tell_files(session: Session) -> None:
    """Tell the page what there is of files."""
    motions, takes = list(session.uploads.motions), list(session.stage.takes)
    session.send(Packet("files", {"motions": motions, "takes": takes}))


def _motion(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    session.uploads.motions[name] = (body, motion_in(answer, session.model.template))
    tell_files(session)
    session.apply(replace(session.document, motion=replace(session.document.motion, name=name)))
    seconds = answer.fields["frames"] / answer.fields["fps"]
    notes = "; ".join(answer.fields["notes"])
    session.tell(f"{name}: {seconds:.1f} s of motion, fitted to this body. {notes}")


def begin_take(session: Session, name: str, answer: Packet) -> NumpyArray:
    """Know a take from now on; gives back its frames (N, V, 3)."""
    frames = np.load(session.uploads.place(name, ".npy"), mmap_mode="r", allow_pickle=False)
    session.stage.takes[name] = TakePlayer(frames, float(answer.fields["fps"]))
    if "triangles" in answer.arrays:
        arrays = {"triangles": np.asarray(answer.arrays["triangles"])}
        about = Packet("surface", {"name": name, "vertices": frames.shape[1]}, arrays)
        session.surfaces[name] = about
        session.send(about)
    if "motion" in answer.fields:
        moved = Packet("motion", answer.fields["motion"], answer.arrays)
        session.uploads.motions[name] = (None, motion_in(moved, session.model.template))
    return frames


def show_take(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    """Show a take, with the body and the motion that it was made of beside it."""
    from corporeal.viewer.jobs.look import MOST_SECONDS

    frames = begin_take(session, name, answer)
    document = session.document
    if name in session.uploads.motions:
        motion = session.uploads.motions[name][1]
        if motion.frame_count >= _taken_frames(session):
            document = replace(document, motion=replace(document.motion, name=name, root="free"))
        if "sliders" in answer.fields:
            document = replace(document, body=_choice(answer))
    elif document.motion.name not in session.uploads.motions:
        seconds = min(len(frames) / float(answer.fields["fps"]), MOST_SECONDS)
        lasting = max(document.motion.duration, seconds)
        document = replace(document, motion=replace(document.motion, duration=lasting))
    tell_files(session)
    views = [*(() if session.stands_in else document.views), View(f"take:{name}")]
    session.stands_in = False
    session.apply(replace(document, views=tuple(views[-MOST_VIEWS:])))
    session.tell(f"{name}: {len(frames)} frames by {answer.fields['deformer']}.")


def _taken_frames(session: Session) -> int:
    """Length of the take that is played; 0 where another motion is. The longest take leads."""
    kept = session.uploads.motions.get(session.document.motion.name)
    return kept[1].frame_count if kept is not None and kept[0] is None else 0


def _mesh(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    if session.document.rig.mesh != name:
        session.apply(replace(session.document, rig=Rig(mesh=name)))
    session.send(Packet("mesh", {"name": name}, answer.arrays))


def _skeleton(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    use_joints(session, answer)
    session.tell(f"{name}: {len(answer.fields['names'])} joints, in the mesh's unit.")


def use_joints(session: Session, answer: Packet) -> None:
    """Take the joints of a skeleton into the editor."""
    names, parents = answer.fields["names"], answer.fields["parents"]
    rows = [
        {"name": joint, "parent": None if up < 0 else names[up], "position": place}
        for joint, up, place in zip(names, parents, answer.fields["joints"], strict=True)
    ]
    session.apply(changed(session.document, ["rig", "joints"], rows))


def _body(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    session.apply(replace(session.document, body=_choice(answer)))


def _person(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    from corporeal.viewer.actions.scan import take_person

    take_person(session, name)
    session.apply(replace(session.document, body=BodyChoice(scan=name)))


def _bundle(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    from corporeal.viewer.actions.restore import open_bundle

    session.uploads.forget(name)
    open_bundle(session, answer)


def _session(session: Session, name: str, body: BodyChoice, answer: Packet) -> None:
    require_plain("the session", answer.fields["document"])
    session.apply(parse(answer.fields["document"]))
    session.tell(f"{name} is loaded.")


def _choice(answer: Packet) -> BodyChoice:
    """Sliders of a body, checked as those of a document are."""
    plain: dict[str, Any] = {name: answer.fields[name] for name in ("sliders", "local")}
    return parse({"body": plain}).body


_USES = {
    "motion": _motion,
    "take": show_take,
    "body": _body,
    "mesh": _mesh,
    "skeleton": _skeleton,
    "session": _session,
    "person": _person,
    "bundle": _bundle,
}
"""What is done with every kind of answer."""

ACTIONS: dict[str, Action] = {"upload": upload, "forget": forget}
