r"""Is flesh that is held in a pose right side out, and is it still? Forty poses and the zero pose,
five people.

    python benchmarks/held_poses.py [--people default "heavy woman"] [--deformers layered]
        [--contacts off global] [--poses deep-squat crouch] [--frames 60] [--no-untangled]

Flesh is started in static balance in a pose of `evaluation.held_poses` and held there, 60 frames a
second. `evaluation.flesh_health` judges the start and the worst of all frames; movement is how far
a skin vertex went in one frame, at most. What is held is left to itself: no ground, no collar
rhythm. Every case is kept in `--kept` (`build/held_poses`) under a digest of what it is and of the
code, so that a run that was stopped goes on where it was. Writes the cases asked for to `--out`.
"""

import argparse
import json
import platform
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path

import numpy as np
from layered import PEOPLE
from pose_sheet import Person, code, digest
from provenance import commit

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.evaluation.flesh_health import FleshHealth
from corporeal.evaluation.held_poses import HELD_POSES, joint_rotations
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS, ProjectiveControls
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "held_poses.json"
KEPT = ROOT / "build" / "held_poses"
DEFAULT = "default"
SUBJECTS = (DEFAULT, *(name for name in PEOPLE if not name.startswith("average")))
"""The average adult, and slim and heavy people of `layered.PEOPLE`."""
DEFORMERS = {"projective": ProjectiveSkinning, "layered": LayeredSkinning}
FPS, FRAMES = 60.0, 60
POSES = {"zero": {}} | HELD_POSES
LAST = 10
"""Frames at the end whose movement is listed on its own: what is left once flesh has settled."""

Row = dict[str, object]


@dataclass(frozen=True)
class Subject:
    """One person's flesh under some controls; made when a case asks for it."""

    model: PhenotypeModel
    person: str
    deformer: str
    contacts: str
    untangled: bool

    @cached_property
    def identity(self) -> Identity:
        if self.person == DEFAULT:
            return self.model.prepare()
        return Person.called(self.person, self.model).identity

    @cached_property
    def simulation(self) -> ProjectiveSimulation:
        controls = {"collisions": self.contacts, "untangled": self.untangled}
        return deformer(self.deformer, self.model).simulation(controls)

    @cached_property
    def health(self) -> FleshHealth:
        return FleshHealth(self.simulation.body(self.identity))

    def words(self) -> Row:
        """What the subject is."""
        return {
            "person": self.person,
            "deformer": self.deformer,
            "contacts": self.contacts,
            "untangled": self.untangled,
        }

    def held(self, name: str, frames: int) -> Row:
        """A pose held for some frames after its static balance."""
        rotations = joint_rotations(self.model.template.skeleton, POSES[name])
        state = self.simulation.start(self.identity, Pose(rotations, np.zeros(3)))
        shapes, skin, moved = [state.flesh.positions], self.simulation.skin(state), []
        for _ in range(frames):
            state, before = self.simulation.step(state, state.pose, 1.0 / FPS), skin
            skin = self.simulation.skin(state)
            moved.append(1e3 * float(np.linalg.norm(skin - before, axis=1).max()))
            shapes.append(state.flesh.positions)
        return {
            "start": looked_at(self.health, shapes[:1]),
            "held": looked_at(self.health, shapes),
            "largest_movement_mm": round(max(moved, default=0.0), 4),
            f"largest_movement_of_last_{LAST}_mm": round(max(moved[-LAST:], default=0.0), 4),
        }


@cache
def deformer(name: str, model: PhenotypeModel) -> ProjectiveSkinning | LayeredSkinning:
    """One for all people, so that what contacts do not change is prepared once."""
    return DEFORMERS[name](model.template)


def looked_at(health: FleshHealth, shapes: list[Float64[NumpyArray, "n 3"]]) -> Row:
    """The worst of some frames; crossings of the last one, since they take long."""
    found = [health.frame(positions) for positions in shapes]
    return {
        "inverted": max(frame.inverted for frame in found),
        "inverted_between_anchors": max(frame.hopeless for frame in found),
        "least_determinant": round(min(frame.least_determinant for frame in found), 4),
        "largest_stretch": round(max(frame.largest_stretch for frame in found), 4),
        "volume_changes": [
            round(min(frame.volume_changes[0] for frame in found), 4),
            round(max(frame.volume_changes[1] for frame in found), 4),
        ],
        "folded_edges": max(frame.folded_edges for frame in found),
        "crossing_triangle_pairs": health.crossings(shapes[-1]),
    }


def kept(folder: Path, subject: Subject, pose: str, frames: int, sources: str) -> Row:
    """The case as it was found before with the same code, or found now."""
    what = subject.words() | {"pose": pose, "frames": frames}
    path = folder / f"{digest(sorted(what.items()), sources)}.json"
    if not path.exists():
        row = what | subject.held(pose, frames)
        path.with_suffix(".part").write_text(json.dumps(row) + "\n")
        path.with_suffix(".part").rename(path)
    return json.loads(path.read_text())


def summary(row: Row) -> str:
    """One line a case."""
    held, names = row["held"], ("person", "deformer", "contacts", "pose")
    assert isinstance(held, dict)
    return (
        f"{', '.join(str(row[name]) for name in names)}: {held['inverted']} inverted, least J "
        f"{held['least_determinant']}, {held['crossing_triangle_pairs']} crossings, "
        f"{row['largest_movement_mm']} mm a frame"
    )


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--deformers", nargs="+", choices=DEFORMERS, default=list(DEFORMERS))
    parser.add_argument("--contacts", nargs="+", choices=COLLISIONS, default=list(COLLISIONS))
    parser.add_argument("--poses", nargs="+", choices=list(POSES), default=list(POSES))
    parser.add_argument("--frames", type=int, default=FRAMES, help="that a pose is held")
    parser.add_argument(
        "--untangled",
        action=argparse.BooleanOptionalAction,
        default=ProjectiveControls().untangled,
        help="elements stay right side out",
    )
    parser.add_argument("--kept", type=Path, default=KEPT, help="folder of cases already found")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON to write")
    return parser.parse_args()


def main() -> None:
    wanted = asked()
    wanted.kept.mkdir(parents=True, exist_ok=True)
    sources = digest(code(("",)), Path(__file__).read_bytes())
    model, rows = PhenotypeModel(), []
    for person, kind, contacts in product(wanted.people, wanted.deformers, wanted.contacts):
        subject = Subject(model, person, kind, contacts, wanted.untangled)
        for pose in wanted.poses:
            rows.append(kept(wanted.kept, subject, pose, wanted.frames, sources))
            print(summary(rows[-1]), flush=True)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    report = {"commit": commit(), "machine": machine, "fps": FPS, "cases": rows}
    wanted.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
