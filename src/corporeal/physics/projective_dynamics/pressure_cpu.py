"""Volumes of regions and the forces of their pressures, compiled; see `pressure`."""

import numpy as np

from corporeal.physics.projective_dynamics.blocks import LANES
from corporeal.runtime.kernels import kernel

# Scratch of 16 prisms: rows of LANES entries. d̄, then E₁ and E₂ of the skin, e₁ and e₂ below, and
# a corner more.
_SKIN, _INNER, _FRAME = 3 * LANES, 9 * LANES, 18 * LANES
# Three slopes of three entries each, and the sum of their squares.
_STEEPNESS, _SLOPES = 9 * LANES, 10 * LANES

_THIRD, _HALF = np.float32(1 / 3), np.float32(0.5)
_SIXTH, _EIGHTEENTH = np.float32(1 / 6), np.float32(1 / 18)


@kernel(fastmath=True)
def _gather(corners, z, frame):
    """d̄, E₁, E₂, e₁, e₂ of 16 prisms, metres: first all corners from the first one."""
    for l in range(LANES):
        a = corners[0, l]
        x, y, w = z[a, 0], z[a, 1], z[a, 2]
        for k in range(5):
            b = corners[k + 1, l]
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
    """∂V by the three corners whose edges begin at `own`, of 16 prisms, m².

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
        slopes[_STEEPNESS + l] = (
            ax * ax + ay * ay + az * az + bx * bx + by * by + bz * bz + cx * cx + cy * cy + cz * cz
        )


@kernel(fastmath=True)
def _volume_thirds(frame, thirds):
    """V/3 = d̄ · M/18 of 16 prisms, m³."""
    for l in range(LANES):
        dx, dy, dz = frame[l], frame[LANES + l], frame[2 * LANES + l]
        ux, uy, uz = frame[_SKIN + l], frame[_SKIN + LANES + l], frame[_SKIN + 2 * LANES + l]
        vx, vy, vz = (
            frame[_SKIN + 3 * LANES + l],
            frame[_SKIN + 4 * LANES + l],
            frame[_SKIN + 5 * LANES + l],
        )
        rx, ry, rz = frame[_INNER + l], frame[_INNER + LANES + l], frame[_INNER + 2 * LANES + l]
        sx, sy, sz = (
            frame[_INNER + 3 * LANES + l],
            frame[_INNER + 4 * LANES + l],
            frame[_INNER + 5 * LANES + l],
        )
        px, py, pz = vx + _HALF * sx, vy + _HALF * sy, vz + _HALF * sz
        qx, qy, qz = sx + _HALF * vx, sy + _HALF * vy, sz + _HALF * vz
        thirds[l] = _EIGHTEENTH * (
            dx * (uy * pz - uz * py + ry * qz - rz * qy)
            + dy * (uz * px - ux * pz + rz * qx - rx * qz)
            + dz * (ux * py - uy * px + rx * qy - ry * qx)
        )


@kernel()
def add_volumes(corners, weights, z, around, first, last):
    """Add a third of the prisms' volumes to each of their skin corners in `around`, m³.

    `weights` are 1, and 0 in lanes left over.
    """
    frame, thirds = np.empty(_FRAME, np.float32), np.empty(LANES, np.float32)
    for block in range(first, last):
        _gather(corners[block], z, frame)
        _volume_thirds(frame, thirds)
        for l in range(LANES):
            third = weights[block, l] * thirds[l]
            for k in range(3):
                around[corners[block, k, l]] += third


@kernel()
def _scatter(corners, shares, slopes, forces):
    """Add shares times slopes to the corners that are free."""
    free = forces.shape[0]
    for k in range(3):
        row = 3 * k * LANES
        for l in range(LANES):
            i = corners[k, l]
            if i < free:
                forces[i, 0] += shares[l] * slopes[row + l]
                forces[i, 1] += shares[l] * slopes[row + LANES + l]
                forces[i, 2] += shares[l] * slopes[row + 2 * LANES + l]


@kernel()
def add_forces(corners, weights, steepest, z, pressures, inner_free, forces, first, last):
    """Add the force of the `pressures` (Pa, a vertex) to the free vertices, which come first, N.

    `steepest` are the squares of the largest slopes that count, m⁴; `inner_free` says whether inner
    corners may be free.
    """
    frame, slopes = np.empty(_FRAME, np.float32), np.empty(_SLOPES, np.float32)
    shares, one = np.empty(LANES, np.float32), np.float32(1)
    for block in range(first, last):
        own = corners[block]
        _gather(own, z, frame)
        _slopes(frame, _SKIN, _INNER, one, slopes)
        for l in range(LANES):
            pressure = pressures[own[0, l]] + pressures[own[1, l]] + pressures[own[2, l]]
            shares[l] = weights[block, l] * _THIRD * np.float32(pressure)
            steep = slopes[_STEEPNESS + l]
            if steep > steepest[block, l]:
                shares[l] *= np.sqrt(steepest[block, l] / steep)
        _scatter(own, shares, slopes, forces)
        if inner_free:
            _slopes(frame, _INNER, _SKIN, -one, slopes)
            _scatter(own[3:], shares, slopes, forces)


@kernel()
def region_volumes(starts, regions, shares, around, volumes):
    """v = wᵀ u, where `around` holds u, one array a thread, which are emptied; rows are CSR."""
    volumes[:] = 0.0
    for i in range(len(starts) - 1):
        total = 0.0
        for s in range(around.shape[0]):
            total += around[s, i]
            around[s, i] = 0.0
        for k in range(starts[i], starts[i + 1]):
            volumes[regions[k]] += shares[k] * total


@kernel()
def vertex_pressures(starts, regions, shares, pressures, out):
    """w p, Pa a vertex."""
    for i in range(len(starts) - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += shares[k] * pressures[regions[k]]
        out[i] = total


@kernel()
def push(forces, right_side):
    """Add the forces, one array a thread, to the right side."""
    for i in range(right_side.shape[0]):
        for c in range(3):
            total = np.float32(0)
            for s in range(forces.shape[0]):
                total += forces[s, i, c]
            right_side[i, c] += total
