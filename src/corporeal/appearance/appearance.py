"""What a person looks like, apart from the body's shape: one record for pictures and files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from corporeal.body.controls import Control, Controls, control
from corporeal.errors import InputError

SKIN_NAMES: Mapping[str, float] = {
    "porcelain": 66.0,
    "light": 52.0,
    "medium": 36.0,
    "olive": 20.0,
    "brown": -14.0,
    "deep": -55.0,
}
"""Words for typology angles, degrees; one in each of the six classes of Del Bino and Bernerd."""
_LARGEST_JSON = 100_000


@dataclass(frozen=True, kw_only=True)
class AppearanceControls(Controls):
    """Everything about a look that is a slider or a choice."""

    skin: float = control(
        SKIN_NAMES["light"],
        help="skin tone as individual typology angle: 55 and more very light, 28 intermediate, "
        "10 tan, below -30 dark",
        unit="deg",
        low=-75.0,
        high=75.0,
    )
    undertone: float = control(0.0, help="-1 rosy to 1 golden", low=-1.0, high=1.0)
    freckles: float = control(0.0, help="freckles on face, shoulders and arms", low=0.0, high=1.0)
    age: float = control(
        0.0, help="age that the skin shows; 0 for the body's own", unit="years", low=0.0, high=100.0
    )
    blush: float = control(0.5, help="blood in cheeks, knuckles and knees", low=0.0, high=1.0)
    lips: float = control(0.35, help="redness of the lips", low=0.0, high=1.0)
    nails: float = control(0.0, help="polish on nails", low=0.0, high=1.0)
    body_hair: float = control(
        0.3, help="hair on chest, arms and legs of a man; a woman has little", low=0.0, high=1.0
    )
    beard: float = control(
        0.25, help="shadow of a man's beard: 0 shaved, 1 stubble", low=0.0, high=1.0
    )
    eyes: Literal["dark", "brown", "hazel", "green", "blue", "grey"] = control(
        "brown",
        help="colour of the iris",
        choices={
            "dark": "almost black",
            "brown": "the world's commonest",
            "hazel": "brown to green",
            "green": "grey-green",
            "blue": "light blue",
            "grey": "grey",
        },
    )
    gaze_across: float = control(
        0.0, help="where the eyes look, to the person's left", unit="deg", low=-35.0, high=35.0
    )
    gaze_up: float = control(0.0, help="where the eyes look, up", unit="deg", low=-25.0, high=25.0)
    brows: float = control(0.5, help="thin to thick brows", low=0.0, high=1.0)
    lashes: float = control(0.6, help="no lashes to dark ones", low=0.0, high=1.0)
    hair: Literal["auto", "bald", "cropped", "short", "bun", "long"] = control(
        "auto",
        help="hair style",
        choices={
            "auto": "by sex: long or short",
            "bald": "none",
            "cropped": "a few millimetres",
            "short": "short, parted",
            "bun": "combed back into a bun",
            "long": "down to the shoulders",
        },
    )
    hair_colour: Literal[
        "black", "dark-brown", "brown", "auburn", "red", "blond", "grey", "white"
    ] = control(
        "dark-brown",
        help="colour of hair, brows and lashes",
        choices={
            "black": "black",
            "dark-brown": "dark brown",
            "brown": "brown",
            "auburn": "red-brown",
            "red": "red",
            "blond": "blond",
            "grey": "grey",
            "white": "white",
        },
    )
    grey: float = control(
        -1.0, help="share of grey hair; below 0 it follows the age", low=-1.0, high=1.0
    )
    clothes: Literal["auto", "briefs", "underwear", "sportswear", "none"] = control(
        "auto",
        help="what is worn",
        choices={
            "auto": "trunks for men, trunks and a top for others",
            "briefs": "trunks alone",
            "underwear": "trunks and a top",
            "sportswear": "shorts or leggings and a shirt",
            "none": "nothing",
        },
    )
    cloth_colour: Literal["charcoal", "navy", "teal", "wine", "sand", "white"] = control(
        "charcoal",
        help="colour of the clothes",
        choices={
            "charcoal": "dark grey",
            "navy": "dark blue",
            "teal": "blue-green",
            "wine": "dark red",
            "sand": "light brown",
            "white": "off-white",
        },
    )
    african: float = control(1.0, help="share of African features", low=0.0, high=1.0)
    asian: float = control(1.0, help="share of Asian features", low=0.0, high=1.0)
    european: float = control(1.0, help="share of European features", low=0.0, high=1.0)
    smile: float = control(0.36, help="a friendly mouth, to a smile", low=0.0, high=1.0)
    face_seed: int = control(
        0, help="which random face; 0 for the average one", low=0.0, high=2.0**31 - 1
    )
    face_variety: float = control(
        1.0, help="how much a random face differs from the average", low=0.0, high=1.5
    )
    seed: int = control(
        0, help="random seed of freckles, strands and mottling", low=0.0, high=2.0**31 - 1
    )


Named = tuple[tuple[str, float], ...]
"""Names with numbers; a tuple, so that it can be looked up."""


@dataclass(frozen=True, kw_only=True)
class Appearance(AppearanceControls):
    """A whole look: sliders and choices, face sliders, an expression, and assets to wear."""

    face: Named = ()
    """Face sliders by name, −1 to 1, over the random face; see `faces.face_sliders`."""
    expression: Named = ()
    """Weights of expressions by name, 0 to 1; see `faces.expression_names`."""
    wear: tuple[str, ...] = ()
    """Paths of MakeHuman assets (`.mhclo`), innermost first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("face", "expression"):
            pairs = dict(getattr(self, name))
            object.__setattr__(self, name, tuple(sorted((k, float(v)) for k, v in pairs.items())))
        object.__setattr__(self, "wear", tuple(str(path) for path in self.wear))

    @classmethod
    def table(cls) -> tuple[Control, ...]:
        """The sliders and choices."""
        return AppearanceControls.table()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Appearance":
        """A look from plain values by name, as JSON and flags have them; what is not named keeps
        its default. `skin` may be one of `SKIN_NAMES`."""
        known = {row.name: row for row in cls.table()}
        extra = {entry.name for entry in fields(cls)} - set(known)
        if unknown := sorted(set(values) - set(known) - extra):
            raise InputError(
                f"an appearance has no {', '.join(map(repr, unknown))}; it has "
                f"{', '.join([*known, *sorted(extra)])}."
            )
        read: dict[str, Any] = {}
        for name, value in values.items():
            if name == "skin" and isinstance(value, str):
                value = skin_angle_deg(value)
            read[name] = known[name].read(value) if name in known else _pairs(name, value)
        return cls(**read)

    def plain(self) -> dict[str, Any]:
        """What differs from the defaults, as JSON holds it."""
        values: dict[str, Any] = dict(self.changed())
        for name in ("face", "expression"):
            if pairs := getattr(self, name):
                values[name] = dict(pairs)
        if self.wear:
            values["wear"] = list(self.wear)
        return values


