"""Chaining tetrahedra into strips, compiled."""

from corporeal.runtime.kernels import kernel


@kernel()
def _corner_apart(tetrahedra, of, other):
    """The vertex of tetrahedron `of` that `other`, across a face, has not; −1 if it has all."""
    for k in range(4):
        vertex, shared = tetrahedra[of, k], False
        for m in range(4):
            shared = shared or tetrahedra[other, m] == vertex
        if not shared:
            return vertex
    return -1


@kernel()
def _nearest_free(tetrahedra, neighbours, of, taken, start):
    """The free neighbour of tetrahedron `of` whose number is nearest to `start`; −1 if none is.

    One with the same four vertices, as where a triangle is there twice, is no neighbour.
    """
    best = -1
    for k in range(4):
        other = neighbours[of, k]
        if other < 0 or taken[other] or _corner_apart(tetrahedra, of, other) < 0:
            continue
        if best < 0 or abs(other - start) < abs(best - start):
            best = other
    return best


@kernel()
def _write_pair(tetrahedra, first, second, corners):
    """v₀ … v₄ of two neighbours; v₅ repeats the last."""
    begin = _corner_apart(tetrahedra, first, second)
    corners[0], place = begin, 1
    for k in range(4):
        if tetrahedra[first, k] != begin:
            corners[place] = tetrahedra[first, k]
            place += 1
    corners[4] = _corner_apart(tetrahedra, second, first)
    corners[5] = corners[4]


@kernel()
def _write_triple(tetrahedra, first, middle, last, corners):
    """v₀ … v₅ of three in a row; false if all three meet at one face."""
    second, fifth = (
        _corner_apart(tetrahedra, middle, last),
        _corner_apart(tetrahedra, middle, first),
    )
    if second == fifth:
        return False
    corners[0], corners[1] = _corner_apart(tetrahedra, first, middle), second
    place = 2
    for k in range(4):
        vertex = tetrahedra[middle, k]
        if vertex != second and vertex != fifth:
            corners[place] = vertex
            place += 1
    corners[4], corners[5] = fifth, _corner_apart(tetrahedra, last, middle)
    return True


@kernel()
def chain(tetrahedra, neighbours, taken, members, corners):
    """Greedy strips of up to three, each begun with the first tetrahedron that is left.

    `members` (−1: missing) and `corners` are filled; gives back how many strips there are.
    """
    count = 0
    for start in range(len(tetrahedra)):
        if taken[start]:
            continue
        taken[start] = True
        ends, row, vertices = -1, members[count], corners[count]
        row[0], count = start, count + 1
        for k in range(6):
            vertices[k] = tetrahedra[start, min(k, 3)]
        second = _nearest_free(tetrahedra, neighbours, start, taken, start)
        if second < 0:
            continue
        taken[second] = True
        row[1] = second
        _write_pair(tetrahedra, start, second, vertices)
        ends = _nearest_free(tetrahedra, neighbours, second, taken, start)
        begins = _nearest_free(tetrahedra, neighbours, start, taken, start)
        if ends >= 0 and (begins < 0 or abs(ends - start) <= abs(begins - start)):
            if _write_triple(tetrahedra, start, second, ends, vertices):
                taken[ends] = True
                row[2] = ends
        elif begins >= 0 and _write_triple(tetrahedra, begins, start, second, vertices):
            taken[begins] = True
            row[0], row[1], row[2] = begins, start, second
    return count
