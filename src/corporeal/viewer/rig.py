"""The skeleton of a person's custom mesh, as it is being built on the page."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.joint_tree import Joint, joint_tree
from corporeal.runtime.names import repeated
from corporeal.viewer.messages import is_number

MOST_JOINTS = 512
Up = Literal["+y", "+z"]
FRONT: dict[str, str] = {"+y": "+z", "+z": "-y"}
"""Where a mesh faces, by its upward axis."""


@dataclass(frozen=True)
class RigJoint:
    """One joint."""

    name: str
    """Unique within a rig."""
    parent: str | None
    """Name of the parent; None for the root."""
    position: tuple[float, float, float]
    """In the mesh's unit and axes."""


@dataclass(frozen=True)
class Rig:
    """A mesh, and joints in it."""

    mesh: str = ""
    """Name of an uploaded mesh; empty where none is open."""
    up: Up = "+y"
    """Upward axis of the mesh."""
    joints: tuple[RigJoint, ...] = ()
    """Parents before children."""


def read_rig(plain: Any) -> Rig:
    """A checked rig of plain values; joints may still lack a root while they are placed."""
    if not isinstance(plain, dict) or set(plain) - {"mesh", "up", "joints"}:
        raise InputError("the rig is no object with mesh, up and joints.")
    mesh, up, rows = plain.get("mesh", ""), plain.get("up", "+y"), plain.get("joints", [])
    if not isinstance(mesh, str) or len(mesh) > 100 or up not in get_args(Up):
        raise InputError(f"the rig is of mesh {mesh!r:.60} with {up!r:.20} up; expected +y or +z.")
    if not isinstance(rows, list | tuple) or len(rows) > MOST_JOINTS:
        raise InputError(f"the rig's joints are no list of at most {MOST_JOINTS}.")
    joints = tuple(_joint(row) for row in rows)
    names = [joint.name for joint in joints]
    if twice := repeated(names):
        raise InputError(f"two joints are called {twice[0]!r}; give them different names.")
    for joint in joints:
        if joint.parent is not None and joint.parent not in names:
            raise InputError(f"joint {joint.name!r} hangs on {joint.parent!r:.60}, which is none.")
    return Rig(mesh, up, joints)


def skeleton_of(rig: Rig) -> Skeleton:
    """The skeleton, in the mesh's unit; raises `InputError` for what is no tree."""
    return joint_tree([Joint(row.name, row.position, row.parent) for row in rig.joints])


def rig_joints(skeleton: Skeleton) -> tuple[RigJoint, ...]:
    """A skeleton's joints, as the page edits them."""
    return tuple(
        RigJoint(
            name,
            None if parent < 0 else skeleton.names[parent],
            (float(place[0]), float(place[1]), float(place[2])),
        )
        for name, parent, place in zip(
            skeleton.names, skeleton.parents, skeleton.joints, strict=True
        )
    )


def _joint(row: Any) -> RigJoint:
    if not isinstance(row, dict) or set(row) != {"name", "parent", "position"}:
        raise InputError(f"a joint is {str(row)[:60]!r}; expected name, parent and position.")
    name, parent, place = row["name"], row["parent"], row["position"]
    if not isinstance(name, str) or not 0 < len(name.strip()) <= 64:
        raise InputError(f"a joint is called {str(name)[:64]!r}; expected 1 to 64 letters.")
    if parent is not None and not isinstance(parent, str):
        raise InputError(f"joint {name!r} hangs on {str(parent)[:40]!r}; expected a name.")
    is_place = isinstance(place, list | tuple) and len(place) == 3
    if not is_place or not all(is_number(x) and abs(x) < 1e9 for x in place):
        raise InputError(f"joint {name!r} is at {str(place)[:60]}; expected three numbers.")
    return RigJoint(name, parent, (float(place[0]), float(place[1]), float(place[2])))
