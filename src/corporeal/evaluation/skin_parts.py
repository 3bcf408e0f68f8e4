"""Volume of the parts of a skin, each closed by a cone over its rim.

V = 1/6 Σ det(x_i − c, x_j − c, x_k − c) over the part's triangles, with c the mean of its rim: the
cone from c over the rim closes the part and adds nothing. A breast pushed through the chest wall
has the volume that it had, with the other sign.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.topology import topology_hash

LEAST: Final = 5e-5
"""m³: parts that stand out by less at rest, such as a flat breast, say nothing by their sign."""
SHALLOW: Final = 0.06
"""Volume over area^1.5 (a half ball has 0.133): parts that are flatter at rest, such as a back
(0.015), a shoulder (0.03 to 0.05) or a man's breast (0.04), go in wherever a joint bends them."""


@dataclass(frozen=True, eq=False)
class PartLabels:
    """Which part every vertex of a topology belongs to."""

    names: tuple[str, ...]
    """Of the parts."""
    labels: Int[NumpyArray, "V"]
    """Index into `names`, one a vertex."""


class SkinParts:
    """The parts of one person's skin that enclose volume of their own."""

    def __init__(
        self,
        rest: Float64[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        parts: PartLabels,
    ) -> None:
        faces = np.asarray(triangles, np.int64)
        owner = parts.labels[faces[:, 0]]
        self._patches: list[tuple[NumpyArray, NumpyArray]] = []
        names, volumes = [], []
        for number, name in enumerate(parts.names):
            own = faces[owner == number]
            rim = _rim(own)
            volume = _volume(rest, own, rim) if len(rim) else 0.0
            if volume > max(LEAST, SHALLOW * _area(rest, own) ** 1.5):
                self._patches.append((own, rim))
                names.append(name)
                volumes.append(volume)
        self.names = tuple(names)
        """Of the parts that are measured."""
        self.rest_volumes = np.array(volumes)
        """Of these parts at rest, m³."""

    def volumes(self, vertices: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "P"]:
        """Of every part, m³."""
        return np.array([_volume(vertices, own, rim) for own, rim in self._patches])


def _rim(triangles: Int[NumpyArray, "F 3"]) -> Int[NumpyArray, "r"]:
    """Vertices of the edges that one triangle alone has."""
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    edges, counts = np.unique(sides, axis=0, return_counts=True)
    return np.unique(edges[counts == 1])


def _area(vertices: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]) -> float:
    """m²."""
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0)


def _volume(
    vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    rim: Int[NumpyArray, "r"],
) -> float:
    """m³; 0 for a part without triangles."""
    a, b, c = (vertices[triangles] - vertices[rim].mean(axis=0)).transpose(1, 0, 2)
    return float(np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0)


def default_parts(triangles: Int[NumpyArray, "F 3"]) -> PartLabels | None:
    """The parts of the default body, if the triangles are its own."""
    found = _default()
    count = int(triangles.max()) + 1
    return found[1] if topology_hash(triangles, count) == found[0] else None


@lru_cache(maxsize=1)
def _default() -> tuple[str, PartLabels]:
    template = load_default_body().template
    mesh = template.mesh
    labels = PartLabels(tuple(template.part_names), np.asarray(template.part_labels, np.int64))
    return topology_hash(mesh.triangles, mesh.vertex_count), labels
