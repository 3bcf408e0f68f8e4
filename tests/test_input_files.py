"""Files that people give are read whole, or refused by name before their bytes are."""

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
