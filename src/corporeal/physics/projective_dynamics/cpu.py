"""The local step, compiled: deformation gradient, polar decomposition and residual in one pass.

Tetrahedra go in blocks of 16 lanes, laid out so that each loop over lanes is a few vector
instructions. Edges are differences of float64 positions, so that a body far from the origin loses
nothing; all else is float32.
"""

import numpy as np

from corporeal.physics.projective_dynamics.blocks import LANES
from corporeal.physics.projective_dynamics.constraints.patch_volume import LEAST_NORM
from corporeal.physics.projective_dynamics.polar_cpu import closest_rotation
from corporeal.runtime.kernels import kernel

_HALF = np.float32(0.5)
_SMALLEST_DETERMINANT = np.float32(1e-5)
_MOST_STEPS = 12
"""Newton steps after which singular values take over."""

# Scratch of one block: rows of LANES entries in one flat array, whose constant distances let the
# compiler see that rows do not overlap.
_EDGES, _GRADIENT, _ROTATION, _FORCE = 0, 9 * LANES, 18 * LANES, 27 * LANES
_CHANGE, _DETERMINANT, _SCRATCH = 36 * LANES, 37 * LANES, 38 * LANES


@kernel(fastmath=True)
def _gather_edges(corners, positions, work):
    """Edges from the first corner to the other three, nine entries a lane, metres."""
    for l in range(LANES):
        a = corners[0, l]
        x, y, z = positions[a, 0], positions[a, 1], positions[a, 2]
        for k in range(3):
            b = corners[k + 1, l]
            work[(3 * k) * LANES + l] = np.float32(positions[b, 0] - x)
            work[(3 * k + 1) * LANES + l] = np.float32(positions[b, 1] - y)
            work[(3 * k + 2) * LANES + l] = np.float32(positions[b, 2] - z)


@kernel(fastmath=True)
def _gradients(rest, work):
    """Fᵀ = G E for every lane."""
    for l in range(LANES):
        a, b, c = (
            work[_EDGES + l],
            work[_EDGES + 1 * LANES + l],
            work[_EDGES + 2 * LANES + l],
        )
        d, e, f = (
            work[_EDGES + 3 * LANES + l],
            work[_EDGES + 4 * LANES + l],
            work[_EDGES + 5 * LANES + l],
        )
        g, h, i = (
            work[_EDGES + 6 * LANES + l],
            work[_EDGES + 7 * LANES + l],
            work[_EDGES + 8 * LANES + l],
        )
        p, q, r = rest[0, l], rest[1, l], rest[2, l]
        s, t, u = rest[3, l], rest[4, l], rest[5, l]
        v, w, x = rest[6, l], rest[7, l], rest[8, l]
        work[_GRADIENT + l] = p * a + q * d + r * g
        work[_GRADIENT + 1 * LANES + l] = p * b + q * e + r * h
        work[_GRADIENT + 2 * LANES + l] = p * c + q * f + r * i
        work[_GRADIENT + 3 * LANES + l] = s * a + t * d + u * g
        work[_GRADIENT + 4 * LANES + l] = s * b + t * e + u * h
        work[_GRADIENT + 5 * LANES + l] = s * c + t * f + u * i
        work[_GRADIENT + 6 * LANES + l] = v * a + w * d + x * g
        work[_GRADIENT + 7 * LANES + l] = v * b + w * e + x * h
        work[_GRADIENT + 8 * LANES + l] = v * c + w * f + x * i


