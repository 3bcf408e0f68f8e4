"""What was clicked, as commands: every choice can be scripted."""

import shlex
from collections.abc import Mapping

from corporeal.viewer.document import BodyChoice, Document, View

_FLAGS = {
    "chest_circumference": "chest",
    "waist_circumference": "waist",
    "buttock_circumference": "hips",
}
"""Short names of measurements, as the command line has them."""


def command_lines(document: Document, out: str = "take.glb") -> list[str]:
    """One command for the body, where it is not the average adult, and one for every view."""
    lines = []
    body = body_command(document.body)
    if body is not None:
        lines.append(body)
    shown = [view for view in document.views if not view.deformer.startswith("take:")]
    stem, dot, suffix = out.rpartition(".")
    for number, view in enumerate(shown, 1):
        name = out if len(shown) == 1 else f"{stem}-{number}{dot}{suffix}"
        lines.append(animate_command(document, view, name, body is not None))
    return lines


def body_command(body: BodyChoice) -> str | None:
    """The command that makes the body; None for the average adult."""
    words = ["corporeal", "body"]
    if body.measured:
        fixed = {name: body.sliders[name] for name in ("gender", "age") if name in body.sliders}
        words += _flags(fixed)
        words += _flags({_FLAGS.get(name, name): value for name, value in body.measured.items()})
    elif body.sliders:
        words += _flags(body.sliders)
    else:
        return None
    return shlex.join([*words, "--out", "body.npz"])


def animate_command(document: Document, view: View, out: str, own_body: bool) -> str:
    """The command that moves the body as a view does."""
    words = ["corporeal", "animate", *(["--body", "body.npz"] if own_body else [])]
    words += ["--motion", document.motion.name]
    if document.motion.duration != 4.0:
        words += ["--duration", f"{document.motion.duration:g}"]
    if document.motion.seed:
        words += ["--seed", str(document.motion.seed)]
    words += ["--deformer", view.deformer, *_flags(view.controls)]
    if document.painted and view.deformer in ("projective", "layered"):
        words += ["--stiffness-map", "painted.npy"]
    return shlex.join([*words, "--out", out])


def _flags(values: Mapping[str, float]) -> list[str]:
    return [word for name, v in values.items() for word in (f"--{_dashed(name)}", f"{v:.5g}")]


def _dashed(name: str) -> str:
    return name.replace("_", "-")
