"""The deformer's clip on a device: begins on the CPU, where the flesh finds its balance once, then
all frames are one program."""

from functools import cached_property

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.contact.gpu.detection import Capacity, require_capacity
from corporeal.physics.fast_projective_skinning.clip import Clip
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.gpu.clip import clip_frames, device_state, run_clip
from corporeal.physics.fast_projective_skinning.gpu.contacts import (
    Collisions,
    collisions_of,
)
from corporeal.physics.fast_projective_skinning.gpu.environment import (
    device_world,
    grab_shares,
    grab_stiffness,
)
from corporeal.physics.fast_projective_skinning.gpu.frames import Rounds
from corporeal.physics.fast_projective_skinning.gpu.host_state import host_state
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body, device_skin
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.elements import system_matrix
from corporeal.physics.solver.gpu.inverse import Inverse, inverse_of, inverted
from corporeal.physics.solver.gpu.springs import sprung
from corporeal.physics.solver.gpu.step import SolverOptions
from corporeal.physics.solver.integration import State
from corporeal.physics.volume_preservation.gpu import DevicePreservation
from corporeal.runtime.devices import jax_device

_PIECE = 30
"""Frames coupled and upsampled together."""
MOST_CONTACTS = 8192
"""The capacity is doubled up to this many, where contacts do not fit."""


def device_posed_vertices(
    clip: Clip, name: str, capacity: Capacity | None = None
) -> Float64[NumpyArray, "N W 3"]:
    """The full skin at every frame (metres), simulated on the device called `name`.

    Without a `capacity` it is what contacts need: the clip is run again where they did not fit.
    """
    import jax

    _require_offered(clip)
    path = clip.body.frames(clip.poses)
    with jax.default_device(jax_device(name)):
        run = _DeviceClip(clip, name != "cpu", capacity)
        looped = clip.body.settings.loop
        flesh = clip.run_up(path, run.last) if looped else clip.beginning(path)
        moved = run.posed_vertices(flesh, path)
    first = np.asarray(clip.body.skin(flesh.positions), np.float64)
    return np.concatenate([first[None], moved])


def _require_offered(clip: Clip) -> None:
    """Refuse what only the CPU simulates."""
    if clip.frame_count < 2:
        raise InputError(
            "a clip of a single frame came; the GPU simulates those of two or more. Use --device "
            "cpu."
        )


