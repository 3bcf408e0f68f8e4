"""Bake: any animation becomes skin, joint tracks and morph targets with animated weights.

An engine plays linear blend skinning and morph targets. Whatever else a deformer did (dual
quaternions, correctives, soft tissue, physics) is carried back to the rest pose, frame by frame,
and compressed: the result plays the same surface, to an error that is stated.

1. unpose: d_tv = argmin ‖M_tv d − (x_tv − M_tv r_v − m_tv)‖² + λ²‖d‖², with the blended skin
   motion (M, m) of vertex v at frame t and the rest vertex r. The damping λ matters only where M
   is close to singular (a joint twisted by half a turn); elsewhere d is the exact unposed offset.
2. compress: principal components of the offsets, every vertex weighted by its share of the
   surface. Only the N × N matrix of products of frames is decomposed, so that the cost is that of
   a few products with the offsets, and no matrix of 3V × 3V exists.
3. choose: the fewest components whose largest error over all vertices and frames is as asked.
4. measure: the baked character is played back and compared with the animation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.character import ENGINE_INFLUENCES, Character
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.geometry.surface import triangle_areas, vertex_normals
from corporeal.geometry.tracks import local_rotation_tracks
from corporeal.skinning.playback import character_vertices, frame_chunks, skin_matrices
from corporeal.skinning.unposing import damped_offsets

DEFAULT_MAX_ERROR_MM = 0.5

_DAMPING = 1e-3
"""λ: a blended motion that shrinks a direction below this is not undone; exact to λ² elsewhere."""

_REFINEMENTS = 3
_REFINE_ABOVE_M = 1e-6
"""Offsets that miss their vertex by more, in metres, are solved again for what is left."""

_RANK_TOLERANCE = 1e-12
"""Frame products below this share of the largest are rounding errors of float32 offsets."""


@dataclass(frozen=True)
class BakeReport:
    """What a bake kept, and how far the played character is from the animation."""

    morph_count: int
    """Number of morph targets that were kept."""
    mean_error_mm: float
    """Mean vertex distance over all vertices and frames."""
    max_error_mm: float
    """Largest vertex distance over all vertices and frames."""
    worst_frame: int
    """Frame of the largest distance."""
    worst_vertex: int
    """Vertex of the largest distance."""
    asked_error_mm: float | None
    """What `max_error_mm` was to be; None if the number of morphs was given."""
    morphless_error_mm: float
    """Largest vertex distance that joints alone would leave."""

    @property
    def reached(self) -> bool:
        """Whether the largest error is as small as asked."""
        return self.asked_error_mm is None or self.max_error_mm <= self.asked_error_mm


def bake(
    animation: Animation,
    *,
    max_error_mm: float = DEFAULT_MAX_ERROR_MM,
    morphs: int | None = None,
    attachments: Sequence[Attachment] = (),
    vertex_colours: Float[NumpyArray, "V 3"] | None = None,
) -> tuple[Character, BakeReport]:
    """Make an engine character of an animation of one person.

    `max_error_mm` is the largest distance, in millimetres, that any vertex may be off at any frame;
    the fewest morph targets that reach it are kept. `morphs` gives their number instead.
    """
    _require_settings(max_error_mm, morphs)
    rig = _rig(animation, tuple(attachments), vertex_colours)
    offsets = rest_offsets(rig, np.asarray(animation.vertices))
    frame_basis = _frame_basis(offsets, _vertex_areas(rig.template.mesh))
    if morphs is None:
        count = _fewest_components(offsets, frame_basis, 1e-3 * max_error_mm)
    else:
        count = min(morphs, frame_basis.shape[1])
    character = _with_morphs(rig, offsets, frame_basis[:, :count])
    played = _play_error(character, np.asarray(animation.vertices))
    return character, BakeReport(
        morph_count=count,
        mean_error_mm=1e3 * played.mean,
        max_error_mm=1e3 * played.largest,
        worst_frame=played.frame,
        worst_vertex=played.vertex,
        asked_error_mm=max_error_mm if morphs is None else None,
        morphless_error_mm=1e3 * _play_error(rig, np.asarray(animation.vertices)).largest,
    )


def rest_offsets(
    character: Character, vertices: Float[NumpyArray, "N V 3"]
) -> Float32[NumpyArray, "N V 3"]:
    """Rest-pose displacements that the joints of `character` carry to `vertices`, metres."""
    rest = np.asarray(character.template.mesh.vertices, np.float64)
    offsets = np.empty(vertices.shape, np.float32)
    for part in frame_chunks(len(vertices), len(rest)):
        matrices = skin_matrices(character, np.arange(part.start, part.stop))
        linear = matrices[..., :3]
        gap = vertices[part] - np.einsum("nvij,vj->nvi", linear, rest) - matrices[..., 3]
        offsets[part] = damped_offsets(
            linear, gap, damping=_DAMPING, refine_above=_REFINE_ABOVE_M, refinements=_REFINEMENTS
        )
    return offsets


def _require_settings(max_error_mm: float, morphs: int | None) -> None:
    if not (np.isfinite(max_error_mm) and max_error_mm > 0):
        raise InputError(f"bake got max_error_mm {max_error_mm}; expected millimetres above 0.")
    if morphs is not None and morphs < 0:
        raise InputError(f"bake got morphs {morphs}; expected 0 or more.")


def _rig(
    animation: Animation,
    attachments: tuple[Attachment, ...],
    vertex_colours: Float[NumpyArray, "V 3"] | None,
) -> Character:
    """The character without morph targets: this person's rest shape, and the joint tracks."""
    rest = np.asarray(animation.identity.rest_vertices)
    if rest.ndim != 2:
        raise InputError(
            f"identity has shape {rest.shape}; a character is one person (V, 3). Bake one by one."
        )
    joints = np.asarray(animation.identity.joints)
    rotations_wxyz = local_rotation_tracks(
        np.asarray(animation.world_from_joint, np.float64), animation.template.skeleton.parents
    )
    frames = len(rotations_wxyz)
    root = np.asarray(animation.world_from_joint, np.float64)[:, 0, :3, 3] - joints[0]
    return Character(
        name=animation.motion.name,
        fps=float(animation.motion.fps),
        template=_engine_template(animation.template, rest, joints),
        joint_rotations_wxyz=rotations_wxyz,
        root_translation=root,
        morph_names=(),
        morph_offsets=np.zeros((0, *rest.shape), np.float32),
        morph_weights=np.zeros((frames, 0), np.float32),
        attachments=attachments,
        vertex_colours=vertex_colours,
    )


