"""People as strangers scan them: what `registration_kinds` makes files of."""

from typing import Any, NamedTuple

import numpy as np
from registration import SEED, _seen_from, drawn_pose, people

UP_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""From y up to z up."""
BMI_HEAVY = 45.0
INNER = ("inner_mouth", "left_eye_socket", "right_eye_socket")


class Skin(NamedTuple):
    """A posed person, metres, y up, feet near y = 0."""

    vertices: Any
    triangles: Any


class Made(NamedTuple):
    """A file's content, and how the truth becomes it: x ↦ scale · R x."""

    points: Any
    triangles: Any = None
    scale: float = 1.0
    rotation: Any = np.eye(3)
    colours: Any = None
    suffix: str = ".ply"
    ends: str = "<"
    shown: Any = None
    """Vertices that the scan shows; all by default."""


def posed(person: int, kind: str = "A", turns: dict[str, tuple] | None = None, rest=None) -> Skin:
    """One of the benchmark's people in a pose, turned by some heading."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.body.identity import Identity
    from corporeal.body.pose import Pose
    from corporeal.models.smpl.shipped import SparseSmplSkinning

    template = load_default_body().template
    random = np.random.default_rng([SEED, 77, person])
    if rest is None:
        skins = people(20)
        rest = Identity(skins[0][person], skins[1][person], {})
    names = template.skeleton.names
    vectors = drawn_pose(kind, names, random, random.uniform(-np.pi, np.pi))
    for name, vector in (turns or {}).items():
        vectors[names.index(name)] = vector
    skin = SparseSmplSkinning(template).vertices(rest, Pose(vectors, np.zeros(3)))
    vertices = np.asarray(skin, np.float64)
    triangles = np.asarray(template.mesh.triangles)
    # no scanner sees into mouths and eye sockets
    inner = np.isin(np.array(template.part_names)[np.asarray(template.part_labels)], INNER)
    triangles = triangles[~inner[triangles].all(axis=1)]
    return Skin(vertices - [0.0, vertices[:, 1].min(), 0.0], triangles)


def heavy() -> Skin:
    """A woman of BMI 45 in an A-pose."""
    from corporeal.anthropometry.corpulence import body_at_bmi
    from corporeal.models.phenotype.model import PhenotypeModel

    return posed(0, rest=body_at_bmi(PhenotypeModel(), 0.0, BMI_HEAVY, 1.65, 45.0))


def spread(skin: Skin, count: int, noise: float = 4e-4, seed: int = 5):
    """Points spread over a surface, with noise."""
    from corporeal.body.mesh import Mesh
    from corporeal.registration.cloud import sample_surface

    points = sample_surface(Mesh(skin.vertices, skin.triangles), count, seed).points
    return points + np.random.default_rng(seed).normal(0.0, noise, points.shape)


def cylinder(middle, radius: float, low: float, high: float, count: int, seed: int = 8):
    """Points over a closed upright cylinder."""
    random = np.random.default_rng(seed)
    side = 2.0 * np.pi * radius * (high - low)
    cap = np.pi * radius**2
    kind = random.choice(3, count, p=np.array([side, cap, cap]) / (side + 2.0 * cap))
    turn = random.uniform(0.0, 2.0 * np.pi, count)
    out = np.where(kind == 0, radius, radius * np.sqrt(random.random(count)))
    y = np.choose(
        kind, [random.uniform(low, high, count), np.full(count, low), np.full(count, high)]
    )
    return np.stack([middle[0] + out * np.cos(turn), y, middle[2] + out * np.sin(turn)], axis=1)


def box(middle, sizes, count: int):
    """Points over a closed box."""
    from registration_refusals import box as shape

    return shape(np.random.default_rng(9), count, middle, sizes)


def raised_heels(person: int) -> Skin:
    """Standing in an A-pose on the balls of the feet."""
    turns = {f"{s}_{j}": v for s in ("left", "right")
             for j, v in (("ankle", (0.5, 0.0, 0.0)), ("foot", (-0.5, 0.0, 0.0)))}  # fmt: skip
    return posed(person, "A", turns)


def plate(count: int = 5_000_000) -> tuple[Skin, Made]:
    """Raised heels on a round plate 5 cm thick, millimetres, z up."""
    skin = raised_heels(1)
    lifted = Skin(skin.vertices + np.array([0.0, 0.05, 0.0]), skin.triangles)
    middle = lifted.vertices.mean(axis=0)
    points = np.concatenate(
        [spread(lifted, int(0.7 * count)), cylinder(middle, 0.45, 0.0, 0.05, int(0.3 * count))]
    )
    return lifted, Made(points @ UP_Z.T, scale=1000.0, rotation=UP_Z)


def stool() -> tuple[Skin, Made]:
    """Sitting on a stool: a seat 4 cm thick on a column and a foot, on no floor."""
    skin = posed(2, "sitting")
    seat = float(skin.vertices[part(("pelvis", "hips", "belly", "thigh"))][:, 1].min())
    middle = skin.vertices[part(("pelvis", "hips", "belly"))].mean(axis=0)
    points = [
        spread(skin, 120_000),
        cylinder(middle, 0.17, seat - 0.04, seat, 12_000),
        cylinder(middle, 0.03, 0.02, seat - 0.04, 4000),
        cylinder(middle, 0.2, 0.0, 0.02, 9000),
    ]
    return skin, Made(np.concatenate(points))


def part(stems: tuple[str, ...]):
    from corporeal.assets.default_body import load_default_body

    template = load_default_body().template
    names = np.array(template.part_names)[np.asarray(template.part_labels)]
    return np.flatnonzero([any(stem in name for stem in stems) for name in names])


def floor_and_box() -> tuple[Skin, Made]:
    """A floor, and beside the person a box of 60 × 80 × 50 cm, 30 cm away."""
    skin = posed(3)
    low, high = skin.vertices.min(axis=0), skin.vertices.max(axis=0)
    middle = 0.5 * (low + high)
    random = np.random.default_rng(6)
    floor = random.uniform(-1.2, 1.2, (30_000, 3)) * (1.0, 0.0, 1.0) + middle * (1.0, 0.0, 1.0)
    floor[:, 1] = random.normal(0.0, 1e-3, len(floor))
    place = (high[0] + 0.6, 0.4, middle[2])
    points = [spread(skin, 100_000), floor, box(place, (0.6, 0.8, 0.5), 60_000)]
    return skin, Made(np.concatenate(points))


def box_near() -> tuple[Skin, Made]:
    """A box as before but 8 cm from the hands, no floor."""
    skin = posed(3)
    low, high = skin.vertices.min(axis=0), skin.vertices.max(axis=0)
    place = (high[0] + 0.38, 0.5, 0.5 * (low[2] + high[2]))
    return skin, Made(np.concatenate([spread(skin, 100_000), box(place, (0.6, 1.0, 0.5), 90_000)]))


def kneeling() -> tuple[Skin, Made]:
    """On both knees, trunk upright."""
    turns = {"left_hip": (-0.1, 0.0, 0.1), "right_hip": (-0.1, 0.0, -0.1)}
    turns |= {f"{side}_knee": (1.6, 0.0, 0.0) for side in ("left", "right")}
    turns |= {f"{side}_ankle": (0.5, 0.0, 0.0) for side in ("left", "right")}
    skin = posed(4, "A", turns)
    return skin, Made(spread(skin, 120_000))


def one_arm() -> tuple[Skin, Made]:
    """The right arm straight up, the left one down; in GLB under a turned and a scaled node."""
    turns = {"right_shoulder": (0.0, 0.0, -1.35), "right_collar": (0.0, 0.0, -0.2)}
    turns |= {"left_shoulder": (0.0, 0.0, -1.15)}
    skin = posed(5, "A", turns)
    return skin, Made(skin.vertices, skin.triangles, suffix=".glb")


def hollow() -> tuple[Skin, Made]:
    """A shell: the skin, and 4 mm inside of it a second one facing inwards."""
    from corporeal.geometry.surface import vertex_normals

    skin = posed(6, "walking")
    inner = skin.vertices - 4e-3 * vertex_normals(skin.vertices, skin.triangles)
    triangles = np.concatenate([skin.triangles, skin.triangles[:, ::-1] + len(inner)])
    return skin, Made(np.concatenate([skin.vertices, inner]), triangles)


def cropped() -> tuple[Skin, Made]:
    """Cut by a level plane at the ankles."""
    skin = posed(7)
    points = spread(skin, 150_000)
    at = 0.11
    return skin, Made(points[points[:, 1] > at], shown=skin.vertices[:, 1] > at)


def half_feet() -> tuple[Skin, Made]:
    """Both feet cut off above the heel, one hand too; in OFF, inches."""
    skin = posed(8, "T")
    gone = np.zeros(len(skin.vertices), bool)
    gone[part(("foot", "right_hand"))] = True
    kept = skin.triangles[~gone[skin.triangles].any(axis=1)]
    return skin, Made(skin.vertices, kept, scale=1.0 / 0.0254, suffix=".off", shown=~gone)


def heavy_nets() -> tuple[Skin, Made]:
    """The woman of BMI 45 as a marching surface of 8 mm cells (dual, "surface nets")."""
    skin = heavy()
    return skin, Made(*surface_nets(skin, 8e-3))


def surface_nets(skin: Skin, cell: float):
    """The skin taken from a grid: one vertex a cell that it passes, one quad an edge."""
    from scipy.ndimage import binary_dilation

    from corporeal.registration.coupled_stage import matches

    low = skin.vertices.min(axis=0) - 4 * cell
    shape = np.ceil((np.ptp(skin.vertices, axis=0) + 8 * cell) / cell).astype(int)
    near = np.zeros(shape, bool)
    dense = spread(skin, 300_000, 0.0)
    near[tuple(((dense - low) / cell).astype(int).T)] = True
    near = binary_dilation(near, iterations=2)
    at = np.argwhere(near)
    places = low + cell * at
    found = matches(skin.vertices, skin.triangles, places)
    height = np.full(shape, np.nan)
    height[tuple(at.T)] = np.sum((places - found.feet) * found.normals, axis=1)
    return surface_of(height, low, cell)


def surface_of(height, low, cell: float):
    """The zero of distances at a grid's nodes (NaN where none is known), as vertices, triangles."""
    shape, at = height.shape, np.argwhere(np.isfinite(height))
    inside = height < 0
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    values = np.stack([height[i : shape[0] - 1 + i, j : shape[1] - 1 + j, k : shape[2] - 1 + k]
                       for i, j, k in corners])  # fmt: skip
    good = np.isfinite(values).all(axis=0)
    passed = good & (values < 0).any(axis=0) & (values >= 0).any(axis=0)
    which = np.argwhere(passed)
    own = values[:, passed].T
    offset = np.array(corners, float)
    sums, counts = np.zeros((len(which), 3)), np.zeros(len(which))
    for a in range(8):
        for b in range(a + 1, 8):
            if np.abs(offset[a] - offset[b]).sum() != 1:
                continue
            crosses = (own[:, a] < 0) != (own[:, b] < 0)
            share = np.where(crosses, own[:, a] / np.where(crosses, own[:, a] - own[:, b], 1.0), 0)
            sums += crosses[:, None] * (offset[a] + share[:, None] * (offset[b] - offset[a]))
            counts += crosses
    vertices = low + cell * (which + sums / counts[:, None])
    number = np.full(np.array(shape) - 1, -1)
    number[tuple(which.T)] = np.arange(len(which))
    triangles = []
    for axis in range(3):
        step = np.eye(3, dtype=int)[axis]
        b, c = np.eye(3, dtype=int)[(axis + 1) % 3], np.eye(3, dtype=int)[(axis + 2) % 3]
        nodes = at[(at < np.array(shape) - 2).all(axis=1) & (at > 0).all(axis=1)]
        ends = nodes + step
        differ = inside[tuple(nodes.T)] != inside[tuple(ends.T)]
        nodes = nodes[differ & np.isfinite(height[tuple(ends.T)])]
        quad = np.stack([number[tuple((nodes - d).T)] for d in (0 * b, b, b + c, c)], axis=1)
        turned = inside[tuple(nodes.T)]
        quad = np.where(turned[:, None], quad, quad[:, ::-1])
        quad = quad[(quad >= 0).all(axis=1)]
        triangles += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return vertices, np.concatenate(triangles)


