"""What is computed once, so that posing NumPy arrays is one call of a compiled kernel."""

from collections.abc import Callable
from math import prod

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.runtime.threads import over_slices
from corporeal.skinning.blocks import SkinBlocks

SkinKernel = Callable[..., None]
"""A compiled `pose_and_skin_*`, from joint rotations to posed vertices."""

_POSES_A_SLICE = 4  # fewer poses than this are not worth waking a thread


class PreparedSkin:
    """An identity, or a batch of identities, laid out in lanes for a kernel of one dtype."""

    def __init__(
        self, identity: Identity, parents: tuple[int, ...], blocks: SkinBlocks, kernel: SkinKernel
    ) -> None:
        rest = np.asarray(identity.rest_vertices, dtype=blocks.weights.dtype)
        joints = np.asarray(identity.joints, dtype=np.float64)
        self._batch = common_batch(rest.shape[:-2], joints.shape[:-2])
        self._vertex_count = rest.shape[-2]
        count = prod(self._batch)
        rest = np.broadcast_to(rest, (*self._batch, *rest.shape[-2:])).reshape(count, -1, 3)
        joints = np.broadcast_to(joints, (*self._batch, *joints.shape[-2:]))
        self._rest_lanes = blocks.rest_lanes(rest)
        self._joints = np.array(joints).reshape(count, -1, 3)
        self._parents = np.asarray(parents, dtype=np.int32)
        self._identity_indices = np.arange(count, dtype=np.int32).reshape(self._batch)
        self._blocks = blocks
        self._kernel = kernel

    def vertices(
        self, pose: Pose, out: NumpyArray | None = None
    ) -> Float[NumpyArray, "*batch V 3"]:
        """Posed skin, metres, in the dtype this was prepared for."""
        rotations, translation = pose.joint_rotations, pose.root_translation
        batch = common_batch(rotations.shape[:-2], translation.shape[:-1], self._batch)
        rotations, translation = (
            flatten_batch(rotations, batch, 2),
            flatten_batch(translation, batch, 1),
        )
        if self._batch:
            identity_of_pose = flatten_batch(self._identity_indices, batch, 0)
        else:
            identity_of_pose = np.zeros(len(rotations), np.int32)
        shape = (*batch, self._vertex_count, 3)
        result = result_array(shape, self._blocks.weights.dtype, out)
        flat_result = result.reshape(-1, self._vertex_count, 3)
        blocks = self._blocks

        def work(first: int, last: int) -> None:
            self._kernel(
                rotations, translation, identity_of_pose, self._joints, self._parents,
                blocks.starts, blocks.joints, blocks.weights, self._rest_lanes, blocks.vertices,
                flat_result, first, last,
            )  # fmt: skip

        over_slices(work, len(rotations), _POSES_A_SLICE)
        return result


def result_array(shape: tuple[int, ...], dtype: Array, out: NumpyArray | None) -> NumpyArray:
    """Where to write: `out`, if it fits, or a new array."""
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape or out.dtype != dtype or not out.flags.carray:
        raise InputError(
            f"out is {out.dtype}{out.shape}; expected a contiguous {dtype}{shape} that can be "
            f"written to. Make it with numpy.empty."
        )
    return out


def aligned_zeros(shape: tuple[int, ...], dtype: Array) -> NumpyArray:
    """Zeros that begin at a multiple of 64 bytes, so that no vector is in two cache lines."""
    size = prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


def common_batch(*batches: tuple[int, ...]) -> tuple[int, ...]:
    """What the leading axes broadcast to; the usual cases without NumPy's slow general rule."""
    distinct = {batch for batch in batches if batch}
    return distinct.pop() if len(distinct) == 1 else np.broadcast_shapes(*distinct)


def flatten_batch(array: NumpyArray, batch: tuple[int, ...], inner: int) -> NumpyArray:
    """Broadcast the leading axes to `batch` and join them into one.

    Always a copy: contiguous and writable, so that kernels are compiled for one layout alone.
    """
    outer = array.ndim - inner
    tail = array.shape[outer:]
    if array.shape[:outer] != batch:
        array = np.broadcast_to(array, batch + tail)
    return np.array(array, order="C").reshape(-1, *tail)
