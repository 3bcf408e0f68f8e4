"""Hair made by script: a solid cap that grows out of the scalp, a bun, a curtain down the back.

The cap is a height over the head's own skin, from nothing at the hairline to its full thickness
some centimetres behind it, combed from a pole: the crown, or the bun. So it fits every head, looks
right from all sides, and the painted roots below it hide where it begins.
"""

import math

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.hair_cap import Head, PolarGrid, grid_triangles, head_of, polar_grid
from corporeal.appearance.hair_paint import Kind, hair_material
from corporeal.appearance.noise import step
from corporeal.appearance.resolving import ResolvedLook
from corporeal.assets.default_body import load_default_body
from corporeal.body.attachment import Attachment, SkinBinding
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights

_CROWN = np.array([0.0, 0.90, -0.42])
_BUN = np.array([0.0, 0.34, -0.94])
_ROWS, _COLUMNS = 40, 121
_COMBED = 1.5
"""Radians from the hairline that the strands' picture reaches."""
_CURTAIN_ROWS, _CURTAIN_COLUMNS = 37, 71
_OVER_CAP = 14
"""Rows of the curtain that lie on the cap."""
_LEAVES, _PARTS = math.radians(14), math.radians(86)
"""How high above the head's middle the curtain leaves the cap, and where it begins."""
_BESIDE, _CLEAR = 0.025, 0.006
"""What lies so near below it hair ends so far above, metres."""
_SHORTEST, _UNEVEN = 0.10, 0.035
"""Of its lengths from where it leaves the head: the least, and how far they differ, metres."""


def hair_parts(faced: Identity, look: ResolvedLook) -> tuple[Attachment, ...]:
    """The hair of a person with this face; nothing for the bald."""
    style = look.hair_style
    if style == "bald":
        return ()
    head = head_of(np.asarray(faced.rest_vertices, np.float64), look.recession)
    random = np.random.default_rng([look.appearance.seed, 11])
    if style == "bun":
        caps = _caps(head, _BUN, _tight, random, 0.7)
        return (*_layers(caps, look), _rigid("bun", _bun(head, random), look))
    if style == "cropped":
        return (_rigid("hair", _caps(head, _CROWN, _cropped, random, 0.25)[0], look),)
    if style == "short":
        return _layers(_caps(head, _CROWN, _short, random, 0.8), look)
    caps = _caps(head, _CROWN, _full, random, 0.8)
    curtain = _curtain(head, faced, random)
    return (*_layers(caps, look), _draped("hair_curtain", curtain, faced, look))


def _layers(caps: tuple[Mesh, Mesh], look: ResolvedLook) -> tuple[Attachment, Attachment]:
    """The cap, and the strands over it that break its outline."""
    return _rigid("hair", caps[0], look), _rigid("hair_wisps", caps[1], look)


def _cropped(directions: NumpyArray, above: NumpyArray) -> NumpyArray:
    """Thickness of a cropped head, metres."""
    return 0.0026 * step(above, -0.004, 0.016)


def _tight(directions: NumpyArray, above: NumpyArray) -> NumpyArray:
    """Hair combed back tightly."""
    return 0.009 * _rise(above, 0.045)


def _short(directions: NumpyArray, above: NumpyArray) -> NumpyArray:
    """Short sides, more on top, most over the forehead, parted on the left."""
    up, front, left = directions[..., 1], directions[..., 2], directions[..., 0]
    top = step(up, 0.30, 1.0)
    over = step(front, 0.15, 0.75) * step(up, 0.25, 0.85) * (1 - np.abs(left))
    part = np.exp(-(((left - 0.40) / 0.045) ** 2)) * step(up, 0.5, 0.7) * step(front, -0.35, 0.1)
    depth = 0.0050 + 0.0110 * top + 0.005 * over - 0.006 * part
    return depth * _rise(above, 0.050)


def _full(directions: NumpyArray, above: NumpyArray) -> NumpyArray:
    """Long hair over the head, parted in the middle, standing off more at the sides."""
    up, front, left = directions[..., 1], directions[..., 2], np.abs(directions[..., 0])
    part = np.exp(-((left / 0.05) ** 2)) * step(front, -0.5, -0.1)
    depth = 0.005 + 0.006 * step(up, -0.05, 0.45) - 0.004 * part
    return depth * _rise(above, 0.050)


