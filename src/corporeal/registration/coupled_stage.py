"""Coupled alignment: a free mesh M, and the model it is coupled to, found together.

Pons-Moll 2015, eq. 3 to 8: with m(β, θ) the model's skin and U = M − m the free offsets,

    E(β, θ, U) = Σ_s c_s ρ(‖P_s (m + U) − x_s‖) + Σ_e w_e ‖U_i − U_j‖² + λ (‖β‖² + E_θ(θ))

P_s x is the nearest point of M to the scan's point x_s (eq. 5, distances along the surface count
less, so that surfaces slide), e are edges (i, j) with weights by part (eq. 6: the edges of M are
those of the model, more strictly at hands, feet and face). Every step solves the linearised problem
in all unknowns at once by conjugate gradients: the matrix is

    [ D + L     D J   ]      D = Σ_s P_sᵀ W_s P_s, sparse;  L the edges' Laplacian, sparse;
    [ Jᵀ D   Jᵀ D J + λ ]    J = ∂m/∂(β, θ), mostly zero,

symmetric and positive definite, and it is preconditioned by the Cholesky factor of (lumped D) + L,
whose pattern is the mesh's and never changes, and by that of the small block below.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.template import Template
from corporeal.geometry.surface import unique_edges, vertex_normals
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.registration.model_jacobian import ModelJacobian, model_jacobian
from corporeal.registration.person_model import PersonModel, PersonState
from corporeal.registration.scan_surface import ScanSurface
from corporeal.skinning.kinematics import parent_rotations

STRAIN = {
    "hand": 0.02,
    "foot": 0.02,
    "head": 0.03,
    "eye_socket": 0.004,
    "inner_mouth": 0.004,
}
"""How far edges are likely to differ from the model's, as a share of their length, by part."""
BODY_STRAIN = 0.06
"""The same elsewhere."""
NOISE = 1.0e-3
"""Metres of a scan's point that count as one standard deviation."""
_SHORTEST = 3e-3
"""Edges below this length count as so long, metres."""
_PRIOR = 1.0
"""λ: standard deviations of shape and pose count as those of points."""
_HELD = 2e-2
"""Standard deviation of a free offset itself, metres: what nothing holds stays on the model."""


class CoupledStage(NamedTuple):
    """One pass of steps."""

    steps: int
    """Linearised problems that are solved."""
    sigma: float
    """Distance from which on points count as outliers, metres."""
    stiffness: float
    """Factor on the edges' weights."""
    shapes: int
    """Components of shape that may change."""
    slide: float = 0.1
    """Weight of distances along the surface."""
    model: bool = True
    """Whether shape and pose move too."""
    most_iterations: int = 30
    """Of conjugate gradients, a step."""
    straight: float = 1.0
    """Factor on the prior of straight limbs' twists: flesh errs alike over a whole limb."""


STAGES = (
    CoupledStage(2, 0.03, 4.0, 80, most_iterations=20),
    CoupledStage(2, 0.015, 1.0, 80, most_iterations=20),
    CoupledStage(2, 0.010, 0.5, 80, most_iterations=60),
    CoupledStage(2, 0.007, 0.2, 80, most_iterations=60),
    CoupledStage(3, 0.007, 0.012, 0, slide=0.02, model=False, most_iterations=40),
)
"""Weights of the coupling decrease from stage to stage (section 3.4.1); the last moves the free
mesh alone, down to the scan's own noise."""
TRACKING = (CoupledStage(3, 0.008, 1.0, 0),)
"""One stage, few steps (section 3.4.2)."""


@dataclass(frozen=True, eq=False)
class Coupled:
    """A registered mesh and the model behind it."""

    state: PersonState
    """Shape and pose."""
    vertices: Float64[NumpyArray, "V 3"]
    """M, metres."""
    model_vertices: Float64[NumpyArray, "V 3"]
    """m(β, θ), metres."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Nearest points of a mesh to a scan."""

    triangles: Int[NumpyArray, "n 3"]
    """Corners of the triangle of every point."""
    shares: Float64[NumpyArray, "n 3"]
    """Barycentric coordinates."""
    normals: Float64[NumpyArray, "n 3"]
    """Of the mesh there, unit."""
    feet: Float64[NumpyArray, "n 3"]
    """The nearest points, metres."""


@cache
def _edges_of(template: Template) -> tuple[NumpyArray, NumpyArray]:
    """Edges, and the strain that is likely on each."""
    edges = unique_edges(np.asarray(template.mesh.triangles))
    strains = np.array(
        [
            next((v for key, v in STRAIN.items() if key in name), BODY_STRAIN)
            for name in template.part_names
        ]
    )
    each = strains[np.asarray(template.part_labels)]
    return edges, np.minimum(each[edges[:, 0]], each[edges[:, 1]])


