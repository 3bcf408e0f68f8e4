"""What a picture shows: actors in a studio, seen by a camera."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.errors import InputError
from corporeal.scene.camera import Camera
from corporeal.scene.materials import MATTE, PLAIN_COLOUR, Colour, Material
from corporeal.scene.studio import Studio


@dataclass(frozen=True, eq=False)
class Garment:
    """Cloth painted on a surface: where `coverage` is above zero, interpolated over triangles."""

    coverage: Float[NumpyArray, "V"]
    """Signed distance to the hem along the surface, about metres; positive under the cloth."""
    colour: Colour = (0.115, 0.125, 0.145)


@dataclass(frozen=True, eq=False)
class Surface:
    """A triangle surface with colours, ready to be drawn."""

    vertices: Float[NumpyArray, "V 3"]
    """Positions, metres."""
    triangles: Int[NumpyArray, "F 3"]
    colours: Float[NumpyArray, "V 3"]
    """Linear RGB reflectance, 0 to 1."""
    material: Material = MATTE
    garment: Garment | None = None

    def __post_init__(self) -> None:
        require_finite("surface vertices", self.vertices)
        require_finite("surface colours", self.colours)
        require_indices("surface triangles", self.triangles, len(self.vertices))
        if len(self.colours) != len(self.vertices):
            raise InputError(
                f"surface has {len(self.vertices)} vertices and {len(self.colours)} colours; "
                f"expected one a vertex."
            )
        if self.garment is not None and len(self.garment.coverage) != len(self.vertices):
            raise InputError(
                f"surface has {len(self.vertices)} vertices and its garment covers "
                f"{len(self.garment.coverage)}; expected one value a vertex."
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
    label: str = ""

    def points(self) -> Float[NumpyArray, "n 3"]:
        """All vertices, metres."""
        return np.concatenate([s.vertices for s in self.surfaces] or [np.zeros((0, 3))])


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that one picture is made from."""

    actors: Sequence[Actor]
    camera: Camera
    studio: Studio = field(default_factory=Studio)
    ground_height: float | None = 0.0
    """Height of the floor that takes the shadows, metres; None for no floor."""
