"""The motion of the person on the stage, made or fitted beside the show."""

from typing import TYPE_CHECKING

from corporeal.viewer.job_process import READING, Job
from corporeal.viewer.packets import Packet
from corporeal.viewer.person import authored
from corporeal.viewer.playhead import rooted
from corporeal.viewer.uploads import motion_in

if TYPE_CHECKING:
    from corporeal.viewer.session import Session


def perform(session: "Session") -> None:
    """Have the person do what the document says: authored in a thread, or fitted from a file."""
    model, identity = session.model, session.stage.identity
    choice, keys = session.document.motion, session.document.keys
    if choice.name in session.uploads.motions:
        _fit(session)
        return
    session.background.start(
        "motion", lambda: authored(model, identity, choice, keys), session.stage.perform
    )


def _fit(session: "Session") -> None:
    """Fit an uploaded motion to this person in a process of its own."""
    from corporeal.viewer.jobs.look import retarget

    choice, body, uploads = session.document.motion, session.document.body, session.uploads
    kept = uploads.fitted(choice.name, body)
    if kept is not None:
        session.background.cancel("motion")
        session.stage.perform(rooted(kept, choice.root))
        return

    def done(answer: Packet) -> None:
        motion = motion_in(answer, session.model.template)
        uploads.motions[choice.name] = (body, motion)
        session.stage.perform(rooted(motion, choice.root))

    arguments = (str(uploads.paths[choice.name]), body, session.body_file)
    session.background.spawn("motion", Job(retarget, arguments, READING), done)
