"""Pictures of what is inside a person: through a see-through skin, and along a cut plane."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from corporeal._typing import Float64, NumpyArray, UInt8
from corporeal.assets.anatomy import BoneMesh
from corporeal.body.layers import Layers
from corporeal.errors import InputError
from corporeal.formats.png import write_png
from corporeal.geometry.surface import vertex_normals
from corporeal.runtime.files import require_writable
from corporeal.scene.camera import Camera, frame
from corporeal.scene.cutting import CutSurface, Plane, cut
from corporeal.scene.labels import LABEL_ROOM, label_bodies
from corporeal.scene.materials import MATTE, SKIN, SKIN_TONES, Colour, SurfaceMaterial
from corporeal.scene.raster import render
from corporeal.scene.scene import Actor, Scene, Surface
from corporeal.scene.veil import veiled

SAMPLES = 3
"""Along each edge of a pixel."""


def filled_share(
    section: Float64[NumpyArray, "s 2 3"], camera: Camera, width: int, height: int
) -> Float64[NumpyArray, "H W"]:
    """How much of every pixel lies inside the lines of a section (metres), 0 to 1."""
    columns, rows = SAMPLES * width, SAMPLES * height
    matrix = camera.pixel_from_world(columns, rows)
    seen = section @ matrix[:, :3].T + matrix[:, 3]
    ends = seen[..., :2] / np.maximum(seen[..., 2:], camera.near)
    flips = _crossed(ends, columns, rows)
    inside = np.cumsum(flips, axis=1)[:, :columns] % 2
    return inside.reshape(height, SAMPLES, width, SAMPLES).mean(axis=(1, 3))


def _crossed(ends: Float64[NumpyArray, "s 2 2"], columns: int, rows: int) -> NumpyArray:
    """How many lines pass left of every sample and right of its left neighbour."""
    upper = np.where((ends[:, 0, 1] <= ends[:, 1, 1])[:, None], ends[:, 0], ends[:, 1])
    lower = ends[:, 0] + ends[:, 1] - upper
    first = np.clip(np.ceil(upper[:, 1] - 0.5), 0, rows).astype(int)
    last = np.clip(np.ceil(lower[:, 1] - 0.5), 0, rows).astype(int)  # half open: none counts twice
    count = np.maximum(last - first, 0)
    line = np.repeat(np.arange(len(ends)), count)
    row = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[line]
    share = (row + 0.5 - upper[line, 1]) / np.maximum(lower[line, 1] - upper[line, 1], 1e-12)
    x = upper[line, 0] + share * (lower[line, 0] - upper[line, 0])
    column = np.clip(np.ceil(x - 0.5), 0, columns).astype(int)
    return np.bincount(row * (columns + 1) + column, minlength=rows * (columns + 1)).reshape(
        rows, columns + 1
    )


Style = Literal["see-through", "cut"]
BONE: Colour = (0.80, 0.73, 0.56)
MUSCLE: Colour = (0.46, 0.075, 0.055)
FAT: Colour = (0.86, 0.60, 0.18)
HOLLOW: Colour = (0.85, 0.48, 0.40)
ORGANS: Colour = (0.62, 0.34, 0.36)
"""Linear RGB."""
GAP = 0.1
"""Between two figures, metres."""
LEVELS = 24
"""Heights at which the middle of a body is looked for, to cut it there."""
INWARDS = 0.0015
"""How far the hollow's wall is kept from skin that has no layers, metres."""
BONE_MATERIAL = SurfaceMaterial(specular=0.03, roughness=0.5, wrap=(0.2, 0.18, 0.15))


@dataclass(frozen=True, eq=False)
class Figure:
    """One person, shown in one way."""

    layers: Layers
    """Skin, muscle and bone surfaces of the person."""
    bones: tuple[BoneMesh, ...]
    """Detailed bones inside the person."""
    style: Style
    """`see-through` or `cut`."""
    label: str = ""
    """Words below the figure."""
    inner_wall: Float64[NumpyArray, "V 3"] | None = None
    """Inner side of the abdominal wall, metres: organs and visceral fat lie between it and the bone
    surface. None: what is inside the muscle surface is drawn as muscle."""


def anatomy_picture(
    figures: Sequence[Figure],
    path: str | Path | None = None,
    *,
    width: int = 1600,
    azimuth: float = math.radians(-12),
    samples: int = 3,
) -> UInt8[NumpyArray, "H W 3"]:
    """Draw figures side by side; write a PNG to `path`. Gives the picture back, too.

    See-through figures show all bones, and the muscle surface of the person's left half, through
    the skin. Cut figures are cut by a plane through the joints: fat, muscle and organs along the
    cut, and the bones behind it.
    """
    if not figures:
        raise InputError("no figure to draw; expected at least one.")
    if path is not None:
        require_writable(path)
    shifts = _side_by_side(figures, azimuth)
    ground = min(float(f.layers.skin[:, 1].min()) for f in figures)
    points = np.concatenate(
        [f.layers.skin[::5] + shift for f, shift in zip(figures, shifts, strict=True)]
    )
    across = float(np.ptp(points @ _right(azimuth)))
    height = round(width * min(max(1.15 * float(np.ptp(points[:, 1])) / across, 0.3), 1.2))
    bottom = LABEL_ROOM if any(f.label for f in figures) else 0.0
    camera = frame(points, width / height, azimuth=azimuth, margin=0.03, bottom=bottom)
    pixels = _drawn(figures, shifts, camera, (width, height), ground, samples)
    feet = shifts + np.array([0.0, ground, 0.0])
    pixels = label_bodies(pixels, camera, [f.label for f in figures], feet)
    if path is not None:
        write_png(path, pixels)
    return pixels


