"""A small glTF reader, independent of the writer: parses a file and plays it as engines do."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

Matrix = np.ndarray

_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_TYPE = {5121: "<u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}


class GlbReader:
    """One parsed `.glb`."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        json_length, json_kind = struct.unpack_from("<I4s", data, 12)
        assert json_kind == b"JSON"
        assert json_length % 4 == 0
        self.json: dict[str, Any] = json.loads(data[20 : 20 + json_length])
        binary_length, binary_kind = struct.unpack_from("<I4s", data, 20 + json_length)
        assert binary_kind == b"BIN\0"
        self.binary = data[28 + json_length :]
        assert len(self.binary) == binary_length == self.json["buffers"][0]["byteLength"]

    def accessor(self, index: int) -> np.ndarray:
        """The accessor's elements, in float64 where they are numbers with a point."""
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        width, kind = _WIDTH[accessor["type"]], np.dtype(_TYPE[accessor["componentType"]])
        count = accessor["count"] * width
        assert view["byteOffset"] % 4 == 0
        assert view["byteLength"] == count * kind.itemsize
        values = np.frombuffer(self.binary, kind, count, view["byteOffset"])
        if kind.kind == "f":
            values = values.astype(np.float64)
        return values if width == 1 else values.reshape(-1, width)

    def node(self, name: str) -> int:
        return [node["name"] for node in self.json["nodes"]].index(name)

    def attribute(self, mesh: int, name: str) -> np.ndarray:
        return self.accessor(self.json["meshes"][mesh]["primitives"][0]["attributes"][name])

    def world_matrices(self, frame: int) -> list[Matrix]:
        """World matrix of every node at key `frame`."""
        nodes = self.json["nodes"]
        parts = [
            {
                "translation": np.array(node.get("translation", [0, 0, 0]), float),
                "rotation": np.array(node.get("rotation", [0, 0, 0, 1]), float),
            }
            for node in nodes
        ]
        for animation in self.json.get("animations", []):
            for channel in animation["channels"]:
                sampler = animation["samplers"][channel["sampler"]]
                target = channel["target"]
                parts[target["node"]][target["path"]] = self.accessor(sampler["output"])[frame]
        world: list[Matrix] = [np.eye(4)] * len(nodes)

        def visit(index: int, parent: Matrix) -> None:
            local = np.eye(4)
            local[:3, :3] = _rotation(parts[index]["rotation"])
            local[:3, 3] = parts[index]["translation"]
            world[index] = parent @ local
            for child in nodes[index].get("children", []):
                visit(child, world[index])

        for root in self.json["scenes"][self.json["scene"]]["nodes"]:
            visit(root, np.eye(4))
        return world

    def skinned(self, node: int, frame: int) -> np.ndarray:
        """Vertices of a skinned node at key `frame`, by the formula in glTF's specification."""
        skin = self.json["skins"][self.json["nodes"][node]["skin"]]
        mesh = self.json["nodes"][node]["mesh"]
        world = self.world_matrices(frame)
        inverse_bind = self.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4)
        matrices = np.stack([world[j] @ inverse_bind[k].T for k, j in enumerate(skin["joints"])])
        joints, weights = self.attribute(mesh, "JOINTS_0"), self.attribute(mesh, "WEIGHTS_0")
        blended = np.einsum("vk,vkab->vab", weights, matrices[joints])
        position = self.attribute(mesh, "POSITION")
        return np.einsum("vab,vb->va", blended[:, :3, :3], position) + blended[:, :3, 3]


def _rotation(xyzw: np.ndarray) -> Matrix:
    x, y, z, w = xyzw / np.linalg.norm(xyzw)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
