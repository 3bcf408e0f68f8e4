"""All the flesh of a clip, frame by frame, from a device.

The first frame, and one after a cut where flesh begins anew, is brought into balance on the CPU.
The others come in pieces of a constant number of frames, and bodies are filled up to common shapes
(`gpu.padding`): one program serves clips of any length and all people of a template.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.numerics.cholesky import CholeskyFactor
from corporeal.physics.contact.gpu.detection import Capacity, require_capacity
from corporeal.physics.contact.touching import Touching
from corporeal.physics.fast_projective_skinning.clip import Clip
from corporeal.physics.fast_projective_skinning.flesh_frames import FleshFrame
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    SkeletonFrames,
    Wanted,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.contacts import (
    Collisions,
    Touched,
    collisions_of,
    device_touching,
)
from corporeal.physics.fast_projective_skinning.gpu.frames import Rounds
from corporeal.physics.fast_projective_skinning.gpu.host_state import host_state
from corporeal.physics.fast_projective_skinning.gpu.padding import (
    longer,
    padded_body,
    padded_inverse,
    padded_neighbours,
    padded_preservation,
    padded_skin,
    padded_state,
)
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body, device_skin
from corporeal.physics.fast_projective_skinning.gpu.take import MOST_CONTACTS
from corporeal.physics.fast_projective_skinning.lru_cache import LruCache
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.elements import system_matrix
from corporeal.physics.solver.gpu.inverse import Inverse, inverse_of
from corporeal.physics.solver.gpu.step import SolverOptions, SolverState
from corporeal.physics.solver.integration import State, StepRule
from corporeal.physics.volume_preservation.gpu import DevicePreservation, preservation_with
from corporeal.runtime.devices import jax_device

PIECE = 30
"""Frames that go to the device and come back together."""
_FLESH = Wanted(vertices=False, flesh=True)


@dataclass(frozen=True)
class _Prepared:
    """A body on the device, with what its steps of one rule need."""

    plain: DeviceBody
    """As it is."""
    body: DeviceBody
    """Filled up."""
    rule: StepRule
    inverse: Inverse
    preservation: DevicePreservation | None
    collisions: Collisions | None
    """Without what touches; None where nothing does."""


class _Went(NamedTuple):
    """What came of a way: N frames."""

    after: SolverState
    """When it ends, and its rests."""
    free: Float64[NumpyArray, "N f 3"]
    """The free vertices, from the origins of the frames, metres."""
    residuals: Float64[NumpyArray, "N"]
    """As `CpuSolver.residual`, metres."""
    touched: Touched | None
    capacity: Capacity
    """That its contacts needed."""


class DeviceClips:
    """Clips of two-layer or layered flesh on a device, without colliders, wind or grabs."""

    def __init__(self, name: str, piece: int = PIECE) -> None:
        """`name` is `gpu`, `gpu:N`, or `cpu` for JAX's own; `piece` frames are taken together."""
        self._device, self._piece = jax_device(name), piece
        self._kernels = name != "cpu"
        self._kept = LruCache()

    def frames(self, clip: Clip) -> Iterator[FleshFrame]:
        """The flesh at every frame, the first included, one after the other."""
        _require_offered(clip)
        path, steps, frame = clip.body.frames(clip.poses), clip.steps, 0
        flesh, capacity = clip.beginning(path), Capacity()
        yield _begun(clip, flesh)
        while frame < clip.frame_count - 1:
            crossing = clip.crossings.get(frame + 1)
            if crossing is not None and crossing.start is None:
                flesh, frame = clip.beginning(path, frame + 1), frame + 1
                yield _begun(clip, flesh)
                continue
            cuts = [cut for cut in clip.crossings if cut > frame + 1]
            end = min(frame + self._piece, min(cuts, default=clip.frame_count) - 1)
            way = path[frame * steps : end * steps + 1]
            if crossing is not None:
                flesh, virtual = clip.crossed(flesh, path, frame + 1)
                way = np.concatenate([virtual[None], way[1:]])
            rests = self._piece - (end - frame) if end == clip.frame_count - 1 else 0
            flesh, found, capacity = self._taken(clip, flesh, way, rests, capacity)
            yield from found
            frame = end

    def _taken(
        self,
        clip: Clip,
        flesh: State,
        way: Float64[NumpyArray, "k J 4 4"],
        rests: int,
        capacity: Capacity,
    ) -> tuple[State, list[FleshFrame], Capacity]:
        """The state after a way, its frames, and the capacity that their contacts needed; so many
        frames more, at rest, make it a whole piece, if it is the last."""
        prepared, steps = self._prepared(clip), clip.steps
        more = np.repeat(way[-1:], steps * rests, axis=0)
        frames, origins = clip_frames(np.concatenate([way, more])[:, None])
        start = device_state(prepared.plain, [flesh], origins[0], clip.step)
        start = padded_state(start, prepared.body)
        went = self._went(clip, start, flesh.touching, frames, rests, capacity)
        positions = clip.body.carriers(way[steps::steps])
        chosen = np.asarray(prepared.plain.order)[: prepared.plain.free_count]
        positions[:, chosen] = went.free + origins[steps : len(way) : steps]
        found = zip(positions, went.residuals, strict=True)
        end = host_state(
            prepared.plain, clip.body, went.after, went.touched, way, origins[-1, 0], prepared.rule
        )
        return end, [FleshFrame(x, float(residual)) for x, residual in found], went.capacity

    def _went(
        self,
        clip: Clip,
        start: SolverState,
        touching: Touching | None,
        frames: SkeletonFrames,
        rests: int,
        capacity: Capacity,
    ) -> _Went:
        """Run on the device, again with twice the capacity where contacts did not fit."""
        prepared, collisions = self._prepared(clip), self._prepared(clip).collisions
        if collisions is not None:
            began = device_touching(prepared.plain, touching)
            collisions = collisions._replace(touching=began)
        piece, known = len(frames.path) // clip.steps, prepared.plain.free_count
        while True:
            with jax.default_device(self._device):
                after, posed, touched = run_clip(
                    prepared.body, prepared.inverse, prepared.rule, start, frames, collisions,
                    None, prepared.preservation, _rounds(clip),
                    steps=clip.steps, piece=piece, wanted=_FLESH,
                    options=self._options(clip), capacity=capacity,
                )  # fmt: skip
            free = np.asarray(posed.flesh, np.float64)[: piece - rests, :, :known, 0]
            squares = np.asarray(posed.squares, np.float64)[: piece - rests, 0]
            went = _Went(
                after, free.transpose(0, 2, 1), np.sqrt(squares / known), touched, capacity
            )
            # Flesh without a shape has contacts everywhere: no capacity is enough for it.
            if touched is None or not np.isfinite(free).all():
                return went
            full = np.asarray(touched.full)[: piece - rests]
            if not full.any() or capacity.contacts >= MOST_CONTACTS:
                require_capacity(full, capacity)
                return went
            capacity = capacity.doubled()

    def _options(self, clip: Clip) -> SolverOptions:
        """Kernels where they run; iterations are not written out, since programs with contacts
        take long to compile. Steps of moving flesh settle where the simulation's do."""
        return SolverOptions(
            kernels=self._kernels,
            untangled=clip.body.system.untangled,
            unrolled=1,
            patience=clip.simulation.patience if clip.body.settings.dynamics else None,
        )

    def _prepared(self, clip: Clip) -> _Prepared:
        settings = clip.body.settings
        length = round(1e9 * clip.step)
        return self._kept.get(
            "prepared", (clip.identity, settings, length), lambda: self._prepare(clip)
        )

    def _bodies(self, clip: Clip) -> tuple[DeviceBody, DeviceBody]:
        """The body of a clip, as it is and filled up on the device: flesh that moves and flesh in
        balance share it."""

        def make() -> tuple[DeviceBody, DeviceBody]:
            plain = device_body(clip.body)
            return plain, jax.device_put(padded_body(plain), self._device)

        settings = replace(clip.body.settings, dynamics=True)
        return self._kept.get("body", (clip.identity, settings), make)

    def _prepare(self, clip: Clip) -> _Prepared:
        settings, (plain, body) = clip.body.settings, self._bodies(clip)
        iterations = settings.iterations * (1 if settings.dynamics else 2)
        integrator = "bdf2" if settings.dynamics else "static"
        rule = damped_rule(clip.step, iterations, settings.damping_ratio, integrator)
        matrix = system_matrix(plain.elements, rule.inertia, len(plain.order), rule.stiffening)
        whole, free = CholeskyFactor(matrix).inverse(), body.free_count
        volume = plain.volume
        preservation = None if volume is None else preservation_with(volume, matrix)
        collisions = None
        if settings.collisions != "off":
            finder, meeting = clip.body.skin_contacts(), clip.body.meeting
            skin = padded_skin(device_skin(finder, clip.body.model, meeting))
            dense = longer(longer(whole, 0, free), 1, free)
            collisions = collisions_of(body, skin, dense)
            collisions = collisions._replace(near=padded_neighbours(collisions.near, body))
        made = (
            padded_inverse(inverse_of(whole), free),
            padded_preservation(preservation, body),
            collisions,
        )
        return _Prepared(plain, body, rule, *jax.device_put(made, self._device))


def _rounds(clip: Clip) -> Rounds | None:
    """Of static frames, as the simulation has them; None where flesh moves."""
    if clip.body.settings.dynamics:
        return None
    following = clip.simulation.following
    return Rounds(following.most, following.still)


def _begun(clip: Clip, flesh: State) -> FleshFrame:
    """A frame that the CPU brought into balance."""
    return FleshFrame(flesh.positions, clip.body.solver(1.0, "static").residual)


def _require_offered(clip: Clip) -> None:
    """Refuse what only the CPU simulates frame by frame."""
    settings, outside = clip.body.settings, clip.outside
    asked = {
        "colliders": bool(outside.colliders),
        "wind": outside.wind is not None,
        "grabs": bool(outside.grabs),
        "loops": settings.loop,
    }
    refused = [what for what, there in asked.items() if there]
    if refused:
        raise InputError(
            f"the GPU records clips with nothing around the body; it does not offer "
            f"{', '.join(refused)}. Use --device cpu."
        )
