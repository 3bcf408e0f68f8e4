"""Sets of captures: bodies that lie, tissue that varies, work shared out, results brought home."""

import json
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from corporeal.body.composition import Composition
from corporeal.body.measurements import Measurements
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.registrations import Take
from corporeal.body.skeleton import Skeleton
from corporeal.capture.person import Person
from corporeal.capture.protocols.dyna import DynaProtocol
from corporeal.capture.protocols.shapes import ShapesProtocol
from corporeal.capture.protocols.turned import TURNS, drawn_turn, turned
from corporeal.capture.session import SessionSettings, record
from corporeal.capture.tissue import tissue_of
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.capture import CaptureConfig, CaptureJob, shared_out
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.kinematics import forward_kinematics

TOOLS = Path(__file__).parents[1] / "tools"


class TestTurned:
    """Movements of bodies that lie or are upside down."""

    def test_the_body_lies_as_its_name_says(self) -> None:
        """Where the head's way up, and the face, point to, by hand; y is up and it faces +z."""
        up, ahead = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
        expected = {
            "supine": (-ahead, up),
            "prone": (ahead, -up),
            "left-side": ([-1.0, 0.0, 0.0], ahead),
            "right-side": ([1.0, 0.0, 0.0], ahead),
            "inverted": (-up, ahead),
        }
        skeleton = Skeleton(("root",), (-1,), np.zeros((1, 3)))
        still = Motion("still", 60.0, np.zeros((2, 1, 3)), np.zeros((2, 3)), skeleton)
        assert set(TURNS) == set(expected)
        for how, (head, face) in expected.items():
            found = matrix_from_axis_angle(turned(still, how).joint_rotations[0, 0])
            np.testing.assert_allclose(found @ up, head, atol=1e-12)
            np.testing.assert_allclose(found @ ahead, face, atol=1e-12)
        with pytest.raises(InputError, match="expected one of supine"):
            turned(still, "sitting")

    def test_the_movement_is_the_same_seen_from_the_body(self) -> None:
        """Joints of a turned movement are those of the movement, turned about where it began; and
        the root's vector does not jump where it passes half a turn."""
        random = np.random.default_rng(0)
        skeleton = Skeleton(("root", "tip"), (-1, 0), np.array([[0.0, 1.0, 0.0], [0.2, 1.1, 0.3]]))
        turns = 0.3 * np.sin(np.arange(40)[:, None, None] / 5 + random.uniform(0, 6, (2, 3)))
        way = random.normal(size=(40, 3)).cumsum(axis=0)
        motion = Motion("any", 60.0, turns, way, skeleton)
        joints = np.asarray(skeleton.joints)
        before = forward_kinematics(turns, joints, skeleton.parents, way)[:, :, :3, 3]
        for how, vector in TURNS.items():
            after = turned(motion, how)
            now = forward_kinematics(
                after.joint_rotations, joints, skeleton.parents, after.root_translation
            )[:, :, :3, 3]
            about = before[0, 0]
            wanted = (before - about) @ matrix_from_axis_angle(np.array(vector)).T + about
            np.testing.assert_allclose(now, wanted, atol=1e-9)
            assert np.abs(np.diff(after.joint_rotations[:, 0], axis=0)).max() < 0.3

    def test_a_share_of_seeds_is_turned(self) -> None:
        """A third of 3 000 within four deviations, every way among them, always the same."""
        drawn = [drawn_turn(seed, 1 / 3) for seed in range(3000)]
        count = sum(how is not None for how in drawn)
        assert abs(count - 1000) < 4 * np.sqrt(3000 * 2 / 9)
        assert set(drawn) == {None, *TURNS}
        assert drawn[:50] == [drawn_turn(seed, 1 / 3) for seed in range(50)]
        assert all(drawn_turn(seed, 0.0) is None for seed in range(50))

    def test_shares_that_are_none_are_refused(self) -> None:
        with pytest.raises(InputError, match="expected 0 to 1"):
            DynaProtocol(turned=1.5)


def test_tissue_varies_as_widely_as_asked() -> None:
    """ln(modulus) over 400 draws: its deviation within four standard errors of the spread."""
    identity = PhenotypeModel().prepare()
    sizes = {"stature": 1.7, "mass": 70.0, "volume": 0.07, "surface_area": 1.8, "bmi": 24.2}
    who = Person("x", "male", 30.0, identity, Composition(15.0, 30.0), Measurements(sizes))
    for spread in (0.1, 0.35):
        drawn = np.log([tissue_of(who, seed, spread).fat_modulus for seed in range(400)])
        assert drawn.std() == pytest.approx(spread, abs=4 * spread / np.sqrt(800))


def test_few_people_are_shared_out_among_many_processes() -> None:
    """Every sequence of everybody is recorded once; people are whole where there are enough."""
    config = CaptureConfig(people=Path("p.zarr"), out=Path("d.zarr"), protocol="dyna")
    jobs = {name: CaptureJob(config, n, name, "train") for n, name in enumerate(("a", "b"))}
    shared = shared_out(jobs, 4)
    assert len(shared) == 16
    for name in jobs:
        done = [seq for job in shared.values() if job.name == name for seq in job.sequences]
        assert sorted(done) == sorted(config.motions)
    assert shared_out(jobs, 1) == jobs
    poses = CaptureConfig(people=Path("p.zarr"), out=Path("d.zarr"), protocol="poses")
    alone = {"a": CaptureJob(poses, 0, "a", "train")}
    assert shared_out(alone, 8) == alone


