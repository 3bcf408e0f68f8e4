"""Own files give everything back, and refuse everything that is not theirs."""

import io
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from small_body import small_animation, small_identity, small_motion, small_template

from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.repose import Repose
from corporeal.errors import FormatError, InputError
from corporeal.formats.native import (
    read_animation,
    read_body,
    read_motion,
    write_animation,
    write_body,
    write_motion,
)
from corporeal.formats.npz import open_npz, write_npz

MEASURES = {"stature": 1.7, "mass": 82.0}


def assert_same_template(found: object, expected: object) -> None:
    for path in (
        "mesh.vertices",
        "mesh.triangles",
        "mesh.quads",
        "mesh.uv",
        "mesh.uv_triangles",
        "mesh.mirror",
        "skeleton.joints",
        "weights.joint_indices",
        "weights.values",
        "part_labels",
    ):
        left, right = found, expected
        for name in path.split("."):
            left, right = getattr(left, name), getattr(right, name)
        assert np.array_equal(left, right), path  # pyright: ignore[reportArgumentType]


def test_body_round_trip(tmp_path: Path) -> None:
    template = small_template()
    identity = small_identity(template)
    write_body(tmp_path / "a.npz", Body(template, identity, MEASURES))
    back = read_body(tmp_path / "a.npz")
    assert_same_template(back.template, template)
    assert back.template.skeleton.names == template.skeleton.names
    assert back.template.skeleton.parents == template.skeleton.parents
    assert back.template.part_names == template.part_names
    assert np.array_equal(back.identity.rest_vertices, identity.rest_vertices)
    assert np.array_equal(back.identity.joints, identity.joints)
    assert set(back.identity.parameters) == {"weight", "local"}
    assert back.identity.parameters["local"].tolist() == [0.1, -0.2, 0.3]
    assert back.measurements == MEASURES


def test_a_sculpted_pose_comes_back(tmp_path: Path) -> None:
    """Flesh rests in it; a body that never had one has none."""
    template = small_template()
    vertices, joints = template.mesh.vertex_count, template.skeleton.joint_count
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    repose = Repose(
        rotations=np.stack([np.eye(3), quarter]),
        parents=np.array([-1, 0]),
        pivots=np.array([0, 1]),
        bone_indices=np.tile([0, 1], (vertices, 1)),
        bone_weights=np.tile([0.25, 0.75], (vertices, 1)),
        joint_bones=np.zeros(joints, np.int64),
    )
    for number, given in enumerate((repose, None)):
        path = tmp_path / f"{number}.npz"
        identity = small_identity(template)
        write_body(path, Body(replace(template, repose=given), identity, MEASURES))
        back = read_body(path).template.repose
        assert (back is None) == (given is None)
        for field in fields(Repose) if back is not None else ():
            np.testing.assert_array_equal(getattr(back, field.name), getattr(repose, field.name))


def test_motion_round_trip(tmp_path: Path) -> None:
    motion = small_motion(small_template())
    write_motion(tmp_path / "a.npz", motion)
    back = read_motion(tmp_path / "a.npz")
    assert (back.name, back.fps) == (motion.name, motion.fps)
    assert np.array_equal(back.joint_rotations, motion.joint_rotations)
    assert np.array_equal(back.root_translation, motion.root_translation)
    assert back.skeleton.names == motion.skeleton.names


def test_animation_round_trip_and_its_body(tmp_path: Path) -> None:
    offsets = np.random.default_rng(0).normal(size=(7, 72, 3)).astype(np.float32)
    animation = replace(small_animation(), pose_offsets=offsets)
    write_animation(tmp_path / "a.npz", animation, MEASURES)
    back = read_animation(tmp_path / "a.npz")
    assert back.deformer == "lbs"
    assert np.array_equal(back.vertices, np.asarray(animation.vertices, np.float32))
    assert np.array_equal(back.world_from_joint, animation.world_from_joint)
    assert np.array_equal(np.asarray(back.pose_offsets), offsets)
    assert back.dynamic_offsets is None
    body = read_body(tmp_path / "a.npz")
    assert np.array_equal(body.identity.rest_vertices, animation.identity.rest_vertices)
    assert body.measurements == MEASURES
    assert read_motion(tmp_path / "a.npz").name == "bend"


def test_animation_has_the_promised_arrays(tmp_path: Path) -> None:
    """What numpy alone sees, without pickles."""
    animation = small_animation()
    write_animation(tmp_path / "a.npz", animation, {})
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert file["vertices"].shape == (7, 72, 3)
        assert file["vertices"].dtype == np.float32
        assert file["faces"].shape == (128, 3)
        assert file["joints"].shape == (7, 4, 3)
        assert float(file["fps"]) == 24.0
        assert all(not file[name].dtype.hasobject for name in file.files)


def test_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    body = Body(small_template(), small_identity(small_template()), MEASURES)
    write_body(tmp_path / "a.npz", body)
    write_body(tmp_path / "b.npz", body)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_batch_of_people_is_refused(tmp_path: Path) -> None:
    template = small_template()
    one = small_identity(template)
    batch = Identity(np.stack([one.rest_vertices] * 2), np.stack([one.joints] * 2), {})
    with pytest.raises(InputError, match="holds one person"):
        write_body(tmp_path / "a.npz", Body(template, batch, {}))


@pytest.fixture
def good(tmp_path: Path) -> Path:
    template = small_template()
    write_body(tmp_path / "good.npz", Body(template, small_identity(template), MEASURES))
    return tmp_path / "good.npz"


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


