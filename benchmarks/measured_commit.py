"""Where a figure comes from, for the record beside it."""

import shutil
import subprocess
from pathlib import Path


def commit() -> str:
    """The commit measured, marked if files were changed; "unknown" where it is no repository."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    if shutil.which("git") is None:
        return "unknown"
    described = subprocess.run(command, capture_output=True, text=True, check=False)
    return described.stdout.strip() if described.returncode == 0 else "unknown"
