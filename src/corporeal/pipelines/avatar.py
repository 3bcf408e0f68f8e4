"""A scan in, a body that every deformer can move out: registered, measured, fleshed, coloured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray, UInt8
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.layered_body import LayeredBody
from corporeal.body.raw_scan import RawScan
from corporeal.errors import CorporealError, InputError
from corporeal.formats.glb_texture import embed_glb_texture
from corporeal.formats.layers import write_layers
from corporeal.formats.native import write_body
from corporeal.formats.png import write_png
from corporeal.formats.raw_scans import read_raw_scan
from corporeal.pipelines.anatomy import fit_body_layers
from corporeal.pipelines.animate import animate_body
from corporeal.pipelines.options import AnimateOptions
from corporeal.pipelines.registration_report import write_report
from corporeal.pipelines.results import (
    require_animation_output,
    require_body_output,
    write_animation_result,
    write_body_result,
)
from corporeal.pipelines.scan_intervals import Intervals, scan_intervals
from corporeal.registration.colouring import (
    bake_texture,
    carry_texture,
    linear_rgb,
    place_colours,
)
from corporeal.registration.person_model import person_model
from corporeal.registration.register import RegisteredScan, register_scan
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

USUAL_AGE = 40.0
"""Years, where nobody says the person's."""
_HARDLY = 0.5
"""Coverage below which a part counts as filled in by the model."""
_INNER = ("mouth", "eye_socket")
_REACH = 0.03
"""Metres from the scan beyond which a place of the skin takes the colours around it."""


@dataclass(frozen=True, kw_only=True)
class AvatarConfig:
    """One scan in, one body or moving character out."""

    scan: Path
    """Scan to read."""
    out: Path
    """Body to write (.npz, .glb, .obj, …), or with --motion a character or film."""
    motion: str | None = None
    """Authored motion or motion file to move it with."""
    deformer: str | None = None
    """How the skin follows the joints; layered by default, smpl without layers."""
    unit: str = "auto"
    """Unit of the scan: m, cm, mm or in; found from its size by default."""
    up: str = "auto"
    """Upward axis of the scan, such as +z; found by default."""
    landmarks: Path | None = None
    """Landmarks in the scan's unit and axes: .json (name: [x, y, z]) or .lnd."""
    sex: str | None = None
    """female or male; told from the shape by default."""
    age: float | None = None
    """Years; 40 by default."""
    layers: bool = True
    """Fit bones, muscles and fat inside."""
    report: Path | None = None
    """Folder for a report: a page with pictures and figures."""


@dataclass(frozen=True)
class AvatarMade:
    """What came of it."""

    out: Path
    """The file that was written."""
    manifest: Path
    """Its manifest."""
    remarks: tuple[str, ...]
    """What was found and done, in words."""
    mean_distance_mm: float
    """Mean distance of the scan from the registered mesh, outliers left out."""
    median_distance_mm: float
    """Median distance of all points."""
    outlier_share: float
    """Share of points further than a centimetre."""
    coverage: float
    """Share of the body that the scan shows."""
    parts: Mapping[str, Mapping[str, float | None]]
    """By part: `distance_mm` and `coverage`."""
    unsound_triangles: int
    """Folded or crossing triangles, beyond the model's own."""
    sex: str
    """As said, or as the shape tells."""
    measurements: Mapping[str, float]
    """SI units."""
    intervals: Intervals
    """In which 90 % of such people's true measurements lie, and their fat and muscle mass, kg."""
    filled: tuple[str, ...]
    """Parts of which the scan shows less than half: the model filled them in."""
    seconds: Mapping[str, float]
    """Of every stage."""
    files: tuple[Path, ...] = ()
    """Textures and reports that were written beside."""


def make_avatar(config: AvatarConfig, say: Callable[[str], None]) -> AvatarMade:
    """Register a scan and write the person, at rest or moving."""
    if config.motion is None:
        require_body_output(config.out)
    else:
        require_animation_output(config.out, None)
    raw = read_raw_scan(config.scan, config.landmarks)
    given = [config.scan] + ([config.landmarks] if config.landmarks else [])
    run = start_run("avatar", config, given)
    found = register_scan(raw, unit=config.unit, up=config.up, say=say)
    body, sex = body_of(found, config.sex, config.age)
    remarks = list(found.registered.remarks)
    layered = _layered(body, config, remarks) if config.layers else None
    filled = filled_parts(found)
    if filled:
        words = ", ".join(name.replace("_", " ") for name in filled)
        remarks.append(f"what the scan hardly shows was filled in by the model: {words}.")
    years = USUAL_AGE if config.age is None else config.age
    intervals = scan_intervals(body, found.registered.seen, sex, years)
    colours, texture, files = _coloured(raw, found, body, config.out)
    report = _written(config, body, layered, colours)
    if texture is not None and config.out.suffix.lower() == ".glb":
        embed_glb_texture(config.out, texture)
    if config.report is not None:
        person = {
            # fat and muscle are predicted, in the middle of their intervals
            name: (body.measurements.get(name, 0.5 * sum(both)), *both)
            for name, both in intervals.items()
        }
        files += write_report(config.report, found, config.scan.name, person)
    made = _made(config, found, body, sex, tuple(remarks), tuple(files), intervals)
    finish_run(run, [config.out], report | {"registration": _figures(made)})
    return made


