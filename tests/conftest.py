"""Turns every annotation of the package into a run-time check, for all tests."""

from jaxtyping import install_import_hook

_hook = install_import_hook("corporeal", "beartype.beartype")
