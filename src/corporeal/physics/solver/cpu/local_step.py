"""The local step, compiled: deformation gradient, polar decomposition and residual in one pass.

Strips of three tetrahedra go in blocks of 16 lanes, laid out so that each loop over lanes is a few
vector instructions. Edges are differences of float64 positions, so that a body far from the origin
loses nothing; all else is float32.

The rotation is in closed form. The trace t of the stretch U, the sum of the singular values (with
the least one negative if F mirrors), is the largest root of

    t⁴ − 2 i t² − 8 J t + i² − 4 j,    i = ‖F‖², j = ‖cof F‖², J = det F,

to which Newton's iteration falls from √(3 i), an upper bound; and R is its gradient by F,

    R = ∂t/∂F = ((t² + i) F + 2 t cof F − 2 F Fᵀ F)/d,    d = t³ − i t − 2 J.

d = 2 (σ₁ + σ₂)(σ₂ + σ₃)(σ₃ + σ₁) vanishes where the rotation is not determined: there, where F is
flat or mirrors, and where the iteration does not end, singular values take over.
"""

import numpy as np

from corporeal.physics.solver.cpu.polar import closest_rotation
from corporeal.physics.solver.cpu.strip_blocks import LANES
from corporeal.runtime.kernels import kernel

_TWO, _THREE, _FOUR, _EIGHT = np.float32(2), np.float32(3), np.float32(4), np.float32(8)
_ZERO, _TINY = np.float32(0), np.float32(1e-30)
_LEAST_DENOMINATOR = np.float32(4e-3)
"""Of d over t³, which is 16/27 at rest."""
_LEAST_DETERMINANT = np.float32(1e-5)
"""Of J. Below it R is better not decided by rounding, nor by sixth powers in float32."""
_MOST_STEPS = 8
"""Of Newton's iteration; three are enough for most."""

# Scratch of one tetrahedron in every lane: F and cof F (nine rows of LANES entries each), i, J,
# i² − 4 j, t, and what is above 0 where R is not found.
_COFACTORS, SQUARE, DETERMINANT, OFFSET = 9 * LANES, 18 * LANES, 19 * LANES, 20 * LANES
_TRACE, _EXCESS, SCRATCH = 21 * LANES, 22 * LANES, 23 * LANES


@kernel(fastmath=True)
def gather_edges(corners, positions, edges):
    """The five edges along every strip, 15 entries a lane, metres."""
    for l in range(LANES):
        a = np.uint32(corners[0, l])
        x, y, z = positions[a, 0], positions[a, 1], positions[a, 2]
        for k in range(5):
            b = np.uint32(corners[k + 1, l])
            u, v, w = positions[b, 0], positions[b, 1], positions[b, 2]
            edges[(3 * k) * LANES + l] = np.float32(u - x)
            edges[(3 * k + 1) * LANES + l] = np.float32(v - y)
            edges[(3 * k + 2) * LANES + l] = np.float32(w - z)
            x, y, z = u, v, w


@kernel(fastmath=True)
def measure_deformation(rest, edges, work):
    """Fᵀ = G E, its cofactors, i, J, i² − 4 j and √(3 i) of every lane."""
    for l in range(LANES):
        p, q, r = rest[0, l], rest[1, l], rest[2, l]
        s, t, u = rest[3, l], rest[4, l], rest[5, l]
        v, w, x = rest[6, l], rest[7, l], rest[8, l]
        e0, e1, e2 = edges[0 * LANES + l], edges[1 * LANES + l], edges[2 * LANES + l]
        e3, e4, e5 = edges[3 * LANES + l], edges[4 * LANES + l], edges[5 * LANES + l]
        e6, e7, e8 = edges[6 * LANES + l], edges[7 * LANES + l], edges[8 * LANES + l]
        a, b, c = p * e0 + q * e3 + r * e6, p * e1 + q * e4 + r * e7, p * e2 + q * e5 + r * e8
        d, e, f = s * e0 + t * e3 + u * e6, s * e1 + t * e4 + u * e7, s * e2 + t * e5 + u * e8
        g, h, i = v * e0 + w * e3 + x * e6, v * e1 + w * e4 + x * e7, v * e2 + w * e5 + x * e8
        ca, cb, cc = e * i - f * h, f * g - d * i, d * h - e * g
        cd, ce, cf = c * h - b * i, a * i - c * g, b * g - a * h
        cg, ch, ci = b * f - c * e, c * d - a * f, a * e - b * d
        square = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
        minors = (
            ca * ca + cb * cb + cc * cc + cd * cd + ce * ce + cf * cf + cg * cg + ch * ch + ci * ci
        )
        work[SQUARE + l], work[OFFSET + l] = square, square * square - _FOUR * minors
        work[DETERMINANT + l] = a * ca + b * cb + c * cc
        work[_TRACE + l] = np.sqrt(_THREE * square)
        work[0 * LANES + l], work[1 * LANES + l], work[2 * LANES + l] = a, b, c
        work[3 * LANES + l], work[4 * LANES + l], work[5 * LANES + l] = d, e, f
        work[6 * LANES + l], work[7 * LANES + l], work[8 * LANES + l] = g, h, i
        work[_COFACTORS + l], work[_COFACTORS + 1 * LANES + l] = ca, cb
        work[_COFACTORS + 2 * LANES + l], work[_COFACTORS + 3 * LANES + l] = cc, cd
        work[_COFACTORS + 4 * LANES + l], work[_COFACTORS + 5 * LANES + l] = ce, cf
        work[_COFACTORS + 6 * LANES + l], work[_COFACTORS + 7 * LANES + l] = cg, ch
        work[_COFACTORS + 8 * LANES + l] = ci


