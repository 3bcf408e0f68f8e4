"""What every contact is to the solver on a device: `contacts.Contacts`, as many rows as fit."""

from typing import NamedTuple

from corporeal._typing import Array, Float, Int


class TouchingRows(NamedTuple):
    """Rows n · (Σ_k c_k x_k) ≥ d; those of no contact have c = 0."""

    vertices: Int[Array, "C 4"]
    """The vertex that touches, then those of the triangle."""
    coefficients: Float[Array, "C 4"]
    """c: 1 for the vertex, −b for the corners, barycentric."""
    normals: Float[Array, "3 C"]
    """n, unit vectors out of the skin that is touched."""
    offsets: Float[Array, "C"]
    """d, metres."""
    softness: Float[Array, "C"]
    """The inverse of a row's weight, m/N."""
    friction: Float[Array, "C"]
    """Coulomb's coefficient."""
    held: Float[Array, "3 C"]
    """Σ_k c_k x_k that slip is measured from, metres."""
    rates: Float[Array, "C"]
    """How fast rows change (`contact.touching`): those below `ASLEEP` sleep."""
