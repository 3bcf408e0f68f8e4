"""The skeleton surface B: skin shrunk onto the bone wrap W (equations 4.1 to 4.4).

A vertex is drawn to one target: the closest point of W (weight 0.1), a fixed correspondence that
keeps prisms upright (1), or a place outside W where it had gone through (100).
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.building.distance_field import DistanceField
from corporeal.anatomy.surface_energy import SurfaceEnergy
from corporeal.geometry.surface import unique_edges, vertex_adjacency, vertex_normals

CLOSEST, FIXED, COLLISION = 0.1, 1.0, 100.0
"""Weights w_i of the three kinds of target."""
ALIGNED = 0.01
"""Largest E_align that is left alone: 8° from upright."""
FIXED_WITHIN, FIXED_APART = 0.03, 0.05
"""Fixed correspondences: nearer to W than the first, farther from each other than the second, m."""
DEPTH = 0.0005
"""A vertex has gone through W when it is deeper than this, metres; an edge's middle, four times."""
STICKY = 3e-6
"""Below this w_reg collisions stay: before, stiff surfaces cut through bones they later leave."""


@dataclass(frozen=True)
class Schedule:
    """w_reg falls from `first` to `last` by `factor`; `rounds` local–global steps for each."""

    first: float = 1.0
    """Largest w_reg, with which the surface starts to shrink."""
    last: float = 1e-7
    """Smallest w_reg, below which it stops."""
    factor: float = 0.1
    """Ratio of one w_reg to the one before, below 1."""
    rounds: int = 12
    """Local–global steps for each w_reg."""


def alignment_error(
    skin: Float64[NumpyArray, "n 3"],
    skin_normals: Float64[NumpyArray, "n 3"],
    inner: Float64[NumpyArray, "n 3"],
    inner_normals: Float64[NumpyArray, "n 3"],
) -> Float64[NumpyArray, "n"]:
    """E_align = |(n_S + n_W)·(x_S − x_W) / (‖n_S + n_W‖ ‖x_S − x_W‖) − 1| (4.4)."""
    normal, line = skin_normals + inner_normals, skin - inner
    length = np.linalg.norm(normal, axis=1) * np.linalg.norm(line, axis=1)
    cosine = np.sum(normal * line, axis=1) / np.maximum(length, 1e-12)
    return np.abs(np.where(length > 1e-12, cosine, 1.0) - 1.0)


def fixed_correspondences(
    skin: Float64[NumpyArray, "V 3"],
    normals: Float64[NumpyArray, "V 3"],
    free: Bool[NumpyArray, "V"],
    wrap: DistanceField,
    seed: int = 0,
) -> tuple[Int[NumpyArray, "n"], Float64[NumpyArray, "n 3"]]:
    """Some vertices near W, and the point of W that stands most upright below each."""
    random = np.random.default_rng(seed)
    distance = np.where(free, np.abs(wrap.distance(skin)), np.inf)
    chosen: list[int] = []
    for vertex in np.argsort(distance):
        if distance[vertex] > FIXED_WITHIN:
            break
        gaps = np.linalg.norm(skin[chosen] - skin[vertex], axis=1) if chosen else np.array([1.0])
        if gaps.min() >= FIXED_APART:
            chosen.append(int(vertex))
    index = np.array(chosen, np.int64)
    start = wrap.project(skin[index])
    best, targets = np.full(len(index), np.inf), start.copy()
    reach = 0.7 * np.linalg.norm(skin[index] - start, axis=1) + 0.003
    for trial in range(60):
        offset = random.normal(size=start.shape) * reach[:, None] if trial else 0.0 * start
        place = wrap.project(start + offset)
        error = alignment_error(skin[index], normals[index], place, wrap.normal(place))
        error = np.where(np.abs(wrap.distance(place)) < 1e-3, error, np.inf)
        better = error < best
        best[better], targets[better] = error[better], place[better]
    return index, targets


