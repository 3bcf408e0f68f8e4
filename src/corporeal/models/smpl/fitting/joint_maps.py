"""How the parts' motions follow the rest joints, which is linear while rotations are held.

Posed joints are g_k = Σ_m Γ_km j_m with Γ_k = Γ_parent + Q_parent (e_k − e_parent), so the shift
of a part is τ_k = g_k − Q_k j_k = Σ_m (Γ_km − Q_k e_km) j_m.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray


def joint_maps(
    world: Float64[NumpyArray, "n J 3 3"], parents: tuple[int, ...]
) -> Float64[NumpyArray, "n J 3 m"]:
    """Γ_k − Q_k e_k of every part: where its motion takes the origin, from the rest joints."""
    count = len(parents)
    posed = np.zeros((len(world), count, 3, count, 3))
    for k, parent in enumerate(parents):
        if parent < 0:
            posed[:, k, :, k] = np.eye(3)
            continue
        posed[:, k] = posed[:, parent]
        posed[:, k, :, k] += world[:, parent]
        posed[:, k, :, parent] -= world[:, parent]
    for k in range(count):
        posed[:, k, :, k] -= world[:, k]
    return posed.reshape(len(world), count, 3, -1)
