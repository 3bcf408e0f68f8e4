"""How the person on the stage looks, for a page: face, loose parts and pictures, each told once.

The page gets the face's offsets and the parts in the rest pose, and moves both by the joints'
frames that it has anyway: hair, eyes and lashes cost no byte a frame. Pictures have a key of their
content; a page is told those that it has not got.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance import dress, skin_paint
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.resolving import resolve, wearer_of
from corporeal.appearance.skin_tone import skin_colour
from corporeal.assets.default_body import load_default_body
from corporeal.body.attachment import Attachment
from corporeal.body.identity import Identity
from corporeal.body.material import Material
from corporeal.body.seams import split_seams
from corporeal.body.template import Template
from corporeal.errors import FormatError
from corporeal.formats.pictures import encoded
from corporeal.runtime.user_cache import content_key, keep, kept
from corporeal.viewer.packets import Packet, decode

if TYPE_CHECKING:
    from corporeal.viewer.session import Session

SIZE = 1024
"""Texels along an edge of the skin's pictures."""
DRAFT_SIZE = 512
"""While a slider is being moved."""
NAME, PAINT = "looks", "skin"
"""What is being prepared, as the page is told."""


@dataclass(frozen=True)
class DressedUp:
    """Everything that a page is told of a look."""

    looks: Packet
    """Face and parts; names pictures by their keys."""
    pictures: dict[str, Packet]
    """Pictures of the parts, by key."""


def dressed_up(template: Template, identity: Identity, appearance: Appearance) -> DressedUp:
    """Face, eyes, mouth, lashes and hair of a look on one body."""
    looks = dress.looks_of(template, identity, appearance, None)
    rest = np.asarray(identity.rest_vertices, np.float32)
    arrays: dict[str, NumpyArray] = {"rest_joints": np.asarray(identity.joints, np.float32)}
    if looks.offsets is not None:
        moved = np.flatnonzero(np.abs(looks.offsets).max(axis=1) > 1e-6)
        arrays |= {
            "moved": moved.astype(np.uint16),
            "offsets": looks.offsets[moved].astype(np.float32),
        }
        rest = rest + looks.offsets.astype(np.float32)
    parts: list[dict[str, Any]] = []
    pictures: dict[str, Packet] = {}
    for part in looks.parts:
        if part.material is None:
            continue
        key = _material_key(part.material)
        pictures[key] = picture_packet(key, part.material)
        arrays |= _part_arrays(part, rest, np.asarray(identity.joints, np.float32))
        parts.append(
            {
                "name": part.name,
                "kind": part.material.kind,
                "picture": key,
                "joint": part.joint,
                "soft": part.binding is not None,
                "cutout": part.material.cutout,
                "double": part.material.double_sided,
            }
        )
    tone = skin_colour(appearance.skin, appearance.undertone)
    fields = {"parts": parts, "tone": [round(float(x), 4) for x in tone]}
    return DressedUp(Packet("looks", fields, arrays), pictures)


def kept_looks(template: Template, identity: Identity, appearance: Appearance) -> DressedUp:
    """The same as `dressed_up`, from the cache where it was made before: what a studio begins with
    is always alike."""
    made = found_looks(identity, appearance)
    if made is None:
        made = dressed_up(template, identity, appearance)
        key = _looks_key(identity, appearance)
        keep(NAME, key, _joined([made.looks, *made.pictures.values()]))
    return made


def found_looks(identity: Identity, appearance: Appearance) -> DressedUp | None:
    """What the cache has of it, if it has."""
    found = kept(NAME, _looks_key(identity, appearance))
    if found is None:
        return None
    try:
        looks, *pictures = _unjoined(found)
        return DressedUp(looks, {str(packet.fields["key"]): packet for packet in pictures})
    except (FormatError, ValueError):
        return None  # damaged: made anew


def _looks_key(identity: Identity, appearance: Appearance) -> str:
    shape = np.asarray(identity.rest_vertices, np.float32).tobytes()
    joints = np.asarray(identity.joints, np.float32).tobytes()
    return content_key(_code_key(), repr((appearance, wearer_of(identity))).encode(), shape, joints)


def _joined(packets: list[Packet]) -> bytes:
    """Packets one after another, each behind its length."""
    contents = [packet.encode() for packet in packets]
    return b"".join(len(content).to_bytes(8, "little") + content for content in contents)


def _unjoined(content: bytes) -> list[Packet]:
    packets = []
    while content:
        size = int.from_bytes(content[:8], "little")
        packets.append(decode(content[8 : 8 + size]))
        content = content[8 + size :]
    return packets


def _part_arrays(
    part: Attachment, rest: Float[NumpyArray, "V 3"], joints: Float[NumpyArray, "J 3"]
) -> dict[str, NumpyArray]:
    """A part with open seams: rigid ones from their joint, soft ones with what they follow."""
    seams, name = split_seams(part.mesh), part.name
    assert seams.uv is not None
    vertices = np.asarray(part.mesh.vertices, np.float32)
    count = part.mesh.vertex_count
    arrays: dict[str, NumpyArray] = {
        f"{name} triangles": part.mesh.triangles.astype(np.uint16),
        f"{name} corners": seams.triangles.astype(np.uint16),
        f"{name} extra": seams.source[count:].astype(np.uint16),
        f"{name} uv": seams.uv.astype(np.float32),
        f"{name} vertices": vertices - joints[part.joint] if part.binding is None else vertices,
    }
    if part.binding is None:
        return arrays
    used, places = np.unique(part.binding.carriers, return_inverse=True)
    weights = part.binding.weights
    return arrays | {
        f"{name} joints": weights.joint_indices.astype(np.uint8),
        f"{name} weights": weights.values.astype(np.float32),
        f"{name} used": used.astype(np.uint16),
        f"{name} used rest": rest[used],
        f"{name} carriers": places.reshape(part.binding.carriers.shape).astype(np.uint16),
        f"{name} shares": part.binding.shares.astype(np.float32),
    }


