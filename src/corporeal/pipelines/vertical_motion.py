"""How belly and breasts go up and down: what a viewer sees of dynamics, per take.

The mean offset of a region is turned by the bone that carries it; its vertical part, true and
predicted, is compared by correlation, amplitude and lag.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.dynamics.neural.features import bone_pose
from corporeal.dynamics.training import motion_of
from corporeal.evaluation.dynamics import signal_match
from corporeal.pipelines.dynamics_bench import REGIONS, Bench

CARRIED = {"belly": "spine1", "breasts": "spine3"}
"""Bone that carries each region."""


def vertical_matches(bench: Bench, found: Mapping[int, NumpyArray]) -> dict[str, Any]:
    """Of every test person's take (cases 3 and 4): correlation, amplitude and lag (frames), and
    how many takes meet 0.8, 0.7 to 1.3 and one frame."""
    made: dict[str, Any] = {}
    for region in CARRIED:
        rows: dict[str, list[float]] = {}
        for n in bench.tested:
            if bench.cases[n] < 3 or n not in found:
                continue
            true = vertical(bench, n, region, bench.deltas(n))
            match = signal_match(true, vertical(bench, n, region, found[n]))
            rows[bench.name(n)] = [
                round(match.correlation, 3), round(match.amplitude, 3), float(match.lag),
                round(1e3 * float(np.std(true)), 2),
            ]  # fmt: skip
        if not rows:
            continue
        values = np.array(list(rows.values()))
        good = (
            (values[:, 0] >= 0.8) & (np.abs(values[:, 1] - 1) <= 0.3) & (np.abs(values[:, 2]) <= 1)
        )
        made[region] = {
            "takes": len(rows),
            "median": [round(float(v), 3) for v in np.median(values, axis=0)[:3]],
            "correlation_0.8": int((values[:, 0] >= 0.8).sum()),
            "amplitude_0.7_to_1.3": int((np.abs(values[:, 1] - 1) <= 0.3).sum()),
            "lag_1": int((np.abs(values[:, 2]) <= 1).sum()),
            "all_three": int(good.sum()),
            "by_take": rows,
        }
    return made


def vertical(
    bench: Bench, n: int, region: str, deltas: Float64[NumpyArray, "N D"]
) -> Float64[NumpyArray, "N"]:
    """Mean vertical offset of a region in every frame, metres."""
    template = bench.static.template
    names, labels = template.part_names, np.asarray(template.part_labels)
    some = np.isin(labels, [names.index(part) for part in REGIONS[region]])
    mean = bench.shapes[:, some].mean(axis=1).astype(np.float64)
    take = bench.takes[n]
    motion: Motion = motion_of(take, template.skeleton)
    joints = np.asarray(bench.bodies[take.subject].joints, np.float64)
    bones = bone_pose(motion.poses, joints, template.skeleton.parents)
    turn = bones.rotations[:, template.skeleton.names.index(CARRIED[region])]
    return np.einsum("nj,nj->n", turn[:, 1], deltas @ mean)
