"""Faces that differ: sliders over the sculpted targets, random faces, origins, expressions.

A slider joins the two targets that change one thing in opposite ways (`nose-hump-decr` and
`-incr`), and both sides of the face. A random face draws every slider from a normal distribution
whose width depends on what the slider does, cut at `LIMIT` of it, so that no face is broken.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.resolving import Wearer
from corporeal.assets.default_body import load_default_body
from corporeal.assets.looks import expression_targets, face_targets
from corporeal.errors import InputError

_PAIRS = (
    ("decr", "incr"),
    ("in", "out"),
    ("down", "up"),
    ("backward", "forward"),
    ("compress", "uncompress"),
    ("concave", "convex"),
)
_NOT_SLIDERS = ("neck/", "asym/", "head/head-age", "head/head-trans", "head/head-angle", "ears/")
_EARS = ("ear-scale", "ear-wing", "ear-lobe", "ear-rot")
LIMIT = 1.4
"""Deviations at which a random slider is cut."""
_SPREAD = 1.1
"""Factor on all widths."""
_WIDTHS = {
    "head-fat": 0.14,
    "head-scale": 0.08,
    "head-back": 0.12,
    "head-": 0.20,
    "forehead": 0.28,
    "eyebrows": 0.22,
    "eye-scale": 0.12,
    "eye-trans": 0.11,
    "eye-height": 0.12,
    "eye-push": 0.08,
    "eye-eyefold": 0.16,
    "eye-epicanthus": 0.15,
    "eye-": 0.18,
    "nose-trans": 0.10,
    "nose-flaring": 0.12,
    "nose-scale": 0.14,
    "nose-nostrils": 0.12,
    "nose-": 0.18,
    "cheek": 0.26,
    "mouth-trans": 0.10,
    "mouth-scale-vert": 0.14,
    "mouth-": 0.17,
    "chin-jaw-drop": 0.10,
    "chin-prognathism": 0.14,
    "chin": 0.26,
    "ear-": 0.14,
}
"""Standard deviation of random sliders over `_SPREAD`, by how their names begin; the first that
fits."""


_SHAPES = ("oval", "round", "rectangular", "square", "triangular", "invertedtriangular", "diamond")
"""Shapes of the whole head."""


@dataclass(frozen=True)
class FaceSlider:
    """One thing that can be changed about a face, from −1 to 1 (or 0 to 1)."""

    name: str
    """Such as `nose-hump`."""
    less: tuple[str, ...]
    """Targets towards −1; empty where the slider has one side."""
    more: tuple[str, ...]
    """Targets towards 1."""
    width: float
    """Standard deviation in random faces."""


@cache
def face_sliders() -> Mapping[str, FaceSlider]:
    """All sliders by name."""
    ends = {end: (pair, pair.index(end)) for pair in _PAIRS for end in pair}
    sides: dict[str, tuple[list[str], list[str]]] = {}
    for target in face_targets().names:
        if target.startswith(_NOT_SLIDERS) and not any(ear in target for ear in _EARS):
            continue
        stem, _, end = target.partition("/")[2].rpartition("-")
        name = stem if end in ends else f"{stem}-{end}"
        name = name[2:] if name[:2] in ("l-", "r-") else name
        if "ear-shape" in name:
            continue
        sides.setdefault(name, ([], []))[ends[end][1] if end in ends else 1].append(target)
    return {
        name: FaceSlider(name, tuple(less), tuple(more), _width(name))
        for name, (less, more) in sides.items()
    }


def _width(name: str) -> float:
    usual = next((width for start, width in _WIDTHS.items() if name.startswith(start)), 0.2)
    return _SPREAD * usual


def random_face(seed: int, variety: float = 1.0) -> dict[str, float]:
    """Sliders of a random face: the same for the same seed; 0 is the average face."""
    if seed == 0:
        return {}
    random = np.random.default_rng([seed, 7])
    drawn = {}
    for name, slider in face_sliders().items():
        z = float(np.clip(random.standard_normal(), -LIMIT, LIMIT))
        value = variety * slider.width * z
        drawn[name] = float(np.clip(value if slider.less else abs(value), -1, 1))
    # a head has one shape: a few of them together would make a box of most
    shapes = [name for name in drawn if name.removeprefix("head-") in _SHAPES]
    kept = shapes[int(random.integers(len(shapes)))]
    return drawn | {name: 0.0 for name in shapes if name != kept}


def face_offsets(appearance: Appearance, wearer: Wearer) -> Float[NumpyArray, "V 3"]:
    """What the look's face adds to the rest shape, metres."""
    count = load_default_body().template.mesh.vertex_count
    sliders = random_face(appearance.face_seed, appearance.face_variety) | dict(appearance.face)
    offsets = face_targets().blend(target_weights(sliders), count)
    offsets += _origin_offsets(appearance, wearer)
    offsets *= _on_head()[:, None]
    units = _expressions(appearance)
    return offsets + _expression_offsets(units, appearance, count)


def target_weights(sliders: Mapping[str, float]) -> dict[str, float]:
    """Weights of the targets that sliders stand for."""
    known = face_sliders()
    weights: dict[str, float] = {}
    for name, value in sliders.items():
        if name not in known:
            raise InputError(f"there is no face slider {name!r}; known: {', '.join(known)}.")
        for target in known[name].more if value > 0 else known[name].less:
            weights[target] = weights.get(target, 0.0) + abs(value)
    return weights


