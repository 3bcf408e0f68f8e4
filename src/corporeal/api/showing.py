"""Looking at things, in a notebook or outside one.

A view is a picture or a short film made by the package's own renderer and embedded as a data URI:
it plays in any notebook without network, extensions or scripts. (Measured for a take of 4 s: 0.13
MB of film, against 2.8 MB of a self-contained three.js page, which also would have to be baked.)
"""

import base64
import html
import tempfile
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.api.numbers import Number
from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.character import Character
from corporeal.body.identity import Identity
from corporeal.body.layered_body import LayeredBody
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.registrations import Registrations, Take
from corporeal.errors import InputError
from corporeal.geometry.rotations import axis_angle_from_quaternion
from corporeal.models.smpl.model import SmplModel
from corporeal.pipelines.anatomy_picture import draw_layers
from corporeal.pipelines.animate import animate_body
from corporeal.pipelines.dataset import animation_of
from corporeal.pipelines.make_body import shaped_body
from corporeal.pipelines.options import AnimateOptions
from corporeal.pipelines.people_sheet import draw_people
from corporeal.pipelines.results import write_body_result
from corporeal.pipelines.smpl_models import person_of
from corporeal.population.people_store import People
from corporeal.runtime.files import require_writable
from corporeal.scene.casting import Performance, is_default_body
from corporeal.scene.film import film
from corporeal.scene.picture import at_rest, picture
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.skinning.playback import character_vertices

_MEDIA = {".mp4": "video/mp4", ".png": "image/png"}


