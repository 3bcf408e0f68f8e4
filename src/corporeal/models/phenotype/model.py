"""Bodies from sliders."""

import sys
from collections.abc import Mapping
from typing import Any

from array_api_compat import is_torch_namespace

from corporeal._typing import Array, Float, NumpyArray
from corporeal.assets.default_body import DefaultBody, grounded, load_default_body
from corporeal.body.checks import concrete, require_finite
from corporeal.body.identity import Identity
from corporeal.body.parameter import Parameter
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.phenotype.equations import (
    PHENOTYPE_RULE,
    Rule,
    macro_coefficients,
    macro_table,
)
from corporeal.models.phenotype.modifiers import Modifier, local_coefficients, modifiers
from corporeal.runtime.arrays import full_precision, is_numpy, namespace_of


class PhenotypeModel:
    """Continuous, batched and differentiable: sliders → body in the T-pose.

    `rest_vertices = base_vertices + coefficients @ vertex_offsets`, and joints likewise, both then
    shifted by one height so that the lowest vertex stands at 0.
    """

    def __init__(self, body: DefaultBody | None = None, rule: Rule = PHENOTYPE_RULE) -> None:
        self.body = load_default_body() if body is None else body
        self.table = macro_table(self.body.macro.names, rule)
        self.parameters: tuple[Parameter, ...] = tuple(axis.parameter for axis in rule)
        self.modifiers: tuple[Modifier, ...] = modifiers(self.body.local.names)
        self.local_parameters: tuple[Parameter, ...] = tuple(m.parameter for m in self.modifiers)
        self._bases: dict[Any, tuple[Array, ...]] = {}

    @property
    def template(self) -> Template:
        """The average adult."""
        return self.body.template

    @property
    def base_vertices(self) -> Float[Array, "V 3"]:
        """Skin at zero coefficients, metres."""
        return self.body.base_vertices

    @property
    def base_joints(self) -> Float[Array, "J 3"]:
        """Joint centres at zero coefficients, metres."""
        return self.body.base_joints

    @property
    def vertex_offsets(self) -> Float[Array, "S V 3"]:
        """Skin offset of every target, metres: macro targets, then local ones."""
        return self.body.targets.vertex_offsets

    @property
    def joint_offsets(self) -> Float[Array, "S J 3"]:
        """Joint centre offset of every target, metres."""
        return self.body.targets.joint_offsets

    def prepare(
        self,
        phenotype: Mapping[str, Array | float] | None = None,
        local: Mapping[str, Array | float] | None = None,
    ) -> Identity:
        """The body with these sliders; those not named stay at their defaults (`parameters`).

        `local` names modifiers of one region (`local_parameters`), which default to 0.
        """
        identity = self.from_coefficients(self.coefficients(phenotype, local))
        given = {**(phenotype or {}), **(local or {})}
        return Identity(
            identity.rest_vertices,
            identity.joints,
            {name: namespace_of(value).asarray(value) for name, value in given.items()},
        )

    def macro_coefficients(
        self, phenotype: Mapping[str, Array | float] | None = None
    ) -> Float[Array, "*batch S"]:
        """Coefficients of the macro targets alone; see `equations`."""
        sliders = phenotype or {}
        _check_values("phenotype", sliders, self.parameters)
        return macro_coefficients(self.table, sliders)

    def coefficients(
        self,
        phenotype: Mapping[str, Array | float] | None = None,
        local: Mapping[str, Array | float] | None = None,
    ) -> Float[Array, "*batch S"]:
        """Coefficients of all targets: macro, then local."""
        macro = self.macro_coefficients(phenotype)
        changes = local or {}
        _check_values("local", changes, self.local_parameters)
        return local_coefficients(macro, self.modifiers, self.body.local.count, changes)

    def from_coefficients(self, coefficients: Float[Array, "*batch S"]) -> Identity:
        """The body with these target coefficients, set on the ground."""
        base_vertices, base_joints, vertex_offsets, joint_offsets = self._basis(coefficients)
        xp = namespace_of(coefficients)
        weights = xp.astype(coefficients, base_vertices.dtype)
        if is_numpy(xp):  # most targets are at zero: leave them out of the sum
            used = xp.nonzero(xp.any(xp.reshape(weights, (-1, weights.shape[-1])) != 0, axis=0))[0]
            weights = weights[..., used]
            vertex_offsets, joint_offsets = vertex_offsets[used], joint_offsets[used]
        with full_precision(xp):
            vertices = base_vertices + xp.tensordot(weights, vertex_offsets, axes=1)
            joints = base_joints + xp.tensordot(weights, joint_offsets, axes=1)
        return Identity(*grounded(vertices, joints), {})

    def _basis(self, like: Array) -> tuple[Array, ...]:
        """Base and offsets as arrays of the kind of `like`; converted once."""
        xp = namespace_of(like)
        targets = self.body.targets
        arrays = (
            self.body.base_vertices,
            self.body.base_joints,
            targets.vertex_offsets,
            targets.joint_offsets,
        )
        if is_numpy(xp):
            return arrays
        key = (xp, str(like.device) if is_torch_namespace(xp) else "")
        if key not in self._bases:
            self._bases[key] = tuple(_converted(array, like) for array in arrays)
        return self._bases[key]


def _converted(array: NumpyArray, like: Array) -> Array:
    """`array` in its own precision, as the kind and on the device of `like`."""
    xp = namespace_of(like)
    if is_torch_namespace(xp):
        return xp.asarray(array, device=like.device)
    import jax

    with jax.ensure_compile_time_eval():  # a tracer must not outlive its trace
        return xp.asarray(array)


def _check_values(
    what: str, values: Mapping[str, Array | float], parameters: tuple[Parameter, ...]
) -> None:
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in values.items():
        if name not in known:
            raise InputError(f"unknown {what} name {name!r}; known: {', '.join(known)}.")
        if _is_traced(value):
            continue
        numbers = concrete(value)
        require_finite(f"{what} {name}", numbers)
        parameter = known[name]
        outside = (numbers < parameter.low) | (numbers > parameter.high)
        if outside.any():
            unit = f" {parameter.unit}" if parameter.unit else ""
            reason = " Only adults are modelled." if name == "age" else ""
            raise InputError(
                f"{what} {name} is {numbers[outside].flat[0]:g}{unit}; expected "
                f"{parameter.low:g} to {parameter.high:g}{unit} ({parameter.meaning}).{reason}"
            )


def _is_traced(value: Array | float) -> bool:
    """Whether JAX is tracing, so that there is no number to check yet."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer)
