"""FBX animation: one curve for every number that moves, keyed at every frame."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.character import Character
from corporeal.formats.fbx_document import TIME, FbxDocument, add_property, frame_ticks
from corporeal.formats.fbx_mesh import FULL_WEIGHT, centimetres
from corporeal.formats.fbx_nodes import Int64
from corporeal.geometry.rotations import euler_from_matrix, matrix_from_quaternion

_LINEAR = 0x00000004
"""Key flag: straight lines between keys."""


@dataclass
class _Curves:
    """Adds animated properties to one layer of a document."""

    document: FbxDocument
    layer: Int64
    ticks: NumpyArray

    def animate(
        self,
        target: Int64,
        property_name: str,
        kind: str,
        channels: dict[str, Float64[NumpyArray, "N"]],
    ) -> None:
        """Let `property_name` of `target` follow `channels`."""
        number, node = self.document.add("AnimationCurveNode", kind, "AnimCurveNode", "")
        table = node.add("Properties70")
        self.document.link(number, self.layer)
        self.document.link(number, target, property_name)
        for channel, values in channels.items():
            add_property(table, channel, ("Number", "", "A"), float(values[0]))
            self.document.link(self._curve(values), number, channel)

    def _curve(self, values: Float64[NumpyArray, "N"]) -> Int64:
        number, node = self.document.add("AnimationCurve", "", "AnimCurve", "")
        node.add("Default", float(values[0]))
        node.add("KeyVer", 4008)
        node.add("KeyTime", self.ticks)
        node.add("KeyValueFloat", values.astype(np.float32))
        node.add("KeyAttrFlags", np.array([_LINEAR], np.int32))
        node.add("KeyAttrDataFloat", np.zeros(4, np.float32))
        node.add("KeyAttrRefCount", np.array([len(values)], np.int32))
        return number


def add_animation(
    document: FbxDocument,
    character: Character,
    joints: list[Int64],
    channels: list[Int64],
) -> None:
    """The take: joint rotations, the root's path, morph weights."""
    ticks = frame_ticks(character.fps, character.frame_count)
    stack, node = document.add("AnimationStack", character.name, "AnimStack", "")
    table = node.add("Properties70")
    for name in ("LocalStop", "ReferenceStop"):
        add_property(table, name, TIME, Int64(ticks[-1]))
    layer, _ = document.add("AnimationLayer", "base", "AnimLayer", "")
    document.link(layer, stack)
    curves = _Curves(document, layer, ticks)
    rotations_deg = np.rad2deg(smooth_euler(character.joint_rotations_wxyz))
    for joint, number in enumerate(joints):
        curves.animate(number, "Lcl Rotation", "R", _xyz(rotations_deg[:, joint]))
    path = character.joint_places[0] + character.root_translation
    curves.animate(joints[0], "Lcl Translation", "T", _xyz(centimetres(path)))
    for index, channel in enumerate(channels):
        percent = FULL_WEIGHT * character.morph_weights[:, index].astype(np.float64)
        curves.animate(channel, "DeformPercent", "DeformPercent", {"d|DeformPercent": percent})


def smooth_euler(
    rotations_wxyz: NumpyArray,
) -> Float64[NumpyArray, "N J 3"]:
    """FBX's Euler angles (x turns first), radians, without jumps from frame to frame.

    Every rotation has two sets of angles, each up to whole turns; each frame takes the one nearest
    to the frame before.
    """
    matrices = matrix_from_quaternion(np.asarray(rotations_wxyz, np.float64))
    first = np.ascontiguousarray(euler_from_matrix(matrices, "ZYX")[..., ::-1])
    second = np.stack([first[..., 0] + np.pi, np.pi - first[..., 1], first[..., 2] + np.pi], -1)
    choices = np.stack([first, second])
    smooth = first.copy()
    for frame in range(1, len(smooth)):
        before = smooth[frame - 1]
        near = choices[:, frame] + 2 * np.pi * np.rint((before - choices[:, frame]) / (2 * np.pi))
        farther = np.abs(near[1] - before).sum(-1) < np.abs(near[0] - before).sum(-1)
        smooth[frame] = np.where(farther[:, None], near[1], near[0])
    return smooth


def _xyz(values: Float64[NumpyArray, "N 3"]) -> dict[str, Float64[NumpyArray, "N"]]:
    return {f"d|{axis}": values[:, index] for index, axis in enumerate("XYZ")}
