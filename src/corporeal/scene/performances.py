"""Pairs animations with what goes along with each of them."""

from collections.abc import Sequence

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.looks import Looks
from corporeal.errors import InputError
from corporeal.scene.casting import Performance
from corporeal.scene.colour_map import ColourScale


def perform(
    animations: Sequence[Animation],
    attachments: Sequence[Sequence[Attachment]] | None,
    labels: Sequence[str] | None,
    tone: str,
    values: Sequence[Float[NumpyArray, "N V"]] | None,
    scale: ColourScale | None,
    looks: Looks | None = None,
) -> list[Performance]:
    """One performance an animation; labels are the deformers' names unless given, and `looks` are
    those of all, who are one person."""
    for what, items in (("attachments", attachments), ("labels", labels), ("values", values)):
        if items is not None and len(items) != len(animations):
            raise InputError(
                f"{len(items)} {what} for {len(animations)} animations; expected one each."
            )
    if values is not None and scale is None:
        scale = ColourScale.spanning(np.concatenate([np.ravel(v) for v in values]))
    return [
        Performance(
            animation,
            () if attachments is None else attachments[i],
            animation.deformer if labels is None else labels[i],
            tone,
            None if values is None else values[i],
            None if values is None else scale,
            looks,
        )
        for i, animation in enumerate(animations)
    ]
