"""What every contact is to a solver: one direction in which some vertices must keep apart."""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Contacts:
    """Rows n·(Σ_k c_k x_k) ≥ d over at most four vertices each.

    Skin on skin: a vertex (c = 1) and the corners of a triangle (c = −b, barycentric), d = 0. Skin
    on the world: a vertex alone, its index repeated with c = 0, and d = n·(point of the plane). A
    grab: three rows with the axes for normals, two-sided.
    """

    vertices: Int[NumpyArray, "C 4"]
    """Vertices of the simulation."""
    coefficients: Float64[NumpyArray, "C 4"]
    """c: how much of each is summed."""
    normals: Float64[NumpyArray, "C 3"]
    """n: unit vectors, out of what must not be entered."""
    offsets: Float64[NumpyArray, "C"]
    """d, metres."""
    weights: Float64[NumpyArray, "C"]
    """Stiffness against being violated, N/m."""
    two_sided: Bool[NumpyArray, "C"]
    """Whether the row is an equation instead: it also pulls back."""
    friction: Float64[NumpyArray, "C"] | None = None
    """Coulomb's coefficient: what slides along a row is held by up to this share of its force. None
    lets everything slide; two-sided rows always do."""
    held: Float64[NumpyArray, "C 3"] | None = None
    """Σ_k c_k x_k that slip is measured from, metres; NaN, as None, for where a step begins."""

    rates: Float64[NumpyArray, "C"] | None = None
    """How fast rows change (`contact.touching`): those below `ASLEEP` sleep, None do not."""

    def check(self) -> None:
        """Raise `InputError` unless numbers are finite, weights above 0 and friction 0 or more."""
        for name in ("coefficients", "normals", "offsets"):
            require_finite(f"contact {name}", getattr(self, name))
        if not (np.isfinite(self.weights).all() and (self.weights > 0).all()):
            raise InputError("contact weights must be finite and above 0 N/m.")
        if self.friction is not None and not (self.slip_limits() >= 0).all():
            raise InputError("contact friction must be 0 or more.")

    def __len__(self) -> int:
        return len(self.offsets)

    def slip_limits(self) -> Float64[NumpyArray, "C"]:
        """Coulomb's coefficient of every row, 0 where nothing is held."""
        if self.friction is None:
            return np.zeros(len(self.offsets))
        return np.where(self.two_sided, 0.0, self.friction)

    def held_places(self) -> Float64[NumpyArray, "C 3"]:
        """What slip is measured from, NaN where that is where a step begins, metres."""
        return np.full((len(self), 3), np.nan) if self.held is None else self.held

    def waking_rates(self) -> Float64[NumpyArray, "C"]:
        """How fast every row changes, 1 where it is made anew in every frame."""
        return np.ones(len(self)) if self.rates is None else self.rates

    def gaps(self, positions: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "C"]:
        """n·(Σ_k c_k x_k) − d: negative where a row is violated, metres."""
        # g_i = Σ_kj n_ij c_ik x_(ik)j − d_i
        sums = np.einsum("ck,ckj->cj", self.coefficients, positions[self.vertices])
        return np.sum(self.normals * sums, axis=1) - self.offsets


def no_contacts() -> Contacts:
    """None at all."""
    return Contacts(
        np.zeros((0, 4), np.int64),
        np.zeros((0, 4)),
        np.zeros((0, 3)),
        np.zeros(0),
        np.zeros(0),
        np.zeros(0, bool),
    )


def joined(parts: list[Contacts]) -> Contacts:
    """All contacts of several lists, in order."""
    if not parts:
        return no_contacts()
    return Contacts(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.coefficients for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.offsets for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.two_sided for part in parts]),
        np.concatenate([part.slip_limits() for part in parts]),
        np.concatenate([part.held_places() for part in parts]),
        np.concatenate([part.waking_rates() for part in parts]),
    )


def both(first: Contacts | None, second: Contacts | None) -> Contacts | None:
    """The contacts of two lists, either of which may be none."""
    if first is None or second is None:
        return second if first is None else first
    return joined([first, second])
