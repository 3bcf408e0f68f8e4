"""A picture of people of a store, standing in rows."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.appearance.dress import looks_of
from corporeal.appearance.random_looks import random_appearance
from corporeal.appearance.resolving import Wearer
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.formats.png import write_png
from corporeal.motions.library import make_motion
from corporeal.motions.posture import stoop_at
from corporeal.population.people_store import People
from corporeal.runtime.files import require_writable
from corporeal.scene.casting import Performance
from corporeal.scene.picture import at_rest, picture
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning

ROW: Final = 8
"""People side by side."""
TEXTURE: Final = 512
"""Texels along an edge of their skins: enough for small pictures."""
_WIDTH, _HEIGHT = 1120, 400
"""Of a row, pixels."""


def draw_people(people: People, path: str | Path, count: int = 24) -> None:
    """Write a PNG of the first `count` people, standing: sex, age and BMI below each."""
    require_writable(path)
    shown = range(min(count, people.count))
    rows = [_row(people, shown[first : first + ROW]) for first in range(0, len(shown), ROW)]
    write_png(path, np.concatenate(rows))


def _row(people: People, members: range) -> UInt8[NumpyArray, "H W 3"]:
    actors = [_performance(people, i) for i in members]
    return picture(actors, width=_WIDTH, height=_HEIGHT, azimuth=np.radians(12.0), samples=2)


def _performance(people: People, i: int) -> Performance:
    """One person, whose look depends on the crowd's seed and on its number alone."""
    template = load_default_body().template
    told = {"gender": np.float64(people.sex[i] == "male"), "age": np.float64(people.age[i])}
    body = replace(_standing(people.identity(i), float(people.age[i])), parameters=told)
    seed = 1000 * (people.seed or 0) + i
    appearance = random_appearance(seed, Wearer(float(told["gender"]), float(told["age"])))
    return Performance(
        at_rest(template, body),
        label=f"{people.sex[i][0]} {people.age[i]:.0f} y, BMI {people.bmi[i]:.0f}",
        looks=looks_of(template, body, appearance, TEXTURE),
    )


def _standing(identity: Identity, age: float) -> Identity:
    """The body with its arms down, its back as round as at its age."""
    template = load_default_body().template
    motion = make_motion("hips", identity, template, fps=10.0, duration=2.0, stoop=stoop_at(age))
    pose = Pose(motion.joint_rotations[0], motion.root_translation[0])
    skin = DualQuaternionSkinning(template).vertices(identity, pose)
    return Identity(np.asarray(skin), np.asarray(identity.joints), dict(identity.parameters))