Change = Callable[[dict[str, np.ndarray]], object]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.pop("rest_vertices"), "has no array 'rest_vertices'"),
        (lambda a: a.update(rest_vertices=a["rest_vertices"][:-1]), "expected floating-point"),
        (lambda a: a.update(rest_vertices=a["rest_vertices"].astype(int)), "is int64"),
        (lambda a: a.update(rest_joints=a["rest_joints"][:, :2]), "expected floating-point"),
        (lambda a: a.update(rest_joints=a["rest_joints"] * np.nan), "not finite"),
        (
            lambda a: a.update(rest_vertices=np.where(a["rest_vertices"] > 1, np.inf, 0)),
            "not finite",
        ),
        (lambda a: a.update(joint_parents=a["joint_parents"] * 0), "has parent 0"),
        (lambda a: a.update(faces=a["faces"] + 70), "hold indices"),
        (lambda a: a.update(format=np.asarray("corporeal-cake")), "expected corporeal-body"),
        (lambda a: a.pop("format"), "no corporeal file"),
        (lambda a: a.update(format_version=np.asarray(99)), "newer corporeal"),
        (lambda a: a.update({"template/weights": a["template/weights"] * 2}), "sum to 2"),
        (lambda a: a.update({"measurement/mass": np.asarray("heavy")}), "expected floating-point"),
    ],
)
def test_wrong_content_is_named(good: Path, change: Change, words: str) -> None:
    arrays = arrays_of(good)
    change(arrays)
    np.savez(good, **arrays)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FormatError, match=words) as caught:
        read_body(good)
    assert "good.npz" in str(caught.value)


def test_every_truncation_is_named(good: Path) -> None:
    """Cut at 40 places; none may be read, none may raise anything but the named error."""
    data = good.read_bytes()
    for length in np.linspace(0, len(data) - 1, 40).astype(int):
        good.write_bytes(data[:length])
        with pytest.raises(FormatError):
            read_body(good)


def test_flipped_bytes_never_escape_the_family(good: Path) -> None:
    """Damage anywhere is either harmless to what is read, or refused by name."""
    data = good.read_bytes()
    body = read_body(good)
    for position in np.random.default_rng(5).integers(0, len(data), 150):
        damaged = bytearray(data)
        damaged[position] ^= 0xFF
        good.write_bytes(damaged)
        try:
            found = read_body(good)
        except FormatError:
            continue
        assert np.array_equal(found.identity.rest_vertices, body.identity.rest_vertices)


class Bomb:
    """Leaves a file behind if anything unpickles it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.path, "w")


def test_pickles_are_refused_by_name_and_never_loaded(tmp_path: Path, good: Path) -> None:
    trap = tmp_path / "trap"
    arrays = arrays_of(good)
    payload = np.empty((), object)
    payload[()] = Bomb(str(trap))
    np.savez(good, evil=payload, **arrays)  # pyright: ignore[reportArgumentType]
    with pytest.raises(FormatError, match=r"'evil\.npy' holds pickled Python objects"):
        read_body(good)
    assert not trap.exists()
    pickle.loads(pickle.dumps(Bomb(str(trap)))).close()  # noqa: S301
    assert trap.exists(), "the trap works"


def npy_header(shape: str, dtype: str = "<f8") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def archive(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path


def test_declared_sizes_are_checked_before_memory_is_taken(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", {"vertices.npy": npy_header("(10**9, 10**9, 3)")})
    with pytest.raises(FormatError):
        read_body(path)
    path = archive(tmp_path / "b.npz", {"vertices.npy": npy_header("(1000000000, 1000, 3)")})
    with pytest.raises(FormatError, match="24000000000000 bytes, and has 0"):
        read_body(path)


def test_zip_bomb(tmp_path: Path) -> None:
    """A megabyte that unpacks past the limit is not unpacked."""
    content = npy_header("(2500000,)") + bytes(20_000_000)
    path = archive(tmp_path / "a.npz", {"zeros.npy": content})
    assert path.stat().st_size < 100_000
    with (
        pytest.raises(FormatError, match="made to fill the memory"),
        open_npz(path, max_bytes=10**6),
    ):
        pass


@pytest.mark.parametrize(
    "entries",
    [
        {"readme.txt": b"hello"},
        {"a.npy": b"not an array"},
        {"a.npy": b""},
        {"a.npy": npy_header("(3,)", "<f8")[:40]},
        {"a.npy": npy_header("(3,)", "O")},
        {"a.npy": npy_header("(3,)", "<zz")},
        {"a.npy": npy_header("(-3,)")},
        {"a.npy": npy_header("'x'")},
    ],
)
def test_garbage_entries(tmp_path: Path, entries: dict[str, bytes]) -> None:
    with pytest.raises(FormatError):
        read_body(archive(tmp_path / "a.npz", entries))


@pytest.mark.parametrize("data", [b"", b"\0" * 1000, bytes(range(256)), b"PK\x05\x06" + bytes(18)])
def test_files_that_are_no_archives(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(FormatError):
        read_body(tmp_path / "a.npz")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_body(tmp_path / "a.npz")
    with pytest.raises(InputError, match="cannot read"):
        read_body(tmp_path)


def test_objects_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Python objects"):
        write_npz(tmp_path / "a.npz", {"a": np.array([None])})
    assert list(tmp_path.iterdir()) == []


def test_numpy_reads_a_stream_of_it(good: Path) -> None:
    """The archive is an ordinary .npz."""
    assert "rest_vertices" in np.load(io.BytesIO(good.read_bytes()), allow_pickle=False).files
