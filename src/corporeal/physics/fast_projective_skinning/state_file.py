"""A simulation's state in a file, and back: a plain `.npz`, without pickles.

=================================== ============= ===========================================
array                               shape         unit, meaning
=================================== ============= ===========================================
`format`, `format_version`          ()            `corporeal-state`, 2
`rest_vertices`, `rest_joints`      (V,3), (J,3)  metres: whose state it is
`parameter/<name>`                  any           what made the identity
`flesh/positions`, `flesh/earlier_positions`    (n,3)  metres
`flesh/velocities`, `flesh/earlier_velocities`  (n,3)  m/s
`flesh/step`                        ()            seconds from earlier to now
`touching/pairs`                    (C,2)         skin vertices and the triangles they rest on;
                                                  none of these where collisions are off
`touching/shares`                   (C,3)         barycentric coordinates of their feet
`touching/normals`                  (C,3)         out of the triangles, as their bones see them
`touching/offsets`                  (C,)          metres that they are kept apart
`touching/places`                   (C,3)         metres from the foot, where friction holds
                                                  them, as the triangles' bones see it
`touching/rates`                    (C,)          how fast they change, 0 to 1
`touching/edges/pairs`              (E,2)         skin edges that are kept apart, and likewise
                                                  their `shares` (E,2), `normals`, `offsets`,
                                                  `places` and `rates`; none in older files
`flesh/pressures`                   (K,)          Pa, in regions whose volume is kept; none where
                                                  none is
`joint_rotations`                   (J,3)         axis-angle, radians
`root_translation`                  (3,)          metres
`time`                              ()            seconds since the start
=================================== ============= ===========================================

Numbers keep their type, so that a resumed simulation goes on bit for bit.
"""

from dataclasses import fields
from pathlib import Path

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import FormatError
from corporeal.formats.npz import NpzReader, open_npz, write_npz
from corporeal.physics.contact.touching import Touching, TouchingEdges
from corporeal.physics.fast_projective_skinning.simulation import SimulationState
from corporeal.physics.solver.integration import State

FORMAT = "corporeal-state"
VERSION = 2
_FLESH = ("positions", "velocities", "earlier_positions", "earlier_velocities")


def write_state(path: str | Path, state: SimulationState) -> None:
    """Write a state, wholly or not at all."""
    identity, pose = state.identity, state.pose
    arrays = {
        "format": np.asarray(FORMAT),
        "format_version": np.asarray(VERSION),
        "rest_vertices": np.asarray(identity.rest_vertices),
        "rest_joints": np.asarray(identity.joints),
        "joint_rotations": np.asarray(pose.joint_rotations),
        "root_translation": np.asarray(pose.root_translation),
        "flesh/step": np.asarray(float(state.flesh.step)),
        "time": np.asarray(float(state.time)),
    }
    for name, value in identity.parameters.items():
        arrays[f"parameter/{name}"] = np.asarray(value, np.float64)
    for name in _FLESH:
        arrays[f"flesh/{name}"] = getattr(state.flesh, name)
    touching = state.flesh.touching
    if touching is not None:
        for field in fields(Touching):
            if field.name != "edges":
                arrays[f"touching/{field.name}"] = getattr(touching, field.name)
    if touching is not None and touching.edges is not None:
        for field in fields(TouchingEdges):
            arrays[f"touching/edges/{field.name}"] = getattr(touching.edges, field.name)
    if state.flesh.pressures is not None:
        arrays["flesh/pressures"] = state.flesh.pressures
    write_npz(path, arrays)


def read_state(path: str | Path, identity: Identity | None = None) -> SimulationState:
    """Read a state. Give the `identity` it belongs to, if it is there, and what a simulation has
    prepared for it is used again; a state of another body is refused."""
    with open_npz(path) as file:
        _require_format(file)
        flesh = State(
            *(file.array(f"flesh/{name}", "f", ("n", 3)) for name in _FLESH),
            step=float(file.array("flesh/step", "f", ())),
            touching=_touching(file) if "touching/pairs" in file.headers else None,
            pressures=file.array("flesh/pressures", "f", ("K",))
            if "flesh/pressures" in file.headers
            else None,
        )
        pose = Pose(
            file.array("joint_rotations", "f", ("J", 3)), file.array("root_translation", "f", (3,))
        )
        return SimulationState(
            _identity(file, identity), flesh, pose, float(file.array("time", "f", ()))
        )


def _touching(file: NpzReader) -> Touching:
    return Touching(
        file.array("touching/pairs", "i", ("C", 2)),
        file.array("touching/shares", "f", ("C", 3)),
        file.array("touching/normals", "f", ("C", 3)),
        file.array("touching/offsets", "f", ("C",)),
        file.array("touching/places", "f", ("C", 3)),
        file.array("touching/rates", "f", ("C",)),
        _touching_edges(file) if "touching/edges/pairs" in file.headers else None,
    )


def _touching_edges(file: NpzReader) -> TouchingEdges:
    return TouchingEdges(
        file.array("touching/edges/pairs", "i", ("E", 2)),
        file.array("touching/edges/shares", "f", ("E", 2)),
        file.array("touching/edges/normals", "f", ("E", 3)),
        file.array("touching/edges/offsets", "f", ("E",)),
        file.array("touching/edges/places", "f", ("E", 3)),
        file.array("touching/edges/rates", "f", ("E",)),
    )


def _identity(file: NpzReader, known: Identity | None) -> Identity:
    vertices = file.array("rest_vertices", "f", ("V", 3))
    joints = file.array("rest_joints", "f", ("J", 3))
    if known is None:
        parameters = {
            name.removeprefix("parameter/"): file.array(
                name, "f", tuple(f"{name} axis {k}" for k in range(len(file.headers[name].shape)))
            )
            for name in file.names("parameter/")
        }
        return Identity(vertices, joints, parameters)
    same = np.array_equal(vertices, np.asarray(known.rest_vertices))
    if not (same and np.array_equal(joints, np.asarray(known.joints))):
        raise FormatError(
            f"{file.path} holds the state of another body than the identity given. Give the one it "
            f"was saved with, or none."
        )
    return known


def _require_format(file: NpzReader) -> None:
    found = file.text("format") if "format" in file.headers else None
    if found != FORMAT:
        raise FormatError(
            f"{file.path} is {f'a {found} file' if found else 'no corporeal file'}; expected a "
            f"simulation's state, {FORMAT}."
        )
    version = int(file.array("format_version", "i", ()))
    if version > VERSION:
        raise FormatError(
            f"{file.path} has format version {version}; this corporeal reads up to {VERSION}. "
            f"Install a newer corporeal."
        )
