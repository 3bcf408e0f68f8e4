"""Every benchmark, tool and example imports and knows `--help`; what makes the docs' figures runs.

Scripts are found by looking, so that a new one cannot be forgotten.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted(
    path
    for folder in ("benchmarks", "tools", "examples")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)


def results_of(folders: list[Path]) -> dict[str, str]:
    """What `script_smoke.py` found in some folders, by path."""
    command = [sys.executable, str(ROOT / "tests/script_smoke.py"), *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return results_of(sorted({path.parent for path in SCRIPTS}))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_script_imports_and_knows_help(script: Path, outcomes: dict[str, str]):
    """With `main`, it takes `--help` and exits with 0 before it computes anything."""
    assert outcomes[str(script)] == ""


def test_a_script_with_main_is_a_program():
    """`python script.py` calls `main` wherever there is one."""
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        assert "def main(" not in text or '__name__ == "__main__"' in text, path.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from corporeal.physics import nothing_of_the_kind", "ImportError"),
        ("def main():\n    pass\n", "main() reads no arguments"),
        ("import argparse\ndef main():\n    pass\n", "main() ran on"),
        ("import argparse\ndef main():\n    raise SystemExit(2)\n", "exits with 2"),
    ],
)
def test_a_broken_script_is_found(tmp_path: Path, text: str, words: str):
    """The check above can fail: an import that is gone, a script that takes no arguments."""
    (tmp_path / "broken_script.py").write_text(text)
    (found,) = results_of([tmp_path]).values()
    assert words in found


def run(script: str, *arguments: str) -> None:
    """Run a script in a process of its own."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=ROOT, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("script", "page"),
    [
        ("anthropometry_tables.py", "docs/methods/measurements-to-shape.md"),
        ("people_tables.py", "docs/methods/people.md"),
    ],
)
def test_tables_of_a_page_are_those_of_the_recorded_results(script: str, page: str, tmp_path: Path):
    """Written anew from `benchmarks/results`, the page is the same to the byte."""
    run(script, "--out", str(tmp_path / "page.md"))
    assert (tmp_path / "page.md").read_bytes() == (ROOT / page).read_bytes()


@pytest.mark.parametrize("script", ["gpu_plots.py", "people_plots.py"])
def test_figures_are_those_of_the_recorded_results(script: str, tmp_path: Path):
    """Drawn anew from `benchmarks/results`, each figure is the same to the byte."""
    run(script, "--out", str(tmp_path))
    drawn = sorted(tmp_path.iterdir())
    assert len(drawn) == 2
    for figure in drawn:
        assert figure.read_bytes() == (ROOT / "docs/pictures" / figure.name).read_bytes()


def test_a_sheet_of_poses_is_drawn_and_kept(tmp_path: Path):
    """One cell by linear blend skinning: under the line of names stands a body, not a blank; a
    second run makes no cell again and writes the same bytes."""
    from corporeal.formats.png import read_png

    size = 32
    asked = ("--out", str(tmp_path), "--people", "slim woman", "--poses", "arms-up")
    asked = (*asked, "--deformers", "lbs", "--size", str(size))
    run("pose_sheet.py", *asked)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    first = (tmp_path / "slim-woman.png").read_bytes()
    cell = read_png(tmp_path / "slim-woman.png")[-round(1.25 * size) :].astype(int)
    assert cell.shape == (round(1.25 * size), size, 3)
    red_over_blue = cell[..., 0] - cell[..., 2]
    assert (red_over_blue > 20).sum() > 0.03 * size * 1.25 * size
    run("pose_sheet.py", *asked)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()} == kept
    assert sorted(path.suffix for path in kept) == [".npy", ".png"]
    assert (tmp_path / "slim-woman.png").read_bytes() == first
    run("pose_sheet.py", *asked, "--no-girdle")
    assert len(list((tmp_path / "kept").iterdir())) == 4


def test_a_held_pose_is_judged_and_kept(tmp_path: Path):
    """One pose for two frames: flesh in balance moves by less than 0.1 mm a frame, no region loses
    a tenth of its volume; a second run finds no case again and writes the same bytes."""
    kept, out = tmp_path / "kept", tmp_path / "held.json"
    asked = ("--people", "default", "--deformers", "projective", "--contacts", "off", "--frames")
    asked = (*asked, "2", "--poses", "a-pose", "--kept", str(kept), "--out", str(out))
    run("held_poses.py", *asked)
    first, files = out.read_bytes(), {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    (case,) = json.loads(first)["cases"]
    assert (case["person"], case["pose"], case["untangled"]) == ("default", "a-pose", True)
    assert 0.0 < case["largest_movement_mm"] < 0.1
    least, most = case["held"]["volume_changes"]
    assert -0.1 < least < 0.0 < most < 0.1
    assert case["held"]["largest_stretch"] >= case["start"]["largest_stretch"] > 1.0
    run("held_poses.py", *asked)
    assert out.read_bytes() == first
    assert {path: path.stat().st_mtime_ns for path in kept.iterdir()} == files
    assert len(files) == 1


def test_a_random_take_is_judged_and_kept(tmp_path: Path):
    """One person, one take: every frame is looked at; a second run records nobody again."""
    kept, out = tmp_path / "kept", tmp_path / "takes.json"
    asked = ("--people", "1", "--takes", "1", "--deformers", "projective", "--workers", "1")
    asked = (*asked, "--kept", str(kept), "--out", str(out))
    run("random_takes.py", *asked)
    first, (file,) = out.read_bytes(), list(kept.iterdir())
    (take,) = json.loads(first)["takes"]
    assert (take["frames"], take["sex"]) == (61, "female")
    assert take["largest_stretch"] >= 1.0
    written = file.stat().st_mtime_ns
    run("random_takes.py", *asked)
    assert out.read_bytes() == first
    assert file.stat().st_mtime_ns == written


def test_flesh_rings_down(tmp_path: Path):
    """One body of few vertices: a report with frequency and ratio of every region, damped more than
    without damping; refused, with a status that is not 0, where flesh does not swing."""
    run("damping.py", "--quick", "--output", str(tmp_path / "damping.json"))
    (woman,) = json.loads((tmp_path / "damping.json").read_text())["people"].values()
    for region, wave in woman["ratio"].items():
        assert wave["frequency_hz"] > 1.0
        assert wave["ratio"] > woman["undamped"][region]["ratio"]
