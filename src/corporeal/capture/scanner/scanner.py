"""Raw scans of posed skin: rays that both cameras of a pair see, measured with errors.

A stereo pair measures depth z with a deviation σ_z = σ z²/(f b) that grows with the angle between
the ray and the surface's normal; it does not measure what one of the two cannot see, what it sees
too flatly, and now and then it mistakes one place for another. All of that is drawn here, from a
seed, and the truth is kept beside.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corporeal._typing import Bool, Float32, Float64, Int, NumpyArray
from corporeal.body.scan import Scan
from corporeal.body.template import Template
from corporeal.capture.scanner.ring import Ring, rays_towards, ring
from corporeal.errors import InputError
from corporeal.registration.landmarks import landmark_vertices
from corporeal.runtime.extras import import_extra


def marks_on(template: Template) -> dict[str, int]:
    """Vertices of the default body that carry marks, by name; both sides."""
    return landmark_vertices(template)


_TRIAL_SPACING = 0.02
"""Metres between the rays of the first, coarse scan, which tells how dense the next must be."""
_SAME = 2e-3
"""Metres within which a second camera's ray must meet the surface to see the same place."""


@dataclass(frozen=True)
class ScannerSettings:
    """What the scanner is like."""

    points: int = 150_000
    """About so many a scan."""
    pairs: int = 22
    """Camera pairs."""
    noise: float = 4e-4
    """Standard deviation along the ray of a surface seen squarely, metres."""
    grazing: float = 75.0
    """Degrees between ray and normal from which nothing is measured."""
    outliers: float = 0.002
    """Share of points that are mistaken."""
    outlier_reach: float = 0.05
    """Standard deviation of a mistake along the ray, metres."""
    landmarks: bool = False
    """Put marks on the skin."""

    def __post_init__(self) -> None:
        ranges = {
            "points": (100, 10_000_000),
            "noise": (0.0, 0.1),
            "grazing": (10.0, 90.0),
            "outliers": (0.0, 0.9),
            "outlier_reach": (0.0, 1.0),
        }
        for name, (low, high) in ranges.items():
            if not low <= getattr(self, name) <= high:
                raise InputError(
                    f"scanner has {name} {getattr(self, name)}; expected {low:g} to {high:g}."
                )


class Scanner:
    """A ring of cameras around bodies of one topology."""

    def __init__(
        self,
        settings: ScannerSettings,
        triangles: Int[NumpyArray, "F 3"],
        marks: dict[str, int] | None = None,
    ) -> None:
        """`marks` are vertices by the names of the landmarks on them."""
        self.settings, self.triangles = settings, triangles
        self.ring: Ring = ring(settings.pairs)
        self.marks = dict(marks or {}) if settings.landmarks else {}

    def scan(self, vertices: Float32[NumpyArray, "V 3"], random: np.random.Generator) -> Scan:
        """See one posed skin, metres; the ring's middle follows it over the ground."""
        middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)) * [1.0, 0.0, 1.0]
        surface = _Surface((vertices - middle).astype(np.float32), self.triangles)
        trial = sum(len(part[0]) for part in self._views(surface, _TRIAL_SPACING, random))
        spacing = _TRIAL_SPACING * float(np.sqrt(max(trial, 1) / self.settings.points))
        found = list(self._views(surface, spacing, random))
        points, cosines, cameras = (np.concatenate(parts) for parts in zip(*found, strict=True))
        names = tuple(self.marks)
        marks = vertices[[self.marks[name] for name in names]] if names else np.zeros((0, 3))
        errors = random.normal(scale=self.settings.noise, size=(len(names), 3))
        return Scan(
            (points + middle).astype(np.float32),
            np.clip(cosines, 0.0, 1.0).astype(np.float32),
            cameras,
            (marks + errors).astype(np.float32),
            names,
        )

    def _views(self, surface: "_Surface", spacing: float, random: np.random.Generator) -> Any:
        """Points, cosines to the normal and camera numbers of one pair after the other."""
        least = np.cos(np.radians(self.settings.grazing))
        for number in range(self.ring.count):
            place, other = self.ring.left[number], self.ring.right[number]
            rays = rays_towards(place, surface.vertices, spacing, random)
            hit, depth, cosines = surface.cast(place, rays)
            kept = hit & (cosines > least)
            rays, depth, cosines = rays[kept], depth[kept], cosines[kept]
            seen = surface.sees(other, place + depth[:, None] * rays)
            rays, depth, cosines = rays[seen], depth[seen], cosines[seen]
            depth = depth + self._errors(cosines, depth, random)
            yield place + depth[:, None] * rays, cosines, np.full(len(rays), number, np.int64)

    def _errors(
        self,
        cosines: Float64[NumpyArray, "n"],
        depth: Float64[NumpyArray, "n"],
        random: np.random.Generator,
    ) -> Float64[NumpyArray, "n"]:
        """Metres along the rays: noise that grows with depth² and flatness, and mistakes."""
        usual = float(np.linalg.norm(self.ring.left[0] - [0.0, 0.95, 0.0]))
        scale = self.settings.noise * (depth / usual) ** 2 / np.maximum(cosines, 0.1)
        errors = random.normal(size=len(depth)) * scale
        mistaken = random.uniform(size=len(depth)) < self.settings.outliers
        errors[mistaken] += self.settings.outlier_reach * random.normal(size=int(mistaken.sum()))
        return errors


class _Surface:
    """One posed skin in Embree."""

    def __init__(
        self, vertices: Float32[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
    ) -> None:
        scenes = import_extra("embreex.rtcore_scene", "scans", "casting rays at the skin")
        meshes = import_extra("embreex.mesh_construction", "scans", "casting rays at the skin")
        self.vertices = np.asarray(vertices, np.float64)
        self._scene = scenes.EmbreeScene()
        corners = np.ascontiguousarray(np.asarray(vertices, np.float32)[triangles])
        self._mesh = meshes.TriangleMesh(self._scene, corners)

    def cast(
        self, place: Float64[NumpyArray, "3"], rays: Float64[NumpyArray, "r 3"]
    ) -> tuple[Bool[NumpyArray, "r"], Float64[NumpyArray, "r"], Float64[NumpyArray, "r"]]:
        """Whether each ray meets the skin's outside, how far away, and the cosine to its normal."""
        starts = np.broadcast_to(place.astype(np.float32), rays.shape)
        found = self._scene.run(
            np.ascontiguousarray(starts), np.ascontiguousarray(rays, np.float32), output=1
        )
        normals = found["Ng"].astype(np.float64)
        lengths = np.maximum(np.linalg.norm(normals, axis=1), 1e-20)
        cosines = -np.einsum("ri,ri->r", normals, rays) / lengths
        hit = found["primID"] >= 0
        return hit, np.where(hit, found["tfar"], 0.0).astype(np.float64), cosines

    def sees(
        self, place: Float64[NumpyArray, "3"], points: Float64[NumpyArray, "n 3"]
    ) -> Bool[NumpyArray, "n"]:
        """Whether nothing stands between a camera and points of the skin."""
        away = points - place
        distance = np.linalg.norm(away, axis=1)
        hit, depth, _ = self.cast(place, away / distance[:, None])
        return hit & (depth > distance - _SAME)
