"""Nouns: frozen dataclasses that are JAX pytrees, without importing JAX.

Importing jax takes longer than all of corporeal, so a class is registered as a pytree only once jax
is there: at definition, or when the first instance is made after jax was imported.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")
_pending: list[tuple[type, tuple[str, ...], tuple[str, ...]]] = []


@dataclass_transform(frozen_default=True, eq_default=False)
def pytree_dataclass(*, static: tuple[str, ...] = ()) -> Callable[[type[_T]], type[_T]]:
    """Make a class a frozen dataclass and a pytree; `static` fields are its hashable structure.

    A noun may define `check(self)`, which is run by the constructor and raises `InputError` for
    what shapes cannot say. Unflattening skips it, so tracers pass through.
    """

    def decorate(cls: type[_T]) -> type[_T]:
        def after_init(self: Any) -> None:
            register_pending()
            if hasattr(cls, "check") and not _holds_tracers(self):
                self.check()

        cls.__post_init__ = after_init  # pyright: ignore[reportAttributeAccessIssue]
        frozen = dataclass(frozen=True, eq=False)(cls)
        names = tuple(f.name for f in fields(frozen))  # pyright: ignore[reportArgumentType]
        leaves = tuple(name for name in names if name not in static)
        _pending.append((frozen, leaves, static))
        register_pending()
        return frozen

    return decorate


def unchecked(noun: type[_T], *values: Any) -> _T:
    """A noun whose `check` is not run: for parts of nouns that were checked, in loops where looking
    at them again takes longer than what is done with them. Values are in the order of the fields;
    those left out have their defaults."""
    register_pending()
    made = object.__new__(noun)
    named = fields(noun)  # pyright: ignore[reportArgumentType]
    for place, field in enumerate(named):
        value = values[place] if place < len(values) else field.default
        object.__setattr__(made, field.name, value)
    return made


def with_unchecked(noun: _T, **changes: Any) -> _T:
    """As `dataclasses.replace`, without running `check`: see `unchecked`."""
    made = object.__new__(type(noun))
    for field in fields(noun):  # pyright: ignore[reportArgumentType]
        value = changes[field.name] if field.name in changes else getattr(noun, field.name)
        object.__setattr__(made, field.name, value)
    return made


def register_pending() -> None:
    """Register the nouns defined so far with JAX, if jax has been imported."""
    if not _pending or "jax" not in sys.modules:
        return
    jax_tree_util = sys.modules.get("jax.tree_util")
    if jax_tree_util is None or not hasattr(jax_tree_util, "register_pytree_with_keys"):
        return  # jax is being imported right now
    while _pending:
        cls, leaves, static = _pending.pop()
        _register(jax_tree_util, cls, leaves, static)


def _register(tree_util: Any, cls: type, leaves: tuple[str, ...], static: tuple[str, ...]) -> None:
    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
        keyed = [(tree_util.GetAttrKey(name), getattr(value, name)) for name in leaves]
        return keyed, tuple(getattr(value, name) for name in static)

    def flatten(value: Any) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(value, n) for n in leaves], tuple(getattr(value, n) for n in static)

    def unflatten(structure: tuple[Any, ...], children: Any) -> Any:
        value = object.__new__(cls)
        for name, child in zip(leaves, children, strict=True):
            object.__setattr__(value, name, child)
        for name, item in zip(static, structure, strict=True):
            object.__setattr__(value, name, item)
        return value

    tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)


def _holds_tracers(value: Any) -> bool:
    jax_core = sys.modules.get("jax.core")
    if jax_core is None or not hasattr(jax_core, "Tracer"):
        return False
    return any(isinstance(getattr(value, f.name), jax_core.Tracer) for f in fields(value))
