"""Registrations as scans to learn from: who, which is the standing pose, what was not seen."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.registrations import Registrations
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.errors import InputError
from corporeal.models.enveloping.training.problem import Scans

_LEAST_SEEN = 0.05
"""Share of the surface that a scan must show to be of use."""
_INSIDE_OUT = 0.2
"""Share of the template's volume from which a negative one says that a scan is inside out."""
Confidence = Mapping[tuple[str, str], Float[NumpyArray, "N V"]]
"""Confidence of every vertex, from 0 to 1, by subject and sequence of the take."""


def scans_of(
    registrations: Registrations, template: Template, confidence: Confidence | None = None
) -> tuple[Scans, tuple[str, ...]]:
    """All frames of a set, and the people's names. Vertices that are not a number were not seen;
    the first frame of everybody is the standing pose."""
    mesh = template.mesh
    if not registrations.takes:
        raise InputError("the set of registrations is empty; expected scans of several people.")
    if registrations.topology_hash != topology_hash(mesh.triangles, mesh.vertex_count):
        raise InputError(
            f"registrations of {registrations.template} have {registrations.vertex_count} vertices "
            f"and {len(registrations.triangles)} triangles; the template has {mesh.vertex_count} "
            f"and {len(mesh.triangles)}, or the same ones in another order. Expected one topology."
        )
    names: list[str] = []
    vertices, seen, people = [], [], []
    for take in registrations.takes:
        if take.subject not in names:
            names.append(take.subject)
        some = np.array(take.vertices[0 : take.frame_count], np.float32)
        given = None if confidence is None else confidence.get((take.subject, take.sequence))
        seen.append(_seen(some, given, f"{take.subject} {take.sequence}"))
        vertices.append(some)
        people.append(np.full(len(some), names.index(take.subject)))
    who = np.concatenate(people)
    standing = np.array([int(np.flatnonzero(who == n)[0]) for n in range(len(names))])
    scans = Scans(np.concatenate(vertices), np.concatenate(seen), who, standing)
    return scans, tuple(names)


def _seen(vertices: NumpyArray, given: NumpyArray | None, who: str) -> NumpyArray:
    """Confidences; what is not a number becomes 0 and counts for nothing."""
    finite = np.isfinite(vertices).all(axis=-1)
    if given is not None and (given.shape != finite.shape or not (given >= 0).all()):
        raise InputError(
            f"confidences of {who} have the shape {given.shape}; expected {finite.shape} numbers "
            f"of at least 0."
        )
    seen = finite.astype(np.float32) if given is None else np.where(finite, given, 0.0)
    vertices[~finite] = 0.0
    shares = seen.mean(axis=1)
    if shares.min() < _LEAST_SEEN:
        worst = int(shares.argmin())
        raise InputError(
            f"scan {worst} of {who} shows {100 * shares[worst]:.1f} % of the surface; expected at "
            f"least {100 * _LEAST_SEEN:.0f} %. Leave it out."
        )
    return np.asarray(seen, np.float32)


def filled(
    scans: Scans, edges: csr_array, rest: Float[NumpyArray, "V 3"]
) -> Float[NumpyArray, "N V 3"]:
    """Scans with their holes closed: what was not seen lies among its neighbours as on the template
    (Laplacian coordinates held in a harmonic way). For first guesses alone."""
    whole = scans.vertices
    holes = np.flatnonzero((scans.confidence <= 0).any(axis=1))
    if not len(holes):
        return whole
    whole, laplacian = whole.copy(), (edges.T @ edges).tocsc()
    for scan in holes:
        away = scans.confidence[scan] <= 0
        here = np.flatnonzero(~away)
        inner = splu((laplacian[away][:, away] + 1e-9 * _eye(int(away.sum()))).tocsc())
        right = -(laplacian[away][:, here] @ whole[scan, here].astype(np.float64))
        whole[scan, away] = inner.solve(np.asarray(right))
    return whole


def require_same_side_out(
    scans: Scans, triangles: Int[NumpyArray, "F 3"], rest: Float[NumpyArray, "V 3"],
    names: Sequence[str],
) -> None:  # fmt: skip
    """Refuse scans whose surface is inside out beside the template's: left and right are confused
    in them, or they are in a mirror, and no pose explains that."""
    everywhere = np.ones((1, len(rest)), bool)
    whole = float(_volumes(np.asarray(rest)[None], everywhere, triangles)[0])
    found = _volumes(scans.vertices, scans.confidence > 0, triangles)
    turned = np.flatnonzero(found * whole < -_INSIDE_OUT * whole**2)
    if len(turned):
        raise InputError(
            f"{names[turned[0]]} is inside out beside the template ({len(turned)} such scans); "
            f"expected left and right as the template has them. Check whether the scan is in a "
            f"mirror or its vertices are in another order, or leave it out."
        )


def _volumes(
    vertices: NumpyArray, seen: NumpyArray, triangles: Int[NumpyArray, "F 3"]
) -> Float64[NumpyArray, "N"]:
    """Signed volume between the seen triangles and the middle of the seen vertices, m³."""
    found = np.empty(len(vertices))
    for n, (points, mask) in enumerate(zip(vertices, seen, strict=True)):
        corners = triangles[mask[triangles].all(axis=1)]
        a, b, c = np.moveaxis((points - points[mask].mean(axis=0))[corners], 1, 0)
        found[n] = np.einsum("fa,fa->", a, np.cross(b, c)) / 6
    return found


def _eye(count: int) -> csr_array:
    return csr_array((np.ones(count), (np.arange(count), np.arange(count))))
