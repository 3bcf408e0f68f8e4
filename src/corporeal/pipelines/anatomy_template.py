"""An atlas of one's own, folders of meshes, made into a layered template file."""

from dataclasses import dataclass
from pathlib import Path

from corporeal.anatomy.atlas.build import AtlasReport, build_template
from corporeal.anatomy.atlas.parts import AtlasFrame, mesh_files, read_atlas
from corporeal.anatomy.template_file import write_template
from corporeal.errors import InputError
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run


@dataclass(frozen=True, kw_only=True)
class TemplateConfig:
    """Two folders in, one template out."""

    bones: Path
    """Folder of bone meshes."""
    muscles: Path
    """Folder of muscle meshes."""
    out: Path
    """Template file to write (.npz)."""
    sex: str = "male"
    """Whose default body the atlas goes into."""
    table: Path | None = None
    """Parts whose names do not say what they are."""
    unit: str = "m"
    """Of the meshes."""
    up: str = "+y"
    """Axis of the meshes that points up, with its sign."""
    front: str = "+z"
    """Axes of the meshes."""


@dataclass(frozen=True)
class TemplateMade:
    """What came of it."""

    out: Path
    """The template file."""
    manifest: Path
    """Its manifest."""
    report: AtlasReport
    """What became of the parts."""


def make_template(config: TemplateConfig) -> TemplateMade:
    """Build the template of an atlas and write it."""
    if config.out.suffix.lower() != ".npz":
        raise InputError(f"cannot write a template to {config.out}; expected a name with .npz.")
    require_writable(config.out)
    tables = () if config.table is None else (config.table,)
    files = dict.fromkeys([*mesh_files(config.bones), *mesh_files(config.muscles)])
    run = start_run("anatomy template", config, [*files, *tables])
    frame = AtlasFrame(config.unit, config.up, config.front)
    atlas = read_atlas(config.bones, config.muscles, frame, config.table)
    template, report = build_template(atlas, config.sex)
    write_template(config.out, template)
    finish_run(run, [config.out], vars(report))
    return TemplateMade(config.out, manifest_path(config.out), report)