@cache
def _on_head() -> Float[NumpyArray, "V"]:
    """1 on the head, falling to 0 down the neck: the body below keeps its measures."""
    template = load_default_body().template
    head = template.skeleton.index("head")
    neck = template.skeleton.index("neck")
    weights = template.weights.dense()
    return np.clip(weights[:, head] + 0.35 * weights[:, neck], 0, 1).astype(np.float64)


def origin_shares(appearance: Appearance) -> dict[str, float]:
    """Shares of the three origins, which sum to 1."""
    raw = {
        "african": appearance.african,
        "asian": appearance.asian,
        "caucasian": appearance.european,
    }
    total = sum(raw.values())
    return {name: value / total if total > 0 else 1 / 3 for name, value in raw.items()}


def _origin_offsets(appearance: Appearance, wearer: Wearer) -> Float[NumpyArray, "V 3"]:
    """From the mean of the three origins, which every body starts from, to the shares asked for."""
    body = load_default_body()
    total = np.zeros(body.template.mesh.vertices.shape)
    male = 0.5 if wearer.gender is None else wearer.gender
    old = float(np.clip((wearer.age - 25) / 65, 0, 1))
    for origin, share in origin_shares(appearance).items():
        if abs(share - 1 / 3) < 1e-6:
            continue
        for sex, of_sex in (("female", 1 - male), ("male", male)):
            for age, of_age in (("young", 1 - old), ("old", old)):
                weight = (share - 1 / 3) * of_sex * of_age
                index = body.targets.names.index(f"macrodetails/{origin}-{sex}-{age}")
                total += weight * np.asarray(body.targets.vertex_offsets[index], np.float64)
    head = np.flatnonzero(_on_head() > 0.5)
    # bodies of the origins differ in height; the head stays where it is
    return total - total[head].mean(axis=0)


ARKIT: Mapping[str, Mapping[str, float]] = {
    "eyeBlinkLeft": {"eye-left-closure": 1.0},
    "eyeBlinkRight": {"eye-right-closure": 1.0},
    "eyeSquintLeft": {"eye-left-slit": 1.0},
    "eyeSquintRight": {"eye-right-slit": 1.0},
    "eyeWideLeft": {"eye-left-opened-up": 1.0},
    "eyeWideRight": {"eye-right-opened-up": 1.0},
    "browDownLeft": {"eyebrows-left-down": 1.0},
    "browDownRight": {"eyebrows-right-down": 1.0},
    "browInnerUp": {"eyebrows-left-inner-up": 1.0, "eyebrows-right-inner-up": 1.0},
    "browOuterUpLeft": {"eyebrows-left-extern-up": 1.0},
    "browOuterUpRight": {"eyebrows-right-extern-up": 1.0},
    "jawOpen": {"mouth-open": 1.0},
    "mouthSmile": {"mouth-corner-puller": 1.0},
    "mouthFrown": {"mouth-depression": 1.0},
    "mouthPucker": {"mouth-pursing": 1.0},
    "mouthFunnel": {"mouth-protusion": 1.0},
    "mouthPress": {"mouth-compression": 1.0},
    "mouthStretch": {"mouth-retraction": 1.0},
    "mouthShrugUpper": {"mouth-elevation": 1.0},
    "mouthUpperUp": {"mouth-upward-retraction": 1.0},
    "mouthRollOut": {"mouth-eversion": 1.0},
    "mouthPart": {"mouth-parling": 1.0},
    "noseSneerLeft": {"nose-left-elevation": 1.0},
    "noseSneerRight": {"nose-right-elevation": 1.0},
    "neckTense": {"neck-platysma": 1.0},
}
"""Expressions by name: ARKit's where one matches (both sides of the mouth move together here, so
its `Left` and `Right` are left off), and the units that they are made of."""


def expression_names() -> tuple[str, ...]:
    """Names that an appearance's `expression` may hold."""
    return tuple(ARKIT)


_FRIENDLY = {
    "mouth-corner-puller": 1.0,
    "eye-left-slit": 0.3,
    "eye-right-slit": 0.3,
    "eye-left-opened-up": 0.35,
    "eye-right-opened-up": 0.35,
    "eyebrows-left-inner-up": 0.25,
    "eyebrows-right-inner-up": 0.25,
}
"""Units of a smile: the eyes smile, too, and are awake, and the brow is not knit."""


def _expressions(appearance: Appearance) -> dict[str, float]:
    """Weights of expression units: the named expressions, and the friendly mouth."""
    units = {unit: share * appearance.smile for unit, share in _FRIENDLY.items()}
    for name, value in appearance.expression:
        if name not in ARKIT:
            raise InputError(f"there is no expression {name!r}; known: {', '.join(ARKIT)}.")
        for unit, share in ARKIT[name].items():
            units[unit] = units.get(unit, 0.0) + share * value
    return units


def _expression_offsets(
    units: Mapping[str, float], appearance: Appearance, count: int
) -> Float[NumpyArray, "V 3"]:
    """Units as sculpted for each origin, in the look's shares; `count` as in `SparseTargets`."""
    weights = {
        f"{origin}/{unit}": share * weight
        for origin, share in origin_shares(appearance).items()
        for unit, weight in units.items()
        if abs(share * weight) > 1e-6
    }
    return expression_targets().blend(weights, count)


def expression_morph(name: str, appearance: Appearance, count: int) -> Float[NumpyArray, "V 3"]:
    """Offsets of one expression at weight 1 on the first `count` of the source's vertices."""
    return _expression_offsets(ARKIT[name], appearance, count)


def loose_offsets(appearance: Appearance, count: int) -> Float[NumpyArray, "h 3"]:
    """What the look's expression adds to the source's vertices, skin and helpers, metres."""
    return _expression_offsets(_expressions(appearance), appearance, count)
