"""Compiled contacts: compliance between rows, forces by projected Gauss–Seidel, what they move.

Vertices are numbered with the free ones first. The inverse of the constant matrix comes as sparse
rows (`starts`, `columns`, `values`): flesh is held by bones, so a push is felt near by alone.
"""

import numpy as np

from corporeal.physics.solver.cpu.padded_rows import QUAD, add_multiple
from corporeal.runtime.kernels import kernel

MOST_SWEEPS = 4
"""Of Gauss–Seidel in one global step. Forces go on to the next; eight sweeps left no less."""
SETTLED = 1e-5
"""Metres: sweeps end when no force changes its own gap by more."""
SLIGHT = 0.02
"""Share of two rows' own compliances below which they take no notice of each other in a sweep."""
UNFELT = 5e-7
"""Metres: a change of force that moves its own row by less is left for later."""


@kernel()
def rows_of_vertices(vertices, coefficients, free):
    """Rows that every free vertex takes part in, and with which coefficient, as sparse rows."""
    starts = np.zeros(free + 1, np.int32)
    for i in range(len(vertices)):
        for k in range(4):
            if vertices[i, k] < free and coefficients[i, k] != 0.0:
                starts[vertices[i, k] + 1] += 1
    for u in range(free):
        starts[u + 1] += starts[u]
    rows = np.empty(starts[free], np.int32)
    shares = np.empty(starts[free], np.float32)
    filled = starts[:-1].copy()
    for i in range(len(vertices)):
        for k in range(4):
            u = vertices[i, k]
            if u < free and coefficients[i, k] != 0.0:
                rows[filled[u]] = i
                shares[filled[u]] = coefficients[i, k]
                filled[u] += 1
    return starts, rows, shares


@kernel(fastmath=True)
def assemble_compliance(
    vertices, coefficients, vertex_starts, vertex_rows, vertex_shares, starts, columns, values,
    first, last, row_starts, others, entries, diagonal,
):  # fmt: skip
    """S_ij = Σ_kl c_ik A⁻¹_kl c_jl of the rows `first` … `last` − 1, and its diagonal.

    Row i is in `others` and `entries` from `row_starts[i]` to `row_starts[i + 1]`, counted from the
    first one on. Gives the entries needed; where they are more than fit, what was written is of
    no use.
    """
    free, count = len(vertex_starts) - 1, len(vertices)
    moves, moved = np.zeros(free, np.float32), np.empty(free, np.int32)
    moving = np.zeros(free, np.bool_)
    sums = np.zeros(count, np.float32)
    seen = np.zeros(count, np.bool_)
    touched = np.empty(count, np.int32)
    total = 0
    for i in range(first, last):
        row_starts[i - first] = total
        # m_w = Σ_k c_ik A⁻¹_kw, over the vertices that some row has
        reached = 0
        for k in range(4):
            u = vertices[i, k]
            share = np.float32(coefficients[i, k])
            if u >= free or share == 0.0:
                continue
            for e in range(starts[u], starts[u + 1]):
                w = np.uint32(columns[e])
                if vertex_starts[w] == vertex_starts[w + 1]:
                    continue
                if not moving[w]:
                    moving[w] = True
                    moved[reached] = w
                    reached += 1
                moves[w] += share * values[e]
        found = 0
        for r in range(reached):
            w = np.uint32(moved[r])
            for m in range(vertex_starts[w], vertex_starts[w + 1]):
                j = np.uint32(vertex_rows[m])
                if not seen[j]:
                    seen[j] = True
                    touched[found] = j
                    found += 1
                sums[j] += moves[w] * vertex_shares[m]
            moves[w], moving[w] = np.float32(0.0), False
        diagonal[i] = sums[i]
        for m in range(found):
            j = np.uint32(touched[m])
            if total < len(others):
                others[total] = j
                entries[total] = sums[j]
            total += 1
            sums[j] = np.float32(0.0)
            seen[j] = False
    row_starts[last - first] = total
    return total


@kernel()
def drop_slight(first, row_starts, others, entries, diagonal):
    """Leave out, in place, what two rows share below `SLIGHT` of their own compliances.

    The rows are those from `first` on. Gives how many entries are left.
    """
    kept, start = 0, 0
    for i in range(len(row_starts) - 1):
        last = row_starts[i + 1]
        for e in range(start, last):
            j = others[e]
            if entries[e] ** 2 > SLIGHT * SLIGHT * diagonal[first + i] * diagonal[j]:
                others[kept], entries[kept] = j, entries[e]
                kept += 1
        row_starts[i + 1] = kept
        start = last
    return kept


@kernel()
def row_places(vertices, coefficients, held, z, places):
    """Σ_k c_k x_k of every row, metres, but for those that are `held` elsewhere (not NaN)."""
    for i in range(len(vertices)):
        for c in range(3):
            place = 0.0
            for k in range(4):
                place += coefficients[i, k] * z[vertices[i, k], c]
            places[i, c] = place if np.isnan(held[i, c]) else held[i, c]