def _rise(above: NumpyArray, over: float) -> NumpyArray:
    """From 0 at the hairline to 1 `over` metres behind it, without a step where it begins."""
    return 0.22 * step(above, -0.004, 0.010) + 0.78 * step(above, -0.004, over)


def _caps(
    head: Head, pole: NumpyArray, thickness: object, random: np.random.Generator, ridges: float
) -> tuple[Mesh, Mesh]:
    """The cap around a pole, and the surface a little over it where single strands lie: vertices,
    triangles and places on the strands' picture."""
    from scipy.ndimage import gaussian_filter

    grid = polar_grid(pole, _ROWS, _COLUMNS, math.radians(150))
    radii, above = head.seen(grid.directions.reshape(-1, 3))
    radii, above = (a.reshape(grid.polar.shape) for a in (radii, above))
    radii, above = (_smooth(a, gaussian_filter) for a in (radii, above))
    depth = thickness(grid.directions, above)  # pyright: ignore[reportCallIssue]
    locks = _locks(grid, random)
    depth = depth * (1 + 0.22 * ridges * locks)
    # beyond the hairline the cap dives under the skin
    buried = 0.004 * (1 - step(above, -0.010, -0.004))
    points = head.centre + (radii + 0.0008 + depth - buried)[..., None] * grid.directions
    over = 0.0004 + depth * np.clip(0.06 + 0.05 * _locks(grid, random), 0, 0.14)
    higher = points + over[..., None] * grid.directions
    triangles = grid_triangles(grid.rows, grid.columns)
    kept = (above.ravel()[triangles] > -0.010).any(axis=1)
    # from the hairline inwards in even steps: its fringe is as long at the nape as at the forehead
    along = np.clip((_edge(grid, above) - grid.polar) / _COMBED, 0.002, 1)
    uv = np.stack([grid.around / (2 * np.pi), along], axis=-1)
    shell = (above.ravel()[triangles] > 0.0).all(axis=1)
    return _mesh(points, triangles[kept], uv), _mesh(higher, triangles[shell], uv)


def _edge(grid: PolarGrid, above: NumpyArray) -> NumpyArray:
    """Angle from the pole at which each column leaves the hair, radians: there v is 0."""
    inside = above > -0.006
    inside[0] = True
    last = np.where(inside, grid.polar, 0).max(axis=0)
    from scipy.ndimage import gaussian_filter1d

    soft = gaussian_filter1d(last[:-1], 1.0, mode="wrap")
    return np.maximum(np.append(soft, soft[0]), 0.3)[None]


def _smooth(field: NumpyArray, blur: object) -> NumpyArray:
    """Over the grid, which closes upon itself."""
    wide = np.concatenate([field[:, -9:-1], field, field[:, 1:9]], axis=1)
    soft = blur(wide, (1.0, 1.4), mode="nearest")  # pyright: ignore[reportCallIssue]
    soft = soft[:, 8:-8].copy()
    soft[0] = soft[0].mean()
    soft[:, -1] = soft[:, 0]
    return soft


def _locks(grid: PolarGrid, random: np.random.Generator) -> NumpyArray:
    """Ridges along the strands, deviation about 1, the same at both ends of the grid."""
    total = np.zeros(grid.polar.shape)
    for waves in (9, 14, 19, 25, 31):
        phase, bend = random.uniform(0, 2 * np.pi), random.normal(0, 1.2)
        total += np.cos(waves * grid.around + phase + bend * grid.polar) / 1.6
    return total * step(grid.polar, 0.15, 0.7)


def _mesh(points: NumpyArray, triangles: NumpyArray, uv: NumpyArray) -> Mesh:
    """The vertices that triangles use, with as many texture coordinates."""
    flat, places = points.reshape(-1, 3), uv.reshape(-1, 2)
    used, numbered = np.unique(triangles, return_inverse=True)
    corners = numbered.reshape(-1, 3).astype(np.int32)
    return Mesh(
        flat[used].astype(np.float32), corners, None, places[used].astype(np.float32), corners
    )


