"""People of one's own: a human surface and skeleton of any size, names and axes moves; what is odd
about it is told."""

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.cli.main import main
from corporeal.formats.bvh_units import axis_rotation, unit_length
from corporeal.formats.native import read_animation
from corporeal.formats.off import write_off
from corporeal.formats.skel import write_skel
from corporeal.physics.volumetric_mesh.simulation_mesh import decimate
from corporeal.pipelines.custom_mesh import custom_body
from corporeal.pipelines.motion_source import motion_for_skeleton
from corporeal.pipelines.options import AnimateOptions

Capture = pytest.CaptureFixture[str]
BODY_JOINTS = 22
"""Without fingers."""
NAMES = (
    "Hips", "LeftUpLeg", "RightUpLeg", "Spine", "LeftLeg", "RightLeg", "Spine1", "LeftFoot",
    "RightFoot", "Spine2", "LeftToeBase", "RightToeBase", "Neck", "LeftShoulder", "RightShoulder",
    "Head", "LeftArm", "RightArm", "LeftForeArm", "RightForeArm", "LeftHand", "RightHand",
)  # fmt: skip
LINE = "animate --mesh male.off --skeleton male.skel --mesh-up +z --mesh-front -y --duration 2"


def person(size: float = 1.0, names: tuple[str, ...] = NAMES) -> tuple[Mesh, Skeleton]:
    """The default body of 1 500 vertices, `size` times as large, with a skeleton of other names."""
    template = load_default_body().template
    coarse = decimate(template.mesh, np.zeros(template.mesh.vertex_count, int), np.array([1500]))
    kept = np.asarray(template.mesh.vertices, np.float64)[coarse.vertex_indices]
    joints = np.asarray(template.skeleton.joints, np.float64)[:BODY_JOINTS]
    skeleton = Skeleton(names, template.skeleton.parents[:BODY_JOINTS], size * joints)
    return Mesh(size * kept, coarse.triangles), skeleton


def write_person(size: float) -> None:
    """male.off and male.skel, z up and facing −y."""
    mesh, skeleton = person(size)
    axes = axis_rotation("+z", "-y")
    write_off("male.off", replace(mesh, vertices=np.asarray(mesh.vertices) @ axes))
    write_skel("male.skel", replace(skeleton, joints=np.asarray(skeleton.joints) @ axes))


@pytest.mark.parametrize("size", [0.3, 10.0])
def test_people_of_any_size_move(
    size: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A doll and a giant, whose flanks no vertex of the average adult lies beside: hands go up and
    down by more than half of their stature."""
    monkeypatch.chdir(tmp_path)
    write_person(size)
    assert main(shlex.split(f"{LINE} --motion jumping-jacks --deformer lbs --out male.npz")) == 0
    animation = read_animation("male.npz")
    hand = np.asarray(animation.joints)[:, animation.template.skeleton.index("LeftHand"), 1]
    assert np.ptp(hand) > 0.5 * 1.7 * size


@pytest.mark.parametrize("names", [NAMES, load_default_body().template.skeleton.names[:22]])
def test_a_motion_does_not_depend_on_size(names: tuple[str, ...]) -> None:
    """The same person at a third and at ten times the size: the same turns of all joints, arms as
    far from the flank as before, and a way in proportion, where nobody flies and gravity plays no
    part. Rounding alone, 1e-9."""
    found = [
        motion_for_skeleton("shake-arms", AnimateOptions(), person(size, names)[1])[0]
        for size in (1.0, 0.3, 10.0)
    ]
    for size, other in zip((0.3, 10.0), found[1:], strict=True):
        turns = np.abs(other.joint_rotations - found[0].joint_rotations).max()
        way = np.abs(other.root_translation / size - found[0].root_translation).max()
        assert (turns, way) < (1e-9, 1e-9)


def test_a_unit_may_be_a_number_of_metres(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """20 units high, 0.09 m each; nothing, less and words that are no unit are refused."""
    monkeypatch.chdir(tmp_path)
    write_person(1 / 0.09)
    line = f"{LINE} --motion jumping-jacks --deformer lbs --out male.npz"
    assert main(shlex.split(f"{line} --mesh-unit 0.09")) == 0
    high = np.ptp(np.asarray(read_animation("male.npz").identity.rest_vertices)[:, 1])
    assert high == pytest.approx(np.ptp(np.asarray(person()[0].vertices)[:, 1]), rel=1e-5)
    capsys.readouterr()
    for wrong in ("0", "-1", "nan", "inf", "furlong", ""):
        assert main(shlex.split(f"{line} --mesh-unit '{wrong}'")) == 2
        assert "or a number of metres above 0" in capsys.readouterr().err


def test_numbers_as_text_are_units() -> None:
    assert unit_length("0.09") == 0.09
    assert unit_length(" 2.5e-3 ") == 2.5e-3
    assert unit_length("cm") == 0.01


def test_joints_in_one_place_are_told() -> None:
    """Two coincident joints, and one that lies outside of the skin: a note each, with names."""
    mesh, skeleton = person()
    joints = np.array(skeleton.joints)
    joints[skeleton.index("LeftHand")] = joints[skeleton.index("LeftForeArm")]
    joints[skeleton.index("Head"), 2] += 0.25
    notes = custom_body(mesh, replace(skeleton, joints=joints)).notes
    assert any("1 of 22 joints lie outside the skin (Head)" in note for note in notes)
    assert any("LeftForeArm and LeftHand lie in one place" in note for note in notes)
    assert not any("in one place" in note for note in custom_body(mesh, skeleton).notes)


def test_flesh_moves_over_joints_in_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A bone without length: all numbers are finite, and the console tells."""
    monkeypatch.chdir(tmp_path)
    mesh, skeleton = person()
    joints = np.array(skeleton.joints)
    joints[skeleton.index("Spine1")] = joints[skeleton.index("Spine")]
    write_off("male.off", mesh)
    write_skel("male.skel", replace(skeleton, joints=joints))
    line = "animate --mesh male.off --skeleton male.skel --motion shake-hips --duration 2"
    assert main(shlex.split(f"{line} --fps 10 --deformer projective --out male.npz")) == 0
    assert "Spine and Spine1 lie in one place" in capsys.readouterr().err
    assert np.isfinite(np.asarray(read_animation("male.npz").vertices)).all()
