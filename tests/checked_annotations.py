"""Checks every annotation of the package while tests run: jaxtyping's import hook, made quick.

jaxtyping's own decorator compiles two checks whenever a function is *defined* (0.7 ms: a function
inside another is defined at every call of the outer one) and checks all arguments of a call twice.
This one compiles one check of the parameters for a piece of code, and one for a return annotation,
and runs each once. The checks are the same, made by beartype under jaxtyping's dimensions: sizes
that the parameters bind hold for the return value. Parameters that are not accepted here are given
to jaxtyping's own decorator, which says what is wrong with them.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from types import CodeType, FunctionType
from typing import Any, get_args, get_type_hints

import jaxtyping
from beartype import beartype
from beartype.roar import BeartypeCallHintReturnViolation
from jaxtyping import AbstractArray, TypeCheckError, install_import_hook

_thorough = jaxtyping.jaxtyped
"""The decorator of jaxtyping itself, with all its words."""
_sizes = _thorough("context")
"""Within it, a dimension letter has one size; without state of its own, so one serves all."""
_known: dict[tuple[CodeType, str], "Checks"] = {}
"""By a function's code and its annotations."""


@dataclasses.dataclass(frozen=True)
class Checks:
    """What is checked at a call of a function."""

    parameters: Callable[..., object]
    result: Callable[..., object] | None
    has_shapes: bool
    """Whether any annotation is one of an array."""


def install(package: str) -> None:
    """Check annotations of every module of a package that is imported from now on."""
    jaxtyping.jaxtyped = _decorate  # what the hook writes above every function and class
    install_import_hook(package, "beartype.beartype")


def _decorate(target: Any = None, *, typechecker: Any = None) -> Any:
    """In the place of `jaxtyping.jaxtyped`."""
    if target is None:
        return functools.partial(_decorate, typechecker=typechecker)
    if inspect.isclass(target):
        constructor = target.__init__
        if dataclasses.is_dataclass(target) and not hasattr(constructor, "has_checks"):
            target.__init__ = _decorate(constructor, typechecker=typechecker)
        return target
    if not isinstance(target, FunctionType) or inspect.iscoroutinefunction(target):
        return _thorough(target, typechecker=typechecker)
    return _checked(target, typechecker)


def _checked(function: FunctionType, typechecker: Any) -> Any:
    code = inspect.unwrap(function).__code__  # of a constructor: its own, not its wrapper's
    key = code, repr(function.__annotations__)
    checks = _known.get(key)
    if checks is None:
        checks = _known[key] = _compiled(function)
    check_parameters, check_result = checks.parameters, checks.result

    def call(*given: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        try:
            check_parameters(*given, **named)
        except Exception:  # noqa: BLE001 -- whatever it is, it is said again in better words
            return _thorough(function, typechecker=typechecker)(*given, **named)
        result = function(*given, **named)
        if check_result is not None:
            try:
                check_result(result)
            except BeartypeCallHintReturnViolation as error:
                name = f"{function.__module__}.{function.__qualname__}"
                raise TypeCheckError(f"the return value of {name}: {error}") from error
        return result

    def call_with_sizes(*given: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        with _sizes:
            return call(*given, **named)

    wrapper = functools.wraps(function)(call_with_sizes if checks.has_shapes else call)
    wrapper.has_checks = True  # type: ignore[attr-defined]
    return wrapper


def _compiled(function: FunctionType) -> Checks:
    signature = inspect.signature(function)
    hints = {name: _resolved(hint, function) for name, hint in function.__annotations__.items()}
    returned = {"return": hints["return"]} if "return" in hints else {}
    parameters = list(signature.parameters.values())
    result = Parameter("result", Parameter.POSITIONAL_ONLY)
    return Checks(
        _check(function, parameters, {k: v for k, v in hints.items() if k != "return"}, ""),
        _check(function, [result], returned, "return result") if returned else None,
        any(map(_has_shape, hints.values())),
    )


def _check(
    function: FunctionType, parameters: list[Parameter], hints: dict[str, Any], body: str
) -> Callable[..., object]:
    """A function of the given parameters that does nothing but check the hints."""
    bare = [parameter.replace(annotation=Parameter.empty) for parameter in parameters]
    defaults = {f"default_{p.name}": p.default for p in bare if p.default is not Parameter.empty}
    texts = [
        p if p.default is Parameter.empty else p.replace(default=_Name(f"default_{p.name}"))
        for p in bare
    ]
    scope: dict[str, Any] = dict(defaults)
    exec(f"def {_SAFE}{Signature(texts)}:\n {body or 'pass'}", scope)
    check = scope[_SAFE]
    check.__name__, check.__qualname__ = function.__name__, function.__qualname__
    check.__module__, check.__annotations__ = function.__module__, hints
    return beartype(check)


_SAFE = "check_of_annotations"


class _Name(str):
    """Text that a signature writes as it is."""

    __repr__ = str.__str__


def _resolved(hint: Any, function: FunctionType) -> Any:
    """An annotation whose names are known by now; `Any` for others, as jaxtyping takes them."""
    holder = FunctionType((lambda: None).__code__, function.__globals__)
    holder.__annotations__ = {"value": hint}
    try:
        return get_type_hints(holder, include_extras=True)["value"]
    except (NameError, ValueError, TypeError, SyntaxError):
        return Any


def _has_shape(hint: Any) -> bool:
    if inspect.isclass(hint) and issubclass(hint, AbstractArray):
        return True
    return any(map(_has_shape, get_args(hint)))