def edge_laplacian(
    template: Template,
    rest: Float64[NumpyArray, "V 3"],
    stiffness: Float64[NumpyArray, "V"] | float = 1.0,
) -> csc_array:
    """L = Σ_e w_e (e_i − e_j)(e_i − e_j)ᵀ, w_e = stiffness / (strain · length)²; V × V, sparse."""
    edges, strains = _edges_of(template)
    lengths = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    factor = np.broadcast_to(stiffness, len(rest))
    factor = np.maximum(factor[edges[:, 0]], factor[edges[:, 1]])
    weights = factor / (strains * np.maximum(lengths, _SHORTEST)) ** 2
    i, j = edges.T
    count = len(rest)
    across = csr_array((-weights, (i, j)), shape=(count, count))
    across = across + across.T
    return csc_array(across - diags_array(np.asarray(across.sum(axis=1)).reshape(-1)))


def matches(
    vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    points: Float64[NumpyArray, "n 3"],
) -> Matches:
    """The nearest point of the mesh to every point."""
    feet, which = SurfaceTree(vertices, triangles).closest(points)
    corners = triangles[which]
    shares = barycentric(feet, vertices[corners])
    normals = vertex_normals(vertices, triangles)
    smooth = np.einsum("nk,nkc->nc", shares, normals[corners])
    smooth /= np.maximum(np.linalg.norm(smooth, axis=1, keepdims=True), 1e-12)
    return Matches(corners, shares, smooth, feet)


