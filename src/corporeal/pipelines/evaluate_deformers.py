"""Every deformer on the same captured takes: how near each comes to flesh that it has not seen.

Bodies at rest, poses and movement are the captures'; a deformer is told nothing else. Errors are of
the whole posed skin, by region; volume and penetration are of some frames; and the swing, where the
takes have quasi-static twins, is what dynamics lack (`evaluation.skin_distance`). Times are of the
process, all its threads together, and leave out what is prepared once a person.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Bool, Float32, Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.body import Body
from corporeal.body.deformer import Deformer
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Subject, Take
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.dynamics.blend_shapes import BlendShapeDynamics
from corporeal.dynamics.training import motion_of
from corporeal.errors import InputError
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.evaluation.skin_distance import (
    distances,
    entered,
    swing_left,
    vertical_match,
    volumes,
)
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.deformers import deformer_class, deformer_names, is_ready, make_deformer
from corporeal.pipelines.dynamics_bench import REGIONS
from corporeal.pipelines.layered_body import USUAL_AGE, layers_for
from corporeal.pipelines.packed_dataset import Carrier
from corporeal.runtime.files import make_folder, write_bytes
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

REPORT = "deformers.json"
PARTS = {
    **REGIONS,
    "trunk": ("neck", "chest", "back", "hips"),
    "arms": ("left_shoulder", "right_shoulder", "left_upper_arm", "right_upper_arm",
             "left_forearm", "right_forearm"),
    "shins": ("left_shin", "right_shin"),
    "ends": ("head", "left_hand", "right_hand", "left_foot", "right_foot"),
}  # fmt: skip
"""Parts of the body whose errors are told apart."""
UP_AND_DOWN = ("belly", "breasts")
"""Regions whose vertical motion is compared."""
_FIRST = 2
"""Frames that are moved beforehand, so that what is prepared once is not timed."""
ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class EvaluateDeformersConfig:
    """Takes, deformers, and where the report goes."""

    test: Path
    """Captured takes with their poses: a Zarr store or a packed set."""
    report: Path
    """Folder to write the report into."""
    deformers: tuple[str, ...] = ()
    """Names; all that work as they are if left out."""
    every: int = 30
    """Frames from one whose volume and penetration are measured to the next; 0 for none."""
    swings: bool = True
    """Also move what has a memory without it, to tell its swing; physics takes as long again."""


@dataclass(frozen=True)
class EvaluatedDeformers:
    """What came of it."""

    page: Path
    """The report (JSON)."""
    manifest: Path
    """Its manifest."""
    notes: tuple[str, ...]
    """What was assumed, in words."""
    report: dict[str, Any]
    """All figures; JSON values, lengths in millimetres."""


def evaluate_deformers(
    config: EvaluateDeformersConfig, callback: ProgressCallback | None = None
) -> EvaluatedDeformers:
    """Move everybody through every take with every deformer, and write the report."""
    tell = callback or (lambda _words: None)
    names = config.deformers or tuple(name for name in deformer_names() if is_ready(name))
    page = make_folder(config.report) / REPORT
    run = start_run("evaluate deformers", config, [config.test] if config.test.is_file() else [])
    held, template = read_dataset(config.test), load_default_body().template
    require_takes(config.test, held, template)
    rows: dict[str, dict[str, Any]] = {name: {} for name in ("truth", *names)}
    meters: dict[str, PenetrationMeter] = {}
    for take in held.takes:
        seen = _Seen.of(held, take, template, config.every, meters)
        rows["truth"][seen.name] = seen.facts
        for name in names:
            rows[name][seen.name] = _compared(name, seen, template, config.swings)
            tell(f"{seen.name}, {name}: {rows[name][seen.name]['mm']['all']:.2f} mm")
    truth = rows.pop("truth")
    report = {
        "takes": len(held.takes),
        "frames": held.frame_count,
        "people": list(dict.fromkeys(take.subject for take in held.takes)),
        "motions": list(dict.fromkeys(take.sequence for take in held.takes)),
        "truth": truth,
        "deformers": {name: {**summed(found), "by_take": found} for name, found in rows.items()},
    }
    write_bytes(page, (json.dumps(report, indent=1) + "\n").encode(), inside=config.report)
    finish_run(run, [page], report)
    return EvaluatedDeformers(page, manifest_path(page), (), report)


def require_takes(path: Path, held: Registrations, template: Template) -> None:
    """Refuse sets of another surface, without poses or without bodies at rest."""
    own = topology_hash(template.mesh.triangles, template.mesh.vertex_count)
    if held.topology_hash != own:
        raise InputError(
            f"{path} is of the surface {held.template} ({held.vertex_count} vertices); expected "
            f"takes of the default body's. Register its frames to that first."
        )
    for take in held.takes:
        subject = held.subjects.get(take.subject)
        if take.truth is None or subject is None or subject.identity is None or take.fps <= 0:
            raise InputError(
                f"{take.subject} {take.sequence} of {path} lacks a pose, a body at rest or a frame "
                f"rate; expected captured movements (corporeal capture --protocol dyna)."
            )


@dataclass(frozen=True, eq=False)
class _Seen:
    """A take, as deformers are compared with it."""

    name: str
    who: Subject
    identity: Identity
    motion: Motion
    skin: Float32[NumpyArray, "N V 3"]
    swing: Float32[NumpyArray, "N V 3"] | None
    some: slice
    """Frames whose volume and penetration are measured."""
    volume: Float64[NumpyArray, "n"]
    meter: PenetrationMeter
    regions: Mapping[str, Bool[NumpyArray, "V"]]

    @staticmethod
    def of(
        held: Registrations,
        take: Take,
        template: Template,
        every: int,
        meters: dict[str, PenetrationMeter],
    ) -> "_Seen":
        """Read all of it; `meters` are kept by person."""
        who, count = held.subjects[take.subject], take.frame_count
        assert who.identity is not None
        motion = motion_of(take, template.skeleton)
        skin = np.asarray(take.vertices[0:count], np.float32)
        twin = None if take.twin is None else np.asarray(take.twin.vertices[0:count], np.float32)
        some = slice(every // 2, None, every) if every else slice(0, 0)
        triangles = np.asarray(template.mesh.triangles)
        if who.name not in meters:
            rest = np.asarray(who.identity.rest_vertices, np.float64)
            meters[who.name] = PenetrationMeter(rest, triangles)
        labels, parts = np.asarray(template.part_labels), template.part_names
        regions = {
            name: np.isin(labels, [parts.index(part) for part in wanted])
            for name, wanted in PARTS.items()
        }
        return _Seen(
            f"{take.subject} {take.sequence}", who, who.identity, motion, skin,
            None if twin is None else skin - twin, some, volumes(skin[some], triangles),
            meters[who.name], regions,
        )  # fmt: skip

    @property
    def facts(self) -> dict[str, Any]:
        """What the capture itself is like."""
        return {
            "person": self.who.name,
            "motion": self.motion.name,
            **{k: v if isinstance(v, str) else round(float(v), 3)
               for k, v in self.who.facts.items() if k in ("sex", "age", "stature", "mass")},
            "volume_l": _rounded(1e3 * self.volume.mean()) if len(self.volume) else None,
            **self._inside(self.skin[self.some]),
        }  # fmt: skip

    def measured(self, found: Float32[NumpyArray, "N V 3"]) -> dict[str, Any]:
        """Errors of somebody's skin."""
        triangles = np.asarray(self._triangles)
        apart = distances(found, self.skin, self.regions)
        change = volumes(found[self.some], triangles) / self.volume - 1.0
        return {
            "mm": {name: _rounded(1e3 * value) for name, value in apart.items()},
            "volume_percent": _rounded(100 * change.mean()) if len(change) else None,
            "volume_off_percent": _rounded(100 * np.abs(change).mean()) if len(change) else None,
            **self._inside(found[self.some]),
        }

    def swing_mm(self, swing: Float32[NumpyArray, "N V 3"] | None) -> dict[str, float]:
        """What is left of the swing; empty without a twin."""
        if self.swing is None:
            return {}
        left = swing_left(swing, self.swing, self.regions)
        return {name: _rounded(1e3 * value) for name, value in left.items()}

    def vertical(self, swing: Float32[NumpyArray, "N V 3"] | None) -> dict[str, dict[str, float]]:
        """How belly and breasts go up and down beyond the twin; empty without swings."""
        if swing is None or self.swing is None:
            return {}
        matches = {
            name: vertical_match(swing, self.swing, self.regions[name]) for name in UP_AND_DOWN
        }
        return {
            name: {
                "correlation": _rounded(found.correlation),
                "amplitude": _rounded(found.amplitude),
                "lag": found.lag,
            }
            for name, found in matches.items()
        }

    def oracle_mm(self, deformer: Deformer) -> dict[str, float]:
        """What the best coefficients of a deformer's blend shapes leave of the swing; empty where
        there are none."""
        if self.swing is None or not isinstance(deformer, BlendShapeDynamics):
            return {}
        offsets = self._rest(self.skin) - self._rest(self.skin - self.swing)
        shapes = np.asarray(deformer.shapes, np.float64)
        flat = np.linalg.qr(shapes.reshape(len(shapes), -1).T)[0]
        rows = offsets.reshape(len(offsets), -1).astype(np.float64)
        best = ((rows @ flat) @ flat.T).reshape(offsets.shape)
        left = swing_left(best, offsets, self.regions)
        return {name: _rounded(1e3 * value) for name, value in left.items()}

    def _rest(self, skins: Float32[NumpyArray, "N V 3"]) -> Float32[NumpyArray, "N V 3"]:
        """Offsets in the rest pose of skins of the take's poses."""
        pose = Pose(
            np.asarray(self.motion.joint_rotations, np.float32),
            np.asarray(self.motion.root_translation, np.float32),
        )
        carried = Carrier(load_default_body().template).to_rest(self.identity, pose, skins)
        return carried.reshape(skins.shape)

    def _inside(self, skins: NumpyArray) -> dict[str, Any]:
        if not len(skins):
            return {"deepest_mm": None, "vertices_inside": None}
        deepest, counts = entered(self.meter, skins)
        return {"deepest_mm": _rounded(1e3 * deepest.max()),
                "vertices_inside": _rounded(counts.mean())}  # fmt: skip

    @property
    def _triangles(self) -> NumpyArray:
        return self.meter.triangles


