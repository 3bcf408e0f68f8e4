"""The skin in patches of about one size, whose flesh shares a volume.

Patches are the cells around seeds that stand far apart, where both place and direction count: so
the two sides of a thin limb are not one patch.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray

PATCH_SHARE = 0.03
"""Distance of seeds, as a share of the skin's longest side: 5 cm on an adult."""
_TURNED = 0.5
"""What a change of the normal by one radian counts, in patch sizes."""


def skin_patches(
    skin: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"], share: float = PATCH_SHARE
) -> Int[NumpyArray, "F"]:
    """Patch of every triangle, from 0 on. Seeds are chosen one by one, each the triangle furthest
    from those before, until none is further than a patch's size."""
    from scipy.spatial import KDTree

    corners = skin[triangles]
    size = share * float(np.ptp(skin, axis=0).max())
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
    places = np.concatenate([corners.mean(axis=1), _TURNED * size * normals], axis=1)
    places -= places.mean(axis=0)
    square = np.sum(places**2, axis=1)
    seeds, away = [0], np.full(len(places), np.inf)
    while True:
        # ‖p − s‖² = ‖p‖² − 2 p·s + ‖s‖²
        away = np.minimum(away, square - 2.0 * (places @ places[seeds[-1]]) + square[seeds[-1]])
        if away.max() <= size**2:
            break
        seeds.append(int(away.argmax()))
    return np.asarray(KDTree(places[seeds]).query(places)[1], np.int64)
