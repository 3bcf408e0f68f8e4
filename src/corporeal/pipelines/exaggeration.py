"""Flesh that moves further, or less far, from plain skinning: by painted factors."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Array, Float, Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.errors import InputError
from corporeal.pipelines.deformers import is_linear_blend
from corporeal.pipelines.options import AnimateOptions
from corporeal.skinning.linear import LinearBlendSkinning


def exaggerated(animation: Animation, factors: Float64[NumpyArray, "V"]) -> Animation:
    """x = x_lbs + e (x − x_lbs) at every vertex of every frame.

    e is 1 where nothing changes, above 1 where flesh swings further, below 1 where it is calmer.
    Linear blending is linear in the rest shape, so offsets in the rest pose grow by e, too.
    """
    plain = LinearBlendSkinning(animation.template).animate(animation.identity, animation.motion)
    start, share = np.asarray(plain.vertices, np.float64), factors[:, None]
    moved = start + share * (np.asarray(animation.vertices, np.float64) - start)
    return replace(
        animation,
        vertices=_like(animation.vertices, moved),
        pose_offsets=_scaled(animation.pose_offsets, share),
        dynamic_offsets=_scaled(animation.dynamic_offsets, share),
        offset_skinning=plain.deformer if animation.offset_skinning == plain.deformer else "",
    )


def _scaled(
    offsets: Float[Array, "N V 3"] | None, share: Float64[NumpyArray, "V 1"]
) -> Float[Array, "N V 3"] | None:
    return None if offsets is None else _like(offsets, share * np.asarray(offsets, np.float64))


def _like(
    before: Float[Array, "N V 3"], numbers: Float64[NumpyArray, "N V 3"]
) -> Float[Array, "N V 3"]:
    """Numbers in the precision of those before."""
    return numbers.astype(np.asarray(before).dtype)


def require_offsets(options: AnimateOptions) -> None:
    """Refuse a painted exaggeration where there is nothing to exaggerate."""
    if options.exaggeration_map is None:
        return
    if options.live:
        raise InputError(
            "--exaggeration-map came with --live, whose morphs know no painted factors."
        )
    if is_linear_blend(options.deformer) and options.model is None:
        raise InputError(
            f"--exaggeration-map came with the deformer {options.deformer!r}, which has no offset "
            f"from plain skinning. Use --deformer projective or another."
        )
