"""Writes the record of origin that lies beside a data file of the package.

`people.npz` has its record in `people.provenance.json`; the packed archives of
`src/corporeal/assets/data` have theirs in the manifest that the loader checks (`smpl.json` beside
`smpl.npz.xz`). `tests/test_packaging.py` asserts that no data file lacks one and that hashes agree.
"""

import hashlib
import io
import json
import lzma
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE_DATA = Path(__file__).parents[1] / "src/corporeal/assets/data"
"""Where the package's archives lie."""

SUFFIX = ".provenance.json"
"""What a record's name ends in; before it stands the data file's name up to its first dot."""


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record_path(data_file: Path) -> Path:
    """Where the record of `data_file` lies."""
    return data_file.with_name(data_file.name.split(".")[0] + SUFFIX)


def write_provenance(
    data_file: Path,
    *,
    title: str,
    licence: str,
    origin: str,
    command: str,
    sources: Iterable[Path],
) -> Path:
    """Write where `data_file` comes from, and the hashes of it and of what it was made from.

    `command` is the line that makes it, run in the repository's root; its first word that ends in
    `.py` or `.sh` is the tool. `sources` are the files that the tool read.
    """
    words = command.split()
    record = {
        "title": title,
        "licence": licence,
        "origin": origin,
        "built_by": next(word for word in words if word.endswith((".py", ".sh"))),
        "command": command,
        "bytes": data_file.stat().st_size,
        "sha256": sha256(data_file),
        "source_sha256": {path.name: sha256(path) for path in sources},
    }
    path = record_path(data_file)
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path


def packed_archive(
    arrays: Mapping[str, np.ndarray], preset: int = 9 | lzma.PRESET_EXTREME
) -> bytes:
    """Plain arrays as an xz-packed npz."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return lzma.compress(file.getvalue(), preset=preset)


def write_asset(
    folder: Path,
    name: str,
    data: bytes,
    *,
    title: str,
    method: str,
    tool: str,
    source: Path,
    facts: Mapping[str, Any],
) -> None:
    """Write a packed archive and the manifest that vouches for it.

    `method` is the page of docs/methods, `tool` the script's name, `source` the file it was made
    from, `facts` what else there is to say (JSON values).
    """
    manifest = {
        "title": f"corporeal {title}",
        "licence": "Apache-2.0, as the package",
        "origin": f"trained on captures of the virtual 4D scanner; see docs/methods/{method}.md",
        "built_by": f"tools/{tool}",
        **facts,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_sha256": {source.name: sha256(source)},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.npz.xz").write_bytes(data)
    (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"wrote {name}.npz.xz: {len(data) / 1e6:.2f} MB; {dict(facts)}")


def trained_by(source: Path) -> dict[str, Any]:
    """Verb and settings of the training that made a model, from the manifest beside it; paths are
    left out, names kept."""
    from corporeal.runtime.manifest import manifest_path

    if not manifest_path(source).is_file():
        return {}
    content = json.loads(manifest_path(source).read_text())
    config = {
        key: Path(value).name if isinstance(value, str) and "/" in value else value
        for key, value in content["config"].items()
    }
    return {"verb": content["verb"], "config": config}
