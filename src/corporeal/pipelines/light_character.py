"""How light an engine file is: morph targets, levels of detail, keys, packing, and what each costs.

Every step states its error, measured on the character as an engine plays it: the bake against the
animation, thinned tracks against all frames, whole numbers against floating-point ones. A level of
detail keeps some of the vertices where they are; its error is the distance of the full surface from
the coarse one, at rest.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.attachment import Attachment
from corporeal.body.character import Character, unsigned_weights
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.body.track_keys import TrackKeys, every_frame, fewest_keys, played
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.glb import Packing, quantized
from corporeal.skinning.playback import character_vertices, frame_chunks

LODS = {"13k": None, "6k": 6000, "2k": 2000}
"""Levels of detail: about how many vertices; None for all of them."""
READERS = {
    "none": "every glTF reader",
    "quantized": "three.js, Babylon.js and Blender; Godot 4 by its documentation, Godot 3 not",
    "meshopt": "three.js and Babylon.js with a meshopt decoder; Blender and Godot 3 not",
}
"""Who reads a packing."""
_REGIONS = (("head",), ("eye_socket", "inner_mouth"), ("hand",), ("foot",))
_SHARES = (0.42, 0.03, 0.16, 0.06)
"""Ends of part names, and the shares of a coarse body's vertices that they get."""
_SAMPLED = 7
"""Errors of tracks and packing are measured on every so manieth vertex."""
TRACK_ERROR_MM = 0.1
"""How far thinned tracks may move a vertex, about; what they do is measured."""


@dataclass(frozen=True, kw_only=True)
class LightOptions:
    """What an engine file (.glb, .fbx, .usd) may weigh."""

    morphs: int | None = None
    """Number of morph targets; by default as few as bring 99.9 % of the vertices within 1 mm, 40 at
    most."""
    error_mm: float | None = None
    """Largest distance of any vertex at any frame, millimetres, with as many morph targets as it
    takes."""
    lod: Literal["13k", "6k", "2k"] = "13k"
    """Level of detail: about how many vertices."""
    compress: Literal["none", "quantized", "meshopt"] = "none"
    """Packing of a .glb: none opens everywhere; quantized and meshopt are smaller, and need readers
    that know KHR_mesh_quantization and EXT_meshopt_compression (not Godot 3)."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing was asked for."""
        return self == LightOptions() or (
            self.morphs is None
            and self.error_mm is None
            and self.lod == "13k"
            and self.compress == "none"
        )

    def require_engine_file(self, path: str | Path) -> None:
        """Raise `InputError` where a file of that suffix cannot do what is asked."""
        suffix = Path(path).suffix.lower()
        if self.compress != "none" and suffix != ".glb":
            raise InputError(f"--compress {self.compress} came for {path}; it is for .glb alone.")
        if not self.is_plain and suffix not in (".glb", ".fbx", ".usd", ".usdc", ".usda"):
            raise InputError(
                f"--morphs, --error-mm and --lod came for {path}; they are for .glb, .fbx and .usd."
            )
        if self.morphs is not None and self.error_mm is not None:
            raise InputError("--morphs and --error-mm came together; expected one of them.")
        if self.morphs is not None and self.morphs < 0:
            raise InputError(f"--morphs is {self.morphs}; expected 0 or more.")
        if self.error_mm is not None and not 0.0 < self.error_mm < math.inf:
            raise InputError(f"--error-mm is {self.error_mm}; expected millimetres above 0.")


def thinned(character: Character, error_mm: float = TRACK_ERROR_MM) -> tuple[TrackKeys, float, int]:
    """Keys whose lines stay within about `error_mm` of the take, how far they really move a vertex
    (millimetres), and how many there are.

    Half of the allowance goes to the joints, each by its reach: the farthest rest vertex of
    whatever hangs below it, and the number of joints above. The rest is for root and weights.
    """
    allowed = 1e-3 * error_mm
    skeleton = character.template.skeleton
    reach, depth = _reach(character)
    rotations = []
    for joint in range(skeleton.joint_count):
        # |Δq| of a unit quaternion turns by 2|Δq|, and moves what is at r by 2|Δq| r
        tolerance = 0.5 * allowed / (2 * max(reach[joint], 0.02) * max(depth.max(), 1) ** 0.5)
        turns = _continuous(character.joint_rotations_wxyz[:, joint])
        rotations.append(fewest_keys(turns, tolerance, unit=True))
    root = fewest_keys(np.asarray(character.root_translation, np.float64), 0.25 * allowed)
    largest = np.linalg.norm(character.morph_offsets, axis=-1).max(axis=1, initial=0)
    scaled = np.asarray(character.morph_weights, np.float64) * largest
    keys = TrackKeys(tuple(rotations), root, fewest_keys(scaled, 0.25 * allowed))
    apart = _apart_mm(character, played_with(character, keys))
    return keys, apart, sum(len(track) for track in (*rotations, root, keys.weights))


