"""How people are shown: their looks, the fineness of textures, where the camera stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from corporeal.appearance.appearance import Appearance, read_appearance, skin_angle_deg
from corporeal.errors import InputError
from corporeal.scene.views import ViewName


@dataclass(frozen=True)
class Presentation:
    """What pictures and files are told about looks."""

    appearance: Appearance = field(default_factory=Appearance)
    """How the person looks."""
    texture: int = 1024
    """Texels along an edge of the skin's pictures."""
    view: str = "auto"
    """Name of a view; see `scene.views`."""
    expressions: bool = False
    """Whether characters carry expressions as morph targets."""


@dataclass(frozen=True, kw_only=True)
class LookOptions:
    """How a person of the default body looks, in pictures and in files for engines."""

    appearance: Path | None = None
    """Appearance to start from (.json: names and values); flags change what they name."""
    skin: str | None = None
    """Skin tone: porcelain, light, medium, olive, brown, deep, or a typology angle of -75 (dark) to
    75 (light) degrees; light by default."""
    hair: str | None = None
    """Hair style: bald, cropped, short, bun, long; by sex unless given."""
    hair_colour: str | None = None
    """black, dark-brown, brown, auburn, red, blond, grey or white; dark-brown by default."""
    eyes: str | None = None
    """Colour of the eyes: dark, brown, hazel, green, blue, grey; brown by default."""
    clothes: str | None = None
    """What is worn: briefs, underwear, sportswear, none; by sex unless given."""
    cloth_colour: str | None = None
    """charcoal, navy, teal, wine, sand or white; charcoal by default."""
    face: int | None = None
    """Which random face, a seed; 0, the default, is the average one."""
    expression: tuple[str, ...] = ()
    """Expressions with their weights, such as jawOpen=0.6 eyeBlinkLeft=1."""
    wear: tuple[str, ...] = ()
    """MakeHuman assets to put on (.mhclo: hair, clothes, shoes), innermost first."""
    look: tuple[str, ...] = ()
    """Any other values of an appearance, such as freckles=0.6 beard=1 age=70."""
    texture: Literal[512, 1024, 2048] = 1024
    """Texels along an edge of the skin's texture."""
    view: ViewName = "auto"
    """Camera of pictures and films: all of the body from the front left (auto), front, side or
    back; or close to the face, its profile, or the upper body."""
    expressions: bool = False
    """Add expressions as morph targets (ARKit's names where they match) to .glb, .fbx and .usd."""

    def presentation(self) -> Presentation:
        """The looks that these options name; `InputError` for what is no look."""
        start = Appearance() if self.appearance is None else read_appearance(self.appearance)
        values: dict[str, Any] = start.plain()
        if self.skin is not None:
            values["skin"] = skin_angle_deg(self.skin)
        for name in ("hair", "hair_colour", "eyes", "clothes", "cloth_colour"):
            if getattr(self, name) is not None:
                values[name] = getattr(self, name)
        if self.face is not None:
            values["face_seed"] = self.face
        values |= _assigned("--look", self.look)
        if self.expression:
            given = _assigned("--expression", self.expression)
            values["expression"] = dict(values.get("expression", {})) | given
        if self.wear:
            values["wear"] = [*values.get("wear", ()), *self.wear]
        return Presentation(Appearance.of(values), self.texture, self.view, self.expressions)

    def look_files(self) -> tuple[Path | None, ...]:
        """Files that the looks are read from."""
        return (self.appearance, *(Path(path) for path in self.wear))


def look_values(options: LookOptions) -> dict[str, Any]:
    """The options of looks that are not the defaults, by name, as JSON holds them."""
    values: dict[str, Any] = {}
    for entry in fields(LookOptions):
        value = getattr(options, entry.name)
        if value != entry.default:
            values[entry.name] = str(value) if isinstance(value, Path) else value
    return values


def looks_from(values: Mapping[str, Any]) -> LookOptions:
    """Options from what `look_values` gave, or a file kept of it."""
    known = {entry.name for entry in fields(LookOptions)}
    if unknown := sorted(set(values) - known):
        raise InputError(f"looks have no {', '.join(unknown)}; they have {', '.join(known)}.")
    read: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    if read.get("appearance") is not None:
        read["appearance"] = Path(read["appearance"])
    return LookOptions(**read)


def _assigned(flag: str, words: tuple[str, ...]) -> dict[str, Any]:
    """Words NAME=VALUE as names with numbers or words."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (name and equals and text):
            raise InputError(f"{flag} got {word!r}; expected NAME=VALUE.")
        try:
            values[name.replace("-", "_") if flag == "--look" else name] = float(text)
        except ValueError:
            values[name.replace("-", "_") if flag == "--look" else name] = text
    return values
