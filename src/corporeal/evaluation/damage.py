"""What is wrong with meshes and skeletons in the wild, done on purpose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray


@dataclass(frozen=True, eq=False)
class Draft:
    """A character while it is being made."""

    vertices: Float[NumpyArray, "V 3"]
    """Metres."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices; damage may repeat or turn them."""
    joints: Float[NumpyArray, "J 3"]
    """Metres."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""
    joint_names: tuple[str, ...]
    """One a joint."""
    part_labels: Int[NumpyArray, "V"]
    """Index into `part_names` of every vertex."""
    part_names: tuple[str, ...]
    """Names of the body parts."""

    def size(self) -> float:
        """Longest side of the skin's box, metres."""
        return float(np.ptp(self.vertices, axis=0).max())


Damage = Callable[[Draft, np.random.Generator], Draft]


def holes(draft: Draft, random: np.random.Generator) -> Draft:
    """Up to six round holes, or triangles missing all over."""
    triangles = draft.triangles
    if random.uniform() < 0.5:
        kept = random.uniform(size=len(triangles)) > 0.2
    else:
        kept = ~_near_some(draft, random, int(random.integers(1, 7)), 0.06)[triangles].any(axis=1)
    return replace(draft, triangles=triangles[kept] if kept.sum() > 20 else triangles)


def flipped_normals(draft: Draft, random: np.random.Generator) -> Draft:
    """All triangles, or a third of them, face inwards."""
    all_of_them = random.uniform() < 0.5
    flip = random.uniform(size=len(draft.triangles)) < (2.0 if all_of_them else 0.33)
    triangles = np.where(flip[:, None], draft.triangles[:, ::-1], draft.triangles)
    return replace(draft, triangles=triangles)


def duplicated_vertices(draft: Draft, random: np.random.Generator) -> Draft:
    """Triangles no longer share corners in some places, or nowhere: seams, or a soup."""
    soup = random.uniform() < 0.3
    apart = _near_some(draft, random, 4, 0.1)[draft.triangles].any(axis=1) | soup
    own = draft.triangles[apart].ravel()
    triangles = draft.triangles.copy()
    triangles[apart] = (len(draft.vertices) + np.arange(len(own))).reshape(-1, 3)
    return _with_vertices(draft, draft.vertices[own], draft.part_labels[own], triangles)


def slivers(draft: Draft, random: np.random.Generator) -> Draft:
    """A tenth of the vertices are moved onto a neighbour, or almost."""
    vertices, triangles = draft.vertices.copy(), draft.triangles
    some = triangles[random.uniform(size=len(triangles)) < 0.05]
    share = random.choice([1.0, 1.0 - 1e-9, 0.999, 0.98], size=(len(some), 1))
    vertices[some[:, 0]] += share * (vertices[some[:, 1]] - vertices[some[:, 0]])
    return replace(draft, vertices=vertices)


def noise(draft: Draft, random: np.random.Generator) -> Draft:
    """A rough scan: up to 1 % of the size, with a few points far out."""
    scale = draft.size() * random.uniform(1e-3, 1e-2)
    moved = draft.vertices + random.normal(scale=scale, size=draft.vertices.shape)
    far = random.integers(0, len(moved), 3)
    moved[far] += random.normal(scale=20 * scale, size=(3, 3))
    return replace(draft, vertices=moved)


def crossings(draft: Draft, random: np.random.Generator) -> Draft:
    """A part of the skin is pushed through the other side."""
    where = _near_some(draft, random, 2, 0.08)
    middle = draft.vertices.mean(axis=0)
    moved = np.where(where[:, None], 2 * middle - draft.vertices, draft.vertices)
    return replace(draft, vertices=moved)


def loose_parts(draft: Draft, random: np.random.Generator) -> Draft:
    """Copies of bits of the skin float about, and vertices of no triangle."""
    bits = draft.triangles[_near_some(draft, random, 3, 0.05)[draft.triangles].all(axis=1)]
    used, local = np.unique(bits, return_inverse=True)
    shift = random.normal(scale=0.1 * draft.size(), size=3)
    extra = np.concatenate([draft.vertices[used] + shift, draft.vertices[:5] * 1.01])
    labels = np.concatenate([draft.part_labels[used], draft.part_labels[:5]])
    triangles = np.concatenate([draft.triangles, local.reshape(-1, 3) + len(draft.vertices)])
    return _with_vertices(draft, extra, labels, triangles)


def fins(draft: Draft, random: np.random.Generator) -> Draft:
    """Edges of three triangles, a triangle that stands twice, and one without area."""
    count = len(draft.triangles)
    some = draft.triangles[random.integers(0, count, 6)]
    third = random.integers(0, len(draft.vertices), 6)
    fin = np.stack([some[:, 0], some[:, 1], third], axis=1)
    flat = np.stack([some[:, 0], some[:, 1], some[:, 0]], axis=1)
    return replace(draft, triangles=np.concatenate([draft.triangles, fin, some, flat]))


def joint_outside(draft: Draft, random: np.random.Generator) -> Draft:
    """A joint lies outside the skin, and one exactly on it."""
    joints = draft.joints.copy()
    joints[random.integers(0, len(joints))] += random.normal(scale=0.3 * draft.size(), size=3)
    joints[random.integers(0, len(joints))] = draft.vertices[0]
    return replace(draft, joints=joints)


def bones_without_length(draft: Draft, random: np.random.Generator) -> Draft:
    """Some joints lie where their parents do, or almost."""
    joints = draft.joints.copy()
    for joint in range(1, len(joints)):
        if random.uniform() < 0.3:
            joints[joint] = joints[draft.parents[joint]] + random.choice([0.0, 1e-12, 1e-5])
    return replace(draft, joints=joints)


def unconnected_skeleton(draft: Draft, random: np.random.Generator) -> Draft:
    """Joints hang on any joint before them, or all on the first: bones run across the gaps."""
    star = random.uniform() < 0.5
    parents = [-1] + [
        0 if star else int(random.integers(0, j)) for j in range(1, len(draft.joints))
    ]
    return replace(draft, parents=tuple(parents))


def far_away(draft: Draft, random: np.random.Generator) -> Draft:
    """A kilometre from the origin."""
    shift = 1000.0 * random.normal(size=3)
    return replace(draft, vertices=draft.vertices + shift, joints=draft.joints + shift)


DAMAGES: Mapping[str, Damage] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            holes,
            flipped_normals,
            duplicated_vertices,
            slivers,
            noise,
            crossings,
            loose_parts,
            fins,
            joint_outside,
            bones_without_length,
            unconnected_skeleton,
            far_away,
        )
    }
)
"""By name."""


def _near_some(
    draft: Draft, random: np.random.Generator, count: int, share: float
) -> Bool[NumpyArray, "V"]:
    """Vertices within `share` of the character's size of `count` random ones."""
    centres = draft.vertices[random.integers(0, len(draft.vertices), count)]
    offset = draft.vertices[:, None] - centres[None]
    return (np.linalg.norm(offset, axis=2) < share * draft.size()).any(axis=1)


def _with_vertices(
    draft: Draft,
    vertices: Float[NumpyArray, "n 3"],
    labels: Int[NumpyArray, "n"],
    triangles: Int[NumpyArray, "F 3"],
) -> Draft:
    """The draft with vertices appended, and other triangles."""
    return replace(
        draft,
        vertices=np.concatenate([draft.vertices, vertices]),
        part_labels=np.concatenate([draft.part_labels, labels]),
        triangles=triangles,
    )
