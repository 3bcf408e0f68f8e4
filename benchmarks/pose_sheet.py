r"""Sheets of poses: six people, twelve poses, by every kind of skinning, in static balance.

    python benchmarks/pose_sheet.py --out sheets [--people "slim woman"] [--poses arms-up]
        [--deformers lbs layered] [--close] [--no-girdle] [--stress-free t-pose]
    python benchmarks/pose_sheet.py --out sheets --close --overview docs/pictures/poses.png
    python benchmarks/pose_sheet.py --out sheets --close --people "average man" \
        --poses a-pose arms-down arms-up --girdles docs/pictures/girdle.png

Writes `<person>.png` for each person: a column a pose of `evaluation.held_poses.SHEET`, a row a
deformer; with `--overview` one picture with a row a person, by `--overview-deformer`. Shapes and
cells are kept in `<out>/kept` under a digest of everything that they come from: the person, the
pose, the deformer with its controls, the view and the code; so a run that was stopped goes on where
it was, and what did not change is not computed again. Underwear is painted on the skin as it is,
not draped over it. `--no-girdle` leaves the collar bones where they are in the T-pose; `--girdles`
writes a picture of the first person with rows without and with the girdle's rhythm.
"""

import argparse
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from layered import AGE, PEOPLE

import corporeal
from corporeal._typing import Float, NumpyArray, UInt8
from corporeal.anthropometry.corpulence import body_at_bmi, body_size
from corporeal.body.animation import Animation
from corporeal.body.deformer import Deformer
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.evaluation.held_poses import SHEET, joint_rotations
from corporeal.formats.png import read_png, write_png
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.girdle import with_girdle
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS, STRESS_FREE
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.results import attachments_of
from corporeal.scene.camera import Camera, direction_from, frame
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.text import Text, write_text

DEFORMERS = ("lbs", "dqs", "projective", "layered")
CODE = {
    "lbs": ("skinning",),
    "dqs": ("skinning",),
    "projective": ("skinning", "numerics", "geometry", "physics"),
    "layered": ("skinning", "numerics", "geometry", "physics", "anatomy"),
}
"""Folders of the package that a shape comes from."""
VIEWS: dict[str, tuple[str, float, float, float]] = {
    "a-pose": ("spine3", 0.62, 18.0, 8.0),
    "arms-down": ("spine3", 0.62, 18.0, 8.0),
    "arms-up": ("neck", 0.62, 18.0, 8.0),
    "arms-forward": ("left_shoulder", 0.6, 40.0, 15.0),
    "arms-crossed": ("spine3", 0.75, 15.0, 18.0),
    "hands-on-hips": ("spine2", 0.85, 18.0, 8.0),
    "deep-squat": ("left_hip", 0.9, 55.0, 8.0),
    "sitting": ("left_hip", 0.9, 55.0, 12.0),
    "kneeling": ("left_hip", 0.95, 70.0, 8.0),
    "high-kick": ("left_hip", 0.8, 60.0, 8.0),
    "toe-touch": ("spine1", 1.25, 75.0, 8.0),
    "torso-twist": ("spine2", 0.8, 18.0, 8.0),
}
"""Of every pose the joint at its fold, metres around it that a close view shows, and azimuth and
elevation of the camera, degrees."""
LENS = math.radians(24)
STRIP = 24
"""Height of a line of words, pixels."""


@dataclass(frozen=True)
class Kept:
    """A folder of results under the digest of what they come from."""

    folder: Path

    def shape(self, key: str, make: Callable[[], NumpyArray]) -> Float[NumpyArray, "V 3"]:
        """The skin under `key`, metres; made where it is not there yet."""
        path = self.folder / f"{key}.npy"
        if not path.exists():
            np.save(path.with_suffix(".part.npy"), make().astype(np.float32))
            path.with_suffix(".part.npy").rename(path)
        return np.load(path).astype(np.float64)

    def picture(self, key: str, make: Callable[[], NumpyArray]) -> UInt8[NumpyArray, "H W 3"]:
        """The picture under `key`."""
        path = self.folder / f"{key}.png"
        if not path.exists():
            write_png(path, make())
        return read_png(path)


