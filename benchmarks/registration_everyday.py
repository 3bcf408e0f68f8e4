"""Everyday scans: a phone's mesh of clothes, hair and a patch of floor; a plinth, a chair, a skirt.

What a reconstruction makes of a dressed person is one surface: bun, hem and floor are grown onto
the skin, arms onto the trunk. Here the skin and simple solids are united as distances on a grid and
taken out as one surface, with holes where a walking camera sees nothing. Registered without a word
more, as `registration_kinds` does it, which holds the loop and the measures.

    python benchmarks/registration_everyday.py --list
    python benchmarks/registration_everyday.py --only phone chair --pictures build/everyday
"""

from collections.abc import Callable

import numpy as np
import registration_kinds as kinds
import registration_scenes as scenes
from registration_scenes import UP_Z, Made, Skin, part, posed

CELL = 0.008
"""Metres between the grid's nodes."""


def dressed(skin: Skin, trousers: float = 0.025, shirt: float = 0.03, shoes: float = 0.012) -> Skin:
    """The skin moved outwards by clothes with folds, metres; hands and face stay bare."""
    from corporeal.geometry.surface import vertex_normals

    normals = vertex_normals(skin.vertices, skin.triangles)
    out = np.zeros(len(skin.vertices))
    out[part(("thigh", "shin", "hips", "buttock"))] = trousers
    out[part(("chest", "belly", "back", "breast", "shoulder", "upper_arm", "forearm"))] = shirt
    out[part(("foot",))] = shoes
    for _ in range(8):
        sums, counts = np.zeros(len(out)), np.zeros(len(out))
        for a, b in ((0, 1), (1, 2), (2, 0)):
            np.add.at(sums, skin.triangles[:, a], out[skin.triangles[:, b]])
            np.add.at(counts, skin.triangles[:, a], 1.0)
        out = 0.5 * out + 0.5 * sums / np.maximum(counts, 1.0)
    folds = 0.3 * out * np.sin(35.0 * skin.vertices[:, 1] + 9.0 * skin.vertices[:, 0])
    return Skin(skin.vertices + (out + folds)[:, None] * normals, skin.triangles)


def ellipsoid(middle, radii) -> Callable:
    """Distance from an ellipsoid, about: exact enough near its surface."""

    def height(places):
        away = np.linalg.norm((places - middle) / radii, axis=1)
        return (away - 1.0) * np.min(radii)

    return height


def block(low, high) -> Callable:
    """Distance from a box with its edges along the axes."""
    middle, half = 0.5 * (np.add(low, high)), 0.5 * np.subtract(high, low)

    def height(places):
        beyond = np.abs(places - middle) - half
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        return outside + np.minimum(beyond.max(axis=1), 0.0)

    return height


def cone(middle, low: float, high: float, at_low, at_high) -> Callable:
    """Distance from an upright cone of elliptic sections: a skirt, a dress."""

    def height(places):
        share = np.clip((places[:, 1] - low) / (high - low), 0.0, 1.0)[:, None]
        radii = (1.0 - share) * np.asarray(at_low) + share * np.asarray(at_high)
        aside = np.linalg.norm((places[:, [0, 2]] - [middle[0], middle[2]]) / radii, axis=1)
        beyond = np.maximum(low - places[:, 1], places[:, 1] - high)
        return np.maximum((aside - 1.0) * radii.min(axis=1), beyond)

    return height


def floor_patch(middle, radius: float) -> Callable:
    """Distance from an uneven slab with a ragged rim, its top about y = 0."""

    def height(places):
        aside = places[:, [0, 2]] - [middle[0], middle[2]]
        turn = np.arctan2(aside[:, 1], aside[:, 0])
        rim = radius * (1.0 + 0.15 * np.sin(3.0 * turn) + 0.08 * np.sin(7.0 * turn + 1.0))
        top = 0.004 * np.sin(9.0 * places[:, 0]) * np.sin(7.0 * places[:, 2])
        slab = np.abs(places[:, 1] - top + 0.02) - 0.02
        return np.maximum(slab, np.linalg.norm(aside, axis=1) - rim)

    return height


def united(skin: Skin, solids: tuple[Callable, ...], low, high, cell: float = CELL):
    """One surface of a skin and solids: distances on a grid, the least of all, surface nets."""
    from scipy.ndimage import binary_dilation

    from corporeal.registration.coupled_stage import matches

    low, high = np.asarray(low) - 4 * cell, np.asarray(high) + 4 * cell
    shape = np.ceil((high - low) / cell).astype(int)
    near = np.zeros(shape, bool)
    dense = scenes.spread(skin, 300_000, 0.0)
    near[tuple(((dense - low) / cell).astype(int).T)] = True
    near = binary_dilation(near, iterations=3)
    places = low + cell * np.argwhere(np.ones(shape, bool))
    height = np.full(len(places), 10.0)
    for solid in solids:
        height = np.minimum(height, solid(places))
    # only about the skin does it decide; what it parts from the border is inside
    beside = np.flatnonzero(near)
    found = matches(skin.vertices, skin.triangles, places[beside])
    own = np.sum((places[beside] - found.feet) * found.normals, axis=1)
    height[beside] = np.minimum(height[beside], own)
    grid = height.reshape(shape)
    grid[_enclosed(near)] = -1.0
    return scenes.surface_of(grid, low, cell)