def _engine_template(
    template: Template, rest: Float[NumpyArray, "V 3"], joints: Float[NumpyArray, "J 3"]
) -> Template:
    mesh, skeleton, weights = template.mesh, template.skeleton, template.weights
    if weights.values.shape[1] > ENGINE_INFLUENCES:
        weights = SkinWeights.from_dense(weights.dense(), ENGINE_INFLUENCES)
    return Template(
        Mesh(rest, mesh.triangles, mesh.quads, mesh.uv, mesh.uv_triangles, mesh.mirror),
        Skeleton(skeleton.names, skeleton.parents, joints),
        weights,
        template.part_names,
        template.part_labels,
    )


def _vertex_areas(mesh: Mesh) -> Float64[NumpyArray, "V"]:
    """A third of the area of the triangles around every vertex, m²."""
    areas = triangle_areas(np.asarray(mesh.vertices, np.float64), mesh.triangles)
    thirds = np.repeat(areas / 3, 3)
    return np.bincount(mesh.triangles.ravel(), thirds, minlength=mesh.vertex_count)


def _frame_basis(
    offsets: Float32[NumpyArray, "N V 3"], areas: Float64[NumpyArray, "V"]
) -> Float64[NumpyArray, "N R"]:
    """Orthonormal weight curves of the principal components, strongest first.

    Eigenvectors of G_ts = Σ_v a_v d_tv · d_sv. With these as the columns of U, U_k U_kᵀ d is the
    best approximation of the offsets d by k morph targets in the area-weighted sense.
    """
    frame_count = len(offsets)
    products = np.zeros((frame_count, frame_count))
    step = max(1, 4_000_000 // frame_count // 3)
    for start in range(0, offsets.shape[1], step):
        part = offsets[:, start : start + step].astype(np.float64)
        part *= np.sqrt(areas[start : start + step])[:, None]
        flat = part.reshape(frame_count, -1)
        products += flat @ flat.T
    values, vectors = np.linalg.eigh(products)
    kept = values > max(values[-1], 0) * _RANK_TOLERANCE
    return np.ascontiguousarray(vectors[:, kept][:, ::-1])


def _fewest_components(
    offsets: Float32[NumpyArray, "N V 3"],
    frame_basis: Float64[NumpyArray, "N R"],
    max_error: float,
) -> int:
    """Smallest k for which U_k U_kᵀ d is within `max_error` (metres) of d everywhere.

    A blended skin motion never lengthens an offset, so the posed error is no larger. Found by
    bisection.
    """
    flat = offsets.reshape(len(offsets), -1)
    curves = frame_basis.astype(np.float32)
    components = curves.T @ flat

    def error(count: int) -> float:
        residual = flat - curves[:, :count] @ components[:count]
        return float(np.sqrt(np.square(residual).reshape(-1, 3).sum(axis=1).max()))

    low, high = 0, curves.shape[1]
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= max_error else (middle + 1, high)
    return high


def _with_morphs(
    rig: Character,
    offsets: Float32[NumpyArray, "N V 3"],
    curves: Float64[NumpyArray, "N B"],
) -> Character:
    """The rig with a morph target for every curve, scaled so that its largest weight is 1."""
    peaks = curves[np.abs(curves).argmax(axis=0), np.arange(curves.shape[1])]
    flat = offsets.reshape(len(offsets), -1)
    morph_offsets = ((curves * peaks).astype(np.float32).T @ flat).reshape(-1, *offsets.shape[1:])
    digits = max(2, len(str(max(len(peaks) - 1, 0))))
    return Character(
        name=rig.name,
        fps=rig.fps,
        template=rig.template,
        joint_rotations_wxyz=rig.joint_rotations_wxyz,
        root_translation=rig.root_translation,
        morph_names=tuple(f"morph_{b:0{digits}d}" for b in range(len(peaks))),
        morph_offsets=morph_offsets,
        morph_weights=(curves / peaks).astype(np.float32),
        morph_normals=_morph_normals(rig.template.mesh, morph_offsets),
        attachments=rig.attachments,
        vertex_colours=rig.vertex_colours,
    )


def _morph_normals(
    mesh: Mesh, morph_offsets: Float32[NumpyArray, "B V 3"]
) -> Float32[NumpyArray, "B V 3"]:
    """Change of the unit normals when one morph target is shown alone at weight 1."""
    if not len(morph_offsets):
        return np.zeros_like(morph_offsets)
    rest = np.asarray(mesh.vertices, np.float32)
    still = vertex_normals(rest, mesh.triangles)
    return np.asarray(vertex_normals(rest + morph_offsets, mesh.triangles) - still, np.float32)


@dataclass(frozen=True)
class _PlayError:
    """Distances, in metres, between a played character and the surface it was baked from."""

    mean: float
    largest: float
    frame: int
    vertex: int


def _play_error(character: Character, vertices: Float[NumpyArray, "N V 3"]) -> _PlayError:
    total, largest, where = 0.0, -1.0, (0, 0)
    for part in frame_chunks(len(vertices), vertices.shape[1]):
        played = character_vertices(character, np.arange(part.start, part.stop))
        distances = np.linalg.norm(played - vertices[part], axis=-1)
        total += float(distances.sum())
        if distances.max() > largest:
            frame, vertex = np.unravel_index(distances.argmax(), distances.shape)
            largest, where = float(distances.max()), (part.start + int(frame), int(vertex))
    return _PlayError(total / (len(vertices) * vertices.shape[1]), largest, *where)