def _apart_mm(one: Character, other: Character) -> float:
    """Largest distance of a vertex between two takes of one rig, of every seventh vertex."""
    few = np.arange(0, one.template.mesh.vertex_count, _SAMPLED)
    one, other = _of_vertices(one, few), _of_vertices(other, few)
    largest = 0.0
    for part in frame_chunks(one.frame_count, len(few)):
        frames = np.arange(part.start, part.stop)
        moved = character_vertices(one, frames) - character_vertices(other, frames)
        largest = max(largest, float(np.linalg.norm(moved, axis=-1).max()))
    return 1e3 * largest


def _of_vertices(character: Character, kept: Int[NumpyArray, "v"]) -> Character:
    """The take of some vertices alone, without a surface."""
    template, weights = character.template, character.template.weights
    rest = np.asarray(template.mesh.vertices)[kept]
    return replace(
        character,
        template=Template(
            Mesh(rest, np.zeros((0, 3), np.int32)),
            template.skeleton,
            SkinWeights(weights.joint_indices[kept], weights.values[kept], weights.joint_count),
            template.part_names,
            template.part_labels[kept],
        ),
        morph_offsets=character.morph_offsets[:, kept],
        morph_normals=None,
        attachments=(),
        vertex_colours=None,
        material=None,
        hidden=None,
    )


def played_with(character: Character, keys: TrackKeys) -> Character:
    """The take as a player shows it that has only some keys."""
    turns = [
        played(_continuous(character.joint_rotations_wxyz[:, joint]), track, unit=True)
        for joint, track in enumerate(keys.rotations)
    ]
    weights = np.asarray(character.morph_weights, np.float64)
    return replace(
        character,
        joint_rotations_wxyz=np.stack(turns, axis=1),
        root_translation=played(np.asarray(character.root_translation, np.float64), keys.root),
        morph_weights=played(weights, keys.weights).astype(np.float32),
    )


def continuous(character: Character) -> Character:
    """The same take whose quaternions never jump to their opposite, so that lines join them."""
    turns = [_continuous(track) for track in character.joint_rotations_wxyz.swapaxes(0, 1)]
    return replace(character, joint_rotations_wxyz=np.stack(turns, axis=1))


def _continuous(wxyz: NumpyArray) -> Float64[NumpyArray, "N 4"]:
    turns = np.array(wxyz, np.float64)
    signs = np.where(np.einsum("nq,nq->n", turns[1:], turns[:-1]) < 0, -1.0, 1.0)
    turns[1:] *= np.cumprod(signs)[:, None]
    return turns


def _reach(character: Character) -> tuple[Float64[NumpyArray, "J"], Int[NumpyArray, "J"]]:
    """How far from every joint the skin of what hangs below it goes, metres, and its depth."""
    template = character.template
    rest, joints = np.asarray(template.mesh.vertices), np.asarray(template.skeleton.joints)
    parents = template.skeleton.parents
    count = len(parents)
    depth, below = np.zeros(count, np.int64), np.eye(count, dtype=bool)
    for joint in range(1, count):
        depth[joint] = depth[parents[joint]] + 1
    for joint in range(count - 1, 0, -1):
        below[parents[joint]] |= below[joint]
    owner = template.weights.joint_indices[:, 0]
    reach = np.zeros(count)
    for joint in range(count):
        own = rest[below[joint][owner]]
        if len(own):
            reach[joint] = np.linalg.norm(own - joints[joint], axis=1).max()
    return reach, depth


def coarser(character: Character, vertex_count: int) -> tuple[Character, dict[str, float]]:
    """The character on about `vertex_count` of its own vertices, and how far its surface is from
    the full one at rest: mean, 99.9 % and largest, millimetres.

    Half-edges collapse onto vertices that stay (Garland and Heckbert 1997), so that weights and
    morph targets are those of the full character; normals are those of the coarse surface.
    """
    from corporeal.geometry.surface_tree import SurfaceTree
    from corporeal.physics.volumetric_mesh.simulation_mesh import decimate

    template = character.template
    full = template.mesh
    if vertex_count >= full.vertex_count:
        return character, {"mean": 0.0, "most": 0.0, "largest": 0.0}
    small = decimate(full, *_shares(template, vertex_count))
    kept = small.vertex_indices
    rest = np.asarray(full.vertices, np.float64)
    uv, uv_triangles = _coarse_uv(full, kept, small.triangles)
    mesh = Mesh(rest[kept], small.triangles.astype(np.int32), None, uv, uv_triangles)
    light = replace(
        character,
        template=Template(
            mesh,
            template.skeleton,
            SkinWeights(
                template.weights.joint_indices[kept],
                template.weights.values[kept],
                template.weights.joint_count,
            ),
            template.part_names,
            template.part_labels[kept],
        ),
        morph_offsets=character.morph_offsets[:, kept],
        morph_normals=_normals(mesh, character.morph_offsets[:, kept]),
        vertex_colours=(
            None if character.vertex_colours is None else character.vertex_colours[kept]
        ),
        hidden=None,
        attachments=_carried_by(character.attachments, kept, rest),
    )
    closest, _ = SurfaceTree(rest[kept], small.triangles).closest(rest)
    apart = 1e3 * np.linalg.norm(closest - rest, axis=1)
    stated = {"mean": apart.mean(), "most": np.quantile(apart, 0.999), "largest": apart.max()}
    return light, {name: round(float(value), 3) for name, value in stated.items()}


