"""Arrays that ship with the package: an xz-packed npz, vouched for by a manifest beside it."""

import hashlib
import io
import json
import lzma
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import AssetError

REMEDY = "Reinstall corporeal: pip install --force-reinstall --no-deps corporeal."


def package_data() -> Traversable:
    """The folder of data files inside the installed package."""
    return files("corporeal.assets") / "data"


def read_archive(name: str, folder: Traversable | None = None) -> dict[str, NumpyArray]:
    """Arrays of `name`.npz.xz by key, after its SHA-256 was found equal to that in `name`.json."""
    home = package_data() if folder is None else folder
    data_file, manifest_file = home / f"{name}.npz.xz", home / f"{name}.json"
    for file in (data_file, manifest_file):
        if not file.is_file():
            raise AssetError(f"{file} is missing; it ships with the package. {REMEDY}")
    data = data_file.read_bytes()
    try:
        manifest = json.loads(manifest_file.read_text())
        size, promised = int(manifest["bytes"]), str(manifest["sha256"])
    except (ValueError, KeyError) as error:
        raise AssetError(f"{manifest_file} is not a manifest: {error}. {REMEDY}") from error
    found = hashlib.sha256(data).hexdigest()
    if found != promised:
        raise AssetError(
            f"{data_file} is damaged: {len(data)} bytes with SHA-256 {found[:12]}…, expected "
            f"{size} bytes with {promised[:12]}…. {REMEDY}"
        )
    with np.load(io.BytesIO(lzma.decompress(data)), allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}
