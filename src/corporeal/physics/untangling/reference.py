"""Untangling as it is defined: tetrahedra below a share of their rest volume are pushed open, and
skin edges above a multiple of their rest length pulled in.

Strain with Poisson's ratio 0 has a finite energy when an element is flat, so that flesh pressed
into a fold turns inside out. Every global step is therefore followed by a projection towards shapes
in which no element has less than a small share ε of its volume, as in Position Based Dynamics
(Müller 2007), over the elements that need it alone. With the volume V of an element and its
gradients ∇_k V by the four corners, a small one asks its free corners to move by

    Δx_k = λ ∇_k V,    λ = (ε⁺ V₀ − V)/Σ ‖∇_k V‖²    over the free corners k,

none by more than a few millimetres; and in a sweep a vertex moves by Σ Δx/√n over the n elements
that ask it. The order of elements plays no part, so that mirrored flesh moves as its mirror image,
and a device can take all at once. ε⁺ is hardly above ε, so that flesh which rests on
the limit does not hop between two shapes. Contacts that would be violated ask likewise: what is
pressed together would else be pushed through its other side.

Elements that crowd each other may so be tossed to and fro for ever. Those that are left after a
few sweeps are therefore opened one after the other, the flattest first, each by a little more than
it needs (Gauss and Seidel's order, over-relaxed). Rounding may decide the order, so that it is done
only where bones move: flesh that is held stays symmetric. All elements are looked at after the
first iteration of a step and after its last one, in between those that had little volume after the
first.

Skin stiffens when it is stretched by some half of its length; flesh without a skin of its own would
stretch a few edges, at the groin and in the armpit, to three and four times theirs. The pass that
ends a step therefore also asks the ends i, j of an edge of length l above its limit τ L to come
together by (l − τ L)/n each, n being how many of them are free, along the edge: Bouaziz 2014's
strain limits, one dimension at a time. Skin that moves does not run into its limit as a rope does,
which would throw its vertices about, but comes to it: an edge that had the stretch s when the step
of h seconds began may have, when it ends, at most

    s + (1 − e^(−h/T)) (τ − s),    s not below σ,

σ being the stretch from which skin stiffens.
"""

import math
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.solver.constraints.strain import StrainConstraint
from corporeal.physics.solver.system import System

LEAST_SHARE = 0.02
"""ε: of its rest volume, below which an element is pushed open."""
OPENED_SHARE = 0.021
"""ε⁺: to which it is."""
LARGEST_MOVE = 5e-3
"""Metres that an element asks a corner to move at most."""
SWEEPS, LAST_SWEEPS = 30, 500
"""At most, after an iteration of the solver, and after the last one of a step."""
MOST_PUSHES, MOST_STATIC_PUSHES = 100_000, 400_000
"""Elements pushed in the iterations of a moving and of a static step at most, 100 000 being some
10 ms of one core; and as many as in a moving one by the pass that ends it. Flesh that is torn about
takes more steps than one."""
VIOLATED = 1e-4
"""Metres: contacts that pushes violate by more are kept apart likewise."""
TOGETHER = 6
"""Sweeps that move all at once; in those that follow, elements are opened one after the other."""
PATIENCE = 20
"""Sweeps without fewer small elements after which moves become smaller and smaller: some cannot be
opened between the anchors and the contacts that they have, and would be tossed about."""
WATCHED = 0.3
"""Share of its volume below which an element is looked at between the first and the last iteration
of a step."""
PULLED_TO = 1.9
"""τ: times its length at rest that a skin edge has at most."""
OVERLONG = 1.001
"""Edges that are over their limit by more than this factor are pulled in: what rests on it does not
hop."""
STIFFENS = 1.3
"""σ: stretch from which skin that moves comes to its limit more and more slowly."""
COMES = 0.05
"""T, seconds, in which it does all but 1/e of what is left."""
ROUNDS = 20
"""How often long edges are pulled in and what that made small is opened, at most."""
TIRING, TIRED = 0.95, 0.02
"""By which share they do in a sweep; and the part of a move below which nothing more is tried."""
BEYOND = 1.5
"""How far elements that are opened one after the other go, over what each needs."""


