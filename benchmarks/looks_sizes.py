"""Sizes of files of one dressed person, by the width of the textures.

    python benchmarks/looks_sizes.py

One body of the average woman, one frame, each style of hair, as `.glb`; written to
benchmarks/results/looks_sizes.json. `shape_bytes` is what is left without pictures.
"""

import argparse
import json
import struct
import tempfile
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "looks_sizes.json"
STYLES = ("short", "bun", "long")
WIDTHS = (1024, 2048)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    from measured_commit import commit

    from corporeal.cli.main import main as corporeal

    found: dict[str, dict[str, dict[str, int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for style in STYLES:
            for width in WIDTHS:
                path = Path(folder) / f"{style}_{width}.glb"
                words = ["body", "--gender", "female", "--hair", style, "--texture", str(width)]
                assert corporeal([*words, "--out", str(path)]) == 0
                found.setdefault(style, {})[str(width)] = sizes(path)
    made = {
        "files": found,
        "commit": commit(),
        "command": "python benchmarks/looks_sizes.py",
    }
    print(json.dumps(made, indent=1))
    given.out.write_text(json.dumps(made, indent=1) + "\n")


def sizes(path: Path) -> dict[str, int]:
    """Bytes of a file, of its pictures, and of the rest."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<I", content, 12)
    head = json.loads(content[20 : 20 + length])
    views = head["bufferViews"]
    pictures = sum(views[image["bufferView"]]["byteLength"] for image in head["images"])
    return {
        "bytes": len(content),
        "picture_bytes": pictures,
        "shape_bytes": len(content) - pictures,
    }


if __name__ == "__main__":
    main()
