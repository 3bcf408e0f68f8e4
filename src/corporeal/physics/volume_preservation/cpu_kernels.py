"""Volumes of regions and the forces of their pressures, compiled; see `pressure`."""

import numpy as np

from corporeal.physics.solver.cpu.strip_blocks import LANES
from corporeal.runtime.kernels import kernel

# Indices are read as unsigned numbers: a signed one might count from the end, which costs a test.
# Scratch of 16 prisms: rows of LANES entries. d̄, then E₁ and E₂ of the skin, e₁ and e₂ below, and
# a corner more.
_SKIN, _INNER, _FRAME = 3 * LANES, 9 * LANES, 18 * LANES
# What is kept of 16 prisms for each of their two triangles: three slopes of three entries each, by
# how much they count, and V/3.
_COUNT, _VOLUME, SIDE = 9 * LANES, 10 * LANES, 11 * LANES

_THIRD, _HALF = np.float32(1 / 3), np.float32(0.5)
_SIXTH, _EIGHTEENTH = np.float32(1 / 6), np.float32(1 / 18)


@kernel(fastmath=True)
def _gather(corners, z, frame):
    """d̄, E₁, E₂, e₁, e₂ of 16 prisms, metres: first all corners from the first one."""
    for l in range(LANES):
        a = np.uint32(corners[0, l])
        x, y, w = z[a, 0], z[a, 1], z[a, 2]
        for k in range(5):
            b = np.uint32(corners[k + 1, l])
            frame[(3 * k + 3) * LANES + l] = np.float32(z[b, 0] - x)
            frame[(3 * k + 4) * LANES + l] = np.float32(z[b, 1] - y)
            frame[(3 * k + 5) * LANES + l] = np.float32(z[b, 2] - w)
    for k in range(3):
        for l in range(LANES):
            row = k * LANES + l
            outer = frame[_SKIN + row] + frame[_SKIN + 3 * LANES + row]
            first, second = frame[_INNER + row], frame[_INNER + 3 * LANES + row]
            third = frame[_INNER + 6 * LANES + row]
            frame[row] = _THIRD * (outer - first - second - third)
            frame[_INNER + row] = second - first
            frame[_INNER + 3 * LANES + row] = third - first


@kernel(fastmath=True)
def _slopes(frame, own, other, sign, slopes):
    """∂V by the three corners whose edges begin at `own`, of 16 prisms, m²; the sum of their
    squares, m⁴; and V/3 = d̄ · M/18, m³.

    M/18 ± b ± c with b = (E₂ + e₂/2) × d̄/6 and c = d̄ × (E₁ + e₁/2)/6; M is the same from below.
    """
    for l in range(LANES):
        dx, dy, dz = frame[l], frame[LANES + l], frame[2 * LANES + l]
        ux, uy, uz = frame[own + l], frame[own + LANES + l], frame[own + 2 * LANES + l]
        vx, vy, vz = (
            frame[own + 3 * LANES + l],
            frame[own + 4 * LANES + l],
            frame[own + 5 * LANES + l],
        )
        rx, ry, rz = frame[other + l], frame[other + LANES + l], frame[other + 2 * LANES + l]
        sx, sy, sz = (
            frame[other + 3 * LANES + l],
            frame[other + 4 * LANES + l],
            frame[other + 5 * LANES + l],
        )
        px, py, pz = vx + _HALF * sx, vy + _HALF * sy, vz + _HALF * sz
        qx, qy, qz = sx + _HALF * vx, sy + _HALF * vy, sz + _HALF * vz
        tx, ty, tz = ux + _HALF * rx, uy + _HALF * ry, uz + _HALF * rz
        share = sign * _EIGHTEENTH
        mx = share * (uy * pz - uz * py + ry * qz - rz * qy)
        my = share * (uz * px - ux * pz + rz * qx - rx * qz)
        mz = share * (ux * py - uy * px + rx * qy - ry * qx)
        bx, by, bz = (
            _SIXTH * (py * dz - pz * dy),
            _SIXTH * (pz * dx - px * dz),
            _SIXTH * (px * dy - py * dx),
        )
        cx, cy, cz = (
            _SIXTH * (dy * tz - dz * ty),
            _SIXTH * (dz * tx - dx * tz),
            _SIXTH * (dx * ty - dy * tx),
        )
        ax, ay, az = mx - bx - cx, my - by - cy, mz - bz - cz
        bx, by, bz = mx + bx, my + by, mz + bz
        cx, cy, cz = mx + cx, my + cy, mz + cz
        slopes[l], slopes[LANES + l], slopes[2 * LANES + l] = ax, ay, az
        slopes[3 * LANES + l], slopes[4 * LANES + l], slopes[5 * LANES + l] = bx, by, bz
        slopes[6 * LANES + l], slopes[7 * LANES + l], slopes[8 * LANES + l] = cx, cy, cz
        slopes[_COUNT + l] = (
            ax * ax + ay * ay + az * az + bx * bx + by * by + bz * bz + cx * cx + cy * cy + cz * cz
        )
        slopes[_VOLUME + l] = dx * mx + dy * my + dz * mz


