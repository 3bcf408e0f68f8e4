"""Volumes of regions and the forces of their pressures, compiled; see `pressure`."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel(fastmath=True)
def _frame(corners, z, frame):
    """d̄, E₁, E₂, e₁, e₂ of a prism, fifteen numbers, metres."""
    a, b, c = corners[0], corners[1], corners[2]
    d, e, f = corners[3], corners[4], corners[5]
    for k in range(3):
        frame[k] = (z[a, k] - z[d, k] + z[b, k] - z[e, k] + z[c, k] - z[f, k]) / 3.0
        frame[3 + k] = z[b, k] - z[a, k]
        frame[6 + k] = z[c, k] - z[a, k]
        frame[9 + k] = z[e, k] - z[d, k]
        frame[12 + k] = z[f, k] - z[d, k]


@kernel(fastmath=True)
def _area(frame):
    """M, m²."""
    px, py, pz = (
        frame[6] + 0.5 * frame[12],
        frame[7] + 0.5 * frame[13],
        frame[8] + 0.5 * frame[14],
    )
    qx, qy, qz = (
        frame[12] + 0.5 * frame[6],
        frame[13] + 0.5 * frame[7],
        frame[14] + 0.5 * frame[8],
    )
    return (
        frame[4] * pz - frame[5] * py + frame[10] * qz - frame[11] * qy,
        frame[5] * px - frame[3] * pz + frame[11] * qx - frame[9] * qz,
        frame[3] * py - frame[4] * px + frame[9] * qy - frame[10] * qx,
    )


@kernel(fastmath=True)
def add_volumes(prisms, z, around, first, last):
    """Add a third of the prisms' volumes to each of their skin corners in `around`, m³."""
    frame = np.empty(15)
    for f in range(first, last):
        _frame(prisms[f], z, frame)
        x, y, w = _area(frame)
        third = (frame[0] * x + frame[1] * y + frame[2] * w) / 18.0
        for k in range(3):
            around[prisms[f, k]] += third


@kernel(fastmath=True)
def _add_corners(corners, free, share, third, b, c, forces):
    """Three corners' forces: `third` on each, and b and c between them."""
    i, j, l = corners[0], corners[1], corners[2]
    for k in range(3):
        if i < free:
            forces[i, k] += share * (third[k] - b[k] - c[k])
        if j < free:
            forces[j, k] += share * (third[k] + b[k])
        if l < free:
            forces[l, k] += share * (third[k] + c[k])


@kernel(fastmath=True)
def add_forces(prisms, z, pressures, steepest, forces, first, last):
    """Add the force of the `pressures` (Pa, a vertex) to the free vertices, which come first, N.

    `steepest` are the squares of the largest slopes that count, m⁴.
    """
    frame, free = np.empty(15), forces.shape[0]
    third, b, c = np.empty(3), np.empty(3), np.empty(3)
    for f in range(first, last):
        corners = prisms[f]
        _frame(corners, z, frame)
        x, y, w = _area(frame)
        third[0], third[1], third[2] = x / 18.0, y / 18.0, w / 18.0
        for k in range(3):
            m, n = (k + 1) % 3, (k + 2) % 3
            p_m, p_n = frame[6 + m] + 0.5 * frame[12 + m], frame[6 + n] + 0.5 * frame[12 + n]
            r_m, r_n = frame[3 + m] + 0.5 * frame[9 + m], frame[3 + n] + 0.5 * frame[9 + n]
            b[k] = (p_m * frame[n] - p_n * frame[m]) / 6.0
            c[k] = (frame[m] * r_n - frame[n] * r_m) / 6.0
        steep = 0.0
        for k in range(3):
            u, v, t = third[k] - b[k] - c[k], third[k] + b[k], third[k] + c[k]
            steep += u * u + v * v + t * t
        share = (pressures[corners[0]] + pressures[corners[1]] + pressures[corners[2]]) / 3.0
        if steep > steepest[f]:
            share *= np.sqrt(steepest[f] / steep)
        _add_corners(corners[:3], free, share, third, b, c, forces)
        if corners[3] < free or corners[4] < free or corners[5] < free:
            for k in range(3):
                m, n = (k + 1) % 3, (k + 2) % 3
                p_m, p_n = frame[12 + m] + 0.5 * frame[6 + m], frame[12 + n] + 0.5 * frame[6 + n]
                r_m, r_n = frame[9 + m] + 0.5 * frame[3 + m], frame[9 + n] + 0.5 * frame[3 + n]
                b[k] = (p_m * frame[n] - p_n * frame[m]) / 6.0
                c[k] = (frame[m] * r_n - frame[n] * r_m) / 6.0
                third[k] = -third[k]
            _add_corners(corners[3:], free, share, third, b, c, forces)


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