def one_camera() -> tuple[Skin, Made]:
    """What one camera sees, with holes of its own, no confidence."""
    skin = posed(9, "A")
    points = spread(skin, 150_000, 1e-3)
    forwards = np.array([0.0, 0.0, 1.0])
    kept = _seen_from(points, points.mean(axis=0) + 2.5 * forwards, True)
    return skin, Made(points[kept])


def spoiled() -> tuple[Skin, Made]:
    """NaN and infinite points among good ones; big-endian PLY, centimetres, -y up."""
    skin = posed(10, "walking")
    points = spread(skin, 90_000)
    random = np.random.default_rng(3)
    points[random.choice(len(points), 2000, replace=False)] = np.nan
    points[random.choice(len(points), 50, replace=False), 0] = np.inf
    down = np.diag([1.0, -1.0, -1.0])
    return skin, Made(points @ down.T, scale=100.0, rotation=down, ends=">")


def clothed() -> tuple[Skin, Made]:
    """Wide trousers, a coat and hair, 20 to 35 mm outside; a surface without colour."""
    from corporeal.geometry.surface import vertex_normals

    skin = posed(11, "A")
    normals = vertex_normals(skin.vertices, skin.triangles)
    out = np.zeros(len(skin.vertices))
    out[part(("thigh", "shin", "pelvis", "hips"))] = 0.02
    out[part(("chest", "belly", "back", "breast", "shoulder", "upper_arm"))] = 0.025
    head = part(("head",))
    top = skin.vertices[head]
    out[head[(top[:, 1] > np.percentile(top[:, 1], 45))]] = 0.03
    for _ in range(12):
        sums = np.zeros(len(out))
        counts = np.zeros(len(out))
        for a, b in ((0, 1), (1, 2), (2, 0)):
            np.add.at(sums, skin.triangles[:, a], out[skin.triangles[:, b]])
            np.add.at(counts, skin.triangles[:, a], 1.0)
        out = 0.5 * out + 0.5 * sums / np.maximum(counts, 1.0)
    waves = 0.006 * np.sin(40.0 * skin.vertices[:, 1]) * (out > 0.01)
    return skin, Made(skin.vertices + (out + waves)[:, None] * normals, skin.triangles)
