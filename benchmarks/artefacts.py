"""What skinning does wrong at joints: volume and radius lost, by deformer.

    python benchmarks/artefacts.py --pictures docs/pictures

The default body bends elbow, knee and shoulder and twists its trunk, step by step up to the full
range. Volume is that of the union (`evaluation.union_volume`: where skin runs into skin it counts
once), so pushing flesh into flesh is no way of keeping it. Radius is the smallest mean radius of
the rings of skin around the joint, over the same ring's at rest. Projective skinning is measured as
Komaritzan 2022 has it, as it is by default (volume kept), and with global collisions too; in static
balance, and half a second of movement and a second of rest later. The bar, with collisions: a third
of linear blend skinning's volume error, both ways.
"""

import argparse
import json
import platform
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.evaluation.rings import SkinRing, cut_ring
from corporeal.evaluation.union_volume import union_volume
from corporeal.formats.png import write_png
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.results import attachments_of
from corporeal.scene.camera import Camera, direction_from
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.text import Text, write_text
from corporeal.skinning.kinematics import forward_kinematics

RESULTS = Path(__file__).parent / "results" / "artefacts.json"
PUBLISHED, DEFAULT, TOUCHING = "Komaritzan 2022", "projective", "projective, collisions global"
SETTINGS = {
    PUBLISHED: ProjectiveControls(volume=0.0, untangled=False, stress_free="t-pose"),
    DEFAULT: ProjectiveControls(),
    TOUCHING: ProjectiveControls(collisions="global"),
}
PICTURED = ("lbs", "dqs", DEFAULT, TOUCHING)
STRIP = 26
"""Height of the strip for labels beneath a picture, pixels."""
FPS, MOVING, RESTING = 30, 15, 30


@dataclass(frozen=True)
class Bend:
    """A joint (or several) that turns, and where to look."""

    name: str
    rotation_vectors: tuple[tuple[str, tuple[float, float, float]], ...]
    """Joints, and the axis that each turns about, scaled by its share of the angle."""
    degrees: tuple[float, ...]
    stations: tuple[tuple[str, str, float], ...]
    """Rings: from one joint to another, and the place between them."""
    look: tuple[float, float]
    """Azimuth and elevation of the camera, degrees."""
    width: float
    """Of the picture, metres."""
    centre: tuple[str, str, float]
    """Middle of the picture, between two joints."""


