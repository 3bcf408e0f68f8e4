"""A deformer of somebody else's package: found by its entry point, and then everywhere.

The package is the one that docs/how-to/add-a-deformer.md writes, installed into a folder as a
wheel would be: the module, and the `dist-info` that names its entry point.
"""

import inspect
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_deformer_contracts as battery
from test_controls import helped
from test_docs import ROOT, blocks
from test_studio_session import Page

from corporeal.cli.main import main
from corporeal.errors import InputError
from corporeal.formats.gltf_read import read_glb_character
from corporeal.formats.native import read_animation
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.deformers import (
    deformer_class,
    deformer_names,
    is_linear_blend,
    make_deformer,
    refresh_deformers,
)
from corporeal.runtime.manifest import read_manifest
from corporeal.viewer.catalogue import catalogue
from corporeal.viewer.players import FleshPlayer

PAGE = ROOT / "docs" / "how-to" / "add-a-deformer.md"
NAME = "jiggle"


def install(folder: Path, entry_points: str, modules: dict[str, str]) -> None:
    """Lay a package down as an installer does."""
    facts = folder / "swinging-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: swinging\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(entry_points)
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)


@pytest.fixture
def fresh() -> Iterator[None]:
    """Forget, afterwards, what was installed for one test."""
    refresh_deformers()
    yield
    for name in (NAME, "broken"):
        sys.modules.pop(name, None)
    refresh_deformers()


@pytest.fixture
def page_deformer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None) -> Path:
    """The package of the documentation, installed; gives back its folder."""
    folder = tmp_path / "site"
    folder.mkdir()
    code = next(code for language, code in blocks(PAGE) if language == "python")
    entry = next(code for _, code in blocks(PAGE) if "entry-points" in code)
    assert '"corporeal.deformers"' in entry
    line = entry.splitlines()[1].replace('"', "")
    install(folder, f"[corporeal.deformers]\n{line}\n", {NAME: code})
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_it_is_in_the_help(page_deformer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert deformer_names()[-1] == NAME
    own = helped(capsys, "--deformer", NAME)
    assert "linear blend skinning with hips that lag behind" in own
    assert "--frequency X how fast the hips swing; 0.5 to 20 Hz (default: 4)" in own
    assert "--static they keep up" in own
    assert "--stiffness X" not in own
    every = helped(capsys)
    assert "jiggle: how fast the hips swing" in every
    assert "projective, layered (default: 0.12); jiggle (default: 0.2)" in every


def test_the_lines_of_the_page_run(page_deformer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Export: a character whose morph targets carry the swing, and a take without it."""
    (lines,) = (c for language, c in blocks(PAGE) if language == "shell" and "--out" in c)
    for line in lines.splitlines():
        words = shlex.split(line)
        assert words[0] == "corporeal"
        if "--help" not in words:
            assert main(words[1:]) == 0
    told = capsys.readouterr().out
    assert re.search(r"morph targets: \d+\.\d+% of the vertices are within 1 mm of jiggle", told)
    assert read_glb_character("jiggle.glb").morph_count > 0
    assert read_manifest("jiggle.glb.manifest.json")["config"]["controls"] == {"frequency": 3.0}
    still = read_animation("still.npz")
    assert still.deformer == NAME
    plain = make_deformer("lbs", still.template).animate(still.identity, still.motion)
    np.testing.assert_allclose(still.vertices, plain.vertices, rtol=0, atol=1e-6)
    assert not is_linear_blend(NAME)


def test_it_keeps_every_contract(page_deformer: Path) -> None:
    """The battery as it stands, on an arm and on the default body."""
    functions = [f for n, f in inspect.getmembers(battery, inspect.isfunction) if n[:5] == "test_"]
    assert len(functions) > 10
    for make_template, dtype in battery.BODIES.values():
        template = make_template()
        identity = battery.synthetic.identity_of(template, dtype)
        motion = battery.synthetic.random_motion(template, frames=5, seed=3, dtype=dtype)
        case = battery.Case(battery.made(NAME, template), identity, motion)
        for function in functions:
            known = {"case": case, "name": NAME}
            wanted = {name: known[name] for name in inspect.signature(function).parameters}
            try:
                function(**wanted)
            except pytest.skip.Exception:
                assert function is battery.test_frames_stand_alone


def test_the_studio_shows_and_plays_it(page_deformer: Path, tmp_path: Path) -> None:
    """Its sliders are in the catalogue; it moves as its own clip does; hands cannot hold it."""
    (row,) = (r for r in catalogue(PhenotypeModel())["deformers"] if r["name"] == NAME)
    assert row["title"] == "Jiggling hips"
    assert [c["name"] for c in row["controls"]] == ["frequency", "damping_ratio", "dynamics"]
    page = Page(tmp_path)
    page.change("views", value=[{"deformer": "lbs"}, {"deformer": NAME}])
    page.change("views", 1, "controls", "frequency", value=2.0)
    page.settle()
    player = page.session.stage.players[1]
    assert isinstance(player, FleshPlayer)
    assert player.ready
    stepper: Any = player.stepper
    assert type(stepper).__name__ == "JiggleStepper"
    assert stepper.controls.frequency == 2.0
    assert max(frame.fields["views"][1]["most"] for frame in page.frames(40)) > 0.5
    page.ask("grab", view=1, vertices=[0, 1, 2], point=[0, 0, 0])
    assert "only flesh can be grabbed" in page.of("refused")[-1].fields["why"]
    assert page.session.document.views[1].controls == {"frequency": 2.0}


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        ("broken = broken:Nothing", "", "cannot be imported"),
        ("broken = nowhere:Nothing", "", "cannot be imported"),
        ("broken = broken:made", "made = dict", "no class that inherits"),
        ("lbs = broken:made", "made = dict", "the name is taken"),
    ],
)
def test_a_broken_one_is_left_out_in_words(
    entry: str, code: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    install(tmp_path, f"[corporeal.deformers]\n{entry}\n", {"broken": code})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match=words):
        assert "broken" not in deformer_names()
    assert deformer_class("lbs").name == "lbs"
    with pytest.raises(InputError, match="broken"):
        deformer_class("broken")
