"""The inverse of the global step in two levels: interiors of flesh, and the separators between.

Nested dissection: vertices are cut into L leaves of neighbours. A vertex that touches another leaf
belongs to the separators, so that interiors know each other through these alone. With interiors i,
their own matrices B_i, E_i what ties them to the separators, and W_i = B_i⁻¹ E_i,

    y_i = B_i⁻¹ r_i,    x_s = S⁻¹ (r_s − Σ_i W_iᵀ r_i),    x_i = y_i − W_i x_s,

S = A_ss − Σ_i E_iᵀ W_i. Exact, whether or not the inverse decays, and a third of the local
inverse's bytes; but three products that wait for each other.
"""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.physics.solver.gpu.elements import sum_together
from corporeal.runtime.pytree_dataclass import pytree_dataclass

LEAVES = 16


@pytree_dataclass()
class TwoLevelInverse:
    """L interiors of up to m vertices, tied to c separators each; P bodies of s separators."""

    interiors: Int[Array, "L m"]
    """Vertices; f behind the last."""
    own: Float[Array, "L m m"]
    """B⁻¹, m/N."""
    ties: Float[Array, "L m c"]
    """W."""
    tied: Int[Array, "L c"]
    """Separators, counted through all bodies, that the columns of W stand for."""
    separators: Int[Array, "P s"]
    """Vertices; f behind the last."""
    shares: Int[Array, "P s d"]
    """Columns (c of every interior, counted through) that end in a separator; L c for none."""
    between: Float[Array, "P s s"]
    """S⁻¹, m/N."""
    places: Int[Array, "f"]
    """Where a vertex is among interiors and separators, counted through."""


def two_level_inverse(matrix: csc_array, leaves: int = LEAVES) -> TwoLevelInverse:
    """A constant matrix whose vertices are in `cluster_order`, dissected and inverted."""
    rows, count = csr_array(matrix), len(matrix.indptr) - 1
    leaf = np.arange(count) * leaves // count
    cut = _separators(rows, leaf)
    between = np.flatnonzero(cut)
    schur = rows[between][:, between].toarray()
    interiors, own, ties, tied = [], [], [], []
    for number in range(leaves):
        inside = np.flatnonzero((leaf == number) & ~cut)
        inverse = np.linalg.inv(rows[inside][:, inside].toarray())
        edges = rows[inside][:, between]
        there = np.unique(edges.indices)
        edge = edges[:, there].toarray()
        interiors.append(inside)
        own.append(inverse)
        ties.append(inverse @ edge)
        tied.append(there)
        schur[np.ix_(there, there)] -= edge.T @ ties[-1]
    return _assembled(interiors, own, ties, tied, between, np.linalg.inv(schur), count)


def _separators(rows: csr_array, leaf: Int[NumpyArray, "f"]) -> NumpyArray:
    """Vertices without which no leaf touches another: those with most foreign neighbours first."""
    links = coo_array(rows)
    foreign = leaf[links.row] != leaf[links.col]
    start, end = links.row[foreign], links.col[foreign]
    cut, count = np.zeros(len(leaf), bool), len(leaf)
    while len(start):
        degree = np.bincount(start, minlength=count)
        # A vertex that has more foreign neighbours than any of them; the first of equals.
        key = degree * (count + 1) + np.arange(count)[::-1]
        best = np.zeros(count, np.int64)
        np.maximum.at(best, start, key[end])
        cut |= (degree > 0) & (key > best)
        left = ~(cut[start] | cut[end])
        start, end = start[left], end[left]
    return cut


def _assembled(
    interiors: list[NumpyArray],
    own: list[NumpyArray],
    ties: list[NumpyArray],
    tied: list[NumpyArray],
    between: NumpyArray,
    inverse: NumpyArray,
    count: int,
) -> TwoLevelInverse:
    """Tables of equal rows, filled up with nothing."""
    m, c = max(map(len, interiors)), max(map(len, tied))
    columns = np.stack([_longer(each, c) for each in tied])
    used = np.stack([np.arange(c) < len(each) for each in tied])
    slots = np.flatnonzero(used.ravel())
    slots = slots[np.argsort(columns.ravel()[slots], kind="stable")]
    owner = columns.ravel()[slots]
    lengths = np.bincount(owner, minlength=len(between))
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shares = np.full((len(between), max(1, int(lengths.max(initial=0)))), used.size)
    shares[owner, rank] = slots
    places = np.empty(count, np.int64)
    for number, each in enumerate(interiors):
        places[each] = number * m + np.arange(len(each))
    places[between] = len(interiors) * m + np.arange(len(between))
    return TwoLevelInverse(
        np.stack([_longer(each, m, count) for each in interiors]).astype(np.int32),
        np.stack([_square(each, m, m) for each in own]),
        np.stack([_square(each, m, c) for each in ties]),
        columns.astype(np.int32),
        between[None].astype(np.int32),
        shares[None].astype(np.int32),
        inverse[None].astype(np.float32),
        places.astype(np.int32),
    )