def picture_packet(key: str, material: Material) -> Packet:
    """A material's pictures: colour, and one of normals (red and green) and roughness (blue)."""
    surface = np.empty((*material.roughness.shape, 3), np.uint8)
    surface[..., :2] = 128 if material.normal is None else material.normal[..., :2]
    surface[..., 2] = material.roughness
    colour = material.colour if material.cutout else material.colour[..., :3]
    files = {"colour": encoded(colour), "surface": encoded(surface)}
    kinds = {name: {".jpg": "image/jpeg", ".png": "image/png"}[s] for name, (_, s) in files.items()}
    arrays = {name: np.frombuffer(content, np.uint8) for name, (content, _) in files.items()}
    return Packet("picture", {"key": key, "kinds": kinds}, arrays)


def skin_key(identity: Identity, appearance: Appearance, size: int) -> str:
    """Name of the skin's pictures: of all that paint depends on, and of the code that paints."""
    paint = skin_paint.paint_of(resolve(appearance, wearer_of(identity)))
    return content_key(_code_key(), f"{paint!r} {size}".encode())


def skin_picture(identity: Identity, appearance: Appearance, size: int) -> Packet:
    """The skin's pictures; from the cache where they were painted before."""
    key = skin_key(identity, appearance, size)
    found = kept(PAINT, key)
    if found is not None:
        try:
            return decode(found)
        except FormatError:
            pass  # damaged: painted anew
    look = resolve(appearance, wearer_of(identity))
    made = picture_packet(key, skin_paint.skin_material(look, size))
    if size == SIZE:
        keep(PAINT, key, made.encode())
    return made


@cache
def _code_key() -> bytes:
    """Which code and which masks paint."""
    folder = Path(skin_paint.__file__).parent
    return content_key(*(file.read_bytes() for file in sorted(folder.glob("*.py")))).encode()


def _material_key(material: Material) -> str:
    normal = b"" if material.normal is None else material.normal.tobytes()
    return content_key(material.colour.tobytes(), material.roughness.tobytes(), normal)


class Dresser:
    """Keeps one page's looks up with the document, beside the show."""

    def __init__(self) -> None:
        self._looks: DressedUp | None = None
        self._skin: Packet | None = None
        self._told: set[str] = set()
        self._has_begun = False

    def prepare(self, session: "Session") -> None:
        """What a first picture should not lack: painted skin, coarse unless it is kept, and the
        rest of the look where that is kept."""
        identity, appearance = session.stage.identity, session.document.appearance
        self._looks = found_looks(identity, appearance)
        is_kept = kept(PAINT, skin_key(identity, appearance, SIZE)) is not None
        self._skin = skin_picture(identity, appearance, SIZE if is_kept else DRAFT_SIZE)

    def begin(self, session: "Session") -> None:
        """Dress the person up for the first time, if that is not under way."""
        if not self._has_begun:
            self.follow(session, final=True, make=kept_looks)

    def tell_all(self, session: "Session") -> None:
        """Tell a page that knows nothing yet."""
        self._told = set()
        self._tell_looks(session)
        self._tell_skin(session)

    def follow(
        self,
        session: "Session",
        *,
        final: bool,
        make: Callable[[Template, Identity, Appearance], DressedUp] = dressed_up,
    ) -> None:
        """Dress the person up anew after body or appearance have changed."""
        self._has_begun = True
        template, identity = session.model.template, session.stage.identity
        appearance = session.document.appearance

        def looks() -> DressedUp:
            return make(template, identity, appearance)

        if make is dressed_up or self._looks is None:
            session.background.start(
                NAME, looks, lambda made: self._take_looks(session, made), lane=NAME
            )
        size = SIZE if final else DRAFT_SIZE
        shown = None if self._skin is None else self._skin.fields["key"]
        full, wanted = (skin_key(identity, appearance, edge) for edge in (SIZE, size))
        if shown in (full, wanted):
            session.background.cancel(PAINT)
            return

        def paint() -> Packet:
            return skin_picture(identity, appearance, size)

        session.background.start(
            PAINT, paint, lambda made: self._take_skin(session, made), lane=NAME
        )

    def _take_looks(self, session: "Session", made: DressedUp) -> None:
        self._looks = made
        self._tell_looks(session)

    def _take_skin(self, session: "Session", made: Packet) -> None:
        self._skin = made
        self._tell_skin(session)

    def _tell_looks(self, session: "Session") -> None:
        if self._looks is None or not session.watched:
            return
        for key, picture in self._looks.pictures.items():
            if key not in self._told:
                session.send(picture)
        self._told = set(self._looks.pictures)
        session.send(self._looks.looks)

    def _tell_skin(self, session: "Session") -> None:
        if self._skin is not None and session.watched:
            session.send(Packet("skin", self._skin.fields, self._skin.arrays))


def surface_arrays() -> dict[str, NumpyArray]:
    """The default body as a page draws it: triangles over its vertices, the same with open seams,
    texture coordinates, and which joints carry every vertex."""
    template = load_default_body().template
    seams, count = split_seams(template.mesh), template.mesh.vertex_count
    assert seams.uv is not None
    return {
        "triangles": template.mesh.triangles.astype(np.uint16),
        "corners": seams.triangles.astype(np.uint16),
        "extra": seams.source[count:].astype(np.uint16),
        "uv": seams.uv.astype(np.float32),
        "joint_indices": template.weights.joint_indices.astype(np.uint8),
        "weights": template.weights.values.astype(np.float32),
    }
