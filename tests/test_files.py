"""A reader never meets half a file, whatever happens to the writer."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corporeal.errors import OutputError
from corporeal.runtime.files import (
    atomic_folder,
    atomic_write,
    file_sha256,
    make_folder,
    require_room,
    require_writable,
    write_bytes,
)


def test_content_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a.bin", b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]
    assert (tmp_path / "a.bin").read_bytes() == b"new"


def test_temporary_has_the_same_folder_and_suffix(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "film.mp4") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".mp4"
        assert not (tmp_path / "film.mp4").exists()
        temporary.write_bytes(b"x")
    assert (tmp_path / "film.mp4").exists()


def test_error_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")

    def fail_half_way() -> None:
        with atomic_write(target) as temporary:
            temporary.write_bytes(b"half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_half_way()
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]
    assert target.read_bytes() == b"old"


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_bytes(tmp_path / "a.bin", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "a.bin").stat().st_mode & 0o777 == 0o644


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "link.bin").symlink_to("real.bin")
    write_bytes(tmp_path / "link.bin", b"new")
    assert (tmp_path / "link.bin").is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"new"


def test_full_disk_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    """The system's ENOSPC, raised from inside the block as `write` would."""
    with pytest.raises(OutputError, match="disk is full") as caught, atomic_write(tmp_path / "a"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.exit_code == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs POSIX file-size limits")
def test_file_size_limit_of_the_process(tmp_path: Path) -> None:
    """A real refusal by the kernel in the middle of writing: the limit is 64 kB, the file 1 MB."""
    code = (
        "import resource, signal, sys\n"
        "from corporeal.errors import OutputError\n"
        "from corporeal.runtime.files import write_bytes\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "try:\n"
        "    write_bytes(sys.argv[1], bytes(1 << 20))\n"
        "except OutputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.bin")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "larger than" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_other_files_errors_pass_through(tmp_path: Path) -> None:
    """A missing input read inside the block is not the output's fault."""
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "a.bin"):
        (tmp_path / "missing.bin").read_bytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere/a.bin", "does not exist. Create it"),
        ("file/a.bin", "is not a folder"),
        ("folder", "is a folder. Give a file name"),
        ("n" * 300, "too long"),
        ("/dev/null", "not a plain file"),
    ],
)
def test_refusals_say_what_to_do(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match=words):
        require_writable(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_unwritable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="may not write there"):
        write_bytes(tmp_path / "a.bin", b"")


@pytest.mark.parametrize("name", ["../escaped.bin", "/etc/escaped.bin", "sub/../../escaped.bin"])
def test_names_from_data_stay_inside(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with pytest.raises(OutputError, match="leads out of the folder"):
        write_bytes(home / name, b"", inside=home)
    assert list(tmp_path.rglob("*.bin")) == []


def test_make_folder(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b").is_dir()
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="a file has that name"):
        make_folder(tmp_path / "file")


def test_sha256(tmp_path: Path) -> None:
    """FIPS 180-2's example: SHA-256 of "abc"."""
    (tmp_path / "abc").write_bytes(b"abc")
    assert file_sha256(tmp_path / "abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_killed_writer_leaves_no_half_result_and_the_next_cleans_up(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    code = (
        "import sys, time\n"
        "from corporeal.runtime.files import atomic_write\n"
        "with atomic_write(sys.argv[1]) as temporary:\n"
        "    temporary.write_bytes(b'half')\n"
        "    print('written', flush=True)\n"
        "    time.sleep(60)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"written\n"
    writer.kill()
    writer.communicate()
    assert target.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2, "the killed run's hidden file"
    write_bytes(target, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_a_running_writer_is_left_alone(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.bin") as first:
        first.write_bytes(b"first")
        write_bytes(tmp_path / "a.bin", b"second")
        assert first.exists()
    assert (tmp_path / "a.bin").read_bytes() == b"first"


def test_another_machines_leftover_goes_when_it_is_old(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.bin") as temporary:
        machine = temporary.name.split("-")[2]
        foreign = temporary.with_name(temporary.name.replace(machine, "0" * 8))
        foreign.write_bytes(b"")
    write_bytes(tmp_path / "a.bin", b"")
    assert foreign.exists()
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(foreign, (long_ago, long_ago))
    write_bytes(tmp_path / "a.bin", b"")
    assert not foreign.exists()


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "deep" / "a") as hidden:
        (hidden / "inner").mkdir()
        (hidden / "inner" / "x").write_text("1")
        assert not (tmp_path / "deep" / "a").exists()
    assert (tmp_path / "deep" / "a" / "inner" / "x").read_text() == "1"
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["a"]


def test_a_folder_that_failed_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError), atomic_folder(tmp_path / "a") as hidden:
        (hidden / "missing" / "x").write_text("1")
    assert list(tmp_path.iterdir()) == []


def test_of_two_folders_the_first_wins(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "a") as slow:
        (slow / "x").write_text("slow")
        with atomic_folder(tmp_path / "a") as fast:
            (fast / "x").write_text("fast")
    assert (tmp_path / "a" / "x").read_text() == "fast"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_folder_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(OutputError), atomic_folder(tmp_path / "a"):
        pass
    assert (tmp_path / "a").read_text() == "mine"


def test_folders_of_killed_writers_are_removed(tmp_path: Path) -> None:
    code = (
        "import os, sys; from corporeal.runtime.files import atomic_folder\n"
        "with atomic_folder(sys.argv[1]) as hidden:\n"
        "    (hidden / 'x').write_text('half'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], check=False)
    assert [p.name[0] for p in tmp_path.iterdir()] == ["."]
    with atomic_folder(tmp_path / "a") as hidden:
        (hidden / "x").write_text("whole")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_file_that_the_disk_cannot_take_is_not_begun(tmp_path: Path):
    with pytest.raises(OutputError, match="disk is full"), atomic_write(tmp_path / "a") as place:
        require_room(place, 10**18)
    require_room(tmp_path / "a", 1)
    assert not list(tmp_path.iterdir())