class _DeviceClip:
    """A clip's body and rule on a device."""

    def __init__(self, clip: Clip, kernels: bool, capacity: Capacity | None) -> None:
        self.clip, self.body, self.settings = clip, clip.body, clip.body.settings
        self.static = not self.settings.dynamics
        iterations = self.settings.iterations * (2 if self.static else 1)
        integrator = "static" if self.static else "bdf2"
        self.rule = damped_rule(clip.step, iterations, self.settings.damping_ratio, integrator)
        self.prepared: DeviceBody = device_body(clip.body)
        quick = kernels and not self.static  # to run; written out, a program takes long to make
        self.options = SolverOptions(
            kernels=kernels,
            untangled=clip.body.system.untangled,
            unrolled=SolverOptions().unrolled if quick else 1,
        )
        self._capacity, self._largest = capacity or Capacity(), capacity is not None

    @property
    def _rounds(self) -> Rounds | None:
        """Of static frames, as the simulation has them."""
        following = self.clip.simulation.following
        return Rounds(following.most, following.still) if self.static else None

    @cached_property
    def _whole(self) -> NumpyArray:
        prepared, outside = self.prepared, self.clip.outside
        rule, count = self.rule, len(prepared.order)
        matrix = system_matrix(prepared.elements, rule.inertia, count, rule.stiffening)
        if outside.grabs:
            shares = grab_shares(outside, prepared)
            matrix = sprung(matrix, shares, grab_stiffness(outside))
        return inverted(matrix)

    @cached_property
    def _inverse(self) -> Inverse:
        return inverse_of(self._whole)

    @cached_property
    def _preservation(self) -> DevicePreservation | None:
        return self.prepared.preservation(self.rule)

    def last(self, flesh: State, path: Float64[NumpyArray, "k J 4 4"], first: int) -> State:
        """The state at the end of a path, from one at its frame `first`."""
        return self._taken(flesh, path, first)[0]

    def posed_vertices(
        self, flesh: State, path: Float64[NumpyArray, "k J 4 4"]
    ) -> Float64[NumpyArray, "N W 3"]:
        """The skins of all frames after the first, metres."""
        return self._taken(flesh, path, 0, skins_only=True)[1]

    def _taken(
        self,
        flesh: State,
        path: Float64[NumpyArray, "k J 4 4"],
        first: int,
        skins_only: bool = False,
    ) -> tuple[State, Float64[NumpyArray, "N W 3"]]:
        """The state at the end of a path, and the skins of all frames after `first`: a program for
        every stretch between two cuts, which flesh is brought across on the CPU.

        With `skins_only` the state is that of a last frame that goes on for a while.
        """
        cuts = [frame for frame in self.clip.crossings if frame > first]
        skins = []
        for number, end in enumerate([*cuts, self.clip.frame_count]):
            begin = first if number == 0 else cuts[number - 1]
            virtual = None
            if number > 0 and self.clip.crossings[begin].start is None:
                flesh = self.clip.beginning(path, begin)
                skins.append(np.asarray(self.body.skin(flesh.positions), np.float64)[None])
            elif number > 0:
                flesh, virtual = self.clip.crossed(flesh, path, begin)
                begin -= 1
            if begin == end - 1:
                continue
            steps = self.clip.steps
            way = path[begin * steps : (end - 1) * steps + 1]
            if virtual is not None:
                way = np.concatenate([virtual[None], way[1:]])
            padded = skins_only and end == self.clip.frame_count
            flesh, skin = self._stretch(flesh, way, begin * steps, padded)
            skins.append(skin)
        return flesh, np.concatenate(skins)

    def _stretch(
        self, flesh: State, way: Float64[NumpyArray, "k J 4 4"], begin: int, padded: bool
    ) -> tuple[State, Float64[NumpyArray, "N W 3"]]:
        """The state after the frames of a `way` from step `begin` on, and their skins. If `padded`,
        its last frame is repeated until there are whole pieces."""
        count = (len(way) - 1) // self.clip.steps
        piece = min(_PIECE, count)
        if not padded:
            piece = max(size for size in range(1, _PIECE + 1) if count % size == 0)
        more = np.repeat(way[-1:], self.clip.steps * (-count % piece), axis=0)
        flesh, skin = self._passed(flesh, np.concatenate([way, more]), begin, piece)
        return flesh, skin[:count]

    def _passed(
        self, flesh: State, path: Float64[NumpyArray, "k J 4 4"], begin: int, piece: int
    ) -> tuple[State, Float64[NumpyArray, "N W 3"]]:
        """The state at the end of a path from step `begin` on, and the skins of its frames."""
        steps = self.clip.steps
        frames, origins = clip_frames(path[:, None])
        times = self.clip.step * (begin + np.arange(len(path)))
        dense = self._whole.astype(np.float32)
        world = device_world(
            self.clip.outside, self.prepared, dense, times, origins[:, 0], self.static
        )
        collisions = self._collisions(dense, flesh)
        solver_state = device_state(self.prepared, [flesh], origins[0], self.clip.step)
        while True:
            after, posed_vertices, touched = run_clip(
                self.prepared, self._inverse, self.rule, solver_state, frames, collisions, world,
                self._preservation, self._rounds,
                steps=steps, piece=piece, options=self.options, capacity=self._capacity,
            )  # fmt: skip
            full = touched is not None and bool(np.asarray(touched.full).any())
            if not full or self._largest or self._capacity.contacts >= MOST_CONTACTS:
                break
            self._capacity = self._capacity.doubled()
        if touched is not None:
            require_capacity(touched.full, self._capacity)
        skin = np.asarray(posed_vertices.vertices, np.float64)[:, 0] + origins[steps::steps]
        ended = host_state(
            self.prepared, self.body, after, touched, path, origins[-1, 0], self.rule
        )
        return ended, skin

    def _collisions(self, dense: NumpyArray, flesh: State) -> Collisions | None:
        """Collisions, with what touches at the start."""
        if self.settings.collisions == "off":
            return None
        skin = device_skin(self.body.skin_contacts(), self.body.model, self.body.meeting)
        return collisions_of(self.prepared, skin, dense, flesh.touching)