@kernel(fastmath=True)
def _newton_step(work, source):
    """R ← (A + A⁻ᵀ)/2 for every lane, A at `source`, with ‖R − A‖² and det A noted.

    The cofactors of A over its determinant are A⁻ᵀ; `ca` … `ci` become R − A.
    """
    for l in range(LANES):
        a, b, c = (
            work[source + l],
            work[source + 1 * LANES + l],
            work[source + 2 * LANES + l],
        )
        d, e, f = (
            work[source + 3 * LANES + l],
            work[source + 4 * LANES + l],
            work[source + 5 * LANES + l],
        )
        g, h, i = (
            work[source + 6 * LANES + l],
            work[source + 7 * LANES + l],
            work[source + 8 * LANES + l],
        )
        ca, cb, cc = e * i - f * h, f * g - d * i, d * h - e * g
        cd, ce, cf = c * h - b * i, a * i - c * g, b * g - a * h
        cg, ch, ci = b * f - c * e, c * d - a * f, a * e - b * d
        volume = a * ca + b * cb + c * cc
        work[_DETERMINANT + l] = volume
        if volume < _SMALLEST_DETERMINANT:
            volume = _SMALLEST_DETERMINANT
        s = _HALF / volume
        ca, cb, cc = s * ca - _HALF * a, s * cb - _HALF * b, s * cc - _HALF * c
        cd, ce, cf = s * cd - _HALF * d, s * ce - _HALF * e, s * cf - _HALF * f
        cg, ch, ci = s * cg - _HALF * g, s * ch - _HALF * h, s * ci - _HALF * i
        work[_CHANGE + l] = (
            ca * ca + cb * cb + cc * cc + cd * cd + ce * ce + cf * cf + cg * cg + ch * ch + ci * ci
        )
        work[_ROTATION + l] = a + ca
        work[_ROTATION + 1 * LANES + l] = b + cb
        work[_ROTATION + 2 * LANES + l] = c + cc
        work[_ROTATION + 3 * LANES + l] = d + cd
        work[_ROTATION + 4 * LANES + l] = e + ce
        work[_ROTATION + 5 * LANES + l] = f + cf
        work[_ROTATION + 6 * LANES + l] = g + cg
        work[_ROTATION + 7 * LANES + l] = h + ch
        work[_ROTATION + 8 * LANES + l] = i + ci


@kernel(fastmath=True)
def _forces(rest, work):
    """Gᵀ w (Rᵀ − Fᵀ): the pull on the corners after the first, nine entries a lane, newtons."""
    for l in range(LANES):
        weight = rest[9, l]
        a = weight * (work[_ROTATION + l] - work[_GRADIENT + l])
        b = weight * (work[_ROTATION + 1 * LANES + l] - work[_GRADIENT + 1 * LANES + l])
        c = weight * (work[_ROTATION + 2 * LANES + l] - work[_GRADIENT + 2 * LANES + l])
        d = weight * (work[_ROTATION + 3 * LANES + l] - work[_GRADIENT + 3 * LANES + l])
        e = weight * (work[_ROTATION + 4 * LANES + l] - work[_GRADIENT + 4 * LANES + l])
        f = weight * (work[_ROTATION + 5 * LANES + l] - work[_GRADIENT + 5 * LANES + l])
        g = weight * (work[_ROTATION + 6 * LANES + l] - work[_GRADIENT + 6 * LANES + l])
        h = weight * (work[_ROTATION + 7 * LANES + l] - work[_GRADIENT + 7 * LANES + l])
        i = weight * (work[_ROTATION + 8 * LANES + l] - work[_GRADIENT + 8 * LANES + l])
        p, q, r = rest[0, l], rest[1, l], rest[2, l]
        s, t, u = rest[3, l], rest[4, l], rest[5, l]
        v, w, x = rest[6, l], rest[7, l], rest[8, l]
        work[_FORCE + l] = p * a + s * d + v * g
        work[_FORCE + 1 * LANES + l] = p * b + s * e + v * h
        work[_FORCE + 2 * LANES + l] = p * c + s * f + v * i
        work[_FORCE + 3 * LANES + l] = q * a + t * d + w * g
        work[_FORCE + 4 * LANES + l] = q * b + t * e + w * h
        work[_FORCE + 5 * LANES + l] = q * c + t * f + w * i
        work[_FORCE + 6 * LANES + l] = r * a + u * d + x * g
        work[_FORCE + 7 * LANES + l] = r * b + u * e + x * h
        work[_FORCE + 8 * LANES + l] = r * c + u * f + x * i


