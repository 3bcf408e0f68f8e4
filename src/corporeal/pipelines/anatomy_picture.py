"""Layers files in, a picture of what is inside out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corporeal.anatomy.abdominal_wall import inner_wall
from corporeal.anatomy.template import LayeredTemplate, layered_template
from corporeal.anatomy.template_file import read_template
from corporeal.anatomy.warp import transfer_bones
from corporeal.body.layered_body import LayeredBody
from corporeal.errors import InputError
from corporeal.formats.layers import read_layers
from corporeal.pipelines.layered_body import require_default_topology, sex_of
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run
from corporeal.scene.anatomy_picture import Figure, Style, anatomy_picture

Styles = Literal["both", "see-through", "cut"]
MOST = 6
"""People in one picture."""


@dataclass(frozen=True, kw_only=True)
class PictureConfig:
    """Layers in, a picture out."""

    layers: tuple[Path, ...]
    """Layers files, one a person."""
    out: Path
    """Picture to write (.png)."""
    style: Styles = "both"
    """Bones and muscle through the skin, a cut across the body, or both of every person."""
    template: Path | None = None
    """Layered template whose bones are shown; the shipped one by default."""
    width: int = 1600
    """Pixels."""


@dataclass(frozen=True)
class PictureMade:
    """What came of it."""

    out: Path
    """The picture."""
    manifest: Path
    """Its manifest."""


def make_picture(config: PictureConfig) -> PictureMade:
    """Draw people's layers and write the picture."""
    if config.out.suffix.lower() != ".png":
        raise InputError(f"cannot write a picture to {config.out}; expected a name with .png.")
    require_writable(config.out)
    if not 1 <= len(config.layers) <= MOST:
        raise InputError(f"{len(config.layers)} layers files; a picture shows 1 to {MOST}.")
    own = () if config.template is None else (config.template,)
    run = start_run("anatomy picture", config, [*config.layers, *own])
    template = None if config.template is None else read_template(config.template)
    people = [(path.stem, read_layers(path)) for path in config.layers]
    draw_layers(people, config.out, config.style, template, config.width)
    finish_run(run, [config.out])
    return PictureMade(config.out, manifest_path(config.out))


def draw_layers(
    people: Sequence[tuple[str, LayeredBody]],
    out: Path,
    style: Styles = "both",
    template: LayeredTemplate | None = None,
    width: int = 1600,
) -> None:
    """Draw what is inside named people as a PNG, `width` pixels wide."""
    styles: tuple[Style, ...] = ("see-through", "cut") if style == "both" else (style,)
    figures = [
        figure for name, layered in people for figure in _figures(name, layered, styles, template)
    ]
    anatomy_picture(figures, out, width=width)


def _figures(
    name: str, layered: LayeredBody, styles: tuple[Style, ...], template: LayeredTemplate | None
) -> list[Figure]:
    """One person in every style."""
    require_default_topology(layered.body)
    chosen = (
        layered_template(sex_of(layered.body, layered.layers)) if template is None else template
    )
    bones = transfer_bones(layered.layers, chosen)
    wall = inner_wall(layered.layers, chosen)
    return [Figure(layered.layers, bones, style, name, wall) for style in styles]
