"""What acts on a body from outside: colliders, wind, grabs and forces."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.grab import Grab
from corporeal.errors import InputError
from corporeal.physics.contact.colliders.collider import Collider, MovingSkin, Touch, placed
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.contact.contacts import Contacts, joined
from corporeal.physics.contact.grabs import grab_rows
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.solver.integration import State
from corporeal.physics.wind import Wind

GROUND = placed(Ground())
"""The floor y = 0."""


@dataclass(frozen=True)
class Environment:
    """The world around a body."""

    colliders: tuple[Collider, ...] = ()
    """What skin must not enter; may move."""
    wind: Wind | None = None
    """Moving air; None for still air without drag."""
    grabs: tuple[Grab, ...] = ()
    """Points of the skin that are held."""


class BoundEnvironment:
    """The environment and forces of one call, bound to the body they act on."""

    def __init__(
        self,
        body: SimulatedBody,
        environment: Environment | None = None,
        forces: Float64[NumpyArray, "W 3"] | None = None,
        without_ground: bool = False,
    ) -> None:
        """`forces` act on the full skin, newtons; `without_ground` also leaves out the floor that
        the body's settings ask for."""
        self.body = body
        self.environment = world = environment or Environment()
        self.wind, self.grabs = world.wind, world.grabs
        floor = (GROUND,) if body.settings.ground and not without_ground else ()
        self.colliders = (*world.colliders, *floor)
        self._steady = body.weight if forces is None else body.weight + body.pull(forces)
        self.grips = [_grip(body, grab) for grab in self.grabs]
        """Triangle of the simulated skin under every held point, and barycentric coordinates."""

    def forces(self, flesh: State) -> Float64[NumpyArray, "n 3"]:
        """Weight, user forces and wind on the simulated vertices, newtons."""
        if self.wind is None:
            return self._steady
        count = self.body.surface.vertex_count
        forces = self._steady.copy()
        forces[:count] += self.wind.forces(
            flesh.positions[:count], flesh.velocities[:count], self.body.surface.triangles
        )
        return forces

    def contacts(
        self,
        flesh: State,
        carriers: Float64[NumpyArray, "n 3"],
        time: float,
        step: float,
        friction: bool = True,
    ) -> Contacts | None:
        """Rows of colliders and grabs for a step from `time`; `carriers` are where bones put the
        vertices when it ends. None where nothing is near."""
        if not self.colliders and not self.grabs:
            return None
        rows: list[Contacts] = []
        if self.colliders:
            chosen = self.body.touchable
            skin = MovingSkin(
                chosen, flesh.positions[chosen], flesh.velocities[chosen], carriers[chosen]
            )
            touch = Touch(reach=self.body.touch_reach)
            rows += [c.contacts(skin, time, step, touch, friction) for c in self.colliders]
        if self.grabs:
            skin = np.asarray(self.body.skin(flesh.positions), np.float64)
            for grab, (corners, shares) in zip(self.grabs, self.grips, strict=True):
                missed = grab.point(skin) - shares @ flesh.positions[corners]
                rows.append(grab_rows(corners, shares, grab.target - missed, grab.stiffness))
        found = joined(rows)
        return found if len(found) else None


def _grip(body: SimulatedBody, grab: Grab) -> tuple[Int[NumpyArray, "3"], Float64[NumpyArray, "3"]]:
    """Triangle of the simulated skin under a held point, at rest, and barycentric coordinates."""
    skin = body.surface
    nearest, triangles = body.rest_tree.closest(grab.point(body.rest_skin)[None])
    corners = np.asarray(skin.triangles[triangles[0]], np.int64)
    if body.system.anchored[corners].all():
        raise InputError(
            f"grab holds vertices {grab.vertices.tolist()}, which joints carry; grab a "
            f"place where flesh is simulated."
        )
    a, b, c = np.asarray(skin.vertices)[corners]
    shares, *_ = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), nearest[0] - a, rcond=None)
    return corners, np.array([1.0 - shares.sum(), *shares])
