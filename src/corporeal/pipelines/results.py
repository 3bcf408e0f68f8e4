"""From a body or an animation to any file that can hold it, by the file's suffix."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, NumpyArray, UInt8
from corporeal.appearance.dress import faced_identity, looks_of, with_face
from corporeal.appearance.faces import expression_names
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.looks import Looks
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.formats.gltf import write_glb
from corporeal.formats.native import write_animation, write_body
from corporeal.formats.registry import (
    SURFACE_SUFFIXES,
    format_to_write,
    require_packages,
    suffixes_written,
    write_mesh,
)
from corporeal.pipelines.deformers import is_linear_blend
from corporeal.pipelines.exports import (
    CACHE_SUFFIXES,
    CHARACTER_WRITERS,
    write_cache,
    write_character,
)
from corporeal.pipelines.expressions import with_expressions
from corporeal.pipelines.light_character import LODS, LightOptions, coarser, write_light_glb
from corporeal.pipelines.presentation import Presentation
from corporeal.runtime.files import require_writable
from corporeal.runtime.progress import Step, progress
from corporeal.scene.views import view_named
from corporeal.skinning.linear import LinearBlendSkinning

Report = dict[str, Any]
"""What a writer has to say, in numbers and words."""

_AS_IT_COMES = LightOptions()
FILM_FPS = 30.0
_FILM_SIZE = (720, 400)
"""Of about so many pixels; the shape follows what is seen."""
_BODY_PICTURE = (1280, 960)
"""Width and height, pixels."""

_PRESENTATION = Presentation()


@dataclass(frozen=True)
class PictureView:
    """How a body is turned for a still picture."""

    label: str
    """Words below the body."""
    turn: float
    """About the vertical axis, radians."""


_VIEWS = (PictureView("front", 0.0), PictureView("side", np.pi / 2), PictureView("back", np.pi))


def require_body_output(path: str | Path) -> Path:
    """The path, if a body can be written there."""
    format_to_write(path, "body")
    return require_writable(path)


def require_animation_output(path: str | Path, frame: int | None) -> Path:
    """The path, if an animation, or one `frame` of it, can be written there."""
    suffix = format_to_write(path, "animation").suffix
    if suffix in SURFACE_SUFFIXES and frame is None:
        whole = [s for s in suffixes_written("animation") if s not in SURFACE_SUFFIXES]
        raise InputError(
            f"{path} can hold one surface, not an animation. Pass --frame to choose one, or write "
            f"{', '.join(whole)}."
        )
    require_packages(path)
    return require_writable(path)


def write_body_result(
    path: str | Path, body: Body, presentation: Presentation = _PRESENTATION
) -> Report:
    """Write a body at rest as `.npz`, `.glb`, `.png`, or as a surface (`.obj`, `.ply`, …)."""
    suffix = format_to_write(path, "body").suffix
    if suffix == ".npz":
        write_body(path, body)
    elif suffix == ".glb":
        looks = engine_looks(body.template, body.identity, presentation)
        write_glb(path, body.template, faced_identity(body.identity, looks), looks=looks)
    elif suffix == ".png":
        _picture(path, body, presentation)
    else:
        write_mesh(path, replace(body.template.mesh, vertices=body.identity.rest_vertices))
    return {}


def write_animation_result(
    path: str | Path,
    animation: Animation,
    measurements: Mapping[str, float],
    frame: int | None = None,
    light: LightOptions = _AS_IT_COMES,
    colours: Float[NumpyArray, "V 3"] | None = None,
    presentation: Presentation = _PRESENTATION,
) -> Report:
    """Write an animation by its suffix.

    `.npz` holds everything; `.glb`, `.fbx` and `.usd` a character; `.abc` and `.pc2` a cache;
    `.png` eight moments; `.mp4` and `.gif` a film; `.bvh` the motion; `.obj`, `.ply`, `.off` and
    `.stl` one frame. The report says what the file could not carry. `colours` (linear RGB a
    vertex) take the place of the looks' own in characters. `presentation` says how the person
    looks and from where pictures are taken.
    """
    suffix = format_to_write(path, "animation").suffix
    if suffix in SURFACE_SUFFIXES:
        vertices = np.asarray(animation.vertices)[_frame_index(animation, frame)]
        write_mesh(path, replace(animation.template.mesh, vertices=vertices))
        return {"frame": frame}
    if suffix == ".npz":
        write_animation(path, animation, measurements)
    elif suffix in CHARACTER_WRITERS:
        return write_engine_character(path, animation, light, colours, presentation)
    elif suffix in CACHE_SUFFIXES:
        vertices = np.asarray(animation.vertices)
        rest = replace(animation.template.mesh, vertices=animation.identity.rest_vertices)
        files = write_cache(path, rest, vertices, animation.motion.fps)
        return {"surface": files[1].name} if len(files) > 1 else {}
    elif suffix == ".bvh":
        from corporeal.formats.bvh import write_bvh

        write_bvh(path, animation.motion)
    elif suffix == ".png":
        from corporeal.scene.sheet import contact_sheet

        looks, view = _shown_looks(animation, presentation), view_named(presentation.view)
        near = view if view.close_up else None
        contact_sheet([animation], path, looks=looks, azimuth=view.azimuth, close_up=near)
    else:
        write_film(path, [animation], presentation)
    return {}


def write_film(
    path: str | Path,
    animations: Sequence[Animation],
    presentation: Presentation = _PRESENTATION,
    looks: Looks | None = None,
) -> None:
    """Write an MP4 or GIF of one person's animations side by side, with a progress bar.

    The picture has the shape of what is seen over the whole take, so that bodies fill it. `looks`
    are what `looks_for` gives, where they are made already.
    """
    from corporeal.formats.gif import GIF_FPS, GIF_SIZE, write_gif
    from corporeal.formats.mp4 import write_mp4
    from corporeal.scene.film import film_frames
    from corporeal.scene.lineup import line_up
    from corporeal.scene.performances import perform
    from corporeal.scene.views import fitting_size

    looks = looks or _shown_looks(animations[0], presentation)
    shown = perform(animations, None, None, "light", None, None, looks)
    view = view_named(presentation.view)
    seconds = max(a.motion.frame_count / a.motion.fps for a in animations)
    gif = Path(path).suffix.lower() == ".gif"
    fps, size, write = (GIF_FPS, GIF_SIZE, write_gif) if gif else (FILM_FPS, _FILM_SIZE, write_mp4)
    if view.close_up is None:
        size = fitting_size(line_up(shown, view.azimuth).points, view.azimuth, size[0] * size[1])
    with progress("film", round(seconds * fps), "frame") as step:
        frames = film_frames(shown, fps, *size, azimuth=view.azimuth, close_up=view)
        write(path, _counted(frames, step), fps)


def _counted(
    frames: Iterator[UInt8[NumpyArray, "H W 3"]], step: Step
) -> Iterator[UInt8[NumpyArray, "H W 3"]]:
    for frame in frames:
        yield frame
        step(1)


def write_engine_character(
    path: str | Path,
    animation: Animation,
    light: LightOptions = _AS_IT_COMES,
    colours: Float[NumpyArray, "V 3"] | None = None,
    presentation: Presentation = _PRESENTATION,
    looks: Looks | None = None,
) -> Report:
    """Write a `.glb`, `.fbx` or `.usd` that any engine plays.

    Engines blend linearly, so `lbs` needs no bake for a `.glb`; all else is baked. The report
    says how many morph targets carry what joints alone cannot, and the mean and largest distance
    of a vertex from `animation` over all frames, in millimetres; `light` asks for smaller files.
    `looks` are what `looks_for` gives, where they are made already.
    """
    light.require_engine_file(path)
    if colours is not None:  # a look of its own, such as a scan's: eyes are all that is added
        looks = Looks(parts=attachments_of(animation.template, animation.identity))
    else:
        looks = engine_looks(animation.template, animation.identity, presentation, looks)
        animation = with_face(animation, looks)
    is_glb = Path(path).suffix.lower() == ".glb"
    plain = is_linear_blend(animation.deformer) and light.is_plain
    if plain and is_glb and not presentation.expressions:
        write_glb(
            path,
            animation.template,
            animation.identity,
            animation=animation,
            vertex_colours=colours,
            looks=looks,
        )
        return {"morphs": 0, "mean_error_mm": 0.0, "max_error_mm": 0.0}
    from corporeal.pipelines.bake import bake

    character, baked = bake(
        animation,
        max_error_mm=light.error_mm,
        morphs=light.morphs,
        vertex_colours=colours,
        looks=looks,
    )
    if presentation.expressions:
        character = with_expressions(character, presentation.appearance)
    report: Report = {
        "morphs": baked.morph_count,
        "mean_error_mm": round(baked.mean_error_mm, 5),
        "max_error_mm": round(baked.max_error_mm, 5),
        "within_1mm": round(baked.within_1mm, 6),
    }
    if presentation.expressions:
        report["expressions"] = len(expression_names())
    if LODS[light.lod] is not None:
        character, apart = coarser(character, LODS[light.lod])
        report |= {"vertices": character.template.mesh.vertex_count, "surface_error_mm": apart}
    if is_glb:
        return report | write_light_glb(path, character, light.compress)
    write_character(path, character)
    return report


def attachments_of(template: Template, identity: Identity) -> tuple[Attachment, ...]:
    """Eyes, for bodies that have the default body's sockets."""
    from corporeal.assets.eyes import default_eyes
    from corporeal.scene.casting import is_default_body

    return default_eyes(identity) if is_default_body(template) else ()


