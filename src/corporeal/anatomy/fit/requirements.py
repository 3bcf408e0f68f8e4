"""What a body must be so that layers can be fitted: the default topology, the T-pose, all limbs."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.template import LayeredTemplate
from corporeal.errors import InputError

HEIGHTS = (1.3, 2.3)
"""Statures that the template is scaled to, metres."""
STRETCHES = (0.6, 1.6)
"""Smallest and largest length of a limb against the template's at the same stature."""
TURN = 30.0
"""Most that a limb's bone may be turned against the T-pose, degrees."""
BONES = {
    "upper_arm": ("shoulder", "elbow"),
    "forearm": ("elbow", "wrist"),
    "thigh": ("hip", "knee"),
    "shin": ("knee", "ankle"),
}
"""Parts of the skin round one bone, and the joints at its ends."""
ENDS = ("hand", "foot")
"""Parts beyond the last bone."""
PLACE = 0.35
"""Most that the skin of a limb may be shifted against its bone, as a share of the bone's length."""


def require_same_sex(template: LayeredTemplate, sex: str) -> None:
    """Raise `InputError` for a template that was made for the other sex."""
    if template.sex != sex:
        raise InputError(
            f"the template is {template.sex} and the body {sex}; expected the same. Build the "
            f"atlas with --sex {sex}, or fit with --sex {template.sex}."
        )


def require_same_body(
    template: LayeredTemplate, skin: Float64[NumpyArray, "V 3"], joints: Float64[NumpyArray, "J 3"]
) -> None:
    """Raise `InputError` for another topology, another pose, or limbs that cannot be."""
    if skin.shape != template.skin.shape:
        raise InputError(
            f"skin has shape {skin.shape}; layers fit the default body's topology "
            f"{template.skin.shape}. Register the surface first."
        )
    if not (np.isfinite(skin).all() and np.isfinite(joints).all()):
        raise InputError("skin or joints are not finite; repair the body first.")
    height = float(np.ptp(skin[:, 1]))
    if not HEIGHTS[0] <= height <= HEIGHTS[1]:
        raise InputError(
            f"body is {height:.2f} m high; expected {HEIGHTS[0]} to {HEIGHTS[1]} m, standing in "
            f"the T-pose, y up, in metres."
        )
    for side in ("left", "right"):
        for part, (start, end) in BONES.items():
            _require_bone(template, joints, height, f"{side}_{start}", f"{side}_{end}")
            _require_skin(
                template, skin, joints, f"{side}_{part}", f"{side}_{start}", f"{side}_{end}"
            )
        for part in ENDS:
            _require_end(template, skin, height, f"{side}_{part}")


def _require_bone(
    template: LayeredTemplate,
    joints: Float64[NumpyArray, "J 3"],
    height: float,
    start: str,
    end: str,
) -> None:
    """The bone of a limb: as in the T-pose, and about as long."""
    names = template.body.skeleton
    a, b = names.index(start), names.index(end)
    own, usual = joints[b] - joints[a], template.joints[b] - template.joints[a]
    lengths = np.linalg.norm(own), np.linalg.norm(usual)
    ratio = lengths[0] / lengths[1] * template.stature / height
    angle = np.degrees(np.arccos(np.clip(own @ usual / (lengths[0] * lengths[1] + 1e-12), -1, 1)))
    if angle > TURN:
        raise InputError(
            f"bone to {end} is turned by {angle:.0f}° against the T-pose; layers are fitted "
            f"in the T-pose. Unpose the body first."
        )
    if not STRETCHES[0] <= ratio <= STRETCHES[1]:
        raise InputError(
            f"bone to {end} is {ratio:.2f} of the usual length; expected {STRETCHES[0]} to "
            f"{STRETCHES[1]}. A body with a missing limb cannot be fitted."
        )


def _require_skin(
    template: LayeredTemplate,
    skin: Float64[NumpyArray, "V 3"],
    joints: Float64[NumpyArray, "J 3"],
    part: str,
    start: str,
    end: str,
) -> None:
    """The skin of a limb: round its bone, from one end to the other, as the template's is."""
    names, vertices = template.body.skeleton, template.body.part(part)
    a, b = names.index(start), names.index(end)
    own = _along(skin[vertices], joints[a], joints[b])
    usual = _along(template.skin[vertices], template.joints[a], template.joints[b])
    off = max(abs(x - y) for x, y in zip(own, usual, strict=True))
    if off > PLACE:
        raise InputError(
            f"skin of {part} goes from {own[0]:.2f} to {own[1]:.2f} of its bone, {own[2]:.2f} "
            f"beside it; expected about {usual[0]:.2f} to {usual[1]:.2f}, {usual[2]:.2f} beside. "
            f"A missing limb, or a skin in another pose than its joints, cannot be fitted."
        )


def _along(
    points: Float64[NumpyArray, "n 3"],
    start: Float64[NumpyArray, "3"],
    end: Float64[NumpyArray, "3"],
) -> tuple[float, float, float]:
    """First and last place of points along a bone, and their middle's distance from it, lengths."""
    bone = end - start
    place = (points - start) @ bone / (bone @ bone)
    middle = points.mean(axis=0) - start
    beside = np.linalg.norm(middle - (middle @ bone) / (bone @ bone) * bone)
    low, high = np.quantile(place, [0.05, 0.95])
    return float(low), float(high), float(beside / np.linalg.norm(bone))


def _require_end(
    template: LayeredTemplate, skin: Float64[NumpyArray, "V 3"], height: float, part: str
) -> None:
    """A hand or a foot: there, and of a size that goes with the stature."""
    vertices = template.body.part(part)
    own, usual = (
        float(np.linalg.norm(np.ptp(points[vertices], axis=0))) for points in (skin, template.skin)
    )
    ratio = own / usual * template.stature / height
    if not STRETCHES[0] <= ratio <= STRETCHES[1]:
        raise InputError(
            f"{part} has {ratio:.2f} of the usual size; expected {STRETCHES[0]} to "
            f"{STRETCHES[1]}. A body with a missing limb cannot be fitted."
        )