@kernel()
def _scatter(corners, work, residual):
    """Add the corner forces to the residual; the first corner takes the opposite of the others."""
    for l in range(LANES):
        i, j, k, m = corners[0, l], corners[1, l], corners[2, l], corners[3, l]
        for c in range(3):
            p = work[_FORCE + c * LANES + l]
            q = work[_FORCE + (3 + c) * LANES + l]
            r = work[_FORCE + (6 + c) * LANES + l]
            residual[j, c] += p
            residual[k, c] += q
            residual[m, c] += r
            residual[i, c] -= p + q + r


@kernel()
def _unfinished(work, tolerance):
    """Whether a lane with a usable determinant still changes."""
    settled = 0
    for l in range(LANES):
        settled += work[_CHANGE + l] < tolerance  # false for what is not a number
    return settled < LANES


@kernel()
def _rotate_by_singular_values(work, l, small, turned, svd_work):
    """The rotation of one lane, whatever its gradient."""
    for k in range(9):
        small[k // 3, k % 3] = work[_GRADIENT + k * LANES + l]
    closest_rotation(small, turned, svd_work)
    for k in range(9):
        work[_ROTATION + k * LANES + l] = turned[k // 3, k % 3]


@kernel()
def _rotations(work, bad, tolerance, small, turned, svd_work):
    """Polar decomposition of all lanes: Newton's iteration, singular values where it may fail."""
    _newton_step(work, _GRADIENT)
    any_bad = False
    for l in range(LANES):
        bad[l] = work[_DETERMINANT + l] < _SMALLEST_DETERMINANT
        if bad[l]:
            any_bad = True
            for k in range(
                9
            ):  # at rest under the iteration, so that it does not hold up the others
                work[_ROTATION + k * LANES + l] = np.float32(k % 4 == 0)
    steps = 1
    while _unfinished(work, tolerance):
        if steps == _MOST_STEPS:
            for l in range(LANES):
                bad[l] = bad[l] or not (work[_CHANGE + l] < tolerance)
            any_bad = True
            break
        _newton_step(work, _ROTATION)
        steps += 1
    if any_bad:
        for l in range(LANES):
            if bad[l]:
                _rotate_by_singular_values(work, l, small, turned, svd_work)


@kernel(fastmath=True)
def _cofactors(work):
    """cof F of every lane, to where forces are computed later, with det F and ‖cof F‖²."""
    for l in range(LANES):
        a, b, c = (
            work[_GRADIENT + l],
            work[_GRADIENT + 1 * LANES + l],
            work[_GRADIENT + 2 * LANES + l],
        )
        d, e, f = (
            work[_GRADIENT + 3 * LANES + l],
            work[_GRADIENT + 4 * LANES + l],
            work[_GRADIENT + 5 * LANES + l],
        )
        g, h, i = (
            work[_GRADIENT + 6 * LANES + l],
            work[_GRADIENT + 7 * LANES + l],
            work[_GRADIENT + 8 * LANES + l],
        )
        ca, cb, cc = e * i - f * h, f * g - d * i, d * h - e * g
        cd, ce, cf = c * h - b * i, a * i - c * g, b * g - a * h
        cg, ch, ci = b * f - c * e, c * d - a * f, a * e - b * d
        work[_DETERMINANT + l] = a * ca + b * cb + c * cc
        work[_CHANGE + l] = (
            ca * ca + cb * cb + cc * cc + cd * cd + ce * ce + cf * cf + cg * cg + ch * ch + ci * ci
        )
        work[_FORCE + l], work[_FORCE + 1 * LANES + l], work[_FORCE + 2 * LANES + l] = ca, cb, cc
        work[_FORCE + 3 * LANES + l], work[_FORCE + 4 * LANES + l] = cd, ce
        work[_FORCE + 5 * LANES + l], work[_FORCE + 6 * LANES + l] = cf, cg
        work[_FORCE + 7 * LANES + l], work[_FORCE + 8 * LANES + l] = ch, ci


@kernel()
def patch_sums(corners, rest, patches, positions, sums, first, last):
    """Add J and Σ v c² ‖cof F‖² of the blocks `first` … `last` − 1 to the patches in `sums`."""
    work = np.empty(_SCRATCH, np.float32)
    for block in range(first, last):
        _gather_edges(corners[block], positions, work)
        _gradients(rest[block], work)
        _cofactors(work)
        for l in range(LANES):
            patch, weighted = patches[block, l], rest[block, 10, l] * rest[block, 11, l]
            sums[patch, 0] += weighted * work[_DETERMINANT + l]
            sums[patch, 1] += weighted * rest[block, 10, l] * work[_CHANGE + l]


@kernel()
def patch_pressures(sums, pressures):
    """(1 − J)/Σ v c² ‖cof F‖² of every patch; the sums, one array a thread, are emptied."""
    for patch in range(len(pressures)):
        volume, norm = 0.0, 0.0
        for s in range(len(sums)):
            volume += sums[s, patch, 0]
            norm += sums[s, patch, 1]
            sums[s, patch, 0] = 0.0
            sums[s, patch, 1] = 0.0
        pressures[patch] = np.float32((1.0 - volume) / max(norm, LEAST_NORM))


@kernel(fastmath=True)
def _keep_volume(rest, patches, pressures, work):
    """Add the pull towards the patches' rest volume to R, so that `_forces` adds it to strain's:
    k (1 − J) c cof F / Σ v c² ‖cof F‖², with k the stiffness ratio; see `patch_volume`."""
    _cofactors(work)
    for l in range(LANES):
        work[_CHANGE + l] = rest[12, l] * rest[10, l] * pressures[patches[l]]
    for k in range(9):
        for l in range(LANES):
            work[_ROTATION + k * LANES + l] += work[_CHANGE + l] * work[_FORCE + k * LANES + l]


@kernel()
def local_step(corners, rest, patches, pressures, positions, residual, first, last, tolerance):
    """Add Σ Q_iᵀ w_i (p_i − Q_i z) of the blocks `first` … `last` − 1 to `residual`.

    Newton's iteration stops when ‖R_{k+1} − R_k‖² < `tolerance` in all lanes; it is quadratic, so R
    is then within tolerance/2 of a rotation. Lanes with det F < 1e-5 take singular values.
    """
    work = np.empty(_SCRATCH, np.float32)
    bad = np.empty(LANES, np.bool_)
    small, turned, svd_work = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3, 3))
    for block in range(first, last):
        _gather_edges(corners[block], positions, work)
        _gradients(rest[block], work)
        _rotations(work, bad, tolerance, small, turned, svd_work)
        if len(pressures) > 0:
            _keep_volume(rest[block], patches[block], pressures, work)
        _forces(rest[block], work)
        _scatter(corners[block], work, residual)


@kernel()
def gather_residual(buffers, inertia, pull, positions, right_side):
    """r = κ M (y − z) + f + Σ buffers over the free vertices; the buffers are emptied.

    `inertia` is κ m a vertex and `pull` is κ M y + f.
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
    order, blend, reach, drag, inertia, z, pull,
):  # fmt: skip
    """`predicted` and the constant part of the right side, κ M y + f, in one pass.

    `order` puts the free vertices first; `blend` are the rule's shares of now and earlier.
    """
    now, earlier = blend
    share = reach / (1.0 + drag)
    for i in range(order.shape[0]):
        k = order[i]
        for c in range(3):
            place = now * positions[k, c] - earlier * earlier_positions[k, c]
            speed = now * velocities[k, c] - earlier * earlier_velocities[k, c]
            z[i, c] = place + share * (speed + drag * carried[k, c])
            if i < pull.shape[0]:
                pull[i, c] = inertia[i] * z[i, c] + forces[k, c]


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