@kernel()
def add_forces(vertices, coefficients, forces, right_side):
    """Qᵀ f added to the right side of the free vertices, newtons."""
    free = len(right_side)
    for i in range(len(forces)):
        x, y, z = forces[i, 0], forces[i, 1], forces[i, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            for k in range(4):
                u, share = vertices[i, k], coefficients[i, k]
                if u < free:
                    right_side[u, 0] += share * x
                    right_side[u, 1] += share * y
                    right_side[u, 2] += share * z


@kernel()
def _places_ahead(vertices, coefficients, z, delta, places):
    """Σ_k c_k (x_k + δ_k) of every row, metres, into quads."""
    free = len(delta)
    for i in range(len(vertices)):
        for c in range(3):
            place, ahead = 0.0, 0.0
            for k in range(4):
                u, share = np.uint32(vertices[i, k]), coefficients[i, k]
                place += share * z[u, c]
                if u < free:
                    ahead += share * delta[u, c]
            places[QUAD * i + c] = place + ahead


@kernel()
def _wanted_force(i, normals, offsets, softness, own, two_sided, limits, begun, places, forces):
    """The force of row i that fits where all forces put it, newtons.

    Along the normal g + λ/w ≥ 0 ⟂ λ ≥ 0; across it as much as stops the slip, up to limit · λ.
    Plain numbers: views of rows would cost more than the arithmetic.
    """
    nx, ny, nz = normals[i, 0], normals[i, 1], normals[i, 2]
    px, py, pz = places[QUAD * i], places[QUAD * i + 1], places[QUAD * i + 2]
    fx, fy, fz = forces[i, 0], forces[i, 1], forces[i, 2]
    pressure = nx * fx + ny * fy + nz * fz
    gap = nx * px + ny * py + nz * pz - offsets[i]
    pushed = pressure - (gap + softness[i] * pressure) / (own + softness[i])
    if pushed < 0.0 and not two_sided[i]:
        pushed = 0.0
    if limits[i] == 0.0 or pushed <= 0.0:
        return pushed * nx, pushed * ny, pushed * nz
    sx, sy, sz = px - begun[i, 0], py - begun[i, 1], pz - begun[i, 2]
    across = pressure - (nx * sx + ny * sy + nz * sz) / own
    tx, ty, tz = (
        fx - sx / own - across * nx,
        fy - sy / own - across * ny,
        fz - sz / own - across * nz,
    )
    held, most = np.sqrt(tx * tx + ty * ty + tz * tz), limits[i] * pushed
    scale = most / held if held > most else 1.0
    return scale * tx + pushed * nx, scale * ty + pushed * ny, scale * tz + pushed * nz


@kernel()
def _sweep(
    normals, offsets, softness, two_sided, limits, row_starts, others, entries, diagonal,
    begun, places, forces, changes,
):  # fmt: skip
    """One round of Gauss–Seidel over all rows; gives the largest move, metres.

    `places` follow every change of force at once: rows in balance cost next to nothing.
    """
    largest = 0.0
    for i in range(len(forces)):
        own = diagonal[i]
        if own <= 0.0:
            continue
        wx, wy, wz = _wanted_force(
            i, normals, offsets, softness, own, two_sided, limits, begun, places, forces
        )
        x, y, z = wx - forces[i, 0], wy - forces[i, 1], wz - forces[i, 2]
        moved = own * max(abs(x), abs(y), abs(z))
        largest = max(largest, moved)
        if moved < UNFELT:
            continue
        forces[i, 0], forces[i, 1], forces[i, 2] = wx, wy, wz
        changes[i, 0] += x
        changes[i, 1] += y
        changes[i, 2] += z
        for e in range(row_starts[i], row_starts[i + 1]):
            entry = np.float64(entries[e])
            add_multiple(places, QUAD * others[e], entry, x, y, z)  # pyright: ignore[reportCallIssue]
    return largest


@kernel()
def _move(pushes, starts, columns, values, delta):
    """Add A⁻¹ of the pushes, newtons, to `delta`, metres."""
    moves = np.zeros(QUAD * len(delta), np.float32)
    for u in range(len(pushes)):
        x, y, z = pushes[u, 0], pushes[u, 1], pushes[u, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            for e in range(starts[u], starts[u + 1]):
                add_multiple(  # pyright: ignore[reportCallIssue]
                    moves, QUAD * columns[e], values[e], x, y, z
                )
    for u in range(len(delta)):
        for c in range(3):
            delta[u, c] += moves[QUAD * u + c]


@kernel()
def resolve(
    vertices, coefficients, normals, offsets, softness, two_sided, limits, row_starts, others,
    entries, diagonal, starts, columns, values, begun, z, delta, forces,
):  # fmt: skip
    """The forces for a global step from `z` by `delta`, which already has those that came in.

    `begun` is where the rows were when the step began. `forces` and `delta` are changed in place.
    """
    free = len(delta)
    places, changes = np.empty(QUAD * len(forces)), np.zeros(forces.shape)
    _places_ahead(vertices, coefficients, z, delta, places)
    for _ in range(MOST_SWEEPS):
        moved = _sweep(
            normals, offsets, softness, two_sided, limits, row_starts, others, entries, diagonal,
            begun, places, forces, changes,
        )  # fmt: skip
        if moved < SETTLED:
            break
    pushes = np.zeros((free, 3), np.float32)
    add_forces(vertices, coefficients, changes, pushes)
    _move(pushes, starts, columns, values, delta)
