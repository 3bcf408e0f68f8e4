"""Record the numbers of a checkout: every case of `cases.py`, in one fresh process.

    python benchmarks/behaviour/record.py --source OLD/src --inputs INPUTS --out old.npz
    python benchmarks/behaviour/record.py --source NEW/src --inputs INPUTS --out new.npz
    python benchmarks/behaviour/record.py --source OLD/src --inputs INPUTS --perturb 1 --out p1.npz

The folder of inputs is made by the first run that names it, with that run's checkout. `--perturb`
moves every input by one unit in the last place, up or down by a random seed, and records the
chaotic cases alone. The record is an `.npz` file: `index` is a JSON
document, the other arrays are stored once each under their hash. Arrays over 0.8 MB are kept as
evenly spaced rows, beside the hash of the whole.
"""

import argparse
import contextlib
import fnmatch
import hashlib
import io
import json
import math
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from cases import NUMBERS, Case, all_cases
from inputs import make_inputs, perturb_inputs
from outputs import read_outputs

TABLE = Path(__file__).with_name("rename_table.json")
_LARGEST = 800_000  # bytes of an array that are kept
_THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--source", type=Path, required=True, help="folder that holds corporeal/")
    parser.add_argument("--inputs", type=Path, required=True, help="folder of inputs, or where to")
    parser.add_argument("--out", type=Path, required=True, help="record to write (.npz)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--perturb", type=int, default=0, help="random seed; 0: not at all")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of names of cases")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        _record(arguments)
        return
    environment = {**os.environ, **dict.fromkeys(_THREADS, str(arguments.threads))}
    environment |= {"PYTHONPATH": str(arguments.source.resolve()), "JAX_PLATFORMS": "cpu"}
    environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    command = [sys.executable, __file__, "--child", *sys.argv[1:]]
    raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)


def _record(arguments: argparse.Namespace) -> None:
    """In the fresh process: make the inputs if need be, run the cases, write the record."""
    import corporeal

    home = Path(corporeal.__file__).resolve()
    if not home.is_relative_to(arguments.source.resolve()):
        raise SystemExit(f"imported {home}; expected the package under {arguments.source}.")
    inputs, out = arguments.inputs.resolve(), arguments.out.resolve()
    if not inputs.exists():
        _made_inputs(inputs)
    with tempfile.TemporaryDirectory() as scratch:
        numbers = dict(NUMBERS)
        if arguments.perturb:
            moved = Path(scratch) / "inputs"
            numbers = perturb_inputs(inputs, moved, arguments.perturb)
            inputs = moved
        asked = [
            case
            for case in all_cases()
            if any(fnmatch.fnmatch(case.name, pattern) for pattern in arguments.only)
        ]
        if arguments.perturb:
            asked = [c for c in asked if c.chaotic]
        blobs: dict[str, np.ndarray] = {}
        cases = {}
        for case in asked:
            cases[case.name] = recorded(case, inputs, numbers, Path(scratch) / "case", blobs)
            seconds, code = cases[case.name]["seconds"], cases[case.name]["exit_code"]
            print(f"{seconds:7.2f} s  exit {code}  {case.name}", flush=True)
    index = {"about": _about(arguments), "cases": cases}
    write_record(out, index, blobs)
    failed = [name for name, case in cases.items() if case["exit_code"]]
    print(f"{len(cases)} cases, {len(failed)} failed {failed}; written: {out}")


def _made_inputs(folder: Path) -> None:
    """All of them or none: they are made beside their place and moved there."""
    hidden = folder.with_name(f".{folder.name}.making")
    shutil.rmtree(hidden, ignore_errors=True)
    hidden.mkdir(parents=True)

    def run(line: str) -> None:
        code, _, said = called(line)
        if code:
            raise SystemExit(f"corporeal {line}: exit code {code}\n{said}")

    with contextlib.chdir(hidden):
        make_inputs(hidden, run, dict(NUMBERS))
    hidden.rename(folder)


def recorded(
    case: Case, inputs: Path, numbers: dict[str, float], folder: Path, blobs: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Run a case in an empty folder and describe what it left; arrays go into `blobs`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = {name: repr(value) for name, value in numbers.items()} | {"in": str(inputs)}
    line = case.line.format(**words)
    started = time.perf_counter()
    with contextlib.chdir(folder):
        code, spoken, said = called(line)
        if code == 2 and (renamed := translated(line)) != line:
            code, spoken, said = called(renamed)
    described: dict[str, Any] = {
        "exit_code": code,
        "chaotic": case.chaotic,
        "spread_of": case.spread_of or case.name,
        "seconds": round(time.perf_counter() - started, 3),
    }
    if code:
        return described | {"arrays": {}, "values": {}, "error": said[-2000:]}
    arrays, values = read_outputs(folder, spoken)
    described["arrays"] = {name: kept(array, blobs) for name, array in arrays.items()}
    return described | {"values": values}


def called(line: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command line, run in this process."""
    from corporeal.cli.main import main as corporeal_main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = corporeal_main(shlex.split(line))
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else 2
    return code, out.getvalue(), err.getvalue()


def translated(line: str) -> str:
    """The line in the words of a later commit, by the committed table."""
    for old, new in json.loads(TABLE.read_text())["arguments"].items():
        line = line.replace(old, new)
    return line


def kept(array: np.ndarray, blobs: dict[str, np.ndarray]) -> dict[str, Any]:
    """An array's description; its rows (along the last axis), or some of them, are put among the
    blobs. Their step is odd and no multiple of 3 or 5, so that all frames and corners appear."""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 and array.size else array
    step = -(-array.nbytes // _LARGEST) if array.ndim else 1
    while step > 1 and math.gcd(step, 30) > 1:
        step += 1
    some = np.ascontiguousarray(rows[::step]) if step > 1 else rows
    name = digest(some)
    blobs[name] = some
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "sha256": digest(array),
        "rows": name,
        "every": step,
    }


def digest(array: np.ndarray) -> str:
    """SHA-256 of type, shape and bytes."""
    found = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
    found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def write_record(path: Path, index: dict[str, Any], blobs: dict[str, np.ndarray]) -> None:
    """The index and the arrays as one compressed file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.asarray(json.dumps(index))
    np.savez_compressed(path, allow_pickle=False, index=text, **blobs)


def _about(arguments: argparse.Namespace) -> dict[str, Any]:
    command = ["git", "-C", str(arguments.source), "rev-parse", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "commit": commit,
        "threads": arguments.threads,
        "perturbed_by_seed": arguments.perturb,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "load": os.getloadavg(),
    }


if __name__ == "__main__":
    main()
