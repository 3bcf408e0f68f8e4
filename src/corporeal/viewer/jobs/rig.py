"""Skeletons of custom meshes: fitted to a human surface, written, tried in a motion."""

from dataclasses import dataclass
from pathlib import Path

from corporeal.formats.registry import read_mesh
from corporeal.formats.skeletons import write_skeleton
from corporeal.pipelines.animate import AnimateConfig, animate
from corporeal.pipelines.custom_mesh import load_custom_body
from corporeal.pipelines.motion_source import is_motion_file
from corporeal.pipelines.options import MeshOptions
from corporeal.pipelines.results import write_body_result
from corporeal.registration.skeleton_fit import fit_skeleton
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.jobs.look import look
from corporeal.viewer.packets import Packet
from corporeal.viewer.rig import FRONT, Rig, skeleton_of


@dataclass(frozen=True)
class RigOrder:
    """What is to be made of a rig."""

    rig: Rig
    """Joints as they are on the page."""
    mesh: str
    """File of the mesh."""
    out: str
    """File to write."""


@dataclass(frozen=True)
class RigTry:
    """How a rig is to be tried."""

    motion: str
    """An authored motion's name, or a motion file."""
    duration: float
    """Seconds, of an authored motion."""
    deformer: str
    """Name of the deformer."""


def fit(mesh: str, up: str) -> Packet:
    """The default skeleton, fitted to a human surface; in the mesh's unit and axes."""
    found = fit_skeleton(read_mesh(Path(mesh)), up)
    tree = found.skeleton
    return Packet(
        "skeleton",
        {
            "names": list(tree.names),
            "parents": list(tree.parents),
            "joints": [[float(x) for x in place] for place in tree.joints],
            "confidence": found.confidence,
        },
    )


def save(order: RigOrder) -> Packet:
    """Write the skeleton (.skel, .json), or the mesh with skeleton and skin weights (.glb)."""
    out, skeleton = Path(order.out), skeleton_of(order.rig)
    if out.suffix != ".glb":
        write_skeleton(out, skeleton, None)
        return Packet("made", {})
    tree = out.with_suffix(".skel.json")
    write_skeleton(tree, skeleton, None)
    own = load_custom_body(_options(order, tree))
    write_body_result(out, own.body)
    return Packet("made", {"notes": list(own.notes)})


def move(order: RigOrder, way: RigTry, frames: str) -> Packet:
    """Move the mesh by its skeleton and give the take back."""
    out = Path(order.out)
    tree = out.with_suffix(".skel.json")
    write_skeleton(tree, skeleton_of(order.rig), None)
    placed = _options(order, tree)
    config = AnimateConfig(
        out=out,
        motion=way.motion,
        duration=None if is_motion_file(way.motion) else way.duration,
        deformer=way.deformer,
        mesh=placed.mesh,
        skeleton=placed.skeleton,
        mesh_up=placed.mesh_up,
        mesh_front=placed.mesh_front,
    )
    animate(config)
    return look(str(out), BodyChoice(), None, frames)


def _options(order: RigOrder, skeleton: Path) -> MeshOptions:
    up = order.rig.up
    return MeshOptions(mesh=Path(order.mesh), skeleton=skeleton, mesh_up=up, mesh_front=FRONT[up])
