"""What was clicked, as commands: every choice can be scripted."""

import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from corporeal.appearance.appearance import Appearance
from corporeal.pipelines.controls import control_words
from corporeal.pipelines.deformers import deformer_class
from corporeal.pipelines.motion_source import is_motion_file
from corporeal.viewer.document import BodyChoice, Document, View
from corporeal.viewer.posing import POSES
from corporeal.viewer.rig import FRONT

_FLAGS = {
    "chest_circumference": "chest",
    "waist_circumference": "waist",
    "buttock_circumference": "hips",
}
"""Short names of measurements, as the command line has them."""
EVERYWHERE = "everywhere"
"""Growth of all regions together."""


def command_lines(document: Document, out: str = "take.glb") -> list[str]:
    """Commands for the body, where it is not the average adult, for its growth, and for every
    view."""
    body = body_command(document.body)
    if body is None and document.growth:
        body = shlex.join(["corporeal", "body", "--out", "body.npz"])
    lines = [] if body is None else [body]
    lines += growth_commands(document.growth)
    whose = "grown.npz" if document.growth else "body.npz" if body is not None else None
    stem, dot, suffix = out.rpartition(".")
    for number, view in enumerate(document.views, 1):
        name = out if len(document.views) == 1 else f"{stem}-{number}{dot}{suffix}"
        if view.deformer.startswith("take:"):
            take = view.deformer.removeprefix("take:")
            lines.append(shlex.join(["corporeal", "convert", take, name]))
        else:
            lines.append(animate_command(document, view, name, whose))
    return lines + rig_commands(document)


def rig_commands(document: Document) -> list[str]:
    """The command that moves a custom mesh by the skeleton that was built for it."""
    rig = document.rig
    if not rig.mesh or not rig.joints:
        return []
    stem = PurePosixPath(rig.mesh).stem
    words = ["corporeal", "animate", "--mesh", rig.mesh, "--skeleton", f"{stem}.skel"]
    if rig.up != "+y":
        words += ["--mesh-up", rig.up, "--mesh-front", FRONT[rig.up]]
    words += ["--motion", document.motion.name]
    if not is_motion_file(document.motion.name) and document.motion.duration != 4.0:
        words += ["--duration", f"{document.motion.duration:g}"]
    return [shlex.join([*words, "--out", f"{stem}-moved.npz"])]


def growth_commands(growth: Mapping[str, float]) -> list[str]:
    """Commands that fit layers into the body and let them grow, region by region."""
    if not growth:
        return []
    lines, before = ["corporeal anatomy fit body.npz --out layers.npz"], "layers.npz"
    for number, (region, mass) in enumerate(growth.items(), 1):
        after = "grown.npz" if number == len(growth) else f"grown-{number}.npz"
        words = ["corporeal", "anatomy", "grow", before, f"--mass={mass:+.5g}"]
        where = [] if region == EVERYWHERE else ["--region", region]
        lines.append(shlex.join([*words, *where, "--out", after]))
        before = after
    return lines


def body_command(body: BodyChoice) -> str | None:
    """The command that makes the body; None for the average adult.

    Learned shape and modifiers of single regions have no flags: such a body is saved from the
    studio.
    """
    words = ["corporeal", "body"]
    if body.scan:
        return "# body.npz: a registered scan, save it with Out › Body at rest"
    if body.learned or (body.local and not body.measured):
        return "# body.npz: save it with Out › Body at rest"
    if body.measured:
        fixed = {name: body.sliders[name] for name in ("gender", "age") if name in body.sliders}
        words += _flags(fixed)
        words += _flags({_FLAGS.get(name, name): value for name, value in body.measured.items()})
    elif body.sliders:
        words += _flags(body.sliders)
    else:
        return None
    return shlex.join([*words, "--out", "body.npz"])


def animate_command(document: Document, view: View, out: str, body: str | None) -> str:
    """The command that moves the body (a file; None for the average adult) as a view does."""
    words = ["corporeal", "animate", *([] if body is None else ["--body", body])]
    # poses of one's own, and roots that are held, have no flags: the export keeps the motion beside
    is_free = document.motion.root == "free" and document.motion.name != POSES
    words += ["--motion", document.motion.name if is_free else "motion.npz"]
    is_authored = is_free and not is_motion_file(document.motion.name)
    if is_authored and document.motion.duration != 4.0:
        words += ["--duration", f"{document.motion.duration:g}"]
    if is_authored and document.motion.seed:
        words += ["--seed", str(document.motion.seed)]
    traits = deformer_class(view.deformer)
    words += ["--deformer", view.deformer, *control_words(traits.Controls, view.controls)]
    if document.painted and traits.accepts_maps:
        words += ["--stiffness-map", "painted.npy"]
    if document.exaggerated and not traits.is_linear_blend:
        words += ["--exaggeration-map", "exaggerated.npy"]
    words += look_words(document.appearance)
    return shlex.join([*words, "--out", out])


def look_words(appearance: Appearance) -> list[str]:
    """Flags of a look; one with sliders of the face is a file that the export keeps beside."""
    if appearance.face:
        return ["--appearance", "appearance.json"]
    values = appearance.plain()
    words = []
    if expression := values.pop("expression", None):
        words += ["--expression", *(f"{name}={value:g}" for name, value in expression.items())]
    if values:
        words += ["--look", *(f"{name}={_short(value)}" for name, value in values.items())]
    return words


def _short(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _flags(values: Mapping[str, float]) -> list[str]:
    return [word for name, v in values.items() for word in (f"--{_dashed(name)}", f"{v:.5g}")]


def _dashed(name: str) -> str:
    return name.replace("_", "-")