def _enclosed(near):
    """Nodes that a band about a skin parts from the grid's border: the body's inside."""
    from scipy.ndimage import binary_propagation

    border = np.ones(near.shape, bool)
    border[1:-1, 1:-1, 1:-1] = False
    return ~near & ~np.asarray(binary_propagation(border & ~near, mask=~near), bool)


def holed(points, triangles, middles, radii):
    """Without the triangles about some places."""
    gone = np.zeros(len(points), bool)
    for middle, radius in zip(middles, radii, strict=True):
        gone |= np.linalg.norm(points - middle, axis=1) < radius
    return triangles[~gone[triangles].any(axis=1)]


def _bounds(skin: Skin, beside: float):
    low, high = skin.vertices.min(axis=0), skin.vertices.max(axis=0)
    return low - np.array([beside, 0.06, beside]), high + np.array([beside, 0.1, beside])


def _bun(skin: Skin) -> Callable:
    """A knot of hair at the back of the crown."""
    head = skin.vertices[part(("head",))]
    top = head[np.argmax(head[:, 1])]
    face = skin.vertices[part(("head",))[_face(head)]].mean(axis=0)
    back = np.array([top[0] - face[0], 0.0, top[2] - face[2]])
    back /= max(float(np.linalg.norm(back)), 1e-9)
    return ellipsoid(top + 0.06 * back - [0.0, 0.01, 0.0], np.array([0.055, 0.05, 0.055]))


def _face(head):
    """The head's lowest fifth that juts out furthest: the chin; where the face looks."""
    low = head[:, 1] < np.percentile(head[:, 1], 30)
    away = np.linalg.norm(head[:, [0, 2]] - head[:, [0, 2]].mean(axis=0), axis=1)
    return low & (away > np.percentile(away[low], 80))


def phone() -> tuple[Skin, Made]:
    """Shirt, trousers, shoes, a bun, a patch of floor; holes; OBJ, centimetres, z up."""
    skin = posed(12, "A", {f"{s}_shoulder": (0.0, 0.0, -m * 1.0)
                           for s, m in (("left", 1.0), ("right", -1.0))})  # fmt: skip
    outer = dressed(skin)
    middle = skin.vertices.mean(axis=0)
    points, triangles = united(outer, (_bun(skin), floor_patch(middle, 0.55)), *_bounds(skin, 0.35))
    head = skin.vertices[np.argmax(skin.vertices[:, 1])]
    crotch = np.array([middle[0], 0.47 * head[1], middle[2]])
    shoulders = skin.vertices[part(("left_shoulder",))].mean(axis=0)
    triangles = holed(
        points, triangles, (head, crotch, shoulders - [0, 0.12, 0]), (0.06, 0.07, 0.06)
    )
    return skin, Made(points @ UP_Z.T, triangles, scale=100.0, rotation=UP_Z, suffix=".obj")


def hanging() -> tuple[Skin, Made]:
    """Arms hanging, hands grown onto the trousers, thighs onto each other, 10 mm cells; STL."""
    skin = posed(13, "A", {f"{s}_shoulder": (0.0, 0.0, -m * 1.22)
                           for s, m in (("left", 1.0), ("right", -1.0))})  # fmt: skip
    points, triangles = united(dressed(skin, 0.02, 0.02), (), *_bounds(skin, 0.02), 0.010)
    return skin, Made(points, triangles, scale=1000.0, suffix=".stl")


def plinth() -> tuple[Skin, Made]:
    """A statuette: on a plinth of 46 × 46 × 35 cm, one closed surface, millimetres, z up."""
    skin = posed(14, "walking")
    middle = skin.vertices.mean(axis=0)
    base = block(middle * [1, 0, 1] - [0.23, 0.35, 0.23], middle * [1, 0, 1] + [0.23, 0.004, 0.23])
    low, high = _bounds(skin, 0.1)
    points, triangles = united(
        skin, (base,), low - np.array([0.1, 0.34, 0.1]), high + np.array([0.1, 0.0, 0.1])
    )
    return skin, Made(points @ UP_Z.T, triangles, scale=1000.0, rotation=UP_Z, suffix=".stl")


