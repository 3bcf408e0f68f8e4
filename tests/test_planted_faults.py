"""The planted faults still have their places; `tests/planted_faults.py` plants them."""

from pathlib import Path

import pytest
from planted_faults import FAULTS, ROOT, Fault, place_of


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_stands_once_and_names_tests_that_are_there(fault: Fault):
    assert place_of(fault, ROOT / "src" / "corporeal").is_file()
    for test in fault.tests:
        name, _, function = test.partition("::")
        assert f"def {function}" in Path(ROOT / "tests" / name).read_text(encoding="utf-8")


def test_there_are_thirty_or_more():
    assert len({fault.name for fault in FAULTS}) >= 30
