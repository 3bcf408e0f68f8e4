"""What a picture shows: actors in a studio, seen by a camera."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.errors import InputError
from corporeal.scene.camera import Camera
from corporeal.scene.materials import MATTE, PLAIN_COLOUR, Colour, SurfaceMaterial
from corporeal.scene.studio import StudioLights
from corporeal.scene.textures import SurfaceTexture

DECAL_SIZE: Final = 384
FURTHEST: Final = 1e5
"""Largest coordinate that is drawn, metres: single precision still tells centimetres there."""


@dataclass(frozen=True, eq=False)
class Garment:
    """Cloth painted on a surface: where `coverage` is above zero, interpolated over triangles."""

    coverage: Float[NumpyArray, "V"]
    """Signed distance to the hem along the surface, about metres; positive under the cloth."""
    colour: Colour = (0.115, 0.125, 0.145)
    """Linear RGB reflectance."""


@dataclass(frozen=True, eq=False)
class Decal:
    """A small picture stuck on a part of a surface, such as the paint of a face."""

    paint: Float[NumpyArray, "h w 4"]
    """Linear RGB and opacity, 0 to 1; `DECAL_SIZE` texels along both edges."""
    places: Float[NumpyArray, "V 2"]
    """Where every vertex lies on the decal: column and row from 0 to 1; beyond, it is not on it."""

    def __post_init__(self) -> None:
        if self.paint.shape[:2] != (DECAL_SIZE, DECAL_SIZE):
            raise InputError(
                f"decal has {self.paint.shape[1]} × {self.paint.shape[0]} texels; "
                f"expected {DECAL_SIZE} × {DECAL_SIZE}. Resample it."
            )


@dataclass(frozen=True, eq=False)
class Surface:
    """A triangle surface with colours, ready to be drawn."""

    vertices: Float[NumpyArray, "V 3"]
    """Positions, metres."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices, counter-clockwise seen from outside."""
    colours: Float[NumpyArray, "V 3"]
    """Linear RGB reflectance, 0 to 1."""
    material: SurfaceMaterial = MATTE
    """How it reflects light."""
    garment: Garment | None = None
    """Cloth on it, if any."""
    gloss: Float[NumpyArray, "V"] | None = None
    """Factor on the reflection of lights; 1 if None."""
    decal: Decal | None = None
    """Paint in texture space on it, if any."""
    texture: SurfaceTexture | None = None
    """Pictures instead of `colours`, if any."""

    def __post_init__(self) -> None:
        require_finite("surface vertices", self.vertices)
        require_finite("surface colours", self.colours)
        furthest = float(np.abs(self.vertices).max(initial=0.0))
        if furthest > FURTHEST:
            raise InputError(
                f"surface vertices reach {furthest:g} m; expected at most {FURTHEST:g}. "
                f"Are they in metres?"
            )
        require_indices("surface triangles", self.triangles, len(self.vertices))
        if len(self.colours) != len(self.vertices):
            raise InputError(
                f"surface has {len(self.vertices)} vertices and {len(self.colours)} colours; "
                f"expected one a vertex."
            )
        fields: dict[str, NumpyArray] = {}
        if self.garment is not None:
            fields["garment coverage"] = self.garment.coverage
        if self.gloss is not None:
            fields["gloss"] = self.gloss
        if self.decal is not None:
            fields["decal places"] = self.decal.places
        for name, values in fields.items():
            require_finite(f"surface {name}", values)
            if len(values) != len(self.vertices):
                raise InputError(
                    f"surface has {len(self.vertices)} vertices and {len(values)} values of "
                    f"{name}; expected one a vertex."
                )

    @staticmethod
    def plain(
        vertices: Float[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        colour: Colour = PLAIN_COLOUR,
    ) -> "Surface":
        """A matte surface of one colour."""
        colours = np.broadcast_to(np.asarray(colour, np.float32), vertices.shape)
        return Surface(vertices, triangles, colours)


@dataclass(frozen=True, eq=False)
class Actor:
    """One body with its loose parts. Actors throw shadows on themselves and on the ground."""

    surfaces: tuple[Surface, ...]
    """Skin first, then loose parts."""
    label: str = ""
    """Words below the actor."""

    def points(self) -> Float[NumpyArray, "n 3"]:
        """All vertices, metres."""
        return np.concatenate([s.vertices for s in self.surfaces] or [np.zeros((0, 3))])


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that one picture is made from."""

    actors: Sequence[Actor]
    """Who is in the picture."""
    camera: Camera
    """From where it is seen."""
    studio: StudioLights = field(default_factory=StudioLights)
    """Lights and backdrop."""
    ground_height: float | None = 0.0
    """Height of the floor that takes the shadows, metres; None for no floor."""