def _compared(name: str, seen: _Seen, template: Template, swings: bool) -> dict[str, Any]:
    """One deformer on one take."""
    began = time.process_time()
    deformer = made_for(name, seen.who, template)
    start = replace(
        seen.motion,
        joint_rotations=seen.motion.joint_rotations[:_FIRST],
        root_translation=seen.motion.root_translation[:_FIRST],
    )
    deformer.animate(seen.identity, start)
    prepared = time.process_time() - began
    began = time.process_time()
    deformer.animate(seen.identity, start)
    short = time.process_time() - began
    began = time.process_time()
    found = np.asarray(deformer.animate(seen.identity, seen.motion).vertices, np.float32)
    whole = time.process_time() - began
    swing = None
    if swings and deformer.stateful and seen.swing is not None:
        still = deformer.animate(seen.identity, seen.motion, {"dynamics": False})
        swing = found - np.asarray(still.vertices, np.float32)
    return {
        **seen.measured(found),
        "swing_mm": seen.swing_mm(swing) if swings or not deformer.stateful else {},
        "oracle_mm": seen.oracle_mm(deformer) if swings else {},
        "vertical": seen.vertical(swing),
        "prepare_cpu_s": round(prepared, 3),
        "frame_cpu_ms": round(1e3 * (whole - short) / (seen.motion.frame_count - _FIRST), 4),
    }


