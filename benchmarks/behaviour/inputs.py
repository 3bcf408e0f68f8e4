"""The inputs that every checkout gets: made once, by one commit, and perturbed copies of them.

Bodies, layers, people, captures and a take come from the command line; a motion, a scene and a
table of persons are written here; registrations are sampled from a known SMPL of 250 vertices.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from cases import BODIES, MOTIONS, NUMBERS

Run = Callable[[str], None]
"""Runs a command line of corporeal in the current folder; raises if it fails."""

PERSONS = (("ada", "female", 31.0, 1.63, 64.0), ("bo", "male", 52.0, 1.81, 93.0))
"""Name, sex, years, metres, kilograms."""
SCENE = {
    "wind": {"velocity": [3, 0, 0]},
    "colliders": [
        {"shape": "ground"},
        {"shape": "box", "size": [0.5, 0.45, 0.5], "position": [0, 0.6, 0.45], "friction": 0.8},
    ],
}
_LIMBS = {
    "Spine": ("Hips", (0, 12, 0)),
    "Spine1": ("Spine", (0, 14, 0)),
    "Neck": ("Spine1", (0, 24, 0)),
    "Head": ("Neck", (0, 10, 2)),
    "LeftShoulder": ("Spine1", (4, 18, 0)),
    "LeftArm": ("LeftShoulder", (13, 0, 0)),
    "LeftForeArm": ("LeftArm", (27, 0, 0)),
    "LeftHand": ("LeftForeArm", (25, 0, 0)),
    "RightShoulder": ("Spine1", (-4, 18, 0)),
    "RightArm": ("RightShoulder", (-13, 0, 0)),
    "RightForeArm": ("RightArm", (-27, 0, 0)),
    "RightHand": ("RightForeArm", (-25, 0, 0)),
    "LeftUpLeg": ("Hips", (9, -6, 0)),
    "LeftLeg": ("LeftUpLeg", (0, -41, 0)),
    "LeftFoot": ("LeftLeg", (0, -42, 0)),
    "LeftToeBase": ("LeftFoot", (0, -6, 13)),
    "RightUpLeg": ("Hips", (-9, -6, 0)),
    "RightLeg": ("RightUpLeg", (0, -41, 0)),
    "RightFoot": ("RightLeg", (0, -42, 0)),
    "RightToeBase": ("RightFoot", (0, -6, 13)),
}
"""Joint → parent, place in its parent's frame (centimetres), in the T-pose."""
_SWINGS = {
    "LeftUpLeg": (-28, 0.0),
    "LeftLeg": (32, 0.0),
    "RightUpLeg": (-28, np.pi),
    "RightLeg": (32, np.pi),
    "Spine": (4, 0.5),
}
"""Joint → degrees about x at the top of a step, phase."""


def make_inputs(folder: Path, run: Run, numbers: dict[str, float]) -> None:
    """Write everything that cases read into an empty folder, which is the current one."""
    Path("march.bvh").write_text(march())
    Path("scene.json").write_text(json.dumps(SCENE))
    Path("people.csv").write_text(persons_table({}))
    for name, flags in BODIES.items():
        run(f"body {flags.format(**numbers)} --out {name}.npz")
        run(f"anatomy fit {name}.npz --out {name}_layers.npz")
    take = "animate --body man.npz --motion jumping-jacks --duration 2 --fps 5"
    run(f"{take} --deformer dqs --out take.glb")
    run(f"animate --body man.npz {MOTIONS['punching']} --a-pose --frame 0 --out scan.ply")
    run("people --count 3 --seed 1 --out people.zarr --jobs 1")
    women = "--women 1 --men 0 --jobs 1"
    run(f"capture --people people.zarr --protocol shapes {women} --out stands.zarr")
    _dragon(folder)
    _registrations(folder)
    sets = "--poses train.zarr --shapes train.zarr --template rig.npz --shape-count 3"
    run(f"train smpl {sets} --out my_smpl.npz")


def perturb_inputs(source: Path, target: Path, seed: int) -> dict[str, float]:
    """Copy the inputs; move every coordinate and measurement by one unit in the last place, up or
    down by chance. Gives back the command lines' measurements, moved likewise."""
    import zarr

    shutil.copytree(source, target)
    random = np.random.default_rng(seed)
    for path in sorted(target.glob("*.npz")):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        names = {"rest_vertices", "rest_joints", "skin", "muscle", "bone"} & set(arrays)
        for name in sorted(names):
            arrays[name] = moved(arrays[name], random)
        if names:
            np.savez_compressed(path, **arrays)
    for path in sorted(target.glob("*.zarr")):
        _perturb_group(zarr.open_group(path, mode="r+"), random)
    _perturb_ply(target / "scan.ply", random)
    (target / "people.csv").write_text(persons_table(_moved_persons(random)))
    return {name: float(moved(np.array(value), random)) for name, value in NUMBERS.items()}


