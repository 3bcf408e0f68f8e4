"""Bring results home through a narrow door: parts of bounded size, a few at a time.

    python tools/outbox.py send HOME OUT --files 8 --part 15000000 --most 60000000
    python tools/outbox.py join OUT… --into HOME

`send` copies what HOME has to offer into OUT, in the order of importance, files above the size of a
part in parts; what an earlier call sent (HOME/sent.json) is not sent again, unless it changed.
Logs and reports go as one archive each time. `join` puts parts of several calls together again.
"""

import argparse
import io
import json
import tarfile
from pathlib import Path

ORDER = (
    "dyna.packed.npz", "dyna_test.packed.npz", "multishape.packed.npz", "multipose.packed.npz",
    "multipose_test.packed.npz", "models/smpl.npz.xz", "models/smpl_sparse.npz.xz",
    "dyna_wide.packed.npz",
)  # fmt: skip
REPORTS = ("*.json", "*.jsonl", "logs/*.log", "models/*.json", "*.log")
REPORT_MOST = 1_000_000
"""Bytes of a report; of a longer one the end is sent."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("send", "join"))
    parser.add_argument("places", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=8, help="that OUT may hold")
    parser.add_argument("--part", type=int, default=15_000_000, help="bytes of a file at most")
    parser.add_argument("--most", type=int, default=60_000_000, help="bytes of all together")
    parser.add_argument("--into", type=Path, default=Path())
    asked = parser.parse_args()
    if asked.what == "send":
        home, out = asked.places
        send(home, out, asked.files, asked.part, asked.most)
    else:
        join(asked.places, asked.into)


def send(home: Path, out: Path, files: int, part: int, most: int) -> None:
    """Fill OUT with what has not been sent."""
    ledger = home / "sent.json"
    sent = json.loads(ledger.read_text()) if ledger.exists() else {}
    out.mkdir(parents=True, exist_ok=True)
    room = most - reports(home, out / "reports.tar.xz")
    left = files - 1
    for name in ORDER:
        path = home / name
        if not path.is_file():
            continue
        size, stamp = path.stat().st_size, f"{path.stat().st_size} {path.stat().st_mtime_ns}"
        row = sent.setdefault(name, {"stamp": stamp, "bytes": 0})
        if row["stamp"] != stamp:
            row.update(stamp=stamp, bytes=0)
        with path.open("rb") as file:
            while row["bytes"] < size and left and room > 0:
                file.seek(row["bytes"])
                data = file.read(min(part, room))
                flat = name.replace("/", "-")
                (out / f"{flat}.{row['bytes']:012d}.of.{size}").write_bytes(data)
                row["bytes"] += len(data)
                left, room = left - 1, room - len(data)
    ledger.write_text(json.dumps(sent, indent=1))
    for name, row in sent.items():
        print(f"{name}: {row['bytes']} of {row['stamp'].split()[0]} bytes sent")


def reports(home: Path, target: Path) -> int:
    """Logs and reports as one archive; gives its size."""
    with tarfile.open(target, "w:xz") as tar:
        for path in sorted({p for pattern in REPORTS for p in home.glob(pattern)}):
            data = path.read_bytes()[-REPORT_MOST:]
            about = tarfile.TarInfo(str(path.relative_to(home)))
            about.size = len(data)
            tar.addfile(about, io.BytesIO(data))
    return target.stat().st_size


def join(places: list[Path], into: Path) -> None:
    """Put parts together; says which files are not whole."""
    into.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, int], dict[int, bytes]] = {}
    for place in places:
        for path in sorted(place.rglob("*.of.*")):
            start, size = path.name.split(".")[-3], path.name.split(".")[-1]
            name = path.name[: -len(f".{start}.of.{size}")]
            found.setdefault((name, int(size)), {})[int(start)] = path.read_bytes()
    for (name, size), parts in found.items():
        data = b"".join(parts[start] for start in sorted(parts))
        contiguous = all(
            start + len(parts[start]) == after
            for start, after in zip(sorted(parts), [*sorted(parts)[1:], size], strict=True)
        )
        whole = contiguous and min(parts) == 0
        (into / (name if whole else f"{name}.incomplete")).write_bytes(data)
        print(f"{name}: {len(data)} of {size} bytes, {'whole' if whole else 'NOT whole'}")


if __name__ == "__main__":
    main()
