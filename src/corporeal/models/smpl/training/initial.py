"""Where training starts: parts of the skin, joints among their rings, diffused weights.

Loper et al. 2015, section 4.1 and figure 6: the template is cut into parts, a joint starts as the
average of the ring of vertices between a part and its parent, and the parts' indicators, diffused
over the surface, are the first blend weights.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, identity
from scipy.sparse.linalg import splu

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.smpl.fitting.fit_pose import edge_differences

_DIFFUSION = 0.025
"""How far indicators spread, metres: the root of an implicit step's time. Of 1 to 8 cm, 2 to 3 come
closest to painted weights, on 500, 2 000 and 13 380 vertices alike."""


@dataclass(frozen=True)
class InitialModel:
    """The start of training, all from one rigged template."""

    parts: Int[NumpyArray, "V"]
    """The joint that each vertex follows most."""
    regressor: Float64[NumpyArray, "J V"]
    """𝒥_I: averages of rings."""
    weights: Float64[NumpyArray, "V J"]
    """W_I: four influences a vertex, summing to one."""
    diffused: Float64[NumpyArray, "V J"]
    """The weights before all but four were dropped."""
    edges: csr_array
    """Differences along edges, E×V."""


def initial_model(template: Template) -> InitialModel:
    """Parts, ring averages and diffused weights of a rigged template."""
    mesh, weights = template.mesh, template.weights
    parts = weights.joint_indices[np.arange(len(weights.values)), weights.values.argmax(axis=1)]
    parts = parts.astype(np.int64)
    edges = edge_differences(np.asarray(mesh.triangles, np.int64), mesh.vertex_count)
    rest = np.asarray(mesh.vertices, np.float64)
    diffused = _diffused(parts, edges, rest, template.skeleton.joint_count)
    return InitialModel(
        parts,
        _ring_averages(parts, edges, template.skeleton.parents),
        four_influences(diffused),
        diffused,
        edges,
    )


def four_influences(weights: Float64[NumpyArray, "V J"]) -> Float64[NumpyArray, "V J"]:
    """The four largest of every row, scaled to sum to one; no more where the fifth is as large, as
    on the plane of a symmetric body."""
    largest = np.argsort(weights, axis=1, kind="stable")[:, -4:]
    four = np.zeros_like(weights)
    np.put_along_axis(four, largest, np.take_along_axis(weights, largest, axis=1), axis=1)
    return four / four.sum(axis=1, keepdims=True)


def _diffused(
    parts: Int[NumpyArray, "V"],
    edges: csr_array,
    rest: Float64[NumpyArray, "V 3"],
    joint_count: int,
) -> Float64[NumpyArray, "V J"]:
    """(I + τ L)⁻¹ times the indicators, L the graph Laplacian: rows stay non-negative, sum 1."""
    laplacian = edges.T @ edges
    # on a flat grid the graph's Laplacian is a quarter of degree · edge² times the surface's
    area = 0.25 * laplacian.diagonal().mean() * float(np.mean(np.sum((edges @ rest) ** 2, axis=1)))
    step = identity(len(parts), format="csc") + (_DIFFUSION**2 / area) * laplacian
    indicators = np.eye(joint_count)[parts]
    spread = splu(step.tocsc()).solve(indicators)
    spread = np.maximum(spread, 0.0)
    return spread / spread.sum(axis=1, keepdims=True)


def _ring_averages(
    parts: Int[NumpyArray, "V"], edges: csr_array, parents: tuple[int, ...]
) -> Float64[NumpyArray, "J V"]:
    ends = edges.indices.reshape(-1, 2)
    left, right = parts[ends[:, 0]], parts[ends[:, 1]]
    regressor = np.zeros((len(parents), len(parts)))
    for k, parent in enumerate(parents):
        # the root's ring is where its children begin
        others = [c for c, p in enumerate(parents) if p == k] if parent < 0 else [parent]
        across = np.isin(left, others) & (right == k) | np.isin(right, others) & (left == k)
        ring = np.unique(ends[across])
        if not len(ring):
            raise InputError(
                f"no edge joins the skin of joint {k} with that of joint {parent}; expected parts "
                f"that touch where joints do. Check the template's weights."
            )
        regressor[k, ring] = 1.0 / len(ring)
    return regressor
