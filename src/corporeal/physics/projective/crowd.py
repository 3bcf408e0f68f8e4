"""Crowds on a device: characters that share a body, and people who are all different.

Characters that share a body are the batch of `run_clip`: their global step is one matrix product
for all. Different people are run side by side, each with their own inverse; their arrays are filled
up to common lengths with vertices that nothing moves.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import numpy as np

from corporeal._typing import Array, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.projective.gpu_body import DeviceBody
from corporeal.physics.projective.gpu_clip import (
    ACCELERATED,
    SKIN,
    Frames,
    Skins,
    Wanted,
    run_clip,
)
from corporeal.physics.projective_dynamics.gpu import Moving, Way
from corporeal.physics.projective_dynamics.gpu_flesh import Elements, Flesh
from corporeal.physics.projective_dynamics.gpu_inverse import DenseInverse, Inverse, LocalInverse
from corporeal.physics.projective_dynamics.integration import StepRule


def assembled_people(
    bodies: Sequence[DeviceBody], inverses: Sequence[Inverse]
) -> tuple[DeviceBody, Inverse]:
    """Bodies of one template and their inverses, stacked along a first axis."""
    if len({type(inverse) for inverse in inverses}) != 1 or len(inverses) != len(bodies):
        raise InputError(
            f"{len(bodies)} bodies came with {len(inverses)} inverses of different forms; expected "
            f"one each, all dense or all local."
        )
    free = max(body.free_count for body in bodies)
    fixed = max(len(body.order) - body.free_count for body in bodies)
    width = max(body.flesh.weights.shape[1] for body in bodies)
    rigid = max(len(body.coupling.rigid_joints) for body in bodies)
    filled = [_filled(body, free, fixed, width, rigid) for body in bodies]
    return _stacked(filled), _stacked(_filled_inverses(inverses, free))


def assembled_states(movings: Sequence[Moving]) -> Moving:
    """States of different people, stacked along a first axis."""
    free = max(moving.positions.shape[1] for moving in movings)
    return _stacked(
        [Moving(*(_longer(np.asarray(part), 1, free) for part in moving)) for moving in movings]
    )


@partial(jax.jit, static_argnames=("rule", "steps", "piece", "wanted", "way"))
def run_people(
    bodies: DeviceBody,
    inverses: Inverse,
    rule: StepRule,
    movings: Moving,
    frames: Frames,
    *,
    steps: int = 1,
    piece: int = 1,
    wanted: Wanted = SKIN,
    way: Way = ACCELERATED,
) -> tuple[Moving, Skins]:
    """`run_clip` without collisions of every person, the first axis of all arrays being the person."""
    clip = partial(run_clip, steps=steps, piece=piece, wanted=wanted, way=way)
    return jax.vmap(
        lambda body, inverse, moving, path: clip(body, inverse, rule, moving, path)[:2]
    )(bodies, inverses, movings, frames)


def _filled(body: DeviceBody, free: int, fixed: int, width: int, rigid: int) -> DeviceBody:
    """The same body with more free and anchored vertices, which nothing holds or needs."""
    count, flesh = body.free_count, body.flesh
    place = np.arange(len(body.order))
    place[count:] += free - count

    def spread(values: Array) -> NumpyArray:
        wide = np.zeros(free + fixed, np.asarray(values).dtype)
        wide[place] = values
        return wide

    corners = _longer(place[np.asarray(flesh.corners)], 2, width)
    own = np.arange(free, dtype=np.int32)[:, None]
    corners = np.where(
        _longer(_longer(np.asarray(flesh.weights), 1, width), 0, free) > 0,
        _longer(corners, 1, free),
        own,
    )
    coupling = replace(
        body.coupling,
        rigid_joints=_longer(np.asarray(body.coupling.rigid_joints), 0, rigid),
        rigid_offsets=_longer(np.asarray(body.coupling.rigid_offsets), 0, rigid),
    )
    masses = _longer(np.asarray(flesh.masses), 0, free)
    none = np.zeros((0, 4), np.int32), np.zeros((0, 3, 3), np.float32), np.zeros(0, np.float32)
    return replace(
        body,
        order=spread(body.order),
        sources=spread(body.sources),
        skin_places=place[np.asarray(body.skin_places)].astype(np.int32),
        elements=Elements(*none, masses),
        weight=_longer(np.asarray(body.weight), 1, free),
        coupling=coupling,
        flesh=Flesh(
            corners.astype(np.int32),
            _longer(_longer(np.asarray(flesh.gradients), 2, width), 1, free),
            _longer(_longer(np.asarray(flesh.weights), 1, width), 0, free),
            masses,
        ),
    )


def _filled_inverses(inverses: Sequence[Inverse], free: int) -> list[Inverse]:
    """Inverses of one size; added vertices do not move."""
    if isinstance(inverses[0], DenseInverse):
        return [
            DenseInverse(_longer(_longer(np.asarray(dense.matrix), 0, free), 1, free))
            for dense in inverses
            if isinstance(dense, DenseInverse)
        ]
    local = [inverse for inverse in inverses if isinstance(inverse, LocalInverse)]
    pieces = max(len(inverse.rows) for inverse in local)
    groups = max(len(inverse.pieces) for inverse in local)
    most = max(inverse.pieces.shape[1] for inverse in local)
    return [
        LocalInverse(
            _longer(np.asarray(inverse.columns), 0, pieces),
            _longer(np.asarray(inverse.rows), 0, pieces),
            _longer(
                _longer(
                    np.where(inverse.pieces == len(inverse.rows), pieces, inverse.pieces),
                    0,
                    groups,
                    pieces,
                ),
                1,
                most,
                pieces,
            ).astype(np.int32),
        )
        for inverse in local
    ]


def _longer(values: NumpyArray, axis: int, length: int, fill: int = 0) -> NumpyArray:
    """The array filled up to `length` along an axis."""
    more = [(0, 0)] * values.ndim
    more[axis] = (0, length - values.shape[axis])
    return np.pad(values, more, constant_values=fill)


def _stacked(parts: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *parts)
