"""Expressions as morph targets of a character, at rest until somebody plays them."""

from dataclasses import replace

import numpy as np

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.faces import expression_morph, expression_names
from corporeal.body.character import Character
from corporeal.pipelines.bake import morph_normals


def with_expressions(character: Character, appearance: Appearance) -> Character:
    """The character with a morph target an expression, named as ARKit does where one matches; all
    their weights are 0 in the take. Soft parts (lashes) follow the skin's."""
    names = expression_names()
    count = character.template.mesh.vertex_count
    offsets = np.stack([expression_morph(name, appearance, count) for name in names])
    offsets = offsets.astype(np.float32)
    normals = morph_normals(character.template.mesh, offsets)
    still = np.linalg.norm(offsets, axis=-1) == 0
    normals[still & (np.linalg.norm(normals, axis=-1) < 0.01)] = 0
    own = character.morph_normals
    if own is None:
        own = morph_normals(character.template.mesh, character.morph_offsets)
    quiet = np.zeros((character.frame_count, len(names)), np.float32)
    return replace(
        character,
        morph_names=(*character.morph_names, *names),
        morph_offsets=np.concatenate([character.morph_offsets, offsets]),
        morph_weights=np.concatenate([character.morph_weights, quiet], axis=1),
        morph_normals=np.concatenate([own, normals]),
    )