@dataclass(frozen=True, eq=False)
class Untangling:
    """What is pushed open, and what gives way."""

    tetrahedra: Int[NumpyArray, "T 4"]
    """Those with a free corner."""
    volumes: Float64[NumpyArray, "T"]
    """V₀: of their unloaded shapes, m³, above 0."""
    free: Bool[NumpyArray, "V"]
    """Vertices that may be moved."""
    edges: Int[NumpyArray, "E 2"]
    """Of the skin, with a free end."""
    lengths: Float64[NumpyArray, "E"]
    """L: at rest, metres."""

    def small(
        self, positions: Float64[NumpyArray, "V 3"], among: Int[NumpyArray, "k"] | None = None
    ) -> Int[NumpyArray, "m"]:
        """Elements with less than ε of their volume, of all or `among` some."""
        asked = np.arange(len(self.tetrahedra)) if among is None else among
        return asked[self._volumes(positions, asked) < LEAST_SHARE * self.volumes[asked]]

    def _volumes(
        self, positions: Float64[NumpyArray, "V 3"], among: Int[NumpyArray, "k"] | None = None
    ) -> Float64[NumpyArray, "m"]:
        """V of all elements or `among` some, m³."""
        corners = self.tetrahedra if among is None else self.tetrahedra[among]
        return np.linalg.det(_edges(positions[corners])) / 6.0

    def untangle(
        self,
        positions: Float64[NumpyArray, "V 3"],
        last: bool = True,
        budget: int = MOST_PUSHES,
        contacts: Contacts | None = None,
        among: Int[NumpyArray, "k"] | None = None,
        in_turn: bool = True,
        limits: Float64[NumpyArray, "E"] | None = None,
    ) -> int:
        """Push elements open, in place; how much of the `budget` of pushes is left. `last`: it ends
        a step, and pulls long edges in. No one-sided contact may become violated by that, or more
        violated than it is. `among`: the elements that are looked at first, all if None. `in_turn`:
        those that are not opened at once are opened one after the other, in the end through
        contacts. `limits` of edges are those of `limits_after`, or of skin that is held."""
        left = self._open(positions, last, budget, contacts, among, in_turn)
        if last:
            self._pull_in(positions, contacts, in_turn, limits)
        if last and in_turn and contacts is not None:
            self._open(positions, True, MOST_PUSHES, None, None, in_turn)
        return left

    def watched(self, positions: Float64[NumpyArray, "V 3"]) -> Int[NumpyArray, "k"]:
        """Elements to be looked at between the first and the last iteration of a step."""
        return np.flatnonzero(self._volumes(positions) < WATCHED * self.volumes)

    def limits_after(
        self, positions: Float64[NumpyArray, "V 3"], seconds: float
    ) -> Float64[NumpyArray, "E"]:
        """How long edges may be at the end of a step of so many `seconds` that begins at
        `positions`, metres."""
        stretch = np.clip(self._now(positions) / self.lengths, STIFFENS, PULLED_TO)
        return self.lengths * (stretch + share_of_way(seconds) * (PULLED_TO - stretch))

    def _now(self, positions: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "E"]:
        """How long edges are, metres."""
        ends = positions[self.edges]
        return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)

    def _pull_in(
        self,
        positions: Float64[NumpyArray, "V 3"],
        contacts: Contacts | None,
        in_turn: bool,
        limits: Float64[NumpyArray, "E"] | None,
    ) -> None:
        """Pull long edges in and open what that made small, by turns."""
        rows = None if contacts is None else _one_sided(contacts, positions)
        limits = PULLED_TO * self.lengths if limits is None else limits
        for _ in range(ROUNDS):
            chosen = np.flatnonzero(self._now(positions) > OVERLONG * limits)
            if len(chosen) == 0:
                break
            before = positions.copy()
            self._move(self._asked_together(positions, chosen, limits), positions, 1.0, rows)
            around = self._around(positions, before)
            self._open(positions, in_turn, MOST_PUSHES, rows, around, in_turn)

    def long(self, positions: Float64[NumpyArray, "V 3"]) -> Int[NumpyArray, "m"]:
        """Edges that are longer than they may be."""
        return np.flatnonzero(self._now(positions) > OVERLONG * PULLED_TO * self.lengths)

    def _asked_together(
        self,
        positions: Float64[NumpyArray, "V 3"],
        chosen: Int[NumpyArray, "m"],
        limits: Float64[NumpyArray, "E"],
    ) -> Float64[NumpyArray, "V 4"]:
        """What the `chosen` edges ask vertices to move by, and how many do."""
        edges = self.edges[chosen]
        ways = positions[edges[:, 1]] - positions[edges[:, 0]]
        lengths, able = np.linalg.norm(ways, axis=1), self.free[edges].astype(np.float64)
        over = lengths - limits[chosen]
        shares = np.minimum(over / able.sum(axis=1), LARGEST_MOVE)
        pulls = (shares / lengths)[:, None] * ways
        asked = np.zeros((len(positions), 4))
        np.add.at(asked[:, :3], edges[:, 0], able[:, :1] * pulls)
        np.add.at(asked[:, :3], edges[:, 1], -able[:, 1:] * pulls)
        np.add.at(asked[:, 3], edges, able)
        return asked

    def _open(
        self,
        positions: Float64[NumpyArray, "V 3"],
        last: bool,
        budget: int,
        contacts: Contacts | None,
        among: Int[NumpyArray, "k"] | None,
        in_turn: bool,
    ) -> int:
        """Push elements open; how much of the `budget` is left."""
        fewest, since, part = len(self.tetrahedra) + 1, 0, 1.0
        rows = None if contacts is None else _one_sided(contacts, positions)
        for sweep in range(LAST_SWEEPS if last else SWEEPS):
            small = self.small(positions, among)
            fewest, since = (len(small), 0) if len(small) < fewest else (fewest, since + 1)
            part *= TIRING if since > PATIENCE else 1.0
            if len(small) == 0 or part < TIRED or budget <= 0:
                break
            budget -= len(small)
            before = positions.copy()
            if sweep < TOGETHER or not in_turn:
                self._sweep(small, positions, part, rows)
            else:
                self._sweep_in_turn(small, positions, part, rows)
            among = self._around(positions, before)
        return budget

    def _around(
        self, positions: Float64[NumpyArray, "V 3"], before: Float64[NumpyArray, "V 3"]
    ) -> Int[NumpyArray, "k"]:
        """Elements with a vertex that has moved."""
        moved = (positions != before).any(axis=1)
        return np.flatnonzero(moved[self.tetrahedra].any(axis=1))

    def _sweep_in_turn(
        self,
        small: Int[NumpyArray, "m"],
        positions: Float64[NumpyArray, "V 3"],
        part: float,
        rows: Contacts | None,
    ) -> None:
        """Open small elements one after the other, the flattest first, then part what contacts
        have too near."""
        shares = self._volumes(positions, small) / self.volumes[small]
        for element in small[np.argsort(shares, kind="stable")]:
            one = self.small(positions, np.array([element]))
            positions += BEYOND * part * self._asked(one, positions)[:, :3]
        for number in range(0 if rows is None else len(rows)):
            assert rows is not None, "none has no rows"
            one = _chosen(rows, np.array([number]), rows.offsets)
            positions += part * self._asked_apart(one, positions)[:, :3]

    def _sweep(
        self,
        small: Int[NumpyArray, "m"],
        positions: Float64[NumpyArray, "V 3"],
        part: float = 1.0,
        rows: Contacts | None = None,
    ) -> None:
        """Move vertices by a `part` of what small elements and violated contacts ask them to."""
        self._move(self._asked(small, positions), positions, part, rows)

    def _move(
        self,
        asked: Float64[NumpyArray, "V 4"],
        positions: Float64[NumpyArray, "V 3"],
        part: float,
        rows: Contacts | None,
    ) -> None:
        """Move vertices by a `part` of what they are `asked`, by violated contacts as well."""
        if rows is not None:
            asked = asked + self._asked_apart(rows, positions)
        positions += part * asked[:, :3] / np.sqrt(np.maximum(asked[:, 3:], 1.0))

    def _asked(
        self, small: Int[NumpyArray, "m"], positions: Float64[NumpyArray, "V 3"]
    ) -> Float64[NumpyArray, "V 4"]:
        """What small elements ask vertices to move by, and how many do."""
        corners = self.tetrahedra[small]
        slopes = volume_slopes(positions[corners]) * self.free[corners][..., None]
        lengths = np.linalg.norm(slopes, axis=2)
        volumes, sizes = self._volumes(positions, small), np.sum(lengths**2, axis=1)
        able = sizes > 0
        pushes = np.divide(
            OPENED_SHARE * self.volumes[small] - volumes,
            sizes,
            out=np.zeros_like(sizes),
            where=able,
        )
        furthest = np.divide(
            LARGEST_MOVE, lengths.max(axis=1), out=np.zeros_like(sizes), where=able
        )
        pushes = np.minimum(pushes, furthest)
        asked = np.zeros((len(positions), 4))
        np.add.at(asked[:, :3], corners, pushes[:, None, None] * slopes)
        np.add.at(asked[:, 3], corners, self.free[corners] * able[:, None])
        return asked

    def _asked_apart(
        self, rows: Contacts, positions: Float64[NumpyArray, "V 3"]
    ) -> Float64[NumpyArray, "V 4"]:
        """The same of violated contacts: by their gap along the normal, shared by the squares of
        their coefficients."""
        gaps, coefficients = rows.gaps(positions), rows.coefficients * self.free[rows.vertices]
        sizes = np.sum(coefficients**2, axis=1)
        violated = (gaps <= -VIOLATED) & (sizes > 0)
        pushes = np.minimum(-gaps[violated], LARGEST_MOVE) / sizes[violated]
        shares = pushes[:, None] * coefficients[violated]
        asked = np.zeros((len(positions), 4))
        vertices = rows.vertices[violated]
        np.add.at(asked[:, :3], vertices, shares[..., None] * rows.normals[violated][:, None])
        np.add.at(asked[:, 3], vertices, coefficients[violated] != 0.0)
        return asked


