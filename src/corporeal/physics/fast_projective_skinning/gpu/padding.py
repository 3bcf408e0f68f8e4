"""Bodies of different people with arrays of equal shapes, so that one program serves them all.

A program is compiled for shapes, and people differ in how many vertices their bones leave free, in
tetrahedra, regions and pieces of the inverse. Everybody is filled up to multiples:

* free vertices of no mass, weight, spring or tetrahedron, whose rows and columns of A⁻¹ are zero:
  every correction δ leaves them where bones carry them, and they add zero to every sum;
* anchored vertices that no tetrahedron, prism or skin has as a corner;
* tetrahedra and prisms of weight and share zero, regions without prisms.

So what was there moves as before, to the rounding of sums that are added in another order. Vertices
keep their places, but that anchored ones come after the added free ones.
"""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.contact.gpu.detection import DeviceSkin
from corporeal.physics.coupling.blended_gpu import DeviceBlend
from corporeal.physics.coupling.gpu import DeviceCoupling
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.solver.gpu.elements import DeviceFlesh, Elements, flesh_of
from corporeal.physics.solver.gpu.inverse import (
    CLUSTER,
    ClusteredInverse,
    DenseInverse,
    Inverse,
)
from corporeal.physics.solver.gpu.skin import DeviceSkinTension, SkinElements
from corporeal.physics.solver.gpu.step import SolverState
from corporeal.physics.volume_preservation.gpu import DevicePreservation, DeviceVolume

VERTICES, TETRAHEDRA, PRISMS = 1024, 2048, 512
"""Free and anchored vertices, tetrahedra and prisms come in multiples of these. People of the
default template have 8 500 to 8 900 free vertices; with multiples of 512 they would fall in two
groups."""
REGIONS, PIECES, LISTED, INCIDENCES, PAIRS = 128, 512, 8, 64, 1024
"""The same for regions whose volume is kept, pieces of the inverse, entries of lists of neighbours,
incidences of a vertex, and pairs that overlap at rest."""
_NO_PAIR = np.iinfo(np.int32).max


def longer(values: NumpyArray, axis: int, length: int, fill: int = 0) -> NumpyArray:
    """The array filled up to `length` along an axis."""
    more = [(0, 0)] * values.ndim
    more[axis] = (0, length - values.shape[axis])
    return np.pad(values, more, constant_values=fill)


