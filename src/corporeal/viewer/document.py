"""The document: everything that a person has chosen, and nothing that follows from it.

It is one JSON object. Every change goes through `parse`, so that what a page sends, what a session
file holds and what a test writes are checked by the same lines. Undo keeps earlier documents.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, get_args

from corporeal.appearance.appearance import SKIN_NAMES, Appearance
from corporeal.appearance.faces import expression_names, face_sliders
from corporeal.body.controls import ControlValue
from corporeal.errors import InputError
from corporeal.pipelines.controls import plain_controls
from corporeal.viewer.messages import is_number, require_plain
from corporeal.viewer.posing import Key, read_keys
from corporeal.viewer.rig import Rig, read_rig

MOST_VIEWS = 4
"""Bodies side by side."""
MOST_SIZE = 16 << 20
"""Bytes of a session file."""

Root = Literal["free", "in-place", "fixed"]
Colouring = Literal[
    "skin", "offset", "strain", "error", "weight", "stiffness", "exaggeration", "layer"
]


@dataclass(frozen=True)
class BodyChoice:
    """Who it is."""

    sliders: Mapping[str, float] = field(default_factory=dict)
    """Phenotype by name; those not named are at their defaults."""
    local: Mapping[str, float] = field(default_factory=dict)
    """Modifiers of one region; 0 unless named."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Measurements that sliders and modifiers were solved for, SI; empty once they are moved."""
    learned: Mapping[str, float] = field(default_factory=dict)
    """Coefficients of the learned shapes, standard deviations, by number from 1."""
    scan: str = ""
    """File of a registered person, which sliders then do not shape; empty for one of sliders."""


@dataclass(frozen=True)
class MotionChoice:
    """What it does."""

    name: str = "jumping-jacks"
    """An authored motion, or the name of an uploaded file."""
    duration: float = 4.0
    """Seconds, of an authored motion."""
    seed: int = 0
    """Random seed of an authored motion."""
    root: Root = "free"
    """`in-place` takes the way over the ground out; `fixed` holds the pelvis where it starts."""


@dataclass(frozen=True)
class View:
    """One body of those side by side."""

    deformer: str = "lbs"
    """A deformer's name, or `take:NAME` for an uploaded take."""
    controls: Mapping[str, ControlValue] = field(default_factory=dict)
    """What the deformer is told; those not named are at their defaults."""


@dataclass(frozen=True)
class ColourChoice:
    """What the skin shows."""

    what: Colouring = "skin"
    """Skin, or which numbers are shown as colours."""
    against: int = 0
    """View that `error` is taken against."""
    joint: str = "left_elbow"
    """Whose `weight`."""
    most: float = 0.0
    """End of the scale in millimetres or per cent; 0 finds one."""


@dataclass(frozen=True)
class Look:
    """How the page draws; the session only keeps it."""

    skeleton: bool = False
    """Whether bones are drawn as lines."""
    wireframe: bool = False
    """Whether edges are drawn."""
    ground: bool = True
    """Whether the floor is drawn."""
    skin_opacity: float = 1.0
    """0 (unseen) to 1."""
    muscle: bool = False
    """Whether the muscle surface is drawn."""
    bone: bool = False
    """Whether the bones are drawn."""
    cut: float = -1.0
    """Share of the body's width in front of the cut plane that is taken away; below 0: none."""
    cut_axis: Literal["x", "y", "z"] = "x"
    """World axis that the cut plane is square to."""


@dataclass(frozen=True)
class Document:
    """All of it."""

    body: BodyChoice = field(default_factory=BodyChoice)
    """Whose body it is."""
    appearance: Appearance = field(default_factory=Appearance)
    """How it looks: skin, face, hair, eyes, clothes."""
    motion: MotionChoice = field(default_factory=MotionChoice)
    """What it does."""
    views: tuple[View, ...] = (View("lbs"), View("projective"))
    """Deformers side by side, with their controls."""
    colour: ColourChoice = field(default_factory=ColourChoice)
    """What the skin shows."""
    look: Look = field(default_factory=Look)
    """How the page draws."""
    painted: Mapping[str, float] = field(default_factory=dict)
    """Stiffness factors by vertex number; 1 where none is named."""
    exaggerated: Mapping[str, float] = field(default_factory=dict)
    """Factors on the skin's way from linear blending by vertex number; 1 where none is named."""
    growth: Mapping[str, float] = field(default_factory=dict)
    """Fat gained (or lost) by region, kg."""
    keys: tuple[Key, ...] = ()
    """Poses of the person's own, in the order of time."""
    rig: Rig = field(default_factory=Rig)
    """A mesh of the person's own, and its skeleton."""
    playing: bool = True
    """Whether time runs."""
    loop: bool = True
    """Whether the motion begins anew at its end."""
    speed: float = 1.0
    """Seconds of motion a second."""


