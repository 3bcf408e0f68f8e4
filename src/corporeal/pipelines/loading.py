"""Any file in, what it holds out: the suffix and the content decide which noun comes back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, overload

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_smpl import LearnedName
from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.character import Character
from corporeal.body.layered_body import LayeredBody
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.registrations import Registrations
from corporeal.body.scan import Scan
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.formats.amass import read_amass
from corporeal.formats.bvh import read_bvh
from corporeal.formats.bvh_units import unit_length
from corporeal.formats.layers import read_layers
from corporeal.formats.native import (
    ANIMATION,
    BODY,
    LAYERS,
    MOTION,
    read_animation,
    read_body,
    read_motion,
)
from corporeal.formats.npz import open_npz
from corporeal.formats.packed_registrations import KIND as PACKED
from corporeal.formats.registrations import KIND as REGISTRATIONS
from corporeal.formats.registry import FORMATS, Noun, described, nouns_of, read_mesh
from corporeal.formats.scans import SCAN, read_scan
from corporeal.formats.skeletons import read_skeleton
from corporeal.formats.zarr_layout import read_attributes
from corporeal.models.smpl.model import SmplModel
from corporeal.motions.incoming import RIGS, IncomingOptions, read_capture
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.exports import read_character
from corporeal.pipelines.smpl_models import load_model, smpl_model
from corporeal.population.people_store import KIND as PEOPLE
from corporeal.population.people_store import People, read_people
from corporeal.runtime.input_files import resolved

Loaded = (
    Mesh
    | Body
    | LayeredBody
    | Motion
    | Animation
    | Character
    | Skeleton
    | SmplModel
    | People
    | Registrations
    | Scan
)

_ARCHIVES: dict[str, tuple[Noun, ...]] = {
    BODY: ("body",),
    LAYERS: ("layers", "body"),
    MOTION: ("motion",),
    ANIMATION: ("animation", "motion", "body"),
    SCAN: ("scan",),
    PACKED: ("registrations",),
}
"""What the package's own `.npz` files hold, by their array `format`; the whole of it first."""
_STORES: dict[str, tuple[Noun, ...]] = {
    PEOPLE: ("people",),
    REGISTRATIONS: ("registrations",),
}
_FOREIGN: dict[tuple[str, ...], Noun] = {("v_template", "weights"): "model", ("poses",): "motion"}
"""What others' `.npz` files hold, by arrays that they have: SMPL's, AMASS's."""


