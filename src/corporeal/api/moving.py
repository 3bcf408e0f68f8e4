"""Motions, and bodies moved through them."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.api.numbers import Number
from corporeal.appearance.dress import with_face
from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.character import Character
from corporeal.body.controls import Control, Controls
from corporeal.body.deformer import Deformer
from corporeal.body.layered_body import LayeredBody
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.skeletons import SkeletonReading, read_skeleton
from corporeal.models.smpl.model import SmplModel
from corporeal.motions.library import MOTIONS
from corporeal.pipelines.animate import Subject, animate_body
from corporeal.pipelines.bake import BakeReport
from corporeal.pipelines.bake import bake as baked
from corporeal.pipelines.controls import control_tables
from corporeal.pipelines.custom_mesh import placed_custom_body
from corporeal.pipelines.deformers import deformer_class
from corporeal.pipelines.loading import load
from corporeal.pipelines.make_body import shaped_body
from corporeal.pipelines.motion_source import motion_for
from corporeal.pipelines.options import AnimateOptions, MeshOptions, MotionOptions
from corporeal.pipelines.results import engine_looks
from corporeal.pipelines.smpl_models import person_of, require_shape

Movable = Body | LayeredBody | SmplModel | LinearBodyModel | Mesh | Character | Animation
"""What `animate` can move, beside files that hold one."""
FirstFrame = Literal["auto", "keep", "drop"]


@dataclass(frozen=True)
class DeformerInfo:
    """A deformer that there is."""

    name: str
    """By which `animate` calls it."""
    summary: str
    """First sentence of its documentation."""
    controls: tuple[Control, ...]
    """What it may be told: name, range, default, unit, meaning."""


def list_deformers() -> tuple[DeformerInfo, ...]:
    """Every deformer, with the controls that `animate` may tell it."""
    return tuple(
        DeformerInfo(name, _first_sentence(deformer_class(name)), table)
        for name, table in control_tables().items()
    )


def list_motions() -> tuple[str, ...]:
    """Names of the authored motions, for `make_motion` and `animate`."""
    return tuple(sorted(MOTIONS))


def make_motion(
    motion: str | Path | Motion,
    body: Body | LayeredBody | None = None,
    *,
    fps: Number | None = MotionOptions.fps,
    start: Number | None = MotionOptions.start,
    end: Number | None = MotionOptions.end,
    duration: Number | None = MotionOptions.duration,
    seed: int | None = MotionOptions.seed,
    a_pose: bool = MotionOptions.a_pose,
    girdle: bool = MotionOptions.girdle,
    raw: bool = MotionOptions.raw,
    name_map: str | Path | None = None,
    unit: str = MotionOptions.unit,
    up: str = MotionOptions.up,
    front: str = MotionOptions.front,
    first_frame: FirstFrame = MotionOptions.first_frame,
) -> Motion:
    """A motion for one `body` (the average adult unless given), on its own skeleton.

    `motion` is the name of an authored motion (`list_motions`), a motion file (.bvh, AMASS or
    native .npz), or a motion. `start`, `end` and `duration` (seconds) take a part of it, `fps` is
    its rate (frames a second); left out, an authored motion has 4 s at 60, a capture what it has.
    `seed` and `a_pose` are those of an authored motion. A captured one is retargeted: scaled, feet
    planted, on the ground y = 0; `raw` leaves it untouched, `name_map` is a JSON map of joint
    names, and `unit`, `up`, `front` and `first_frame` say what a file does not and its data does
    not tell. `girdle` lets collar bones go with the arms, in both; those that a capture moves stay
    as captured. A given motion whose joints
    have the body's names is taken as it is.
    """
    options = MotionOptions(**_motion_values(locals()))
    who = shaped_body() if body is None else body
    person = who.body if isinstance(who, LayeredBody) else who
    return motion_for(_motion(motion), options, person)[0]


def animate(
    body: Movable | str | Path | None,
    motion: str | Path | Motion,
    *,
    deformer: str | Deformer | None = None,
    controls: Controls | Mapping[str, Any] | None = None,
    device: str = AnimateOptions.device,
    shape: Sequence[Number] | NumpyArray = (),
    skeleton: Skeleton | str | Path | None = None,
    component: Literal["auto", "largest", "all"] = AnimateOptions.component,
    mesh_unit: str = AnimateOptions.mesh_unit,
    mesh_up: str = AnimateOptions.mesh_up,
    mesh_front: str = AnimateOptions.mesh_front,
    soft: Mapping[str, Number] | None = None,
    stiffness_map: str | Path | None = None,
    mass_map: str | Path | None = None,
    exaggeration_map: str | Path | None = None,
    trained: str | Path | None = None,
    scene: str | Path | None = None,
    fps: Number | None = AnimateOptions.fps,
    start: Number | None = AnimateOptions.start,
    end: Number | None = AnimateOptions.end,
    duration: Number | None = AnimateOptions.duration,
    seed: int | None = AnimateOptions.seed,
    a_pose: bool = AnimateOptions.a_pose,
    girdle: bool = AnimateOptions.girdle,
    raw: bool = AnimateOptions.raw,
    name_map: str | Path | None = None,
    unit: str = AnimateOptions.unit,
    up: str = AnimateOptions.up,
    front: str = AnimateOptions.front,
    first_frame: FirstFrame = AnimateOptions.first_frame,
) -> Animation:
    """Move a body through a motion; vertices in metres, y up, and all else an `Animation` keeps.

    `body` is a body, one with its layers, a body model (its person with the coefficients `shape`),
    a `Mesh` with its `skeleton`, a character (its mesh and skeleton), the body of an animation, a
    file that holds one of these, or None for the average adult.
    `motion` and the arguments from `fps` on are those of `make_motion`.

    `deformer` is one of `list_deformers` or an object with the protocol `Deformer`; left out, a
    model moves its own people and "lbs" moves all others. `controls` are the deformer's: its
    `Controls`, or values by name, SI units. `device` is "cpu", "gpu" or "gpu:N".

    For flesh: `soft` has stiffness factors by body part (of a mesh: by joint); `stiffness_map`,
    `mass_map` and `exaggeration_map` are painted factors a vertex (.npy); `scene` holds colliders
    and wind (.json). `trained` is the model (.npz) of smpl, enveloping,
    blendscape, dyna, dmpl or neural.
    For a mesh: `component` says which connected parts are flesh; `mesh_unit`, `mesh_up` and
    `mesh_front` what its file does not.

    What there is to tell about how body and motion came is in the animation's `notes`.
    """
    about_motion = _motion_values(locals())
    named = deformer if isinstance(deformer, str) else AnimateOptions.deformer
    options = AnimateOptions(
        deformer=named,
        device=device,
        component=component,
        mesh_unit=mesh_unit,
        mesh_up=mesh_up,
        mesh_front=mesh_front,
        soft=tuple(f"{part}={factor!r}" for part, factor in (soft or {}).items()),
        stiffness_map=_path(stiffness_map),
        mass_map=_path(mass_map),
        exaggeration_map=_path(exaggeration_map),
        trained=_path(trained),
        scene=_path(scene),
        **about_motion,
    )
    given = None if deformer is None or isinstance(deformer, str) else deformer
    subject = _subject(body, shape, skeleton, options)
    values = controls.changed() if isinstance(controls, Controls) else dict(controls or {})
    return animate_body(subject, _motion(motion), options, values, given).animation


def transfer_dynamics(
    take: Animation,
    body: Body,
    *,
    static: Animation | None = None,
    exaggeration: Number = 1.0,
) -> Animation:
    """The take's motion and soft-tissue dynamics on another `body` of the same topology.

    Takes of dmpl hold their dynamics; for others `static` is the same take without dynamics.
    Flesh swings `exaggeration` times as far.
    """
    from corporeal.dynamics.transfer import transferred
    from corporeal.pipelines.transfer_dynamics import recorded_dynamics

    offsets = recorded_dynamics(take, static, Path("the take"))
    return transferred(take, offsets, body.template, body.identity, float(exaggeration))


def bake(
    take: Animation, *, max_error_mm: Number | None = None, morphs: int | None = None
) -> tuple[Character, BakeReport]:
    """An engine character of an animation: joints and morph targets, and how exact it is.

    The fewest morph targets are kept that bring 99.9 % of the vertices within a millimetre, 40 at
    most. `max_error_mm` is the largest distance, in millimetres, that any vertex may be off at any
    frame, whatever it takes; `morphs` gives the number of morph targets.
    """
    looks = engine_looks(take.template, take.identity)
    return baked(
        with_face(take, looks),
        max_error_mm=None if max_error_mm is None else float(max_error_mm),
        morphs=morphs,
        looks=looks,
    )


def _subject(
    body: Any,
    shape: Sequence[Number] | NumpyArray,
    skeleton: Skeleton | str | Path | None,
    options: MeshOptions,
) -> Subject:
    """Who is moved."""
    if isinstance(body, str | Path):
        body = load(body)
    if len(shape) and not isinstance(body, SmplModel | LinearBodyModel):
        raise InputError("shape came without a body model; expected both, or sliders of a body.")
    if skeleton is not None and not isinstance(body, Mesh):
        raise InputError("skeleton came without a mesh; expected both, or a body.")
    if body is None:
        return shaped_body()
    if isinstance(body, SmplModel | LinearBodyModel):
        data = body.data if isinstance(body, SmplModel) else body
        return person_of(data, require_shape(np.asarray(shape, np.float64), data.shape_count))
    if isinstance(body, Mesh):
        return placed_custom_body(body, _skeleton(skeleton), options)
    if isinstance(body, Body | LayeredBody):
        return body
    if isinstance(body, Animation):
        return Body(body.template, body.identity, body.measurements)
    if isinstance(body, Character):
        rig = body.template
        return placed_custom_body(rig.mesh, SkeletonReading(rig.skeleton, "m"), options, rig)
    raise InputError(
        f"a {type(body).__name__} came to be moved; expected a body, layers, a body model, a mesh "
        f"with a skeleton, or a file that holds one."
    )


def _skeleton(skeleton: Skeleton | str | Path | None) -> SkeletonReading:
    if skeleton is None:
        raise InputError(
            "a mesh came without skeleton; expected a Skeleton or its file. For a human surface, "
            "fit_skeleton makes one."
        )
    return (
        SkeletonReading(skeleton, None)
        if isinstance(skeleton, Skeleton)
        else read_skeleton(skeleton)
    )


def _motion_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a verb's arguments that are fields of `MotionOptions`, as it holds them. A verb that
    lacks one of them fails at every call."""
    values = {field.name: arguments[field.name] for field in fields(MotionOptions)}
    times = {name: values[name] for name in ("fps", "start", "end", "duration")}
    numbers = {name: None if value is None else float(value) for name, value in times.items()}
    return values | numbers | {"name_map": _path(values["name_map"])}


def _motion(motion: str | Path | Motion) -> str | Motion:
    return motion if isinstance(motion, Motion) else str(motion)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _first_sentence(kind: type) -> str:
    words = " ".join((inspect.getdoc(kind) or "").split())
    return words.partition(". ")[0].rstrip(".") + "."
