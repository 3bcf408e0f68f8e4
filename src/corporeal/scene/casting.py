"""From an animation to actors: skin, underwear, eyes, or numbers as colours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.appearance import Appearance, skin_angle_deg
from corporeal.appearance.dress import is_default_topology, looks_of, with_face
from corporeal.appearance.following import soft_part_places
from corporeal.appearance.wardrobe import underwear
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.looks import Looks
from corporeal.body.seams import EngineSurface, split_seams
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.scene.colour_map import ColourScale
from corporeal.scene.drape import Drape
from corporeal.scene.materials import EYE, FABRIC, HAIR, MATTE, PLAIN_COLOUR, SKIN
from corporeal.scene.scene import Actor, Surface
from corporeal.scene.textures import SurfaceTexture

_SOCKET_SHADE = 0.72
"""Light left in an eye's socket: lids and lashes are too small for the shadow maps."""


@dataclass(frozen=True, eq=False)
class Performance:
    """An animation, and how it is to be shown."""

    animation: Animation
    """The posed vertices and joints."""
    attachments: Sequence[Attachment] = ()
    """Loose parts in the identity's rest space, such as eyes."""
    label: str = ""
    """Words below the actor."""
    tone: str = "light"
    """One of `SKIN_NAMES`, for the default body; not used where `looks` are given."""
    values: Float[NumpyArray, "N V"] | None = None
    """Numbers to be shown as colours, a vertex and a frame, instead of skin."""
    scale: ColourScale | None = None
    """Colours of `values`; needed with them."""
    looks: Looks | None = None
    """Paint and loose parts of the default body; of `tone` alone where None."""

    def __post_init__(self) -> None:
        shape = tuple(self.animation.vertices.shape[:2])
        if self.values is not None and self.values.shape != shape:
            raise InputError(
                f"values have shape {self.values.shape} and the animation {shape[0]} frames of "
                f"{shape[1]} vertices; expected one value a frame and vertex."
            )
        if self.values is not None and self.scale is None:
            raise InputError("values come without a colour scale; give one, with its unit.")

    @property
    def frame_count(self) -> int:
        """Number N of frames."""
        return self.animation.vertices.shape[0]


def is_default_body(template: Template) -> bool:
    """Whether a template has the default body's topology, which looks are made for."""
    return is_default_topology(template)


@lru_cache(maxsize=4)
def _seams(parts: int) -> EngineSurface:
    """The default body with its texture seams opened (of one mesh; `parts` is 0)."""
    return split_seams(load_default_body().template.mesh)


class Wardrobe:
    """A performance made up once: gives the actor for every frame."""

    def __init__(self, performance: Performance) -> None:
        self._drape: Drape | None = None
        self._texture: SurfaceTexture | None = None
        self._material = MATTE
        template = performance.animation.template
        count = template.mesh.vertex_count
        self._triangles = template.mesh.triangles
        self._colours = np.broadcast_to(np.asarray(PLAIN_COLOUR, np.float32), (count, 3))
        self._parts: list[_Part] = []
        if is_default_body(template):
            performance = self._make_up(performance, template)
        shown = performance.attachments
        if performance.looks is not None and performance.looks.parts:
            shown = performance.looks.parts
        self._parts = [_Part(part) for part in shown]
        self.performance = performance

    def _make_up(self, performance: Performance, template: Template) -> Performance:
        animation, looks = performance.animation, performance.looks
        if performance.values is not None:  # numbers are seen all over: no paint, no hair
            shown = underwear(template, animation.identity)
            looks = Looks(parts=tuple(performance.attachments), coverage=shown)
        elif looks is None:
            appearance = Appearance(skin=skin_angle_deg(performance.tone))
            looks = looks_of(template, animation.identity, appearance)
        animation = with_face(animation, looks)
        rest = np.asarray(animation.identity.rest_vertices)
        if looks.coverage is not None:
            self._drape = Drape(rest, template.mesh.triangles, looks.coverage)
        if performance.values is None and looks.material is not None:
            seams = _seams(0)
            assert seams.uv is not None
            corners = seams.triangles
            if looks.hidden is not None:
                corners = corners[~looks.hidden]
                self._triangles = self._triangles[~looks.hidden]
            self._material = SKIN
            self._texture = SurfaceTexture(looks.material, seams.source, corners, seams.uv)
        return replace(performance, animation=animation, looks=looks)

    def actor(self, frame: int, shift: Float[NumpyArray, "3"] | None = None) -> Actor:
        """The body and its attachments in one frame, moved by `shift`, metres."""
        shown = self.performance
        offset = np.zeros(3) if shift is None else shift
        skin = np.asarray(shown.animation.vertices[frame], np.float64)
        vertices = skin + offset
        if self._drape is not None:
            vertices = self._drape.over(vertices)
        colours = self._colours
        if shown.values is not None and shown.scale is not None:
            colours = shown.scale.colours(shown.values[frame]).astype(np.float32)
        body = Surface(vertices, self._triangles, colours, self._material, texture=self._texture)
        parts = [part.surface(shown.animation, frame, offset) for part in self._parts]
        return Actor((body, *parts), shown.label)


_MATERIALS = {"skin": SKIN, "cloth": FABRIC, "hair": HAIR, "eye": EYE, "other": MATTE}


class _Part:
    """A loose part, prepared once."""

    def __init__(self, part: Attachment) -> None:
        self.part = part
        self._texture: SurfaceTexture | None = None
        self._material = EYE
        if part.material is not None:
            seams = split_seams(part.mesh)
            assert seams.uv is not None
            self._material = _MATERIALS[part.material.kind]
            self._texture = SurfaceTexture(part.material, seams.source, seams.triangles, seams.uv)

    def surface(self, animation: Animation, frame: int, offset: Float[NumpyArray, "3"]) -> Surface:
        """The part in one frame: with its joint, or with the skin that it lies on."""
        part = self.part
        if part.binding is None:
            vertices = _follow(part, animation, frame)
        else:
            vertices = soft_part_places(part, animation, frame)
        colours = part.vertex_colours if part.material else _SOCKET_SHADE * part.vertex_colours
        return Surface(
            vertices + offset, part.mesh.triangles, colours, self._material, texture=self._texture
        )


def _follow(part: Attachment, animation: Animation, frame: int) -> Float[NumpyArray, "n 3"]:
    """A loose part carried from the rest pose by its joint."""
    world_from_joint = np.asarray(animation.world_from_joint[frame, part.joint], np.float64)
    from_joint = np.asarray(part.mesh.vertices, np.float64) - np.asarray(
        animation.identity.joints[part.joint], np.float64
    )
    return from_joint @ world_from_joint[:3, :3].T + world_from_joint[:3, 3]
