"""The runner that times two checkouts in turns: its statistics, its verdict, and one real pair."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def paired() -> Iterator[ModuleType]:
    sys.path.insert(0, str(FOLDER))
    import paired

    yield paired
    sys.path.remove(str(FOLDER))
    del sys.modules["paired"]


def samples(old: list[float], new: list[float], output: float = 1.0) -> list[dict]:
    return [
        {
            "old": {"x": {"ms": a, "rounds": 5, "output": 1.0}},
            "new": {"x": {"ms": b, "rounds": 5, "output": output}},
        }
        for a, b in zip(old, new, strict=True)
    ]


def test_the_interval_is_that_of_the_logarithms(paired: ModuleType) -> None:
    """Of logs −0.02, 0 and 0.02 the mean is 0 and the half width t(0.975, 2) · 0.02 / √3, with
    t = 4.302653 from tables."""
    new = [math.exp(0.02), 1.0, math.exp(-0.02)]
    row = paired.summary(samples([1.0] * 3, new))["benchmarks"]["x"]
    half = 4.302653 * 0.02 / math.sqrt(3)
    assert row["ratio"] == 1.0
    assert row["low"] == pytest.approx(math.exp(-half), abs=1e-4)
    assert row["high"] == pytest.approx(math.exp(half), abs=1e-4)


def test_what_is_slower_is_called_so(paired: ModuleType) -> None:
    """5 % slower in every pair, within 1 %, fails; as much faster passes; noise alone passes."""
    noise = np.exp(np.random.default_rng(0).normal(0, 0.01, 15))
    for factor, passed in ((1.05, False), (0.95, True), (1.0, True)):
        found = paired.summary(samples([10.0] * 15, list(10.0 * factor * noise)))
        assert found["passed"] is passed
        assert bool(found["slower"]) is not passed


def test_the_interval_covers_the_truth(paired: ModuleType) -> None:
    """Of 400 sets of 15 pairs without a difference, about 95 % have 1 inside: 380 ± 3 · 4.4."""
    random = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        row = paired.summary(samples([1.0] * 15, list(np.exp(random.normal(0, 0.03, 15)))))
        inside += row["benchmarks"]["x"]["low"] <= 1.0 <= row["benchmarks"]["x"]["high"]
    assert 367 <= inside <= 393


def test_other_outputs_are_not_compared(paired: ModuleType) -> None:
    with pytest.raises(SystemExit, match="nothing is compared"):
        paired.summary(samples([1.0], [1.0], output=1.001))


def test_a_pair_is_run(tmp_path: Path) -> None:
    """This checkout beside itself: fresh processes, a written report."""
    checkout, out = FOLDER.parent, tmp_path / "paired.json"
    flags = ["--pairs", "1", "--groups", "smoke", "--load", "1e9", "--others", "1e9"]
    command = [sys.executable, FOLDER / "paired.py", "--old", checkout, "--new", checkout]
    subprocess.run([*command, *flags, "--out", out], check=True, capture_output=True)
    report = json.loads(out.read_text())
    assert report["benchmarks"]["lbs, 1 poses"]["pairs"] == 1
    assert report["benchmarks"]["lbs, 1 poses"]["old_ms"] > 0.0
    assert report["pairs"][0]["order"] == ["old", "new"]


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "paired.py", "--old", tmp_path, "--new", tmp_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "has no src/corporeal; expected a checkout" in done.stderr
