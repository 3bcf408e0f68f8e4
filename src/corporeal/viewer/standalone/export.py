"""`corporeal export-viewer`: takes as one page that opens from a file."""

import base64
import html
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import corporeal
from corporeal._typing import Float, NumpyArray
from corporeal.appearance.appearance import Appearance, skin_angle_deg
from corporeal.appearance.dress import coverage_of
from corporeal.body.animation import Animation
from corporeal.body.character import Character
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.live_dynamics import MOST_DYNAMIC
from corporeal.pipelines.loading import load
from corporeal.pipelines.presentation import LookOptions
from corporeal.runtime.files import require_writable, write_bytes
from corporeal.runtime.manifest import finish_run, manifest_path, start_run
from corporeal.scene.drape import Drape
from corporeal.skinning.playback import character_vertices
from corporeal.viewer.looks import SIZE, dressed_up, skin_picture, surface_arrays
from corporeal.viewer.packets import Packet
from corporeal.viewer.standalone.cache import STEP, VertexCache, encoded
from corporeal.viewer.standalone.live import LiveFlesh, live_flesh
from corporeal.viewer.standalone.one_script import CLIENT, PAGE, one_script

TEMPLATES = Path(str(files("corporeal.formats.runtime_scripts"))) / "templates"
MOST_TAKES = 4
MOST_NUMBERS = 400_000_000
"""Numbers of all takes: the page holds two bytes of each."""
_MODULES = (
    CLIENT / "packets.js",
    CLIENT / "room.js",
    CLIENT / "body_mesh.js",
    CLIENT / "looks.js",
    PAGE / "frames.js",
    TEMPLATES / "dynamics.mjs.template",
    PAGE / "live.js",
    PAGE / "player.js",
)


@dataclass(frozen=True, kw_only=True)
class ExportViewerConfig:
    """Takes in, one page out."""

    takes: tuple[Path, ...]
    """Takes to show side by side: animations (.npz) or characters (.glb)."""
    out: Path
    """Page to write (.html)."""
    title: str | None = None
    """Title of the page; the names of the files unless given."""
    skin: str | None = None
    """Skin tone: porcelain, light, medium, olive, brown, deep, or a typology angle; light unless
    given."""
    appearance: Path | None = None
    """A whole look (.json: names and values), as `corporeal animate --appearance` takes it."""
    live: bool = False
    """Let the page predict the flesh of each take's person and motion: the DMPL that ships, which
    the hand can shake and exaggerate."""
    live_shapes: int = MOST_DYNAMIC
    """Dynamic shapes of a live page; more are closer to `--deformer dmpl`, about 0.1 MB each."""
    step_mm: float = 1e3 * STEP
    """Steps that positions are rounded to, millimetres: they are off by at most half of it."""


@dataclass(frozen=True)
class ExportedViewer:
    """What came of it."""

    out: Path
    """The page."""
    manifest: Path
    """Its manifest."""
    bytes: int
    """Of the page."""
    frames: tuple[int, ...]
    """Of every take."""
    step_mm: tuple[float, ...]
    """Steps of every take, millimetres."""


@dataclass(frozen=True, eq=False)
class _Take:
    """One take, whatever file it came from."""

    title: str
    vertices: Float[NumpyArray, "N V 3"]
    fps: float
    animation: Animation | None
    triangles: NumpyArray
    live: LiveFlesh | None = None


def export_viewer(config: ExportViewerConfig) -> ExportedViewer:
    """Write the page and its manifest."""
    _require(config)
    given = [*config.takes, *([config.appearance] if config.appearance else [])]
    run = start_run("export-viewer", config, given)
    takes = [_read(path) for path in config.takes]
    if config.live:
        takes = [_lively(take, config.live_shapes) for take in takes]
    numbers = sum(take.vertices.size for take in takes)
    if numbers > MOST_NUMBERS:
        raise InputError(
            f"the takes have {numbers / 1e6:.0f} million numbers; a page holds "
            f"{MOST_NUMBERS / 1e6:.0f}. Give shorter ones."
        )
    looks = LookOptions(appearance=config.appearance, skin=config.skin).presentation()
    packet, caches = viewer_packet(takes, looks.appearance, 1e-3 * config.step_mm)
    title = config.title or ", ".join(path.stem for path in config.takes)
    page = page_of(packet, title, _about(takes, caches))
    write_bytes(config.out, page)
    steps = tuple(round(1e3 * cache.step, 4) for cache in caches)
    frames = tuple(cache.frames for cache in caches)
    finish_run(run, [config.out], {"bytes": len(page), "frames": frames, "step_mm": steps})
    return ExportedViewer(config.out, manifest_path(config.out), len(page), frames, steps)


def _require(config: ExportViewerConfig) -> None:
    if not 1 <= len(config.takes) <= MOST_TAKES:
        raise InputError(f"{len(config.takes)} takes came; expected 1 to {MOST_TAKES}.")
    if config.out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"cannot write a page to {config.out}; expected the suffix .html.")
    if config.skin is not None:
        skin_angle_deg(config.skin)
    if not 1 <= config.live_shapes <= 500:
        raise InputError(f"{config.live_shapes} dynamic shapes came; expected 1 to 500.")
    if not 1e-3 <= config.step_mm <= 10.0:
        raise InputError(f"steps are {config.step_mm:g} mm; expected 0.001 to 10.")
    require_writable(config.out)


