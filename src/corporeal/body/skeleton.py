"""A tree of joints."""

from corporeal._typing import Array, Float
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.runtime.names import repeated
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("names", "parents"))
class Skeleton:
    """Named joints in tree order. At rest every joint's frame has the world's axes."""

    names: tuple[str, ...]
    """Unique names, parents before children."""
    parents: tuple[int, ...]
    """Index of every joint's parent; −1 for the root, which is joint 0."""
    joints: Float[Array, "J 3"]
    """Rest positions, metres."""

    def check(self) -> None:
        """Raise `InputError` unless names are unique and parents come before children."""
        count = len(self.names)
        if not (len(self.parents) == count == self.joints.shape[0]):
            raise InputError(
                f"skeleton has {count} names, {len(self.parents)} parents and "
                f"{self.joints.shape[0]} joints; expected as many of each."
            )
        if twice := repeated(self.names):
            raise InputError(f"skeleton names {twice} stand twice; expected unique names.")
        for index, parent in enumerate(self.parents):
            if (index == 0) != (parent == -1) or not -1 <= parent < max(index, 1):
                raise InputError(
                    f"skeleton joint {index} ({self.names[index]!r}) has parent {parent}; expected "
                    f"-1 for joint 0 and an earlier joint for every other."
                )
        require_finite("skeleton joints", self.joints)

    @property
    def joint_count(self) -> int:
        """Number J of joints."""
        return len(self.names)

    def index(self, name: str) -> int:
        """Index of the joint called `name`."""
        if name not in self.names:
            raise InputError(f"skeleton has no joint {name!r}; it has {', '.join(self.names)}.")
        return self.names.index(name)
