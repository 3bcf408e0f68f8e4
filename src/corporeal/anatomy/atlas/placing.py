"""Bones of an atlas onto the template's, which stand in the T-pose inside the skin.

    x' = R diag(s) (x − c) + t,   s along the bone's own principal axes, bounded

by closest points both ways (Besl & McKay 1992, with scale), from several starts: an atlas has its
arms hanging or lifted and its forearms turned either way. The start that ends nearest wins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.building.affine import Affine
from corporeal.body.mesh import Mesh
from corporeal.geometry.alignment import best_rotation, nearest_rotation
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.registration.cloud import sample_surface

SCALES = (0.75, 1.3)
"""Smallest and largest mean scale of a bone against the atlas's."""
SLENDERNESS = 0.25
"""Most that the scale along an axis differs from the mean of all three, as a share of it."""
SAMPLES = 400
"""Points of either bone that look for the other's surface."""
TRIAL_ROUNDS, ROUNDS = 10, 30
"""Rounds of closest points from every start, alike along all axes, and then from the best."""
KEPT = 0.9
"""Share of the pairs that count: the farthest are parts that only one of the bones has."""
LIFTED = ("clavicle", "scapula", "humerus", "ulna", "radius")
"""Bones that an arm takes along."""
LIFTS_DEG, TWISTS_DEG = (0.0, 45.0, 90.0), (-90.0, 0.0, 90.0)
"""Starts for those: arms lifted, and turned about themselves."""


@dataclass(frozen=True, eq=False)
class PlacedBone:
    """Where a bone has come, and how well it fits."""

    placement: Affine
    """From the atlas's coordinates to the template's T-pose, metres to metres."""
    distance: float
    """Mean distance between the two bones' surfaces, metres."""


def place_bone(
    name: str, source: Mesh, target: Mesh, other_side: Affine | None = None
) -> PlacedBone:
    """The placement of an atlas bone on the template's bone `name`.

    `other_side` is where the same bone of the other side has come: then the only start.
    """
    fit = _Fit(source, target)
    rotations = list(_starts(name))
    if other_side is not None:
        rotations = [nearest_rotation(other_side.mirrored().matrix)]
    states = [
        fit.run(_State(turn @ fit.axes, *fit.first()), TRIAL_ROUNDS, True) for turn in rotations
    ]
    best = fit.run(min(states, key=fit.distance), ROUNDS, False)
    return PlacedBone(fit.affine(best), fit.distance(best))


def mirror_name(name: str) -> str | None:
    """The name of the same bone on the other side; None for bones of the midline."""
    if name.startswith(("l_", "r_")):
        return ("r" if name[0] == "l" else "l") + name[1:]
    if name.endswith(("_l", "_r")):
        return name[:-1] + ("r" if name[-1] == "l" else "l")
    return None


def _starts(name: str) -> Iterator[Float64[NumpyArray, "3 3"]]:
    """Turns to begin with."""
    if not name.startswith(LIFTED):
        yield np.eye(3)
        return
    sign = 1.0 if name.endswith("_l") else -1.0
    for lift in LIFTS_DEG:
        for twist in TWISTS_DEG:
            yield _turn(2, sign * lift) @ _turn(1, twist)


def _turn(axis: int, degrees: float) -> Float64[NumpyArray, "3 3"]:
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(np.radians(degrees) * np.eye(3)[axis]).as_matrix()


class _State(NamedTuple):
    """Turn, scale along the source's axes, and shift."""

    turn: Float64[NumpyArray, "3 3"]
    scale: Float64[NumpyArray, "3"]
    shift: Float64[NumpyArray, "3"]


class _Fit:
    """Two bones, sampled: the atlas's finely, the template's as an exact surface."""

    def __init__(self, source: Mesh, target: Mesh) -> None:
        points = sample_surface(source, 5 * SAMPLES).points
        self.centre = points.mean(axis=0)
        axes = np.linalg.svd(points - self.centre, full_matrices=False)[2].T
        self.axes = axes * [1.0, 1.0, np.linalg.det(axes)]  # right-handed: bones are not mirrored
        self.local = (points - self.centre) @ self.axes
        self.some = self.local[::5]
        self.target = sample_surface(target, SAMPLES).points
        self.surface = SurfaceTree(np.asarray(target.vertices, np.float64), target.triangles)

    def first(self) -> tuple[Float64[NumpyArray, "3"], Float64[NumpyArray, "3"]]:
        """A scale by the bones' spread, and a shift onto the target's middle."""
        middle = self.target.mean(axis=0)
        ratio = np.sqrt(((self.target - middle) ** 2).mean() / (self.some**2).mean())
        return np.full(3, np.clip(ratio, *SCALES)), middle

    def run(self, state: _State, rounds: int, uniform: bool) -> _State:
        """Closest points both ways; the farthest pairs do not count."""
        for _ in range(rounds):
            out, met, back, j = self._pairs(state)
            kept = out <= np.quantile(out, KEPT), back <= np.quantile(back, KEPT)
            mine = np.concatenate([self.some[kept[0]], self.local[j[kept[1]]]])
            theirs = np.concatenate([met[kept[0]], self.target[kept[1]]])
            state = _best(mine, theirs, state.scale, uniform)
        return state

    def distance(self, state: _State) -> float:
        """Mean distance between the surfaces, both ways, metres."""
        out, _, back, _ = self._pairs(state)
        return float(out.mean() + back.mean()) / 2

    def affine(self, state: _State) -> Affine:
        """The map of the atlas's points."""
        matrix = (state.turn * state.scale) @ self.axes.T
        return Affine(matrix, state.shift - matrix @ self.centre)

    def _pairs(self, state: _State) -> tuple[NumpyArray, NumpyArray, NumpyArray, NumpyArray]:
        """Distances and places on the target, distances and indices on the source."""
        from scipy.spatial import KDTree

        moved = (self.some * state.scale) @ state.turn.T + state.shift
        met, _ = self.surface.closest(moved)
        cloud = KDTree((self.local * state.scale) @ state.turn.T + state.shift)
        back, j = cloud.query(self.target)
        return np.linalg.norm(moved - met, axis=1), met, np.asarray(back), np.asarray(j)


def _best(
    local: Float64[NumpyArray, "n 3"],
    target: Float64[NumpyArray, "n 3"],
    scale: Float64[NumpyArray, "3"],
    uniform: bool,
) -> _State:
    """Turn, scale and shift that carry paired points onto each other best."""
    middle = local.mean(axis=0), target.mean(axis=0)
    mine, theirs = local - middle[0], target - middle[1]
    turn = best_rotation(mine * scale, theirs)
    along = theirs @ turn
    if uniform:
        scale = np.full(3, (along * mine).sum() / max((mine**2).sum(), 1e-12))
    else:
        scale = (along * mine).sum(axis=0) / np.maximum((mine**2).sum(axis=0), 1e-12)
    mean = float(np.clip(scale.mean(), *SCALES))
    scale = np.clip(scale, (1 - SLENDERNESS) * mean, (1 + SLENDERNESS) * mean)
    return _State(turn, scale, middle[1] - turn @ (scale * middle[0]))