def made_for(name: str, who: Subject, template: Template) -> Deformer:
    """The deformer, with the person's own layers where it needs some."""
    if not deformer_class(name).needs_layers:
        return make_deformer(name, template)
    layers = who.layers
    if layers is None:
        assert who.identity is not None
        age = float(who.facts.get("age", USUAL_AGE))
        layers, _ = layers_for(None, Body(template, who.identity, {}), age)
    return make_deformer(name, template, layers=layers)


def summed(by_take: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Means over takes; of the deepest skin the largest."""
    rows = list(by_take.values())

    def mean(values: Sequence[float | None]) -> float | None:
        told = [value for value in values if value is not None]
        return _rounded(float(np.mean(told))) if told else None

    deepest = [row["deepest_mm"] for row in rows if row["deepest_mm"] is not None]
    return {
        "mm": {key: mean([row["mm"][key] for row in rows]) for key in rows[0]["mm"]},
        "swing_mm": {
            key: mean([row["swing_mm"].get(key) for row in rows]) for key in rows[0]["swing_mm"]
        },
        "oracle_mm": {
            key: mean([row["oracle_mm"].get(key) for row in rows]) for key in rows[0]["oracle_mm"]
        },
        "volume_percent": mean([row["volume_percent"] for row in rows]),
        "volume_off_percent": mean([row["volume_off_percent"] for row in rows]),
        "deepest_mm": max(deepest) if deepest else None,
        "vertices_inside": mean([row["vertices_inside"] for row in rows]),
        "frame_cpu_ms": float(np.median([row["frame_cpu_ms"] for row in rows])),
    }


def _rounded(value: float) -> float:
    return round(float(value), 3)
