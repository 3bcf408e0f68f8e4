"""Making the file that was asked for: the same pipelines that the command line runs."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.anthropometry.measure import measure
from corporeal.appearance.appearance import Appearance
from corporeal.body.body import Body
from corporeal.formats.layers import read_layers, write_layers
from corporeal.formats.native import write_body, write_motion
from corporeal.pipelines.animate import AnimateConfig, animate, load_motion
from corporeal.pipelines.convert import ConvertConfig, convert
from corporeal.pipelines.deformers import deformer_class
from corporeal.pipelines.motion_source import is_motion_file
from corporeal.viewer.colouring import painted_map
from corporeal.viewer.document import Document
from corporeal.viewer.jobs.person import chosen_body
from corporeal.viewer.packets import Packet
from corporeal.viewer.playhead import FPS, rooted
from corporeal.viewer.posing import POSES, posed
from corporeal.viewer.standalone.export import ExportViewerConfig, export_viewer


@dataclass(frozen=True)
class Order:
    """What is to be made."""

    document: Document
    """Everything that was chosen."""
    view: int
    """Whose body."""
    out: str
    """File to write; what its command needs is written beside it."""
    motion: str
    """An authored motion's name, or a motion file."""
    layers: str | None
    """Layers file of a body that has grown, or body file of one that was scanned."""


def export(order: Order) -> Packet:
    """Animate the chosen body as the command line would; body, paint and motion stay beside it."""
    document, folder = order.document, Path(order.out).parent
    view = document.views[order.view]
    traits = deformer_class(view.deformer)
    body = write_person(folder / "body.npz", document, order.layers)
    timing: dict[str, Any] = {}
    own = str(folder / "motion.npz")
    if order.motion == POSES:
        template = body.template
        motion = posed(document.keys, body.identity, template, FPS)
        write_motion(own, rooted(motion, document.motion.root))
        order = replace(order, motion=own)
    elif not is_motion_file(order.motion):  # captures keep their own
        timing = {"duration": document.motion.duration, "seed": document.motion.seed, "fps": FPS}
    config = AnimateConfig(
        out=Path(order.out),
        motion=order.motion,
        body=folder / "body.npz",
        deformer=view.deformer,
        controls=dict(view.controls),
        **timing,
    )
    if document.motion.root != "free" and order.motion != own:
        motion, _ = load_motion(config, body)
        write_motion(own, rooted(motion, document.motion.root))
        config = replace(config, motion=own, duration=None, seed=None, fps=None)
    count = body.template.mesh.vertex_count
    painted = painted_map(document.painted, count)
    if painted is not None and traits.accepts_maps:
        np.save(folder / "painted.npy", painted)
        config = replace(config, stiffness_map=folder / "painted.npy")
    exaggeration = painted_map(document.exaggerated, count)
    if exaggeration is not None and not traits.is_linear_blend:
        np.save(folder / "exaggerated.npy", exaggeration)
        config = replace(config, exaggeration_map=folder / "exaggerated.npy")
    if document.appearance != Appearance():
        look = folder / "appearance.json"
        look.write_text(json.dumps(document.appearance.plain()), encoding="utf-8")
        config = replace(config, appearance=look)
    made = animate(replace(config, out=taken(Path(order.out))))
    if made.out != Path(order.out):
        look = config.appearance
        export_viewer(ExportViewerConfig(takes=(made.out,), out=Path(order.out), appearance=look))
    report = {"frames": made.frames, "fps": made.fps}
    for name in ("morphs", "max_error_mm"):
        if name in made.report:
            report[name] = made.report[name]
    return Packet("made", report)


def reexport(source: str, out: str) -> Packet:
    """A take from a file, in another format."""
    if Path(out).suffix == ".html":
        export_viewer(ExportViewerConfig(takes=(Path(source),), out=Path(out)))
    else:
        convert(ConvertConfig(Path(source), Path(out)))
    return Packet("made", {})


def taken(out: Path) -> Path:
    """What is animated for a file: the file itself, or for a page the take that goes into it."""
    return out.with_suffix(".npz") if out.suffix == ".html" else out


def person(document: Document, layers: str | None, out: str) -> Packet:
    """The chosen body at rest, as `body.npz`."""
    write_person(Path(out), document, layers)
    return Packet("made", {})


def write_person(path: Path, document: Document, layers: str | None) -> Body:
    """Write the chosen body with its measurements, and with its layers where it has grown."""
    if layers is not None and document.growth:
        layered = read_layers(layers)
        write_layers(path, layered)
        return layered.body
    body = chosen_body(document.body, layers)
    body = Body(body.template, body.identity, measure(body.identity).values)
    write_body(path, body)
    return body
