"""Stills: one or more bodies, each in one moment, side by side."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.formats.png import write_png
from corporeal.runtime.files import require_writable
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.labels import label_bodies
from corporeal.scene.legend import draw_legend
from corporeal.scene.lineup import frame_lineup, line_up
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.visibility import FINE


def picture(
    shown: Sequence[Performance],
    path: str | Path | None = None,
    *,
    width: int = 1200,
    height: int = 900,
    frame: int = 0,
    azimuth: float = math.radians(20),
    elevation: float = math.radians(7),
    samples: int = 3,
    refinement: int = 1,
) -> UInt8[NumpyArray, "H W 3"]:
    """Draw frame `frame` of every performance, side by side with labels; write a PNG to `path`.

    `azimuth` is where the camera stands: 0 in front, π/2 on the bodies' left. A performance that
    has ended by then is shown in its last frame. Gives the picture back, too.
    """
    if path is not None:
        require_writable(path)
    stills = [_moment(performance, frame) for performance in shown]
    lineup = line_up(stills, azimuth)
    labels = [performance.label for performance in stills]
    legend = stills[0].scale
    camera = frame_lineup(
        lineup,
        width,
        height,
        azimuth=azimuth,
        elevation=elevation,
        labelled=any(labels),
        legend=legend is not None,
    )
    actors = [
        Wardrobe(performance).actor(0, shift)
        for performance, shift in zip(stills, lineup.shifts, strict=True)
    ]
    scene = Scene(actors, camera, ground_height=lineup.ground_height)
    pixels = render(scene, width, height, samples=samples, refinement=refinement, quality=FINE)
    pixels = label_bodies(pixels, camera, labels, lineup.feet)
    if legend is not None:
        pixels = draw_legend(pixels, legend)
    if path is not None:
        write_png(path, pixels)
    return pixels


def at_rest(template: Template, identity: Identity) -> Animation:
    """A body that stands still in the zero pose, as an animation of one frame."""
    joint_count = template.skeleton.joint_count
    vertices, joints = np.asarray(identity.rest_vertices), np.asarray(identity.joints)
    frames = np.tile(np.eye(4, dtype=joints.dtype), (1, joint_count, 1, 1))
    frames[0, :, :3, 3] = joints
    still = Motion("rest", 1.0, np.zeros((1, joint_count, 3)), np.zeros((1, 3)), template.skeleton)
    return Animation("rest", template, identity, still, vertices[None], frames)


def _moment(performance: Performance, frame: int) -> Performance:
    """One frame of a performance, as a performance of its own."""
    animation, values = performance.animation, performance.values
    index = min(max(frame, 0), performance.frame_count - 1)
    only = slice(index, index + 1)
    motion = animation.motion
    still = Motion(
        motion.name,
        motion.fps,
        motion.joint_rotations[only],
        motion.root_translation[only],
        motion.skeleton,
    )
    moment = Animation(
        animation.deformer,
        animation.template,
        animation.identity,
        still,
        animation.vertices[only],
        animation.world_from_joint[only],
    )
    return Performance(
        moment,
        performance.attachments,
        performance.label,
        performance.tone,
        None if values is None else values[only],
        performance.scale,
        performance.looks,
    )