def barycentric(
    points: Float64[NumpyArray, "n 3"], corners: Float64[NumpyArray, "n 3 3"]
) -> Float64[NumpyArray, "n 3"]:
    """Coordinates of points of triangles, clipped to them."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    square = np.maximum(np.sum(normal * normal, axis=1), 1e-30)
    u = np.sum(np.cross(c - b, points - b) * normal, axis=1) / square
    v = np.sum(np.cross(a - c, points - c) * normal, axis=1) / square
    shares = np.clip(np.stack([u, v, 1.0 - u - v], axis=1), 0.0, 1.0)
    return shares / shares.sum(axis=1, keepdims=True)


def couple(
    model: PersonModel,
    surface: ScanSurface,
    state: PersonState,
    stages: tuple[CoupledStage, ...] = STAGES,
    offsets: Float64[NumpyArray, "V 3"] | None = None,
    stiffness: Float64[NumpyArray, "V"] | None = None,
) -> Coupled:
    """Solve for shape, pose and free mesh together, from a model fit.

    `stiffness` is a factor on the edges' weights at every vertex; 1 by default.
    """
    triangles = np.asarray(model.template.mesh.triangles)
    posed = model.posed(state)
    free = np.zeros_like(posed.vertices) if offsets is None else offsets.copy()
    own = np.ones(len(free)) if stiffness is None else stiffness
    for stage in stages:
        laplacian = edge_laplacian(model.template, posed.rest, stage.stiffness * own)
        for _ in range(stage.steps):
            mesh = posed.vertices + free
            found = matches(mesh, triangles, surface.points)
            weights = _weights(found, surface, stage)
            problem = _Problem(model, state, posed, found, surface, weights, laplacian, stage)
            free, step = problem.solve(free)
            if stage.model:
                state = model.stepped(state, posed, step)
                posed = model.posed(state)
    return Coupled(state, posed.vertices + free, posed.vertices)


def _weights(found: Matches, surface: ScanSurface, stage: CoupledStage) -> Float64[NumpyArray, "n"]:
    """What a point counts, 1/m²: confidence, the robust kernel, and whether normals agree."""
    gap = surface.points - found.feet
    squares = np.sum(gap * gap, axis=1)
    robust = 1.0 / (1.0 + squares / stage.sigma**2) ** 2
    agree = np.sum(found.normals * surface.normals, axis=1)
    facing = np.clip((agree - 0.2) / 0.4, 0.0, 1.0)
    return (0.2 + 0.8 * surface.weights) * robust * facing / NOISE**2


class _Problem:
    """One linearised problem."""

    def __init__(
        self,
        model: PersonModel,
        state: PersonState,
        posed: object,
        found: Matches,
        surface: ScanSurface,
        weights: Float64[NumpyArray, "n"],
        laplacian: csc_array,
        stage: CoupledStage,
    ) -> None:
        kept = weights > 1e-6 / NOISE**2
        corners, shares = found.triangles[kept], found.shares[kept]
        self.normals, self.weights = found.normals[kept], weights[kept]
        self.stage, self.laplacian = stage, laplacian
        count, points = len(model.vertex_indices), int(kept.sum())
        self.vertex_count = count
        rows = np.repeat(np.arange(points), 3)
        self.places = csr_array(
            (shares.reshape(-1), (rows, corners.reshape(-1))), shape=(points, count)
        )
        self.back = csr_array(self.places.T)
        self.gap = surface.points[kept] - self.places @ posed.vertices  # pyright: ignore
        self.shapes = min(stage.shapes, model.space.count)
        self.jacobian: ModelJacobian | None = None
        if stage.model:
            self.jacobian = model_jacobian(model, posed, self.shapes)  # pyright: ignore
            size = self.jacobian.size
            self.prior, self.pull = np.zeros((size, size)), np.zeros(size)
            each = np.arange(self.shapes)
            self.prior[each, each] += _PRIOR
            self.pull[: self.shapes] -= _PRIOR * state.shape[: self.shapes]
            frames = parent_rotations(posed.kinematics.world_rotations, model.parents)  # pyright: ignore
            likely = model.prior
            likely.add_to(
                self.prior, self.pull, state.pose, frames, self.shapes, _PRIOR, stage.straight
            )

    def metric(self, vectors: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n 3"]:
        """W_s = w_s (n nᵀ + κ I)."""
        along = np.sum(vectors * self.normals, axis=1)
        return self.weights[:, None] * (along[:, None] * self.normals + self.stage.slide * vectors)

    def solve(
        self, free: Float64[NumpyArray, "V 3"]
    ) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "P"]]:
        """New free offsets and the model's step."""
        from scipy.sparse.linalg import splu

        held = 1.0 / _HELD**2
        pulled = self.metric(self.gap)
        right = self.back @ pulled
        lumped = self.back @ (self.weights * (self.stage.slide + 1.0 / 3.0))
        factor = splu(
            csc_array(self.laplacian + diags_array(lumped + held)),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        jacobian = self.jacobian
        size = 0 if jacobian is None else jacobian.size
        small = None
        step_right = np.zeros(size)
        if jacobian is not None:
            step_right = jacobian.transposed(right) + self.pull
            block = jacobian.normal_matrix(self._lumped_blocks()) + self.prior
            block[np.diag_indices_from(block)] += 1e-9 * np.trace(block) / size
            small = np.linalg.inv(block)

        def apply(u: NumpyArray, p: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
            moved = u if jacobian is None else u + jacobian.apply(p)
            force = self.back @ self.metric(self.places @ moved)
            first = force + self.laplacian @ u + held * u
            second = p if jacobian is None else jacobian.transposed(force) + self.prior @ p
            return first, second

        def precondition(u: NumpyArray, p: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
            return factor.solve(u), p if small is None else small @ p

        return _conjugate_gradients(
            apply, precondition, (right, step_right), (free, np.zeros(size)),
            self.stage.most_iterations,
        )  # fmt: skip

    def _lumped_blocks(self) -> Float64[NumpyArray, "V 3 3"]:
        """D gathered at the vertices."""
        blocks = np.empty((self.vertex_count, 3, 3))
        for a in range(3):
            for b in range(a, 3):
                entry = self.normals[:, a] * self.normals[:, b]
                entry = self.weights * (entry + (self.stage.slide if a == b else 0.0))
                blocks[:, a, b] = blocks[:, b, a] = self.back @ entry
        return blocks


def _conjugate_gradients(apply, precondition, right, start, iterations: int):
    """Preconditioned conjugate gradients on pairs of arrays, to a thousandth of the right side."""

    def inner(a, b) -> float:
        return float(np.vdot(a[0], b[0]) + a[1] @ b[1])

    x = start
    image = apply(*x)
    r = (right[0] - image[0], right[1] - image[1])
    z = precondition(*r)
    d, rz = z, inner(r, z)
    least = 1e-6 * max(inner(right, precondition(*right)), 1e-300)
    for _ in range(iterations):
        if rz <= least:
            break
        image = apply(*d)
        alpha = rz / inner(d, image)
        x = (x[0] + alpha * d[0], x[1] + alpha * d[1])
        r = (r[0] - alpha * image[0], r[1] - alpha * image[1])
        z = precondition(*r)
        before, rz = rz, inner(r, z)
        d = (z[0] + rz / before * d[0], z[1] + rz / before * d[1])
    return x
