"""The picture on a `.glb`'s surface: the base colour texture, read and put in.

============ ==========================================================================
read         the picture of the first textured surface, PNG or JPEG inside the file
put in       one PNG as the base colour of a material; vertex colours, which engines would
             multiply it with, are taken from the surfaces that have it
not carried  pictures outside the file, further textures (normals, roughness), samplers
============ ==========================================================================
"""

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.errors import FormatError, InputError
from corporeal.formats.glb_read import GlbFile, open_glb
from corporeal.formats.png import decoded_picture
from corporeal.runtime.files import atomic_write

_JSON, _BIN = 0x4E4F534A, 0x004E4942


def read_glb_texture(path: str | Path) -> UInt8[NumpyArray, "H W 3"] | None:
    """Pixels of the first surface's base colour; None where there is no picture in the file."""
    file = open_glb(path)
    for mesh in file.items("meshes"):
        for primitive in file.objects(mesh, "primitives"):
            if "material" not in primitive:
                continue
            content = _picture(file, primitive)
            if content is not None:
                return decoded_picture(content, f"the texture of {path}")
    return None


def _picture(file: GlbFile, primitive: Any) -> bytes | None:
    """Bytes of the picture of a primitive's material."""
    materials = file.items("materials")
    material = materials[file.index(primitive, "material", len(materials), "material")]
    base = file.inside(file.inside(material, "pbrMetallicRoughness"), "baseColorTexture")
    if "index" not in base:
        return None
    textures, images = file.items("textures"), file.items("images")
    texture = textures[file.index(base, "index", len(textures), "texture")]
    if "source" not in texture:
        return None
    image = images[file.index(texture, "source", len(images), "image")]
    if "bufferView" not in image:
        return None
    views = file.items("bufferViews")
    view = views[file.index(image, "bufferView", len(views), "buffer view")]
    start, length = file.integer(view, "byteOffset", 0), file.integer(view, "byteLength")
    if file.integer(view, "buffer") != 0 or start < 0 or start + length > len(file.binary):
        file.refuse("a picture lies outside the file")
    return file.binary[start : start + length]


def embed_glb_texture(
    path: str | Path, pixels: UInt8[NumpyArray, "H W 3"], material: str = "body"
) -> None:
    """Put a picture (v up, its first row at v = 1) onto the surfaces of a material, in place."""
    from PIL import Image

    file = open_glb(path)
    document: dict[str, Any] = json.loads(json.dumps(file.document))
    names = [item.get("name") for item in document.get("materials", [])]
    if material not in names:
        raise InputError(f"{path} has no material {material!r}; it has {names}.")
    number = names.index(material)
    stored = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(stored, format="PNG")
    binary = bytearray(file.binary)
    binary.extend(bytes(-len(binary) % 4))
    view = {"buffer": 0, "byteOffset": len(binary), "byteLength": stored.tell()}
    binary.extend(stored.getvalue())
    binary.extend(bytes(-len(binary) % 4))
    document["buffers"][0]["byteLength"] = len(binary)
    image = {"bufferView": _added(document, "bufferViews", view), "mimeType": "image/png"}
    texture = {
        "source": _added(document, "images", image),
        "sampler": _added(document, "samplers", {"magFilter": 9729, "minFilter": 9987}),
    }
    surface = document["materials"][number].setdefault("pbrMetallicRoughness", {})
    surface["baseColorFactor"] = [1, 1, 1, 1]
    surface["baseColorTexture"] = {"index": _added(document, "textures", texture)}
    for mesh in document.get("meshes", []):
        for primitive in mesh["primitives"]:
            if primitive.get("material") == number:
                if "TEXCOORD_0" not in primitive["attributes"]:
                    raise InputError(f"{path} has a surface without texture coordinates.")
                primitive["attributes"].pop("COLOR_0", None)
    _write(path, document, bytes(binary))


def _added(document: dict[str, Any], section: str, item: dict[str, Any]) -> int:
    items = document.setdefault(section, [])
    items.append(item)
    return len(items) - 1


def _write(path: str | Path, document: dict[str, Any], binary: bytes) -> None:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    size = 12 + 8 + len(text) + 8 + len(binary)
    if size >= 2**32:
        raise FormatError(f"{path} would take {size} bytes; a .glb holds 4 GB.")
    with atomic_write(path) as temporary:
        temporary.write_bytes(
            struct.pack("<4sII", b"glTF", 2, size)
            + struct.pack("<II", len(text), _JSON)
            + text
            + struct.pack("<II", len(binary), _BIN)
            + binary
        )
