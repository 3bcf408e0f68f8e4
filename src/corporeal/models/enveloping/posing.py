"""A character laid out once, so that a pose is one call of a compiled kernel."""

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.enveloping import EnvelopingModel
from corporeal.body.pose import Pose
from corporeal.geometry.rotations import quaternion_from_matrix
from corporeal.models.enveloping.keys import RadialBasis
from corporeal.models.enveloping.rig import EnvelopingRig
from corporeal.runtime.threads import over_slices
from corporeal.skinning.blocks import SkinBlocks
from corporeal.skinning.prepared import common_batch, flatten_batch, result_array

_KINDS = {"rotation": 0, "swing": 1, "twist": 2}
_POSES_A_SLICE = 4


class KeyTables:
    """Key angles of a model as the kernel takes them."""

    def __init__(self, model: EnvelopingModel, rig: EnvelopingRig) -> None:
        drivers = model.corrections
        bases = [RadialBasis.of(d.keys, model.softness) for d in drivers]
        self.joints = np.array([d.joint for d in drivers], np.int64)
        self.kinds = np.array([_KINDS[d.kind] for d in drivers], np.int64)
        self.axes = rig.axes[self.joints] if len(drivers) else np.zeros((0, 3))
        counts = [len(d.keys) for d in drivers]
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.keys = np.zeros((sum(counts), 4))
        self.matrices = np.zeros((sum(counts), max(counts, default=0) + 1))
        for basis, first, count in zip(bases, self.starts, counts, strict=False):
            self.keys[first : first + count] = quaternion_from_matrix(basis.keys)
            self.matrices[first : first + count, : count + 1] = basis.matrix
        self.softness = float(model.softness)
        self.counts = np.array([count - 1 for count in counts], np.int64)

    def weights(self, turns: Float[NumpyArray, "N J 3"]) -> Float64[NumpyArray, "N k"]:
        """ω of all keys but every driver's first, from axis-angle vectors."""
        from corporeal.models.enveloping.posing_cpu import key_coefficients

        found = np.empty((len(turns), int(self.counts.sum())))
        for n, turn in enumerate(np.asarray(turns, np.float64)):
            key_coefficients(
                turn, self.joints, self.kinds, self.axes, self.starts, self.keys, self.matrices,
                self.softness, found[n],
            )  # fmt: skip
        return found


class PosedCharacter:
    """One identity: rest skin in the lanes of the skin kernel, its own offsets at key angles."""

    def __init__(
        self,
        tables: KeyTables,
        rig: EnvelopingRig,
        blocks: SkinBlocks,
        rest: Float[NumpyArray, "V 3"],
        joints: Float64[NumpyArray, "L 3"],
        parents: tuple[int, ...],
        corrections: list[tuple[NumpyArray, NumpyArray]],
        helper_joints: NumpyArray,
    ) -> None:
        """`corrections` are every driver's region and the person's offsets there (k v 3)."""
        dtype = blocks.weights.dtype
        self._tables, self._blocks = tables, blocks
        self._rest = blocks.rest_lanes(np.asarray(rest, dtype)[None])[0]
        self._joints = np.array(joints, np.float64)
        self._parents = np.asarray(parents, np.int32)
        self._helpers = np.asarray(helper_joints, np.int64)
        self._shares = np.asarray(rig.helper_shares, np.float64)
        self._axes = rig.axes[rig.helper_joints] if len(self._helpers) else np.zeros((0, 3))
        self._vertex_count = len(rest)
        self._lay_out(corrections, dtype)

    def _lay_out(self, corrections: list[tuple[NumpyArray, NumpyArray]], dtype: np.dtype) -> None:
        """Where in the lanes every region lies, and its offsets in that order."""
        width = self._blocks.vertices.shape[1]
        blocks = len(self._blocks.vertices)
        slots, offsets = [], []
        for region, rows in corrections:
            place = np.full(self._vertex_count, -1)
            place[region] = np.arange(len(region))
            at = place[self._blocks.vertices]
            block, lane = np.nonzero(at >= 0)
            which = at[block, lane]
            first = (3 * block * width + lane)[None] + width * np.arange(3)[:, None]
            slots.append(first.reshape(-1))
            chosen = np.moveaxis(np.asarray(rows)[:, which], 2, 1)
            offsets.append(np.ascontiguousarray(chosen, dtype).reshape(-1))
        assert self._rest.size == 3 * blocks * width
        self._slot_starts = np.cumsum([0, *(len(s) for s in slots)]).astype(np.int64)
        self._offset_starts = np.cumsum([0, *(len(o) for o in offsets)]).astype(np.int64)
        none = [np.zeros(0, np.int64)], [np.zeros(0, dtype)]
        self._slots = np.concatenate(slots or none[0]).astype(np.int64)
        self._offsets = np.concatenate(offsets or none[1])

    def vertices(
        self, pose: Pose, strength: float = 1.0, out: NumpyArray | None = None
    ) -> Float[NumpyArray, "*batch V 3"]:
        """Posed skin, metres; `strength` multiplies the corrections."""
        from corporeal.models.enveloping.posing_cpu import pose_characters

        turns, translation = np.asarray(pose.joint_rotations), np.asarray(pose.root_translation)
        batch = common_batch(turns.shape[:-2], translation.shape[:-1])
        turns = flatten_batch(turns, batch, 2).astype(np.float64)
        translation = flatten_batch(translation, batch, 1)
        shape = (*batch, self._vertex_count, 3)
        result = result_array(shape, self._blocks.weights.dtype, out)
        flat = result.reshape(-1, self._vertex_count, 3)
        t, b = self._tables, self._blocks

        def work(first: int, last: int) -> None:
            pose_characters(
                turns, translation, self._joints, self._parents, t.joints, t.kinds, t.axes,
                t.starts, t.keys, t.matrices, t.softness, strength, self._helpers, self._shares,
                self._axes, t.counts, self._slot_starts, self._slots, self._offset_starts,
                self._offsets, self._rest, b.starts, b.joints, b.weights, b.vertices, flat,
                first, last,
            )  # fmt: skip

        over_slices(work, len(flat), _POSES_A_SLICE)
        return result