def _bun(head: Head, random: np.random.Generator) -> Mesh:
    """A coil of hair on the back of the head."""
    pole = _BUN / np.linalg.norm(_BUN)
    radius = float(head.seen(pole[None])[0][0])
    rows, columns = 25, 41
    a, b = np.meshgrid(
        np.linspace(0, np.pi, rows), np.linspace(0, 2 * np.pi, columns), indexing="ij"
    )
    ball = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1)
    coil = 1 + 0.05 * np.cos(3 * b - 5 * a + random.uniform(0, 6)) * np.sin(a)
    size = np.array([0.037, 0.037, 0.030])
    local = ball * size * coil[..., None]
    up = np.array([0.0, 1.0, 0.0]) - pole[1] * pole
    up /= np.linalg.norm(up)
    side = np.cross(up, pole)
    points = head.centre + (radius + 0.020) * pole + local @ np.stack([side, up, pole])
    # strands run around the coil
    uv = np.stack([np.clip(a / np.pi, 0.01, 0.99), (b / (2 * np.pi) + 0.3 * a / np.pi) / 1.31], -1)
    # seen from outside: rows go away from the front pole
    return _mesh(points, grid_triangles(rows, columns), uv)


def _curtain(head: Head, faced: Identity, random: np.random.Generator) -> Mesh:
    """Hair that falls from the cap: around the back and both sides, past the neck."""
    rows, columns = _CURTAIN_ROWS, _CURTAIN_COLUMNS
    hanging = np.linspace(0, 1, rows - _OVER_CAP)
    t, a = np.meshgrid(
        np.concatenate([np.zeros(_OVER_CAP), hanging]),
        np.radians(np.linspace(-112, 112, columns)),
        indexing="ij",
    )
    # from the parting, over the cap, down to where the hair leaves the head
    on_cap = np.concatenate([np.linspace(1, 0, _OVER_CAP, endpoint=False), 0 * hanging])[:, None]
    back = np.stack([np.sin(a), np.zeros_like(a), -np.cos(a)], axis=-1)
    rise = _LEAVES + (_PARTS - _LEAVES) * on_cap
    up = np.array([0.0, 1.0, 0.0])
    directions = np.cos(rise)[..., None] * back + np.sin(rise)[..., None] * up
    radii, above = (b.reshape(a.shape) for b in head.seen(directions.reshape(-1, 3)))
    sides = np.abs(a) / math.radians(112)
    # it begins below the cap, at the parting and in front, and lies over its ridges from there on
    begins = np.maximum(step(on_cap, 0.45, 1.0), step(sides, 0.70, 1.0) * step(on_cap, 0.0, 0.45))
    off = 0.003 + 1.3 * _full(directions, above) - 0.011 * begins
    rim = head.centre + (radii + off)[..., None] * directions
    length = 0.255 - 0.055 * sides**2 + 0.008 * _wave(a, random)
    skin = np.asarray(faced.rest_vertices, np.float64)
    drop = t * _above_shoulders(rim[-1], length, skin)
    places = rim.copy()
    places[..., 1] -= drop
    # below the widest place of the skull the hair turns in to the neck, and then hangs
    bulge = 0.004 * step(drop, 0.0, 0.030) + 0.010 * step(drop, 0.0, 0.06)
    inward = 0.026 * step(drop, 0.08, 0.19) * (1 - 0.5 * sides) - bulge
    locks = 0.005 * _wave(3 * a, random) * step(t, 0.1, 0.6)
    places -= (inward - locks)[..., None] * back
    low = step(drop, 0.10, 0.16)
    places = _outside(places, skin, low)
    down = 0.26 * (1 - on_cap) * (t == 0) + (0.26 + 0.74 * t) * (t > 0)
    uv = np.stack([0.02 + 0.96 * (a - a.min()) / np.ptp(a), 0.98 - 0.96 * down], axis=-1)
    return _mesh(places, grid_triangles(rows, columns)[:, ::-1], uv)


