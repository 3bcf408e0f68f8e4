"""Deformers on captured takes: one that made the take is found to be without error, others not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.body import Body
from corporeal.body.motion import Motion
from corporeal.body.registrations import Registrations, Subject, Take, Truth, Twin
from corporeal.cli.main import main
from corporeal.errors import InputError
from corporeal.evaluation.skin_distance import (
    distances,
    swing_left,
    vertical_match,
    volumes,
)
from corporeal.formats.registrations import RegistrationsStore
from corporeal.pipelines.dataset import write_dataset
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.evaluate_deformers import (
    EvaluateDeformersConfig,
    evaluate_deformers,
    require_takes,
)
from corporeal.pipelines.make_body import shaped_body

FRAMES = 10


class TestMeasures:
    def test_a_shift_is_its_length_everywhere(self):
        true = np.random.default_rng(0).normal(size=(4, 9, 3))
        some = {"half": np.arange(9) < 4}
        found = distances(true + np.array([0.003, 0.0, -0.004]), true, some)
        assert found == pytest.approx({"all": 0.005, "p99": 0.005, "half": 0.005}, rel=1e-9)

    def test_a_region_counts_its_own_vertices_alone(self):
        true = np.zeros((2, 5, 3))
        found = true.copy()
        found[:, 0, 1] = 0.01
        some = {"first": np.arange(5) == 0, "others": np.arange(5) > 0}
        apart = distances(found, true, some)
        assert apart["first"] == pytest.approx(0.01)
        assert apart["others"] == 0.0
        assert apart["all"] == pytest.approx(0.002)

    def test_what_is_left_of_a_swing(self):
        """Root mean square over vertices: of two that swing by 3 and 4 mm, √12.5; by half, half."""
        swing = np.zeros((6, 2, 3))
        swing[:, 0, 0], swing[:, 1, 2] = 0.003, 0.004
        assert swing_left(None, swing, {})["all"] == pytest.approx(np.sqrt(12.5e-6))
        assert swing_left(0.5 * swing, swing, {})["all"] == pytest.approx(np.sqrt(12.5e-6) / 2)
        assert swing_left(swing, swing, {})["all"] == 0.0

    def test_ups_and_downs_of_a_region(self):
        """Twice as far and two frames late, and what goes sideways does not count."""
        time = np.arange(80) / 60.0
        true = np.zeros((80, 3, 3))
        true[:, :2, 1] = 0.01 * np.sin(2 * np.pi * 3.0 * time)[:, None]
        late = 2.0 * np.roll(true, 2, axis=0)
        late[:, :, 0] = 1.0
        found = vertical_match(late, true, np.arange(3) < 2)
        assert found.amplitude == pytest.approx(2.0, rel=1e-6)
        assert found.lag == 2
        assert found.correlation == pytest.approx(np.cos(2 * np.pi * 3.0 * 2 / 60), abs=0.02)

    def test_a_larger_body_has_more_volume(self):
        template = load_default_body().template
        skin = np.asarray(template.mesh.vertices, np.float64)
        one, two = volumes(np.stack([skin, 1.02 * skin]), np.asarray(template.mesh.triangles))
        assert two / one == pytest.approx(1.02**3, rel=1e-3)


def body() -> Body:
    return shaped_body({"weight": 0.7, "gender": 0.0})


def hop(who: Body) -> Motion:
    """Up and down, with the arms."""
    time = np.arange(FRAMES) / 60.0
    turns = np.zeros((FRAMES, who.template.skeleton.joint_count, 3))
    names = who.template.skeleton.names
    turns[:, names.index("left_shoulder"), 2] = np.sin(8 * np.pi * time)
    roots = np.zeros((FRAMES, 3))
    roots[:, 1] = 0.05 * (1.0 - np.cos(12 * np.pi * time))
    return Motion("hop", 60.0, turns, roots, who.template.skeleton)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A take that the DMPL made, SMPL its twin."""
    who = body()
    motion, dmpl = hop(who), make_deformer("dmpl", who.template)
    skin, still = (
        np.asarray(dmpl.animate(who.identity, motion, told).vertices, np.float32)
        for told in ({}, {"dynamics": False})
    )
    truth = Truth(np.asarray(motion.joint_rotations), np.asarray(motion.root_translation))
    take = Take("ann", "hop", 60.0, skin, truth, "test", {}, Twin(still))
    facts = {"sex": "female", "age": 30.0}
    subject = Subject("ann", who.identity, None, None, facts)
    mesh = who.template.mesh
    held = Registrations(
        "default", np.asarray(mesh.triangles), mesh.vertex_count, (take,), {"ann": subject}, {}
    )
    out = tmp_path_factory.mktemp("takes") / "takes.zarr"
    write_dataset(out, held)
    return out


