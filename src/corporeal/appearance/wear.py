"""Community assets on a body: bound to its base mesh, skinned, with the skin below left out.

position = Σ_k w_k b_k + s ∘ o, over three vertices b_k of the base mesh (skin or helper), with the
scale s_a = |difference along axis a of the two vertices that the file names| / its stated distance.
The offset o is in the pose that the base mesh was sculpted in, so it turns with the bones that turn
that pose into the T-pose.
"""

from functools import cache, lru_cache

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.appearance.resolving import ResolvedLook
from corporeal.assets.default_body import load_default_body
from corporeal.assets.looks import helper_places
from corporeal.body.attachment import Attachment, SkinBinding
from corporeal.body.colours import linear_from_srgb
from corporeal.body.identity import Identity
from corporeal.body.material import Material, plain_material
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.mhclo import ClothAsset, read_mhclo
from corporeal.skinning.followers import Follower, bind_follower

_DECIMETRE = 0.1
_CARRIERS = 6


@cache
def _helpers() -> tuple[Follower, Int[NumpyArray, "h k"], Float[NumpyArray, "h k"]]:
    """Helper vertices bound to the average adult's skin, and the skin vertices nearest to each."""
    from scipy.spatial import KDTree

    template = load_default_body().template
    skin = np.asarray(template.mesh.vertices, np.float64)
    places = helper_places()
    bound = bind_follower(places, np.full(len(places), -1), skin, template.mesh.triangles)
    apart, near = KDTree(skin).query(places, k=3)
    shares = 1 / (apart + 1e-3)
    return bound, np.asarray(near), shares / shares.sum(axis=1, keepdims=True)


def base_vertices(rest_vertices: Float[NumpyArray, "V 3"]) -> Float[NumpyArray, "b 3"]:
    """All vertices of the base mesh, helpers included, around a body in the T-pose, metres."""
    skin = np.asarray(rest_vertices, np.float64)
    return np.concatenate([skin, _helpers()[0].follow(skin[None])[0]])


@cache
def _turns() -> Float[NumpyArray, "b 3 3"]:
    """Rotation of every base vertex from the sculpted pose to the T-pose."""
    repose = load_default_body().template.repose
    assert repose is not None
    skin = np.einsum("vb,bij->vij", repose.dense_weights(), repose.rotations)
    _, near, shares = _helpers()
    helpers = np.einsum("hk,hkij->hij", shares, skin[near])
    return np.concatenate([skin, helpers])


@lru_cache(maxsize=16)
def _asset(path: str) -> ClothAsset:
    return read_mhclo(path)


def worn_parts(
    faced: Identity, look: ResolvedLook
) -> tuple[tuple[Attachment, ...], Bool[NumpyArray, "F"] | None]:
    """All that the look wears, and the skin triangles that it hides (None for none)."""
    if not look.appearance.wear:
        return (), None
    template = load_default_body().template
    base = base_vertices(np.asarray(faced.rest_vertices))
    gone = np.zeros(template.mesh.vertex_count, bool)
    parts = []
    for path in look.appearance.wear:
        if not path.lower().endswith(".mhclo"):
            raise InputError(f"{path} cannot be worn; expected a MakeHuman asset, .mhclo.")
        asset = _asset(path)
        parts.append(_worn(asset, base, look))
        hidden = asset.hidden[asset.hidden < len(gone)]
        gone[hidden] = True
    triangles = np.asarray(gone[template.mesh.triangles].all(axis=1))
    return tuple(parts), triangles if triangles.any() else None


def wears_hair(look: ResolvedLook) -> bool:
    """Whether something worn is hair of the head, in the place of the look's own."""
    assets = [_asset(path) for path in look.appearance.wear if path.lower().endswith(".mhclo")]
    top = [a for a in assets if a.is_hair and len(a.hidden) == 0]
    return any("brow" not in a.name and "lash" not in a.name for a in top)


