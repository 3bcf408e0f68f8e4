"""Units and axes of custom meshes and skeletons: their files do not say them."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.bvh_units import axis_rotation, unit_length
from corporeal.formats.skeletons import SkeletonReading

CREATURE_M = (0.02, 30.0)
"""Largest extent of what is animated, metres, from a mouse to a dragon."""
_PERSON_M = 1.7
_GUESSED = ("m", "cm", "mm")
_SPAN = (0.05, 1.5)
"""Largest extent of a skeleton over that of its mesh."""
_COVERED = 0.6
"""Share of the joints that must lie in the mesh's box, which is taken a tenth wider."""


def place_mesh(mesh: Mesh, unit: str, up: str, front: str) -> tuple[Mesh, float, tuple[str, ...]]:
    """The mesh in our axes and metres, the metres a unit, and what was assumed."""
    vertices = np.asarray(mesh.vertices, np.float64)
    if len(vertices) == 0 or len(mesh.triangles) == 0:
        raise InputError(
            f"the mesh has {len(vertices)} vertices and {len(mesh.triangles)} triangles; expected "
            f"a surface. Points alone cannot be animated."
        )
    extent = _extent(vertices)
    if not extent > 0:
        raise InputError("all vertices of the mesh lie in one place; expected a surface.")
    notes: tuple[str, ...] = ()
    if unit == "auto":
        unit = _guess_mesh_unit(extent)
        if unit != "m":
            notes = (f"mesh taken as {unit}: {extent * unit_length(unit):.3g} m large",)
    metres = unit_length(unit)
    placed = metres * vertices @ axis_rotation(up, front).T
    return replace(mesh, vertices=placed), metres, notes


def place_skeleton(
    mesh: Mesh, reading: SkeletonReading, metres_per_unit: float, up: str, front: str
) -> tuple[Skeleton, tuple[str, ...]]:
    """The skeleton in the mesh's place (metres), and what was assumed.

    A file without a unit has the mesh's, unless the skeleton fits the mesh in another unit alone.
    """
    axes = axis_rotation(up, front)
    joints = np.asarray(reading.skeleton.joints, np.float64) @ axes.T
    stated = metres_per_unit if reading.unit is None else unit_length(reading.unit)
    if _fits(mesh, stated * joints):
        return replace(reading.skeleton, joints=stated * joints), ()
    others = [unit for unit in (*_GUESSED, "in") if _fits(mesh, unit_length(unit) * joints)]
    if others and reading.unit is None:
        note = f"skeleton taken as {others[0]}: in the mesh's unit it does not fit the mesh"
        return replace(reading.skeleton, joints=unit_length(others[0]) * joints), (note,)
    raise InputError(_misfit(mesh, stated * joints, others))


def _guess_mesh_unit(extent: float) -> str:
    """Metres if they will do, else the unit that brings the mesh nearest to a person's size."""
    sizes = {unit: extent * unit_length(unit) for unit in _GUESSED}
    sizes = {u: size for u, size in sizes.items() if CREATURE_M[0] <= size <= CREATURE_M[1]}
    if sizes:
        return "m" if "m" in sizes else min(sizes, key=lambda u: abs(np.log(sizes[u] / _PERSON_M)))
    raise InputError(
        f"the mesh is {extent:.3g} units large, which is no creature's size in "
        f"{', '.join(_GUESSED)}. Say the unit with --mesh-unit, or scale the mesh."
    )


def _fits(mesh: Mesh, joints: Float[NumpyArray, "J 3"]) -> bool:
    low, high = _box(mesh)
    inside = np.all((joints >= low) & (joints <= high), axis=1).mean() >= _COVERED
    share = _extent(joints) / _extent(np.asarray(mesh.vertices))
    return bool(inside and (len(joints) == 1 or _SPAN[0] <= share <= _SPAN[1]))


def _box(mesh: Mesh) -> tuple[Float[NumpyArray, "3"], Float[NumpyArray, "3"]]:
    vertices = np.asarray(mesh.vertices, np.float64)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    margin = 0.05 * float((high - low).max())
    return low - margin, high + margin


def _extent(points: Float[NumpyArray, "n 3"]) -> float:
    return float(np.ptp(points, axis=0).max())


def _misfit(mesh: Mesh, joints: Float[NumpyArray, "J 3"], others: list[str]) -> str:
    low, high = _box(mesh)
    inside = int(np.all((joints >= low) & (joints <= high), axis=1).sum())
    sizes = f"{_extent(joints):.3g} m against {_extent(np.asarray(mesh.vertices)):.3g} m"
    centre, middle = joints.mean(axis=0), 0.5 * (low + high)
    text = (
        f"the skeleton does not fit the mesh: {inside} of {len(joints)} joints lie in its box, "
        f"their sizes are {sizes}, their middles ({', '.join(f'{x:.2f}' for x in centre)}) and "
        f"({', '.join(f'{x:.2f}' for x in middle)}) m."
    )
    if others:
        return f"{text} It would fit if its unit were {others[0]}."
    return f"{text} Check units and axes, or fit one with corporeal skeleton."
