"""The fixed list of runs whose numbers are recorded: command lines and what may vary in them.

Every case is a command line of `corporeal`, since modules move and functions are renamed while
the command line and its files stay. `{in}` stands for the folder of inputs (`inputs.py`), which
are made once and given to every checkout, so that a case shows its own change and not that of an
earlier one. The words in braces of `NUMBERS` are measurements, which a perturbed run moves by
one unit in the last place.
"""

from dataclasses import dataclass
from itertools import product
from typing import Final

NUMBERS: Final = {"stature": 1.66, "mass": 98.0, "gain": 12.0, "grown": 6.0, "moved": 5.0}
"""Measurements that command lines hold: metres and kilograms."""
BODIES: Final = {
    "man": "--gender male --age 30",
    "heavy": "--gender female --age 45 --stature {stature} --mass {mass}",
    "lean": "--gender 0.6 --age 24 --height 0.85 --weight 0.25 --muscle 0.6",
}
"""An average man, a heavy woman solved from measurements, a lean tall person, from sliders."""
MOTIONS: Final = {
    "jumping-jacks": "--motion jumping-jacks --duration 2 --fps 10",
    "one-leg-jump": "--motion one-leg-jump --duration 2 --fps 10",
    "punching": "--motion punching --duration 2 --fps 10 --seed 3",
    "captured": "--motion {in}/march.bvh",
}
"""Two seconds are the shortest that an authored motion lasts; the BVH file lasts 0.6 s at 30 Hz."""
DEFORMERS: Final = ("lbs", "dqs", "smpl", "smpl-sparse", "projective", "layered")
VARIANTS: Final = {
    "projective-global": ("projective", "--collisions global", True),
    "projective-local-ground": ("projective", "--collisions local --ground", True),
    "projective-static": ("projective", "--static", False),
    "projective-no-volume": ("projective", "--volume 0 --no-sliding --tissue 0", False),
    "layered-volume": ("layered", "--volume 20", False),
    "layered-global": ("layered", "--collisions global", True),
}
"""Name → deformer, controls, whether contacts act."""
EXPORTS: Final = ("glb", "fbx", "usd", "abc", "pc2", "png")
SURFACES: Final = ("obj", "ply", "stl", "off")


@dataclass(frozen=True)
class Case:
    """One run."""

    name: str
    line: str
    """What follows `corporeal`; the results go into the current folder."""
    chaotic: bool = False
    """Whether contacts, a fit, a training or a rasteriser decide by comparisons, so that rounding
    can be amplified: such a case is held to the spread of the old commit under inputs changed by
    one unit in the last place, others to a few units in the last place of their results."""
    spread_of: str = ""
    """The case whose spread is used where this one has no inputs to perturb."""


def all_cases() -> tuple[Case, ...]:
    """Every case, in the order in which they run."""
    return (
        *_bodies(),
        *_animations(),
        *_exports(),
        *_anatomy(),
        *_people(),
        *_models(),
        *_others(),
    )


def _bodies() -> list[Case]:
    made = [Case(f"body/{n}", f"body {f} --out {n}.npz", n == "heavy") for n, f in BODIES.items()]
    man = BODIES["man"]
    return [
        *made,
        *(Case(f"body/man-{s}", f"body {man} --out man.{s}") for s in ("glb", "obj", "ply")),
        Case("body/man-png", f"body {man} --out man.png", chaotic=True, spread_of="export/png"),
        Case("reshape/gain", "reshape {in}/man.npz --gain {gain} --out r.npz", chaotic=True),
        Case("reshape/taller", "reshape {in}/heavy.npz --gain -9 --taller 0.03 --out r.npz", True),
    ]


def _animations() -> list[Case]:
    cases = []
    for deformer, body, motion in product(DEFORMERS, BODIES, MOTIONS):
        cases.append(_animation(deformer, deformer, body, motion, "", False))
    for name, (deformer, flags, touching) in VARIANTS.items():
        for body, motion in product(BODIES, ("jumping-jacks", "captured")):
            cases.append(_animation(name, deformer, body, motion, flags, touching))
    dragon = "--mesh {in}/dragon.off --skeleton {in}/dragon.skel --motion {in}/flap.bvh"
    cases += [
        Case(f"animate/{d}/dragon/flap", f"animate {dragon} --deformer {d} --out a.npz")
        for d in ("lbs", "projective")
    ]
    scene = "--deformer projective --soft belly=0.5 --stiffness 9000 --scene {in}/scene.json"
    model = "animate --model smpl --shape 2.0,-1.0 {punching} --out a.npz"
    return [
        *cases,
        Case("animate/model", model.replace("{punching}", MOTIONS["punching"])),
        Case(
            "animate/scene",
            f"animate --body {{in}}/man.npz {MOTIONS['captured']} {scene} --out a.npz",
            True,
        ),
    ]


