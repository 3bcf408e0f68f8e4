"""Plain underwear for the default body, painted as smooth fields over its rest shape.

A field is about the signed distance to the hem, positive under the cloth; it is interpolated over
the triangles and cut at zero in every sample, so hems are crisp curves however coarse the mesh is.
Fields belong to vertices, so cloth follows every shape and every movement.
"""

from typing import Literal, NamedTuple

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.template import Template

TOP_BELOW_GENDER = 0.75
"""Bodies whose phenotype gender (0 female … 1 male) is below this wear a top."""


class _Marks(NamedTuple):
    """Joints of the rest shape that the cut goes by, metres."""

    hip: Float[NumpyArray, "3"]
    knee: Float[NumpyArray, "3"]
    chest: Float[NumpyArray, "3"]
    collar: Float[NumpyArray, "3"]
    shoulder: Float[NumpyArray, "3"]
    elbow: Float[NumpyArray, "3"]
    ankle: Float[NumpyArray, "3"]


Outfit = Literal["none", "briefs", "underwear", "sportswear"]
"""What is worn: nothing; trunks; trunks and a top; a shirt with shorts or leggings."""


def garments(
    template: Template,
    outfit: Outfit,
    female: bool,
    points: Float[NumpyArray, "n 3"] | None = None,
) -> list[Float[NumpyArray, "n"]]:
    """Coverage by each garment of an outfit, innermost first: of the vertices, or of other points
    on the template's rest shape."""
    marks = _marks(template)
    vertices = np.asarray(template.mesh.vertices if points is None else points, np.float64)
    if outfit == "none":
        return []
    if outfit == "briefs":
        return [briefs(vertices, marks)]
    if outfit == "underwear":
        return [briefs(vertices, marks), top(vertices, marks)]
    return [trousers(vertices, marks, 0.80 if female else 0.52), shirt(vertices, marks, female)]


def underwear(template: Template, identity: Identity | None = None) -> Float[NumpyArray, "V"]:
    """Coverage by briefs, and by a top unless the identity is male."""
    marks = _marks(template)
    vertices = np.asarray(template.mesh.vertices, np.float64)
    coverage = briefs(vertices, marks)
    if identity is None or wears_top(identity):
        coverage = np.maximum(coverage, top(vertices, marks))
    return coverage.astype(np.float32)


def wears_top(identity: Identity) -> bool:
    """Whether the phenotype is not clearly male; unknown counts as not."""
    gender = identity.parameters.get("gender")
    return gender is None or float(np.mean(np.asarray(gender))) < TOP_BELOW_GENDER


def _marks(template: Template) -> _Marks:
    joints = np.asarray(template.skeleton.joints, np.float64)
    names = (
        "left_hip",
        "left_knee",
        "spine3",
        "left_collar",
        "left_shoulder",
        "left_elbow",
        "left_ankle",
    )
    return _Marks(*(joints[template.skeleton.index(name)] for name in names))


def briefs(vertices: Float[NumpyArray, "V 3"], marks: _Marks) -> Float[NumpyArray, "V"]:
    """Short trunks: from under the navel to the upper thigh, cut a little higher outside."""
    thigh = marks.hip[1] - marks.knee[1]
    x, y, z = np.abs(vertices[:, 0]), vertices[:, 1], vertices[:, 2] - marks.hip[2]
    waist = marks.hip[1] + 0.19 * thigh - 0.12 * z
    leg = marks.hip[1] - 0.30 * thigh + 0.25 * (x - marks.hip[0])
    return _smooth_min(waist - y, y - leg, 0.01)


def top(vertices: Float[NumpyArray, "V 3"], marks: _Marks) -> Float[NumpyArray, "V"]:
    """A racing-style top: from under the breast to a round neckline, with two straps."""
    x, y = np.abs(vertices[:, 0]), vertices[:, 1]
    trunk = marks.shoulder[1] - marks.chest[1]
    under = y - (marks.chest[1] - 1.25 * trunk)
    # the neckline is an ellipse about a point over the breastbone
    neck = np.hypot(x / 0.080, (y - (marks.shoulder[1] + 0.03)) / (0.95 * trunk)) - 1.0
    arm = np.hypot(x - (marks.shoulder[0] + 0.02), (y - (marks.shoulder[1] + 0.015)) / 1.6) - 0.072
    cut = _smooth_min(0.07 * neck, arm, 0.012)
    edge = np.minimum(marks.shoulder[0] + 0.03 - x, marks.shoulder[1] + 0.07 - y)
    return np.minimum(_smooth_min(under, cut, 0.01), edge)


def trousers(
    vertices: Float[NumpyArray, "V 3"], marks: _Marks, length: float
) -> Float[NumpyArray, "V"]:
    """Tight trousers from under the navel, down `length` of the way to the ankle."""
    thigh = marks.hip[1] - marks.knee[1]
    x, y, z = np.abs(vertices[:, 0]), vertices[:, 1], vertices[:, 2] - marks.hip[2]
    waist = marks.hip[1] + 0.24 * thigh - 0.10 * z
    end = marks.hip[1] - length * (marks.hip[1] - marks.ankle[1])
    hands = marks.elbow[0] - x  # arms hang beside nothing in the T-pose, hands are far out
    return np.minimum(_smooth_min(waist - y, y - end, 0.01), hands)


def shirt(
    vertices: Float[NumpyArray, "V 3"], marks: _Marks, female: bool
) -> Float[NumpyArray, "V"]:
    """A shirt with short sleeves over the waistband; a woman's has none, and ends higher."""
    x, y, z = np.abs(vertices[:, 0]), vertices[:, 1], vertices[:, 2] - marks.shoulder[2]
    thigh = marks.hip[1] - marks.knee[1]
    trunk = marks.shoulder[1] - marks.chest[1]
    hem = y - (marks.hip[1] + (0.42 if female else 0.12) * thigh)
    reach = (0.02 if female else 0.55) * (marks.elbow[0] - marks.shoulder[0])
    sleeve = marks.shoulder[0] + reach - x
    deep = (0.95 if female else 0.55) * trunk * np.clip(0.7 + 4 * z, 0.45, 1.2)
    neck = np.hypot(x / 0.085, (y - (marks.shoulder[1] + 0.075)) / (0.055 + deep)) - 1.0
    return _smooth_min(_smooth_min(hem, sleeve, 0.01), 0.07 * neck, 0.01)


def _smooth_min(
    a: Float[NumpyArray, "V"], b: Float[NumpyArray, "V"], radius: float
) -> Float[NumpyArray, "V"]:
    """The smaller of two fields, rounded where they meet; `radius` in metres."""
    mix = np.clip(0.5 + 0.5 * (b - a) / radius, 0, 1)
    return a * mix + b * (1 - mix) - radius * mix * (1 - mix)