def held_nouns(path: str | Path) -> tuple[Noun, ...]:
    """What a file, a Zarr store or a folder holds, by its suffix and content; the whole first.

    Raises `InputError` for what is not there and for suffixes that nothing is read from, and
    `FormatError` for files of other kinds.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if not path.exists():
        if str(path) in get_args(LearnedName):
            return ("model",)
        raise InputError(f"there is no file {path}. Check the path.")
    if path.is_dir():
        return _in_folder(path)
    if suffix == ".npz":
        return _in_archive(path)
    nouns = nouns_of(suffix)
    if not suffix or not nouns:
        known = sorted({f.suffix for f in FORMATS if f.reads and f.suffix})
        written = nouns_of(suffix, written=True) if suffix else ()
        why = f"it has the suffix {suffix!r}" if suffix else "it has no suffix"
        if written:
            why = f"{suffix} files ({', '.join(written)}) are written and not read"
        raise InputError(f"cannot load {path}: {why}; expected {', '.join(known)}, or a folder.")
    return nouns


@overload
def load(path: str | Path, noun: Literal["body"]) -> Body: ...
@overload
def load(path: str | Path, noun: Literal["layers"]) -> LayeredBody: ...
@overload
def load(path: str | Path, noun: Literal["motion"]) -> Motion: ...
@overload
def load(path: str | Path, noun: Literal["animation"]) -> Animation: ...
@overload
def load(path: str | Path, noun: Literal["character"]) -> Character: ...
@overload
def load(path: str | Path, noun: Literal["mesh"]) -> Mesh: ...
@overload
def load(path: str | Path, noun: Literal["skeleton"]) -> Skeleton: ...
@overload
def load(path: str | Path, noun: Literal["model"]) -> SmplModel: ...
@overload
def load(path: str | Path, noun: Literal["people"]) -> People: ...
@overload
def load(path: str | Path, noun: Literal["registrations"]) -> Registrations: ...
@overload
def load(path: str | Path, noun: Literal["scan"]) -> Scan: ...
@overload
def load(path: str | Path, noun: None = None) -> Any: ...


def load(path: str | Path, noun: str | None = None) -> Any:
    """Load what a file holds: its suffix and, for `.npz` and `.zarr`, its content decide.

    ============================== ==========================================================
    file                           what comes back
    ============================== ==========================================================
    `.npz`                         `Body`, `LayeredBody`, `Motion`, `Animation` or `Scan` of this
                                   package; `SmplModel` of SMPL's keys; `Motion` of AMASS
    `.pkl`, `smpl`, `smpl-sparse`  `SmplModel`: an official file, or one that ships
    `.bvh`                         `Motion`, metres, y up, on the file's own skeleton
    `.glb`                         `Character`, or `Mesh` where nothing is skinned
    `.fbx`, `.usd`                 `Motion` of the rig, metres, y up
    `.obj`, `.ply`, `.off`, `.stl` `Mesh`, in the file's unit
    `.skel`, `.json`               `Skeleton`, metres where the file states its unit
    `.zarr`                        `People` or `Registrations`; read when asked for
    `.hdf5`, `.h5`, folder of .ply `Registrations`; packed ones (`.packed.npz`) too
    ============================== ==========================================================

    `noun` asks for a part of it: "body" or "motion" of an animation, "body" of layers, "mesh",
    "skeleton" or "motion" of a `.glb`, `.fbx` or `.usd`, "skeleton" of a `.bvh`. What a file cannot
    give is refused with what it holds.
    """
    held = held_nouns(path)
    chosen = held[0] if noun is None else _noun(noun)
    if chosen not in held:
        raise InputError(
            f"{path} holds {' and '.join(map(described, held))}, not {described(chosen)}."
        )
    if noun is None and held[0] == "character" and not _is_skinned(Path(path)):
        chosen = "mesh"
    return _LOADERS[chosen](Path(path))


def _noun(word: str) -> Noun:
    for noun in _LOADERS:
        if noun == word:
            return noun
    raise InputError(f"noun is {word!r}; expected one of {', '.join(_LOADERS)}.")


def _in_folder(path: Path) -> tuple[Noun, ...]:
    if not (path / "zarr.json").is_file():
        return ("registrations",)  # a folder of .ply files; its reader says what is missing
    found = read_attributes(resolved(path)).get("format")
    if found not in _STORES:
        raise FormatError(
            f"{path} is a Zarr store of {str(found)[:60]!r}; expected {' or '.join(_STORES)}."
        )
    return _STORES[str(found)]


def _in_archive(path: Path) -> tuple[Noun, ...]:
    with open_npz(path, object_arrays="skip") as file:
        if "format" in file.headers:
            found = file.text("format")
            if found not in _ARCHIVES:
                raise FormatError(
                    f"{path} is a {found[:60]} file, which load does not read; expected "
                    f"{', '.join(_ARCHIVES)}, a model with SMPL's keys or an AMASS motion."
                )
            return _ARCHIVES[found]
        for arrays, noun in _FOREIGN.items():
            if all(name in file.headers for name in arrays):
                return (noun,)
        names = ", ".join(sorted(file.headers)[:12]) or "nothing"
    raise FormatError(
        f"{path} holds {names}; expected a file of this package (with an array 'format'), a model "
        f"with SMPL's keys ('v_template', …) or an AMASS motion ('poses', 'trans')."
    )


def _is_skinned(path: Path) -> bool:
    from corporeal.formats.gltf_scene import read_gltf_scene

    nodes = read_gltf_scene(path).nodes
    return any(node.skin is not None and node.mesh is not None for node in nodes)


def _load_motion(path: Path) -> Motion:
    if path.suffix.lower() == ".bvh":
        return read_bvh(path).motion
    if path.suffix.lower() in RIGS:
        return read_capture(path, IncomingOptions())[0]
    with open_npz(path, object_arrays="skip") as file:
        is_own = "format" in file.headers
    return read_motion(path) if is_own else _load_amass(path)


def _load_amass(path: Path) -> Motion:
    return read_amass(path, load_default_body().template.skeleton).motion


def _load_skeleton(path: Path) -> Skeleton:
    if path.suffix.lower() == ".bvh":
        return read_bvh(path).motion.skeleton
    reading = read_skeleton(path)
    if reading.unit is None:
        return reading.skeleton
    joints = unit_length(reading.unit) * reading.skeleton.joints
    return Skeleton(reading.skeleton.names, reading.skeleton.parents, joints)


def _load_model(path: Path) -> SmplModel:
    return smpl_model(load_model(path))


_LOADERS: dict[Noun, Callable[[Path], Loaded]] = {
    "mesh": read_mesh,
    "body": read_body,
    "layers": read_layers,
    "motion": _load_motion,
    "animation": read_animation,
    "character": read_character,
    "skeleton": _load_skeleton,
    "model": _load_model,
    "people": read_people,
    "registrations": read_dataset,
    "scan": read_scan,
}