ARM, LEG = np.linspace(0.6, 1.0, 9), np.linspace(0.0, 0.4, 9)
BENDS = (
    Bend(
        "elbow",
        (("left_elbow", (0, -1, 0)),),
        (45, 90, 120, 145),
        tuple(("left_shoulder", "left_elbow", s) for s in ARM)
        + tuple(("left_elbow", "left_wrist", s) for s in LEG),
        (0, 55),
        0.3,
        ("left_shoulder", "left_elbow", 0.9),
    ),
    Bend(
        "knee",
        (("left_knee", (1, 0, 0)),),
        (45, 90, 120, 145),
        tuple(("left_hip", "left_knee", s) for s in ARM)
        + tuple(("left_knee", "left_ankle", s) for s in LEG),
        (80, 5),
        0.45,
        ("left_hip", "left_knee", 0.85),
    ),
    Bend(
        "shoulder",
        (("left_shoulder", (0, 0, -1)),),
        (-85, 45, 80),
        tuple(("left_shoulder", "left_elbow", s) for s in np.linspace(0.2, 0.7, 8)),
        (0, 5),
        0.42,
        ("left_shoulder", "left_elbow", 0.05),
    ),
    Bend(
        "torso-twist",
        tuple((name, (0, 1 / 3, 0)) for name in ("spine1", "spine2", "spine3")),
        (60, 90, 150),
        tuple(("spine1", "spine3", s) for s in np.linspace(-0.3, 0.6, 10)),
        (0, 5),
        0.65,
        ("spine1", "spine3", 0.5),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the largest angles")
    asked = parser.parse_args()
    model = PhenotypeModel()
    identity = model.prepare()
    stage = Stage(model, identity)
    rows = []
    for bend in BENDS:
        posed_vertices: dict[str, np.ndarray] = {}
        for degrees in bend.degrees:
            posed_vertices = stage.posed_vertices(bend, degrees)
            rows.append(stage.row(bend, degrees, posed_vertices))
            print(json.dumps(rows[-1]), flush=True)
        if asked.pictures:
            shown = stage.picture(bend, bend.degrees[-1], posed_vertices)
            write_png(asked.pictures / f"{bend.name}.png", shown)
    report = {
        "commit": commit(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "settings": {name: asdict(settings) for name, settings in SETTINGS.items()},
        "within_a_third_of_lbs": all(row["within_a_third_of_lbs"] for row in rows),
        "poses": rows,
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")


class Stage:
    """The default body, and how every deformer moves it."""

    def __init__(self, model: PhenotypeModel, identity: Identity) -> None:
        self.template, self.identity = model.template, identity
        self.attachments = attachments_of(model.template, identity)
        self.rest = np.asarray(identity.rest_vertices, np.float64)
        self.joints = np.asarray(identity.joints, np.float64)
        self.triangles = np.asarray(model.template.mesh.triangles)
        self.volume = union_volume(self.rest, self.triangles)
        self._preparations = Preparations(model.template)

    def posed_vertices(self, bend: Bend, degrees: float) -> dict[str, np.ndarray]:
        """The skin in a pose, by deformer."""
        pose = self._pose(bend, degrees)
        motion = Motion(
            bend.name,
            FPS,
            pose.joint_rotations[None],
            pose.root_translation[None],
            self.template.skeleton,
        )
        posed_vertices = {}
        for name in ("lbs", "dqs"):
            moved = make_deformer(name, self.template).animate(self.identity, motion)
            posed_vertices[name] = np.asarray(moved.vertices[0], np.float64)
        for name, settings in SETTINGS.items():
            simulation = ProjectiveSimulation(
                self.template, settings, preparations=self._preparations
            )
            posed_vertices[name] = simulation.skin(simulation.start(self.identity, pose))
            if name != PUBLISHED:
                posed_vertices[f"{name}, settled"] = self._settled(simulation, bend, degrees)
        return posed_vertices

    def row(
        self, bend: Bend, degrees: float, posed_vertices: dict[str, np.ndarray]
    ) -> dict[str, object]:
        """Volume errors in millilitres and least radii over those at rest."""
        change = {
            name: 1e6 * (union_volume(skin, self.triangles) - self.volume)
            for name, skin in posed_vertices.items()
        }
        least = abs(change["lbs"]) / 3
        ours = [abs(change[name]) for name in (TOUCHING, f"{TOUCHING}, settled")]
        return {
            "bend": bend.name,
            "degrees": degrees,
            "volume_change_ml": {name: round(value, 1) for name, value in change.items()},
            "least_radius": {
                name: round(min(self._radii(bend, skin)), 3)
                for name, skin in posed_vertices.items()
            },
            "of_lbs": round(max(ours) / abs(change["lbs"]), 3),
            "within_a_third_of_lbs": max(ours) < least,
        }

    def picture(
        self, bend: Bend, degrees: float, posed_vertices: dict[str, np.ndarray]
    ) -> np.ndarray:
        """Four deformers side by side, close up, with their names beneath."""
        size, panels = 320, []
        for name in PICTURED:
            target = self._place(bend.centre)
            azimuth, elevation = np.radians(bend.look)
            away = np.asarray(direction_from(azimuth, elevation))
            field = np.radians(20)
            eye = target + away * 0.5 * bend.width / np.tan(field / 2)
            camera = Camera(tuple(eye.tolist()), tuple(target.tolist()), float(field))
            moved = self._animation(bend, degrees, posed_vertices[name])
            actor = Wardrobe(Performance(moved, self.attachments)).actor(0)
            shown = render(
                Scene([actor], camera, ground_height=None), size, size, samples=3, refinement=1
            )
            strip = np.full((STRIP, size, 3), 255, np.uint8)
            label = write_text(strip, [Text(name, size / 2, STRIP / 2, 15, "mm")])
            panels.append(np.concatenate([shown, label]))
        return np.concatenate(panels, axis=1)

    def _settled(self, simulation: ProjectiveSimulation, bend: Bend, degrees: float) -> np.ndarray:
        state = simulation.start(self.identity)
        for frame in range(MOVING + RESTING):
            share = min(1.0, (frame + 1) / MOVING)
            state = simulation.step(state, self._pose(bend, share * degrees), 1 / FPS)
        return simulation.skin(state)

    def _pose(self, bend: Bend, degrees: float) -> Pose:
        rotations = np.zeros((len(self.joints), 3))
        for name, axis in bend.rotation_vectors:
            rotations[self.template.skeleton.index(name)] = np.radians(degrees) * np.asarray(axis)
        return Pose(rotations, np.zeros(3))

    def _place(self, station: tuple[str, str, float]) -> np.ndarray:
        start, end = (self.joints[self.template.skeleton.index(name)] for name in station[:2])
        return start + station[2] * (end - start)

    def _rings(self, bend: Bend) -> list[SkinRing]:
        rings = []
        for first, second, share in bend.stations:
            along = self._place((first, second, 1.0)) - self._place((first, second, 0.0))
            origin = self._place((first, second, share))
            rings.append(cut_ring(self.rest, self.triangles, origin, along))
        return rings

    def _radii(self, bend: Bend, skin: np.ndarray) -> list[float]:
        return [ring.mean_radius(skin) / ring.mean_radius(self.rest) for ring in self._rings(bend)]

    def _animation(self, bend: Bend, degrees: float, skin: np.ndarray) -> Animation:
        """One frame: the skin as it is, and the joints, which eyes follow."""
        pose = self._pose(bend, degrees)
        rotations, root = pose.joint_rotations[None], pose.root_translation[None]
        motion = Motion(bend.name, 1.0, rotations, root, self.template.skeleton)
        frames = forward_kinematics(rotations, self.joints, self.template.skeleton.parents, root)
        return Animation(bend.name, self.template, self.identity, motion, skin[None], frames)


def commit() -> str:
    """The checkout's commit, for the record."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
