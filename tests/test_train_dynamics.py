"""`corporeal train dmpl` and `train dyna` on a small store of the default body, by the verbs."""

import json
from pathlib import Path

import numpy as np
import pytest

from corporeal.assets.learned_blendscape import learned_blendscape
from corporeal.body.identity import Identity
from corporeal.body.registrations import Subject, Take, Truth, Twin
from corporeal.cli.main import main
from corporeal.formats.dmpl import read_dmpl
from corporeal.formats.dyna import read_dyna
from corporeal.formats.registrations import RegistrationsStore
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.skinning.linear import LinearBlendSkinning

FPS = 60.0


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people who jump; a belly that swings by a centimetre with the root's acceleration."""
    model, path = PhenotypeModel(), tmp_path_factory.mktemp("takes") / "takes.zarr"
    mesh = model.template.mesh
    triangles = np.asarray(mesh.triangles)
    store = RegistrationsStore.create(path, "test", triangles, mesh.vertex_count, {})
    skinning = LinearBlendSkinning(model.template)
    for name, weight in (("anna", 0.4), ("bert", 0.7)):
        made = model.prepare({"weight": weight})
        rest, joints = np.asarray(made.rest_vertices), np.asarray(made.joints)
        who = Identity(rest.astype("f4"), joints.astype("f4"), {"weight": np.array(weight)})
        facts = {"sex": "female", "mass": 60 + 30 * weight, "stature": 1.7}
        store.write_subject(Subject(name, who, None, None, facts))
        motion = make_motion("one-leg-jump", who, model.template, fps=FPS, duration=2.0)
        fall = np.gradient(np.gradient(np.asarray(motion.root_translation)[:, 1])) * FPS**2
        still = np.asarray(skinning.animate(who, motion).vertices)
        navel = rest[np.argmax(rest[:, 2] * (np.abs(rest[:, 1] - 1.05) < 0.1))]
        near = np.exp(-((rest - navel) ** 2).sum(1) / (2 * 0.08**2))
        swing = -1e-3 * fall[:, None] * near
        moved = still + swing[..., None] * np.array([0.0, 1.0, 0.0])
        truth = Truth(motion.joint_rotations, motion.root_translation)
        take = Take(name, "one-leg-jump", FPS, moved, truth, "train", {}, Twin(still))
        store.write_take(take)
    return path


def test_dyna_is_added_to_the_blendscape_that_ships(takes: Path, tmp_path: Path) -> None:
    """Without --model: what is written holds the shipped BlendSCAPE, and no file is an input."""
    out = tmp_path / "dyna.npz"
    assert main(["train", "dyna", "--takes", str(takes), "--count", "3", "--out", str(out)]) == 0
    made, shipped = read_dyna(out), learned_blendscape()
    np.testing.assert_array_equal(made.body.triangles, shipped.triangles)
    np.testing.assert_allclose(made.body.pose_deformations, shipped.pose_deformations, atol=1e-6)
    assert len(made.dynamic.deformations) == 3
    assert json.loads(Path(f"{out}.manifest.json").read_text())["inputs"] in ([], {})


def test_dmpl_explains_a_swing_of_one_shape(takes: Path, tmp_path: Path) -> None:
    """One shape a person, two in all: nearly all of it."""
    out = tmp_path / "dmpl.npz"
    line = ["train", "dmpl", "--takes", str(takes), "--count", "2", "--out", str(out)]
    assert main(line) == 0
    assert read_dmpl(out).shapes.shape[0] == 2


def test_a_blendscape_that_is_not_there(
    takes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that does not ship is a file that is missing."""
    line = ["train", "dyna", "--takes", str(takes), "--model", "blandscape"]
    assert main([*line, "--out", str(tmp_path / "d.npz")]) == 2
    assert "there is no file blandscape" in capsys.readouterr().err
