"""Seeded characters for breaking things: bodies and creatures, some of them badly damaged.

One in four is a default body with random sliders and noise; the others are creatures, a skin drawn
around a random tree of bones. Then up to three kinds of damage are done (`DAMAGES`).
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh, triangles_from_quads
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.evaluation.damage import DAMAGES, Draft
from corporeal.geometry.level_set import zero_surface
from corporeal.models.phenotype.model import PhenotypeModel

_SLIDERS = ("gender", "muscle", "weight", "height", "proportions")
_MOST_DAMAGES = 3


@dataclass(frozen=True, eq=False)
class RandomCharacter:
    """One draw: who it is, what was done to it, and how many vertices are simulated."""

    seed: int
    """Random seed; draws everything."""
    kind: str
    """`body` or `creature`."""
    damages: tuple[str, ...]
    """Kinds of damage done, in order (`damage.DAMAGES`)."""
    template: Template
    """The rigged surface after the damage."""
    identity: Identity
    """Its rest shape, metres."""
    vertex_count: int
    """To be simulated, of the skin's."""


def random_character(seed: int) -> RandomCharacter:
    """The character of a seed, always the same one."""
    random = np.random.default_rng(seed)
    kind, draw = ("body", _body) if seed % 4 == 0 else ("creature", _creature)
    draft = draw(random)
    chosen = random.permutation(sorted(DAMAGES))[: random.integers(0, _MOST_DAMAGES + 1)]
    for name in chosen:
        draft = DAMAGES[str(name)](draft, random)
    template = _template(draft)
    vertices, joints = np.asarray(template.mesh.vertices), np.asarray(template.skeleton.joints)
    count = int(random.integers(300, 1000))
    return RandomCharacter(
        seed, kind, tuple(map(str, chosen)), template, Identity(vertices, joints, {}), count
    )


def _template(draft: Draft) -> Template:
    """A template whose weights, which projective skinning does not read, are those of one joint."""
    nearest = np.argmin(
        np.linalg.norm(draft.vertices[:, None] - draft.joints[None], axis=2), axis=1
    )
    weights = SkinWeights(nearest[:, None], np.ones((len(nearest), 1)), len(draft.joints))
    mesh = Mesh(draft.vertices, draft.triangles)
    skeleton = Skeleton(draft.joint_names, draft.parents, draft.joints)
    return Template(mesh, skeleton, weights, draft.part_names, draft.part_labels)


def _body(random: np.random.Generator) -> Draft:
    """A default body of any sliders, its skin roughened by up to 4 mm."""
    model = PhenotypeModel()
    sliders = {name: float(random.uniform()) for name in _SLIDERS}
    identity = model.prepare(sliders | {"age": float(random.uniform(18, 80))})
    vertices = np.asarray(identity.rest_vertices, np.float64)
    template = model.template
    return Draft(
        vertices + random.normal(scale=random.uniform(0, 4e-3), size=vertices.shape),
        np.asarray(template.mesh.triangles, np.int64),
        np.asarray(identity.joints, np.float64),
        template.skeleton.parents,
        template.skeleton.names,
        np.asarray(template.part_labels, np.int64),
        template.part_names,
    )


def _creature(random: np.random.Generator) -> Draft:
    """A skin around a random tree of 2 to 14 joints; bones of 8 to 35 cm, 2 to 9 cm thick."""
    count = int(random.integers(2, 15))
    joints, parents = np.zeros((count, 3)), [-1]
    for joint in range(1, count):
        parent = int(random.integers(max(0, joint - 3), joint))
        direction = random.normal(size=3)
        length = random.uniform(0.08, 0.35)
        joints[joint] = joints[parent] + length * direction / np.linalg.norm(direction)
        parents.append(parent)
    radii = random.uniform(0.02, 0.09, size=count)
    vertices, triangles = _skin(joints, np.maximum(parents, 0), radii)
    lift = np.array([0.0, 1.0, 0.0])
    return Draft(
        vertices + lift,
        triangles,
        joints + lift,
        tuple(parents),
        tuple(f"joint_{j}" for j in range(count)),
        np.zeros(len(vertices), np.int64),
        ("skin",),
    )


def _skin(
    joints: Float[NumpyArray, "J 3"], parents: Int[NumpyArray, "J"], radii: Float[NumpyArray, "J"]
) -> tuple[Float[NumpyArray, "V 3"], Int[NumpyArray, "F 3"]]:
    """The surface around capsules from every joint to its parent, melted together."""
    low, high = joints.min(axis=0) - 0.13, joints.max(axis=0) + 0.13
    spacing = max(0.018, float((high - low).max()) / 60)
    axes = [np.arange(low[k], high[k] + spacing, spacing) for k in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    nearness = np.zeros(grid.shape[:3])
    for joint, parent in enumerate(parents):
        axis = joints[parent] - joints[joint]
        along = (grid - joints[joint]) @ axis / max(float(axis @ axis), 1e-12)
        foot = joints[joint] + np.clip(along, 0, 1)[..., None] * axis
        distance = np.linalg.norm(grid - foot, axis=-1) - radii[joint]
        nearness += np.exp(-distance / 0.02)
    vertices, quads = zero_surface(-np.log(nearness + 1e-30), low, spacing)
    return vertices, triangles_from_quads(quads)
