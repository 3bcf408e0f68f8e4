"""SMPL's files: official layouts load unmodified and without running code; `smplx` loads ours."""

import os
import pickle
import sys
import types
from dataclasses import replace
from pathlib import Path

import linear_models
import mutants
import numpy as np
import pytest
import scipy.sparse

from corporeal.body.linear_model import LinearBodyModel
from corporeal.errors import CorporealError, FormatError, InputError
from corporeal.formats.pickled import read_pickled_arrays
from corporeal.formats.smpl import read_smpl, write_smpl


def assert_same(came: LinearBodyModel, expected: LinearBodyModel) -> None:
    np.testing.assert_array_equal(came.triangles, expected.triangles)
    np.testing.assert_array_equal(came.mean_vertices, expected.mean_vertices)
    np.testing.assert_array_equal(came.shape_offsets, expected.shape_offsets)
    np.testing.assert_array_equal(came.pose_offsets, expected.pose_offsets)
    np.testing.assert_array_equal(came.joint_regressor, expected.joint_regressor)
    np.testing.assert_allclose(came.weights.dense(), expected.weights.dense(), atol=1e-15)
    assert came.parents == expected.parents
    assert came.blending == expected.blending


@pytest.mark.parametrize("suffix", [".npz", ".pkl"])
@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_round_trip(tmp_path: Path, suffix: str, blending: str) -> None:
    """What is written comes back to the last bit (weights are made to sum to one)."""
    model = linear_models.random_model(vertex_count=30, blending=blending)  # pyright: ignore
    write_smpl(tmp_path / f"model{suffix}", model)
    assert_same(read_smpl(tmp_path / f"model{suffix}"), model)


def test_dual_quaternions_have_the_files_own_name(tmp_path: Path) -> None:
    """`bs_style` says `dqbs`, as SMPL does, and comes back as `dqs`; it knows no other name."""
    path = tmp_path / "model.npz"
    write_smpl(path, linear_models.random_model(vertex_count=30, blending="dqs"))
    with np.load(path) as file:
        kept = dict(file)
    assert str(kept["bs_style"]) == "dqbs"
    assert read_smpl(path).blending == "dqs"
    np.savez(path, **{**kept, "bs_style": np.array("dqs")})
    with pytest.raises(FormatError, match="bs_style is 'dqs'; expected one of lbs, dqbs"):
        read_smpl(path)


def official_keys(model: LinearBodyModel) -> dict:
    """The layout of SMPL 1.0's `.pkl`, with garbage in the tree's first place."""
    tree = np.array([model.parents, range(24)], np.int64)
    tree[0, 0] = 2**32 - 1
    return {
        "v_template": model.mean_vertices,
        "shapedirs": np.moveaxis(model.shape_offsets, 0, -1).copy(),
        "posedirs": np.asfortranarray(np.moveaxis(model.pose_offsets, 0, -1)),
        "J_regressor": scipy.sparse.csc_matrix(model.joint_regressor),
        "weights": model.weights.dense(),
        "kintree_table": tree.astype(np.uint32),
        "f": model.triangles.astype(np.uint32),
        "bs_style": "lbs",
        "bs_type": "lrotmin",
        "J": model.joint_regressor @ model.mean_vertices,
        "pose_training_info": {"lambda": 1},
    }


def pickled_by_python_2(keys: dict) -> bytes:
    """Protocol 2 with the module names of old packages, as the official files have them."""
    chumpy, ch = types.ModuleType("chumpy"), types.ModuleType("chumpy.ch")

    class Ch:
        def __init__(self, x: np.ndarray) -> None:
            self.x = x

    Ch.__module__, Ch.__qualname__ = "chumpy.ch", "Ch"
    ch.Ch = Ch  # pyright: ignore[reportAttributeAccessIssue]
    sys.modules.update({"chumpy": chumpy, "chumpy.ch": ch})
    try:
        raw = pickle.dumps({**keys, "shapedirs": Ch(keys["shapedirs"])}, protocol=2)
    finally:
        del sys.modules["chumpy"], sys.modules["chumpy.ch"]
    raw = raw.replace(b"cscipy.sparse._csc\n", b"cscipy.sparse.csc\n")
    raw = raw.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
    return raw.replace(b"ccopyreg\n", b"ccopy_reg\n")


def test_official_pickle(tmp_path: Path) -> None:
    """chumpy arrays, sparse regressor, Fortran order, garbage root: all without those packages."""
    model = linear_models.random_model(vertex_count=30)
    path = tmp_path / "SMPL_NEUTRAL.pkl"
    path.write_bytes(pickled_by_python_2(official_keys(model)))
    assert b"chumpy" in path.read_bytes()
    assert_same(read_smpl(path), model)


def test_official_smplh_archive(tmp_path: Path) -> None:
    """SMPL-H's `.npz`: 52 joints, object arrays passed over, other keys left out."""
    random, joints = np.random.default_rng(0), 52
    parents = [-1, *range(joints - 1)]
    np.savez(
        tmp_path / "model.npz",
        v_template=random.normal(size=(40, 3)),
        shapedirs=random.normal(size=(40, 3, 16)),
        posedirs=random.normal(size=(40, 3, 9 * 51)),
        J_regressor=random.dirichlet(np.ones(40), joints),
        weights=random.dirichlet(np.full(joints, 0.05), 40),
        kintree_table=np.array([parents, range(joints)]),
        f=random.integers(0, 40, (60, 3)).astype(np.uint32),
        bs_style=np.array("lbs"),
        joint2num=np.array({"pelvis": 0}, dtype=object),
        hands_meanl=np.zeros(45),
    )
    model = read_smpl(tmp_path / "model.npz")
    assert model.joint_count == 52
    assert model.shape_count == 16
    assert model.joint_names[22] == "left_index1"


