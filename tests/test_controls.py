"""Controls: typed, checked, the one source of flags, sliders, files and help."""

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from corporeal.anatomy.layered.deformer import LayeredControls
from corporeal.assets.default_body import load_default_body
from corporeal.body.controls import Control, Controls, control
from corporeal.body.deformer import Traits, controls_for
from corporeal.cli.animate import Animate
from corporeal.cli.control_flags import control_flags, given_controls
from corporeal.cli.main import command_of, main
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS, ProjectiveControls
from corporeal.pipelines.controls import (
    control_tables,
    control_words,
    plain_controls,
    read_controls,
)
from corporeal.pipelines.deformer_options import deformer_for
from corporeal.pipelines.deformers import (
    contract_problem,
    deformer_class,
    deformer_names,
    deformers_where,
    in_words,
    is_linear_blend,
    is_ready,
    make_deformer,
    make_stateful,
)
from corporeal.pipelines.options import AnimateOptions
from corporeal.viewer.catalogue import catalogue
from corporeal.viewer.document import View, parse

ROWS = [(name, row) for name, table in control_tables().items() for row in table]
each_row = pytest.mark.parametrize(
    ("deformer", "row"), ROWS, ids=[f"{name}-{row.name}" for name, row in ROWS]
)


def other_value(row: Control) -> Any:
    """A value that is not the default."""
    if row.kind == "switch":
        return not row.default
    if row.kind == "choice":
        return next(word for word in row.choices if word != row.default)
    return row.high if row.default != row.high else row.low


@each_row
def test_a_value_goes_through_flag_file_and_session(deformer: str, row: Control) -> None:
    """Set by its flag, a control is what the manifest keeps, a session keeps, and the flag that
    the studio prints sets again."""
    value = other_value(row)
    words = control_words(deformer_class(deformer).Controls, {row.name: value})
    command = command_of(["animate", "--motion", "a", "--out", "b", "--deformer", deformer, *words])
    assert isinstance(command, Animate)
    (config,) = command._configs().values()
    assert config.controls == {row.name: value}
    kept = json.loads(json.dumps(dict(config.controls)))
    assert getattr(read_controls(deformer, kept), row.name) == value
    (view,) = parse({"views": [{"deformer": deformer, "controls": kept}]}).views
    assert view == View(deformer, {row.name: value})


@each_row
def test_wrong_values_are_refused_by_name(deformer: str, row: Control) -> None:
    kind = deformer_class(deformer).Controls
    wrong: list[Any] = [None, np.nan, [1.0, 2.0], np.zeros(2), "wobbly", {}]
    if row.kind in ("number", "count"):
        wrong += [row.high + 1, row.low - 1, True, np.inf]
    if row.kind == "count":
        wrong.append(row.low + 0.5)
    if row.kind == "switch":
        wrong += [0.5, 2, "on"]
    if row.kind == "choice":
        wrong += [len(row.choices), -1, 0.5, True]
    for value in wrong:
        with pytest.raises(InputError, match=f"control {row.name} is .*; expected"):
            kind.from_mapping({row.name: value}, deformer)
    if row.kind == "number":
        with pytest.raises(InputError, match=f"control {row.name} is"):
            replace(kind(), **{row.name: row.high + 1})


def test_an_error_says_what_came_what_was_expected_and_what_it_is() -> None:
    with pytest.raises(InputError) as caught:
        ProjectiveControls(stiffness=1.0)
    assert str(caught.value) == (
        "control stiffness is 1 Pa; expected 1000 to 1e+06 Pa (Young's modulus of soft flesh)."
    )
    with pytest.raises(InputError, match="expected one of off, local, global"):
        ProjectiveControls.from_mapping({"collisions": "everywhere"})
    with pytest.raises(InputError, match=r"it has stiffness, .*Use --deformer layered"):
        read_controls("projective", {"muscle": 3.0})
    with pytest.raises(InputError, match="'lbs' has no control stiffness; it has none"):
        read_controls("lbs", {"stiffness": 1e4})
    with pytest.raises(InputError, match="was given LayeredControls; expected ProjectiveControls"):
        controls_for("projective", ProjectiveControls, LayeredControls())


def test_numbers_of_earlier_files_are_read() -> None:
    """Manifests and sessions held numbers alone: 0 and 1 for switches, places for words."""
    old = {"collisions": 2.0, "sliding": 0.0, "dynamics": 1.0, "iterations": 7.0, "mass": 70.0}
    read = ProjectiveControls.from_mapping(old)
    expected = ProjectiveControls(
        collisions="global", sliding=False, dynamics=True, iterations=7, mass=70.0
    )
    assert read == expected
    assert type(read.iterations) is int
    assert type(read.sliding) is bool
    arrays = {name: np.full(1, value) for name, value in old.items()}
    assert ProjectiveControls.from_mapping(arrays) == expected
    for place, word in enumerate(COLLISIONS):
        assert ProjectiveControls.from_mapping({"collisions": place}).collisions == word
    page = {"views": [{"deformer": "layered", "controls": {"collisions": 1.0, "sliding": 0.0}}]}
    assert parse(page).views[0].controls == {"collisions": "local", "sliding": False}


