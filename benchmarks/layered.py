"""Layered against two-layer flesh: jiggle by region, strain over the ribs, and time a frame.

    python benchmarks/layered.py

Six people land from a jump to the left and twist their trunk, with both kinds of flesh; two-layer
flesh is the seed's, with one stiffness. Writes `benchmarks/results/layered.json`.
"""

import json
import os
import platform
import subprocess
import time
from pathlib import Path

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.anatomy.layered.bodies import LayeredBodies
from corporeal.anatomy.layered.deformer import LayeredSkinning
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
from corporeal.physics.projective.deformer import ProjectiveSkinning
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
    model = PhenotypeModel()
    report = {
        "commit": _commit(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "load": os.getloadavg()[0],
        "unit": "jiggle: mm, root mean square over a region, at its largest; strain: no unit",
        "speed": speed(model),
        "people": {name: person(model, *numbers) for name, numbers in PEOPLE.items()},
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def person(model: PhenotypeModel, gender: float, bmi: float, height: float) -> dict[str, object]:
    """Both kinds of flesh on one body."""
    identity = body_at_bmi(model, gender, bmi, height)
    layers = LayeredBodies(model.template).layers(identity, AGE)
    sex = "male" if gender >= 0.5 else "female"
    where = regions(layered_template(sex))
    found: dict[str, object] = {}
    shapes: dict[str, tuple[NumpyArray, NumpyArray]] = {}
    rest = np.asarray(identity.rest_vertices, np.float64)
    for name, deformer in kinds(model, layers).items():
        shapes[name] = (landed(deformer, identity), twisted(deformer, identity))
        off = np.linalg.norm(shapes[name][0] - rest, axis=-1)
        found[name] = {
            part: round(float(1e3 * np.sqrt((off[:, inside] ** 2).mean(axis=1)).max()), 1)
            for part, inside in where.items()
        }
    triangles = np.asarray(model.template.mesh.triangles)
    for number, what in enumerate(("jump", "twist")):
        for region in ("ribs", "upper ribs"):
            strains = [
                float(np.max(mean_strain(rest, shapes[name][number], triangles, where[region])))
                for name in shapes
            ]
            found[f"{what}, strain over the {region}"] = {
                "layered": round(strains[0], 4),
                "two-layer": round(strains[1], 4),
                "ratio": round(strains[0] / strains[1], 3),
            }
    return found


def kinds(model: PhenotypeModel, layers: Layers) -> dict[str, LayeredSkinning | ProjectiveSkinning]:
    return {
        "layered": LayeredSkinning(model.template, layers),
        "two-layer": ProjectiveSkinning(model.template),
    }


def controls(deformer: Deformer) -> dict[str, NumpyArray]:
    """None; two-layer flesh as the seed has it."""
    seed = {"tissue": np.array(0.0), "volume": np.array(0.0)}
    return seed if isinstance(deformer, ProjectiveSkinning) else {}


def landed(
    deformer: LayeredSkinning | ProjectiveSkinning, identity: Identity
) -> Float64[NumpyArray, "N V 3"]:
    """The skin in every frame of a landing, as seen from the skeleton, which does not bend."""
    motion = landing(deformer)
    skins = deformer.animate(identity, motion, controls(deformer)).vertices
    return np.asarray(skins, np.float64) - np.asarray(motion.root_translation)[:, None]


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


def twisted(
    deformer: LayeredSkinning | ProjectiveSkinning, identity: Identity
) -> Float64[NumpyArray, "V 3"]:
    """The skin in static balance with the trunk twisted."""
    skeleton = deformer.template.skeleton
    turns = np.zeros((skeleton.joint_count, 3))
    turns[[skeleton.index(name) for name in ("spine1", "spine2", "spine3")], 1] = TWIST / 3
    simulation = deformer.simulation(controls(deformer))
    return np.asarray(simulation.skin(simulation.start(identity, Pose(turns, np.zeros(3)))))


def regions(template: LayeredTemplate) -> dict[str, Bool[NumpyArray, "V"]]:
    """Parts of the skin, and skin with ribs straight beneath it, away from breasts."""
    from scipy.spatial import KDTree

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