class _Attack:
    def __reduce__(self) -> tuple:
        return os.mkdir, ("attacked",)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_pickled_code_is_not_run(
    tmp_path: Path, protocol: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that would make a folder is refused by the name it wants, and makes none."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "SMPL_NEUTRAL.pkl"
    path.write_bytes(pickle.dumps({"v_template": _Attack()}, protocol=protocol))
    with pytest.raises(FormatError, match=r"posix\.mkdir, which is none of the names allowed"):
        read_smpl(path)
    assert not (tmp_path / "attacked").exists()


def test_stand_ins_cannot_be_changed(tmp_path: Path) -> None:
    """BUILD on a class would set its attributes for the whole process: refused."""
    attack = b"cnumpy\ndtype\n(N}Vnumpy\nI1\nstb."
    (tmp_path / "a.pkl").write_bytes(attack)
    with pytest.raises(FormatError, match="not a pickle of plain arrays"):
        read_pickled_arrays(tmp_path / "a.pkl")
    model = linear_models.random_model(vertex_count=8)
    write_smpl(tmp_path / "b.pkl", model)
    assert_same(read_smpl(tmp_path / "b.pkl"), model)


def test_array_larger_than_its_bytes(tmp_path: Path) -> None:
    """A declared shape of 10¹² numbers allocates nothing."""
    raw = pickle.dumps({"v_template": np.zeros((1, 3))}, protocol=2)
    shape = pickle.dumps((1, 3), protocol=2)[2:-1].removesuffix(b"q\x00")
    assert shape in raw
    huge = pickle.dumps((10**12, 3), protocol=2)[2:-1].removesuffix(b"q\x00")
    (tmp_path / "a.pkl").write_bytes(raw.replace(shape, huge))
    with pytest.raises(FormatError, match="with 24 bytes instead of 24000000000000"):
        read_pickled_arrays(tmp_path / "a.pkl")


def test_other_models_are_refused_by_name(tmp_path: Path) -> None:
    """STAR's features, SMPL-X's joints, missing keys, wrong shapes, unknown suffix."""
    keys = official_keys(linear_models.random_model(vertex_count=30))
    keys["J_regressor"] = keys["J_regressor"].toarray()
    keys.pop("pose_training_info")

    def refused(message: str, **changed: np.ndarray | None) -> None:
        arrays = {k: v for k, v in {**keys, **changed}.items() if v is not None}
        np.savez(tmp_path / "m.npz", **arrays)
        with pytest.raises(InputError, match=message):
            read_smpl(tmp_path / "m.npz")

    refused("STAR", posedirs=np.zeros((30, 3, 93)))
    refused("SMPL-X", weights=np.full((30, 55), 1 / 55))
    refused("no numbers 'weights'", weights=None)
    refused(r"f has the shape \(60, 4\)", f=np.zeros((60, 4), int))
    refused("bs_style is 'fancy'", bs_style=np.array("fancy"))
    refused("not finite", v_template=np.full((30, 3), np.nan))
    refused("0 to 29|out of range|expected", f=np.full((60, 3), 30))
    with pytest.raises(InputError, match=r"expected \.npz or \.pkl"):
        read_smpl(tmp_path / "model.txt")


def test_damaged_pickles_are_refused_by_name(tmp_path: Path) -> None:
    """Five hundred damaged copies: read, or refused as a `CorporealError`, nothing else."""
    model = linear_models.random_model(vertex_count=6, shape_count=2)
    content = pickled_by_python_2(official_keys(model))
    path = tmp_path / "mutant.pkl"
    refused = 0
    for mutant in mutants.mutants(content, 500, seed=11):
        path.write_bytes(mutant)
        try:
            read_smpl(path)
        except CorporealError:
            refused += 1
    assert refused > 100


def test_smplx_loads_ours(tmp_path: Path) -> None:
    """`smplx.SMPL` on our `.pkl` agrees on 100 random people and poses: vertices and 24 joints."""
    torch = pytest.importorskip("torch", reason="peer test: needs torch and smplx")
    smplx = pytest.importorskip("smplx", reason="peer test: needs torch and smplx")
    from corporeal.models.smpl.model import SmplModel

    data = linear_models.random_model(vertex_count=6890)
    write_smpl(tmp_path / "SMPL_NEUTRAL.pkl", data)
    peer = smplx.SMPL(str(tmp_path / "SMPL_NEUTRAL.pkl"), dtype=torch.float64, batch_size=100)
    random = np.random.default_rng(8)
    given = {
        "betas": random.normal(size=(100, 10)),
        "body_pose": random.normal(0, 0.6, (100, 69)),
        "global_orient": random.normal(size=(100, 3)),
        "transl": random.normal(size=(100, 3)),
    }
    expected = peer(**{name: torch.tensor(value) for name, value in given.items()})
    came = SmplModel(read_smpl(tmp_path / "SMPL_NEUTRAL.pkl"))(**given)
    # smplx adds 1e−8 to every angle: 24 joints, a metre away
    np.testing.assert_allclose(came.vertices, expected.vertices.detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(came.joints, expected.joints.detach().numpy()[:, :24], atol=1e-6)


def test_same_bytes_for_the_same_model(tmp_path: Path) -> None:
    """Writing is deterministic."""
    model = linear_models.random_model(vertex_count=9)
    for suffix in (".npz", ".pkl"):
        write_smpl(tmp_path / f"a{suffix}", model)
        write_smpl(tmp_path / f"b{suffix}", replace(model))
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
