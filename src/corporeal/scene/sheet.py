"""A contact sheet: moments of a movement from left to right, one row a deformer."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal._typing import Float, NumpyArray, UInt8
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.looks import Looks
from corporeal.errors import InputError
from corporeal.formats.png import write_png
from corporeal.runtime.files import require_writable
from corporeal.scene.camera import Camera, frame
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
    head; all cells have one scale.
    """
    require_writable(path)
    if not 1 <= len(animations) <= MOST_ROWS:
        raise InputError(f"{len(animations)} animations; a sheet shows 1 to {MOST_ROWS}.")
    if not 1 <= frames <= 24:
        raise InputError(f"{frames} frames asked for; a sheet shows 1 to 24.")
    shown = perform(animations, attachments, labels, tone, values, scale, looks)
    rows = [_moments(performance, frames) for performance in shown]
    points = np.concatenate([_centred_points(p, row) for p, row in zip(shown, rows, strict=True)])
    cell_width = width // frames
    camera, cell_height = _cell(points, cell_width, azimuth)
    near = close_up if close_up is not None and close_up.close_up is not None else None
    if near is not None:
        cell_height = round(1.15 * cell_width) + _CAPTION
    ground = float(points[:, 1].min())
    strips = [
        _strip(performance, row, camera, cell_width, cell_height, ground, near)
        for performance, row in zip(shown, rows, strict=True)
    ]
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


def _centred_points(performance: Performance, row: list[int]) -> Float[NumpyArray, "n 3"]:
    vertices = performance.animation.vertices
    return np.concatenate([reached(vertices[i : i + 1]) - _way(performance, i) for i in row])


def _cell(points: Float[NumpyArray, "n 3"], width: int, azimuth: float) -> tuple[Camera, int]:
    """The camera of all cells, and a height that suits what it sees."""
    right = points @ np.array([math.cos(azimuth), 0.0, -math.sin(azimuth)])
    shape = float(np.ptp(points[:, 1]) / max(np.ptp(right), 1e-6))
    height = round(width * min(max(1.12 * shape, 0.9), 2.2)) + _CAPTION
    bottom = _CAPTION / height
    return frame(points, width / height, azimuth=azimuth, margin=0.03, bottom=bottom), height


def _strip(
    performance: Performance,
    row: list[int],
    camera: Camera,
    width: int,
    height: int,
    ground_height: float,
    near: View | None = None,
) -> UInt8[NumpyArray, "H W 3"]:
    """One row of the sheet."""
    usual = StudioLights()
    # a steep key keeps every shadow in its own cell; without vignette the cells join seamlessly
    key = replace(usual.key, direction=(-0.35, 1.6, 0.62))
    studio = replace(usual, key=key, backdrop=Backdrop(vignette=0.0))
    wardrobe = Wardrobe(performance)
    cells = []
    for i in row:
        if near is None:
            actor = wardrobe.actor(i, -_way(performance, i))
            scene = Scene((actor,), camera, studio, ground_height)
        else:
            close = head_camera(wardrobe.performance.animation, i, near, width / height)
            scene = Scene((wardrobe.actor(i),), close, studio, None)
        cells.append(render(scene, width, height, samples=3))
    fps = performance.animation.motion.fps
    times = [
        Text(f"{i / fps:.2f} s", (k + 0.5) * width, height - _CAPTION / 2, 0.8 * _LETTERS, "mm")
        for k, i in enumerate(row)
    ]
    name = Text(performance.label, 0.7 * _LETTERS, 0.6 * _LETTERS, 1.2 * _LETTERS, "la")
    return write_text(np.concatenate(cells, axis=1), [name, *times])