def whole_multiple(count: int, multiple: int) -> int:
    """The least multiple that is no less than `count`, and at least one."""
    return max(1, -(-count // multiple)) * multiple


def padded_body(body: DeviceBody) -> DeviceBody:
    """The same body among more vertices, tetrahedra and regions, which nothing holds or needs.

    Added vertices are numbered after those of the body."""
    count, total = body.free_count, len(body.order)
    free = whole_multiple(count, VERTICES)
    fixed = whole_multiple(total - count, VERTICES)
    place = np.arange(total)
    place[count:] += free - count

    order, sources = np.empty(free + fixed, np.int32), np.zeros(free + fixed, np.int32)
    order[place], sources[place] = body.order, body.sources
    order[np.setdiff1d(np.arange(free + fixed), place)] = np.arange(total, free + fixed)
    elements = _elements(body.elements, place, free, free + fixed - 1)
    return replace(
        body,
        order=order,
        sources=sources,
        skin_places=place[np.asarray(body.skin_places)].astype(np.int32),
        elements=elements,
        weight=longer(np.asarray(body.weight), 1, free),
        coupling=_coupling(body.coupling),
        rest=longer(np.asarray(body.rest), 0, free + fixed),
        flesh=_flesh(flesh_of(elements)),
        volume=None if body.volume is None else _volume(body.volume, place, free),
    )


def _elements(elements: Elements, place: Int[NumpyArray, "n"], free: int, last: int) -> Elements:
    """Added tetrahedra have the `last` anchored vertex for all corners, and weigh nothing."""
    count = whole_multiple(len(elements.weights), TETRAHEDRA)
    springs, edges, lengths = elements.springs, elements.edges, elements.lengths
    creasing = elements.creasing
    return Elements(
        longer(place[np.asarray(elements.tetrahedra)], 0, count, last).astype(np.int32),
        longer(np.asarray(elements.inverse_edges), 0, count),
        longer(np.asarray(elements.weights), 0, count),
        longer(np.asarray(elements.masses), 0, free),
        None if springs is None else longer(np.asarray(springs), 0, free),
        None if edges is None else place[np.asarray(edges)].astype(np.int32),
        lengths,
        None if elements.skin is None else _skin(elements.skin, place, last),
        None if creasing is None else longer(np.asarray(creasing), 0, free),
    )


def _skin(skin: SkinElements, place: Int[NumpyArray, "n"], last: int) -> SkinElements:
    """Added triangles have the `last` anchored vertex for all corners, and weigh nothing."""
    count = whole_multiple(len(skin.weights), TETRAHEDRA)
    return SkinElements(
        longer(place[np.asarray(skin.triangles)], 0, count, last).astype(np.int32),
        longer(np.asarray(skin.inverse_edges), 0, count),
        longer(np.asarray(skin.weights), 0, count),
    )


def _flesh(flesh: DeviceFlesh) -> DeviceFlesh:
    """Lists of incidences of a common length; added ones are of a vertex with itself."""
    known = flesh.weights.shape[1]
    width = whole_multiple(known, INCIDENCES)
    own = np.arange(len(flesh.masses), dtype=np.int32)[:, None]
    corners = longer(np.asarray(flesh.corners), 2, width)
    corners[:, :, known:] = own
    ends, lengths = flesh.ends, flesh.lengths
    if ends is not None and lengths is not None:
        table = np.asarray(ends)
        many = whole_multiple(table.shape[1], LISTED)
        beyond = np.broadcast_to(own, (len(own), many - table.shape[1]))
        ends = np.concatenate([table, beyond], axis=1)
        lengths = longer(np.asarray(lengths), 1, many)
    return replace(
        flesh,
        skin=None if flesh.skin is None else _listed(flesh.skin, own),
        ends=ends,
        lengths=lengths,
        corners=corners,
        gradients=longer(np.asarray(flesh.gradients), 2, width),
        weights=longer(np.asarray(flesh.weights), 1, width),
    )


def _listed(skin: DeviceSkinTension, own: Int[NumpyArray, "f 1"]) -> DeviceSkinTension:
    """Lists of triangles of a common length; added ones are of a vertex with itself."""
    known = skin.weights.shape[1]
    width = whole_multiple(known, LISTED)
    corners = longer(np.asarray(skin.corners), 2, width)
    corners[:, :, known:] = own
    return DeviceSkinTension(
        corners,
        longer(np.asarray(skin.gradients), 2, width),
        longer(np.asarray(skin.weights), 1, width),
    )


def _coupling(coupling: DeviceCoupling | DeviceBlend) -> DeviceCoupling | DeviceBlend:
    """Joints that carry nothing, behind those of every vertex; or skin that is of no vertex."""
    if isinstance(coupling, DeviceBlend):
        width = whole_multiple(coupling.joints.shape[1], LISTED)
        return coupling.filled(len(coupling.joints), width)
    count, width = coupling.skin.joints.shape
    skin = coupling.skin.filled(whole_multiple(count, VERTICES), whole_multiple(width, LISTED))
    return replace(coupling, skin=skin)


def _volume(volume: DeviceVolume, place: Int[NumpyArray, "n"], free: int) -> DeviceVolume:
    """Added prisms have no share in any region, added regions no prism and no pressure."""
    prisms = whole_multiple(volume.shares.shape[1], PRISMS)
    regions = whole_multiple(volume.shares.shape[2], REGIONS)
    none, listed = np.asarray(volume.prisms).size, np.asarray(volume.around)
    around = np.where(listed == none, 6 * prisms, listed)
    around = longer(around, 1, whole_multiple(listed.shape[1], LISTED), 6 * prisms)
    numbers = (volume.volumes, volume.compliances, volume.limits, volume.changes, volume.most)
    return DeviceVolume(
        longer(place[np.asarray(volume.prisms)], 1, prisms).astype(np.int32),
        longer(longer(np.asarray(volume.shares), 2, regions), 1, prisms),
        longer(around, 0, free, 6 * prisms).astype(np.int32),
        longer(np.asarray(volume.slopes), 1, prisms),
        longer(np.asarray(volume.steepest), 1, prisms, 1),
        *(longer(np.asarray(part), 1, regions) for part in numbers),
    )


def padded_preservation(
    preservation: DevicePreservation | None, body: DeviceBody
) -> DevicePreservation | None:
    """What keeps the volume of a padded `body`, from that of the body as it was."""
    if preservation is None or body.volume is None:
        return None
    regions = body.volume.shares.shape[2]
    gain = longer(longer(np.asarray(preservation.gain), 1, regions), 2, regions)
    shares = np.swapaxes(np.asarray(body.volume.shares), 1, 2)
    return DevicePreservation(body.volume, gain, np.ascontiguousarray(shares))


def padded_inverse(inverse: Inverse, free: int) -> Inverse:
    """Rows of zeros for added vertices, up to `free`."""
    if isinstance(inverse, DenseInverse):
        matrix = np.asarray(inverse.matrix)
        return DenseInverse(longer(longer(matrix, 0, free), 1, free))
    if not isinstance(inverse, ClusteredInverse):
        raise InputError(
            f"a {type(inverse).__name__} came to be filled up; expected a dense or a local one. "
            f"Make it with `inverse_of`."
        )
    known = len(inverse.rows)
    count = whole_multiple(known, PIECES)
    listed = np.asarray(inverse.pieces)
    listed = np.where(listed == known, count, listed)
    listed = longer(listed, 1, whole_multiple(listed.shape[1], LISTED), count)
    return ClusteredInverse(
        longer(np.asarray(inverse.columns), 0, count),
        longer(np.asarray(inverse.rows), 0, count),
        longer(listed, 0, free // CLUSTER, count).astype(np.int32),
    )


def padded_skin(skin: DeviceSkin) -> DeviceSkin:
    """Lists of what overlaps at rest of a common length, and of neighbours within three edges."""
    ignored, near = np.asarray(skin.ignored), np.asarray(skin.near)
    return replace(
        skin,
        ignored=longer(ignored, 0, whole_multiple(len(ignored), PAIRS), _NO_PAIR),
        near=longer(near, 1, whole_multiple(near.shape[1], LISTED), -1),
    )


def padded_neighbours(near: Int[NumpyArray, "f m"], body: DeviceBody) -> Int[NumpyArray, "f k"]:
    """A `neighbour_table` of a padded `body` with lists of a common length."""
    return longer(near, 1, whole_multiple(near.shape[1], LISTED), len(body.order))


def padded_state(state: SolverState, body: DeviceBody) -> SolverState:
    """A state of the body as it was for the padded one; added vertices begin at the origin."""
    free = body.free_count
    regions = 0 if body.volume is None else body.volume.volumes.shape[1]
    *places, pressures = (np.asarray(part) for part in state)
    each: list[Float[NumpyArray, "3 f B"]] = [longer(part, 1, free) for part in places]
    return SolverState(*each, pressures=longer(pressures, 1, regions))
