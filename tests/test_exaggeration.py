"""Painted exaggeration: a factor on the skin's way from linear blending."""

import numpy as np
import pytest

from corporeal.cli.main import main
from corporeal.formats.native import read_animation
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.exaggeration import exaggerated


@pytest.fixture(scope="module")
def takes():
    """The same two seconds by linear blending, and by SMPL, which has offsets in the rest pose."""
    model = PhenotypeModel()
    identity = model.prepare()
    motion = make_motion("punching", identity, model.template, fps=5.0, duration=2.0)
    return [
        make_deformer(name, model.template).animate(identity, motion) for name in ("lbs", "smpl")
    ]


def test_offsets_grow_by_the_factors(takes):
    """x = x_lbs + e (x − x_lbs): one vertex twice as far, one half as far, the others as before."""
    plain, moved = (np.asarray(take.vertices, np.float64) for take in takes)
    factors = np.ones(plain.shape[1])
    factors[[10, 20]] = 2.0, 0.5
    more = exaggerated(takes[1], factors)
    found = np.asarray(more.vertices, np.float64)
    np.testing.assert_allclose(found[:, 10], 2 * moved[:, 10] - plain[:, 10], atol=1e-6)
    np.testing.assert_allclose(found[:, 20], 0.5 * (moved[:, 20] + plain[:, 20]), atol=1e-6)
    rest = np.delete(np.arange(plain.shape[1]), [10, 20])
    np.testing.assert_allclose(found[:, rest], moved[:, rest], atol=1e-6)
    if takes[1].pose_offsets is not None:
        offsets = np.asarray(takes[1].pose_offsets)
        np.testing.assert_allclose(more.pose_offsets[:, 10], 2 * offsets[:, 10], atol=1e-7)
    assert np.abs(moved - plain).max() > 1e-3


def test_the_command_line_takes_a_map_and_refuses_what_it_cannot_use(tmp_path, capsys):
    """Without a factor other than 1 nothing changes; linear blending has nothing to exaggerate."""
    np.save(tmp_path / "ones.npy", np.ones(13380))
    common = ["animate", "--motion", "punching", "--duration", "2", "--fps", "5"]
    for name, words in (
        ("plain", []),
        ("ones", ["--exaggeration-map", str(tmp_path / "ones.npy")]),
    ):
        out = ["--deformer", "dqs", "--out", str(tmp_path / f"{name}.npz")]
        assert main([*common, *words, *out]) == 0
    plain, ones = (read_animation(tmp_path / f"{name}.npz") for name in ("plain", "ones"))
    np.testing.assert_allclose(ones.vertices, plain.vertices, atol=1e-6)
    words = ["--exaggeration-map", str(tmp_path / "ones.npy"), "--out", str(tmp_path / "no.npz")]
    capsys.readouterr()
    assert main([*common, *words]) == 2
    assert "has no offset from plain skinning" in " ".join(capsys.readouterr().err.split())
    assert main([*common, "--deformer", "smpl", "--live", *words[:3], str(tmp_path / "l.glb")]) == 2
    assert "--live" in capsys.readouterr().err
