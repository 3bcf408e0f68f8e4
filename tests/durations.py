"""How long every test file takes, as recorded by a whole run: decides the order, and what is quick.

    pytest --junitxml=report.xml && python tests/durations.py report.xml

writes `tests/durations.json`, seconds a file. Files run longest first (but see `WITHOUT_KERNELS`),
so that no worker is left alone with a long one at the end. Files of at most `QUICK_SECONDS` carry
the mark `quick` (`pytest -m quick`), and so does a file that was never recorded: whoever adds one
sees it run. Record again when a file has become much slower or faster; nothing but order and
selection depends on it.
"""

import json
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from typing import Final

RECORD: Final = Path(__file__).with_name("durations.json")
QUICK_SECONDS: Final = 2.0
WITHOUT_KERNELS: Final = "test_gpu_materials.py"
"""The longest file that runs no kernel of numba. It is begun beside the longest of all, which
compiles most of them: else two workers would compile the same kernels at the same time."""


def recorded() -> dict[str, float]:
    """Seconds by file name."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def place(name: str, seconds: dict[str, float]) -> tuple[int, float]:
    """Files run in the order of this: the longest, then `WITHOUT_KERNELS`, then by their time."""
    longest = max(seconds, key=lambda other: seconds[other])
    rank = 0 if name == longest else 1 if name == WITHOUT_KERNELS else 2
    return rank, -seconds.get(name, 0.0)


def is_quick(name: str, seconds: dict[str, float]) -> bool:
    """Whether a file belongs to the quick answer."""
    return seconds.get(name, 0.0) <= QUICK_SECONDS


def record(report: Path) -> None:
    """Write the record from a JUnit report of a whole run; skipped files keep what they had."""
    seconds: dict[str, float] = defaultdict(float)
    for case in ET.parse(report).getroot().iter("testcase"):
        place = f"{case.attrib['classname']}.{case.attrib['name']}"
        module = next(part for part in place.split(".") if part.startswith("test_"))
        seconds[f"{module}.py"] += float(case.attrib["time"])
    there = {path.name for path in RECORD.parent.glob("test_*.py")}
    kept = (
        {name: old for name, old in recorded().items() if name in there} if RECORD.exists() else {}
    )
    merged = kept | {name: round(value, 1) for name, value in seconds.items() if name in there}
    RECORD.write_text(json.dumps(dict(sorted(merged.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
