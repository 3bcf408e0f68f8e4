"""Scans that become the person on the stage."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal.errors import InputError
from corporeal.formats.native import read_body
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.job_process import MAKING, Job
from corporeal.viewer.packets import Packet
from corporeal.viewer.rig import Rig
from corporeal.viewer.session import Session


def look_at_scan(session: Session, name: str) -> None:
    """Register a scan beside the show; the person is on the stage when it is done."""
    from corporeal.viewer.jobs.scan import register

    path = session.uploads.paths[name]
    out = session.uploads.make(f"{Path(name).stem}-person.npz")
    arguments = (str(path), str(session.uploads.paths[out]))

    def done(answer: Packet) -> None:
        take_person(session, out)
        document = replace(session.document, body=BodyChoice(scan=out))
        if document.rig.mesh == name:
            document = replace(document, rig=Rig())
        session.apply(document)
        session.uploads.forget(name)
        session.tell("; ".join(answer.fields["remarks"]))

    session.background.spawn(name, Job(register, arguments, MAKING), done)
    session.tell_busy()


def take_person(session: Session, name: str) -> None:
    """Know a registered person's file from now on."""
    body = read_body(session.uploads.paths[name])
    model = session.model
    if not np.array_equal(body.template.mesh.triangles, model.template.mesh.triangles):
        raise InputError(f"{name} has another surface than the studio's bodies.")
    session.scanned[name] = body.identity