def _above_shoulders(rim: NumpyArray, length: NumpyArray, skin: NumpyArray) -> NumpyArray:
    """Lengths cut so that what would fall on a shoulder ends a little above it; what falls down the
    back stays as long as it is. `rim` is where each column leaves the head."""
    from scipy.ndimage import gaussian_filter1d, minimum_filter1d
    from scipy.spatial import KDTree

    template = load_default_body().template
    names = ("neck", "chest", "back", "left_shoulder", "right_shoulder")
    names = (*names, "left_upper_arm", "right_upper_arm")
    trunk = skin[np.concatenate([template.part(name) for name in names])]
    near = KDTree(trunk[:, [0, 2]]).query_ball_point(rim[:, [0, 2]], _BESIDE)
    tops = np.array([trunk[found, 1].max(initial=-np.inf) for found in near])
    room = np.maximum(rim[:, 1] - tops - _CLEAR, _SHORTEST)
    least = minimum_filter1d(np.minimum(length, room), 5, axis=-1, mode="nearest")
    least = np.minimum(least, least.min() + _UNEVEN)
    return gaussian_filter1d(least, 2.0, axis=-1, mode="nearest")


def _wave(a: NumpyArray, random: np.random.Generator) -> NumpyArray:
    total = np.zeros(a.shape)
    for waves in (5, 8, 13):
        total += np.cos(waves * a + random.uniform(0, 6)) / 2
    return total


def _outside(places: NumpyArray, skin: NumpyArray, share: NumpyArray) -> NumpyArray:
    """Places moved outwards, as far as `share` says, until they are a finger's breadth off the
    trunk and the neck."""
    template = load_default_body().template
    names = ("neck", "chest", "back", "left_shoulder", "right_shoulder")
    parts = np.concatenate([template.part(name) for name in names])
    from corporeal.geometry.surface import vertex_normals

    normals = np.asarray(vertex_normals(skin, template.mesh.triangles), np.float64)[parts]
    from scipy.spatial import KDTree

    tree = KDTree(skin[parts])
    moved = places.copy()
    for _ in range(6):
        flat = moved.reshape(-1, 3)
        _, near = tree.query(flat)
        gap = np.sum((flat - skin[parts][near]) * normals[near], axis=1)
        push = share.ravel() * np.clip(0.014 - gap, 0, 0.03)
        along = normals[near].copy()
        along[:, 1] = np.clip(along[:, 1], -0.2, 0.35)
        moved += (push[:, None] * along).reshape(moved.shape)
    from scipy.ndimage import gaussian_filter

    change = moved - places
    soft = np.stack([gaussian_filter(change[..., k], (1.5, 1.5)) for k in range(3)], axis=-1)
    return places + np.where(np.abs(soft) > np.abs(change), soft, change)


def _colours(look: ResolvedLook, count: int) -> Float[NumpyArray, "n 3"]:
    return np.tile(np.asarray(look.hair_colour, np.float32), (count, 1))


def _rigid(name: str, mesh: Mesh, look: ResolvedLook) -> Attachment:
    joint = load_default_body().template.skeleton.index("head")
    kinds: dict[str, Kind] = {"bun": "coil", "hair_wisps": "wisps"}
    kind: Kind = "cropped" if look.hair_style == "cropped" else kinds.get(name, "cap")
    texture = hair_material(look.hair_colour, kind, look.appearance.seed)
    return Attachment(name, mesh, _colours(look, mesh.vertex_count), joint, texture)


def _draped(name: str, mesh: Mesh, faced: Identity, look: ResolvedLook) -> Attachment:
    """A part that goes with the head above and with the back below."""
    from scipy.spatial import KDTree

    template = load_default_body().template
    skeleton = template.skeleton
    head, chest = skeleton.index("head"), skeleton.index("spine3")
    skin = np.asarray(faced.rest_vertices, np.float64)
    joints = np.asarray(faced.joints, np.float64)
    heights = np.asarray(mesh.vertices[:, 1], np.float64)
    neck = joints[skeleton.index("neck"), 1]
    share = step(neck + 0.06 - heights, 0.0, 0.16)
    dense = np.zeros((mesh.vertex_count, skeleton.joint_count))
    dense[:, head], dense[:, chest] = 1 - 0.85 * share, 0.85 * share
    _, near = KDTree(skin).query(np.asarray(mesh.vertices, np.float64))
    binding = SkinBinding(
        SkinWeights.from_dense(dense, 4),
        np.asarray(near)[:, None].astype(np.int32),
        (share[:, None] > 0.5).astype(np.float64) * share[:, None],
    )
    texture = hair_material(look.hair_colour, "ends", look.appearance.seed)
    colours = _colours(look, mesh.vertex_count)
    return Attachment(name, mesh, colours, head, texture, binding)
