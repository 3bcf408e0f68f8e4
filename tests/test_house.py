"""The house rules that no linter knows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import corporeal
from corporeal import errors

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "corporeal").rglob("*.py"))


def run_python(code: str) -> str:
    """What a fresh interpreter prints for `code`."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


def test_importing_the_package_pulls_in_nothing_heavy():
    """`import corporeal` stays quick because it imports neither an engine nor its own parts."""
    heavy = ("jax", "numba", "scipy", "torch", "tyro", "PIL", "distributed")
    code = f"import sys, corporeal; print([m for m in {heavy} if m in sys.modules])"
    assert run_python(code).strip() == "[]"


@pytest.mark.slow
def test_importing_the_package_takes_under_half_a_second():
    code = "import time; t = time.perf_counter(); import corporeal; print(time.perf_counter() - t)"
    assert min(float(run_python(code)) for _ in range(5)) < 0.5


def test_the_gpu_path_does_not_need_numba():
    """Every module outside the CPU files imports on a machine that lacks the CPU engine."""
    code = """
import importlib, pkgutil, sys
sys.modules["numba"] = None
import corporeal
def compiled(name):
    return name in ("cpu", "kernels") or name.startswith("cpu_") or name.endswith("_cpu")
for info in pkgutil.walk_packages(corporeal.__path__, "corporeal."):
    parts = info.name.split(".")
    if not any(map(compiled, parts)) and parts[-1] != "__main__":
        importlib.import_module(info.name)
print("ok")
"""
    assert run_python(code).strip() == "ok"


def test_every_public_name_is_there():
    for name in corporeal.__all__:
        assert getattr(corporeal, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = corporeal.no_such_name


def test_every_error_is_of_the_one_family_and_documented():
    for value in vars(errors).values():
        if isinstance(value, type):
            assert issubclass(value, errors.CorporealError)
            assert value.__doc__


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_sources_keep_their_annotations_alive_and_their_size_small(path: Path):
    """Postponed annotations would turn shape checks off; a very long file is two ideas."""
    text = path.read_text(encoding="utf-8")
    assert "from __future__ import annotations" not in text
    assert len(text.splitlines()) <= 450


def test_ci_calls_the_second_readme_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [
        line
        for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("pip install")
    ]
    assert len(commands) == 2
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert commands[1] in [line.strip() for line in lines]
