"""One page that tells how well a scan was registered: pictures, distances by part, remarks."""

import html
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.formats.png import write_png
from corporeal.formats.registry import write_mesh
from corporeal.registration.coupled_stage import matches
from corporeal.registration.register import RegisteredScan
from corporeal.runtime.files import write_bytes
from corporeal.units import reading_unit

WORST_MM = 5.0
"""Distance at the end of the colour scale, millimetres."""
_SIZE = (520, 760)

Person = Mapping[str, tuple[float, float, float]]
"""Value, low and high of the person's measurements by name, SI units."""


def write_report(
    folder: Path, found: RegisteredScan, name: str, person: Person | None = None
) -> list[Path]:
    """Write page, picture, figures and registered mesh into a folder; gives back their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    picture, page = folder / "registration.png", folder / "index.html"
    figures, mesh = folder / "registration.json", folder / "registered.ply"
    write_png(picture, registration_picture(found))
    from corporeal.registration.person_model import person_model

    triangles = np.asarray(person_model().template.mesh.triangles)
    in_file = found.placement.back(found.registered.vertices)
    write_mesh(mesh, Mesh(in_file, triangles))
    content = report_figures(found)
    content["person"] = {
        key: {"value": value, "low": low, "high": high}
        for key, (value, low, high) in (person or {}).items()
    }
    write_bytes(figures, json.dumps(content, indent=2).encode())
    write_bytes(page, _page(content, name).encode())
    return [page, picture, figures, mesh]


def report_figures(found: RegisteredScan) -> dict[str, object]:
    """All figures of a registration; JSON values."""
    registered = found.registered
    quality = registered.quality
    parts = {
        name: {
            "distance_mm": None if np.isnan(distance) else round(1e3 * distance, 3),
            "coverage": round(coverage, 3),
        }
        for name, (distance, coverage) in quality.parts.items()
    }
    return {
        "mean_distance_mm": round(1e3 * quality.mean, 4),
        "median_distance_mm": round(1e3 * quality.median, 4),
        "outlier_share": round(quality.outliers, 5),
        "coverage": round(quality.coverage, 4),
        "unsound_triangles": quality.unsound,
        "parts": parts,
        "remarks": list(registered.remarks),
        "seconds": {stage: round(value, 3) for stage, value in registered.seconds},
    }


def registration_picture(found: RegisteredScan) -> NumpyArray:
    """Scan, registered skin, distances, and what the model filled in; front and back."""
    from corporeal.registration.person_model import person_model
    from corporeal.scene.colour_map import ColourScale

    registered, surface = found.registered, found.surface
    triangles = np.asarray(person_model().template.mesh.triangles)
    heading = _heading(registered.pose.joint_rotations[0])
    near = matches(registered.vertices, triangles, surface.points)
    distance = 1e3 * np.linalg.norm(surface.points - near.feet, axis=1)
    scale = ColourScale(0.0, WORST_MM, "distance", "mm")
    grey = np.full((len(surface.points), 3), 0.55)
    own = grey if surface.colours is None else surface.colours
    rows = []
    for turn in (heading, heading + np.pi):
        skin, shown = _skin_points(registered.vertices, triangles, registered.seen)
        panels = [
            _splat(surface.points, surface.normals, own, turn, surface.points),
            _splat(*skin, np.full((len(skin[0]), 3), 0.72), turn, surface.points),
            _splat(
                surface.points,
                surface.normals,
                _screen(scale.colours(distance)),
                turn,
                surface.points,
            ),
            _splat(*skin, np.where(shown[:, None], 0.72, [0.95, 0.6, 0.25]), turn, surface.points),
        ]
        rows.append(np.concatenate(panels, axis=1))
    return np.concatenate(rows, axis=0)


def _screen(linear: NumpyArray) -> NumpyArray:
    """sRGB of linear colours, about."""
    return np.clip(linear, 0.0, 1.0) ** (1.0 / 2.2)


def _heading(root: NumpyArray) -> float:
    from corporeal.geometry.rotations import matrix_from_axis_angle

    facing = matrix_from_axis_angle(np.asarray(root, np.float64))[:, 2]
    return float(np.arctan2(facing[0], facing[2]))


def _skin_points(
    vertices: NumpyArray, triangles: NumpyArray, seen: NumpyArray
) -> tuple[tuple[NumpyArray, NumpyArray], NumpyArray]:
    """Points spread over the registered skin with normals, and whether the scan shows them."""
    from corporeal.geometry.surface import triangle_area_vectors

    vectors = triangle_area_vectors(vertices, triangles)
    area = np.linalg.norm(vectors, axis=1)
    random = np.random.default_rng(0)
    count = 160_000
    chosen = np.searchsorted(np.cumsum(area), random.random(count) * area.sum())
    chosen = np.minimum(chosen, len(area) - 1)
    shares = random.dirichlet((1.0, 1.0, 1.0), count)
    points = np.einsum("nk,nkc->nc", shares, vertices[triangles[chosen]])
    normals = vectors[chosen] / np.maximum(area[chosen], 1e-30)[:, None]
    return (points, normals), seen[triangles[chosen]].mean(axis=1) > 0.5


def _splat(
    points: Float64[NumpyArray, "n 3"],
    normals: Float64[NumpyArray, "n 3"],
    colours: Float64[NumpyArray, "n 3"],
    turn: float,
    frame: Float64[NumpyArray, "m 3"],
) -> NumpyArray:
    """Points seen from where the body faces, nearest first, shaded by their normals."""
    width, height = _SIZE
    across = np.array([np.cos(turn), 0.0, -np.sin(turn)])
    towards = np.array([np.sin(turn), 0.0, np.cos(turn)])
    middle = 0.5 * (frame.min(axis=0) + frame.max(axis=0))
    spans = np.ptp(frame @ across), np.ptp(frame[:, 1])
    scale = 0.94 * min(width / max(spans[0], 1e-6), height / max(spans[1], 1e-6))
    column = np.rint(width / 2 + scale * ((points - middle) @ across)).astype(int)
    row = np.rint(height / 2 - scale * (points[:, 1] - middle[1])).astype(int)
    facing = normals @ towards
    light = np.clip(0.35 + 0.65 * np.abs(facing), 0.0, 1.0)
    depth = points @ towards
    image = np.full((height, width, 3), 255, np.uint8)
    shade = np.rint(255 * np.clip(colours * light[:, None], 0.0, 1.0)).astype(np.uint8)
    shown = np.flatnonzero(facing > 0.0)
    around = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    x = np.concatenate([column[shown] + dx for dx, _ in around])
    y = np.concatenate([row[shown] + dy for _, dy in around])
    # a point's own pixel wins over its neighbours' rims
    rim = np.repeat([0.004 * (dx != 0 or dy != 0) for dx, dy in around], len(shown))
    far = np.tile(depth[shown], len(around)) - rim
    order = np.argsort(far)
    order = order[(x[order] >= 0) & (x[order] < width) & (y[order] >= 0) & (y[order] < height)]
    image[y[order], x[order]] = shade[np.tile(shown, len(around))[order]]
    return image


def _measured(person: object) -> str:
    """A table of measurements with their intervals, in the units that people read them in."""
    if not isinstance(person, dict) or not person:
        return ""
    rows = []
    for name, row in person.items():
        factor, unit, decimals = reading_unit(name)
        value, low, high = (f"{factor * row[key]:.{decimals}f}" for key in ("value", "low", "high"))
        rows.append(
            f"<tr><td>{html.escape(name.replace('_', ' '))}, {unit}</td><td>{value}</td>"
            f"<td>{low} to {high}</td></tr>"
        )
    head = "<tr><th>of the person</th><th>value</th><th>90 % of such people</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _page(content: dict[str, object], name: str) -> str:
    parts = content["parts"]
    assert isinstance(parts, dict)
    rows = "".join(
        f"<tr><td>{html.escape(part.replace('_', ' '))}</td>"
        f"<td>{'–' if row['distance_mm'] is None else format(row['distance_mm'], '.2f')}</td>"
        f"<td>{100 * row['coverage']:.0f} %</td></tr>"
        for part, row in parts.items()
    )
    remarks = content["remarks"]
    seconds = content["seconds"]
    assert isinstance(remarks, list)
    assert isinstance(seconds, dict)
    said = "".join(f"<li>{html.escape(str(remark))}</li>" for remark in remarks)
    took = ", ".join(f"{html.escape(stage)} {value:.1f} s" for stage, value in seconds.items())
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>Registration of {html.escape(name)}</title>"
        "<style>body{font:15px/1.5 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
        "img{max-width:100%}table{margin-bottom:1.5rem}"
        "td,th{padding:.1rem 1rem .1rem 0;text-align:left}</style>"
        f"<h1>Registration of {html.escape(name)}</h1>"
        f"<p>Mean distance {content['mean_distance_mm']:.2f} mm, median "
        f"{content['median_distance_mm']:.2f} mm; "
        f"{100 * float(str(content['outlier_share'])):.1f} % of the points are further than a "
        f"centimetre; the scan shows {100 * float(str(content['coverage'])):.0f} % of the body; "
        f"{content['unsound_triangles']} folded or crossing triangles.</p>"
        "<img src='registration.png' alt='scan, registered skin, distances, filled parts'>"
        "<p>From left: the scan; the registered skin; distances from 0 to "
        f"{WORST_MM:g} mm; in orange, what the scan does not show and the model filled in.</p>"
        f"<table><tr><th>part</th><th>distance, mm</th><th>shown</th></tr>{rows}</table>"
        f"{_measured(content['person'])}<ul>{said}</ul><p>{took}</p></html>\n"
    )
