"""Films: animations side by side; a camera that stands still, or goes with whoever walks away."""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from corporeal._typing import Float, NumpyArray, UInt8
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.looks import Looks
from corporeal.errors import InputError
from corporeal.formats.mp4 import write_mp4
from corporeal.runtime.files import require_writable
from corporeal.runtime.threads import thread_count
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.colour_map import ColourScale
from corporeal.scene.labels import label_bodies
from corporeal.scene.legend import draw_legend
from corporeal.scene.lineup import frame_lineup, line_up, travel
from corporeal.scene.performances import perform
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.studio import Backdrop, StudioLights
from corporeal.scene.views import View, head_camera

_AT_ONCE = 2
"""Pictures drawn at a time: what one of them does in Python, the other fills with its kernels."""


def film(
    animations: Sequence[Animation],
    path: str | Path,
    *,
    fps: float = 30.0,
    width: int = 640,
    height: int = 480,
    attachments: Sequence[Sequence[Attachment]] | None = None,
    labels: Sequence[str] | None = None,
    tone: str = "light",
    values: Sequence[Float[NumpyArray, "N V"]] | None = None,
    scale: ColourScale | None = None,
    azimuth: float = math.radians(20),
    looks: Looks | None = None,
) -> None:
    """Write an MP4 of all animations at once, side by side, as long as the longest of them.

    Time is kept whatever the animations' own frame rates: the nearest frame at or before is shown,
    and one that has ended stands still. The picture holds the whole movement; it goes along with
    bodies that walk through the room.
    """
    require_writable(path)
    if not 0 < fps <= 1000:
        raise InputError(f"film has fps {fps}; expected above 0 and at most 1000.")
    shown = perform(animations, attachments, labels, tone, values, scale, looks)
    write_mp4(path, film_frames(shown, fps, width, height, azimuth), fps)


def film_frames(
    shown: Sequence[Performance],
    fps: float,
    width: int,
    height: int,
    azimuth: float = 0.0,
    close_up: View | None = None,
) -> Iterator[UInt8[NumpyArray, "H W 3"]]:
    """The film's pictures, one by one; a `close_up` goes with the heads, in cells side by side."""
    if close_up is not None and close_up.close_up is not None:
        yield from _close_ups(shown, fps, width, height, close_up)
        return
    ways = [travel(performance) for performance in shown]
    lineup = line_up(shown, azimuth, ways=ways)
    labels = [performance.label for performance in shown]
    legend = shown[0].scale
    camera = frame_lineup(
        lineup, width, height, azimuth=azimuth, labelled=any(labels), legend=legend is not None
    )
    dressed = [Wardrobe(performance) for performance in shown]

    def draw(moment: int) -> UInt8[NumpyArray, "H W 3"]:
        actors = []
        for wardrobe, shift, way in zip(dressed, lineup.shifts, ways, strict=True):
            index = _frame_at(wardrobe.performance, moment / fps)
            actors.append(wardrobe.actor(index, shift - way[index]))
        scene = Scene(actors, camera, ground_height=lineup.ground_height)
        picture = label_bodies(render(scene, width, height), camera, labels, lineup.feet)
        return picture if legend is None else draw_legend(picture, legend)

    yield from _in_order(draw, _frame_count(shown, fps))


def _in_order(
    draw: Callable[[int], UInt8[NumpyArray, "H W 3"]], count: int
) -> Iterator[UInt8[NumpyArray, "H W 3"]]:
    """Pictures 0 to `count` − 1, a few being drawn at a time."""
    workers = min(_AT_ONCE, thread_count())
    with ThreadPoolExecutor(workers) as executor:
        drawn = deque()
        for moment in range(count):
            drawn.append(executor.submit(draw, moment))
            if len(drawn) > workers:
                yield drawn.popleft().result()
        while drawn:
            yield drawn.popleft().result()


def _close_ups(
    shown: Sequence[Performance], fps: float, width: int, height: int, view: View
) -> Iterator[UInt8[NumpyArray, "H W 3"]]:
    dressed = [Wardrobe(performance) for performance in shown]
    cell = 2 * (width // len(shown) // 2)
    studio = StudioLights(backdrop=Backdrop(vignette=0.0))
    for moment in range(_frame_count(shown, fps)):
        cells = []
        for wardrobe in dressed:
            frame = _frame_at(wardrobe.performance, moment / fps)
            animation = wardrobe.performance.animation
            camera = head_camera(animation, frame, view, cell / height)
            scene = Scene((wardrobe.actor(frame),), camera, studio, None)
            cells.append(render(scene, cell, height, refinement=1))
        yield np.concatenate(cells, axis=1)


def _frame_count(shown: Sequence[Performance], fps: float) -> int:
    longest = max(p.frame_count / p.animation.motion.fps for p in shown)
    return max(1, math.floor(longest * fps + 1e-6))


def _frame_at(performance: Performance, time: float) -> int:
    index = math.floor(time * performance.animation.motion.fps + 1e-6)
    return min(index, performance.frame_count - 1)