OLD_MANIFEST = {
    "corporeal": "0.1.0",
    "verb": "animate",
    "config": {
        "fps": 60.0, "duration": 4.0, "seed": 0, "a_pose": False, "raw": False, "name_map": None,
        "unit": "auto", "up": "+y", "front": "+z", "first_frame": "auto", "mesh": None,
        "skeleton": None, "component": "auto", "mesh_unit": "auto", "mesh_up": "+y",
        "mesh_front": "+z", "model": None, "shape": "", "live": False, "deformer": "projective",
        "device": "cpu", "frame": None, "soft": ["belly=0.5"], "stiffness_map": None,
        "mass_map": None, "exaggeration_map": None, "scene": None, "out": "jump.glb",
        "motion": "one-leg-jump", "body": None,
        "controls": {"stiffness": 20000.0, "sliding": 0.0, "dynamics": 0.0, "collisions": 2.0},
    },
    "inputs": [],
    "outputs": [],
}  # fmt: skip
"""As the commit before typed controls wrote it."""


def test_an_earlier_manifest_is_repeated_and_changed(tmp_path: Path) -> None:
    path = tmp_path / "jump.glb.manifest.json"
    path.write_text(json.dumps(OLD_MANIFEST))
    command = command_of(["animate", "--config", str(path), "--sliding", "--volume", "20"])
    assert isinstance(command, Animate)
    (config,) = command._configs().values()
    assert config.motion == "one-leg-jump"
    assert config.soft == ("belly=0.5",)
    assert config.controls == {
        "stiffness": 20000.0,
        "sliding": True,
        "dynamics": False,
        "collisions": "global",
        "volume": 20.0,
    }


