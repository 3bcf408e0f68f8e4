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
from corporeal.body.animation import Animation
from corporeal.body.character import Character
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.live_dynamics import MOST_DYNAMIC
from corporeal.pipelines.loading import load
from corporeal.runtime.files import require_writable, write_bytes
from corporeal.runtime.manifest import finish_run, manifest_path, start_run
from corporeal.scene.drape import Drape
from corporeal.scene.materials import SKIN_TONES
from corporeal.scene.wardrobe import underwear
from corporeal.skinning.playback import character_vertices
from corporeal.viewer.frames import person_packet, tone_packet
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
    tone: str = "light"
    """Skin tone."""
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
    run = start_run("export-viewer", config, list(config.takes))
    takes = [_read(path) for path in config.takes]
    if config.live:
        takes = [_lively(take, config.live_shapes) for take in takes]
    numbers = sum(take.vertices.size for take in takes)
    if numbers > MOST_NUMBERS:
        raise InputError(
            f"the takes have {numbers / 1e6:.0f} million numbers; a page holds "
            f"{MOST_NUMBERS / 1e6:.0f}. Give shorter ones."
        )
    packet, caches = viewer_packet(takes, config.tone, 1e-3 * config.step_mm)
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
    if config.tone not in SKIN_TONES:
        raise InputError(f"no skin tone {config.tone!r}; expected {', '.join(SKIN_TONES)}.")
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
    takes: Sequence[_Take], tone: str, step: float
) -> tuple[Packet, list[VertexCache]]:
    """All that the page shows, and the frames in it; `step` in metres."""
    model = PhenotypeModel()
    arrays: dict[str, NumpyArray] = {}
    rows: list[dict[str, Any]] = []
    caches: list[VertexCache] = []
    eyes: list[dict[str, Any]] = []
    for number, take in enumerate(takes):
        name, vertices = f"take {number}", take.vertices
        own = take.animation is not None and np.array_equal(
            take.triangles, model.template.mesh.triangles
        )
        if own and take.animation is not None:
            person = person_packet(model, take.animation.identity)
            eyes = list(person.fields["eyes"])
            arrays |= _own(name, person, take.animation, eyes)
            vertices = _dressed(model, take.animation, vertices)
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
                "own": bool(own),
                "origin": cache.origin,
                "step": cache.step,
                "frames": cache.frames,
                "vertices": cache.vertices,
                "fps": float(take.fps),
                "chunks": len(cache.chunks),
                "live": None if take.live is None else take.live.fields,
            }
        )
    if any(row["own"] for row in rows):
        arrays["triangles"] = model.template.mesh.triangles.astype(np.uint32)
        arrays |= tone_packet(model, tone).arrays
    return Packet("viewer", {"takes": rows, "eyes": eyes}, arrays), caches


def _own(
    name: str, person: Packet, animation: Animation, eyes: list[dict[str, Any]]
) -> dict[str, NumpyArray]:
    """What one person of the default body brings: clothes, and eyes that go with their joints."""
    arrays = {f"{name} garment": np.asarray(person.arrays["garment"], np.float32)}
    frames = np.asarray(animation.world_from_joint)[:, [eye["joint"] for eye in eyes], :3]
    arrays[f"{name} eyes"] = frames.astype(np.float32)
    for eye in eyes:
        arrays[f"{name} {eye['name']} vertices"] = person.arrays[f"{eye['name']} vertices"]
        for part in ("triangles", "colours"):
            arrays[f"{eye['name']} {part}"] = person.arrays[f"{eye['name']} {part}"]
    return arrays


def _dressed(
    model: PhenotypeModel, animation: Animation, vertices: Float[NumpyArray, "N V 3"]
) -> Float[NumpyArray, "N V 3"]:
    """Frames with cloth over the skin, as the studio shows them."""
    coverage = underwear(model.template, animation.identity)
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