@kernel(fastmath=True)
def _limit(weights, steepest, slopes):
    """By how much slopes count: a third, less where they are too steep, 0 in lanes left over."""
    for l in range(LANES):
        steep, most = slopes[_COUNT + l], steepest[l]
        slopes[_COUNT + l] = _THIRD * weights[l] * np.sqrt(most / max(most, steep))


@kernel()
def survey(corners, weights, steepest, z, slopes, around, first, last):
    """Slopes of the prisms in blocks `first` … `last` − 1 at `z`; a third of their volumes, m³, is
    added to each of their skin corners in `around`.

    `weights` are 1, and 0 in lanes left over; `steepest` are the squares of the largest slopes that
    count, m⁴. `slopes` has a side a block, or two where inner corners may be free.
    """
    frame, one = np.empty(_FRAME, np.float32), np.float32(1)
    for block in range(first, last):
        own = slopes[block]
        _gather(corners[block], z, frame)
        _slopes(frame, _SKIN, _INNER, one, own)
        _limit(weights[block], steepest[block], own)
        for l in range(LANES):
            third = weights[block, l] * own[_VOLUME + l]
            for k in range(3):
                around[np.uint32(corners[block, k, l])] += third
        if len(own) > SIDE:
            _slopes(frame, _INNER, _SKIN, -one, own[SIDE:])


@kernel()
def _scatter(corners, shares, slopes, forces):
    """Add shares times slopes to the corners that are free."""
    free = forces.shape[0]
    for k in range(3):
        row = 3 * k * LANES
        for l in range(LANES):
            i = np.uint32(corners[k, l])
            if i < free:
                forces[i, 0] += shares[l] * slopes[row + l]
                forces[i, 1] += shares[l] * slopes[row + LANES + l]
                forces[i, 2] += shares[l] * slopes[row + 2 * LANES + l]


@kernel()
def press(corners, slopes, pressures, forces):
    """The force of the `pressures` (Pa, a vertex) on the free vertices, which come first, N, with
    the slopes that were surveyed."""
    shares = np.empty(LANES, np.float32)
    forces[:] = np.float32(0)
    for block in range(len(corners)):
        own = corners[block]
        for l in range(LANES):
            a, b, c = np.uint32(own[0, l]), np.uint32(own[1, l]), np.uint32(own[2, l])
            pressure = pressures[a] + pressures[b] + pressures[c]
            shares[l] = slopes[block, _COUNT + l] * pressure
        _scatter(own, shares, slopes[block], forces)
        if slopes.shape[1] > SIDE:
            _scatter(own[3:], shares, slopes[block, SIDE:], forces)


@kernel(fastmath=True)
def region_volumes(starts, vertices, shares, around, volumes):
    """v = wᵀ u, m³, where `around` holds u in parts, which are added up and emptied; columns of w
    are sparse."""
    total = around[0]
    for s in range(1, around.shape[0]):
        for i in range(len(total)):
            total[i] += around[s, i]
            around[s, i] = 0.0
    for k in range(len(starts) - 1):
        volume = 0.0
        for e in range(starts[k], starts[k + 1]):
            volume += shares[e] * total[np.uint32(vertices[e])]
        volumes[k] = volume
    total[:] = 0.0


@kernel()
def vertex_pressures(starts, vertices, shares, pressures, out):
    """w p, Pa a vertex."""
    out[:] = np.float32(0)
    for k in range(len(starts) - 1):
        pressure = np.float32(pressures[k])
        for e in range(starts[k], starts[k + 1]):
            out[np.uint32(vertices[e])] += pressure * shares[e]


@kernel()
def push(forces, right_side):
    """Add the forces to the right side."""
    for i in range(right_side.shape[0]):
        for c in range(3):
            right_side[i, c] += forces[i, c]