def helped(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """What a person reads, without the frame around it."""
    with pytest.raises(SystemExit):
        main(["animate", *flags, "--help"])
    return re.sub(r"[│\s]+", " ", capsys.readouterr().out)


@pytest.mark.parametrize("deformer", deformer_names())
def test_help_of_a_deformer_is_its_own(deformer: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every control with its help, range and default, and no other deformer's."""
    text = helped(capsys, "--deformer", deformer)
    table = deformer_class(deformer).Controls.table()
    for row in table:
        if row.kind == "switch":
            on, off = (" (default)" if row.default is state else "" for state in (True, False))
            assert f"--{row.flag} {row.help}{on}" in text
            assert f"--{row.off_flag} {row.off}{off}" in text
        else:
            assert row.help in text
            assert f"(default: {row.default_text})" in text
    names = {row.name for row in table}
    others = {row.flag for _, row in ROWS if row.name not in names}
    assert not [flag for flag in others if f" --{flag} " in text]


def test_help_says_what_a_flag_does_and_whose_default_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    layered = helped(capsys, "--deformer", "layered")
    assert "Young's modulus of fat; 1000 to 1e+06 Pa (default: 3250)" in layered
    projective = helped(capsys, "--deformer=projective")
    assert "Young's modulus of soft flesh; 1000 to 1e+06 Pa (default: 12000)" in projective
    text = helped(capsys)
    soft, fat = "projective: Young's modulus of soft flesh", "layered: Young's modulus of fat"
    whose = "projective (default: 12000); layered (default: 3250)"
    assert f"{soft}; 1000 to 1e+06 Pa; {fat}; 1000 to 1e+06 Pa {whose}" in text
    assert "projective: volume preservation" in text
    assert "; layered: volume preservation" in text
    assert "projective (default: 50); layered (default: 100)" in text
    assert "projective, layered: every frame is in static balance" in text
    assert "dyna, dmpl, neural: how many times as far flesh swings" in text
    assert "--no-sliding projective: skin sticks to the bones" in text
    for name in deformer_names():
        assert deformer_class(name).summary in text


def test_spellings_of_flags() -> None:
    """Those that scripts have used so far."""
    line = "animate --motion a --out b --deformer projective --static --no-sliding --ground --loop"
    more = "--collisions global --volume 50 --bone-radii 0.9"
    command = command_of([*line.split(), *more.split()])
    assert isinstance(command, Animate)
    (config,) = command._configs().values()
    assert config.controls == {
        "dynamics": False,
        "sliding": False,
        "ground": True,
        "loop": True,
        "collisions": "global",
        "volume": 50.0,
        "bone_radii": 0.9,
    }
    assert given_controls(control_flags("projective")()) == {}
    both = [
        "animate",
        "--motion",
        "a",
        "--out",
        "b",
        "--deformer",
        "projective",
        "--static",
        "--dynamics",
    ]
    with pytest.raises(InputError, match="switched on and off"):
        command_of(both)._configs()  # pyright: ignore[reportAttributeAccessIssue]


def test_controls_are_given_or_default() -> None:
    assert plain_controls("projective", {}) == {}
    assert plain_controls("projective", {"volume": 50}) == {"volume": 50.0}
    assert ProjectiveControls(volume=50.0).changed() == {}
    assert LayeredControls(volume=0.0).changed() == {"volume": 0.0}


def test_a_subclass_inherits_what_it_does_not_change() -> None:
    """Unit and range of a control are its parent's; its default and its help are its own."""
    own, parent = (
        {row.name: row for row in controls.table()}["stiffness"]
        for controls in (LayeredControls, ProjectiveControls)
    )
    assert (own.unit, own.low, own.high) == (parent.unit, parent.low, parent.high)
    assert own.default != parent.default
    assert own.help != parent.help


def test_sliders_are_those_of_the_fields() -> None:
    """The page's catalogue holds every live control, as JSON, with a range inside what is taken."""
    rows = json.loads(json.dumps(catalogue(PhenotypeModel())["deformers"], allow_nan=False))
    assert [row["name"] for row in rows] == [n for n in deformer_names() if is_ready(n)]
    for row in rows:
        table = deformer_class(row["name"]).Controls.table()
        assert [c["name"] for c in row["controls"]] == [c.name for c in table if c.live]
        for slider, c in zip(row["controls"], [c for c in table if c.live], strict=True):
            assert slider["default"] == c.default
            low, high = slider["slider"]
            assert c.low <= low <= high <= c.high
            if c.kind in ("number", "count"):
                assert low <= slider["default"] <= high


@dataclass(frozen=True, kw_only=True)
class Bare(Controls):
    height: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Wordless(Controls):
    mode: Literal["a", "b"] = control("a", help="a mode", choices={"a": "one"})


@dataclass(frozen=True, kw_only=True)
class Endless(Controls):
    height: float = control(0.0, help="height")


@dataclass(frozen=True, kw_only=True)
class Offless(Controls):
    breathing: bool = control(True, help="it breathes")


@dataclass(frozen=True, kw_only=True)
class Listed(Controls):
    heights: list[float] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Outside(Controls):
    height: float = control(3.0, low=0.0, high=1.0, help="height")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Bare, "'height' of Bare is no control"),
        (Wordless, "explains the words"),
        (Endless, "say its range"),
        (Offless, "say in `off`"),
        (Listed, "'heights' of Listed is no control"),
    ],
)
def test_fields_that_say_too_little_are_refused(kind: type[Controls], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        kind.table()


def test_a_default_out_of_its_range_is_refused() -> None:
    with pytest.raises(InputError, match="control height is 3"):
        Outside.table()


class Whole(Traits):
    name = "whole"

    def animate(self) -> None: ...


class Unmoved(Traits):
    name = "unmoved"


class Steppless(Whole):
    stateful = True


class Restless(Steppless):
    def stepper(self) -> None: ...


class BareControls(Whole):
    Controls = Bare


class ForeignControls(Whole):
    Controls = dict  # pyright: ignore[reportAssignmentType]


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (dict, "whole", "no class that inherits"),
        (Whole, "other", "calls itself 'whole'"),
        (Unmoved, "unmoved", "no method animate"),
        (ForeignControls, "whole", "do not inherit"),
        (BareControls, "whole", "cannot be read"),
        (Steppless, "whole", "no method stepper"),
        (Restless, "whole", "need the switch `dynamics`"),
    ],
)
def test_classes_that_break_the_contract_are_told_how(kind: Any, name: str, words: str) -> None:
    assert contract_problem(Whole, "whole") is None
    problem = contract_problem(kind, name)
    assert problem is not None
    assert words in problem


@pytest.mark.parametrize(
    ("trait", "flags"),
    [
        ("accepts_maps", {"soft": ("belly=0.5",)}),
        ("accepts_maps", {"stiffness_map": Path("map.npy")}),
        ("accepts_maps", {"mass_map": Path("map.npy")}),
        ("accepts_environment", {"scene": Path("scene.json")}),
    ],
)
def test_what_a_deformer_does_not_take_is_refused(trait: str, flags: dict[str, Any]) -> None:
    """By its traits, naming those that take it."""
    template = load_default_body().template
    able = in_words(deformers_where(**{trait: True}))
    for name in deformers_where(**{trait: False}):
        with pytest.raises(InputError, match=f"does not take it. Use --deformer {able}"):
            deformer_for(AnimateOptions(deformer=name, **flags), template)


def test_a_deformer_is_made_with_what_it_takes() -> None:
    template = load_default_body().template
    with pytest.raises(InputError, match=r"'lbs' has no memory; expected .*projective or layered"):
        make_stateful("lbs", template)
    with pytest.raises(InputError, match="no deformer 'jelly'; expected one of lbs, dqs"):
        make_deformer("jelly", template)
    assert in_words(["a"]) == "a"
    assert in_words(["a", "b", "c"]) == "a, b or c"
    for name in deformer_names():
        assert deformer_class(name).devices[0] == "cpu"
    assert is_linear_blend("lbs")
    assert not is_linear_blend("somebody's model")
