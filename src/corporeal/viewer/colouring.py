"""Numbers on the skin: what a body's colours can show."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float32, Int, NumpyArray, UInt8
from corporeal.body.identity import Identity
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.viewer.document import ColourChoice


@dataclass(frozen=True)
class Scale:
    """What the page writes beside the colours."""

    title: str
    """What the numbers are."""
    unit: str
    """Unit of the numbers, as printed."""
    low: float
    """Number at the scale's beginning, in `unit`."""
    high: float
    """Number at the scale's end, in `unit`."""


_SCALES = {
    "offset": Scale("Away from linear blending", "mm", 0.0, 40.0),
    "strain": Scale("Strain of the skin", "%", 0.0, 40.0),
    "error": Scale("Away from the chosen body", "mm", 0.0, 40.0),
    "weight": Scale("Skin weight", "", 0.0, 1.0),
    "stiffness": Scale("Painted stiffness, powers of ten", "", -1.0, 1.0),
    "exaggeration": Scale("Painted exaggeration, powers of ten", "", -1.0, 1.0),
    "layer": Scale("Fat under the skin", "mm", 0.0, 60.0),
}


def scale_of(choice: ColourChoice) -> Scale | None:
    """The scale of a choice; None for plain skin."""
    if choice.what not in _SCALES:
        return None
    usual = _SCALES[choice.what]
    if choice.most > 0 and choice.what in ("offset", "strain", "error", "layer"):
        return Scale(usual.title, usual.unit, usual.low, choice.most)
    return usual


class SkinStrain:
    """√((σ₁ − 1)² + (σ₂ − 1)²) of every triangle, averaged at its corners; no unit.

    The same measure as `evaluation.skin_strain`, with what the rest shape decides computed once.
    """

    def __init__(self, rest: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]) -> None:
        self._triangles = triangles
        a, b, c = _gram(np.asarray(rest, np.float32), triangles)
        determinant = np.maximum(a * c - b * b, 1e-20)
        self._inverse = (c / determinant, -b / determinant, a / determinant)
        count = np.bincount(triangles.ravel(), minlength=len(rest))
        rows, columns = triangles.ravel(), np.repeat(np.arange(len(triangles)), 3)
        shares = (1.0 / count[rows]).astype(np.float32)
        self._to_vertices = csr_array((shares, (rows, columns)), (len(rest), len(triangles)))

    def at_vertices(self, skin: Float32[NumpyArray, "V 3"]) -> Float[NumpyArray, "V"]:
        """Of a moved skin, at every vertex."""
        h11, h12, h22 = _gram(skin, self._triangles)
        g11, g12, g22 = self._inverse
        half_trace = 0.5 * (g11 * h11 + 2 * g12 * h12 + g22 * h22)
        determinant = (g11 * g22 - g12 * g12) * (h11 * h22 - h12 * h12)
        apart = np.sqrt(np.maximum(half_trace**2 - determinant, 0.0))
        large = np.sqrt(np.maximum(half_trace + apart, 0.0))
        small = np.sqrt(np.maximum(half_trace - apart, 0.0))
        return np.asarray(self._to_vertices @ np.hypot(large - 1.0, small - 1.0))


class Colouring:
    """The numbers of one choice, for one person."""

    def __init__(
        self,
        choice: ColourChoice,
        template: Template,
        identity: Identity,
        painted: Mapping[str, float],
        thickness: Float32[NumpyArray, "V"] | None = None,
    ) -> None:
        """`painted` are factors of stiffness, or of exaggeration where that is shown; `thickness`
        of the fat is in millimetres, None while it is not known."""
        self.choice, self.scale = choice, scale_of(choice)
        self._template, self._identity, self._painted = template, identity, painted
        self._thickness = thickness
        self._joint = template.skeleton.index(choice.joint)

    @cached_property
    def _strain(self) -> SkinStrain:
        rest = np.asarray(self._identity.rest_vertices)
        return SkinStrain(rest, self._template.mesh.triangles)

    @cached_property
    def _steady(self) -> Float32[NumpyArray, "V"]:
        """What does not change with the pose."""
        count = self._template.mesh.vertex_count
        if self.choice.what == "weight":
            return self._template.weights.dense()[:, self._joint].astype(np.float32)
        values = np.zeros(count, np.float32)
        if self.choice.what == "layer":
            return values if self._thickness is None else self._thickness
        for vertex, factor in self._painted.items():
            values[_vertex(vertex, count)] = np.log10(factor)
        return values

    def values(
        self,
        skin: Float32[NumpyArray, "V 3"],
        plain: Float32[NumpyArray, "V 3"],
        other: Float32[NumpyArray, "V 3"],
    ) -> Float[NumpyArray, "V"]:
        """In the scale's unit; `plain` is linear blending of the same pose, `other` the body to
        compare with. Nothing is known of skins of another topology."""
        if len(skin) != len(plain):
            return np.zeros(len(skin), np.float32)
        if self.choice.what in ("skin", "offset"):
            return 1e3 * _apart(skin, plain)
        if self.choice.what == "error":
            return 1e3 * _apart(skin, other)
        if self.choice.what == "strain":
            return 100.0 * self._strain.at_vertices(skin)
        return self._steady

    def shades(self, values: Float[NumpyArray, "V"]) -> UInt8[NumpyArray, "V"]:
        """Where on the scale every number lies, 0 to 255."""
        assert self.scale is not None
        share = (values - self.scale.low) / (self.scale.high - self.scale.low)
        return np.asarray(255.0 * np.clip(share, 0.0, 1.0) + 0.5, np.uint8)


def painted_map(painted: Mapping[str, float], count: int) -> Float[NumpyArray, "V"] | None:
    """Painted factors at every vertex; None where nothing is painted."""
    if not painted:
        return None
    factors = np.ones(count)
    for vertex, factor in painted.items():
        factors[_vertex(vertex, count)] = factor
    return factors


def _vertex(word: str, count: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) < count):
        raise InputError(f"vertex {word!r} was painted; the skin has 0 to {count - 1}.")
    return int(word)


def _apart(
    one: Float32[NumpyArray, "V 3"], other: Float32[NumpyArray, "V 3"]
) -> Float32[NumpyArray, "V"]:
    """Distances, metres; none between surfaces of different topology."""
    if len(one) != len(other):
        return np.zeros(len(one), np.float32)
    gap = one - other
    return np.sqrt(np.einsum("vc,vc->v", gap, gap))


def _gram(
    vertices: Float32[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    """Products of two edges of every triangle: with itself, with each other, with itself."""
    corner = vertices[triangles]
    one, two = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    products = (np.einsum("fc,fc->f", a, b) for a, b in ((one, one), (one, two), (two, two)))
    first, mixed, second = products
    return first, mixed, second
