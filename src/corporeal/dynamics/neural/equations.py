"""Casas 2018, equations 3 to 7, as the paper prints them but for what is named below.

Casas, Otaduy: Learning Nonlinear Soft-Tissue Dynamics for Interactive Avatars, Proceedings of the
ACM on Computer Graphics and Interactive Techniques 1(1), 2018. One person. Three places in which
the paper is of two minds, and how they are read here:

- Equation 5 takes the scan from the model, equation 3 adds the offset to the model. Here Δ is scan
  less model, so that equation 3 holds.
- Section 3.4 gives the regressor three poses, section 3.5 counts 350 = 2 · 100 + 2 · 75 inputs, two
  of them. `history` says how many; both were tried (docs/design/neural.md).
- Section 3.5 prints an output of 11 670 = 3 · 3 890 numbers for 6 890 vertices, and 2 689 hidden
  units, which is √(350 · 20 670), Masters 1993's rule for an output of 3 · 6 890 = 20 670.

========  ====================================================  ==========================
symbol    meaning                                               code
========  ====================================================  ==========================
Δ         dynamic blend shape in the rest pose, metres          `offsets`       N V 3
Δ̲         the same in the autoencoder's latent space            `latent`        k
θ         pose parameters, radians                              `poses`
γ         {Δ̲_{t−1}, Δ̲_{t−2}, θ_t, θ_{t−1}, (θ_{t−2})}           `gamma`
w^rig     weight of a vertex in the loss, m/s                   `weights`       V
========  ====================================================  ==========================
"""

from typing import NamedTuple

from corporeal._typing import Array, Float
from corporeal.runtime.arrays import namespace_of


class Layer(NamedTuple):
    """One fully connected layer: x W + b."""

    W: Float[Array, "i o"]
    """Weights."""
    b: Float[Array, "o"]
    """Biases."""


class Autoencoder(NamedTuple):
    """Section 3.3, figure 4: three layers there and three back; linear, nonlinear, linear."""

    encoder: tuple[Layer, Layer, Layer]
    """From offsets to the latent space."""
    decoder: tuple[Layer, Layer, Layer]
    """From the latent space to offsets."""


class Regressor(NamedTuple):
    """Section 3.4.1: one hidden layer of rectified linear units."""

    hidden: Layer
    """From γ."""
    output: Layer
    """To what is predicted."""


def affine(x: Float[Array, "*n i"], layer: Layer) -> Float[Array, "*n o"]:
    """x W + b."""
    return namespace_of(x).matmul(x, layer.W) + layer.b


def rectified(x: Float[Array, "*n i"]) -> Float[Array, "*n i"]:
    """max(x, 0)."""
    xp = namespace_of(x)
    return xp.where(x > 0, x, xp.zeros_like(x))


def encode(autoencoder: Autoencoder, offsets: Float[Array, "*n d"]) -> Float[Array, "*n k"]:
    """Δ̲ = E(Δ): linear, nonlinear, linear (3.3)."""
    first, second, third = autoencoder.encoder
    return affine(namespace_of(offsets).tanh(affine(affine(offsets, first), second)), third)


def decode(autoencoder: Autoencoder, latent: Float[Array, "*n k"]) -> Float[Array, "*n d"]:
    """Δ = D(Δ̲): the mirror image of the encoder."""
    first, second, third = autoencoder.decoder
    return affine(namespace_of(latent).tanh(affine(affine(latent, first), second)), third)


def gamma(
    latent_before: Float[Array, "*n k"],
    latent_before_that: Float[Array, "*n k"],
    poses: tuple[Float[Array, "*n p"], ...],
) -> Float[Array, "*n g"]:
    """γ = {Δ̲_{t−1}, Δ̲_{t−2}, θ_t, θ_{t−1}, …} (3.4); `poses` from the present one backwards."""
    return namespace_of(latent_before).concat([latent_before, latent_before_that, *poses], axis=-1)


def regress(regressor: Regressor, gamma: Float[Array, "*n g"]) -> Float[Array, "*n d"]:
    """M_d(γ): what the present frame's Δ is predicted to be (3.4.1)."""
    return affine(rectified(affine(gamma, regressor.hidden)), regressor.output)


def loss(
    truth: Float[Array, "N V 3"], predicted: Float[Array, "N V 3"], weights: Float[Array, "V"]
) -> Float[Array, ""]:
    """Σ_i ‖w_i^rig (δ_i^GT − δ_i)‖₂, eq. 6, in the mean of the frames."""
    xp = namespace_of(truth, predicted)
    apart = weights[:, None] * (truth - predicted)
    # + tiny: the square root has no slope at 0
    norms = xp.sqrt(xp.sum(apart * apart, axis=-1) + 1e-20)
    return xp.mean(xp.sum(norms, axis=-1))


def rigidity_weights(offsets: Float[Array, "N V 3"], fps: float) -> Float[Array, "V"]:
    """w_i^rig = Σ_t ‖v̇_{i,t} − v̇_{i,t−1}‖₂ / T, eq. 7: how much a vertex's own velocity changes.

    Metres a second; large where flesh is soft.
    """
    xp = namespace_of(offsets)
    velocity = (offsets[1:] - offsets[:-1]) * fps
    change = velocity[1:] - velocity[:-1]
    return xp.sum(xp.sqrt(xp.sum(change * change, axis=-1)), axis=0) / len(offsets)