def body_of(
    found: RegisteredScan, sex: str | None = None, age: float | None = None
) -> tuple[Body, str]:
    """The measured person behind a registered scan, and its sex."""
    from corporeal.anthropometry.measure import measure

    if sex not in (None, "female", "male"):
        raise InputError(f"sex is {sex!r}; expected female or male.")
    model, registered = person_model(), found.registered
    if sex is None:
        sex = "male" if model.space.maleness(registered.shape) >= 0.5 else "female"
    identity = Identity(
        registered.identity.rest_vertices.astype(np.float32),
        registered.identity.joints.astype(np.float32),
        {
            "gender": np.asarray(1.0 if sex == "male" else 0.0),
            "age": np.asarray(USUAL_AGE if age is None else age),
        },
    )
    values = {name: float(v) for name, v in measure(identity).values.items()}
    return Body(model.template, identity, values), sex


def _layered(body: Body, config: AvatarConfig, remarks: list[str]) -> LayeredBody | None:
    try:
        layered, composition = fit_body_layers(body, age=config.age, name=str(config.scan))
    except CorporealError as error:
        remarks.append(f"no layers were fitted: {error}")
        return None
    remarks.append(
        f"layers were fitted: {composition.fat_mass:.1f} kg of fat and "
        f"{composition.muscle_mass:.1f} kg of muscle predicted."
    )
    return layered


def _coloured(
    raw: RawScan, found: RegisteredScan, body: Body, out: Path
) -> tuple[Float64[NumpyArray, "V 3"] | None, UInt8[NumpyArray, "s s 3"] | None, list[Path]]:
    """Linear RGB a vertex, the texture, and its file beside; None where the scan has no colour."""
    if found.surface.colours is None:
        return None, None, []
    from corporeal.geometry.surface import vertex_normals

    mesh, vertices = body.template.mesh, found.registered.vertices
    normals = vertex_normals(vertices, np.asarray(mesh.triangles))
    colours = linear_rgb(place_colours(found.surface, vertices, normals))
    if raw.texture is None:
        pixels = bake_texture(found.surface, mesh, vertices)
    else:
        place = found.placement
        pixels = carry_texture(raw, mesh, place.back(vertices), _REACH / place.unit_length)
    texture = out.with_name(out.stem + "_texture.png")
    write_png(texture, pixels)
    return colours, pixels, [texture]


def _written(
    config: AvatarConfig, body: Body, layered: LayeredBody | None, colours: NumpyArray | None
) -> dict[str, Any]:
    if config.motion is None:
        if config.out.suffix.lower() != ".npz":
            return write_body_result(config.out, body)
        if layered is not None:
            write_layers(config.out, layered)
        else:
            write_body(config.out, body)
        return {}
    deformer = config.deformer or ("layered" if layered is not None else "smpl")
    subject = body if layered is None else layered
    moved = animate_body(subject, config.motion, AnimateOptions(deformer=deformer), {})
    return write_animation_result(
        config.out, moved.animation, body.measurements, None, colours=colours
    )


def _made(
    config: AvatarConfig,
    found: RegisteredScan,
    body: Body,
    sex: str,
    remarks: tuple[str, ...],
    files: tuple[Path, ...],
    intervals: Intervals,
) -> AvatarMade:
    quality = found.registered.quality
    return AvatarMade(
        config.out,
        manifest_path(config.out),
        remarks,
        1e3 * quality.mean,
        1e3 * quality.median,
        quality.outliers,
        quality.coverage,
        part_rows(quality.parts),
        quality.unsound,
        sex,
        body.measurements,
        intervals,
        filled_parts(found),
        dict(found.registered.seconds),
        files,
    )


def filled_parts(found: RegisteredScan) -> tuple[str, ...]:
    """Parts of which a scan shows less than half; the insides of mouth and eyes are left out."""
    return tuple(
        name
        for name, (_, coverage) in found.registered.quality.parts.items()
        if coverage < _HARDLY and not any(inner in name for inner in _INNER)
    )


def part_rows(
    parts: Mapping[str, tuple[float, float]],
) -> dict[str, dict[str, float | None]]:
    """Distance (millimetres) and coverage by part; None where the scan shows nothing of it."""
    return {
        name: {
            "distance_mm": None if np.isnan(distance) else round(1e3 * distance, 3),
            "coverage": round(coverage, 3),
        }
        for name, (distance, coverage) in parts.items()
    }


def _figures(made: AvatarMade) -> dict[str, Any]:
    return {
        "mean_distance_mm": made.mean_distance_mm,
        "median_distance_mm": made.median_distance_mm,
        "outlier_share": made.outlier_share,
        "coverage": made.coverage,
        "parts": made.parts,
        "unsound_triangles": made.unsound_triangles,
        "sex": made.sex,
        "intervals": {name: list(both) for name, both in made.intervals.items()},
        "filled": list(made.filled),
        "remarks": list(made.remarks),
        "seconds": made.seconds,
    }