def skin_angle_deg(text: str) -> float:
    """A typology angle from a word of `SKIN_NAMES` or from digits."""
    if text in SKIN_NAMES:
        return SKIN_NAMES[text]
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"skin is {text!r}; expected an angle of -75 to 75 degrees, or one of "
            f"{', '.join(SKIN_NAMES)}."
        ) from None


def read_appearance(path: str | Path) -> Appearance:
    """A look from a JSON file of names and values."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} is not there; expected a JSON file with an appearance.")
    if path.stat().st_size > _LARGEST_JSON:
        raise InputError(f"{path} has {path.stat().st_size} bytes; expected a small JSON file.")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} holds a {type(values).__name__}; expected an object of values.")
    return Appearance.of(values)


def _pairs(name: str, value: Any) -> Any:
    """The value of `face`, `expression` or `wear`, checked."""
    if name == "wear":
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise InputError("wear is no list of paths; expected paths of .mhclo files.")
        return tuple(value)
    pairs = dict(value) if isinstance(value, dict | tuple) else None
    numbers = (int, float)
    if pairs is None or not all(
        isinstance(v, numbers) and not isinstance(v, bool) and abs(v) <= 1 for v in pairs.values()
    ):
        raise InputError(f"{name} holds something else than names with numbers from -1 to 1.")
    return tuple((str(key), float(number)) for key, number in pairs.items())
