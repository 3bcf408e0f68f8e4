"""The deformer's clip on a device: begins on the CPU, where the flesh finds its balance once, then
all frames are one program."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.collisions.gpu_detection import Room, require_room
from corporeal.physics.projective.body import SimulatedBody
from corporeal.physics.projective.clip import Clip, frames_of
from corporeal.physics.projective.gpu_body import DeviceBody
from corporeal.physics.projective.gpu_clip import clip_frames, device_state, run_clip
from corporeal.physics.projective.gpu_preparation import device_body, device_skin
from corporeal.physics.projective.gpu_touch import Collisions, no_pairs
from corporeal.physics.projective_dynamics.gpu import Way
from corporeal.physics.projective_dynamics.gpu_flesh import system_matrix
from corporeal.physics.projective_dynamics.gpu_inverse import DenseInverse, inverse_of, inverted
from corporeal.physics.projective_dynamics.integration import State, StepRule
from corporeal.runtime.devices import jax_device

_PIECE = 30
"""Frames coupled and upsampled together."""


def device_skins(clip: Clip, name: str, room: Room | None = None) -> Float64[NumpyArray, "N W 3"]:
    """The full skin at every frame (metres), simulated on the device called `name`."""
    import jax

    _require_offered(clip)
    path, body = frames_of(clip.body, clip.poses), clip.body
    flesh = clip.beginning(path)
    rule = StepRule(clip.step, body.settings.iterations, body.settings.damping)
    room = room or Room()
    with jax.default_device(jax_device(name)):
        prepared = device_body(body)
        whole = inverted(system_matrix(prepared.elements, rule.inertia, len(prepared.order)))
        inverse = inverse_of(whole)
        dense = DenseInverse(whole.astype(np.float32))
        piece = min(_PIECE, clip.frame_count - 1)
        filled = _filled_up(path, clip.steps * piece)
        frames, origins = clip_frames(filled[:, None])
        moving = device_state(prepared, [flesh], origins[0], clip.step)
        collisions = None
        if body.settings.collisions == "global":
            collisions = _collisions(body, prepared, dense, flesh)
        _, skins, touched = run_clip(
            prepared, inverse, rule, moving, frames, collisions, steps=clip.steps, piece=piece,
            way=Way(kernels=name != "cpu"), room=room,
        )  # fmt: skip
        if touched is not None:
            require_room(touched.full, room)
        moved = np.asarray(skins.vertices[:, 0], np.float64) + origins[clip.steps :: clip.steps]
    first = np.asarray(body.skin(flesh.positions), np.float64)
    return np.concatenate([first[None], moved[: clip.frame_count - 1]])


def _require_offered(clip: Clip) -> None:
    """Refuse what only the CPU simulates."""
    settings, world = clip.body.settings, clip.outside
    asked = {
        "dynamics=0": not settings.dynamics,
        "loop=1": settings.loop,
        "colliders": bool(world.colliders),
        "wind": world.wind is not None,
        "grabs": bool(world.grabs),
        "local collisions": settings.collisions == "local",
    }
    refused = [what for what, there in asked.items() if there]
    if refused or clip.frame_count < 2:
        raise InputError(
            f"the GPU simulates moving flesh of clips of two frames or more, with global "
            f"collisions or none; it does not offer {', '.join(refused) or 'a single frame'}. "
            f"Use --device cpu."
        )


def _filled_up(path: Float64[NumpyArray, "k J 4 4"], whole: int) -> Float64[NumpyArray, "m J 4 4"]:
    """The last frame repeated until there are whole pieces after the first frame."""
    return np.concatenate([path, np.repeat(path[-1:], -(len(path) - 1) % whole, axis=0)])


def _collisions(
    body: SimulatedBody, prepared: DeviceBody, dense: DenseInverse, flesh: State
) -> Collisions:
    """Global collisions, with the pairs that rest at the start."""
    pairs = np.array(no_pairs(prepared))
    if flesh.touching is not None:
        for vertex, triangle in flesh.touching:  # the first two of every vertex
            place = 0 if pairs[0, vertex] == len(prepared.surface.triangles) else 1
            pairs[place, vertex] = triangle
    return Collisions(device_skin(body.skin_contacts(), body.model), dense.matrix, pairs)
