"""The skeleton editor: meshes of one's own, and joints in them."""

from dataclasses import replace
from pathlib import Path

from corporeal.errors import InputError
from corporeal.pipelines.deformers import deformers_where, in_words
from corporeal.viewer.actions.out import made_at, place_for
from corporeal.viewer.actions.scan import look_at_scan
from corporeal.viewer.actions.upload import look_at, show_take, use_joints
from corporeal.viewer.job_process import Job
from corporeal.viewer.packets import Packet
from corporeal.viewer.rig import Rig, skeleton_of
from corporeal.viewer.session import Action, Session

FORMATS = ("skel", "json", "glb")


def find(session: Session, packet: Packet) -> None:
    """Fit the default skeleton to the mesh, which must be a person's."""
    from corporeal.viewer.jobs.rig import fit

    mesh, up = _mesh(session), session.document.rig.up

    def done(answer: Packet) -> None:
        use_joints(session, answer)
        count, sure = len(answer.fields["names"]), float(answer.fields["confidence"])
        session.tell(f"{count} joints; {100 * sure:.0f} % of the surface lies on the fitted body.")

    session.background.spawn("skeleton", Job(fit, (mesh, up)), done)
    session.tell_busy()


def write(session: Session, packet: Packet) -> None:
    """Make a file of the skeleton, or of the mesh with it."""
    from corporeal.viewer.jobs.rig import RigOrder, save

    suffix = str(packet.fields["format"])
    if suffix not in FORMATS:
        raise InputError(f"no skeleton is written as .{suffix}; there are {', '.join(FORMATS)}.")
    rig, mesh = session.document.rig, _mesh(session)
    skeleton_of(rig)
    out = place_for(session, f"{Path(rig.mesh).stem}.{suffix}")
    order = RigOrder(rig, mesh, str(out))
    session.background.spawn(out.name, Job(save, (order,)), made_at(session, out))
    session.tell_busy()


def attempt(session: Session, packet: Packet) -> None:
    """Move the mesh as the motion says, and show that beside the bodies."""
    from corporeal.viewer.jobs.rig import RigOrder, RigTry, move

    deformer = str(packet.fields["deformer"])
    able = deformers_where(accepts_custom_mesh=True)
    if deformer not in able:
        raise InputError(f"{deformer!r} moves no custom mesh; expected {in_words(able)}.")
    rig, mesh, motion = session.document.rig, _mesh(session), session.document.motion
    skeleton_of(rig)
    name = f"{Path(rig.mesh).stem}-moved.npz"
    out = session.uploads.make(name)
    order = RigOrder(rig, mesh, str(session.uploads.paths[out]))
    way = RigTry(session.uploads.motion_source(motion.name), motion.duration, deformer)
    frames = session.uploads.place(out, ".npy")
    body = session.document.body

    def done(answer: Packet) -> None:
        show_take(session, out, body, answer)

    session.background.spawn(out, Job(move, (order, way, str(frames))), done)
    session.tell_busy()


def scan(session: Session, packet: Packet) -> None:
    """Register the open mesh as a scan of a person, who then stands on the stage."""
    _mesh(session)
    look_at_scan(session, session.document.rig.mesh)


def again(session: Session, packet: Packet) -> None:
    """Send the open mesh once more, such as to a session that was loaded."""
    _mesh(session)
    look_at(session, session.document.rig.mesh)


def close(session: Session, packet: Packet) -> None:
    """Put mesh and joints away."""
    session.apply(replace(session.document, rig=Rig()))


def _mesh(session: Session) -> str:
    """File of the open mesh."""
    name = session.document.rig.mesh
    if name not in session.uploads.paths:
        raise InputError(f"the mesh {name!r} is not open here; open its file first.")
    return str(session.uploads.paths[name])


ACTIONS: dict[str, Action] = {
    "rig find": find,
    "rig write": write,
    "rig try": attempt,
    "rig scan": scan,
    "rig again": again,
    "rig close": close,
}
