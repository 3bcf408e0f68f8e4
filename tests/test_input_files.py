"""Files that people give are read whole, or refused by name before their bytes are."""

import tracemalloc
from pathlib import Path

import pytest

from corporeal.errors import FormatError, InputError
from corporeal.runtime.input_files import read_input, reading


def test_the_bytes_come_back_as_they_are(tmp_path):
    path = tmp_path / "some.bin"
    path.write_bytes(bytes(range(256)))
    assert read_input(path, at_most=256) == bytes(range(256))


def test_a_file_over_the_limit_is_refused_with_both_sizes(tmp_path):
    path = tmp_path / "some.bin"
    path.write_bytes(b"12345")
    with pytest.raises(FormatError, match="5 bytes; at most 4 are read"):
        read_input(path, at_most=4)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*absent\.bin"):
        read_input(tmp_path / "absent.bin")
    with pytest.raises(InputError, match="cannot read"):
        read_input(tmp_path)


def test_other_errors_pass_through(tmp_path):
    with pytest.raises(ZeroDivisionError), reading(tmp_path):
        _ = 1 / 0


def test_a_small_file_costs_what_it_holds_and_not_the_limit(tmp_path):
    (tmp_path / "small").write_bytes(b"1 2 3")
    tracemalloc.start()
    try:
        read_input(tmp_path / "small", at_most=10**9)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 10**7


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs files that lie")
def test_a_file_that_hides_its_size_is_read_whole_and_bounded():
    assert len(read_input("/proc/self/stat")) > 10
    with pytest.raises(FormatError, match="more than 10 bytes"):
        read_input("/proc/self/stat", at_most=10)