def _animation(
    name: str, deformer: str, body: str, motion: str, flags: str, touching: bool
) -> Case:
    file = f"{body}_layers" if deformer == "layered" else body
    line = f"animate --body {{in}}/{file}.npz {MOTIONS[motion]} --deformer {deformer} {flags}"
    return Case(f"animate/{name}/{body}/{motion}", f"{line} --out a.npz", touching)


def _exports() -> list[Case]:
    move = "animate --body {in}/lean.npz --motion punching --duration 2 --fps 5"
    whole = [
        Case(f"export/{s}", f"{move} --deformer dqs --out a.{s}", chaotic=s == "png")
        for s in EXPORTS
    ]
    one = [Case(f"export/{s}", f"{move} --deformer dqs --frame 5 --out a.{s}") for s in SURFACES]
    return [
        *whole,
        *one,
        Case("export/lbs-glb", f"{move} --deformer lbs --out a.glb"),
        Case("export/smpl-usda", f"{move} --deformer smpl --out a.usda"),
        Case("export/live", f"{move} --deformer smpl-sparse --live --out a.glb"),
        Case("convert/glb-fbx", "convert {in}/take.glb b.fbx"),
        Case("convert/glb-obj", "convert {in}/take.glb b.obj --frame 3"),
        Case("convert/npz-stl", "convert {in}/man.npz b.stl"),
        Case("convert/layers-glb", "convert {in}/man_layers.npz b.glb"),
        Case("convert/layers-usd", "convert {in}/man_layers.npz b.usd"),
    ]


def _anatomy() -> list[Case]:
    move = "--from {in}/heavy_layers.npz --to {in}/man_layers.npz --mass {moved}"
    return [
        *(
            Case(f"anatomy/fit/{n}", f"anatomy fit {{in}}/{n}.npz --out l.npz", True)
            for n in BODIES
        ),
        Case(
            "anatomy/grow",
            "anatomy grow {in}/man_layers.npz --mass {grown} --region belly,hips --out g.npz",
            True,
        ),
        Case(
            "anatomy/weaker",
            "anatomy grow {in}/lean_layers.npz --mass -1 --tissue muscle --out g.npz",
            True,
        ),
        Case("anatomy/transfer-fat", f"anatomy transfer-fat {move} --out t.npz", True),
        Case("skeleton/scan", "skeleton {in}/scan.ply --out s.json", True),
        Case("skeleton/skel", "skeleton {in}/scan.ply --out s.skel", True),
    ]


def _people() -> list[Case]:
    record = "capture --people {in}/people.zarr --jobs 1 --out c.zarr"
    dyna = "--protocol dyna --motions punching --fps 10 --duration 2 --women 0 --men 1"
    return [
        Case("people/given", "people --from {in}/people.csv --out p.zarr --jobs 1", True),
        Case(
            "people/drawn",
            "people --count 3 --seed 1 --out p.zarr --jobs 1",
            True,
            spread_of="people/given",
        ),
        Case("capture/shapes", f"{record} --protocol shapes --women 1 --men 0", True),
        Case("capture/poses", f"{record} --protocol poses --poses 2 --women 1 --men 0", True),
        Case("capture/dyna", f"{record} {dyna} --deformer projective --touch off", True),
        Case("dataset/ply", "dataset export {in}/stands.zarr --out stands"),
        Case("dataset/hdf5", "dataset export {in}/stands.zarr --out stands.hdf5"),
        Case("dataset/validate", "dataset validate {in}/stands.zarr --thorough 1 --jobs 1 --json"),
    ]


def _models() -> list[Case]:
    sets = "--poses {in}/train.zarr --shapes {in}/train.zarr --template {in}/rig.npz"
    test = "--test {in}/test.zarr --counts 1,3 --most 3"
    return [
        *(
            Case(f"train/{n}", f"train smpl {sets} --shape-count 3 {f} --out m.npz", True)
            for n, f in (
                ("lbs", "--skinning lbs"),
                ("dqbs", "--skinning dqbs"),
                ("sparse", "--sparse"),
            )
        ),
        Case("evaluate", f"evaluate models {{in}}/my_smpl.npz {test} --report report --json", True),
        Case("convert/model-pkl", "convert --model {in}/my_smpl.npz --out m.pkl"),
        Case("convert/model-npz", "convert --model {in}/my_smpl.npz --out m.npz"),
    ]


def _others() -> list[Case]:
    return [
        Case("motion/list", "motion list --json"),
        Case("motion/info", "motion info punching --json"),
        Case("motion/info-bvh", "motion info {in}/march.bvh --json"),
        Case(
            "motion/render",
            "motion render punching --duration 2 --fps 10 --out p.png",
            True,
            spread_of="export/png",
        ),
    ]
