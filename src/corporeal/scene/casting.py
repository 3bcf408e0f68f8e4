"""From an animation to actors: skin, underwear, eyes, or numbers as colours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.scene.colour_map import ColourScale
from corporeal.scene.complexion import complexion
from corporeal.scene.drape import Drape
from corporeal.scene.materials import EYE, HAIR_COLOUR, MATTE, PLAIN_COLOUR, SKIN, skin_tone
from corporeal.scene.scene import Actor, Decal, Garment, Surface
from corporeal.scene.wardrobe import underwear

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
    """One of `SKIN_TONES`; for the default body."""
    values: Float[NumpyArray, "N V"] | None = None
    """Numbers to be shown as colours, a vertex and a frame, instead of skin."""
    scale: ColourScale | None = None
    """Colours of `values`; needed with them."""

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
    """Whether a template has the default body's topology, which underwear is made for."""
    own = load_default_body().template.mesh
    return template.mesh.vertex_count == own.vertex_count and np.array_equal(
        template.mesh.triangles, own.triangles
    )


class Wardrobe:
    """A performance made up once: gives the actor for every frame."""

    def __init__(self, performance: Performance) -> None:
        self.performance = performance
        template = performance.animation.template
        count = template.mesh.vertex_count
        self._garment: Garment | None = None
        self._drape: Drape | None = None
        self._gloss = np.ones(count, np.float32)
        self._decal: Decal | None = None
        self._material = MATTE
        self._colours = np.broadcast_to(np.asarray(PLAIN_COLOUR, np.float32), (count, 3))
        if not is_default_body(template):
            return
        coverage = underwear(template, performance.animation.identity)
        rest = np.asarray(performance.animation.identity.rest_vertices)
        self._drape = Drape(rest, template.mesh.triangles, coverage)
        if performance.values is None:
            self._material, self._garment = SKIN, Garment(coverage)
            tone = skin_tone(performance.tone)
            self._colours, self._gloss, self._decal = complexion(template, tone, HAIR_COLOUR)

    def actor(self, frame: int, shift: Float[NumpyArray, "3"] | None = None) -> Actor:
        """The body and its attachments in one frame, moved by `shift`, metres."""
        shown = self.performance
        offset = np.zeros(3) if shift is None else shift
        vertices = np.asarray(shown.animation.vertices[frame], np.float64) + offset
        if self._drape is not None:
            vertices = self._drape.over(vertices)
        colours = self._colours
        if shown.values is not None and shown.scale is not None:
            colours = shown.scale.colours(shown.values[frame]).astype(np.float32)
        triangles = shown.animation.template.mesh.triangles
        body = Surface(
            vertices, triangles, colours, self._material, self._garment, self._gloss, self._decal
        )
        parts = [_follow(part, shown.animation, frame, offset) for part in shown.attachments]
        return Actor((body, *parts), shown.label)


def _follow(
    part: Attachment, animation: Animation, frame: int, offset: Float[NumpyArray, "3"]
) -> Surface:
    """A loose part carried from the rest pose by its joint."""
    world_from_joint = np.asarray(animation.world_from_joint[frame, part.joint], np.float64)
    from_joint = np.asarray(part.mesh.vertices, np.float64) - np.asarray(
        animation.identity.joints[part.joint], np.float64
    )
    vertices = from_joint @ world_from_joint[:3, :3].T + world_from_joint[:3, 3] + offset
    colours = _SOCKET_SHADE * part.vertex_colours
    return Surface(vertices, part.mesh.triangles, colours, EYE)
