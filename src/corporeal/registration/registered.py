"""What registering a scan gives: a mesh of the default topology, a person and a pose, and how well
they lie on the scan."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.registration.coupled_stage import Coupled, matches
from corporeal.registration.person_model import PersonModel
from corporeal.registration.scan_surface import ScanSurface
from corporeal.skinning.unposing import damped_offsets

SEEN = 0.012
"""Metres within which a point of the scan, facing the same way, covers a vertex."""
_DAMPING = 0.3
"""Directions that a blended matrix shrinks below this share are not undone."""


@dataclass(frozen=True, eq=False)
class Registered:
    """One registered scan, metres, y up."""

    vertices: Float64[NumpyArray, "V 3"]
    """The registered mesh in the scan's pose."""
    identity: Identity
    """The person in the zero pose."""
    pose: Pose
    """The scan's pose, radians and metres."""
    shape: Float64[NumpyArray, "K"]
    """β, standard deviations."""
    model_vertices: Float64[NumpyArray, "V 3"]
    """The model's skin behind it, metres."""
    seen: Bool[NumpyArray, "V"]
    """Vertices that the scan covers; the others follow the model."""
    quality: "Quality"
    """How well it lies on the scan."""
    remarks: tuple[str, ...] = ()
    """What was found and done, in words."""
    seconds: tuple[tuple[str, float], ...] = ()
    """Seconds of every stage, by name."""


@dataclass(frozen=True, eq=False)
class Quality:
    """Distances in metres, from the scan's points to the registered mesh."""

    mean: float
    """Mean distance of points within a centimetre: outliers are counted apart."""
    median: float
    """Median distance of all points."""
    outliers: float
    """Share of points further than a centimetre."""
    coverage: float
    """Share of vertices that the scan covers."""
    parts: dict[str, tuple[float, float]]
    """By part: mean distance of its points, metres, and its coverage."""
    unsound: int
    """Folded or crossing triangles that are left, beyond the model's own."""


def quality_of(
    model: PersonModel,
    surface: ScanSurface,
    vertices: Float64[NumpyArray, "V 3"],
    unsound: int = 0,
) -> tuple[Quality, Bool[NumpyArray, "V"]]:
    """Distances and coverage, in all and by part."""
    from scipy.spatial import KDTree

    from corporeal.geometry.surface import vertex_normals

    template = model.template
    triangles = np.asarray(template.mesh.triangles)
    found = matches(vertices, triangles, surface.points)
    distance = np.linalg.norm(surface.points - found.feet, axis=1)
    near = distance < 0.01
    labels = np.asarray(template.part_labels)
    owners = labels[found.triangles[np.arange(len(distance)), np.argmax(found.shares, axis=1)]]
    normals = vertex_normals(vertices, triangles)
    reach, which = KDTree(surface.points).query(vertices)
    facing = np.sum(normals * surface.normals[which], axis=1) > 0.2
    seen = (reach < max(SEEN, 1.5 * surface.spacing)) & facing
    parts = {}
    for number, name in enumerate(template.part_names):
        of_part = near & (owners == number)
        mean = float(distance[of_part].mean()) if of_part.any() else float("nan")
        parts[name] = (mean, float(seen[labels == number].mean()))
    quality = Quality(
        float(distance[near].mean()) if near.any() else float("inf"),
        float(np.median(distance)),
        float(1.0 - near.mean()),
        float(seen.mean()),
        parts,
        unsound,
    )
    return quality, seen


def unposed_identity(model: PersonModel, coupled: Coupled) -> Identity:
    """The person in the zero pose: the model's rest skin, and the free offsets taken back there."""
    posed = model.posed(coupled.state)
    offsets = damped_offsets(
        np.ascontiguousarray(posed.blend.blended),
        coupled.vertices - coupled.model_vertices,
        damping=_DAMPING,
        refine_above=5e-4,
        refinements=2,
    )
    rest = model.space.vertices(coupled.state.shape) + offsets
    joints = model.space.joints(coupled.state.shape)
    ground = np.array([0.0, rest[:, 1].min(), 0.0])
    return Identity(rest - ground, joints - ground, {})
