"""An engine-ready character: what a game engine or an animation package plays by itself."""

import math
from dataclasses import replace

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.attachment import Attachment
from corporeal.body.checks import require_finite
from corporeal.body.material import Material
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

ENGINE_INFLUENCES = 4
"""Skin weights a vertex that every engine reads."""

_UNIT_TOLERANCE = 1e-4


@pytree_dataclass(static=("name", "fps", "morph_names"))
class Character:
    """One person's rig with a take: skin, joint tracks, morph targets with animated weights.

    A frame is played as linear blend skinning of `rest + Σ_b weight_b · offset_b`.
    """

    name: str
    """Name of the take."""
    fps: float
    """Frames a second."""
    template: Template
    """Mesh and joints in the rest pose of this one person; at most four weights a vertex."""
    joint_rotations_wxyz: Float[NumpyArray, "N J 4"]
    """Unit quaternions relative to the parent joint; joint 0 is the root's turn in the world."""
    root_translation: Float[NumpyArray, "N 3"]
    """Added after the root has turned about its own rest position, metres; as in `Pose`."""
    morph_names: tuple[str, ...]
    """Unique names, one a morph target."""
    morph_offsets: Float[NumpyArray, "B V 3"]
    """Rest-pose displacement of every vertex at weight 1, metres."""
    morph_weights: Float[NumpyArray, "N B"]
    """How much of every morph target a frame shows; signed, −1 to 1 after a bake. Files get
    weights from 0 to 1: see `unsigned_weights`."""
    morph_normals: Float[NumpyArray, "B V 3"] | None = None
    """Change of the unit vertex normals at weight 1."""
    attachments: tuple[Attachment, ...] = ()
    """Loose parts: eyeballs, which follow one joint, and clothes, which follow the skin."""
    vertex_colours: Float[NumpyArray, "V 3"] | None = None
    """Linear RGB, 0 to 1."""
    material: Material | None = None
    """Pictures on the skin, instead of `vertex_colours`; None for those."""
    hidden: Bool[NumpyArray, "F"] | None = None
    """Triangles that worn things hide, which files leave out; None for none."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree, numbers are finite and weights at most four."""
        if not (math.isfinite(self.fps) and self.fps > 0):
            raise InputError(f"character has fps {self.fps}; expected a finite number above 0.")
        if self.template.weights.values.shape[1] > ENGINE_INFLUENCES:
            raise InputError(
                f"character has {self.template.weights.values.shape[1]} weights a vertex; engines "
                f"read {ENGINE_INFLUENCES}. Use SkinWeights.from_dense(dense, 4)."
            )
        self._require_counts()
        for what in ("joint_rotations_wxyz", "root_translation", "morph_offsets", "morph_weights"):
            require_finite(f"character {what}", getattr(self, what))
        if self.morph_normals is not None:
            require_finite("character morph_normals", self.morph_normals)
        lengths = np.linalg.norm(self.joint_rotations_wxyz, axis=-1)
        if np.abs(lengths - 1).max(initial=0) > _UNIT_TOLERANCE:
            raise InputError(
                f"character joint rotations have quaternions of length {lengths.min():.4f} to "
                f"{lengths.max():.4f}; expected 1. Divide each by its length."
            )

    def _require_counts(self) -> None:
        frames, joints = self.joint_rotations_wxyz.shape[:2]
        morphs, vertices = self.morph_offsets.shape[:2]
        if frames == 0:
            raise InputError("character has no frames; expected at least one.")
        if len(self.root_translation) != frames or len(self.morph_weights) != frames:
            raise InputError(
                f"character has {frames} frames of joint rotations, {len(self.root_translation)} "
                f"of root translation and {len(self.morph_weights)} of morph weights; expected as "
                f"many of each."
            )
        if joints != self.template.skeleton.joint_count:
            raise InputError(
                f"character has tracks for {joints} joints and a skeleton of "
                f"{self.template.skeleton.joint_count}; expected as many."
            )
        if vertices != self.template.mesh.vertex_count:
            raise InputError(
                f"character has morph offsets for {vertices} vertices and a mesh of "
                f"{self.template.mesh.vertex_count}; expected as many."
            )
        if not len(self.morph_names) == morphs == self.morph_weights.shape[1]:
            raise InputError(
                f"character has {len(self.morph_names)} morph names, {morphs} morph offsets and "
                f"{self.morph_weights.shape[1]} morph weights a frame; expected as many of each."
            )
        if len(set(self.morph_names)) != morphs:
            raise InputError("character morph names stand twice; expected unique names.")
        if self.morph_normals is not None and self.morph_normals.shape != self.morph_offsets.shape:
            raise InputError(
                f"character morph normals are {self.morph_normals.shape}; expected "
                f"{self.morph_offsets.shape}, as the offsets."
            )
        if self.vertex_colours is not None and len(self.vertex_colours) != vertices:
            raise InputError(
                f"character has {vertices} vertices and {len(self.vertex_colours)} colours; "
                f"expected one a vertex."
            )

    @property
    def frame_count(self) -> int:
        """Number N of frames."""
        return self.joint_rotations_wxyz.shape[0]

    @property
    def morph_count(self) -> int:
        """Number B of morph targets."""
        return self.morph_offsets.shape[0]

    @property
    def joint_places(self) -> Float[NumpyArray, "J 3"]:
        """Rest position of every joint relative to its parent; the root's in the world, metres."""
        joints = np.asarray(self.template.skeleton.joints, np.float64)
        parents = list(self.template.skeleton.parents)
        return np.concatenate([joints[:1], joints[1:] - joints[parents[1:]]])


def shown_mesh(character: Character) -> Mesh:
    """The character's mesh without the faces that worn things hide."""
    mesh = character.template.mesh
    if character.hidden is None:
        return mesh
    kept = ~np.asarray(character.hidden)
    if mesh.quads is not None:  # a quad goes with both of its triangles
        kept = np.repeat(kept.reshape(-1, 2).any(axis=1), 2)
    corners = None if mesh.uv_triangles is None else mesh.uv_triangles[kept]
    quads = None if mesh.quads is None else mesh.quads[kept[::2]]
    return replace(mesh, triangles=mesh.triangles[kept], quads=quads, uv_triangles=corners)


def unsigned_weights(character: Character) -> Character:
    """The same take with morph weights from 0 to 1: the one conversion that every file gets.

    Blender's importers and Unity's player clamp weights to 0 … 1. A morph target whose weight w
    falls to l < 0 is played as (h − l) d · (w − l)/(h − l) + l d, with h its largest weight; the
    constant parts l d of all of them are one more morph target, `base`, whose weight stays 1.
    """
    weights = np.asarray(character.morph_weights, np.float64)
    low = np.minimum(weights.min(axis=0, initial=0), 0)
    if not low.any():
        return character
    span = np.where(low < 0, weights.max(axis=0, initial=0) - low, 1.0)

    def split(rows: Float[NumpyArray, "B V 3"]) -> Float[NumpyArray, "C V 3"]:
        base = np.tensordot(low, rows, axes=1)[None]
        return np.concatenate([rows * span[:, None, None], base]).astype(rows.dtype)

    shifted = np.c_[(weights - low) / span, np.ones(len(weights))]
    name = "base" if "base" not in character.morph_names else f"base_{character.morph_count}"
    return replace(
        character,
        morph_names=(*character.morph_names, name),
        morph_offsets=split(character.morph_offsets),
        morph_weights=shifted.astype(character.morph_weights.dtype),
        morph_normals=(None if character.morph_normals is None else split(character.morph_normals)),
    )
