"""BlendSCAPE's equations 1 and 2, as Dyna's paper prints them; one person in one pose.

Pons-Moll, Romero, Mahmood, Black: Dyna, ACM Transactions on Graphics 34(4), 2015, section 3.3;
Hirshberg, Loper, Rachlin, Black: Coregistration, ECCV 2012; Anguelov et al.: SCAPE, 2005.

========  ====================================================  ==========================
symbol    meaning                                               code
========  ====================================================  ==========================
v̂_t,e     edges of triangle t of the template, e = 0, 1         `edges`         F 2 3
w_ti      how much part i moves triangle t                      `W`             F J
R_i       rotation of part i in the world                       `R`             J 3 3
S_t       deformation by the person                             `S`             F 3 3
Q_t       deformation by the pose                               `Q`             F 3 3
A         from vertices to edges, two a triangle                `incidence`     2F V
========  ====================================================  ==========================
"""

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray


def blended_rotations(
    R: Float[NumpyArray, "J 3 3"], W: Float[NumpyArray, "F J"]
) -> Float[NumpyArray, "F 3 3"]:
    """R*_t(θ) = Σ_i w_ti R_i(θ), eq. 1; not orthogonal where parts meet."""
    return np.einsum("ti,iab->tab", W, R)


def deformed_edges(
    R: Float[NumpyArray, "F 3 3"],
    S: Float[NumpyArray, "F 3 3"],
    Q: Float[NumpyArray, "F 3 3"],
    edges: Float[NumpyArray, "F 2 3"],
) -> Float[NumpyArray, "F 2 3"]:
    """v_t,e = R*_t S_t Q_t v̂_t,e, eq. 2, metres."""
    return np.einsum("tab,tbc,tcd,ted->tea", R, S, Q, edges)


def triangle_edges(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[NumpyArray, "F 2 3"]:
    """Edges from the first corner to the second and to the third, metres."""
    corner = vertices[triangles]
    return corner[:, 1:] - corner[:, :1]


def stitched(
    edges: Float64[NumpyArray, "F 2 3"],
    triangles: Int[NumpyArray, "F 3"],
    pin: Float64[NumpyArray, "V"],
    place: Float64[NumpyArray, "3"],
) -> Float64[NumpyArray, "V 3"]:
    """argmin_x Σ_t,e ‖x_t,e − v_t,e‖² with Σ_v pin_v x_v = place: dense least squares, metres."""
    count = len(pin)
    incidence = np.zeros((2 * len(triangles), count))
    rows = np.arange(2 * len(triangles))
    incidence[rows, triangles[:, 1:].ravel()] = 1.0
    incidence[rows, np.repeat(triangles[:, 0], 2)] = -1.0
    # the least squares fix all but a common shift, which the pin fixes
    found, *_ = np.linalg.lstsq(incidence, edges.reshape(-1, 3), rcond=None)
    return found + (place - pin @ found) / pin.sum()
