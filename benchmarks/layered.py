"""Layered against two-layer flesh: jiggle by region, strain over the ribs, and time a frame.

    python benchmarks/layered.py
    python benchmarks/layered.py --speed   # time alone, for a quiet machine; the rest stays

Six people land from a jump to the left and twist their trunk, with both kinds of flesh; two-layer
flesh is Komaritzan 2022's, with one stiffness. Strain is taken on the skin and on the muscle
surface beneath it; in two-layer flesh the latter is the same places inside its one layer. Writes
`benchmarks/results/layered.json`.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.anatomy.layered.bodies import LayeredBodies
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.anatomy.layered.mesh import LayeredMesh
from corporeal.anatomy.template import LayeredTemplate, layered_template
from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.body.deformer import Deformer
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.evaluation.skin_strain import mean_strain
from corporeal.geometry.surface import vertex_normals
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.tissue import bare_name

RESULTS = Path(__file__).parent / "results" / "layered.json"
PEOPLE = {
    "slim woman": (0.0, 18.5, 1.66),
    "average woman": (0.0, 23.0, 1.66),
    "heavy woman": (0.0, 34.0, 1.66),
    "slim man": (1.0, 19.5, 1.78),
    "average man": (1.0, 24.0, 1.78),
    "heavy man": (1.0, 34.0, 1.78),
}
"""Gender, BMI in kg/m² and height in metres."""
PARTS = ("belly", "breast", "buttock", "thigh", "hips", "shin", "forearm", "upper_arm")
FPS, AGE = 60.0, 40.0
SPEED, STOP, SIDEWAYS = 2.0, 0.1, 0.4
"""A fall from 20 cm: m/s at touch-down, seconds in which the legs take it, and share of it to the
left. The body is stopped with 3.2 g at most."""
TWIST = 0.8
"""Radians from hips to shoulders, over the three joints between."""
UPPER = 0.8
"""Share of the rib cage's height, from above, that is measured on its own: flesh along its lower
edge hangs on the waist."""
BESIDE = 0.03
"""Metres around a breast in which skin hangs on it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--speed", action="store_true", help="measure time alone")
    model, timed = PhenotypeModel(), parser.parse_args().speed
    report: dict[str, object] = json.loads(RESULTS.read_text()) if timed else {}
    report["speed"] = {
        "commit": _commit(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "load": os.getloadavg()[0],
        **speed(model),
    }
    if not timed:
        report["commit"] = _commit()
        report["unit"] = (
            "jiggle: mm, root mean square over a region, at its largest; strain: no unit"
        )
        report["people"] = {name: person(model, *numbers) for name, numbers in PEOPLE.items()}
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def person(model: PhenotypeModel, gender: float, bmi: float, height: float) -> dict[str, object]:
    """Both kinds of flesh on one body."""
    identity = body_at_bmi(model, gender, bmi, height)
    layers = LayeredBodies(model.template).layers(identity, AGE)
    sex = "male" if gender >= 0.5 else "female"
    where = regions(layered_template(sex))
    found: dict[str, object] = {}
    moved: dict[str, tuple[Moved, Moved]] = {}
    for name, deformer in kinds(model, layers).items():
        moved[name] = (landed(deformer, identity), twisted(deformer, identity))
        posed_vertices = moved[name][0].posed_vertices()
        off = np.linalg.norm(posed_vertices - np.asarray(identity.rest_vertices), axis=-1)
        found[name] = {
            part: round(float(1e3 * np.sqrt((off[:, inside] ** 2).mean(axis=1)).max()), 1)
            for part, inside in where.items()
        }
    mesh = LayeredBodies(model.template, layers).prepared(identity, 3.0, AGE).mesh
    for number, what in enumerate(("jump", "twist")):
        pair = moved["layered"][number], moved["two-layer"][number]
        for region in ("ribs", "upper ribs"):
            found[f"{what}, skin over the {region}"] = _compared(
                skin_strain(each, identity, model, where[region]) for each in pair
            )
            found[f"{what}, muscle over the {region}"] = _compared(
                muscle_strains(*pair, mesh, identity, where[region])
            )
    return found


def _compared(strains: Iterable[float]) -> dict[str, float]:
    """Of layered and of two-layer flesh."""
    layered, two_layer = strains
    return {
        "layered": round(layered, 4),
        "two-layer": round(two_layer, 4),
        "ratio": round(layered / two_layer, 3),
    }


@dataclass(frozen=True)
class Moved:
    """Simulated vertices of N frames, as seen from the root."""

    body: SimulatedBody
    positions: Float64[NumpyArray, "N n 3"]

    def posed_vertices(self) -> Float64[NumpyArray, "N V 3"]:
        return np.asarray(self.body.skin(self.positions), np.float64)


def skin_strain(
    moved: Moved, identity: Identity, model: PhenotypeModel, region: Bool[NumpyArray, "V"]
) -> float:
    """Root mean square over the region, in the worst frame."""
    rest = np.asarray(identity.rest_vertices, np.float64)
    triangles = np.asarray(model.template.mesh.triangles)
    return float(np.max(mean_strain(rest, moved.posed_vertices(), triangles, region)))


def muscle_strains(
    layered: Moved,
    two_layer: Moved,
    mesh: LayeredMesh,
    identity: Identity,
    region: Bool[NumpyArray, "V"],
) -> tuple[float, float]:
    """The same of the muscle surface beneath the region, and of the same places in other flesh."""
    _, kept = KDTree(np.asarray(identity.rest_vertices)).query(layered.body.surface.vertices)
    inside = region[kept] & mesh.layered
    chosen = np.flatnonzero(inside[mesh.members])
    row = np.full(mesh.skin_count, -1)
    row[mesh.members[chosen]] = np.arange(len(chosen))
    triangles = row[mesh.triangles]
    triangles = triangles[(triangles >= 0).all(axis=1)]
    places = mesh.skin_count + chosen
    rest, everywhere = mesh.rest[places], np.ones(len(chosen), bool)
    surfaces = (layered.positions[:, places], carried_along(rest, two_layer))
    first, second = (
        float(np.max(mean_strain(rest, surface, triangles, everywhere))) for surface in surfaces
    )
    return first, second


def carried_along(
    points: Float64[NumpyArray, "p 3"], moved: Moved, near: int = 40
) -> Float64[NumpyArray, "N p 3"]:
    """Points of the rest shape that go with the tetrahedron that holds them, or nearly so."""
    tetrahedra = np.asarray(moved.body.model.tetrahedra)
    corners = moved.body.rest[tetrahedra]
    candidates = np.asarray(KDTree(corners.mean(axis=1)).query(points, k=near)[1])
    sides = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)[candidates]
    away = points[:, None] - corners[candidates][:, :, 0]
    last = np.linalg.solve(sides, away[..., None])[..., 0]
    shares = np.concatenate([1.0 - last.sum(axis=-1, keepdims=True), last], axis=-1)
    best = shares.min(axis=-1).argmax(axis=1)
    each = np.arange(len(points))
    # x_p = Σ_k share_pk x_(corner k)
    return np.einsum(
        "pk,npkd->npd", shares[each, best], moved.positions[:, tetrahedra[candidates[each, best]]]
    )