class Shrink:
    """The state of one shrink-wrapping."""

    def __init__(
        self,
        skin: Float64[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        free: Bool[NumpyArray, "V"],
        wrap: DistanceField,
        mirror: Int[NumpyArray, "V"] | None = None,
    ) -> None:
        self.mirror = mirror
        self.skin, self.triangles, self.free, self.wrap = skin, triangles, free, wrap
        self.edges = unique_edges(triangles[free[triangles].any(axis=1)])
        self.normals = _smoothed(vertex_normals(skin, triangles), triangles, 3)
        self.start = smoothed_detail(skin, triangles, free)
        self.energy = SurfaceEnergy(self.start, triangles, free)
        fixed, places = fixed_correspondences(skin, self.normals, free, wrap)
        self.kind = np.full(len(skin), CLOSEST)
        self.kind[fixed] = FIXED
        self.targets = skin.copy()
        self.targets[fixed] = places
        self.first_kind, self.first_targets = self.kind.copy(), self.targets.copy()

    def run(self, schedule: Schedule | None = None) -> Float64[NumpyArray, "V 3"]:
        """B, enclosing W; on the skin itself outside the layered region."""
        plan = Schedule() if schedule is None else schedule
        x, w_reg = self.start, plan.first
        while w_reg > 0.5 * plan.last:
            for _ in range(plan.rounds):
                x = self._aligned(x)
                self._find_targets(x, keep=w_reg < STICKY)
                solver = self.energy.solver(w_reg, np.where(self.free, self.kind, 0.0))
                for _ in range(3):
                    x = solver.step(x, self.targets)
            x = self._symmetric(x)
            self.energy.set_rest(x)
            w_reg *= plan.factor
        return x

    def _symmetric(self, x: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "V 3"]:
        return x if self.mirror is None else (x + x[self.mirror] * [-1.0, 1.0, 1.0]) / 2

    def _find_targets(self, x: Float64[NumpyArray, "V 3"], keep: bool) -> None:
        """Closest points again; collisions override both other kinds, for good if `keep`."""
        kept = (self.kind == COLLISION) & keep
        self.kind[:] = np.where(kept, COLLISION, self.first_kind)
        self.targets[:] = np.where(kept[:, None], self.targets, self.first_targets)
        closest = (self.kind == CLOSEST) & self.free
        self.targets[closest] = self.wrap.project(x[closest])
        inside = self.free & (self.wrap.distance(x) < -DEPTH)
        a, b = self.edges.T
        middle = self.wrap.distance((x[a] + x[b]) / 2) < -4 * DEPTH
        inside[a[middle]] |= self.free[a[middle]]
        inside[b[middle]] |= self.free[b[middle]]
        hit = np.flatnonzero(inside)
        if len(hit):
            self.targets[hit] = self.wrap.retreat(x[hit], self.skin[hit], clearance=DEPTH)
            self.kind[hit] = COLLISION

    def _aligned(self, x: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "V 3"]:
        """Slide badly standing vertices to the best place of their one-ring."""
        normals = vertex_normals(x, self.triangles)
        error = alignment_error(self.skin, self.normals, x, normals)
        bad = self.free & (error > ALIGNED) & (self.kind == CLOSEST)
        moved, best = x.copy(), error.copy()
        for start, end in (self.edges.T, self.edges[:, ::-1].T):
            at = bad[start]
            i, j = start[at], end[at]
            for share in (0.25, 0.5):
                place = (1 - share) * x[i] + share * x[j]
                normal = (1 - share) * normals[i] + share * normals[j]
                trial = alignment_error(self.skin[i], self.normals[i], place, normal)
                order = np.argsort(-trial)  # the best of several candidates is written last
                i_, place_, trial_ = i[order], place[order], trial[order]
                better = trial_ < best[i_]
                moved[i_[better]], best[i_[better]] = place_[better], trial_[better]
        return moved


def smoothed_detail(
    skin: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    free: Bool[NumpyArray, "V"],
    rounds: int = 20,
) -> Float64[NumpyArray, "V 3"]:
    """The skin without nipples and navel: Laplacian smoothing of the free vertices."""
    smooth = _smoothed(skin, triangles, rounds)
    return np.where(free[:, None], smooth, skin)


def _smoothed(
    values: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"], rounds: int
) -> Float64[NumpyArray, "V 3"]:
    adjacency = vertex_adjacency(triangles, len(values)).astype(np.float64)
    degree = np.maximum(adjacency.sum(axis=1), 1.0)[:, None]
    for _ in range(rounds):
        values = 0.5 * values + 0.5 * (adjacency @ values) / degree
    return values