def _carried_by(
    parts: tuple[Attachment, ...],
    kept: Int[NumpyArray, "v"],
    rest: Float64[NumpyArray, "V 3"],
) -> tuple[Attachment, ...]:
    """Soft parts on the vertices that stay: each takes the nearest to the one it lay on."""
    from scipy.spatial import KDTree

    if all(part.binding is None for part in parts):
        return parts
    near = np.asarray(KDTree(rest[kept]).query(rest)[1])
    return tuple(
        part
        if part.binding is None
        else replace(part, binding=replace(part.binding, carriers=near[part.binding.carriers]))
        for part in parts
    )


def _shares(
    template: Template, vertex_count: int
) -> tuple[Int[NumpyArray, "V"], Int[NumpyArray, "r"]]:
    """Which region every vertex belongs to, and how many each keeps: people look at faces and
    hands first, and inside a mouth last."""
    group = np.array([next((g for g, words in enumerate(_REGIONS) if name.endswith(words)), -1)
                      for name in template.part_names])  # fmt: skip
    regions = np.where(group < 0, len(_REGIONS), group)[template.part_labels]
    present = np.bincount(regions, minlength=len(_REGIONS) + 1)
    wanted = np.where(present > 0, [*_SHARES, 1 - sum(_SHARES)], 0.0)
    targets = np.ceil(vertex_count * wanted / wanted.sum()).astype(np.int64)
    return regions, np.minimum(targets, present)


def _normals(mesh: Mesh, offsets: NumpyArray) -> NumpyArray:
    from corporeal.pipelines.bake import morph_normals

    return morph_normals(mesh, offsets)


def _coarse_uv(
    mesh: Mesh, kept: Int[NumpyArray, "v"], triangles: Int[NumpyArray, "f 3"]
) -> tuple[NumpyArray | None, NumpyArray | None]:
    """Texture coordinates of the coarse corners: of a vertex's several, that of the chart which all
    three corners share."""
    if mesh.uv is None or mesh.uv_triangles is None:
        return None, None
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = mesh.uv_triangles[:, [0, 1, 1, 2]].reshape(-1, 2)
    shape = (len(mesh.uv), len(mesh.uv))
    edges = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape)
    charts = connected_components(edges, directed=False)[1]
    slots: dict[int, dict[int, int]] = {}
    for vertex, uv in zip(mesh.triangles.ravel(), mesh.uv_triangles.ravel(), strict=True):
        slots.setdefault(int(vertex), {}).setdefault(int(charts[uv]), int(uv))
    chosen = np.empty_like(triangles)
    for place, corners in enumerate(kept[triangles].tolist()):
        several = [slots[corner] for corner in corners]
        shared = set(several[0]) & set(several[1]) & set(several[2])
        chart = min(shared) if shared else None
        chosen[place] = [
            table[chart] if chart is not None else next(iter(table.values())) for table in several
        ]
    used, renumbered = np.unique(chosen, return_inverse=True)
    return np.asarray(mesh.uv)[used], renumbered.reshape(-1, 3)


def write_light_glb(
    path: str | Path, character: Character, packing: Packing = "none"
) -> dict[str, Any]:
    """Write a `.glb` with thinned tracks; gives back its size, keys and errors."""
    from corporeal.formats.gltf import write_glb_character

    steady = continuous(unsigned_weights(character))
    keys, apart, count = thinned(steady)
    write_glb_character(path, steady, packing=packing, keys=keys)
    whole = every_frame(character.frame_count, character.template.skeleton.joint_count)
    return {
        "bytes": Path(path).stat().st_size,
        "packing": packing,
        "readers": READERS[packing],
        "keys": count,
        "keys_at_every_frame": sum(map(len, (*whole.rotations, whole.root, whole.weights))),
        "track_error_mm": round(apart, 4),
        "quantization_error_mm": round(_packing_error_mm(steady, packing), 4),
    }


def _packing_error_mm(character: Character, packing: Packing) -> float:
    """How far whole numbers move a vertex: offsets, morph weights and rotations as they are read
    back."""
    if packing == "none":
        return 0.0

    def read_back(values: NumpyArray, dtype: str) -> NumpyArray:
        return quantized(values, dtype) / np.iinfo(dtype).max

    turns = read_back(character.joint_rotations_wxyz, "int16")
    return _apart_mm(
        character,
        replace(
            character,
            joint_rotations_wxyz=turns / np.linalg.norm(turns, axis=-1, keepdims=True),
            morph_offsets=read_back(character.morph_offsets, "int16").astype(np.float32),
            morph_weights=read_back(character.morph_weights, "uint16").astype(np.float32),
        ),
    )
