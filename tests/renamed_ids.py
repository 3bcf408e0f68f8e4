"""Whether every test of an earlier commit is still there, under its own id or another.

    python tests/renamed_ids.py report.xml

`report.xml` is a JUnit report of the earlier commit's whole run. `tests/renamed_ids.json` says
which ids were renamed (old to new), and which tests have one id for every file of some kind, so
that moved files have moved ids. Exits 1 and names what is lost.
"""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

TESTS = Path(__file__).parent


def ids_of_report(report: Path) -> set[str]:
    """`test_file.py::Class::name[case]` of every test case."""
    found = set()
    for case in ET.parse(report).getroot().iter("testcase"):
        place = case.attrib["classname"].removeprefix("tests.").split(".")
        if place != [""]:  # else a file that was skipped as a whole
            found.add("::".join([f"{place[0]}.py", *place[1:], case.attrib["name"]]))
    return found


def ids_of_now() -> set[str]:
    """What pytest collects in this tree, slow tests too."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", "-q", "-m", ""]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(TESTS)],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.removeprefix("tests/") for line in done.stdout.splitlines() if "::" in line}


def main(report: Path) -> int:
    """Compare; exit status."""
    table = json.loads((TESTS / "renamed_ids.json").read_text(encoding="utf-8"))
    old, new = ids_of_report(report), ids_of_now()
    renamed, by_file = table["renamed"], tuple(f"{name}[" for name in table["one_a_file"])
    lost = sorted(
        name for name in old if renamed.get(name, name) not in new and not name.startswith(by_file)
    )
    print(f"{len(old)} ids before, {len(new)} now, {len(renamed)} renamed, {len(lost)} lost")
    print("\n".join(lost))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