def _read(path: Path) -> _Take:
    noun = load(path, "character") if path.suffix.lower() == ".glb" else load(path)
    if isinstance(noun, Animation):
        vertices = np.asarray(noun.vertices, np.float32)
        triangles = np.asarray(noun.template.mesh.triangles)
        return _Take(f"{path.stem} · {noun.deformer}", vertices, noun.motion.fps, noun, triangles)
    if isinstance(noun, Character):
        vertices = character_vertices(noun, np.arange(noun.frame_count))
        triangles = np.asarray(noun.template.mesh.triangles)
        return _Take(path.stem, np.asarray(vertices, np.float32), noun.fps, None, triangles)
    raise InputError(
        f"{path} holds no take; expected an animation or a character, such as 'corporeal animate "
        f"--out take.npz' writes."
    )


def _lively(take: _Take, shapes: int) -> _Take:
    if take.animation is None:
        raise InputError(
            f"{take.title} is a character; --live takes animations (.npz), which hold a person "
            f"and a motion."
        )
    live = live_flesh(take.animation, shapes)
    title = f"{take.title.rpartition(' · ')[0]} · dmpl, live"
    return replace(take, title=title, vertices=live.vertices, live=live)


def viewer_packet(
    takes: Sequence[_Take], appearance: Appearance, step: float
) -> tuple[Packet, list[VertexCache]]:
    """All that the page shows, and the frames in it; `step` in metres."""
    model = PhenotypeModel()
    arrays: dict[str, NumpyArray] = {}
    rows: list[dict[str, Any]] = []
    caches: list[VertexCache] = []
    pictures: dict[str, dict[str, str]] = {}
    for number, take in enumerate(takes):
        name, vertices = f"take {number}", take.vertices
        looks: dict[str, Any] | None = None
        own = np.array_equal(take.triangles, model.template.mesh.triangles)
        if own and take.animation is not None:
            dressed = _Dressed(take.animation, appearance)
            looks = dressed.fields
            arrays |= {f"{name} {part}": array for part, array in dressed.arrays.items()}
            for picture in dressed.pictures:
                key = str(picture.fields["key"])
                pictures[key] = dict(picture.fields["kinds"])
                arrays |= {f"{key} {part}": array for part, array in picture.arrays.items()}
            vertices = _covered(model, take.animation, appearance, vertices)
        else:
            arrays[f"{name} triangles"] = take.triangles.astype(np.uint32)
        cache = encoded(vertices, step)
        for place, chunk in enumerate(cache.chunks):
            arrays[f"{name} chunk {place}"] = np.frombuffer(chunk, np.uint8)
        if take.live is not None:
            arrays |= {f"{name} {part}": array for part, array in take.live.arrays.items()}
        caches.append(cache)
        rows.append(
            {
                "title": take.title,
                "looks": looks,
                "origin": cache.origin,
                "step": cache.step,
                "frames": cache.frames,
                "vertices": cache.vertices,
                "fps": float(take.fps),
                "chunks": len(cache.chunks),
                "live": None if take.live is None else take.live.fields,
            }
        )
    if any(row["looks"] for row in rows):
        arrays |= surface_arrays()
    return Packet("viewer", {"takes": rows, "pictures": pictures}, arrays), caches


class _Dressed:
    """The look of a take's person: face, parts and pictures, and the joints that move them."""

    def __init__(self, animation: Animation, appearance: Appearance) -> None:
        template, identity = animation.template, animation.identity
        made = dressed_up(template, identity, appearance)
        skin = skin_picture(identity, appearance, SIZE)
        self.fields = {**made.looks.fields, "skin": skin.fields["key"]}
        frames = np.asarray(animation.world_from_joint)[:, :, :3]
        self.arrays = {**made.looks.arrays, "joints": frames.astype(np.float32)}
        self.pictures = [*made.pictures.values(), skin]


def _covered(
    model: PhenotypeModel,
    animation: Animation,
    appearance: Appearance,
    vertices: Float[NumpyArray, "N V 3"],
) -> Float[NumpyArray, "N V 3"]:
    """Frames with cloth over the skin, as the studio shows them."""
    coverage = coverage_of(model.template, animation.identity, appearance)
    if coverage is None:
        return vertices
    rest = np.asarray(animation.identity.rest_vertices)
    drape = Drape(rest, model.template.mesh.triangles, coverage)
    return np.stack([np.asarray(drape.over(frame), np.float32) for frame in vertices])


def page_of(packet: Packet, title: str, about: str) -> bytes:
    """The page: template, style, script and data in one file."""
    parts = {
        "@TITLE@": html.escape(title),
        "@ABOUT@": html.escape(about),
        "@STYLE@": (PAGE / "style.css").read_text(encoding="utf-8"),
        "@DATA@": base64.b64encode(zlib.compress(packet.encode(), 9)).decode(),
        "@SCRIPT@": one_script(_MODULES),
    }
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    for place, text in parts.items():
        page = text.join(page.split(place))
    return page.encode()


def _about(takes: Sequence[_Take], caches: Sequence[VertexCache]) -> str:
    rows = [
        f"{take.title}: {cache.frames} frames at {take.fps:g} a second, {cache.vertices} vertices, "
        f"to {500 * cache.step:.2g} mm"
        for take, cache in zip(takes, caches, strict=True)
    ]
    return f"{'; '.join(rows)}. Made with corporeal {corporeal.__version__}."