class TestReport:
    def test_who_made_the_take_is_without_error(self, store: Path, tmp_path: Path):
        """DMPL repeats itself to single precision and leaves nothing of the swing; SMPL lacks
        exactly the swing; linear blending lacks more than SMPL; the best coefficients lack what
        carrying by dual quaternions instead of linear blending changes alone."""
        config = EvaluateDeformersConfig(
            test=store, report=tmp_path, deformers=("lbs", "smpl", "dmpl"), every=5
        )
        found = evaluate_deformers(config).report
        dmpl, smpl, lbs = (found["deformers"][name] for name in ("dmpl", "smpl", "lbs"))
        assert dmpl["mm"]["all"] < 1e-3
        assert dmpl["swing_mm"]["all"] < 1e-3
        own = dmpl["by_take"]["ann hop"]["vertical"]
        assert own["belly"]["correlation"] == pytest.approx(1.0, abs=1e-3)
        assert own["breasts"]["amplitude"] == pytest.approx(1.0, abs=2e-3)
        assert own["breasts"]["lag"] == 0
        assert smpl["by_take"]["ann hop"]["vertical"] == {}
        assert smpl["swing_mm"]["all"] > 0.1
        assert lbs["swing_mm"] == smpl["swing_mm"]
        assert lbs["mm"]["all"] > smpl["mm"]["all"] > dmpl["mm"]["all"]
        assert dmpl["oracle_mm"]["all"] < 0.1 * smpl["swing_mm"]["all"]
        assert dmpl["volume_off_percent"] == pytest.approx(0.0, abs=2e-3)
        assert dmpl["deepest_mm"] == pytest.approx(found["truth"]["ann hop"]["deepest_mm"], abs=0.1)
        assert found["people"] == ["ann"]

    def test_nothing_else_is_measured_where_it_is_not_asked_for(self, store: Path, tmp_path: Path):
        config = EvaluateDeformersConfig(test=store, report=tmp_path, deformers=("lbs",), every=0)
        row = evaluate_deformers(config).report["deformers"]["lbs"]
        assert row["volume_percent"] is None
        assert row["deepest_mm"] is None
        assert row["mm"]["all"] > 0

    def test_swings_that_are_not_asked_for(self, store: Path, tmp_path: Path):
        """What has a memory is moved once; what has none leaves the whole swing all the same."""
        config = EvaluateDeformersConfig(
            test=store, report=tmp_path, deformers=("lbs", "dmpl"), every=0, swings=False
        )
        found = evaluate_deformers(config).report["deformers"]
        assert found["dmpl"]["swing_mm"] == {}
        assert found["dmpl"]["mm"]["all"] < 1e-3
        assert found["lbs"]["swing_mm"]["all"] > 0.1

    def test_the_verb(self, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        said = ["evaluate", "deformers", "lbs", "--test", str(store), "--every", "0"]
        assert main([*said, "--report", str(tmp_path / "report")]) == 0
        assert "swing left mm" in capsys.readouterr().out
        assert (tmp_path / "report/deformers.json").is_file()

    def test_sets_that_cannot_be_compared_with(self, store: Path):
        held, template = RegistrationsStore.open(store).read(), load_default_body().template
        blind = replace(held, takes=tuple(replace(take, truth=None) for take in held.takes))
        with pytest.raises(InputError, match="lacks a pose"):
            require_takes(store, blind, template)
        cut = replace(held, triangles=held.triangles[1:])
        with pytest.raises(InputError, match="of the surface"):
            require_takes(store, cut, template)
