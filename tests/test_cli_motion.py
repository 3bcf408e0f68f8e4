"""`corporeal motion`: list, info, render."""

import json

import numpy as np
import public_data
import pytest
from clips import write_authored_clip

from corporeal.cli.main import main
from corporeal.motions.library import MOTIONS

CLIP = public_data.cmu_clip("22_16_jumping_jacks")


def test_list_names_the_authored_motions(capsys):
    assert main(["motion", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == sorted(MOTIONS)


def test_info_counts_frames_of_an_authored_motion(capsys):
    """Six seconds at 50 Hz, both ends included, are 301 frames."""
    flags = ["--fps", "50", "--duration", "6", "--json"]
    assert main(["motion", "info", "shake-hips", *flags]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["frames"], facts["fps"], facts["duration"]) == (301, 50.0, 6.0)
    assert facts["root_height"][0] < facts["root_height"][1] < 1.1


def test_info_of_a_clip_tells_its_rate_and_what_was_done(tmp_path, capsys):
    """Two seconds at 120 Hz, both ends included, after a T-pose that is left out."""
    assert main(["motion", "info", str(write_authored_clip(tmp_path / "jacks.bvh"))]) == 0
    printed = capsys.readouterr().out
    assert "241 at 120 a second" in printed
    assert "frame 0 left out" in printed


@pytest.mark.data("cmu-mocap")
def test_info_of_a_capture_tells_its_rate_and_what_was_done(capsys):
    assert main(["motion", "info", str(CLIP)]) == 0
    printed = capsys.readouterr().out
    assert "432 at 120 a second" in printed
    assert "flights fall with 0.9" in printed
    assert "frame 0 left out" in printed


def test_render_writes_a_film(tmp_path):
    out = tmp_path / "shake.mp4"
    flags = ["--fps", "10", "--duration", "2", "--out", str(out)]
    assert main(["motion", "render", "shake-arms", *flags]) == 0
    assert out.read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info"], "came without a motion"),
        (["info", "nowhere.bvh"], "no file nowhere.bvh"),
        (["info", "moonwalk"], "no motion is called 'moonwalk'"),
        (["render", "hips"], "came without --out"),
    ],
)
def test_what_is_missing_is_said(arguments, words, capsys):
    assert main(["motion", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_an_a_pose_start_reaches_the_file(tmp_path):
    """The first frame's wrists are further out than those of a relaxed stand."""
    reach = []
    for flags in ([], ["--a-pose"]):
        out = tmp_path / f"take{len(flags)}.npz"
        arguments = ["--motion", "hips", "--fps", "10", "--duration", "2", "--out", str(out)]
        assert main(["animate", *arguments, *flags]) == 0
        with np.load(out) as file:
            reach.append(float(file["joints"][0, 20, 0]))
    assert reach[1] > reach[0] + 0.1
