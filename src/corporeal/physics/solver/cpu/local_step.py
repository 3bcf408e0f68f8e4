"""The local step, compiled: deformation gradient, polar decomposition and residual in one pass.

Strips of three tetrahedra go in blocks of 16 lanes, which vector instructions take at once
(`lanes`). Edges are differences of float64 positions, so that a body far from the origin
loses nothing; all else is float32.

The rotation is in closed form. The trace t of the stretch U, the sum of the singular values (with
the least one negative if F mirrors), is the largest root of

    t⁴ − 2 i t² − 8 J t + i² − 4 j,    i = ‖F‖², j = ‖cof F‖², J = det F,

and of t² = i + 2 √(j + 2 J t), whose right side leads from one upper bound to a nearer one where
J > 0: a ninth as far away near rest, at once where F is flat. From that of √(3 i) Newton's
iteration falls to the root, and R is its gradient by F,

    R = ∂t/∂F = ((t² + i) F + 2 t cof F − 2 F Fᵀ F)/d,    d = t³ − i t − 2 J.

d = 2 (σ₁ + σ₂)(σ₂ + σ₃)(σ₃ + σ₁) vanishes where the rotation is not determined: there, where F is
flat or mirrors, and where the iteration does not end, singular values take over.
"""

import numpy as np

from corporeal.physics.solver.cpu.lanes import add_pulls, gather_strips, scatter_pulls
from corporeal.physics.solver.cpu.polar import closest_rotation
from corporeal.physics.solver.cpu.strip_blocks import LANES
from corporeal.runtime.kernels import kernel

_CORNERS, _ELEMENT, _ROWS = 6 * LANES, 10 * LANES, 15 * LANES
"""Entries of a block's corners, of the rest shapes of one tetrahedron a lane, and of five edges."""


@kernel()
def _add_doubtful(rest, start, edges, along, lost, forces):
    """Gᵀ w (Rᵀ − Fᵀ) of the lanes whose bit in `lost` is set, by singular values, whatever F."""
    gradient, turned, scratch = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3, 3))
    for l in range(LANES):
        if not (lost >> l) & 1:
            continue
        for m in range(3):
            for c in range(3):
                total = np.float32(0)
                for k in range(3):
                    inverse = rest[start + (3 * m + k) * LANES + l]
                    total += inverse * edges[along + (3 * k + c) * LANES + l]
                gradient[m, c] = total
        closest_rotation(gradient, turned, scratch)
        weight = rest[start + 9 * LANES + l]
        for m in range(3):
            for c in range(3):
                pull = 0.0
                for k in range(3):
                    inverse = rest[start + (3 * k + m) * LANES + l]
                    pull += inverse * (turned[k, c] - gradient[k, c])
                forces[along + (3 * m + c) * LANES + l] += np.float32(weight * pull)


@kernel()
def _block_forces(rest, block, edges, tolerance, forces):
    """The pull on the edges of the strips in one block, 15 entries a lane, newtons."""
    forces[:] = np.float32(0)
    for k in range(3):
        start, along = (3 * block + k) * _ELEMENT, 3 * k * LANES
        lost = add_pulls(rest, start, edges, along, tolerance, forces)  # pyright: ignore[reportCallIssue]
        if lost != 0:
            _add_doubtful(rest, start, edges, along, lost, forces)


@kernel()
def local_step(corners, rest, positions, residual, first, last, tolerance):
    """Add Σ Q_iᵀ w_i (p_i − Q_i z) of the blocks `first` … `last` − 1 to `residual`.

    `residual` is of the free vertices, which come first, in quads, and a quad more for what is of
    no use. R is within `tolerance` of the rotation closest to F.
    """
    flat, shapes, z, sums = corners.ravel(), rest.ravel(), positions.ravel(), residual.ravel()
    edges, forces = np.empty((2, _ROWS), np.float32), np.empty(_ROWS, np.float32)
    free = len(residual) - 1
    if first < last:
        gather_strips(flat, first * _CORNERS, z, edges[0])  # pyright: ignore[reportCallIssue]
    for block in range(first, last):
        # those of the next block now: what has just been stored in parts is slow to be read whole
        if block + 1 < last:
            ahead = edges[(block + 1 - first) % 2]
            gather_strips(flat, (block + 1) * _CORNERS, z, ahead)  # pyright: ignore[reportCallIssue]
        _block_forces(shapes, block, edges[(block - first) % 2], tolerance, forces)
        scatter_pulls(flat, block * _CORNERS, forces, sums, free)  # pyright: ignore[reportCallIssue]


