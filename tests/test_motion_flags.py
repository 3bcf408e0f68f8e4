"""Flags that mean what they say, for authored and captured motions alike."""

import json
from pathlib import Path

import numpy as np
import pytest
from clips import write_authored_clip
from PIL import Image

import corporeal as cp
from corporeal.cli.main import main
from corporeal.errors import InputError, MissingDependencyError
from corporeal.formats import registry
from corporeal.formats.bvh import read_bvh
from corporeal.formats.gif import write_gif
from corporeal.pipelines.motion_source import motions_named


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds at 60 frames a second, after a T-pose."""
    return write_authored_clip(tmp_path_factory.mktemp("clips") / "jacks.bvh", fps=60.0)


def test_a_part_of_a_capture_at_another_rate(clip: Path):
    whole = cp.make_motion(clip)
    part = cp.make_motion(clip, start=0.5, duration=1.0, fps=30)
    assert (part.fps, part.frame_count) == (30.0, 31)
    np.testing.assert_allclose(part.joint_rotations, whole.joint_rotations[30:91:2], atol=1e-9)
    np.testing.assert_allclose(part.root_translation, whole.root_translation[30:91:2], atol=1e-9)
    assert cp.make_motion(clip, end=1.0).frame_count == 61
    given = cp.make_motion(whole, start=0.5, duration=1.0, fps=30)
    np.testing.assert_array_equal(given.joint_rotations, part.joint_rotations)


def test_a_part_of_an_authored_motion():
    whole = cp.make_motion("punching", duration=4.0, fps=30, seed=3)
    part = cp.make_motion("punching", start=1.0, end=4.0, fps=30, seed=3)
    np.testing.assert_allclose(part.joint_rotations, whole.joint_rotations[30:], atol=1e-12)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"seed": 1}, "--seed came with .*captured"),
        ({"a_pose": True}, "--a-pose came with .*captured"),
        ({"end": 1.0, "duration": 1.0}, "--end and --duration came together"),
        ({"start": 1.5, "end": 1.0}, "expected 0 ≤ start ≤ end"),
        ({"end": 99.0}, "expected 0 ≤ start ≤ end"),
    ],
)
def test_what_cannot_be_meant_of_a_capture_is_refused(clip: Path, flags, words: str):
    with pytest.raises(InputError, match=words):
        cp.make_motion(clip, **flags)


def test_folders_and_patterns_name_clips(clip: Path, tmp_path: Path):
    for name in ("a.bvh", "b.BVH", "notes.txt"):
        (tmp_path / name).write_bytes(clip.read_bytes())
    found = [str(tmp_path / "a.bvh"), str(tmp_path / "b.BVH")]
    assert motions_named(str(tmp_path)) == found
    assert motions_named(str(tmp_path / "*.bvh")) == found[:1]
    assert motions_named("punching") == ["punching"]
    with pytest.raises(InputError, match="names no motion file"):
        motions_named(str(tmp_path / "*.txt"))


def test_a_batch_of_clips_tells_its_notes_and_quiet_tells_nothing(
    clip: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    clips = tmp_path / "clips"
    clips.mkdir()
    for name in ("a", "b"):
        (clips / f"{name}.bvh").write_bytes(clip.read_bytes())
    common = ["animate", "--motion", str(clips), "--end", "0.3", "--fps", "20", "--jobs", "1"]
    assert main([*common, "--out", str(tmp_path / "{motion}.bvh")]) == 0
    told = capfd.readouterr()
    assert told.err.count("unit taken as 'cm'") == 2
    assert "2 made" in told.out
    assert read_bvh(tmp_path / "a.bvh").motion.frame_count == 7
    assert main([*common, "--out", str(tmp_path / "again-{motion}.bvh"), "--quiet"]) == 0
    assert capfd.readouterr().err == ""


def test_manifests_of_before_repeat_what_they_did(clip: Path, tmp_path: Path):
    """Captures used to ignore --fps, --duration and --seed; manifests hold their defaults."""
    out = tmp_path / "old.bvh"
    assert main(["animate", "--motion", str(clip), "--out", str(out), "--quiet"]) == 0
    manifest = json.loads((tmp_path / "old.bvh.manifest.json").read_text())
    for name in ("start", "end"):
        del manifest["config"][name]
    manifest["config"] |= {"fps": 30.0, "duration": 1.0, "seed": 0}
    (tmp_path / "m.json").write_text(json.dumps(manifest))
    again = ["animate", "--config", str(tmp_path / "m.json"), "--out", str(tmp_path / "new.bvh")]
    assert main([*again, "--quiet"]) == 0
    assert (tmp_path / "new.bvh").read_bytes() == out.read_bytes()


def test_convert_writes_motions_as_bvh(clip: Path, tmp_path: Path):
    motion = cp.make_motion(clip, end=0.5)
    cp.save(motion, tmp_path / "m.npz")
    assert main(["convert", str(tmp_path / "m.npz"), str(tmp_path / "m.bvh"), "--quiet"]) == 0
    read = read_bvh(tmp_path / "m.bvh", unit="cm", first_frame="keep").motion
    assert read.frame_count == motion.frame_count
    assert main(["convert", str(clip), str(tmp_path / "c.npz"), "--quiet"]) == 0
    assert cp.load(tmp_path / "c.npz").skeleton.names == cp.load(clip).skeleton.names


def test_gifs_play_at_their_rate(tmp_path: Path):
    frames = [np.full((8, 10, 3), 40 * k, np.uint8) for k in range(5)]
    write_gif(tmp_path / "a.gif", frames, 25.0)
    with Image.open(tmp_path / "a.gif") as picture:
        assert (picture.n_frames, picture.size, picture.info["duration"]) == (5, (10, 8), 40)
    with pytest.raises(InputError, match="no picture"):
        write_gif(tmp_path / "b.gif", [], 25.0)


def test_a_missing_package_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    absent = registry.Extra("no_such_package", "usd")
    monkeypatch.setitem(registry.EXTRAS, ".usd", absent)
    monkeypatch.setattr("corporeal.pipelines.animate.load_subject", lambda _: pytest.fail("worked"))
    with pytest.raises(MissingDependencyError, match=r"corporeal\[usd\]"):
        cp_animate(tmp_path / "a.usd")


def cp_animate(out: Path) -> None:
    from corporeal.pipelines.animate import AnimateConfig, animate

    animate(AnimateConfig(out=out, motion="punching"))