def looks_for(
    template: Template, identity: Identity, presentation: Presentation = _PRESENTATION
) -> Looks:
    """The looks of a person; none for bodies of another topology."""
    return looks_of(template, identity, presentation.appearance, presentation.texture)


def engine_looks(
    template: Template,
    identity: Identity,
    presentation: Presentation = _PRESENTATION,
    looks: Looks | None = None,
) -> Looks:
    """The looks for engine files: what painted clothes smooth is part of the rest shape there.

    `looks` are what `looks_for` gives, where they are made already.
    """
    from corporeal.scene.drape import Drape

    looks = looks or looks_for(template, identity, presentation)
    if looks.coverage is None or looks.offsets is None:
        return looks
    rest = np.asarray(faced_identity(identity, looks).rest_vertices, np.float64)
    cloth = Drape(rest, template.mesh.triangles, looks.coverage).over(rest) - rest
    return replace(looks, offsets=looks.offsets + cloth.astype(np.float32))


def _shown_looks(animation: Animation, presentation: Presentation) -> Looks | None:
    """The looks for pictures, or None where bodies have none."""
    looks = looks_for(animation.template, animation.identity, presentation)
    return looks if looks.material is not None else None


def still(template: Template, identity: Identity, turn: float) -> Animation:
    """One frame of the body standing as it is measured, hands at rest, turned about the vertical,
    radians."""
    from corporeal.anthropometry.standing import standing_pose
    from corporeal.motions.relaxed_hands import relaxed_hands

    pose = standing_pose(template)
    rotations = np.array(pose.joint_rotations, np.float64) + relaxed_hands(template.skeleton)
    rotations[0] = [0.0, turn, 0.0]
    translation = np.zeros(3)
    motion = Motion("standing", 1.0, rotations[None], translation[None], template.skeleton)
    return LinearBlendSkinning(template).animate(identity, motion)


def _frame_index(animation: Animation, frame: int | None) -> int:
    count = animation.motion.frame_count
    if frame is None or not -count <= frame < count:
        raise InputError(f"frame {frame} was asked for; the animation has 0 to {count - 1}.")
    return frame


def _picture(path: str | Path, body: Body, presentation: Presentation) -> None:
    from corporeal.formats.png import write_png
    from corporeal.scene.film import film_frames
    from corporeal.scene.performances import perform

    shown = [still(body.template, body.identity, view.turn) for view in _VIEWS]
    labels = [view.label for view in _VIEWS]
    looks = _shown_looks(shown[0], presentation)
    performances = perform(shown, None, labels, "light", None, None, looks)
    near, size = view_named(presentation.view), _BODY_PICTURE
    if near.close_up is not None:
        near, size = replace(near, azimuth=0.0), (1280, 560)
    write_png(path, next(film_frames(performances, 1.0, *size, close_up=near)))
