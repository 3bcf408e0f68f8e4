"""Builds the BlendSCAPE and the Dyna that ship, from the SMPL and the DMPL that ship.

    python tools/build_blendscape.py
    python tools/build_blendscape.py --dyna-only       after another DMPL, with what ships

Pose deformations are learned from SMPL's surfaces of some people in poses of the library's motions
(no captures of many poses were at hand), shapes from people of the body's sliders. Poses and people
that were left out say how far it is from SMPL, and how far linear blending and dual quaternions
are. Dyna's components are the triangle deformations of the DMPL's blend shapes in the rest pose,
exactly so, and its predictors the DMPL's. Writes `blendscape.npz.xz`, `dyna.npz.xz` and the
manifests that vouch for them.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from build_dynamics import MOST, build, build_blendscape
from provenance import PACKAGE_DATA

from corporeal.assets.learned_blendscape import learned_blendscape
from corporeal.assets.learned_dynamics import learned_dmpl
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Subject, Take, Truth
from corporeal.body.triangle_model import TriangleModel
from corporeal.formats.blendscape import read_blendscape, write_blendscape
from corporeal.models.blendscape.model import BlendScape
from corporeal.models.blendscape.train import BlendScapeTrainer
from corporeal.models.blendscape.triangles import DeformedTriangles, triangle_frames
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.motions.library import MOTIONS, make_motion
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.linear import LinearBlendSkinning

STEP = 1e-3
"""Of the derivative of triangles by a blend shape, which is linear but for their normals."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=6, help="whose poses are learned from")
    parser.add_argument("--poses", type=int, default=30, help="of each")
    parser.add_argument("--shapes", type=int, default=40, help="people of the shape space")
    parser.add_argument("--rounds", type=int, default=1, help="corrections after the regression")
    parser.add_argument("--components", type=int, default=40, help="of Dyna, at most")
    parser.add_argument("--model", type=Path, default=Path("blendscape.npz"), help="kept here")
    parser.add_argument("--dyna-only", action="store_true", help="leave the BlendSCAPE as it is")
    parser.add_argument("--most", type=int, default=MOST, help="bytes of an asset at most")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    if arguments.dyna_only:
        arguments.model = PACKAGE_DATA / "blendscape.npz.xz"
        build_dyna(learned_blendscape(), arguments)
        return
    body = PhenotypeModel()
    if not arguments.model.is_file():
        train(body, arguments)
    model = read_blendscape(arguments.model)
    report = errors(body, model)
    print(report)
    build_blendscape(arguments.model, arguments.out, report)
    build_dyna(model, arguments)


def train(body: PhenotypeModel, arguments: argparse.Namespace) -> None:
    """Learn pose deformations and shapes, and write the whole model."""
    smpl, random = SmplSkinning(body.template), np.random.default_rng(0)
    begun = time.process_time()
    people = {f"p{n}": somebody(body, random) for n in range(arguments.people)}
    takes = []
    for name, who in people.items():
        pose = some_poses(body, who, random, arguments.poses)
        skin = np.asarray(smpl.vertices(who, pose), np.float32)
        takes.append(posed_take(name, skin, pose))
    rest = {f"s{n}": somebody(body, random) for n in range(arguments.shapes)}
    count = body.template.skeleton.joint_count
    zero = Pose(np.zeros((1, count, 3), np.float32), np.zeros((1, 3), np.float32))
    shapes = [posed_take(n, np.asarray(w.rest_vertices, np.float32)[None], zero)
              for n, w in rest.items()]  # fmt: skip
    made = BlendScapeTrainer(shape_count=10, rounds=arguments.rounds).fit(
        held(body, takes, people), held(body, shapes, rest), body.template
    )
    write_blendscape(arguments.model, made.model)
    print(f"trained in {time.process_time() - begun:.0f} CPU s")


def errors(body: PhenotypeModel, model: TriangleModel) -> dict[str, Any]:
    """Mean distance to SMPL's surface of three new people in new poses, millimetres."""
    template, random = body.template, np.random.default_rng(9)
    truth = SmplSkinning(template)
    tried = {"blendscape": BlendScape(template, model), "lbs": LinearBlendSkinning(template),
             "dqs": DualQuaternionSkinning(template)}  # fmt: skip
    rows: dict[str, list[float]] = {name: [] for name in tried}
    for _ in range(3):
        who = somebody(body, random)
        pose = some_poses(body, who, random, 12)
        skin = np.asarray(truth.vertices(who, pose))
        for name, deformer in tried.items():
            found = np.asarray(deformer.vertices(who, pose))
            rows[name].append(float(np.linalg.norm(found - skin, axis=-1).mean()))
    return {f"{name}_from_smpl_mm": round(1e3 * float(np.mean(r)), 2) for name, r in rows.items()}


def build_dyna(model: TriangleModel, arguments: argparse.Namespace) -> None:
    """Triangle deformations of the DMPL's blend shapes in the rest pose of the template."""
    dmpl = learned_dmpl()
    assert dmpl.predictors is not None
    triangles = DeformedTriangles(model)
    rest = np.asarray(model.template_vertices, np.float64)
    frames = triangle_frames(rest, model.triangles)
    rows = []
    for shape in np.asarray(dmpl.shapes, np.float64)[: arguments.components]:
        changed = (triangle_frames(rest + STEP * shape, model.triangles) - frames) / STEP
        rows.append((changed @ triangles.template_inverse).astype(np.float32))
    from build_dynamics import first

    facts = json.loads((PACKAGE_DATA / "dmpl.json").read_text())["reduction"]
    told = {"from": "the DMPL that ships", "takes": facts["takes"], "people": facts["people"]}
    kept = first(dmpl.predictors, len(rows))
    still = np.zeros(rows[0].shape, np.float32)
    build(arguments.model, "dyna", "deformations", 8, np.stack(rows), still, kept, arguments, told)


def somebody(body: PhenotypeModel, random: np.random.Generator) -> Identity:
    """A grown person of the sliders."""
    given = {name: float(random.uniform(0.15, 0.9)) for name in ("weight", "muscle", "gender")}
    who = body.prepare(given)
    return Identity(
        np.asarray(who.rest_vertices, np.float32), np.asarray(who.joints, np.float32), {}
    )


def some_poses(
    body: PhenotypeModel, who: Identity, random: np.random.Generator, count: int
) -> Pose:
    """Frames of the library's motions, drawn."""
    turns = []
    names = random.choice(list(MOTIONS), size=4)
    each = -(-count // len(names))
    for name in names:
        motion = make_motion(str(name), who, body.template)
        frames = random.integers(0, motion.frame_count, each)
        turns.append(np.asarray(motion.joint_rotations)[frames])
    rows = np.concatenate(turns)[:count].astype(np.float32)
    return Pose(rows, np.zeros((count, 3), np.float32))


def posed_take(name: str, skin: np.ndarray, pose: Pose) -> Take:
    """Registrations of one person."""
    return Take(name, "poses", 0.0, skin, Truth(pose.joint_rotations, pose.root_translation))


def held(body: PhenotypeModel, takes: list[Take], people: dict[str, Identity]) -> Registrations:
    """A set in memory."""
    mesh = body.template.mesh
    subjects = {name: Subject(name, who) for name, who in people.items()}
    return Registrations(
        "default body", np.asarray(mesh.triangles), mesh.vertex_count, tuple(takes), subjects
    )


if __name__ == "__main__":
    main()
