"""Child process of `test_benchmarks_smoke.py`: imports scripts and asks each for its help.

    python tests/script_smoke.py FOLDER…

Prints a JSON object: path of each script → an empty string, or the traceback of what went wrong.
All folders go through one process, so that jax and numba are imported once.
"""

import contextlib
import importlib
import io
import json
import sys
import traceback
from pathlib import Path

BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SyntaxError,
    SystemExit,
    TypeError,
    ValueError,
)
"""What a script that no longer fits the package raises; anything else ends this process."""


def asked_for_help(path: Path) -> None:
    """Import one script and, if it has a `main`, call it with `--help`, which must exit with 0."""
    module = importlib.import_module(path.stem)
    assert Path(str(module.__file__)).resolve() == path.resolve(), f"imported {module.__file__}"
    if not hasattr(module, "main"):
        return
    # asked before `main` is called: one that ignores its arguments would compute for minutes
    assert "argparse" in path.read_text(encoding="utf-8"), "main() reads no arguments"
    printed, sys.argv, code = io.StringIO(), [path.name, "--help"], -1
    try:
        with contextlib.redirect_stdout(printed):
            module.main()
    except SystemExit as left:
        code = left.code or 0
    assert code != -1, "--help is not understood: main() ran on"
    assert code == 0, f"--help exits with {code}"
    assert "usage:" in printed.getvalue()


def tried(folder: Path) -> dict[str, str]:
    """What became of every script of a folder; its modules are forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    found = {}
    for path in sorted(folder.glob("*.py")):
        try:
            asked_for_help(path)
        except BROKEN:
            found[str(path)] = traceback.format_exc(limit=-2)
        else:
            found[str(path)] = ""
    sys.path.remove(str(folder))
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(folder)):
            del sys.modules[name]
    return found


if __name__ == "__main__":
    results = {path: words for name in sys.argv[1:] for path, words in tried(Path(name)).items()}
    json.dump(results, sys.stdout)
