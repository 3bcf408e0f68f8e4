"""Whole runs of the virtual 4D scanner: resumed, repeated, and with a worker killed."""

import os
import shutil
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import public_data
import pytest

import corporeal as cp
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.measure import measure
from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.body.topology import topology_hash
from corporeal.capture.checkup import Checkup
from corporeal.capture.scanner.scanner import ScannerSettings
from corporeal.capture.session import FINER, PENETRATION_EVERY
from corporeal.cli.capture import tell_left_out
from corporeal.cli.main import main
from corporeal.errors import InputError, OutputError
from corporeal.evaluation.flesh_recorder import FleshRecorders
from corporeal.evaluation.health_limits import HealthLimits
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.scans import read_scans
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.capture import (
    CaptureConfig,
    capture,
    capture_jobs,
    create_store,
    is_captured,
)
from corporeal.pipelines.dataset_check import check_dataset
from corporeal.population.people_store import (
    MEASURED,
    PeopleGroup,
    create_people,
    read_people,
    write_group,
)
from corporeal.skinning.linear import LinearBlendSkinning

TEMPLATE = load_default_body().template
COUNT = 4
RUN = public_data.cmu_clip("09_01_run")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four people from sliders, two of each sex."""
    path, model = tmp_path_factory.mktemp("people") / "people.zarr", PhenotypeModel()
    sliders = [
        (g, 30.0 + 5 * n, w)
        for n, (g, w) in enumerate([(0.0, 0.3), (1.0, 0.4), (0.0, 0.7), (1.0, 0.8)])
    ]
    bodies = [
        model.prepare(dict(zip(("gender", "age", "weight"), row, strict=True))) for row in sliders
    ]
    sexes = tuple("male" if row[0] else "female" for row in sliders)
    measured = [measure(body) for body in bodies]
    parts = [
        predict_composition(body, row[1], sex, TEMPLATE).composition
        for body, row, sex in zip(bodies, sliders, sexes, strict=True)
    ]
    mesh = TEMPLATE.mesh
    store = create_people(
        path,
        {"seed": 1},
        ("gender", "age", "weight"),
        topology_hash(mesh.triangles, mesh.vertex_count),
        COUNT,
    )
    group = PeopleGroup(
        tuple(f"p{n}" for n in range(COUNT)),
        sexes,
        np.array([row[1] for row in sliders]),
        np.stack([np.asarray(body.rest_vertices) for body in bodies]),
        np.stack([np.asarray(body.joints) for body in bodies]),
        np.array(sliders),
        np.array([[m[name] for name in MEASURED] for m in measured]),
        np.array([[m[name] for name in NAMES] for m in measured]),
        np.array([[c.fat_mass, c.muscle_mass] for c in parts]),
        np.zeros((COUNT, 2), np.int64),
    )
    write_group(store, 0, group)
    store.finish()
    return path


def config(people: Path, out: Path, **changes) -> CaptureConfig:
    settings = {
        "people": people,
        "out": out,
        "protocol": "poses",
        "poses": 2,
        "deformer": "projective",
        "touch": "off",
    }
    return CaptureConfig(**(settings | changes))


def test_a_run_is_repeatable_resumed_and_scanned(people: Path, tmp_path: Path) -> None:
    """A person whose take was lost is recorded again, bit for bit; others are left alone."""
    settings = config(
        people, tmp_path / "a.zarr", women=1, men=1, scans=ScannerSettings(points=2000)
    )
    report = capture(settings, workers=1)
    assert report.failed == {}
    store = RegistrationsStore.open(settings.out)
    before = {t.subject: np.asarray(t.vertices[0:2]) for t in store.read().takes}
    assert len(before) == 2
    assert store.store.is_finished
    victim = sorted(before)[0]
    shutil.rmtree(settings.out / "sequences" / f"{victim}__poses")
    again = capture(settings, workers=1)
    assert again.skipped == [name for name in sorted(before) if name != victim]
    for take in store.read().takes:
        np.testing.assert_array_equal(take.vertices[0:2], before[take.subject])
        assert take.truth is not None
        assert take.truth.materials["dynamics"] == 0.0
        frames = [frame for frame, scan in read_scans(store, take.subject, take.sequence)]
        assert frames == list(range(take.frame_count))
    who = store.read().subjects[victim]
    assert who.composition is not None
    assert who.facts["tissue_stiffness"] == take_stiffness(store, victim)
    few = {"poses": 2, "deformer": "projective", "touch": "off", "women": 1, "men": 1}
    held = cp.capture_people(people, settings.out, "poses", scans=True, points=2000, **few)
    assert {take.subject for take in held.takes} == set(before)  # taken up as the same run
    with pytest.raises(OutputError, match="begun with seed = 0; this run has 5"):
        capture(
            config(people, settings.out, women=1, men=1, seed=5, scans=settings.scans), workers=1
        )


@pytest.mark.data("cmu-mocap")
def test_a_captured_clip_moves_flesh(people: Path, tmp_path: Path) -> None:
    """A real run of 1.2 s through layered physics, from the clip to the checked store.

    Bones carry the flesh, so the skin stays within centimetres of linear blending by the pose that
    is kept beside; it swings, so the belly's distance to that changes by millimetres.
    """
    settings = config(
        people,
        tmp_path / "run.zarr",
        protocol="mocap",
        clips=(RUN,),
        fps=30.0,
        women=1,
        deformer="layered",
        touch="global",
    )
    assert capture(settings, workers=1).failed == {}
    held = RegistrationsStore.open(settings.out).read()
    (take,) = held.takes
    who = held.subjects[take.subject].identity
    assert (take.sequence, take.fps, take.notes["clip"]) == ("09_01_run", 30.0, RUN.name)
    assert who is not None
    assert take.truth is not None
    assert take.truth.materials["dynamics"] == 1.0
    way = np.asarray(take.truth.root_translation[0 : take.frame_count], np.float64)
    rotations = np.asarray(take.truth.joint_rotations[0 : take.frame_count], np.float64)
    speed = np.linalg.norm(way[-1, [0, 2]] - way[0, [0, 2]]) * 30.0 / (take.frame_count - 1)
    assert 2.0 < speed < 6.0  # m/s
    motion = Motion("run", 30.0, rotations, way, TEMPLATE.skeleton)
    plain = np.asarray(LinearBlendSkinning(TEMPLATE).animate(who, motion).vertices)
    away = np.linalg.norm(take.vertices[0 : take.frame_count] - plain, axis=2)
    assert away.mean() < 0.02
    assert away.max() < 0.2
    assert away[:, TEMPLATE.part("belly")].std(axis=0).max() > 2e-3
    found = check_dataset(settings.out, thorough=1, workers=1)
    assert (found.broken, found.unreadable, found.finished) == (0, {}, True)


def take_stiffness(store: RegistrationsStore, subject: str) -> float:
    take = next(t for t in store.read().takes if t.subject == subject)
    assert take.truth is not None
    return take.truth.materials["stiffness"]


def test_who_is_recorded(people: Path, tmp_path: Path) -> None:
    held = read_people(people)
    train, test = (
        set(capture_jobs(config(people, tmp_path / "x.zarr", split=half), held))
        for half in ("train", "test")
    )
    assert train | test == set(held.names)
    assert not train & test
    assert not is_captured(
        next(iter(capture_jobs(config(people, tmp_path / "x.zarr"), held).values()))
    )
    with pytest.raises(InputError, match="of sex 'male' were asked for"):
        capture(config(people, tmp_path / "x.zarr", men=50), workers=1)
    with pytest.raises(InputError, match="there is no file"):
        capture(config(people, tmp_path / "x.zarr", protocol="mocap", clips=(Path("no.bvh"),)))
    with pytest.raises(InputError, match="expected 1 or more"):
        capture(config(people, tmp_path / "x.zarr", scan_every=0))
    assert not (tmp_path / "x.zarr").exists()


def test_the_verb_refuses_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["capture", "--people", str(tmp_path / "no"), "--protocol", "poses", "--out", "x.zarr"]
    assert main(flags) == 2
    assert "there is no Zarr group" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_dask_worker_costs_no_frame_of_a_capture(people: Path, tmp_path: Path) -> None:
    """The run with a worker killed gives what an undisturbed run gives, take by take.

    A cluster's workers have other numbers of threads, so that sums are rounded otherwise: vertices
    agree to what twenty static rounds leave of single precision, not bit by bit.
    """
    distributed = pytest.importorskip("distributed")
    plain, killed = config(people, tmp_path / "a.zarr"), config(people, tmp_path / "b.zarr")
    assert capture(plain, workers=2).failed == {}
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
        silence_logs=50,
    ) as cluster:
        victims = [worker.pid for worker in cluster.workers.values()]
        killer = threading.Thread(target=kill_when_there_is_a_take, args=(killed.out, victims[0]))
        killer.start()
        report = capture(killed, scheduler=cluster.scheduler_address)
        killer.join()
    assert report.failed == {}
    first, second = (RegistrationsStore.open(c.out).read() for c in (plain, killed))
    assert [t.subject for t in first.takes] == [t.subject for t in second.takes]
    for one, two in zip(first.takes, second.takes, strict=True):
        np.testing.assert_allclose(one.vertices[0:2], two.vertices[0:2], rtol=0, atol=1e-5)


def kill_when_there_is_a_take(path: Path, victim: int) -> None:
    for _ in range(3000):
        if list((path / "sequences").glob("p*")):
            os.kill(victim, signal.SIGKILL)
            return
        time.sleep(0.05)


MOVED = {"protocol": "dyna", "motions": ("knees",), "fps": 20.0, "duration": 2.0, "women": 1}


def test_a_movement_comes_with_its_twin_and_its_health(people: Path, tmp_path: Path) -> None:
    """Take less twin is what dynamics did: nothing in the first frame, which is in balance for
    both, millimetres later; and every frame says how sound its flesh was."""
    settings = config(people, tmp_path / "a.zarr", **MOVED)
    report = capture(settings, in_process=True)
    assert report.failed == {}
    (done,) = report.done.values()
    assert (done.takes, done.left_out) == (1, ())
    (take,) = RegistrationsStore.open(settings.out).read().takes
    frames = take.frame_count
    assert take.twin is not None
    assert take.health is not None
    assert take.twin.health is not None
    offsets = take.vertices[0:frames] - take.twin.vertices[0:frames]
    away = np.linalg.norm(offsets, axis=2)
    assert away[0].max() < 1e-4
    assert away.max() > 2e-3
    assert away.mean() < 0.01
    assert take.health.penetration_frames.tolist() == list(range(0, frames, PENETRATION_EVERY))
    assert set(take.health.parts) >= {"belly", "left_thigh"}
    assert np.abs(take.health.part_volumes).max() < 0.5
    plain = capture(config(people, tmp_path / "b.zarr", twin=False, **MOVED), in_process=True)
    assert plain.failed == {}
    (alone,) = RegistrationsStore.open(tmp_path / "b.zarr").read().takes
    assert alone.twin is None
    np.testing.assert_array_equal(alone.vertices[0:frames], take.vertices[0:frames])


def test_unsound_takes_are_tried_again_and_left_out(
    people: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Limits that nothing meets: every take is left out, by name, and not asked for again."""
    nothing_is_sound = Checkup(FleshRecorders(TEMPLATE), HealthLimits(stretch=0.5).faults)
    monkeypatch.setattr("corporeal.pipelines.capture.checkup_of", lambda *_: nothing_is_sound)
    settings = config(people, tmp_path / "a.zarr", **MOVED)
    report = capture(settings, in_process=True)
    (done,) = report.done.values()
    (gone,) = done.left_out
    assert (done.takes, gone.sequence, gone.attempts) == (0, "knees", len(FINER))
    assert gone.reasons[0].startswith("stretched skin in 41 frames")
    store = RegistrationsStore.open(settings.out)
    assert store.store.is_finished
    assert store.takes() == []
    assert capture(settings, in_process=True).done == {}
    tell_left_out(store.left_out())
    assert "knees: stretched skin" in capsys.readouterr().err


