"""A body prepared for a device: arrays alone, in a `.npz` file without pickles.

Making one takes the CPU's engines (`fast_projective_skinning.gpu.preparation`); using one takes
NumPy, SciPy and JAX.
"""

from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
from scipy.sparse import csc_array

from corporeal._typing import Array, Bool, Float, Int, NumpyArray
from corporeal.errors import FormatError
from corporeal.formats.npz import NpzReader, open_npz, write_npz
from corporeal.physics.contact.gpu.detection import DeviceSkin
from corporeal.physics.coupling.blended_gpu import DeviceBlend, blended_moves, blended_positions
from corporeal.physics.coupling.gpu import DeviceCoupling, carried_positions, rigid_moves
from corporeal.physics.solver.gpu.elements import (
    DeviceFlesh,
    Elements,
    flesh_of,
    system_matrix,
)
from corporeal.physics.solver.gpu.inverse import Inverse, global_step
from corporeal.physics.solver.integration import StepRule
from corporeal.physics.upsampling.gpu import DeviceSurface, DeviceUpsampler
from corporeal.physics.volume_preservation.gpu import (
    DevicePreservation,
    DeviceVolume,
    preservation_with,
)
from corporeal.runtime.pytree_dataclass import pytree_dataclass

FORMAT, SKIN_FORMAT = "corporeal-device-body", "corporeal-device-skin"


@pytree_dataclass()
class DeviceBody:
    """n simulated vertices (skin, then inner), of which f are free; W skin vertices."""

    order: Int[Array, "n"]
    """Vertex at every place on the device: free ones first, neighbours together."""
    sources: Int[Array, "n"]
    """Which of what bones carry (`carried`) the vertex at a place goes with."""
    skin_places: Int[Array, "V"]
    """Place of every simulated skin vertex."""
    elements: Elements
    """Tetrahedra with stiffness and masses."""
    weight: Float[Array, "3 f"]
    """Pull of gravity on the free vertices, newtons."""
    coupling: DeviceCoupling | DeviceBlend
    """How bones carry two-layer flesh, or layered flesh."""
    upsampler: DeviceUpsampler
    """From V simulated skin vertices to W."""
    surface: DeviceSurface
    """The simulated skin, for normals."""
    rest: Float[Array, "n 3"]
    """Simulated vertices at rest, in their own order, metres."""
    flesh: DeviceFlesh
    """The elements seen from their corners."""
    volume: DeviceVolume | None = None
    """Regions whose volume is kept."""

    @property
    def free_count(self) -> int:
        """Number f of free vertices."""
        return self.flesh.weights.shape[-2]

    def carried(self, frames: Float[Array, "J 4 4"]) -> Float[Array, "3 c"]:
        """What bones carry while the joints are at `frames` (metres)."""
        if isinstance(self.coupling, DeviceBlend):
            return blended_positions(self.coupling, frames)
        return carried_positions(self.coupling, frames)

    def moved(
        self, positions: Float[Array, "3 f"], displacements: Float[Array, "J 3 4"]
    ) -> Float[Array, "3 f"]:
        """By how much bones move the free vertices on from `positions`, metres, where joints
        displace what they carry so: `SimulatedBody.carry` less the positions."""
        own = self.sources[: self.free_count]
        if isinstance(self.coupling, DeviceBlend):
            return blended_moves(self.coupling, own, displacements, positions)
        return rigid_moves(self.coupling, own, displacements, positions)

    def inverse(self, rule: StepRule, dense: bool = False) -> Inverse:
        """The global step of a rule; `dense` keeps what is negligible too."""
        matrix = self._matrix(rule)
        return global_step(matrix, dense)

    def preservation(self, rule: StepRule) -> DevicePreservation | None:
        """What keeps volume in the steps of a rule; None where it is not kept."""
        if self.volume is None:
            return None
        return preservation_with(self.volume, self._matrix(rule))

    def _matrix(self, rule: StepRule) -> csc_array:
        return system_matrix(self.elements, rule.inertia, len(self.order), rule.stiffening)


def save_device_body(path: str | Path, body: DeviceBody) -> None:
    """Write all arrays of a prepared body."""
    stored = {k: v for k, v in _flattened(body, "").items() if not k.startswith("flesh/")}
    write_npz(path, {"format": np.array(FORMAT)} | stored)


def load_device_body(path: str | Path) -> DeviceBody:
    """Read a prepared body; shapes are checked against each other by the annotations' letters."""
    with open_npz(path) as reader:
        _require_format(reader, FORMAT)
        made = ("coupling", "flesh", "volume")
        parts = {f.name: _gathered(reader, f, "") for f in fields(DeviceBody) if f.name not in made}
        blended = "coupling/shares" in reader.headers
        coupling = _pytree(reader, DeviceBlend if blended else DeviceCoupling, "coupling/")
        preserved = "volume/prisms" in reader.headers
        volume = _pytree(reader, DeviceVolume, "volume/") if preserved else None
    return DeviceBody(**parts, coupling=coupling, flesh=flesh_of(parts["elements"]), volume=volume)


def save_device_skin(path: str | Path, skin: DeviceSkin) -> None:
    """Write what collisions need of a prepared body."""
    write_npz(path, {"format": np.array(SKIN_FORMAT)} | _flattened(skin, ""))


def load_device_skin(path: str | Path) -> DeviceSkin:
    """Read what collisions need of a prepared body."""
    with open_npz(path) as reader:
        _require_format(reader, SKIN_FORMAT)
        return _pytree(reader, DeviceSkin, "")


def _require_format(reader: NpzReader, expected: str) -> None:
    if "format" not in reader.headers or reader.text("format") != expected:
        raise FormatError(
            f"{reader.path} is not a {expected} file, of a body prepared for a device. Make one "
            f"with corporeal.physics.fast_projective_skinning.gpu.preparation, and save it."
        )


def _flattened(value: Any, prefix: str) -> dict[str, NumpyArray]:
    """Arrays of a noun and of the nouns in it, by path."""
    arrays: dict[str, NumpyArray] = {}
    for field in fields(value):
        part = getattr(value, field.name)
        if part is None:
            continue
        if is_dataclass(part):
            arrays |= _flattened(part, f"{prefix}{field.name}/")
        else:
            array = np.asarray(part)
            arrays[prefix + field.name] = array.astype(np.uint8) if array.dtype == bool else array
    return arrays


def _pytree(reader: NpzReader, kind: type[Any], prefix: str) -> Any:
    """A noun from the arrays under a prefix."""
    return kind(*(_gathered(reader, field, prefix) for field in fields(kind)))


def _gathered(reader: NpzReader, field: Field, prefix: str) -> Any:
    """A noun's field from the arrays under a prefix; its annotation says shape and kind. One that
    may be missing is None where it is."""
    name, annotation = prefix + field.name, field.type
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        if not any(part == name or part.startswith(f"{name}/") for part in reader.headers):
            return None
        annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _pytree(reader, annotation, name + "/")
    shape = tuple(int(d) if d.isdigit() else d for d in annotation.dim_str.split())  # pyright: ignore[reportAttributeAccessIssue]
    kind = annotation.dtype  # pyright: ignore[reportAttributeAccessIssue]
    array = reader.array(name, "f" if kind is Float else "i", shape)
    return array.astype(bool) if kind is Bool else array
