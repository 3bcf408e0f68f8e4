"""Kernels: what the demo compiles ahead is what there is, and no cache is no obstacle."""

import ast
import gc
import inspect
import operator
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import types
from numba.core import caching, event
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, signature

import corporeal
from corporeal.pipelines.demo_kernels import FIRST_KERNELS, KERNELS
from corporeal.runtime.compiling_cpu import OPERATORS
from corporeal.runtime.kernels import compile_ahead, kernel, named_kernel


@pytest.mark.parametrize(
    "line", [*FIRST_KERNELS, *KERNELS], ids=lambda line: line.partition("(")[0]
)
def test_every_line_names_a_kernel_that_takes_so_many_arguments(line: str):
    module, function, types = named_kernel(line)
    kernel = getattr(import_module(module), function)
    assert len(inspect.signature(kernel.py_func).parameters) == len(types)


def test_a_kernel_compiled_ahead_is_not_compiled_again():
    line = "corporeal.physics.volume_preservation.cpu_kernels:push(float32[:,::1], float32[:,::1])"
    assert compile_ahead([line], lambda: False) == 1
    from corporeal.physics.volume_preservation.cpu_kernels import push

    before = len(push.signatures)
    push(np.zeros((2, 4), np.float32), np.zeros((2, 4), np.float32))
    assert len(push.signatures) == before


def test_kernels_compile_where_no_folder_takes_a_cache(monkeypatch: pytest.MonkeyPatch):
    """A read-only package and a read-only home folder: numba then finds no place, and raises."""
    impl = caching.CompileResultCacheImpl
    monkeypatch.setattr(impl, "_locator_classes", [])
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    @kernel()
    def twice(x):
        return 2 * x

    assert twice(21) == 42


class _Watch(event.Listener):
    """Whether the garbage collector is on, whenever a kernel begins to compile."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def on_start(self, event: event.Event) -> None:
        self.seen.append(gc.isenabled())

    def on_end(self, event: event.Event) -> None:
        pass


@pytest.mark.parametrize("before", [True, False])
def test_the_garbage_collector_rests_while_kernels_compile(
    before: bool, monkeypatch: pytest.MonkeyPatch
):
    """A fifth of compiling; afterwards it is as it was, nested kernels and refused ones or not."""
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])  # no cache
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    watch = _Watch()

    @kernel()
    def inner(x):
        return x + 1

    @kernel()
    def outer(x):
        return inner(x)

    @kernel()
    def refused(x):
        return x.nothing_of_the_kind

    gc.enable() if before else gc.disable()
    try:
        with event.install_listener("numba:compile", watch):
            assert outer(1) == 2
            with pytest.raises(NumbaError):
                refused(1)
        assert gc.isenabled() == before
    finally:
        gc.enable()
    assert len(watch.seen) >= 3
    assert not any(watch.seen)


def test_a_variable_that_begins_as_a_written_number_compiles_what_it_is_given_to_once(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])  # no cache
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    @kernel()
    def added(total, step):
        return total + step

    @kernel()
    def summed(count):
        total = 0
        for step in range(count):
            total = added(total, step)
        return added(total, 3)

    assert summed(5) == 13
    assert added.signatures == [(types.int64, types.int64)]


@pytest.mark.parametrize("remembered", [True, False])
def test_the_types_of_an_operator_are_found_once(remembered: bool):
    """Those of a function are asked for each time: what it gives may depend on more."""
    asked = []

    class Template(AbstractTemplate):
        key = operator.add if remembered else (lambda x, y: x + y)

        def generic(self, args, kws):
            asked.append(args)
            return signature(args[0], *args)

    function = types.Function(Template)
    plain = types.Function.get_call_type
    with OPERATORS:
        for kind in (types.int64, types.float64):
            for _ in range(2):
                given = function.get_call_type(cpu_target.typing_context, (kind, kind), {})
                assert given == signature(kind, kind, kind)
    assert len(asked) == (2 if remembered else 4)
    assert types.Function.get_call_type is plain


def test_numba_is_as_it_was_for_kernels_of_others(monkeypatch: pytest.MonkeyPatch):
    """What helps this package's kernels is in place while one compiles, and at no other time."""
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])  # no cache
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    plain, seen = types.Function.get_call_type, []

    class Look(event.Listener):
        def on_start(self, event: event.Event) -> None:
            seen.append(types.Function.get_call_type is plain)

        def on_end(self, event: event.Event) -> None:
            pass

    def doubled(x):
        return x + x

    with event.install_listener("numba:compile", Look()):
        assert kernel()(doubled)(2) == 4
        assert numba.njit(doubled)(2) == 4
        with pytest.raises(NumbaError):
            kernel()(lambda x: x.nothing_of_the_kind)(2)
    assert seen == [False, True, False]
    assert types.Function.get_call_type is plain


def test_what_is_not_there_or_not_needed_is_passed_over():
    assert compile_ahead(["corporeal.nowhere:nothing(float64)"], lambda: False) == 0
    fewer = "corporeal.physics.volume_preservation.cpu_kernels:push(float32[:,::1])"
    assert compile_ahead([fewer], lambda: False) == 0
    assert compile_ahead(KERNELS, lambda: True) == 0


def test_private_kernels_are_called_by_kernels_alone():
    """They have no wrapper for Python: a call from there would end the process."""
    for path in sorted(Path(corporeal.__file__).parent.rglob("*.py")):
        functions = [
            node
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.FunctionDef)
        ]
        private = {f.name for f in functions if _is_kernel(f) and f.name.startswith("_")}
        called = {
            (node.func.id, f.name)
            for f in functions
            if not _is_kernel(f)
            for node in ast.walk(f)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not [names for names in called if names[0] in private], path
        imported = [
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and "cpu" in (node.module or "")
            for alias in node.names
        ]
        assert not [name for name in imported if name.startswith("_")], path


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == "kernel"
        for d in function.decorator_list
    )