def _longer(values: NumpyArray, length: int, fill: int = 0) -> NumpyArray:
    return np.pad(values, (0, length - len(values)), constant_values=fill)


def _square(values: NumpyArray, height: int, width: int) -> NumpyArray:
    more = ((0, height - values.shape[0]), (0, width - values.shape[1]))
    return np.pad(values, more).astype(np.float32)


def joined_levels(inverses: Sequence[TwoLevelInverse], free: int) -> TwoLevelInverse:
    """One inverse of several bodies, each filled up to `free` vertices that do not move."""
    m, c = (max(each.ties.shape[k] for each in inverses) for k in (1, 2))
    s = max(each.separators.shape[1] for each in inverses)
    d = max(each.shares.shape[2] for each in inverses)
    total = free * len(inverses)
    leaves = sum(len(each.interiors) for each in inverses)
    parts: list[list[NumpyArray]] = [[] for _ in range(8)]
    before = 0
    for number, each in enumerate(inverses):
        count, (own_leaves, old_m, old_c) = len(each.places), each.ties.shape
        old_s = each.separators.shape[1]

        def vertices(values: Array, width: int, count: int = count, n: int = number) -> NumpyArray:
            there = np.where(np.asarray(values) == count, total, np.asarray(values) + n * free)
            return np.pad(there, ((0, 0), (0, width - there.shape[1])), constant_values=total)

        shares = np.asarray(each.shares[0])
        leaf, slot = np.divmod(shares, old_c)
        shares = np.where(shares == own_leaves * old_c, leaves * c, (leaf + before) * c + slot)
        more = ((0, s - old_s), (0, d - shares.shape[1]))
        place = np.asarray(each.places)
        leaf, slot = np.divmod(place, old_m)
        separate = leaves * m + number * s + place - own_leaves * old_m
        place = np.where(place < own_leaves * old_m, (leaf + before) * m + slot, separate)
        for part, value in zip(
            parts,
            (
                vertices(each.interiors, m),
                np.pad(each.own, ((0, 0), (0, m - old_m), (0, m - old_m))),
                np.pad(each.ties, ((0, 0), (0, m - old_m), (0, c - old_c))),
                np.pad(np.asarray(each.tied) + number * s, ((0, 0), (0, c - old_c))),
                vertices(each.separators, s),
                np.pad(shares, more, constant_values=leaves * c)[None],
                np.pad(each.between, ((0, 0), (0, s - old_s), (0, s - old_s))),
                # behind everything there is one place where nothing moves
                _longer(place, free, leaves * m + s * len(inverses)),
            ),
            strict=True,
        ):
            part.append(np.asarray(value))
        before += own_leaves
    joined = [np.concatenate(part) for part in parts]
    return TwoLevelInverse(
        *(part.astype(np.float32 if part.dtype.kind == "f" else np.int32) for part in joined)
    )


def solved_in_levels(
    inverse: TwoLevelInverse, right_side: Float[Array, "3 f 1"]
) -> Float[Array, "3 f 1"]:
    """A⁻¹ r of one character or of several people, as products that wait for each other."""
    _, m, c = inverse.ties.shape
    s = inverse.separators.shape[1]
    right = jnp.pad(right_side[..., 0], ((0, 0), (0, 1)))
    inside = right[:, inverse.interiors]
    # y_li = Σ_j B⁻¹_lij r_lj   and   t_lk = Σ_i W_lik r_li
    moved = _sums((inverse.own * part[:, None, :]).reshape(-1, m) for part in inside)
    pulls = _sums(
        (jnp.swapaxes(inverse.ties, 1, 2) * part[:, None, :]).reshape(-1, m) for part in inside
    )
    pulls = jnp.pad(pulls, ((0, 0), (0, 1)))
    reduced = right[:, inverse.separators] - jnp.sum(pulls[:, inverse.shares], axis=3)
    # x_s = S⁻¹ (r_s − Σ t)
    held = _sums((inverse.between * part[:, None, :]).reshape(-1, s) for part in reduced)
    # x_li = y_li − Σ_k W_lik x_k
    tied = held[:, inverse.tied]
    moved = moved - _sums((inverse.ties * part[:, None, :]).reshape(-1, c) for part in tied)
    everything = jnp.pad(jnp.concatenate([moved, held], axis=1), ((0, 0), (0, 1)))
    return everything[:, inverse.places][..., None]


def _sums(parts) -> Float[Array, "3 n"]:  # pyright: ignore[reportMissingParameterType]
    return jnp.stack(sum_together(*(part[..., None] for part in parts)))[..., 0]
