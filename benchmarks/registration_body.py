"""A real scanned body all the way: registered, layers fitted inside, a jump animated.

What `corporeal avatar` does, with what it must show measured: distances by part, unsound triangles,
how far muscle and bone surfaces reach through the skin, and how the flesh of the jump holds.
Pictures of the registration and of the jump go to --pictures.

    python benchmarks/registration_body.py ../shared/data/visible-human/VH_M_Skin.glb \\
        --sex male --pictures build/body --out benchmarks/results/registration_body.json
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results"


def through(layers) -> dict[str, float]:
    """How far, and at how many vertices, muscle and bone surfaces pass through the skin, mm."""
    from corporeal.registration.coupled_stage import matches

    skin, triangles = np.asarray(layers.skin, np.float64), np.asarray(layers.triangles)
    apart = np.asarray(layers.layered)
    found = {"layered_share": float(apart.mean())}
    for name in ("muscle", "bone"):
        places = np.asarray(getattr(layers, name), np.float64)[apart]
        near = matches(skin, triangles, places)
        outside = np.sum((places - near.feet) * near.normals, axis=1)
        found[f"{name}_outside_mm"] = round(1e3 * float(max(outside.max(), 0.0)), 3)
        found[f"{name}_outside_share"] = float((outside > 1e-4).mean())
        depth = -1e3 * outside
        found[f"{name}_depth_median_mm"] = round(float(np.median(depth)), 2)
    return found


def moved(animation, triangles) -> dict[str, float]:
    """What a broken animation would show: values, edges, triangles turned over between frames."""
    from corporeal.geometry.surface import unique_edges

    frames = np.asarray(animation.vertices, np.float64)
    edges = unique_edges(triangles)
    rest = np.linalg.norm(frames[0][edges[:, 0]] - frames[0][edges[:, 1]], axis=1)
    worst = 0.0
    for frame in frames[::3]:
        lengths = np.linalg.norm(frame[edges[:, 0]] - frame[edges[:, 1]], axis=1)
        worst = max(worst, float(np.percentile(lengths / np.maximum(rest, 1e-3), 99.9)))
    return {
        "frames": len(frames),
        "finite": float(np.isfinite(frames).all()),
        "edges_stretched_99.9": round(worst, 3),
    }


def main() -> None:
    """Register, flesh, move."""
    from corporeal.formats.png import write_png
    from corporeal.formats.raw_scans import read_raw_scan
    from corporeal.pipelines.anatomy import fit_body_layers
    from corporeal.pipelines.animate import animate_body
    from corporeal.pipelines.avatar import body_of, part_rows
    from corporeal.pipelines.options import AnimateOptions
    from corporeal.pipelines.registration_report import registration_picture
    from corporeal.pipelines.results import write_animation_result
    from corporeal.registration.register import register_scan

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("scan", type=Path)
    parser.add_argument("--sex", default=None)
    parser.add_argument("--motion", default="jumping-jacks")
    parser.add_argument("--pictures", type=Path, default=None, help="folder for pictures")
    parser.add_argument("--out", type=Path, default=RESULTS / "registration_body.json")
    given, version = parser.parse_args(), commit()
    clock = [time.process_time()]

    def spent() -> float:
        clock.append(time.process_time())
        return round(clock[-1] - clock[-2], 2)

    found = register_scan(read_raw_scan(given.scan))
    quality, seconds = found.registered.quality, {"registration": spent()}
    body, sex = body_of(found, given.sex)
    layered, asked = fit_body_layers(body, name=given.scan.name)
    seconds["layers"] = spent()
    row: dict[str, Any] = {
        "scan": given.scan.name,
        "commit": version,
        "mean_mm": round(1e3 * quality.mean, 3),
        "median_mm": round(1e3 * quality.median, 3),
        "outliers": round(quality.outliers, 5),
        "coverage": round(quality.coverage, 4),
        "unsound": quality.unsound,
        "sex": sex,
        "stature_m": round(body.measurements["stature"], 4),
        "mass_kg": round(body.measurements["mass"], 2),
        "fat_kg": round(asked.fat_mass, 2),
        "muscle_kg": round(asked.muscle_mass, 2),
        "layers": through(layered.layers),
        "parts": part_rows(quality.parts),
        "remarks": list(found.registered.remarks),
    }
    if given.pictures is not None:
        given.pictures.mkdir(parents=True, exist_ok=True)
        write_png(given.pictures / "registration.png", registration_picture(found))
    animation = animate_body(
        layered, given.motion, AnimateOptions(deformer="layered"), {}
    ).animation
    seconds["animation"] = spent()
    row["animation"] = moved(animation, np.asarray(body.template.mesh.triangles))
    if given.pictures is not None:
        write_animation_result(given.pictures / "jump.png", animation, body.measurements)
        write_animation_result(given.pictures / "jump.npz", animation, body.measurements)
    row["cpu_s"] = seconds
    given.out.write_text(json.dumps(row, indent=2) + "\n")
    print(json.dumps({k: v for k, v in row.items() if k != "parts"}, indent=2))


if __name__ == "__main__":
    main()