@dataclass(frozen=True)
class Person:
    """One of `PEOPLE`."""

    name: str
    model: PhenotypeModel
    identity: Identity

    @staticmethod
    def called(name: str, model: PhenotypeModel) -> "Person":
        gender, bmi, stature = PEOPLE[name]
        return Person(name, model, body_at_bmi(model, gender, bmi, stature, AGE))

    def words(self) -> str:
        """Stature, BMI, and the sliders that are not as in the average adult."""
        stature, bmi = body_size(self.identity, self.model)
        usual = {row.name: row.default for row in self.model.parameters}
        given = {name: float(np.asarray(v)) for name, v in self.identity.parameters.items()}
        off = {name: v for name, v in given.items() if abs(v - usual.get(name, 0.0)) > 1e-6}
        sliders = ", ".join(f"{name} {value:.2f}" for name, value in off.items())
        return f"{self.name}: {stature:.2f} m, BMI {bmi:.1f}; {sliders}"

    def still(self, pose: str, girdle: bool) -> Motion:
        """The pose as a motion of one frame, on the person's own skeleton."""
        rest = self.model.template.skeleton
        skeleton = replace(rest, joints=np.asarray(self.identity.joints, np.float64))
        rotations = joint_rotations(rest, SHEET[pose])[None]
        motion = Motion(pose, 60.0, rotations, np.zeros((1, 3)), skeleton)
        return with_girdle(motion) if girdle else motion


@dataclass(frozen=True)
class Sheet:
    """How cells are made."""

    kept: Kept
    size: int
    girdle: bool
    collisions: str
    close: bool
    stress_free: str = "sculpted"

    def cell(self, person: Person, pose: str, name: str) -> UInt8[NumpyArray, "H W 3"]:
        """One body in one pose by one deformer; the camera is the same for all deformers."""
        motion = person.still(pose, self.girdle)
        skin, plain = self.skin(person, motion, name), _blended(person, motion)
        view = (VIEWS[pose], self.size, self.close)
        drawn = digest(skin, plain.vertices, view, code(("scene",)))
        return self.kept.picture(drawn, lambda: self._draw(person, plain, skin))

    def skin(self, person: Person, motion: Motion, name: str) -> Float[NumpyArray, "V 3"]:
        """The skin in static balance, metres."""
        controls = self._controls(name)
        identity = person.identity
        given = (identity.rest_vertices, identity.joints, motion.joint_rotations)
        key = digest(*given, name, sorted(controls.items()), code(CODE[name]))

        def make() -> NumpyArray:
            print(f"{person.name}, {motion.name}, {name}", flush=True)
            moved = deformer(name, person.model).animate(identity, motion, controls)
            return np.asarray(moved.vertices[0])

        return self.kept.shape(key, make)

    def _draw(
        self, person: Person, plain: Animation, skin: Float[NumpyArray, "V 3"]
    ) -> UInt8[NumpyArray, "H W 3"]:
        height = round(1.25 * self.size)
        parts = attachments_of(person.model.template, person.identity)
        actor = Wardrobe(Performance(plain, parts)).actor(0)
        body, *others = actor.surfaces
        actor = replace(actor, surfaces=(replace(body, vertices=skin), *others))
        camera = _camera(plain, self.size / height, self.close)
        scene = Scene((actor,), camera, ground_height=float(skin[:, 1].min()))
        return render(scene, self.size, height, samples=3, refinement=1)

    def _controls(self, name: str) -> dict[str, bool | str | float]:
        """Static balance, all else as it comes."""
        flesh = {"dynamics": False, "collisions": self.collisions}
        if name == "layered":
            return flesh | {"age": AGE}
        return flesh | {"stress_free": self.stress_free} if name == "projective" else {}


def _blended(person: Person, motion: Motion) -> Animation:
    return deformer("lbs", person.model).animate(person.identity, motion)


def _camera(plain: Animation, aspect: float, close: bool) -> Camera:
    """Sees the body as blended, whatever the deformer, or the surroundings of the pose's fold."""
    joint, metres, *angles = VIEWS[plain.motion.name]
    azimuth, elevation = (math.radians(angle) for angle in angles)
    if not close:
        points = np.asarray(plain.vertices[0], np.float64)
        return frame(points, aspect, azimuth=azimuth, elevation=elevation, margin=0.03)
    index = plain.template.skeleton.index(joint)
    target = np.asarray(plain.world_from_joint[0, index, :3, 3], np.float64)
    away = metres / aspect / (2 * math.tan(LENS / 2))
    eye = target + away * np.array(direction_from(azimuth, elevation))
    return Camera(tuple(eye), tuple(target), LENS)


@cache
def deformer(name: str, model: PhenotypeModel) -> Deformer:
    """One for all people and poses."""
    return make_deformer(name, model.template)