@kernel(fastmath=True)
def _improve_trace(work, tolerance):
    """A Newton step of t in every lane.

    The error after a step δ is δ² (3t² − i)/2d, and R's at most (3t² − i)/d times as large.
    """
    for l in range(LANES):
        square, determinant, t = work[SQUARE + l], work[DETERMINANT + l], work[_TRACE + l]
        slope = t * (t * t - square) - _TWO * determinant
        value = t * (t * (t * t - _TWO * square) - _EIGHT * determinant) + work[OFFSET + l]
        change = value / (_FOUR * max(slope, _TINY))
        spread = change * (_THREE * t * t - square)
        work[_TRACE + l] = t - change
        work[_EXCESS + l] = spread * spread - tolerance * slope * slope


@kernel()
def _is_found(work):
    """Whether R is found in every lane; not if something is not a number."""
    sure = 0
    for l in range(LANES):
        sure += work[_EXCESS + l] <= _ZERO
    return sure == LANES


@kernel(fastmath=True)
def _add_forces(rest, work, forces):
    """Add Gᵀ w (Rᵀ − Fᵀ), the pull on three edges of every lane, newtons.

    Where R is not found its part is left out, and the excess is then above 0.
    """
    for l in range(LANES):
        a, b, c = (
            work[0 * LANES + l],
            work[1 * LANES + l],
            work[2 * LANES + l],
        )
        d, e, f = (
            work[3 * LANES + l],
            work[4 * LANES + l],
            work[5 * LANES + l],
        )
        g, h, i = (
            work[6 * LANES + l],
            work[7 * LANES + l],
            work[8 * LANES + l],
        )
        xx, yy, zz = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
        xy, xz, yz = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
        t, square = work[_TRACE + l], work[SQUARE + l]
        cubic = t * t * t
        denominator = cubic - square * t - _TWO * work[DETERMINANT + l]
        sure = (work[_EXCESS + l] <= _ZERO) & (work[DETERMINANT + l] > _LEAST_DETERMINANT)
        sure &= _LEAST_DENOMINATOR * cubic < denominator
        work[_EXCESS + l] = _ZERO if sure else rest[9, l]
        share = rest[9, l] / denominator if sure else _ZERO
        one = share * (t * t + square - denominator)
        two, three = _TWO * share * t, -_TWO * share
        # w (R − F)
        k0 = one * a + two * work[_COFACTORS + 0 * LANES + l] + three * (a * xx + b * xy + c * xz)
        k1 = one * b + two * work[_COFACTORS + 1 * LANES + l] + three * (a * xy + b * yy + c * yz)
        k2 = one * c + two * work[_COFACTORS + 2 * LANES + l] + three * (a * xz + b * yz + c * zz)
        k3 = one * d + two * work[_COFACTORS + 3 * LANES + l] + three * (d * xx + e * xy + f * xz)
        k4 = one * e + two * work[_COFACTORS + 4 * LANES + l] + three * (d * xy + e * yy + f * yz)
        k5 = one * f + two * work[_COFACTORS + 5 * LANES + l] + three * (d * xz + e * yz + f * zz)
        k6 = one * g + two * work[_COFACTORS + 6 * LANES + l] + three * (g * xx + h * xy + i * xz)
        k7 = one * h + two * work[_COFACTORS + 7 * LANES + l] + three * (g * xy + h * yy + i * yz)
        k8 = one * i + two * work[_COFACTORS + 8 * LANES + l] + three * (g * xz + h * yz + i * zz)
        p, q, r = rest[0, l], rest[1, l], rest[2, l]
        s, t, u = rest[3, l], rest[4, l], rest[5, l]
        v, w, x = rest[6, l], rest[7, l], rest[8, l]
        forces[0 * LANES + l] += p * k0 + s * k3 + v * k6
        forces[1 * LANES + l] += p * k1 + s * k4 + v * k7
        forces[2 * LANES + l] += p * k2 + s * k5 + v * k8
        forces[3 * LANES + l] += q * k0 + t * k3 + w * k6
        forces[4 * LANES + l] += q * k1 + t * k4 + w * k7
        forces[5 * LANES + l] += q * k2 + t * k5 + w * k8
        forces[6 * LANES + l] += r * k0 + u * k3 + x * k6
        forces[7 * LANES + l] += r * k1 + u * k4 + x * k7
        forces[8 * LANES + l] += r * k2 + u * k5 + x * k8


