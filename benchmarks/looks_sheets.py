"""Sheets of looks: people, faces, skin tones in two lights, ages, hair from four sides.

    python benchmarks/looks_sheets.py --out docs/pictures/looks [--only people faces] [--limit 24]

Writes `people.webp` (24 people of the adult population), `faces.webp` (24 random faces),
`tones.webp` (six skin tones in two lights), `ages.webp` (20 to 80 years) and `hair.webp` (five
styles from four sides). What is
still wrong with them is said in docs/methods/looks.md.
"""

import argparse
import math
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

CELL = (150, 176)
"""Width and height of a face, pixels."""
SEED = 1
"""Of the people that are drawn."""
SHEETS = ("people", "faces", "tones", "ages", "hair")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/pictures/looks"))
    parser.add_argument("--only", nargs="*", choices=SHEETS, default=SHEETS)
    parser.add_argument("--limit", type=int, default=24, help="people and faces at most")
    arguments = parser.parse_args()
    from PIL import Image

    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        start = process_time()
        pixels = globals()[f"{name}_sheet"](arguments.limit)
        Image.fromarray(pixels).save(arguments.out / f"{name}.webp", quality=88, method=6)
        print(f"{name}: {process_time() - start:.1f} s of processor time", flush=True)


def dressed(sliders, appearance, texture=512, turn=0.0):
    """A person standing, made up."""
    from corporeal.appearance.dress import looks_of
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.pipelines.results import still
    from corporeal.scene.casting import Performance

    model = PhenotypeModel()
    identity = model.prepare(sliders)
    looks = looks_of(model.template, identity, appearance, texture)
    return Performance(still(model.template, identity, turn), looks=looks)


def somebody(seed):
    """Sliders and look of a random person."""
    from corporeal.appearance.random_looks import random_appearance
    from corporeal.appearance.resolving import Wearer

    random = np.random.default_rng([seed, 99])
    sliders = {
        "gender": float(seed % 2),
        "age": float(np.round(random.uniform(19, 78))),
        "muscle": float(random.uniform(0.35, 0.75)),
        "weight": float(random.uniform(0.3, 0.85)),
        "height": float(random.uniform(0.35, 0.65)),
        "proportions": float(random.uniform(0.4, 0.8)),
    }
    return sliders, random_appearance(seed, Wearer(sliders["gender"], sliders["age"]))


def face(performance, azimuth_deg=14.0, lights=None, size=CELL, close_up=0.36, drop=0.0):
    """A picture of a head."""
    from corporeal.scene.casting import Wardrobe
    from corporeal.scene.raster import render
    from corporeal.scene.scene import Scene
    from corporeal.scene.studio import Backdrop, StudioLights
    from corporeal.scene.views import VIEWS, head_camera

    wardrobe = Wardrobe(performance)
    view = replace(VIEWS["face"], azimuth=math.radians(azimuth_deg), close_up=close_up, drop=drop)
    camera = head_camera(wardrobe.performance.animation, 0, view, size[0] / size[1])
    studio = lights or StudioLights(backdrop=Backdrop(vignette=0.0))
    scene = Scene((wardrobe.actor(0),), camera, studio, None)
    return render(scene, *size, samples=3, refinement=1)


def rows_of(cells, columns):
    """Cells in rows."""
    rows = [cells[k : k + columns] for k in range(0, len(cells), columns)]
    return np.concatenate([np.concatenate(row, axis=1) for row in rows if len(row) == columns])


def people_sheet(limit):
    """Adults of the population, eight a row: what `corporeal people --count 24 --seed 1` draws."""
    from corporeal.formats.png import read_png
    from corporeal.pipelines.people import PeopleConfig, make_people
    from corporeal.pipelines.people_sheet import draw_people
    from corporeal.population.people_store import read_people

    with tempfile.TemporaryDirectory() as folder:
        store, drawn = Path(folder) / "people.zarr", Path(folder) / "people.png"
        report = make_people(PeopleConfig(store, limit, SEED), in_process=True)
        if (error := report.error()) is not None:
            raise error
        draw_people(read_people(store), drawn, limit)
        return read_png(drawn)


def faces_sheet(limit):
    """Random faces, eight a row."""
    cells = [face(dressed(*somebody(100 + seed), 1024)) for seed in range(1, limit + 1)]
    return rows_of(cells, 8)


def tones_sheet(limit):
    """Six skin tones, in the studio's light and in a hard warm one."""
    from corporeal.appearance.appearance import SKIN_NAMES, Appearance
    from corporeal.scene.studio import Backdrop, Light, StudioLights

    dark = Backdrop((0.10, 0.10, 0.11), (0.15, 0.145, 0.14), 0.0)
    evening = StudioLights(
        key=Light((0.95, 0.7, 0.55), (4.2, 3.3, 2.3), math.radians(5)),
        fill=Light((-0.9, 0.2, 0.7), (0.10, 0.14, 0.22)),
        sky=(0.16, 0.19, 0.26),
        bounce=(0.12, 0.10, 0.085),
        backdrop=dark,
    )
    rows = []
    for lights in (None, evening):
        cells = []
        for number, tone in enumerate(SKIN_NAMES.values()):
            look = Appearance(skin=tone, face_seed=5 + number, hair="bun", hair_colour="black")
            sliders = {"gender": float(number % 2), "age": 30.0}
            person = dressed(sliders, replace(look, hair="cropped" if number % 2 else "bun"), 1024)
            cells.append(face(person, 20.0, lights, (200, 230)))
        rows += cells
    return rows_of(rows, 6)


def ages_sheet(limit):
    """One woman and one man from 20 to 80 years."""
    from corporeal.appearance.appearance import Appearance

    cells = []
    for gender in (0.0, 1.0):
        for age in (20.0, 35.0, 50.0, 65.0, 80.0):
            look = Appearance(
                face_seed=3, skin=48.0, hair="short" if gender else "bun", hair_colour="brown"
            )
            cells.append(face(dressed({"gender": gender, "age": age}, look, 1024), size=(220, 250)))
    return rows_of(cells, 5)


def hair_sheet(limit):
    """Styles from the front, the left, behind and half from above."""
    from corporeal.appearance.appearance import Appearance

    cells = []
    styles = (("cropped", 1.0), ("short", 1.0), ("short", 0.0), ("bun", 0.0), ("long", 0.0))
    colours = ("black", "dark-brown", "blond", "red", "brown")
    for (style, gender), colour in zip(styles, colours, strict=True):
        look = Appearance(hair=style, hair_colour=colour, face_seed=8)
        person = dressed({"gender": gender, "age": 27.0}, look)
        for azimuth in (0.0, 60.0, 120.0, 180.0):
            cells.append(face(person, azimuth, None, (190, 220), 0.50, 0.06))
    return rows_of(cells, 4)


if __name__ == "__main__":
    main()
