"""Custom meshes for tests: a coarse dragon, and tubes with parts beside them."""

from functools import cache

import numpy as np
from solids import circle, icosphere, tube

from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.pipelines.example_creature import dragon_skin


@cache
def coarse_dragon() -> Mesh:
    """The example's dragon with edges of about 5 cm."""
    return dragon_skin(0.05)


def joined(*parts: tuple[np.ndarray, np.ndarray]) -> Mesh:
    """Several surfaces in one mesh."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    triangles = [faces + start for (_, faces), start in zip(parts, starts, strict=False)]
    return Mesh(np.concatenate([v for v, _ in parts]), np.concatenate(triangles))


def tentacle(rings: int = 31) -> tuple[tuple[np.ndarray, np.ndarray], Skeleton]:
    """An upright tube of radius 10 cm and height 1.2 m, with joints at 0.1, 0.6 and 1 m."""
    joints = np.array([[0.0, 0.1, 0.0], [0.0, 0.6, 0.0], [0.0, 1.0, 0.0]])
    skeleton = Skeleton(("foot", "middle", "top"), (-1, 0, 1), joints)
    return tube(circle(0.1, 20), 1.2, rings), skeleton


def ball(centre: tuple[float, float, float], radius: float) -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = icosphere(2)
    return radius * vertices + np.array(centre), triangles