def fitted(asset: ClothAsset, base: Float[NumpyArray, "b 3"]) -> Float[NumpyArray, "n 3"]:
    """The asset's vertices on a body whose base mesh stands at `base`, metres."""
    scales = np.full(3, _DECIMETRE)
    for axis, scale in enumerate(asset.scales):
        if scale is not None:
            first, second, length = scale
            span = abs(base[first, axis] - base[second, axis])
            scales[axis] = span / length if span > 1e-6 else _DECIMETRE
    # x = Σ_k w_k b_k + Σ_k w_k R_k (s ∘ o)
    turned = np.einsum("nk,nkij->nij", asset.weights, _turns()[asset.base])
    offsets = np.einsum("nij,nj->ni", turned, asset.offsets * scales)
    return np.einsum("nk,nki->ni", asset.weights, base[asset.base]) + offsets


def _worn(asset: ClothAsset, base: NumpyArray, look: ResolvedLook) -> Attachment:
    template = load_default_body().template
    places = fitted(asset, base)
    carriers, shares = _carriers(asset)
    dense = template.weights.dense()
    blended = np.einsum("nk,nkj->nj", shares, dense[carriers])
    weights = SkinWeights.from_dense(blended / blended.sum(axis=1, keepdims=True), 4)
    uv, corners = asset.mesh.uv, asset.mesh.uv_triangles
    if uv is None or corners is None:
        uv, corners = np.zeros((1, 2), np.float32), np.zeros_like(asset.mesh.triangles)
    mesh = Mesh(places.astype(np.float32), asset.mesh.triangles, None, uv, corners)
    material = _material(asset, look)
    colours = np.tile(np.asarray(material.mean_colour, np.float32), (len(places), 1))
    joint = int(np.bincount(weights.joint_indices[:, 0]).argmax())
    binding = SkinBinding(weights, carriers.astype(np.int32), shares)
    return Attachment(asset.name, mesh, colours, joint, material, binding)


def _carriers(asset: ClothAsset) -> tuple[Int[NumpyArray, "n k"], Float[NumpyArray, "n k"]]:
    """Skin vertices that carry each vertex of the asset: those it is bound to, helpers by the skin
    nearest to them; weights below zero are left out."""
    count = load_default_body().template.mesh.vertex_count
    _, near, shares = _helpers()
    n = len(asset.base)
    carriers = np.zeros((n, 9), np.int64)
    part = np.zeros((n, 9))
    for k in range(3):
        index, weight = asset.base[:, k], np.clip(asset.weights[:, k], 0, None)
        helper = index >= count
        carriers[~helper, 3 * k] = index[~helper]
        part[~helper, 3 * k] = weight[~helper]
        rows = index[helper] - count
        carriers[helper, 3 * k : 3 * k + 3] = near[rows]
        part[helper, 3 * k : 3 * k + 3] = weight[helper, None] * shares[rows]
    order = np.argsort(-part, axis=1, kind="stable")[:, :_CARRIERS]
    carriers, part = (np.take_along_axis(a, order, axis=1) for a in (carriers, part))
    total = part.sum(axis=1, keepdims=True)
    part = np.where(total > 1e-9, part / np.maximum(total, 1e-9), np.eye(_CARRIERS)[0])
    return carriers, part


def _material(asset: ClothAsset, look: ResolvedLook) -> Material:
    kind = "hair" if asset.is_hair else "cloth"
    if asset.picture is not None:
        cut = bool((asset.picture[..., 3] < 128).any())
        rough = np.full(asset.picture.shape[:2], 140 if asset.is_hair else 217, np.uint8)
        return Material(asset.name, kind, asset.picture, rough, double_sided=True, cutout=cut)
    colour = tuple(float(c) for c in linear_from_srgb(np.array(asset.colour)))
    if asset.is_hair:
        colour = look.hair_colour
    elif min(asset.colour) > 0.95:  # white stands for a picture that is not there
        colour = (0.30, 0.31, 0.33)
    plain = plain_material(asset.name, kind, (colour[0], colour[1], colour[2]), 0.8)
    return Material(plain.name, kind, plain.colour, plain.roughness, double_sided=True)