def kinds(model: PhenotypeModel, layers: Layers) -> dict[str, LayeredSkinning | ProjectiveSkinning]:
    return {
        "layered": LayeredSkinning(model.template, layers),
        "two-layer": ProjectiveSkinning(model.template),
    }


def controls(deformer: Deformer) -> dict[str, NumpyArray]:
    """None; two-layer flesh as Komaritzan 2022 has it."""
    seed = {"tissue": np.array(0.0), "volume": np.array(0.0)}
    return seed if isinstance(deformer, ProjectiveSkinning) else {}


def landed(deformer: LayeredSkinning | ProjectiveSkinning, identity: Identity) -> Moved:
    """Every frame of a landing, as seen from the skeleton, which does not bend."""
    motion, simulation = landing(deformer), deformer.simulation(controls(deformer))
    body = simulation.body(identity)
    clip = make_clip(simulation, BoundEnvironment(body), identity, motion)
    path = body.frames(clip.poses)
    flesh = clip.beginning(path)
    positions = [flesh.positions]
    for start in range(0, len(path) - 1, clip.steps):
        way = path[start : start + clip.steps + 1]
        flesh = simulation.advance(clip.outside, flesh, way, clip.step, start * clip.step)
        positions.append(flesh.positions)
    return Moved(body, np.stack(positions) - np.asarray(motion.root_translation)[:, None])


