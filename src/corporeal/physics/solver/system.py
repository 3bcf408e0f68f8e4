"""The discrete body: masses, constraints, and which vertices are hard anchors (section 2.2.3)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array, vstack

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.physics.solver.constraints.constraint import Constraint
from corporeal.physics.solver.membrane import Membrane
from corporeal.physics.volume_preservation.reference import VolumePreservation


@dataclass(frozen=True)
class System:
    """κ M_f + K_f + s Q_fᵀ W Q_f over the free vertices; anchored ones are given."""

    masses: Float64[NumpyArray, "V"]
    """Lumped masses, kg; zero where a vertex only follows its neighbours."""
    anchored: Bool[NumpyArray, "V"]
    """Hard anchors: their positions come with every step."""
    constraints: tuple[Constraint, ...]
    """Energies whose projections the local step finds."""
    volume_preservation: VolumePreservation | None = None
    """Regions whose volume pressures keep."""
    attachments: Float64[NumpyArray, "V"] | None = None
    """Stiffness of the springs that draw free vertices to places that come with every step, N/m;
    zero where there is none."""
    untangled: bool = False
    """Whether elements are kept right side out (`physics.untangling`)."""
    membrane: Membrane | None = None
    """The skin, whose stretch is limited, and whose creases are damped, where elements are kept
    right side out."""

    def __post_init__(self) -> None:
        require_finite("vertex masses", self.masses)
        if (self.masses < 0).any():
            raise InputError(f"a vertex mass is {self.masses.min()} kg; expected at least 0.")
        if self.attachments is not None:
            require_finite("attachments", self.attachments)
            if len(self.attachments) != len(self.masses) or (self.attachments < 0).any():
                raise InputError(
                    f"{len(self.attachments)} attachments from {self.attachments.min()} N/m came "
                    f"for {len(self.masses)} vertices; expected one of at least 0 a vertex."
                )
        for constraint in self.constraints:
            _, count = constraint.matrix.shape  # pyright: ignore[reportGeneralTypeIssues]
            if count != len(self.masses):
                raise InputError(
                    f"a constraint is over {count} vertices and the masses "
                    f"over {len(self.masses)}; expected as many."
                )

    @cached_property
    def springs(self) -> Float64[NumpyArray, "f"]:
        """The attachments of the free vertices, N/m."""
        if self.attachments is None:
            return np.zeros(len(self.free))
        return self.attachments[self.free]

    def attachment_pull(
        self, targets: Float64[NumpyArray, "V 3"] | None
    ) -> Float64[NumpyArray, "f 3"]:
        """K_f t: what attachments to `targets` (metres) add to the right side, newtons."""
        if self.attachments is None:
            return np.zeros((len(self.free), 3))
        return self.springs[:, None] * required_targets(targets)[self.free]

    @cached_property
    def loose(self) -> Int[NumpyArray, "k"]:
        """Indices of the free vertices that are attached and massless: they keep no memory, and
        every step begins with them at their targets."""
        free = self.free
        return free[(self.springs > 0) & (self.masses[free] == 0)]

    @property
    def vertex_count(self) -> int:
        """Number V of vertices, anchored ones included."""
        return len(self.masses)

    @cached_property
    def free(self) -> Int[NumpyArray, "f"]:
        """Indices of the vertices that are solved for."""
        return np.flatnonzero(~self.anchored)

    def constraint_matrix(self) -> csr_array:
        """Q: the rows of all constraints."""
        return csr_array(vstack([c.matrix for c in self.constraints]))

    def row_weights(self) -> Float64[NumpyArray, "rows"]:
        """The diagonal of W."""
        return np.concatenate([c.weights for c in self.constraints])

    def matrix(self, inertia: float, stiffening: float = 1.0) -> csc_array:
        """κ M_f + K_f + s Q_fᵀ W Q_f for `inertia` κ in 1/s² (1/δt² for implicit Euler, 0 if
        static) and `stiffening` s, with the attachments K and what damps creases."""
        free = self.free
        columns = csc_array(self.constraint_matrix())[:, free]
        stiffness = columns.T @ diags_array(stiffening * self.row_weights()) @ columns
        if (creasing := self.creasing(stiffening)) is not None:
            stiffness = stiffness + creasing
        return csc_array(stiffness + diags_array(inertia * self.masses[free] + self.springs))

    def creasing(self, stiffening: float) -> csr_array | None:
        """What damps creases of the skin over the free vertices, N/m (`solver.membrane`); None
        where nothing does: in static steps, and where elements are not kept right side out."""
        if self.membrane is None or not self.untangled or stiffening == 1.0:
            return None
        return csr_array((stiffening - 1.0) * self.membrane.damping(self.free))


def required_targets(
    targets: Float64[NumpyArray, "*k V 3"] | None,
) -> Float64[NumpyArray, "*k V 3"]:
    """The targets (metres) of a system with attachments; refused where there are none."""
    if targets is None:
        raise InputError("this system has attachments; say in `targets` where they draw to.")
    return targets


def tetrahedral_masses(
    rest: Float64[NumpyArray, "V 3"],
    tetrahedra: Int[NumpyArray, "T 4"],
    density: float | Float64[NumpyArray, "T"],
) -> Float64[NumpyArray, "V"]:
    """Every vertex gets a quarter of its tetrahedra's mass, kg; `density` in kg/m³."""
    corners = rest[tetrahedra]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    quarters = np.repeat(volumes * density / 4, 4)
    return np.bincount(tetrahedra.ravel(), quarters, minlength=len(rest))