@kernel()
def local_forces(corners, rest, positions, forces, first, last, tolerance):
    """The first half of `local_step`, for more threads than there are residuals to add to: the
    pulls of the blocks `first` … `last` − 1 into `forces`, blocks × 240, newtons."""
    flat, shapes, z, edges = (
        corners.ravel(), rest.ravel(), positions.ravel(), np.empty(_ROWS, np.float32)
    )  # fmt: skip
    for block in range(first, last):
        gather_strips(flat, block * _CORNERS, z, edges)  # pyright: ignore[reportCallIssue]
        _block_forces(shapes, block, edges, tolerance, forces[block])


@kernel()
def scatter_forces(corners, forces, residual, first, last):
    """The second half: add the pulls of the blocks `first` … `last` − 1 to `residual`, in order."""
    flat, sums, free = corners.ravel(), residual.ravel(), len(residual) - 1
    for block in range(first, last):
        scatter_pulls(flat, block * _CORNERS, forces[block], sums, free)  # pyright: ignore[reportCallIssue]


@kernel()
def gather_residual(buffers, inertia, pull, positions, right_side):
    """r = κ M (y − z) + K (t − z) + f + Σ buffers over the free vertices; the buffers are emptied.

    `inertia` is κ m + k a vertex and `pull` is κ M y + K t + f.
    """
    for i in range(right_side.shape[0]):
        for c in range(3):
            total = pull[i, c] - inertia[i] * positions[i, c]
            for s in range(buffers.shape[0]):
                total += buffers[s, i, c]
                buffers[s, i, c] = np.float32(0)
            right_side[i, c] = np.float32(total)


@kernel()
def hold_back(buffers, share, pull):
    """Take a `share` of Σ buffers from `pull`."""
    for s in range(buffers.shape[0]):
        for i in range(pull.shape[0]):
            for c in range(3):
                pull[i, c] -= share * buffers[s, i, c]


@kernel()
def draw(buffers, share, springs, targets, free, loose, place, z, pull):
    """Begin the iterations of a step with attachments: `hold_back`, with the buffers emptied, K t
    added to `pull`, and the vertices that are `loose` where they are drawn to."""
    hold_back(buffers, share, pull)
    buffers[:] = np.float32(0)
    for i in range(pull.shape[0]):
        for c in range(3):
            pull[i, c] += springs[i] * targets[free[i], c]
    for v in loose:
        for c in range(3):
            z[place[v], c] = targets[v, c]


@kernel()
def correct(positions, delta):
    """z ← z + δ over the free vertices, which come first."""
    for i in range(delta.shape[0]):
        for c in range(3):
            positions[i, c] += delta[i, c]


@kernel()
def begin_step(
    positions, velocities, earlier_positions, earlier_velocities, carried, forces,
    order, blend, reach, drag, lead, inertia, z, pull,
):  # fmt: skip
    """`first_guess` and the constant part of the right side, κ M y + f, in one pass.

    `order` puts the free vertices first; `blend` are the rule's shares of now and earlier; `lead`
    is the time for which vertices are carried to the first guess, s, or 0 for the prediction y.
    """
    now, earlier = blend
    share = reach / (1.0 + drag)
    for i in range(order.shape[0]):
        k = order[i]
        for c in range(3):
            place = now * positions[k, c] - earlier * earlier_positions[k, c]
            speed = now * velocities[k, c] - earlier * earlier_velocities[k, c]
            y = place + share * (speed + drag * carried[k, c])
            z[i, c] = y if lead == 0.0 else positions[k, c] + lead * carried[k, c]
            if i < pull.shape[0]:
                pull[i, c] = inertia[i] * y + forces[k, c]


@kernel()
def end_step(positions, earlier_positions, order, blend, reach, z, reached, velocities):
    """`advanced` in one pass: positions in their own order, and v = (z − z̃)/τ."""
    now, earlier = blend
    for i in range(order.shape[0]):
        k = order[i]
        for c in range(3):
            place = now * positions[k, c] - earlier * earlier_positions[k, c]
            reached[k, c] = z[i, c]
            velocities[k, c] = (z[i, c] - place) / reach