_SECTIONS = frozenset(f.name for f in fields(Document))


def as_json(document: Document) -> dict[str, Any]:
    """Plain lists, numbers and words."""
    plain = asdict(document)
    plain["views"] = list(plain["views"])
    plain["keys"] = list(plain["keys"])
    plain["rig"]["joints"] = list(plain["rig"]["joints"])
    plain["appearance"] = _plain_appearance(document.appearance)
    return plain


def _plain_appearance(appearance: Appearance) -> dict[str, Any]:
    """What differs from the defaults; sliders of the face and expressions always have a place."""
    return {"face": {}, "expression": {}, **appearance.plain()}


def changed(document: Document, path: Sequence[str | int], value: Any) -> Document:
    """The document with `value` at `path`; None takes a named number away.

    Sections beside the path stay the very same objects: documents are many, and paint is large.
    """
    words = ".".join(map(str, path))
    top = path[0] if path else ""
    if not isinstance(top, str):
        raise InputError(f"path {words!r} leads nowhere.")
    plain: dict[str, Any] = {top: _plain_section(document, top)}
    place: Any = plain
    try:
        for word in path[:-1]:
            place = place[word]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value
    except (KeyError, IndexError, TypeError) as error:
        raise InputError(f"path {words!r} leads nowhere.") from error
    return replace(document, **{top: getattr(parse(plain), top)})


def _plain_section(document: Document, name: str) -> Any:
    """One field of the document as JSON; None for a name that is none."""
    section = getattr(document, name) if name in _SECTIONS else None
    if isinstance(section, Appearance):
        return _plain_appearance(section)
    if isinstance(section, tuple):
        return [asdict(row) for row in section]
    if isinstance(section, Mapping):
        return dict(section)
    return asdict(section) if is_dataclass(section) else section  # pyright: ignore[reportArgumentType]


def read_document(content: bytes) -> Document:
    """The document of a session file."""
    if len(content) > MOST_SIZE:
        raise InputError(f"session has {len(content)} bytes; expected at most {MOST_SIZE}.")
    try:
        plain = json.loads(content)
        require_plain("the session", plain)
        return parse(plain)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("the session file is no JSON; save one from the studio.") from error


def parse(plain: Any) -> Document:
    """A checked document; raises `InputError` for unknown names and values out of range."""
    top = _object("the session", _modern(plain), Document)
    views = top.get("views")
    if views is not None and not (isinstance(views, list) and 1 <= len(views) <= MOST_VIEWS):
        raise InputError(f"the session shows other than 1 to {MOST_VIEWS} bodies.")
    readers: dict[str, Callable[[Any], Any]] = {
        "body": _body,
        "appearance": _appearance,
        "motion": _motion,
        "views": lambda rows: tuple(_view(row) for row in rows),
        "colour": _colour,
        "look": lambda row: Look(**_flat("look", row, Look)),
        "painted": lambda row: _numbers("painted", row, 1e-3, 1e3),
        "exaggerated": lambda row: _numbers("exaggerated", row, 1e-3, 1e2),
        "growth": lambda row: _numbers("growth", row, -80.0, 80.0),
        "keys": read_keys,
        "rig": read_rig,
        "playing": lambda value: _plain("playing", value, bool),
        "loop": lambda value: _plain("loop", value, bool),
        "speed": lambda value: _within("speed", value, 0.05, 4.0),
    }
    return Document(**{name: readers[name](value) for name, value in top.items()})


