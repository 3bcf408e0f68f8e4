"""An appearance put on a body: everything that pictures and files need, made once."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.eye_paint import eyes
from corporeal.appearance.faces import face_offsets
from corporeal.appearance.hair import hair_parts
from corporeal.appearance.mouth_and_lashes import mouth_and_lashes
from corporeal.appearance.resolving import ResolvedLook, resolve, wearer_of
from corporeal.appearance.skin_paint import skin_material
from corporeal.appearance.wardrobe import garments
from corporeal.appearance.wear import wears_hair, worn_parts
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.looks import Looks
from corporeal.body.template import Template

DEFAULT = Appearance()
"""How people look unless somebody says otherwise."""


def is_default_topology(template: Template) -> bool:
    """Whether a template has the default body's surface, which looks are made for."""
    own = load_default_body().template.mesh
    return template.mesh.vertex_count == own.vertex_count and np.array_equal(
        template.mesh.triangles, own.triangles
    )


def looks_of(
    template: Template,
    identity: Identity,
    appearance: Appearance = DEFAULT,
    texture_size: int | None = 1024,
) -> Looks:
    """The looks of a person; empty for bodies of another topology. Without a `texture_size` the
    skin has no paint."""
    if not is_default_topology(template):
        return Looks()
    look = resolve(appearance, wearer_of(identity))
    offsets = face_offsets(appearance, look.wearer)
    rest = np.asarray(identity.rest_vertices, np.float64)
    faced = Identity((rest + offsets).astype(np.float32), identity.joints, identity.parameters)
    worn, hidden = worn_parts(faced, look)
    hair = () if wears_hair(look) else hair_parts(faced, look)
    parts = [*eyes(faced, look), *mouth_and_lashes(faced, look), *hair, *worn]
    return Looks(
        material=None if texture_size is None else skin_material(look, texture_size),
        parts=tuple(parts),
        offsets=offsets.astype(np.float32),
        coverage=_cloth(template, look),
        hidden=hidden,
    )


def coverage_of(
    template: Template, identity: Identity, appearance: Appearance = DEFAULT
) -> Float[NumpyArray, "V"] | None:
    """`Looks.coverage` of a look, without the rest of it; None where nothing is worn."""
    return _cloth(template, resolve(appearance, wearer_of(identity)))


def _cloth(template: Template, look: ResolvedLook) -> Float[NumpyArray, "V"] | None:
    fields = garments(template, look.outfit, not look.wearer.is_male)
    return np.max(fields, axis=0).astype(np.float32) if fields else None


def with_face(animation: Animation, looks: Looks) -> Animation:
    """The same take with the looks' face: offsets are added at rest, and turn with the joints."""
    if looks.offsets is None or not looks.offsets.any():
        return animation
    moved = np.flatnonzero(np.abs(looks.offsets).max(axis=1) > 1e-6)
    offsets = looks.offsets[moved].astype(np.float64)
    weights = animation.template.weights
    joints, shares = weights.joint_indices[moved], weights.values[moved]
    rotations = np.asarray(animation.world_from_joint[:, :, :3, :3], np.float64)
    vertices = np.array(animation.vertices)
    # Row v: w_vj o_vb in column (j, b); so that Σ_j w_vj R_j o_v is a product with all R_j.
    columns = (3 * joints[..., None] + np.arange(3)).reshape(len(moved), -1)
    entries = (shares[..., None] * offsets[:, None, :]).reshape(len(moved), -1)
    starts = np.arange(len(moved) + 1) * columns.shape[1]
    shape = (len(moved), 3 * rotations.shape[1])
    blended = csr_array((entries.ravel(), columns.ravel(), starts), shape)
    for n in range(len(vertices)):
        turned = blended @ rotations[n].swapaxes(1, 2).reshape(-1, 3)
        vertices[n, moved] += turned.astype(vertices.dtype)
    identity = faced_identity(animation.identity, looks)
    return replace(animation, vertices=vertices, identity=identity)


def faced_identity(identity: Identity, looks: Looks) -> Identity:
    """The person with the looks' face."""
    if looks.offsets is None:
        return identity
    rest = np.asarray(identity.rest_vertices)
    return replace(identity, rest_vertices=rest + looks.offsets.astype(rest.dtype))
