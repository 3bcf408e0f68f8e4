"""What poses at the ends of the joints' range show of a body, found once.

Inner vertices are anchored three quarters of the way to the skin, or on bone. In a deep fold those
of both bones get into each other's way, and no material could keep the flesh between them right
side out: there they must give way (Komaritzan 2022 anchors all of them). And skin that meets skin
in such poses is what collisions at joints must look at.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.geometry.surface import vertex_adjacency
from corporeal.physics.contact.extreme_poses import extreme_poses
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls, StressFree
from corporeal.physics.fast_projective_skinning.parts import Bodies, BodyParts
from corporeal.physics.solver.constraints.strain import StrainConstraint
from corporeal.physics.volumetric_mesh.prisms import signed_volumes

CROWDED = 0.3
"""Share of its rest volume below which an element is crowded by its anchors."""
MOST_CROWDED = 0.6
"""Share of the skin above which crowding tells nothing of folds, as on small creatures all of whose
joints are bent at once: flesh that hangs on springs everywhere could not stand, and between hard
anchors it cannot be kept right side out. It is left as it is."""
RINGS = 1
"""Edges around crowded elements within which anchors give way, too, and skin may meet."""


@dataclass(frozen=True, eq=False)
class ExtremeShapes:
    """One body in static balance in extreme poses, with every anchor hard."""

    template: Template
    """Whose skeleton is bent."""
    bodies: Bodies
    """Where the body's parts come from."""
    identity: Identity
    """Whose body it is."""
    stress_free: StressFree
    """Where its flesh is free of stress."""

    @property
    def _settings(self) -> ProjectiveControls:
        """Every anchor hard, and no contacts."""
        return ProjectiveControls(untangled=False, stress_free=self.stress_free)

    @property
    def _parts(self) -> BodyParts:
        return self.bodies.of(self.identity, self.stress_free)

    @cached_property
    def _shapes(self) -> list[tuple[Float64[NumpyArray, "J 4 4"], Float64[NumpyArray, "n 3"]]]:
        """World frames from the stress-free pose, and vertices in balance, metres."""
        from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation

        simulation = ProjectiveSimulation(self.template, self._settings, preparations=self.bodies)
        body = simulation.body(self.identity)
        poses = [Pose(r, np.zeros(3)) for r in extreme_poses(self.template.skeleton)]
        return [
            (body.frames(pose), simulation.start(self.identity, pose).flesh.positions)
            for pose in poses
        ]

    def crowded(self, skin_of: Int[NumpyArray, "n"]) -> Bool[NumpyArray, "V"] | None:
        """Skin vertices below which anchors cannot be hard in every pose; `skin_of` is the skin
        vertex above every simulated vertex. None where it would be most of them."""
        parts, settings = self._parts, self._settings
        rest, triangles = parts.rest(settings), np.asarray(parts.surface.triangles)
        strains = [c for c in parts.system(settings).constraints if isinstance(c, StrainConstraint)]
        tetrahedra = np.concatenate([strain.tetrahedra for strain in strains])
        sizes = CROWDED * signed_volumes(rest, tetrahedra)
        crowded = np.zeros(parts.surface.vertex_count, bool)
        for _, positions in self._shapes:
            small = signed_volumes(positions, tetrahedra) < sizes
            crowded[skin_of[tetrahedra[small]]] = True
        crowded = _with_neighbours(crowded, triangles)
        return None if crowded.mean() > MOST_CROWDED else crowded

    def meeting(self, finder: SkinContacts) -> Int[NumpyArray, "k"]:
        """Skin vertices that may be inside the body beyond a joint, in ascending order."""
        triangles = finder.detection.triangles
        meeting = np.zeros(self._parts.surface.vertex_count, bool)
        for frames, positions in self._shapes:
            hits = finder.detect(np.ascontiguousarray(positions[: len(meeting)]), frames)
            hits = hits[finder.at_joints(hits)]
            meeting[hits[:, 0]] = True
            meeting[triangles[hits[:, 1]]] = True
        return np.flatnonzero(_with_neighbours(meeting, triangles))


def template_extremes(template: Template, bodies: Bodies, stress_free: StressFree) -> ExtremeShapes:
    """Those of the template's own body, which all its people share."""
    rest = np.asarray(template.mesh.vertices, np.float64)
    joints = np.asarray(template.skeleton.joints, np.float64)
    return ExtremeShapes(template, bodies, Identity(rest, joints, {}), stress_free)


def _with_neighbours(
    chosen: Bool[NumpyArray, "V"], triangles: Int[NumpyArray, "F 3"]
) -> Bool[NumpyArray, "V"]:
    near = vertex_adjacency(triangles, len(chosen))
    for _ in range(RINGS):
        chosen = chosen | (near @ chosen.astype(np.float64) > 0)
    return chosen
