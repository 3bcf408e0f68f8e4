"""The documentation site from a bare clone, what its pages have a reader type, and an archive.

    python benchmarks/documentation.py build                   # clone, one command, links
    python benchmarks/documentation.py pages                   # code blocks and figures by kind
    python benchmarks/documentation.py archive takes.zarr      # packed, unpacked, checked

Every part writes its own key of benchmarks/results/documentation.json. The build is that of the
last commit, not of the working copy.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "documentation.json"
BUILT = re.compile(r"(\d+) pages, (\d+) MB in .*, (\d+) dead links")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=("build", "pages", "archive"))
    parser.add_argument("store", type=Path, nargs="?", help="captured movements to archive")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    from measured_commit import commit

    if given.part == "archive":
        made = archive(given.store)
    else:
        made = {"build": build, "pages": pages}[given.part]()
    made |= {
        "commit": commit(),
        "command": f"python benchmarks/documentation.py {' '.join(sys.argv[1:])}",
    }
    print(json.dumps(made, indent=1))
    known = json.loads(given.out.read_text()) if given.out.is_file() else {}
    given.out.write_text(json.dumps(known | {given.part: made}, indent=1, sort_keys=True) + "\n")


def build() -> dict[str, object]:
    """Clone, build, count pages and dead links; Sphinx takes a warning as an error."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "tools/build_site.py"],
            cwd=clone,
            env=os.environ | {"PYTHONPATH": str(clone / "src")},
            capture_output=True,
            text=True,
        )
        clock = time.perf_counter() - begun
        found = BUILT.search(done.stdout)
        assert found is not None, done.stdout + done.stderr
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "pages": int(found[1]),
        "megabytes": int(found[2]),
        "dead_links": int(found[3]),
        "status": done.returncode,
        "processor_s": round(used.ru_utime + used.ru_stime, 1),
        "clock_s": round(clock, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def pages() -> dict[str, object]:
    """Code blocks by language, and figures that are held to a result or not."""
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
    from check_figures import figures_of, untied
    from check_figures import pages as all_pages
    from rehearsal import NOT_REHEARSED
    from test_docs import PAGES, blocks
    from test_typed_lines import LEFT, typed

    lines = [line for page in PAGES for line in typed(page)]
    own = [line for line in lines if line.startswith("corporeal")]
    tried = [line for line in own if not any(part in line for part in NOT_REHEARSED)]
    return {
        "blocks": dict(Counter(language for page in PAGES for language, _ in blocks(page))),
        "typed_lines": len(lines),
        "typed_corporeal": len(own),
        "typed_corporeal_run_small": len(tried),
        "campaigns": len(LEFT),
        "tied": sum(len(list(figures_of(page))) for page in all_pages(ROOT)),
        "not_tied": sum(len(list(untied(page))) for page in all_pages(ROOT)),
    }


def archive(store: Path) -> dict[str, object]:
    """Pack a set, tell its checksums, join both in one file; unpack it elsewhere and check."""
    from corporeal.cli.main import main as corporeal
    from corporeal.runtime.files import file_sha256

    full = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        home, there = Path(folder) / "here", Path(folder) / "there"
        home.mkdir()
        packed = home / f"{store.stem}.packed.npz"
        assert corporeal(["dataset", "pack", str(store), "--out", str(packed), "--jobs", "1"]) == 0
        sums = {path.name: file_sha256(path) for path in sorted(home.iterdir())}
        text = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
        (home / "SHA256SUMS").write_text(text)
        whole = Path(folder) / "captures.tar"
        with tarfile.open(whole, "w") as tar:
            for path in sorted(home.iterdir()):
                tar.add(path, path.name)
        with tarfile.open(whole) as tar:
            tar.extractall(there, filter="data")
        checked = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=there, capture_output=True
        )
        assert corporeal(["dataset", "info", str(there / packed.name)]) == 0
        return {
            "store": store.name,
            "store_bytes": full,
            "archive_bytes": whole.stat().st_size,
            "share": round(whole.stat().st_size / full, 4),
            "sha256": sums,
            "check_status": checked.returncode,
            "processor_s": round(time.process_time() - begun, 1),
        }


if __name__ == "__main__":
    main()
