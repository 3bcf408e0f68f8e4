"""Write docs/models.md: a card for everything that ships, from the manifests beside the assets.

    python tools/build_cards.py              write the page
    python tools/build_cards.py --check      end with 1 where the page is not what would be written

What a manifest cannot know (use, limits, whom it knows) is said in CARDS below.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src/corporeal/assets/data"
PAGE = ROOT / "docs/models.md"
PEOPLE = (
    "Virtual adults drawn after public surveys (methods/people.md): children, pregnancy, "
    "amputation and disease are not in it."
)
BEGIN = """# What ships: model and data cards

Written by `tools/build_cards.py` from the manifests beside the assets; a test holds them together.
Everything learned here was trained on captures of the [virtual scanner](methods/capture.md), that
is on physics and not on people: nothing in them was recorded from anybody, and no asset has been
checked against real moving bodies but where its page says so.
"""
END = """
## Sets of captures
Sets are not in the package; each can be recorded again by the command beside it.

| set | people | what | command |
| --- | --- | --- | --- |
| multi-pose | 40 + 6 for tests | 45 and 20 held poses each | `python tools/record_sets.py HOME` |
| dyna | 10 + 6 for tests | 14 motions of 5 s with quasi-static twins | the same |
| Allen 2006 | 44, 5, 1; 8, 3 for tests | 2, 16, 69; 12, 8 | `tools/enveloping_budget.py HOME` |

Licence: what you record is yours. Who is in it: see the limits above. Truth (pose, shape, tissue,
layers) is in every take; `corporeal dataset info` tells what a set holds, `corporeal dataset
validate` whether its flesh is sound.

### An archive to publish
A tenth of all sets, packed, with checksums. For all of them, leave `--size` out.

```shell
python tools/record_sets.py HOME --size 0.1 --device cpu
cd HOME
sha256sum *.packed.npz *.manifest.json > SHA256SUMS
tar --create --file captures.tar *.packed.npz *.manifest.json SHA256SUMS
```

It was not recorded for this page. What a pose and a frame cost: [the scanner](methods/capture.md).
Whoever has the archive checks it with `sha256sum --check SHA256SUMS`.

## Citing
`corporeal cite` prints the papers of the methods; `CITATION.cff` is for the package.
"""


@dataclass(frozen=True)
class Card:
    """What a manifest cannot know."""

    page: str
    use: str
    limits: str


CARDS = {
    "default_body": Card(
        "methods/default-body.md", "The surface, joints and weights that everything starts from.",
        "One topology of 13 380 vertices; adults.",
    ),
    "adiposity": Card(
        "methods/adiposity.md", "Fat by region, for bodies beyond what sculptors made.",
        "Made for a body mass index of 16 to 48; aprons of fat do not hang.",
    ),
    "proportions": Card(
        "methods/proportions.md", "What people vary in and phenotype sliders do not steer.",
        "Smooth fields, not learned from scans.",
    ),
    "anatomy": Card(
        "methods/layers.md", "Bones and muscle surfaces inside bodies, for layered flesh.",
        "One person's bones, scaled; not for diagnosis. Ribs and pelvis are simplified.",
    ),
    "person_space": Card(
        "methods/registration.md", "The space of people that scans are fitted in.", PEOPLE,
    ),
    "coarse_surface": Card(
        "methods/volumetric-model.md", "Which vertices of the default body flesh is simulated on.",
        "Of the default body alone; other bodies are decimated when they come.",
    ),
    "smpl": Card(
        "methods/smpl.md", "A body model with SMPL's keys, for readers of SMPL files.",
        "Regressed, not trained by the published procedure. " + PEOPLE,
    ),
    "smpl_sparse": Card(
        "methods/smpl.md", "The same with few joints a blend shape, for light characters.",
        "As smpl.",
    ),
    "enveloping": Card(
        "methods/enveloping.md", "Pose corrections that suit the person, for engines.",
        "16 people of both sexes in 118 held poses, bodies and poses known; folds of raised arms "
        "and bent hips are its weakest places. " + PEOPLE,
    ),
    "dmpl": Card(
        "methods/dynamics.md", "Soft tissue that moves, linear and quick.",
        "Ten people, body mass index 21 to 42, in fourteen motions. Where both are new it goes "
        "two fifths of the way to what its shapes can do. " + PEOPLE,
    ),
    "blendscape": Card(
        "methods/dynamics.md", "Triangle deformations by shape and pose, for Dyna and comparisons.",
        "Learned from surfaces of the smpl that ships, not from captures; 1.4 mm from it on new "
        "people. " + PEOPLE,
    ),
    "dyna": Card(
        "methods/dynamics.md", "Dynamics of triangles, with the dmpl's predictors.",
        "As dmpl, whose shapes it carries over; not trained on captures of its own. " + PEOPLE,
    ),
    "neural": Card(
        "methods/neural.md", "Soft tissue: linear predictors, as the dmpl's and from loads, and a "
        "recurrent network.",
        "The same ten people and motions. No pose correctives beyond smpl's. " + PEOPLE,
    ),
    "faces": Card("methods/looks.md", "Expressions and faces.", "Sculpted, not measured."),
    "eyes": Card("methods/looks.md", "Eyes and teeth.", "Sculpted."),
    "looks": Card("methods/looks.md", "Hair and clothes.", "Few styles; coarse hairlines."),
}  # fmt: skip


def page() -> str:
    """The whole page."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(DATA.glob("*.json"))}
    if missing := sorted(set(found) ^ set(CARDS)):
        raise SystemExit(f"assets and cards differ: {', '.join(missing)}")
    return BEGIN + "".join(card(name, found[name]) for name in CARDS) + END


def card(name: str, manifest: dict) -> str:
    """One asset."""
    told = CARDS[name]
    size = f"{manifest['bytes'] / 1e6:.2f}<!--= assets/{name}.json/bytes * 1e-6 --> MB"
    lines = [
        f"\n## {name}",
        f"[{manifest['title']}]({told.page}), {size}.\n",
        f"- **Use**: {told.use}",
        f"- **Made from**: {_origin(manifest['origin'])}; built by `{manifest['built_by']}`.",
        *([f"- **Training**: {words}"] if (words := training(manifest)) else []),
        f"- **Licence**: {manifest['licence']}.",
        f"- **Limits**: {told.limits}",
    ]
    return "\n".join(lines) + "\n"


def _origin(words: str) -> str:
    return words.split("; see docs/")[0]


def training(manifest: dict) -> str:
    """What a manifest says of data and training, in one line."""
    by = manifest.get("trained_by") or {}
    parts = [f"`{by['command']}`"] if by.get("command") else []
    if by.get("verb"):
        flags = " ".join(f"{k}={v}" for k, v in sorted(by["config"].items()))
        parts.append(f"`{by['verb']}` with {flags}")
    for key in ("training", "reduction", "rounding"):
        plain = {k: v for k, v in manifest.get(key, {}).items() if isinstance(v, int | float)}
        if plain:
            parts.append(", ".join(f"{k.replace('_', ' ')} {v}" for k, v in plain.items()))
    return "; ".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; compare")
    given = parser.parse_args()
    if not given.check:
        PAGE.write_text(page())
        return 0
    same = PAGE.read_text() == page()
    print("in step" if same else f"{PAGE.name} is old: run python tools/build_cards.py")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