def chair() -> tuple[Skin, Made]:
    """Sitting on a chair with back, legs and arms, on a floor; points."""
    random = np.random.default_rng(3)
    skin = posed(15, "sitting")
    trunk = skin.vertices[part(("belly", "hips", "chest"))].mean(axis=0)
    knees = skin.vertices[part(("shin",))].mean(axis=0)
    forwards = (knees - trunk) * [1.0, 0.0, 1.0]
    forwards /= np.linalg.norm(forwards)
    aside = np.cross([0.0, 1.0, 0.0], forwards)
    frame = np.stack([aside, [0.0, 1.0, 0.0], forwards])
    local = (skin.vertices - trunk * [1, 0, 1]) @ frame.T
    seat = float(local[part(("hips", "buttock", "thigh"))][:, 1].min())
    rear = float(local[part(("back", "buttock"))][:, 2].min())
    front = rear + 0.46
    pieces = [
        ((0, seat - 0.025, 0.5 * (rear + front)), (0.46, 0.05, 0.46), 9000),
        ((0, seat + 0.25, rear - 0.03), (0.46, 0.5, 0.04), 9000),
    ]
    for x in (-0.21, 0.21):
        pieces += [((x, 0.5 * seat - 0.025, z), (0.04, seat - 0.05, 0.04), 1500)
                   for z in (rear, front - 0.02)]  # fmt: skip
        pieces += [((1.25 * x, seat + 0.2, 0.5 * (rear + front)), (0.05, 0.03, 0.4), 2500),
                   ((1.25 * x, seat + 0.1, front - 0.06), (0.03, 0.2, 0.03), 800)]  # fmt: skip
    cloud = np.concatenate([scenes.box(place, size, count) for place, size, count in pieces])
    floor = random.uniform(-0.9, 0.9, (25_000, 3)) * (1.0, 0.0, 1.0)
    floor[:, 1] = random.normal(0.0, 2e-3, len(floor))
    things = np.concatenate([cloud, floor]) @ frame + trunk * [1, 0, 1]
    return skin, Made(np.concatenate([scenes.spread(skin, 110_000, 1e-3), things]))


def skirt() -> tuple[Skin, Made]:
    """A skirt down to the shins that hides the legs, a blouse, a bun; PLY, inches."""
    skin = posed(16, "A")
    hips = skin.vertices[part(("hips",))]
    middle = hips.mean(axis=0)
    legs = skin.vertices[part(("thigh", "shin"))]
    wide = 0.5 * np.ptp(legs[:, [0, 2]], axis=0) + 0.05
    waist = 0.5 * np.ptp(hips[:, [0, 2]], axis=0) + 0.015
    round_about = np.ones(2)
    gown = cone(middle, 0.28, middle[1] + 0.06, wide.max() * round_about, waist.max() * round_about)
    points, triangles = united(dressed(skin, 0.005, 0.02), (gown, _bun(skin)), *_bounds(skin, 0.1))
    return skin, Made(points, triangles, scale=1.0 / 0.0254)


def akimbo() -> tuple[Skin, Made]:
    """Hands on the hips, feet apart, a backpack; points of 2 mm noise with 4 % far outliers."""
    turns = {}
    for side, m in (("left", 1.0), ("right", -1.0)):
        turns[f"{side}_shoulder"] = (0.35, 0.0, -m * 0.75)
        turns[f"{side}_elbow"] = (0.0, -m * 1.75, 0.0)
        turns[f"{side}_hip"] = (0.0, 0.0, m * 0.2)
    skin = posed(17, "A", turns)
    back = skin.vertices[part(("back",))]
    pack = ellipsoid(back.mean(axis=0), np.array([0.17, 0.22, 0.17]))
    points, triangles = united(skin, (pack,), *_bounds(skin, 0.1))
    cloud = scenes.spread(Skin(points, triangles), 90_000, 2e-3)
    random = np.random.default_rng(1)
    far = random.uniform(cloud.min(axis=0) - 0.3, cloud.max(axis=0) + 0.3, (3600, 3))
    return skin, Made(np.concatenate([cloud, far]), scale=100.0)


def few() -> tuple[Skin, Made]:
    """Two thousand points and nothing else, millimetres, z up."""
    skin = posed(18, "T")
    return skin, Made(scenes.spread(skin, 2000, 2e-3) @ UP_Z.T, scale=1000.0, rotation=UP_Z)


EVERYDAY = {
    "phone": phone,
    "hanging": hanging,
    "plinth": plinth,
    "chair": chair,
    "skirt": skirt,
    "akimbo": akimbo,
    "few": few,
}


if __name__ == "__main__":
    kinds.KINDS.clear()
    kinds.KINDS.update(EVERYDAY)
    kinds.main(__doc__, "registration_everyday.jsonl")