def _drawn(
    figures: Sequence[Figure],
    shifts: Float64[NumpyArray, "n 3"],
    camera: Camera,
    size: tuple[int, int],
    ground: float,
    samples: int,
) -> UInt8[NumpyArray, "H W 3"]:
    """Everything that is solid, then skins as veils over it, then sections."""
    solid, posed_vertices, sections = [], [], []
    for figure, shift in zip(figures, shifts, strict=True):
        if figure.style == "cut":
            surfaces, rings = _cut_open(figure, shift)
            solid.append(Actor(surfaces))
            sections += rings
        else:
            solid.append(Actor(_inside(figure, shift)))
            posed_vertices.append(
                _surface(figure.layers.skin + shift, figure.layers.triangles, _TONE, SKIN)
            )
    pixels = render(Scene(solid, camera, ground_height=ground), *size, samples=samples)
    if posed_vertices:
        shells = Scene([Actor((skin,)) for skin in posed_vertices], camera, ground_height=ground)
        pixels = veiled(pixels, render(shells, *size, samples=samples), posed_vertices, camera)
    for section, colour in sections:
        pixels = _painted(pixels, filled_share(section, camera, *size), colour)
    return pixels


_TONE = SKIN_TONES["light"]


def _right(azimuth: float) -> Float64[NumpyArray, "3"]:
    """The camera's right, along the ground."""
    return np.array([math.cos(azimuth), 0.0, -math.sin(azimuth)])


def _side_by_side(figures: Sequence[Figure], azimuth: float) -> Float64[NumpyArray, "n 3"]:
    """Shifts across the view that put every figure beside the one before."""
    right = _right(azimuth)
    places = [figure.layers.skin @ right for figure in figures]
    widths = np.array([float(np.ptp(place)) + GAP for place in places])
    middles = np.cumsum(widths) - widths / 2 - widths.sum() / 2
    own = np.array([(place.max() + place.min()) / 2 for place in places])
    return (middles - own)[:, None] * right


def _inside(figure: Figure, shift: Float64[NumpyArray, "3"]) -> tuple[Surface, ...]:
    """All bones, and muscle on the person's left."""
    layers = figure.layers
    whole = layers.layered[layers.triangles].all(axis=1)
    half = cut(layers.muscle, layers.triangles[whole], Plane(np.array([-1.0, 0.0, 0.0]), 0.0))
    return (
        _surface(half.vertices + shift, half.triangles, MUSCLE, SKIN),
        *(_surface(b.vertices + shift, b.triangles, BONE, BONE_MATERIAL) for b in figure.bones),
    )


def cutting_plane(layers: Layers) -> Plane:
    """Across the body, through its middle at all heights: z = a + b y by least squares."""
    _, y, z = layers.skin[layers.layered].T
    level = np.digitize(y, np.linspace(y.min(), y.max(), LEVELS + 1)[1:-1])
    middles = np.array([(z[level == k].min() + z[level == k].max()) / 2 for k in range(LEVELS)])
    heights = np.array([y[level == k].mean() for k in range(LEVELS)])
    b, a = np.polyfit(heights, middles, 1)
    length = math.hypot(1.0, b)
    return Plane(np.array([0.0, -b, 1.0]) / length, float(a / length))


def _cut_open(
    figure: Figure, shift: Float64[NumpyArray, "3"]
) -> tuple[tuple[Surface, ...], list[tuple[NumpyArray, Colour]]]:
    """Skin, hollow and bones behind the plane; rings of fat, muscle and organs on it."""
    layers, plane = figure.layers, cutting_plane(figure.layers)
    skin, muscle, bone = (
        cut(surface, layers.triangles, plane)
        for surface in (layers.skin, layers.muscle, layers.bone)
    )
    hollow = cut(_wall(layers), layers.triangles, plane)
    bones = [cut(part.vertices, part.triangles, plane) for part in figure.bones]
    surfaces = (
        _surface(skin.vertices + shift, skin.triangles, _TONE, SKIN),
        _surface(hollow.vertices + shift, hollow.triangles, HOLLOW, MATTE),
        *(
            _surface(part.vertices + shift, part.triangles, BONE, BONE_MATERIAL)
            for part in bones
            if len(part.triangles)
        ),
    )
    rings = [(_ring(skin, muscle) + shift, FAT), (_ring(muscle, bone) + shift, MUSCLE)]
    if figure.inner_wall is not None:
        organs = cut(figure.inner_wall, layers.triangles, plane)
        rings.append((_ring(organs, bone) + shift, ORGANS))
    return surfaces, rings


def _ring(outer: CutSurface, inner: CutSurface) -> Float64[NumpyArray, "s 2 3"]:
    """Lines round what lies between two sections: inside an odd number of them."""
    return np.concatenate([outer.section, inner.section])


def _wall(layers: Layers) -> Float64[NumpyArray, "V 3"]:
    """The bone surface, kept off the skin where they are one."""
    normals = vertex_normals(layers.skin, layers.triangles)
    return np.where(layers.layered[:, None], layers.bone, layers.skin - INWARDS * normals)


def _surface(
    vertices: Float64[NumpyArray, "v 3"],
    triangles: NumpyArray,
    colour: Colour,
    material: SurfaceMaterial,
) -> Surface:
    colours = np.broadcast_to(np.asarray(colour, np.float32), vertices.shape)
    return Surface(vertices, triangles, colours, material)


def _painted(
    pixels: UInt8[NumpyArray, "H W 3"], share: Float64[NumpyArray, "H W"], colour: Colour
) -> UInt8[NumpyArray, "H W 3"]:
    """Flat colour over a part of every pixel."""
    flat = 255 * np.asarray(colour) ** (1 / 2.2)
    mixed = pixels + share[..., None] * (flat - pixels)
    return np.round(mixed).astype(np.uint8)
