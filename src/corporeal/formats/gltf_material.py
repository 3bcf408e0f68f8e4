"""Materials in glTF: pictures inside the file's own buffer."""

from typing import Any

from corporeal.body.material import Material
from corporeal.formats.glb import GlbDocument
from corporeal.formats.pictures import Suffix, colour_picture, normal_picture, roughness_picture

_MEDIA = {".jpg": "image/jpeg", ".png": "image/png"}
_LINEAR, _TRILINEAR, _CLAMP = 9729, 9987, 33071


def add_material(document: GlbDocument, material: Material) -> int:
    """A textured material; one that is there already is shared."""
    known: dict[int, int] = document.shared
    if id(material) in known:
        return known[id(material)]
    surface: dict[str, Any] = {"metallicFactor": 1 if material.metallic else 0}
    flat = material.colour.size <= 64
    if flat:  # one colour all over needs no picture
        surface["baseColorFactor"] = [*material.mean_colour, 1]
        surface["roughnessFactor"] = float(material.roughness.flat[0]) / 255
    else:
        surface["baseColorTexture"] = _texture(
            document, f"{material.name}_colour", *colour_picture(material)
        )
        surface["metallicRoughnessTexture"] = _texture(
            document, f"{material.name}_roughness", *roughness_picture(material)
        )
        surface["roughnessFactor"] = 1
    item: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": surface}
    normal = normal_picture(material)
    if normal is not None and not flat:
        item["normalTexture"] = _texture(document, f"{material.name}_normal", *normal)
    if material.cutout:
        item |= {"alphaMode": "MASK", "alphaCutoff": 0.5}
    if material.double_sided:
        item["doubleSided"] = True
    known[id(material)] = document.add("materials", item)
    return known[id(material)]


def _texture(document: GlbDocument, name: str, data: bytes, suffix: Suffix) -> dict[str, int]:
    view = document.add_bytes(data)
    image = document.add("images", {"name": name, "bufferView": view, "mimeType": _MEDIA[suffix]})
    if "samplers" not in document.content:
        modes = {"magFilter": _LINEAR, "minFilter": _TRILINEAR, "wrapS": _CLAMP, "wrapT": _CLAMP}
        document.add("samplers", modes)
    return {"index": document.add("textures", {"sampler": 0, "source": image})}