def _one_sided(contacts: Contacts, positions: Float64[NumpyArray, "V 3"]) -> Contacts:
    """Contacts that are no equations, which ask for no more than they have at `positions`."""
    gaps = np.minimum(contacts.gaps(positions), 0.0)
    return _chosen(contacts, np.flatnonzero(~contacts.two_sided), contacts.offsets + gaps)


def _chosen(
    contacts: Contacts, chosen: Int[NumpyArray, "m"], offsets: Float64[NumpyArray, "C"]
) -> Contacts:
    """Some contacts, with other offsets (metres)."""
    return Contacts(
        contacts.vertices[chosen],
        contacts.coefficients[chosen],
        contacts.normals[chosen],
        offsets[chosen],
        contacts.weights[chosen],
        contacts.two_sided[chosen],
    )


def share_of_way(seconds: float) -> float:
    """1 − e^(−h/T): of what is left to its limit, by which skin may be stretched further in a step
    of h `seconds`."""
    return -math.expm1(-seconds / COMES)


def most_pushes(moving: bool) -> int:
    """Of the iterations of a step."""
    return MOST_PUSHES if moving else MOST_STATIC_PUSHES


def untangling_of(system: System) -> Untangling | None:
    """That of all elements of a system; None where it is not untangled."""
    if not system.untangled:
        return None
    strains = [c for c in system.constraints if isinstance(c, StrainConstraint)]
    anchored = np.asarray(system.anchored)
    tetrahedra = np.concatenate([strain.tetrahedra for strain in strains])
    inverse = np.concatenate([strain.inverse_edges for strain in strains])
    moving = np.logical_not(anchored[tetrahedra].all(axis=1))
    volumes = 1.0 / (6.0 * np.abs(np.linalg.det(inverse[moving])))
    edges, lengths = np.zeros((0, 2), np.int64), np.zeros(0)
    if system.membrane is not None:
        loose = np.flatnonzero(np.logical_not(anchored[system.membrane.edges].all(axis=1)))
        edges, lengths = system.membrane.edges[loose], system.membrane.lengths[loose]
    return Untangling(np.ascontiguousarray(tetrahedra[moving]), volumes, ~anchored, edges, lengths)


def volume_slopes(corners: Float64[NumpyArray, "m 4 3"]) -> Float64[NumpyArray, "m 4 3"]:
    """∇_k V of tetrahedra by their four corners, m²."""
    first, second, third = np.moveaxis(_edges(corners), 1, 0)
    others = np.stack(
        [np.cross(second, third), np.cross(third, first), np.cross(first, second)], axis=1
    )
    return np.concatenate([-others.sum(axis=1, keepdims=True), others], axis=1) / 6.0


def _edges(corners: Float64[NumpyArray, "m 4 3"]) -> Float64[NumpyArray, "m 3 3"]:
    return corners[:, 1:] - corners[:, :1]