def landing(deformer: Deformer, frames: int = 24, fall: int = 6) -> Motion:
    """Down and to the left at a constant speed for `fall` frames, then stopped by half a sine."""
    fine = 100
    time = np.arange(frames * fine) / (FPS * fine) - fall / FPS
    braking = (time >= 0) & (time < STOP)
    push = np.where(braking, SPEED * np.pi / (2 * STOP) * np.sin(np.pi * time / STOP), 0.0)
    speed = np.cumsum(push) / (FPS * fine) - SPEED
    height = (np.cumsum(speed) / (FPS * fine))[::fine]
    root = np.stack([-SIDEWAYS * height, height, 0.0 * height], axis=1)
    skeleton = deformer.template.skeleton
    return Motion("landing", FPS, np.zeros((frames, skeleton.joint_count, 3)), root, skeleton)


def twisted(deformer: LayeredSkinning | ProjectiveSkinning, identity: Identity) -> Moved:
    """In static balance with the trunk twisted."""
    skeleton = deformer.template.skeleton
    rotations = np.zeros((skeleton.joint_count, 3))
    rotations[[skeleton.index(name) for name in ("spine1", "spine2", "spine3")], 1] = TWIST / 3
    simulation = deformer.simulation(controls(deformer))
    flesh = simulation.start(identity, Pose(rotations, np.zeros(3))).flesh
    return Moved(simulation.body(identity), flesh.positions[None])


def regions(template: LayeredTemplate) -> dict[str, Bool[NumpyArray, "V"]]:
    """Parts of the skin, and skin with ribs straight beneath it, away from breasts."""
    names = np.array([bare_name(name) for name in template.body.part_names])
    parts = names[template.body.part_labels]
    bones = np.concatenate([bone.vertices for bone in template.bones])
    is_rib = np.concatenate(
        [np.full(len(bone.vertices), bone.name.startswith("torso_")) for bone in template.bones]
    )
    away, nearest = KDTree(bones).query(template.skin)
    way = (bones[nearest] - template.skin) / away[:, None]
    normals = vertex_normals(template.skin, template.triangles)
    beneath = is_rib[nearest] & (np.sum(way * normals, axis=1) < -np.cos(np.pi / 4))
    ribs = beneath & template.layered & np.isin(parts, ("chest", "back", "belly"))
    ribs &= KDTree(template.skin[parts == "breast"]).query(template.skin)[0] > BESIDE
    low, high = (f(bones[is_rib, 1]) for f in (np.min, np.max))
    upper = ribs & (template.skin[:, 1] > high - UPPER * (high - low))
    return {"ribs": ribs, "upper ribs": upper} | {part: parts == part for part in PARTS}


def speed(model: PhenotypeModel, frames: int = 90) -> dict[str, float]:
    """Milliseconds of a live step of 1/60 s with upsampling, the default man hopping."""
    identity = model.prepare({"gender": 1.0})
    deformer = LayeredSkinning(model.template)
    simulation = deformer.simulation()
    body, state = simulation.body(identity), simulation.start(identity)
    joints = model.template.skeleton.joint_count
    taken, work = [], []
    skin = simulation.skin(state)
    for frame in range(frames):
        root = np.array([0.0, 0.05 * np.sin(0.4 * frame), 0.0])
        start, busy = time.perf_counter(), time.process_time()
        state = simulation.step(state, Pose(np.zeros((joints, 3)), root), 1 / FPS)
        skin = simulation.skin(state)
        taken.append(1e3 * (time.perf_counter() - start))
        work.append(1e3 * (time.process_time() - busy))
    assert np.isfinite(skin).all()
    counted = taken[10:]
    return {
        "simulated_skin_vertices": body.surface.vertex_count,
        "skin_vertices": len(skin),
        "free_vertices": len(body.system.free),
        "tetrahedra": len(body.system.constraints[0].weights) // 3,
        "ms_least": round(min(counted), 2),
        "ms_median": round(float(np.median(counted)), 2),
        "fps_median": round(1e3 / float(np.median(counted)), 1),
        "processor_ms_median": round(float(np.median(work[10:])), 2),
    }


def _commit() -> str:
    asked = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
