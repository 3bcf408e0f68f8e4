"""Files that a person has given to a tab: kept under names of our own, within limits."""

import re
from pathlib import Path

import numpy as np

from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.motions.library import MOTIONS
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.packets import Packet
from corporeal.viewer.playhead import FPS
from corporeal.viewer.posing import POSES

MOST_BYTES = {
    ".bvh": 48 << 20,
    ".npz": 64 << 20,
    ".glb": 64 << 20,
    ".obj": 48 << 20,
    ".ply": 48 << 20,
    ".off": 48 << 20,
    ".stl": 48 << 20,
    ".skel": 1 << 20,
    ".json": 16 << 20,
    ".xyz": 48 << 20,
    ".zip": 64 << 20,
}
"""Bytes of one file, by suffix."""
MOST_FILES = 64
MOST_TOTAL = 512 << 20
"""Bytes of all that a tab keeps."""


class Uploads:
    """What one tab was given."""

    def __init__(self, folder: Path) -> None:
        """Files are kept in `folder`."""
        self.folder = folder
        self.paths: dict[str, Path] = {}
        """Files by name."""
        self.motions: dict[str, tuple[BodyChoice | None, Motion]] = {}
        """Files that move the body, with whom they were last fitted to; None for takes, whose
        motion is played as it is."""

    def keep(self, name: str, content: bytes) -> str:
        """Keep a file; gives back the name that it has from now on."""
        name = self._free(safe_name(name))
        suffix = Path(name).suffix
        if len(content) > MOST_BYTES[suffix]:
            raise InputError(
                f"{name} has {len(content) / 2**20:.0f} MiB; {suffix} files may have "
                f"{MOST_BYTES[suffix] >> 20}. Give a smaller one."
            )
        held = sum(path.stat().st_size for path in self.paths.values() if path.is_file())
        if len(self.paths) >= MOST_FILES or held + len(content) > MOST_TOTAL:
            raise InputError(
                f"this tab keeps {len(self.paths)} files of {held >> 20} MiB; there is room for "
                f"{MOST_FILES} of {MOST_TOTAL >> 20} MiB. Open another tab."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        path.write_bytes(content)
        self.paths[name] = path
        return name

    def make(self, name: str) -> str:
        """A place for a file that is made here; gives back its name."""
        name = self._free(safe_name(name))
        self.paths[name] = self.place(name, "")
        return name

    def lend(self, path: Path) -> str:
        """A file of the person's own, left where it is; gives back its name here."""
        name = self._free(safe_name(path.name))
        self.paths[name] = path
        return name

    def adopt(self, path: Path) -> str:
        """A file that lies in the tab's folder already; gives back its name here."""
        name = self._free(safe_name(path.name))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.paths[name] = path.rename(self.folder / name)
        return name

    def forget(self, name: str) -> None:
        """Take a file away again, such as one that could not be read."""
        path = self.paths.pop(name, None)
        if path is None:  # a name from a page must not lead to other files
            return
        self.motions.pop(name, None)
        if path.is_relative_to(self.folder):
            path.unlink(missing_ok=True)
        self.place(name, ".npy").unlink(missing_ok=True)

    def place(self, name: str, suffix: str) -> Path:
        """Where something that is made from a file may be kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{name}{suffix}"

    def motion_source(self, name: str) -> str:
        """What a pipeline is told to play: an authored motion's name, or one of the tab's files.

        Nothing else is let through: a name from a page must not lead to other files.
        """
        if name in self.motions:
            return str(self.paths[name])
        if name not in MOTIONS and name != POSES:
            raise InputError(f"there is no motion {name[:60]!r}; open its file first.")
        return name

    def fitted(self, name: str, body: BodyChoice) -> Motion | None:
        """A file's motion, if it is this body's."""
        kept = self.motions.get(name)
        return kept[1] if kept is not None and kept[0] in (body, None) else None

    def _free(self, name: str) -> str:
        """The name, with a number where it is taken: by a file, or an authored motion."""
        stem, suffix = Path(name).stem, Path(name).suffix
        number = 2
        while name in self.paths or name in MOTIONS:
            name, number = f"{stem}-{number}{suffix}", number + 1
        return name


def safe_name(name: str) -> str:
    """A file's own name without a path, of letters, digits and `. _ -` alone.

    Raises `InputError` for kinds of files that the studio does not read.
    """
    last = re.split(r"[/\\]", name)[-1]
    suffix = require_suffix(last)
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", last[: -len(suffix)]).strip("._-")[:60]
    return f"{stem or 'file'}{suffix}"


def require_suffix(name: str) -> str:
    """The suffix of a file's name, in small letters; raises `InputError` for one of no use here."""
    _, dot, suffix = name.rpartition(".")
    suffix = f"{dot}{suffix}".lower()
    if suffix not in MOST_BYTES:
        raise InputError(f"{name[:60]!r} is none of {', '.join(MOST_BYTES)}. Convert it first.")
    return suffix


def motion_in(answer: Packet, template: Template) -> Motion:
    """The motion of an job's answer."""
    joints = np.asarray(answer.arrays["joints"], np.float64)
    return Motion(
        str(answer.fields["name"]),
        FPS,
        np.asarray(answer.arrays["rotations"], np.float64),
        np.asarray(answer.arrays["root"], np.float64),
        Skeleton(template.skeleton.names, template.skeleton.parents, joints),
    )