def test_unsound_poses_alone_are_left_out(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The A-pose stretches skin less than a drawn pose: a limit between them keeps it alone."""
    settings, inf = config(people, tmp_path / "a.zarr", women=1), float("inf")
    any_limits = HealthLimits(10**6, inf, inf, inf, inf)
    any_flesh = Checkup(FleshRecorders(TEMPLATE), any_limits.faults)
    monkeypatch.setattr("corporeal.pipelines.capture.checkup_of", lambda *_: any_flesh)
    assert capture(settings, in_process=True).failed == {}
    (both,) = RegistrationsStore.open(settings.out).read().takes
    assert both.health is not None
    first, second = both.health.largest_stretch
    assert first < second
    limits = replace(any_limits, stretch=float(0.5 * (first + second)))
    between = Checkup(FleshRecorders(TEMPLATE), limits.faults)
    monkeypatch.setattr("corporeal.pipelines.capture.checkup_of", lambda *_: between)
    again = config(people, tmp_path / "b.zarr", women=1)
    assert capture(again, in_process=True).failed == {}
    (take,) = RegistrationsStore.open(again.out).read().takes
    assert (take.frame_count, take.notes["frames_kept"]) == (1, [0])
    assert list(take.notes["frames_left_out"]) == ["1"]
    np.testing.assert_array_equal(take.vertices[0:1], both.vertices[0:1])


def test_tables_say_who_trains(people: Path, tmp_path: Path) -> None:
    """The column split decides, training where it says nothing; before, names drew it by lot."""
    held = read_people(people)
    (group,) = held.groups()
    store = create_people(
        tmp_path / "given.zarr", {}, held.parameter_names, held.template_hash, COUNT
    )
    write_group(store, 0, replace(group, splits=("train", "train", "train", "test")))
    store.finish()
    given = read_people(tmp_path / "given.zarr")
    assert given.splits == ("train", "train", "train", "test")
    jobs = capture_jobs(config(people, tmp_path / "x.zarr"), given)
    assert [job.split for job in jobs.values()] == list(given.splits)
    assert set(held.splits) == {""}


def test_another_device_may_help_where_that_is_asked_for(people: Path, tmp_path: Path) -> None:
    """A store begun on a GPU is gone on with on the CPU only to help, and keeps what began it."""
    held, out = read_people(people), tmp_path / "a.zarr"
    create_store(config(people, out, protocol="dyna", device="gpu"), held, TEMPLATE)
    other = config(people, out, protocol="dyna", device="cpu")
    with pytest.raises(OutputError, match="was begun with device = gpu"):
        create_store(other, held, TEMPLATE)
    helped = create_store(other, held, TEMPLATE, join=True)
    assert helped.store.run["device"] == "gpu"
    with pytest.raises(OutputError, match="was begun with seed"):
        create_store(replace(other, seed=other.seed + 1), held, TEMPLATE, join=True)
