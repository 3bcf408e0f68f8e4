"""A contact sheet: moments of a movement from left to right, one row a deformer."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from corporeal._typing import Float, NumpyArray, UInt8
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.looks import Looks
from corporeal.errors import InputError
from corporeal.formats.png import write_png
from corporeal.runtime.files import require_writable
from corporeal.runtime.threads import thread_count
from corporeal.scene.camera import Camera, direction_from, view_axes
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.colour_map import ColourScale
from corporeal.scene.legend import draw_legend
from corporeal.scene.lineup import reached
from corporeal.scene.performances import perform
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.studio import Backdrop, StudioLights
from corporeal.scene.text import Text, write_text
from corporeal.scene.views import View, head_camera

MOST_ROWS = 4
_LETTERS = 15.0
_CAPTION = 22
"""Height of the line of times, pixels."""
_ELEVATION, _LENS = math.radians(6), math.radians(20)
"""Of the camera of all cells: above the ground, and its vertical angle."""
_APART = 0.16
"""Metres between what is seen in two neighbouring cells."""
_EXTREMES = ((min, np.min), (max, np.max))


def contact_sheet(
    animations: Sequence[Animation],
    path: str | Path,
    *,
    frames: int = 8,
    width: int = 1600,
    attachments: Sequence[Sequence[Attachment]] | None = None,
    labels: Sequence[str] | None = None,
    tone: str = "light",
    values: Sequence[Float[NumpyArray, "N V"]] | None = None,
    scale: ColourScale | None = None,
    azimuth: float = math.radians(20),
    looks: Looks | None = None,
    close_up: View | None = None,
) -> None:
    """Write a PNG: `frames` moments across, evenly spread in time, one row an animation.

    `attachments`, `labels` and `values` hold one item an animation; labels are the deformers' names
    unless given. The camera goes along with the body over the ground, in a `close_up` with its
    head; all cells have one scale, and each is as wide as its moment needs.
    """
    require_writable(path)
    if not 1 <= len(animations) <= MOST_ROWS:
        raise InputError(f"{len(animations)} animations; a sheet shows 1 to {MOST_ROWS}.")
    if not 1 <= frames <= 24:
        raise InputError(f"{frames} frames asked for; a sheet shows 1 to 24.")
    shown = perform(animations, attachments, labels, tone, values, scale, looks)
    rows = [_moments(performance, frames) for performance in shown]
    near = close_up if close_up is not None and close_up.close_up is not None else None
    columns = [
        np.concatenate([_centred_points(p, row[k]) for p, row in zip(shown, rows, strict=True)])
        for k in range(frames)
    ]
    cells = _close_cells(frames, width) if near is not None else _cells(columns, width, azimuth)
    ground = min(float(points[:, 1].min()) for points in columns)
    with ThreadPoolExecutor(min(2, thread_count())) as executor:  # two fill each other's waits
        strips = list(executor.map(lambda p, row: _strip(p, row, cells, ground, near), shown, rows))
    picture = np.concatenate(strips)
    if shown[0].scale is not None:
        picture = draw_legend(picture, shown[0].scale)
    write_png(path, picture)


def _moments(performance: Performance, frames: int) -> list[int]:
    """Indices of frames, the first and the last among them."""
    return [round(i) for i in np.linspace(0, performance.frame_count - 1, frames)]


def _way(performance: Performance, index: int) -> Float[NumpyArray, "3"]:
    """Where the root is over the ground."""
    root = np.asarray(performance.animation.world_from_joint[index, 0, :3, 3], np.float64)
    return np.array([root[0], 0.0, root[2]])


def _centred_points(performance: Performance, index: int) -> Float[NumpyArray, "n 3"]:
    vertices = performance.animation.vertices
    return reached(vertices[index : index + 1]) - _way(performance, index)


@dataclass(frozen=True)
class _Cell:
    """One moment's place on the sheet."""

    camera: Camera | None
    """None for a close-up, whose camera goes with the head."""
    width: int
    """Pixels."""
    height: int
    """Pixels, the same in all cells."""


def _close_cells(count: int, width: int) -> list[_Cell]:
    edge = width // count
    return [_Cell(None, edge, round(1.15 * edge) + _CAPTION)] * count


def _cells(columns: list[Float[NumpyArray, "n 3"]], width: int, azimuth: float) -> list[_Cell]:
    """Cells of one scale, each as wide as its moment is: arms that are spread once do not make the
    body small in all others. The height is what the whole movement fills."""
    direction = np.asarray(direction_from(azimuth, _ELEVATION))
    axes = view_axes(-direction)
    seen = [points @ axes.T for points in columns]
    widths = np.array([np.ptp(points[:, 0]) + _APART for points in seen])
    low, high = (extreme([at(p[:, 1]) for p in seen]) for extreme, at in _EXTREMES)
    tall = 1.06 * (high - low)
    most = 2.2 * width / len(columns)
    scale = min(width / widths.sum(), most / tall)  # pixels a metre
    edges = np.round(width * np.concatenate([[0.0], np.cumsum(widths) / widths.sum()]))
    height = round(scale * tall) + _CAPTION
    far = height / scale / 2 / math.tan(_LENS / 2)
    cells = []
    for points, edge in zip(seen, np.diff(edges).astype(int), strict=True):
        a = (points[:, 0].min() + points[:, 0].max()) / 2
        b = (low + high) / 2 - _CAPTION / scale / 2
        middle = np.array([a, b, points[:, 2].mean()]) @ axes
        eye = middle + far * direction
        cells.append(_Cell(Camera(_triple(eye), _triple(middle), _LENS), int(edge), height))
    return cells


def _triple(vector: Float[NumpyArray, "3"]) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])


def _strip(
    performance: Performance,
    row: list[int],
    cells: list[_Cell],
    ground_height: float,
    near: View | None = None,
) -> UInt8[NumpyArray, "H W 3"]:
    """One row of the sheet."""
    usual = StudioLights()
    # a steep key keeps every shadow in its own cell; without vignette the cells join seamlessly
    key = replace(usual.key, direction=(-0.35, 1.6, 0.62))
    studio = replace(usual, key=key, backdrop=Backdrop(vignette=0.0))
    wardrobe = Wardrobe(performance)
    drawn, words, left = [], [], 0
    fps = performance.animation.motion.fps
    for i, cell in zip(row, cells, strict=True):
        if near is None and cell.camera is not None:
            actor = wardrobe.actor(i, -_way(performance, i))
            scene = Scene((actor,), cell.camera, studio, ground_height)
        else:
            assert near is not None
            aspect = cell.width / cell.height
            close = head_camera(wardrobe.performance.animation, i, near, aspect)
            scene = Scene((wardrobe.actor(i),), close, studio, None)
        drawn.append(render(scene, cell.width, cell.height, samples=3))
        place = (left + 0.5 * cell.width, cell.height - _CAPTION / 2)
        words.append(Text(f"{i / fps:.2f} s", *place, 0.8 * _LETTERS, "mm"))
        left += cell.width
    name = Text(performance.label, 0.7 * _LETTERS, 0.6 * _LETTERS, 1.2 * _LETTERS, "la")
    return write_text(np.concatenate(drawn, axis=1), [name, *words])
