"""Turns every annotation of the package into a run-time check, for all tests."""

import public_data
import pytest
from jaxtyping import install_import_hook

_hook = install_import_hook("corporeal", "beartype.beartype")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, before any fixture is made, what needs public data that is not there."""
    for mark in item.iter_markers("data"):
        for name in mark.args:
            reason = public_data.missing(name)
            if reason is not None:
                pytest.skip(reason)
