"""The response of Komaritzan 2022, for comparison: three springs from a vertex to its triangle's
corners.

Komaritzan 2022, section 3.2.5. Their rest lengths are the distances from the corners to
the vertex's projection into the triangle's plane, so they are nearly in that plane: they have
little stiffness along its normal, which is where they should push.
"""

import numpy as np
from scipy.sparse import csr_array

from constraints.spring import SpringConstraint
from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.contacts import Contacts


def corner_springs(
    contacts: Contacts, positions: Float64[NumpyArray, "V 3"], weight: float
) -> SpringConstraint:
    """Three springs of `weight` N/m a contact of skin on skin, for the vertices at `positions`
    (metres). The system's matrix changes with them."""
    vertices = contacts.vertices
    height = contacts.gaps(positions) + contacts.offsets
    projected = positions[vertices[:, 0]] - height[:, None] * contacts.normals
    corners = vertices[:, 1:]
    lengths = np.linalg.norm(positions[corners] - projected[:, None], axis=2).ravel()
    count = 3 * len(contacts)
    ends = np.stack([corners.ravel(), np.repeat(vertices[:, 0], 3)], axis=1)
    matrix = csr_array(
        (np.tile([-1.0, 1.0], count), (np.repeat(np.arange(count), 2), ends.ravel())),
        shape=(count, len(positions)),
    )
    return SpringConstraint(matrix, np.full(count, weight), lengths)
