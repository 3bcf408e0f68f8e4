"""Shape targets: named directions in which a body can change."""

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.errors import InputError
from corporeal.runtime.names import repeated
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("names",))
class Targets:
    """Offsets of skin and joints in the T-pose, added in proportion to a coefficient each."""

    names: tuple[str, ...]
    """Unique names."""
    vertex_offsets: Float[Array, "S V 3"]
    """Skin offset at coefficient 1, metres."""
    joint_offsets: Float[Array, "S J 3"]
    """Joint centre offset at coefficient 1, metres."""

    def check(self) -> None:
        """Raise `InputError` unless names are unique and every target has both offsets."""
        count = len(self.names)
        if not (count == len(self.vertex_offsets) == len(self.joint_offsets)):
            raise InputError(
                f"targets have {count} names, {len(self.vertex_offsets)} vertex offsets and "
                f"{len(self.joint_offsets)} joint offsets; expected as many of each."
            )
        if twice := repeated(self.names):
            raise InputError(f"target names {twice} stand twice; expected unique names.")

    @property
    def count(self) -> int:
        """Number S of targets."""
        return len(self.names)

    def slice(self, start: int, stop: int) -> "Targets":
        """Targets `start` … `stop` − 1, as views."""
        part = np.s_[start:stop]
        return Targets(self.names[part], self.vertex_offsets[part], self.joint_offsets[part])

    def joined(self, other: "Targets") -> "Targets":
        """These targets, then those of `other`."""
        return Targets(
            self.names + other.names,
            _joined(self.vertex_offsets, other.vertex_offsets),
            _joined(self.joint_offsets, other.joint_offsets),
        )


def _joined(first: NumpyArray, second: NumpyArray) -> NumpyArray:
    if first.shape[1:] != second.shape[1:]:
        raise InputError(
            f"targets of shape {second.shape[1:]} cannot join those of shape {first.shape[1:]}; "
            f"expected offsets for the same vertices and joints."
        )
    return np.concatenate([first, second.astype(first.dtype)])