@kernel()
def _add_doubtful_forces(rest, work, forces):
    """Gᵀ w (Rᵀ − Fᵀ) of the lanes without R, by singular values, whatever F."""
    gradient, turned, scratch = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3, 3))
    for l in range(LANES):
        if work[_EXCESS + l] == _ZERO:
            continue
        for k in range(9):
            gradient[k // 3, k % 3] = work[k * LANES + l]
        closest_rotation(gradient, turned, scratch)
        for m in range(3):
            for c in range(3):
                pull = 0.0
                for k in range(3):
                    pull += rest[3 * k + m, l] * (turned[k, c] - gradient[k, c])
                forces[(3 * m + c) * LANES + l] += np.float32(rest[9, l] * pull)


@kernel(fastmath=True)
def _scatter(corners, forces, residual):
    """Add the pull of edges on their ends to the residual of those that move."""
    free = residual.shape[0]
    for l in range(LANES):
        x, y, z = _ZERO, _ZERO, _ZERO
        for k in range(5):
            u = forces[(3 * k) * LANES + l]
            v = forces[(3 * k + 1) * LANES + l]
            w = forces[(3 * k + 2) * LANES + l]
            i = np.uint32(corners[k, l])
            if i < free:
                residual[i, 0] += x - u
                residual[i, 1] += y - v
                residual[i, 2] += z - w
            x, y, z = u, v, w
        i = np.uint32(corners[5, l])
        if i < free:
            residual[i, 0] += x
            residual[i, 1] += y
            residual[i, 2] += z


@kernel()
def _block_forces(corners, rest, positions, edges, work, tolerance, forces):
    """The pull on the edges of the strips in one block, 15 entries a lane, newtons."""
    gather_edges(corners, positions, edges)
    forces[:] = _ZERO
    for k in range(3):
        measure_deformation(rest[k], edges[3 * k * LANES :], work[k])
    for step in range(_MOST_STEPS):
        for k in range(3):
            _improve_trace(work[k], tolerance)
        if step >= 2 and _is_found(work[0]) and _is_found(work[1]) and _is_found(work[2]):
            break
    for k in range(3):
        along = forces[3 * k * LANES :]
        _add_forces(rest[k], work[k], along)
        if not _is_found(work[k]):
            _add_doubtful_forces(rest[k], work[k], along)


@kernel()
def local_step(corners, rest, positions, residual, first, last, tolerance):
    """Add Σ Q_iᵀ w_i (p_i − Q_i z) of the blocks `first` … `last` − 1 to `residual`.

    `residual` is of the free vertices, which come first. R is within `tolerance` of the rotation
    closest to F.
    """
    edges, forces = np.empty(15 * LANES, np.float32), np.empty(15 * LANES, np.float32)
    work = np.empty((3, SCRATCH), np.float32)
    for block in range(first, last):
        _block_forces(corners[block], rest[block], positions, edges, work, tolerance, forces)
        _scatter(corners[block], forces, residual)


@kernel()
def local_forces(corners, rest, positions, forces, first, last, tolerance):
    """The first half of `local_step`, for more threads than there are residuals to add to: the
    pulls of the blocks `first` … `last` − 1 into `forces`, blocks × 240, newtons."""
    edges, work = np.empty(15 * LANES, np.float32), np.empty((3, SCRATCH), np.float32)
    for block in range(first, last):
        _block_forces(corners[block], rest[block], positions, edges, work, tolerance, forces[block])


@kernel()
def scatter_forces(corners, forces, residual, first, last):
    """The second half: add the pulls of the blocks `first` … `last` − 1 to `residual`, in order."""
    for block in range(first, last):
        _scatter(corners[block], forces[block], residual)


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
