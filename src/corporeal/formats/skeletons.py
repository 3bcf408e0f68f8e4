"""Skeletons from any file that holds one: `.skel`, `.json`, `.bvh`, and rigs (`.glb`, `.fbx`,
`.usd`)."""

from dataclasses import dataclass
from pathlib import Path

from corporeal.body.skeleton import Skeleton
from corporeal.formats.registry import format_to_read, format_to_write
from corporeal.formats.skel import read_skel, write_skel
from corporeal.formats.skeleton_json import read_skeleton_json, write_skeleton_json


@dataclass(frozen=True)
class SkeletonReading:
    """A skeleton in the file's own unit."""

    skeleton: Skeleton
    """Joints in the file's unit and axes."""
    unit: str | None
    """Its name where the file states it; None for formats without units."""


def read_skeleton(path: str | Path) -> SkeletonReading:
    """Read a skeleton by the file's suffix. Numbers stay in the file's unit, axes as they are."""
    path = Path(path)
    suffix = format_to_read(path, "skeleton").suffix
    if suffix == ".skel":
        return SkeletonReading(read_skel(path), None)
    if suffix == ".json":
        return SkeletonReading(*read_skeleton_json(path))
    if suffix == ".glb":
        from corporeal.formats.gltf_read import read_glb_character

        return SkeletonReading(read_glb_character(path).template.skeleton, "m")
    if suffix == ".fbx":
        from corporeal.formats.fbx_read import read_fbx_skeleton

        return SkeletonReading(read_fbx_skeleton(path), "m")
    if suffix.startswith(".usd"):
        from corporeal.formats.usd_read import read_usd_skeleton

        return SkeletonReading(read_usd_skeleton(path), "m")
    from corporeal.formats.bvh import read_bvh

    return SkeletonReading(read_bvh(path, unit=1.0, first_frame="keep").motion.skeleton, None)


def write_skeleton(path: str | Path, skeleton: Skeleton, unit: str | None = "m") -> None:
    """Write a skeleton as `.skel` or `.json`; JSON states the `unit` of its numbers, if any."""
    if format_to_write(path, "skeleton").suffix == ".skel":
        write_skel(path, skeleton)
    else:
        write_skeleton_json(path, skeleton, unit)
