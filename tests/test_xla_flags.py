"""Flags for the compiler behind JAX: only those that it has."""

import os
import subprocess
import sys
from pathlib import Path

from xla_flags import flags_in, known_flags


def test_a_reserved_name_is_no_flag(tmp_path: Path):
    """With one flag that jaxlib 0.12 had given up, no test of the suite started."""
    library = tmp_path / "a.so"
    library.write_bytes(b"\x01\0kept\0...R\x04goneR\x19...\0kept_long\0")
    assert flags_in(library, ["kept", "gone", "long"]) == ["kept"]


def test_the_compiler_starts_with_the_flags_of_the_tests():
    flags = " ".join(f"--{name}=false" for name in known_flags(["xla_cpu_use_fusion_emitters"]))
    command = [sys.executable, "-c", "import jax; jax.devices('cpu')"]
    subprocess.run(command, check=True, env={**os.environ, "XLA_FLAGS": flags})