def run_tool(name: str, *arguments: object) -> str:
    """What a tool prints."""
    command = [sys.executable, str(TOOLS / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_results_come_home_in_parts(tmp_path: Path) -> None:
    """A file larger than a call may carry arrives whole after some calls; nothing is sent twice."""
    home, into = tmp_path / "home", tmp_path / "into"
    home.mkdir()
    data = np.random.default_rng(0).bytes(2500)
    (home / "dyna.packed.npz").write_bytes(data)
    (home / "status.json").write_text(json.dumps({"all": "done"}))
    calls = [tmp_path / f"call{n}" for n in range(4)]
    for call in calls:
        run_tool("outbox.py", "send", home, call, "--files", 3, "--part", 600, "--most", 2000)
        assert sum(file.stat().st_size for file in call.iterdir()) <= 2000
        assert len(list(call.iterdir())) <= 3
    assert [len(list(call.glob("dyna*"))) for call in calls] == [2, 2, 1, 0]
    assert "NOT whole" in run_tool("outbox.py", "join", *calls[:2], "--into", into)
    assert "whole" in run_tool("outbox.py", "join", *calls, "--into", into)
    assert (into / "dyna.packed.npz").read_bytes() == data


def test_packages_travel(tmp_path: Path) -> None:
    """What a wheel holds, but for its tests, is unpacked by a plain Python."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "a-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("a/__init__.py", "x = 7")
        wheel.writestr("a/tests/test_a.py", "1 / 0")
    run_tool("carry_packages.py", "pack", wheels, tmp_path / "all.tar.xz")
    run_tool("carry_packages.py", "unpack", tmp_path / "all.tar.xz", tmp_path / "there")
    assert (tmp_path / "there" / "a" / "__init__.py").read_text() == "x = 7"
    assert not (tmp_path / "there" / "a" / "tests").exists()


def test_quick_stands_are_skinned() -> None:
    """The skin of dual quaternions in the pose that the take says; movements are refused."""
    model = PhenotypeModel()
    sizes = {"stature": 1.7, "mass": 70.0, "volume": 0.07, "surface_area": 1.8, "bmi": 24.2}
    who = Person("x", "male", 30.0, model.prepare(), Composition(15.0, 30.0), Measurements(sizes))
    settings = SessionSettings("dqs")
    ((subject, take),) = record(
        who, model.template, ShapesProtocol(), settings, "train", ("stand",)
    )
    assert isinstance(take, Take)
    assert take.truth is not None
    pose = Pose(np.asarray(take.truth.joint_rotations), np.asarray(take.truth.root_translation))
    expected = DualQuaternionSkinning(model.template).vertices(who.identity, pose)
    np.testing.assert_allclose(np.asarray(take.vertices), expected, atol=2e-6)
    assert subject.facts["mass"] == 70.0
    assert (take.health, take.twin, take.notes["deformer"]) == (None, None, "dqs")
    protocol = DynaProtocol(10.0, 2.0, ("hips",))
    with pytest.raises(InputError, match="has no flesh for"):
        list(record(who, model.template, protocol, settings, "train", ("hips",)))


class TestRecordSets:
    """The tool that records all sets, with commands that only pretend."""

    @staticmethod
    def run(home: Path, monkeypatch: pytest.MonkeyPatch, gpu: str, minutes: float) -> dict:
        """What became of every command; `gpu` is what recording on the device does."""
        monkeypatch.syspath_prepend(str(TOOLS))
        tool = import_module("record_sets")
        (home / "logs").mkdir(parents=True)
        make = "import sys, pathlib; pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)"

        def pretend(code: str, *words: str) -> list[str]:
            return [sys.executable, "-c", code, *words]

        def recording(self: object, name: str, on_cpu: bool = False) -> list[str]:
            place = str(home / f"{name}.zarr" / "sequences" / "a__b")
            return pretend(gpu if name in tool.MOVING and not on_cpu else make, place)

        done = lambda self, *_: pretend("")  # noqa: E731
        for method in ("people", "training", "building", "packing", "offsets", "checking"):
            monkeypatch.setattr(tool.Plan, method, done)
        monkeypatch.setattr(tool.Plan, "recording", recording)
        monkeypatch.setattr(tool, "LOOK", 0.02)
        plan = tool.Plan(home, 1.0, "gpu", 1, 1, 1)
        board = tool.Board(home)
        ends = board.start + 60.0 * minutes
        tool.record_all(tool.Runner(plan, board, ends, ends + 60.0))
        return {name: row["state"] for name, row in json.loads(
            (home / "status.json").read_text()).items()}  # fmt: skip

    def test_everything_is_recorded_trained_and_packed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make = "import sys, pathlib; pathlib.Path(sys.argv[1]).mkdir(parents=True)"
        found = self.run(tmp_path, monkeypatch, make, 5.0)
        assert set(found.values()) == {"done"}
        for name in ("dyna", "dyna_wide", "multipose", "multishape", "train smpl", "build smpl"):
            assert name in found
        assert {"pack dyna_wide", "offsets dyna", "check multipose_test"} < set(found)
        assert "offsets multipose" not in found

    def test_where_the_device_fails_the_cpu_records(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = self.run(tmp_path, monkeypatch, "raise SystemExit(2)", 5.0)
        assert found["dyna"] == "failed"
        assert found["dyna on the CPU"] == found["dyna_wide on the CPU"] == "done"
        assert found["pack dyna_wide"] == "done"

    def test_what_takes_too_long_is_stopped_and_packed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make = "import sys, time, pathlib; pathlib.Path(sys.argv[1]).mkdir(parents=True); "
        found = self.run(tmp_path, monkeypatch, make + "time.sleep(600)", 6.0 / 60.0)
        assert found["dyna"] == "stopped"
        assert found["dyna_test"] == "no time was left"
        assert found["pack dyna"] == "done"
        assert found["all"] == "done"
