"""Animated properties of a glTF file under construction."""

from typing import Any

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.formats.glb import GlbDocument, Kind, quantized


class TakeTracks:
    """The animated properties of one take, each with keys of its own."""

    def __init__(self, document: GlbDocument, times: NumpyArray) -> None:
        self._document = document
        self._times = times
        self._inputs: dict[bytes, int] = {}
        self._samplers: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []

    def add(
        self,
        node: int,
        path: str,
        values: NumpyArray,
        kind: Kind,
        keys: Int[NumpyArray, "n"] | None = None,
    ) -> None:
        """Let one property of a node follow `values`, straight from key to key."""
        keys = np.arange(len(values)) if keys is None else keys
        shown = values[keys].astype(np.float32)
        rows = shown.ravel() if kind == "SCALAR" else shown
        if self._document.packing != "none" and path in ("rotation", "weights"):
            whole = quantized(rows, "int16" if path == "rotation" else "uint16")
            output = self._document.add_accessor(whole, kind, normalized=True)
        else:
            output = self._document.add_accessor(rows, kind)
        target = {"node": node, "path": path}
        self._channels.append({"sampler": len(self._samplers), "target": target})
        self._samplers.append(
            {"input": self._input(keys), "output": output, "interpolation": "LINEAR"}
        )

    def _input(self, keys: Int[NumpyArray, "n"]) -> int:
        """The accessor of some keys' times: tracks of the same keys share one."""
        name = np.asarray(keys, np.int64).tobytes()
        if name not in self._inputs:
            times = self._times[keys].astype(np.float32)
            self._inputs[name] = self._document.add_accessor(times, "SCALAR", bounds=True)
        return self._inputs[name]

    def finish(self, name: str, fps: float) -> None:
        """Put the take into the document."""
        take: dict[str, Any] = {
            "name": name,
            "samplers": self._samplers,
            "channels": self._channels,
            "extras": {"fps": fps, "frames": len(self._times)},
        }
        self._document.add("animations", take)