@dataclass(frozen=True, eq=False)
class Shown:
    """A picture or film of a thing; a notebook shows it where it is a cell's last value."""

    data: bytes
    """The file itself."""
    suffix: str
    """`.mp4` or `.png`."""
    about: str
    """What is seen, in words."""
    width: int
    """Pixels in a notebook."""

    def _repr_html_(self) -> str:
        """What a notebook shows; needs no network."""
        uri = f"data:{_MEDIA[self.suffix]};base64,{base64.b64encode(self.data).decode('ascii')}"
        title = html.escape(self.about, quote=True)
        if self.suffix == ".mp4":
            flags = "controls autoplay loop muted playsinline"
            return f'<video {flags} width="{self.width}" title="{title}" src="{uri}"></video>'
        return f'<img width="{self.width}" alt="{title}" src="{uri}">'

    def __repr__(self) -> str:
        return (
            f"<{self.about}: {len(self.data) / 1e6:.2f} MB of {self.suffix}. A notebook shows it; "
            f"elsewhere .open() it, .save('name{self.suffix}'), or run: corporeal studio>"
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture or film; the name ends in `suffix`."""
        path = require_writable(path)
        if path.suffix.lower() != self.suffix:
            raise InputError(f"cannot write this view as {path}; expected {self.suffix}.")
        path.write_bytes(self.data)
        return path

    @cached_property
    def path(self) -> Path:
        """A file with it in the folder for temporary files."""
        folder = Path(tempfile.mkdtemp(prefix="corporeal-"))
        return self.save(folder / f"view{self.suffix}")

    def open(self) -> Path:
        """Show it in the program that this machine opens such files with; gives its path."""
        webbrowser.open(self.path.as_uri())
        return self.path


def show(thing: Any, *, fps: Number = 15.0, width: int = 480, height: int = 360) -> Shown:
    """A view of a thing: in a notebook it is seen, elsewhere it can be opened or saved.

    Animations, characters, motions (on the average adult) and registrations become a film of `fps`
    frames a second, `width` × `height` pixels; bodies, layers, meshes, people and body models a
    picture, shown `width` pixels wide. To turn, touch and change bodies: `corporeal studio`.
    """
    for kind, draw in _VIEWS.items():
        if isinstance(thing, kind):
            about, seen = draw(thing)
            return _drawn(seen, about, float(fps), width, height)
    names = ", ".join(kind.__name__ for kind in _VIEWS)
    raise InputError(f"a {type(thing).__name__} came, which has no picture; expected {names}.")


Draw = Callable[[Path], None]
"""Writes a PNG."""


def _drawn(seen: Animation | Draw, about: str, fps: float, width: int, height: int) -> Shown:
    suffix = ".mp4" if isinstance(seen, Animation) and seen.motion.frame_count > 1 else ".png"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"view{suffix}"
        if not isinstance(seen, Animation):
            seen(path)
        elif suffix == ".mp4":
            film([seen], path, fps=fps, width=width, height=height)
        else:
            _picture(path, seen, width, height)
        return Shown(path.read_bytes(), suffix, about, width)


def _picture(path: Path, seen: Animation, width: int, height: int) -> None:
    picture([Performance(seen)], path, width=width, height=height)


def _animation(take: Animation) -> tuple[str, Animation]:
    frames = take.motion.frame_count
    return f"{take.motion.name} by {take.deformer}, {frames} frames", take


def _motion(motion: Motion) -> tuple[str, Animation]:
    moved = animate_body(shaped_body(), motion, AnimateOptions(), {}).animation
    return f"{motion.name}, {motion.frame_count} frames", moved


def _character(character: Character) -> tuple[str, Animation]:
    """The character as an engine plays it."""
    template, frames = character.template, character.frame_count
    identity = Identity(template.mesh.vertices, template.skeleton.joints, {})
    wxyz = np.asarray(character.joint_rotations_wxyz, np.float64)
    rotations = axis_angle_from_quaternion(wxyz)
    root = np.asarray(character.root_translation, np.float64)
    joints = np.asarray(template.skeleton.joints, np.float64)
    world = forward_kinematics(rotations, joints, template.skeleton.parents, root)
    motion = Motion(character.name, character.fps, rotations, root, template.skeleton)
    vertices = character_vertices(character)
    about = f"{character.name}, {frames} frames, {character.morph_count} morph targets"
    return about, Animation("baked", template, identity, motion, vertices, world)


def _mesh(mesh: Mesh) -> tuple[str, Animation]:
    vertices = np.asarray(mesh.vertices, np.float32)[None]
    take = Take("mesh", "rest", 1.0, vertices)
    held = Registrations("mesh", np.asarray(mesh.triangles), mesh.vertex_count, (take,))
    return f"mesh of {mesh.vertex_count} vertices", animation_of(held, take)


def _body(body: Body) -> tuple[str, Animation | Draw]:
    known = body.measurements
    report = [f"{known['stature']:.2f} m"] if "stature" in known else []
    report += [f"{known['mass']:.0f} kg"] if "mass" in known else []
    about = ", ".join(["body", *report])
    if not is_default_body(body.template):
        return about, at_rest(body.template, body.identity)
    return about, lambda path: _discard(write_body_result(path, body))


def _layers(layered: LayeredBody) -> tuple[str, Draw]:
    return "bones, muscles and fat", lambda path: draw_layers([("", layered)], path)


def _people(people: People) -> tuple[str, Draw]:
    return f"{people.count} people", lambda path: draw_people(people, path)


def _model(model: SmplModel) -> tuple[str, Animation | Draw]:
    return "mean person of a model", _body(person_of(model.data, np.zeros(0)).body)[1]


def _registrations(held: Registrations) -> tuple[str, Animation]:
    if not held.takes:
        raise InputError("registrations without takes came; expected at least one to show.")
    take = held.takes[0]
    return f"{take.subject} {take.sequence}, 1 of {len(held.takes)} takes", animation_of(held, take)


def _discard(_: Any) -> None:
    """A report that a view has no use for."""


_VIEWS: dict[type, Callable[[Any], tuple[str, Animation | Draw]]] = {
    Animation: _animation,
    Body: _body,
    LayeredBody: _layers,
    Motion: _motion,
    Mesh: _mesh,
    Character: _character,
    SmplModel: _model,
    People: _people,
    Registrations: _registrations,
}
"""What can be shown, and how."""
