"""DMPL's equations 16 and 17, as the paper prints them; one person in one pose.

Loper, Mahmood, Romero, Pons-Moll, Black: SMPL: A Skinned Multi-Person Linear Model, ACM
Transactions on Graphics 34(6), 2015, section 6.

========  ====================================================  ==========================
symbol    meaning                                               code
========  ====================================================  ==========================
T̄, B_S    the person in the zero pose, metres                   `rest`          V 3
B_P       pose blend shapes, metres                             `pose_offsets`  V 3
μ_D, 𝒟    mean and dynamic blend shapes, metres                 `mu` V 3, `D`   D V 3
δ         f(φ, β), dynamic coefficients                         `delta`         D
========  ====================================================  ==========================
"""

from corporeal._typing import Array, Float
from corporeal.runtime.arrays import namespace_of


def dynamic_blend_shapes(
    delta: Float[Array, "D"], mu: Float[Array, "V 3"], D: Float[Array, "D V 3"]
) -> Float[Array, "V 3"]:
    """B_D(φ, β; 𝒟) = μ_D + 𝒟 f(φ, β), eq. 17."""
    return mu + namespace_of(delta, D).tensordot(delta, D, axes=1)


def dynamic_template(
    rest: Float[Array, "V 3"], pose_offsets: Float[Array, "V 3"], dynamic: Float[Array, "V 3"]
) -> Float[Array, "V 3"]:
    """T_D(β, θ, φ) = T̄ + B_S(β) + B_P(θ) + B_D(φ, β), eq. 16."""
    return rest + pose_offsets + dynamic
