"""Materials in USD: UsdPreviewSurface, with pictures in a folder beside the file."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corporeal.body.material import Material
from corporeal.formats.pictures import colour_picture, normal_picture, roughness_picture
from corporeal.runtime.extras import import_extra
from corporeal.runtime.files import write_bytes


@contextmanager
def pictures_beside(path: str | Path) -> Iterator[Path]:
    """The folder for a file's pictures, `<name>_textures`; if the block fails and the folder is
    new, it goes again, so that a full disk leaves nothing behind."""
    folder = Path(path).with_name(f"{Path(path).stem}_textures")
    was_there = folder.exists()
    try:
        yield folder
    except BaseException:
        if not was_there:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def add_materials(
    pxr: Any,
    stage: Any,
    root: str,
    painted: Sequence[tuple[Any, Material | None]],
    folder: Path,
) -> None:
    """Bind every mesh to its material; pictures go into `folder` (`pictures_beside`)."""
    if not painted:
        return
    shade = import_extra("pxr.UsdShade", "usd", "writing USD materials")
    made: dict[int, Any] = {}
    for prim, material in painted:
        if material is None:
            continue
        if id(material) not in made:
            word = pxr.Tf.MakeValidIdentifier(material.name)
            place = f"{root}/{word}_material_{len(made)}"
            made[id(material)] = _material(pxr, shade, stage, place, material, folder)
        shade.MaterialBindingAPI.Apply(prim.GetPrim()).Bind(made[id(material)])
        prim.CreateDoubleSidedAttr(material.double_sided)


def _material(
    pxr: Any, shade: Any, stage: Any, place: str, material: Material, folder: Path
) -> Any:
    kinds = pxr.Sdf.ValueTypeNames
    made = shade.Material.Define(stage, place)
    surface = shade.Shader.Define(stage, f"{place}/surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    surface.CreateInput("metallic", kinds.Float).Set(float(material.metallic))
    made.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
    reader = shade.Shader.Define(stage, f"{place}/st")
    reader.CreateIdAttr("UsdPrimvarReader_float2")
    reader.CreateInput("varname", kinds.String).Set("st")
    reader.CreateOutput("result", kinds.Float2)

    def picture(name: str, data: bytes, suffix: str, space: str) -> Any:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{made.GetPrim().GetName()}_{name}{suffix}"
        write_bytes(file, data)
        node = shade.Shader.Define(stage, f"{place}/{name}")
        node.CreateIdAttr("UsdUVTexture")
        node.CreateInput("file", kinds.Asset).Set(f"./{folder.name}/{file.name}")
        node.CreateInput("sourceColorSpace", kinds.Token).Set(space)
        for axis in ("wrapS", "wrapT"):
            node.CreateInput(axis, kinds.Token).Set("clamp")
        node.CreateInput("st", kinds.Float2).ConnectToSource(reader.ConnectableAPI(), "result")
        return node

    colour = picture("colour", *colour_picture(material), "sRGB")
    colour.CreateOutput("rgb", kinds.Float3)
    surface.CreateInput("diffuseColor", kinds.Color3f).ConnectToSource(
        colour.ConnectableAPI(), "rgb"
    )
    if material.cutout:
        colour.CreateOutput("a", kinds.Float)
        surface.CreateInput("opacity", kinds.Float).ConnectToSource(colour.ConnectableAPI(), "a")
        surface.CreateInput("opacityThreshold", kinds.Float).Set(0.5)
    rough = picture("roughness", *roughness_picture(material), "raw")
    rough.CreateOutput("g", kinds.Float)
    surface.CreateInput("roughness", kinds.Float).ConnectToSource(rough.ConnectableAPI(), "g")
    bumps = normal_picture(material)
    if bumps is not None:
        normal = picture("normal", *bumps, "raw")
        normal.CreateInput("scale", kinds.Float4).Set(pxr.Gf.Vec4f(2, 2, 2, 1))
        normal.CreateInput("bias", kinds.Float4).Set(pxr.Gf.Vec4f(-1, -1, -1, 0))
        normal.CreateOutput("rgb", kinds.Float3)
        surface.CreateInput("normal", kinds.Normal3f).ConnectToSource(
            normal.ConnectableAPI(), "rgb"
        )
    return made
