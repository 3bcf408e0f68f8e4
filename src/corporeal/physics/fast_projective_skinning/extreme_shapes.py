"""What poses at the ends of the joints' range show of a template, found once for all its bodies.

Inner vertices are anchored three quarters of the way to the skin. In a deep fold those of both
bones get into each other's way, and no material could keep the flesh between them right side out:
there they must give way (Komaritzan 2022 anchors all of them). And skin that meets skin in such
poses is what collisions at joints must look at.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.geometry.surface import vertex_adjacency
from corporeal.physics.contact.extreme_poses import extreme_poses
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.volumetric_mesh.prisms import signed_volumes
from corporeal.skinning.kinematics import forward_kinematics

if TYPE_CHECKING:
    from corporeal.physics.fast_projective_skinning.body import SimulatedBody
    from corporeal.physics.fast_projective_skinning.preparation import Preparations
    from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation

_CROWDED = 0.3
"""Share of its rest volume below which an element is crowded by its anchors."""
_RINGS = 1
"""Edges around crowded elements within which anchors give way, too, and skin may meet."""
_PLAIN = ProjectiveControls(untangled=False)


class ExtremeShapes:
    """The template's own body in static balance in extreme poses, with every anchor hard."""

    def __init__(self, template: Template, preparations: "Preparations") -> None:
        self._template, self._preparations = template, preparations

    @cached_property
    def _simulation(self) -> "ProjectiveSimulation":
        from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation

        return ProjectiveSimulation(self._template, _PLAIN, preparations=self._preparations)

    @cached_property
    def _identity(self) -> Identity:
        template = self._template
        rest = np.asarray(template.mesh.vertices, np.float64)
        return Identity(rest, np.asarray(template.skeleton.joints, np.float64), {})

    @property
    def _body(self) -> "SimulatedBody":
        return self._simulation.body(self._identity)

    @cached_property
    def _shapes(self) -> list[tuple[Float64[NumpyArray, "J 4 4"], Float64[NumpyArray, "n 3"]]]:
        """World frames, and vertices in balance, metres."""
        body, nowhere = self._body, np.zeros(3)
        return [
            (
                forward_kinematics(rotations, body.joints, body.skeleton.parents, nowhere),
                self._simulation.start(self._identity, Pose(rotations, nowhere)).flesh.positions,
            )
            for rotations in extreme_poses(body.skeleton)
        ]

    @cached_property
    def crowded(self) -> Bool[NumpyArray, "V"]:
        """Skin vertices whose inner copies cannot be held hard in every pose."""
        body = self._body
        model, tetrahedra = body.model, np.asarray(body.model.tetrahedra)
        rest = signed_volumes(body.rest, tetrahedra)
        crowded = np.zeros(model.vertex_count, bool)
        for _, positions in self._shapes:
            small = signed_volumes(positions, tetrahedra) < _CROWDED * rest
            crowded[tetrahedra[small] % model.vertex_count] = True
        return self._with_neighbours(crowded)

    @cached_property
    def meeting(self) -> Int[NumpyArray, "k"]:
        """Skin vertices that may be inside the body beyond a joint, in ascending order."""
        body = self._body
        finder = body.skin_contacts()
        count, triangles = body.model.vertex_count, finder.detection.triangles
        meeting = np.zeros(count, bool)
        for frames, positions in self._shapes:
            hits = finder.detect(np.ascontiguousarray(positions[:count]), frames)
            hits = hits[finder.at_joints(hits)]
            meeting[hits[:, 0]] = True
            meeting[triangles[hits[:, 1]]] = True
        return np.flatnonzero(self._with_neighbours(meeting))

    def _with_neighbours(self, chosen: Bool[NumpyArray, "V"]) -> Bool[NumpyArray, "V"]:
        body = self._body
        near = vertex_adjacency(np.asarray(body.surface.triangles), len(chosen))
        for _ in range(_RINGS):
            chosen = chosen | (near @ chosen.astype(np.float64) > 0)
        return chosen
