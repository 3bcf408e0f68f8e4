"""Teeth, tongue and lashes, carried by the skin around them into every face."""

from functools import cache, lru_cache

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.faces import expression_morph, loose_offsets
from corporeal.appearance.resolving import ResolvedLook
from corporeal.appearance.texels import eight_bits
from corporeal.assets.default_body import load_default_body
from corporeal.assets.looks import helper_places, loose_part
from corporeal.body.attachment import Attachment, SkinBinding
from corporeal.body.colours import srgb_from_linear
from corporeal.body.identity import Identity
from corporeal.body.material import Material, plain_material
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights
from corporeal.skinning.followers import Follower, bind_follower

_TEETH = (0.62, 0.57, 0.48)
_TONGUE = (0.36, 0.10, 0.09)
LASH_SIZE = 128
_JAW = 8
"""Skin vertices that teeth and tongue go with."""


@cache
def _bound(name: str) -> tuple[Follower, Int[NumpyArray, "n"]]:
    """A part tied to the average adult's skin near it; teeth and tongue stay rigid."""
    template = load_default_body().template
    mesh, rows = loose_part(name)
    rigid = np.full(len(rows), -1 if name == "lashes" else 0)
    skin = np.asarray(template.mesh.vertices, np.float64)
    return bind_follower(np.asarray(mesh.vertices), rigid, skin, template.mesh.triangles), rows


@cache
def _binding(name: str) -> SkinBinding:
    """The skin that moves a part in expressions: lids for the lashes, each hair by the skin nearest
    to it; for teeth and tongue, as rigid things, the skin near them that opens with the jaw as they
    were sculpted to."""
    from scipy.spatial import KDTree

    template = load_default_body().template
    mesh, rows = loose_part(name)
    skin = np.asarray(template.mesh.vertices, np.float64)
    count = len(skin)
    head = template.skeleton.index("head")
    weights = SkinWeights(
        np.full((len(rows), 1), head, np.int32),
        np.ones((len(rows), 1), np.float32),
        template.skeleton.joint_count,
    )
    if name == "lashes":
        _, near = KDTree(skin).query(np.asarray(mesh.vertices, np.float64))
        return SkinBinding(
            weights, np.asarray(near)[:, None].astype(np.int32), np.ones((len(rows), 1))
        )
    jaw = expression_morph("jawOpen", Appearance(), count + len(helper_places()))
    own = jaw[count:][rows].mean(axis=0)
    _, close = KDTree(skin).query(np.asarray(mesh.vertices, np.float64).mean(axis=0), k=400)
    alike = np.argsort(np.linalg.norm(jaw[close] - own, axis=1), kind="stable")[:_JAW]
    carriers = np.tile(np.asarray(close)[alike].astype(np.int32), (len(rows), 1))
    return SkinBinding(weights, carriers, np.full(carriers.shape, 1.0 / _JAW))


def part_places(name: str, identity: Identity, appearance: Appearance) -> NumpyArray:
    """Vertices of a part in a body whose face is neutral, and the expression's change, metres."""
    follower, rows = _bound(name)
    skin = np.asarray(identity.rest_vertices, np.float64)
    places = follower.follow(skin[None])[0]
    count = load_default_body().template.mesh.vertex_count
    moved = loose_offsets(appearance, count + len(helper_places()))[count:]
    return places + moved[rows]


@lru_cache(maxsize=8)
def lash_material(colour: tuple[float, float, float], density: float) -> Material:
    """Dark hairs that stand out of the lid's edge, with nothing between them."""
    y, x = np.mgrid[0:LASH_SIZE, 0:LASH_SIZE]
    out = 1 - (y + 0.5) / LASH_SIZE
    bent = x + 3.0 * np.sin(x * 0.35) + 6.0 * out * np.sin(x * 0.12)
    wave = np.abs(np.sin(bent * (0.5 + 0.15 * density)))
    length = 0.45 + 0.35 * density + 0.15 * np.sin(x * 0.9)
    there = (wave < 0.50 * (1 - out / length)) | (out < 0.10)
    # none at the corners of the eye, where those that stand out sideways are crumbs on the cheek
    there &= np.minimum(x, LASH_SIZE - 1 - x) > 0.20 * LASH_SIZE
    pixels = np.zeros((LASH_SIZE, LASH_SIZE, 4), np.uint8)
    pixels[..., :3] = eight_bits(srgb_from_linear(0.35 * np.asarray(colour)))
    pixels[..., 3] = np.where(there, 255, 0)
    rough = np.full((LASH_SIZE, LASH_SIZE), 150, np.uint8)
    return Material("lashes", "hair", pixels, rough, double_sided=True, cutout=True)


def mouth_and_lashes(
    neutral: Identity, look: ResolvedLook, mouth: bool = True
) -> tuple[Attachment, ...]:
    """Teeth, tongue (unless the mouth is not wanted) and lashes of a body."""
    head = load_default_body().template.skeleton.index("head")
    made: list[Attachment] = []
    wanted = (("upper_teeth", _TEETH), ("lower_teeth", _TEETH), ("tongue", _TONGUE))
    for name, colour in wanted if mouth else ():
        mesh, _ = loose_part(name)
        made.append(
            _part(
                name,
                mesh,
                part_places(name, neutral, look.appearance),
                plain_material(name, "other", colour, 0.25),
                head,
            )
        )
    if look.appearance.lashes > 0.02:
        mesh = _lash_mesh()
        material = lash_material(look.brow_colour, look.appearance.lashes)
        places = part_places("lashes", neutral, look.appearance)
        made.append(_part("lashes", mesh, places, material, head))
    return tuple(made)


@cache
def _lash_mesh() -> Mesh:
    """The four strips of the lashes with texture coordinates of their own: along the lid, and from
    its edge outwards."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    mesh, _ = loose_part("lashes")
    corners = np.asarray(mesh.triangles)
    rows, columns = corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()
    shape = (mesh.vertex_count, mesh.vertex_count)
    count, strip = connected_components(coo_array((np.ones(len(rows)), (rows, columns)), shape))
    skin = np.asarray(mesh.vertices, np.float64)
    uv = np.zeros((mesh.vertex_count, 2), np.float32)
    for number in range(count):
        own = np.flatnonzero(strip == number)
        places = skin[own]
        middle = places.mean(axis=0) - [0, 0, 0.012]
        far = np.linalg.norm(places - middle, axis=1)
        side = places[:, 0]
        uv[own, 0] = (side - side.min()) / max(np.ptp(side), 1e-9)
        # the edge of the lid is the nearer end at every place along it
        order = np.round(10 * uv[own, 0]).astype(int)
        low = np.array([far[order == k].min() if (order == k).any() else 0 for k in range(11)])
        uv[own, 1] = (far - low[order]) / max((far - low[order]).max(), 1e-9)
    return Mesh(mesh.vertices, mesh.triangles, None, uv, mesh.triangles)


def _part(
    name: str, mesh: Mesh, places: Float[NumpyArray, "n 3"], material: Material, joint: int
) -> Attachment:
    uv, corners = mesh.uv, mesh.uv_triangles
    moved = Mesh(places.astype(np.float32), mesh.triangles, None, uv, corners)
    colours = np.broadcast_to(np.asarray(material.mean_colour, np.float32), places.shape).copy()
    return Attachment(name, moved, colours, joint, material, _binding(name))