@cache
def code(folders: tuple[str, ...]) -> str:
    """Digest of the package's sources in these folders."""
    root = Path(corporeal.__file__).parent
    files = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    return digest(*(path.read_bytes() for path in files))


def digest(*parts: object) -> str:
    """Hexadecimal digest of arrays, bytes and words."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) or hasattr(part, "__array__"):
            part = np.ascontiguousarray(np.asarray(part, np.float32)).tobytes()
        total.update(part if isinstance(part, bytes) else repr(part).encode())
        total.update(b"|")
    return total.hexdigest()[:24]


def labelled(
    rows: Sequence[tuple[str, Sequence[UInt8[NumpyArray, "H W 3"]]]], poses: Sequence[str]
) -> UInt8[NumpyArray, "H W 3"]:
    """Rows of cells under a line of the poses' names; each row's name in its first cell."""
    width = rows[0][1][0].shape[1]
    letters = min(15.0, width / 9)
    top = np.full((STRIP, width * len(poses), 3), 255, np.uint8)
    names = [Text(p, (k + 0.5) * width, STRIP / 2, letters, "mm") for k, p in enumerate(poses)]
    strips = [write_text(top, names)]
    for name, cells in rows:
        strip = np.concatenate(list(cells), axis=1)
        strips.append(write_text(strip, [Text(name, 0.4 * letters, 0.4 * letters, letters, "la")]))
    return np.concatenate(strips)


def write_small(path: Path, pixels: UInt8[NumpyArray, "H W 3"]) -> None:
    """A PNG of 256 colours, less than half as large."""
    from PIL import Image

    Image.fromarray(pixels).quantize(256).save(path, format="PNG", optimize=True)


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the sheets")
    parser.add_argument("--people", nargs="+", choices=list(PEOPLE), default=list(PEOPLE))
    parser.add_argument("--poses", nargs="+", choices=list(SHEET), default=list(SHEET))
    parser.add_argument("--deformers", nargs="+", choices=DEFORMERS, default=list(DEFORMERS))
    parser.add_argument("--size", type=int, default=200, help="width of a cell, pixels")
    parser.add_argument("--close", action="store_true", help="show the fold of every pose alone")
    parser.add_argument("--collisions", choices=COLLISIONS, default="off", help="skin with skin")
    parser.add_argument(
        "--stress-free", choices=STRESS_FREE, default="sculpted", help="where flesh has no stress"
    )
    parser.add_argument("--no-girdle", action="store_true", help="collar bones stay as at rest")
    parser.add_argument("--girdles", type=Path, help="picture without and with the girdle's rhythm")
    parser.add_argument("--overview", type=Path, help="one picture with a row a person")
    parser.add_argument("--overview-size", type=int, default=104, help="width of its cells, pixels")
    parser.add_argument("--overview-deformer", choices=DEFORMERS, default="projective")
    return parser.parse_args()


def main() -> None:
    wanted = asked()
    kept = Kept(wanted.out / "kept")
    kept.folder.mkdir(parents=True, exist_ok=True)
    girdle, free = not wanted.no_girdle, wanted.stress_free
    sheet = Sheet(kept, wanted.size, girdle, wanted.collisions, wanted.close, free)
    small = replace(sheet, size=wanted.overview_size)
    model, overview = PhenotypeModel(), []

    def cells(how: Sheet, person: Person, name: str) -> list[UInt8[NumpyArray, "H W 3"]]:
        return [how.cell(person, pose, name) for pose in wanted.poses]

    for name in wanted.people:
        person = Person.called(name, model)
        print(person.words(), flush=True)
        rows = [(kind, cells(sheet, person, kind)) for kind in wanted.deformers]
        path = wanted.out / f"{name.replace(' ', '-')}.png"
        write_png(path, labelled(rows, wanted.poses))
        print(path, flush=True)
        if wanted.girdles and name == wanted.people[0]:
            ways = {"still": replace(sheet, girdle=False), "rhythm": replace(sheet, girdle=True)}
            pairs = [
                (f"{kind}, {way}", cells(how, person, kind))
                for kind in wanted.deformers
                for way, how in ways.items()
            ]
            write_small(wanted.girdles, labelled(pairs, wanted.poses))
            print(wanted.girdles, flush=True)
        if wanted.overview:
            overview.append((name, cells(small, person, wanted.overview_deformer)))
    if wanted.overview:
        write_small(wanted.overview, labelled(overview, wanted.poses))
        print(wanted.overview)


if __name__ == "__main__":
    main()
