"""Compiled contacts: compliance between rows, forces by projected Gauss–Seidel, what they move.

Vertices are numbered with the free ones first. The inverse of the constant matrix comes as sparse
rows (`starts`, `columns`, `values`): flesh is held by bones, so a push is felt near by alone.
"""

import numpy as np

from corporeal.runtime.kernels import kernel

MOST_SWEEPS = 8
"""Of Gauss–Seidel in one global step."""
SETTLED = 1e-6
"""Metres: sweeps end when no force changes its own gap by more."""
SLIGHT = 0.02
"""Share of two rows' own compliances below which they take no notice of each other in a sweep."""
UNFELT = 1e-7
"""Metres: a change of force that moves its own row by less is left for later."""


@kernel()
def _rows_of_vertices(vertices, coefficients, free):
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
    vertices, coefficients, free, starts, columns, values, row_starts, others, entries, diagonal
):
    """S_ij = Σ_kl c_ik A⁻¹_kl c_jl as sparse rows into `others` and `entries`, and its diagonal.

    Gives the entries needed; where they are more than fit, what was written is of no use.
    """
    vertex_starts, vertex_rows, vertex_shares = _rows_of_vertices(vertices, coefficients, free)
    count = len(vertices)
    sums = np.zeros(count, np.float32)
    seen = np.zeros(count, np.bool_)
    touched = np.empty(count, np.int32)
    total = 0
    for i in range(count):
        row_starts[i] = total
        found = 0
        for k in range(4):
            u = vertices[i, k]
            share = np.float32(coefficients[i, k])
            if u >= free or share == 0.0:
                continue
            for e in range(starts[u], starts[u + 1]):
                w = columns[e]
                first, last = vertex_starts[w], vertex_starts[w + 1]
                if first == last:
                    continue
                product = share * values[e]
                for m in range(first, last):
                    j = vertex_rows[m]
                    if not seen[j]:
                        seen[j] = True
                        touched[found] = j
                        found += 1
                    sums[j] += product * vertex_shares[m]
        diagonal[i] = sums[i]
        for m in range(found):
            j = touched[m]
            if total < len(others):
                others[total] = j
                entries[total] = sums[j]
            total += 1
            sums[j] = np.float32(0.0)
            seen[j] = False
    row_starts[count] = total
    return total


@kernel()
def drop_slight(row_starts, others, entries, diagonal):
    """Leave out, in place, what two rows share below `SLIGHT` of their own compliances."""
    kept, first = 0, 0
    for i in range(len(diagonal)):
        last = row_starts[i + 1]
        for e in range(first, last):
            j = others[e]
            if entries[e] ** 2 > SLIGHT * SLIGHT * diagonal[i] * diagonal[j]:
                others[kept], entries[kept] = j, entries[e]
                kept += 1
        row_starts[i + 1] = kept
        first = last


@kernel()
def row_places(vertices, coefficients, z, places):
    """Σ_k c_k x_k of every row, metres."""
    for i in range(len(vertices)):
        for c in range(3):
            place = 0.0
            for k in range(4):
                place += coefficients[i, k] * z[vertices[i, k], c]
            places[i, c] = place


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
def _add_ahead(vertices, coefficients, delta, places):
    """Σ_k c_k δ_k of every row's free vertices added to `places`, metres."""
    free = len(delta)
    for i in range(len(vertices)):
        for k in range(4):
            u, share = vertices[i, k], coefficients[i, k]
            if u < free:
                for c in range(3):
                    places[i, c] += share * delta[u, c]


@kernel()
def _update_row(normal, offset, soft, own, two_sided, limit, start, place, force, wanted):
    """The force of one row that fits where all forces put it, at `place`.

    Along the normal g + λ/w ≥ 0 ⟂ λ ≥ 0; across it as much as stops the slip, up to limit · λ.
    """
    pressure, gap = 0.0, -offset
    for c in range(3):
        pressure += normal[c] * force[c]
        gap += normal[c] * place[c]
    pushed = pressure - (gap + soft * pressure) / (own + soft)
    if pushed < 0.0 and not two_sided:
        pushed = 0.0
    held = 0.0
    if limit > 0.0 and pushed > 0.0:
        along = 0.0
        for c in range(3):
            along += normal[c] * (place[c] - start[c])
        for c in range(3):
            slip = place[c] - start[c] - along * normal[c]
            wanted[c] = force[c] - pressure * normal[c] - slip / own
            held += wanted[c] ** 2
        held = np.sqrt(held)
        scale = limit * pushed / held if held > limit * pushed else 1.0
        for c in range(3):
            wanted[c] = scale * wanted[c] + pushed * normal[c]
        return
    for c in range(3):
        wanted[c] = pushed * normal[c]


@kernel()
def _sweep(
    normals, offsets, softness, two_sided, limits, row_starts, others, entries, diagonal,
    begun, places, forces, changes,
):  # fmt: skip
    """One round of Gauss–Seidel over all rows; gives the largest move, metres.

    `places` follow every change of force at once: rows in balance cost next to nothing.
    """
    largest = 0.0
    wanted = np.empty(3)
    for i in range(len(forces)):
        own = diagonal[i]
        if own <= 0.0:
            continue
        _update_row(
            normals[i], offsets[i], softness[i], own, two_sided[i], limits[i], begun[i], places[i],
            forces[i], wanted,
        )  # fmt: skip
        x, y, z = wanted[0] - forces[i, 0], wanted[1] - forces[i, 1], wanted[2] - forces[i, 2]
        moved = own * max(abs(x), abs(y), abs(z))
        largest = max(largest, moved)
        if moved < UNFELT:
            continue
        for c in range(3):
            changes[i, c] += wanted[c] - forces[i, c]
            forces[i, c] = wanted[c]
        for e in range(row_starts[i], row_starts[i + 1]):
            j, entry = others[e], entries[e]
            places[j, 0] += entry * x
            places[j, 1] += entry * y
            places[j, 2] += entry * z
    return largest


@kernel()
def resolve(
    vertices, coefficients, normals, offsets, softness, two_sided, limits, row_starts, others,
    entries, diagonal, starts, columns, values, begun, z, delta, forces,
):  # fmt: skip
    """The forces for a global step from `z` by `delta`, which already has those that came in.

    `begun` is where the rows were when the step began. `forces` and `delta` are changed in place.
    """
    free = len(delta)
    places, changes = np.empty(forces.shape), np.zeros(forces.shape)
    row_places(vertices, coefficients, z, places)
    _add_ahead(vertices, coefficients, delta, places)
    for _ in range(MOST_SWEEPS):
        moved = _sweep(
            normals, offsets, softness, two_sided, limits, row_starts, others, entries, diagonal,
            begun, places, forces, changes,
        )  # fmt: skip
        if moved < SETTLED:
            break
    pushes = np.zeros((free, 3), np.float32)
    add_forces(vertices, coefficients, changes, pushes)
    for u in range(free):
        x, y, p = pushes[u, 0], pushes[u, 1], pushes[u, 2]
        if x != 0.0 or y != 0.0 or p != 0.0:
            for e in range(starts[u], starts[u + 1]):
                w, value = columns[e], values[e]
                delta[w, 0] += value * x
                delta[w, 1] += value * y
                delta[w, 2] += value * p