def moved(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Every number that is not 0 by one unit in the last place of its type, up or down."""
    ends = np.where(random.random(array.shape) < 0.5, -np.inf, np.inf).astype(array.dtype)
    return np.where(array == 0, array, np.nextafter(array, ends)).astype(array.dtype)


def persons_table(changed: dict[str, tuple[float, float]]) -> str:
    """The table of given persons, some with other stature and mass."""
    rows = ["name,gender,age,stature,mass"]
    for name, sex, age, stature, mass in PERSONS:
        tall, heavy = changed.get(name, (stature, mass))
        rows.append(f"{name},{sex},{age!r},{tall!r},{heavy!r}")
    return "\n".join(rows) + "\n"


def march() -> str:
    """A BVH file of a person who marches on the spot: 19 frames at 30 Hz, centimetres."""
    children = {name: [n for n, row in _LIMBS.items() if row[0] == name] for name in _names()}
    lines = ["HIERARCHY", *_joint("ROOT", "Hips", (0, 96, 0), children, 0), "MOTION"]
    frames = 19
    lines += [f"Frames: {frames}", f"Frame Time: {1 / 30:.7f}"]
    for phase in 2 * np.pi * np.arange(frames) / 18:
        root = [0.0, 96.0 + 2 * np.sin(2 * phase), 0.0, 0.0, 3 * np.sin(phase), 0.0]
        lines.append(" ".join(f"{x:.5f}" for x in root + _rotations(float(phase))))
    return "\n".join(lines) + "\n"


def _names() -> list[str]:
    return ["Hips", *_LIMBS]


def _depth_first(name: str, children: dict[str, list[str]]) -> list[str]:
    return [name, *(n for child in children[name] for n in _depth_first(child, children))]


def _rotations(phase: float) -> list[float]:
    """Degrees about z, y and x of every joint but the root, in the order of the hierarchy."""
    children = {name: [n for n, row in _LIMBS.items() if row[0] == name] for name in _names()}
    values: list[float] = []
    for name in _depth_first("Hips", children)[1:]:
        size, lag = _SWINGS.get(name, (0, 0.0))
        swing = size * max(0.0, float(np.sin(phase + lag)))
        lowered = {"LeftArm": -62.0, "RightArm": 62.0}.get(name, 0.0)
        bent = {"LeftForeArm": -18.0, "RightForeArm": 18.0}.get(name, 0.0)
        values += [lowered, bent * (1 + np.sin(phase)), swing]
    return values


def _joint(
    word: str, name: str, place: tuple[float, ...], children: dict[str, list[str]], depth: int
) -> list[str]:
    pad, channels = "  " * depth, "Zrotation Yrotation Xrotation"
    known = f"6 Xposition Yposition Zposition {channels}" if word == "ROOT" else f"3 {channels}"
    inside = [f"OFFSET {' '.join(map(str, place))}", f"CHANNELS {known}"]
    lines = [f"{pad}{word} {name}", pad + "{", *(f"{pad}  {line}" for line in inside)]
    for child in children[name]:
        lines += _joint("JOINT", child, _LIMBS[child][1], children, depth + 1)
    if not children[name]:
        lines += [f"{pad}  End Site", f"{pad}  {{", f"{pad}    OFFSET 0 0 8", f"{pad}  }}"]
    return [*lines, pad + "}"]


def _moved_persons(random: np.random.Generator) -> dict[str, tuple[float, float]]:
    rows = {name: moved(np.array([tall, heavy]), random) for name, _, _, tall, heavy in PERSONS}
    return {name: (float(row[0]), float(row[1])) for name, row in rows.items()}


def _perturb_group(group: object, random: np.random.Generator) -> None:
    """Vertices and joints of a store, wherever they lie in it."""
    for name, member in sorted(group.members(max_depth=None)):  # pyright: ignore
        leaf = name.rsplit("/", 1)[-1]
        if leaf in ("vertices", "rest_vertices", "joints") and hasattr(member, "shape"):
            member[...] = moved(np.asarray(member[...]), random)


def _perturb_ply(path: Path, random: np.random.Generator) -> None:
    """The coordinates of a binary PLY file whose vertices have three doubles and no more."""
    data = path.read_bytes()
    head = data.index(b"end_header\n") + len(b"end_header\n")
    lines = [line.split() for line in data[:head].decode().splitlines()]
    start = next(n for n, line in enumerate(lines) if line[:2] == ["element", "vertex"])
    if [line[1] for line in lines[start + 1 : start + 5]] != ["double"] * 3 + ["face"]:
        raise SystemExit(f"{path} has vertices of {lines[start:]}; expected double x, y, z.")
    points = np.frombuffer(data, "<f8", 3 * int(lines[start][2]), head)
    path.write_bytes(data[:head] + moved(points, random).tobytes() + data[head + points.nbytes :])


def _dragon(folder: Path) -> None:
    from corporeal.pipelines.example_creature import write_dragon

    write_dragon(folder)


def _registrations(folder: Path) -> None:
    """`train.zarr` and `test.zarr`: 16 registrations of four people; `rig.npz`: their start."""
    from corporeal.evaluation.known_smpl import known_smpl, registrations_of, sample_people
    from corporeal.formats.registrations import RegistrationsStore
    from corporeal.formats.smpl import write_smpl

    known = known_smpl(250, pose_scale=0.02)
    meshes, _ = sample_people(known, 4, 16, 0, dtype=np.float64)
    model = known.model
    held = registrations_of(model, meshes)
    write_smpl(folder / "rig.npz", replace(model, pose_offsets=0 * model.pose_offsets))
    others = tuple(replace(t, subject=f"other_{t.subject}", split="test") for t in held.takes[:2])
    for name, takes in (("train", held.takes), ("test", others)):
        store = RegistrationsStore.create(
            folder / f"{name}.zarr", "small", held.triangles, held.vertex_count, {"seed": 0}
        )
        for take in takes:
            store.write_take(take)
        store.store.finish({})