def _modern(plain: Any) -> Any:
    """A session whose skin tone is a word among how the page draws, as it once was, said anew."""
    look = plain.get("look") if isinstance(plain, dict) else None
    if not isinstance(look, dict) or "tone" not in look:
        return plain
    appearance = plain.get("appearance", {})
    tone = look["tone"]
    if isinstance(tone, str) and tone in SKIN_NAMES and isinstance(appearance, dict):
        appearance = {"skin": SKIN_NAMES[tone], **appearance}
    rest = {name: value for name, value in look.items() if name != "tone"}
    return {**plain, "look": rest, "appearance": appearance}


def _appearance(plain: Any) -> Appearance:
    if not isinstance(plain, dict):
        raise InputError(f"appearance is {type(plain).__name__}; expected values by name.")
    if plain.get("wear"):
        raise InputError("the studio puts on no assets; 'corporeal animate --wear' does.")
    read = Appearance.of(plain)
    for what, pairs, known in (
        ("face slider", read.face, face_sliders()),
        ("expression", read.expression, expression_names()),
    ):
        if unknown := [name for name, _ in pairs if name not in known]:
            raise InputError(f"there is no {what} {unknown[0]!r:.60}.")
    return read


def _body(plain: Any) -> BodyChoice:
    row = dict(_object("body", plain, BodyChoice))
    scan = _plain("body scan", row.pop("scan", ""), str)
    numbers = {name: _numbers(f"body {name}", v, -1e4, 1e4) for name, v in row.items()}
    return BodyChoice(**numbers, scan=scan)


def _motion(plain: Any) -> MotionChoice:
    choice = MotionChoice(**_flat("motion", plain, MotionChoice))
    _within("motion duration", choice.duration, 2.0, 600.0)
    _within("motion seed", choice.seed, 0.0, 2.0**31)
    return choice


def _colour(plain: Any) -> ColourChoice:
    choice = ColourChoice(**_flat("colour", plain, ColourChoice))
    _within("colour against", choice.against, 0.0, MOST_VIEWS - 1.0)
    _within("colour most", choice.most, 0.0, 1e4)
    return choice


def _view(plain: Any) -> View:
    row = _object("view", plain, View)
    deformer = _plain("deformer", row.get("deformer", "lbs"), str)
    controls = row.get("controls", {})
    if deformer.startswith("take:"):
        return View(deformer, _numbers("controls", controls, -1e9, 1e9))
    if not isinstance(controls, dict):
        raise InputError(f"controls are {type(controls).__name__}; expected values by name.")
    return View(deformer, plain_controls(deformer, controls))


def _object(what: str, plain: Any, kind: type) -> dict[str, Any]:
    """A JSON object with no other names than the fields of `kind`."""
    if not isinstance(plain, dict):
        raise InputError(f"{what} is {type(plain).__name__}; expected an object.")
    known = {f.name for f in fields(kind)}
    if unknown := sorted(set(plain) - known):
        raise InputError(f"{what} has no {', '.join(unknown)}; it has {', '.join(sorted(known))}.")
    return plain


def _flat(what: str, plain: Any, kind: type) -> dict[str, Any]:
    """Words, numbers and switches, each of its field's own type."""
    row = _object(what, plain, kind)
    kinds = {f.name: f.type for f in fields(kind)}
    return {name: _plain(f"{what} {name}", value, kinds[name]) for name, value in row.items()}


def _plain(what: str, value: Any, kind: Any) -> Any:
    if choices := get_args(kind):
        if value not in choices:
            raise InputError(f"{what} is {value!r}; expected one of {', '.join(choices)}.")
        return value
    if kind is float:
        return _within(what, value, -1e9, 1e9)
    if kind is int:
        return int(_within(what, value, -(2.0**53), 2.0**53))
    if type(value) is not kind or (kind is str and len(value) > 300):
        raise InputError(f"{what} is {str(value)[:40]!r}; expected {kind.__name__}.")
    return value


def _numbers(what: str, plain: Any, low: float, high: float) -> dict[str, float]:
    if not isinstance(plain, dict):
        raise InputError(f"{what} is {type(plain).__name__}; expected numbers by name.")
    return {str(name): _within(f"{what} {name}", v, low, high) for name, v in plain.items()}


def _within(what: str, value: Any, low: float, high: float) -> float:
    if not is_number(value):
        raise InputError(f"{what} is {str(value)[:40]!r}; expected a finite number.")
    if not low <= value <= high:
        raise InputError(f"{what} is {value:g}; expected {low:g} to {high:g}.")
    return float(value)
