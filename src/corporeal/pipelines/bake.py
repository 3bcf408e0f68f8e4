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
3. choose: the fewest components, 40 at most, for which 999 of 1 000 vertices are within a
   millimetre; or those whose largest error is as asked; or a number of them.
4. measure: the baked character is played back and compared with the animation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, Float32, Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.character import ENGINE_INFLUENCES, Character
from corporeal.body.looks import Looks
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.geometry.surface import triangle_areas, vertex_normals
from corporeal.geometry.tracks import local_rotation_tracks
from corporeal.skinning.playback import character_vertices, frame_chunks, skin_matrices
from corporeal.skinning.unposing import damped_offsets

MORPH_BUDGET = 40
"""Most morph targets of a bake that is not told how many, or how exact."""
BUDGET_ERROR_MM = 1.0
BUDGET_SHARE = 0.999
"""Share of the vertices over all frames that a bake within the budget brings that close."""

_STILL_M, _STILL_NORMAL = 1e-5, 4e-3
"""Offsets (metres) and changes of normals that a morph target does without."""

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
    """What `max_error_mm` was to be; None if it was not asked for."""
    morphless_error_mm: float
    """Largest vertex distance that joints alone would leave."""
    within_1mm: float
    """Share of the vertices over all frames that are within a millimetre."""

    @property
    def reached(self) -> bool:
        """Whether the largest error is as small as asked."""
        return self.asked_error_mm is None or self.max_error_mm <= self.asked_error_mm


def bake(
    animation: Animation,
    *,
    max_error_mm: float | None = None,
    morphs: int | None = None,
    attachments: Sequence[Attachment] = (),
    vertex_colours: Float[NumpyArray, "V 3"] | None = None,
    looks: Looks | None = None,
) -> tuple[Character, BakeReport]:
    """Make an engine character of an animation of one person.

    The fewest morph targets are kept that bring 99.9 % of the vertices of all frames within a
    millimetre, 40 at most. `morphs` gives their number instead; `max_error_mm` the largest
    distance, in millimetres, that any vertex may be off at any frame, whatever it takes. `looks`
    come along in the place of attachments and colours; their face is the animation's already.
    """
    _require_settings(max_error_mm, morphs)
    rig = _rig(animation, tuple(attachments), vertex_colours)
    if looks is not None:
        rig = replace(rig, attachments=looks.parts, material=looks.material, hidden=looks.hidden)
    offsets = rest_offsets(rig, np.asarray(animation.vertices))
    frame_basis = _frame_basis(offsets, _vertex_areas(rig.template.mesh))
    if morphs is not None:
        count = min(morphs, frame_basis.shape[1])
    elif max_error_mm is not None:
        count = _fewest_components(offsets, frame_basis, 1e-3 * max_error_mm, 1.0)
    else:
        budget = frame_basis[:, :MORPH_BUDGET]
        count = _fewest_components(offsets, budget, 1e-3 * BUDGET_ERROR_MM, BUDGET_SHARE)
    still = _STILL_M if max_error_mm is None else min(_STILL_M, 5e-5 * max_error_mm)
    character = _with_morphs(rig, offsets, frame_basis[:, :count], still)
    played = play_error(character, np.asarray(animation.vertices))
    return character, BakeReport(
        morph_count=count,
        mean_error_mm=1e3 * played.mean,
        max_error_mm=1e3 * played.largest,
        worst_frame=played.frame,
        worst_vertex=played.vertex,
        asked_error_mm=max_error_mm if morphs is None else None,
        within_1mm=played.within_1mm,
        morphless_error_mm=1e3 * play_error(rig, np.asarray(animation.vertices)).largest,
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


def _require_settings(max_error_mm: float | None, morphs: int | None) -> None:
    if max_error_mm is not None and not (np.isfinite(max_error_mm) and max_error_mm > 0):
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
    share: float,
) -> int:
    """Smallest k for which U_k U_kᵀ d is within `max_error` (metres) of d, for that share of all
    vertices and frames.

    A blended skin motion never lengthens an offset, so the posed error is no larger. Found by
    bisection.
    """
    flat = offsets.reshape(len(offsets), -1)
    curves = frame_basis.astype(np.float32)
    components = curves.T @ flat

    def error(count: int) -> float:
        residual = flat - curves[:, :count] @ components[:count]
        squares = np.square(residual).reshape(-1, 3).sum(axis=1)
        return float(np.sqrt(squares.max() if share == 1 else np.quantile(squares, share)))

    low, high = 0, curves.shape[1]
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= max_error else (middle + 1, high)
    return high


def _with_morphs(
    rig: Character,
    offsets: Float32[NumpyArray, "N V 3"],
    curves: Float64[NumpyArray, "N B"],
    still: float,
) -> Character:
    """The rig with a morph target for every curve, scaled so that its largest weight is 1.

    Offsets shorter than `still` are left out, so that files need not hold them.
    """
    peaks = curves[np.abs(curves).argmax(axis=0), np.arange(curves.shape[1])]
    flat = offsets.reshape(len(offsets), -1)
    morph_offsets = ((curves * peaks).astype(np.float32).T @ flat).reshape(-1, *offsets.shape[1:])
    morph_offsets[np.linalg.norm(morph_offsets, axis=-1) < still] = 0
    normals = morph_normals(rig.template.mesh, morph_offsets)
    normals[np.linalg.norm(normals, axis=-1) < _STILL_NORMAL] = 0
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
        morph_normals=normals,
        attachments=rig.attachments,
        vertex_colours=rig.vertex_colours,
        material=rig.material,
        hidden=rig.hidden,
    )


def morph_normals(
    mesh: Mesh, morph_offsets: Float32[NumpyArray, "B V 3"]
) -> Float32[NumpyArray, "B V 3"]:
    """Change of the unit normals when one morph target is shown alone at weight 1."""
    if not len(morph_offsets):
        return np.zeros_like(morph_offsets)
    rest = np.asarray(mesh.vertices, np.float32)
    still = vertex_normals(rest, mesh.triangles)
    return np.asarray(vertex_normals(rest + morph_offsets, mesh.triangles) - still, np.float32)


@dataclass(frozen=True)
class PlayError:
    """Distances, in metres, between a played character and the surface it was baked from."""

    mean: float
    """Over all vertices and frames."""
    largest: float
    """Of any vertex at any frame."""
    frame: int
    """Frame of the largest."""
    vertex: int
    """Vertex of the largest."""
    within_1mm: float
    """Share of all vertices and frames that are within a millimetre."""


def play_error(character: Character, vertices: Float[NumpyArray, "N V 3"]) -> PlayError:
    """How far a played character is from a moving surface."""
    total, largest, where, near = 0.0, -1.0, (0, 0), 0
    for part in frame_chunks(len(vertices), vertices.shape[1]):
        played = character_vertices(character, np.arange(part.start, part.stop))
        distances = np.linalg.norm(played - vertices[part], axis=-1)
        total += float(distances.sum())
        near += int((distances <= 1e-3).sum())
        if distances.max() > largest:
            frame, vertex = np.unravel_index(distances.argmax(), distances.shape)
            largest, where = float(distances.max()), (part.start + int(frame), int(vertex))
    count = len(vertices) * vertices.shape[1]
    return PlayError(total / count, largest, *where, near / count)
